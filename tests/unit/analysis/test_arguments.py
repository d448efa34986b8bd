"""What `bevel.analysis` and `bevel.plots` are given: arguments that are not what a call takes."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
    plots,
)
from bevel import analysis as A
from bevel.datasets import trunk
from bevel.errors import NoOutOfBagError

mpl.use("agg")

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 2)), columns=["a", "b"])
VALUES = (X["a"] + X["b"]).to_numpy()
CLASSES = np.where(X["a"] > 0, "yes", "no")
FOREST = ObliqueForestClassifier(4, random_state=0, n_jobs=1).fit(X, CLASSES)
REGRESSION = ObliqueForestRegressor(4, random_state=0, n_jobs=1).fit(X, VALUES)
SHAP = A.shapley_values(FOREST, X[:2], X, max_background=3)
WEAK = A.StrengthAndCorrelation(-0.2, 0.3, 0.5, np.array([-0.3, -0.1]), 5, True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: A.importance(FOREST, X), ValueError, "kind must be one of"),
        (lambda: A.importance(FOREST).top(-1), ValueError, "n must be an integer of at least 0"),
        (lambda: A.importance(FOREST, "projection").top(-1), ValueError, "n must be an integer"),
        (lambda: A.importance(FOREST).top(1.0), TypeError, "n must be an integer"),
        (
            lambda: A.importance(FOREST, "projection", merge_signs="no"),
            TypeError,
            "merge_signs must be a bool; got 'no'",
        ),
        (lambda: A.geometry.root_directions(FOREST, merge_signs=1), TypeError, "merge_signs"),
        (
            lambda: A.importance(FOREST, "permutation", X, CLASSES, n_repeats=True),
            TypeError,
            "n_repeats must be an integer of at least 1",
        ),
        (
            lambda: A.strength_and_correlation(FOREST, X, CLASSES, out_of_bag="no"),
            TypeError,
            "out_of_bag must be a bool or \"auto\"; got 'no'",
        ),
        (lambda: A.calibration(FOREST, X, CLASSES, n_bins=2.5), TypeError, "n_bins must be"),
        (lambda: A.tree_complexity(FOREST, n_rows="many"), TypeError, "n_rows must be an integer"),
        (
            lambda: A.bias_and_variance(FOREST, X, CLASSES, n_repeats=2.5),
            TypeError,
            "n_repeats must be an integer",
        ),
        (
            lambda: A.bias_and_variance(FOREST, trunk, CLASSES, X_test=X, y_test=CLASSES),
            ValueError,
            "y and n_train are for an array X",
        ),
        (
            lambda: A.bias_and_variance(FOREST, trunk, n_train=9, X_test=X, y_test=CLASSES),
            ValueError,
            "y and n_train are for an array X",
        ),
        (
            lambda: A.voting_points(A.forest_weights(FOREST, X, CLASSES, X[:2]), 1.5),
            TypeError,
            "row must be an integer from 0 to 1; got 1.5",
        ),
        (lambda: A.geometry.angles([[np.nan, 1]], [1, 0]), ValueError, "directions must be finite"),
        (lambda: A.geometry.trunk_bayes_error([[np.inf]]), ValueError, "directions must be finite"),
        (
            lambda: A.ProximityImputer(FOREST).fit(X.assign(a=np.inf), CLASSES),
            ValueError,
            "finite; got infinity in column 'a'",
        ),
        (
            lambda: A.outlier_scores(FOREST, X, np.where(VALUES > 2, np.nan, 1.0), kind="all"),
            ValueError,
            "y must have no missing values",
        ),
        (lambda: plots.shapley_bars(SHAP, top=0), ValueError, "top must be an integer"),
        (lambda: plots.shapley_waterfall(SHAP, top=-1), ValueError, "top must be an integer"),
        (lambda: plots.shapley_waterfall(SHAP, 1.0), TypeError, "row must be an integer"),
        (lambda: plots.calibration({}), ValueError, "results must be at least one"),
        (lambda: plots.tree(FOREST), TypeError, "rules must be a tree, or its rules"),
        (lambda: plots.bias_and_variance(WEAK), TypeError, "results must be results by system"),
        (
            lambda: plots.posterior_map(REGRESSION, X, label="yes"),
            ValueError,
            "label must be None for a model without classes; got 'yes'",
        ),
        (lambda: plots.posterior_map(FOREST, X, CLASSES[:5]), ValueError, "y must be one target"),
        (lambda: plots.decision_boundary(FOREST, X, CLASSES[:5]), ValueError, "one target for"),
        (
            lambda: plots.decision_boundary(FOREST, X, np.full(60, "perhaps")),
            ValueError,
            "y must be of the classes of the classifier (no, yes); got 'perhaps'",
        ),
        (
            lambda: plots.decision_boundary(FOREST, X[["b", "a"]], CLASSES),
            ValueError,
            "the columns of the fit in their order (a, b); got 'b, a'",
        ),
        (
            lambda: plots.decision_boundary(FOREST, X.astype(str) + "?", CLASSES),
            ValueError,
            "draws two features that are numbers",
        ),
        (
            lambda: plots.decision_boundaries({"one": FOREST}, X[:1], CLASSES[:1]),
            ValueError,
            "Classes of y must be those of the classifier 'one' (no, yes)",
        ),
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused_in_words(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_corrected_importance_of_chosen_rotations_is_refused():
    ensemble = RegularizedRotationClassifier(8, n_rotations=4, random_state=0).fit(X, CLASSES)
    with pytest.raises(ValueError, match="RegularizedRotationClassifier, whose rotations were cho"):
        A.importance(ensemble, "corrected", X, CLASSES)


def test_questions_out_of_bag_are_refused_if_every_row_is_in_every_bag():
    forest = ObliqueForestRegressor(4, random_state=0).fit(X[:1], [1.0])
    for ask in (A.quantiles, A.forest_weights):
        with pytest.raises(NoOutOfBagError, match="a forest of 4 trees with every row in every"):
            ask(forest, X[:1], [1.0])


def test_a_row_without_votes_has_no_effective_number():
    one = ObliqueForestClassifier(1, random_state=0).fit(X, CLASSES)
    weights = A.forest_weights(one, X, CLASSES)
    row = int(np.flatnonzero(np.diff(weights.indptr) == 0)[0])
    assert A.voting_points(weights, row).effective_number == 0.0
    assert repr(A.voting_points(weights, row)).startswith("0 voting points")


@pytest.mark.parametrize("draw", [plots.strength_against_correlation, plots.margins])
def test_forests_that_are_worse_than_guessing_are_drawn_alone_and_by_name(draw):
    for results in (WEAK, {"weak": WEAK}):
        draw(results).figure.canvas.draw()


def test_an_endless_importance_is_drawn_beyond_the_others_with_its_sign():
    result = A.importance(FOREST, "t_test", X, CLASSES)
    endless = A.importance(
        ObliqueForestClassifier(2, random_state=0).fit(X.assign(c=X["a"] > 0), CLASSES),
        "t_test",
        X.assign(c=X["a"] > 0),
        CLASSES,
    )
    assert endless.values[2] == np.inf
    axes = plots.importance_bars(endless)
    axes.figure.canvas.draw()
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([1.1 * result.values.max(), *sorted(result.values)[::-1]])
    assert axes.texts[0].get_text().strip().startswith("∞")
    assert len(axes.texts) == 1 + len(result.values)  # the others have numbers
