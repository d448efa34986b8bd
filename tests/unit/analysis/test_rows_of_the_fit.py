"""Functions of `bevel.analysis` that are given the rows of the fit do not score them in-bag.

Targets are noise: a score above chance is one of rows that the trees have seen.
"""

import inspect

import numpy as np
import pytest

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
    analysis,
)

N_ROWS, N_TREES = 240, 40
WORDS = ("in-bag", "training rows")

rng = np.random.default_rng(0)
X = rng.normal(size=(N_ROWS, 4))
CLASSES = rng.integers(0, 2, N_ROWS)
NUMBERS = rng.normal(size=N_ROWS)
TIMES = (rng.exponential(size=N_ROWS), rng.random(N_ROWS) < 0.8)


def classifier(**given):
    given = {"projection": "axis", "random_state": 0, **given}
    return ObliqueForestClassifier(N_TREES, **given).fit(X, CLASSES)


def regressor(**given):
    given = {"projection": "axis", "random_state": 0, **given}
    return ObliqueForestRegressor(N_TREES, **given).fit(X, NUMBERS)


def survival(**given):
    return ObliqueSurvivalForest(N_TREES, random_state=0, **given).fit(X, TIMES)


def of_rules(found):
    """Mean share of the rules' classes on rows that their trees have not seen."""
    return float(np.nanmean([rule.out_of_bag for rule in found.rules]))


# Function, its forest, targets, further arguments, the score, and what is near chance.
SCORES = {
    "survival_scores": (survival, TIMES, {}, lambda r: r.concordance, (0.38, 0.62)),
    "risk_groups": (survival, TIMES, {}, lambda r: r.p_value, (1e-3, 1.0)),
    "survival_calibration": (
        *(survival, TIMES, {"time": 0.7, "n_groups": 3}),
        lambda r: r.observed[-1] - r.observed[0],
        (-0.25, 0.25),
    ),
    "calibration": (
        *(classifier, CLASSES, {"n_bins": 2}),
        lambda r: r.observed[-1] - r.observed[0],
        (-0.25, 0.25),
    ),
    "strength_and_correlation": (classifier, CLASSES, {}, lambda r: r.error, (0.4, 0.6)),
    "error_and_correlation": (regressor, NUMBERS, {}, lambda r: r.error, (0.8, 1.5)),
    "out_of_bag_curve": (classifier, CLASSES, {}, lambda r: r.loss[-1], (0.4, 1.2)),
    "quantiles": (regressor, NUMBERS, {}, lambda r: r.coverage[1], (0.15, 0.35)),
    "top_rules": (
        *(classifier, CLASSES, {}),
        lambda r: np.nanmean(r.purity - r.out_of_bag),  # chosen among many: out of bag not chance
        (0.02, 0.5),
    ),
    "rule_set": (classifier, CLASSES, {}, of_rules, (0.35, 0.65)),
}
# Kinds of importance by errors.
IMPORTANCES = {
    "permutation": (classifier, CLASSES),
    "negation": (classifier, CLASSES),
    "permutation of survival": (survival, TIMES),
    "negation of survival": (survival, TIMES),
}
# Functions of X and y that print no score of how well targets are predicted, and why.
WITHOUT_SCORES = {
    "accumulated_local_effects": "how predictions change with a feature",
    "effect_along": "how predictions change along a direction",
    "partial_dependence": "how predictions change with a feature",
    "conformal": "takes the rows of the fit only",
    "bias_and_variance": "grows its own forests and tests them on other rows",
    "forward_selection": "scores rows left out",
    "group_selections": "scores rows left out",
    "importance_test": "tests out-of-bag or held-out errors",
    "outlier_scores": "how far rows are from their class; out of bag",
    "prototypes": "typical rows; out of bag",
    "refit_best_rotations": "gives a forest",
    "surrogate_tree": "compares with the forest, on other rows than those of the tree",
    "potential_neighbours": "counts rows",
    "proximity": "how near rows are; out of bag",
    "principal_coordinates": "how near rows are; out of bag",
    "importance": "of its kinds, those that measure errors are tested below",
    "nearest_rows": "how near rows are; out of bag",
    "forest_weights": "weights of training rows",
    "voting_points": "weights of training rows",
    "neighbour_survival": "gives curves",
}


@pytest.mark.parametrize("name", SCORES)
def test_rows_of_the_fit_are_scored_out_of_bag(name):
    make, y, given, score, (low, high) = SCORES[name]
    result = getattr(analysis, name)(make(), X, y, **given)
    assert low <= score(result) <= high


@pytest.mark.parametrize("name", sorted(set(SCORES) - {"out_of_bag_curve", "quantiles"}))
def test_in_bag_scores_say_so(name):
    """By request, and of forests whose trees have seen all rows."""
    make, y, given, _, _ = SCORES[name]
    function = getattr(analysis, name)
    asked = {**given, "out_of_bag": False}
    with_bags = function(make(), X, y, **asked)
    without_bags = function(make(bootstrap=False), X, y, **{**given, "out_of_bag": "auto"})
    for result in (with_bags, without_bags):
        assert result.row_kind == "grown on"
        assert all(word in str(result) for word in WORDS)


@pytest.mark.parametrize("name", sorted(set(SCORES) - {"out_of_bag_curve", "quantiles"}))
def test_rows_that_are_not_recognised_are_scored_with_a_warning(name):
    """Rows of the fit in another order cannot be told from new ones."""
    make, y, given, _, _ = SCORES[name]
    order = np.arange(N_ROWS)[::-1]
    turned = tuple(each[order] for each in y) if isinstance(y, tuple) else y[order]
    result = getattr(analysis, name)(make(), X[order], turned, **{**given, "out_of_bag": "auto"})
    assert result.row_kind == "new"
    assert all(word in str(result) for word in WORDS)


@pytest.mark.parametrize("name", IMPORTANCES)
def test_importances_of_rows_of_the_fit_are_out_of_bag(name):
    make, y = IMPORTANCES[name]
    kind = name.split()[0]
    found = analysis.importance(make(projection="sparse"), kind, X, y)
    assert "out-of-bag rows" in found.measures
    assert np.abs(found.values).max() < 0.1
    seen = analysis.importance(make(projection="sparse"), kind, X, y, out_of_bag=False)
    assert "training rows, in-bag" in seen.measures
    assert seen.values.max() > 0.1


@pytest.mark.parametrize("name", ["survival_scores", "risk_groups", "survival_calibration"])
def test_other_rows_of_the_same_number_are_not_taken_for_those_of_the_fit(name):
    make, y, given, _, _ = SCORES[name]
    other = np.random.default_rng(1).normal(size=X.shape)
    with pytest.raises(ValueError, match="Pass the X and y that the forest was fitted on"):
        getattr(analysis, name)(make(), other, y, out_of_bag=True, **given)
    assert getattr(analysis, name)(make(), other, y, **given).row_kind == "new"


def test_rows_of_a_weighted_survival_fit_are_recognised():
    weights = np.where(np.arange(N_ROWS) % 7 == 0, 0.0, 1.0 + np.arange(N_ROWS) % 3)
    forest = ObliqueSurvivalForest(N_TREES, random_state=0).fit(X, TIMES, weights)
    assert analysis.survival_scores(forest, X, TIMES, sample_weight=weights).out_of_bag


def test_rows_of_competing_causes_and_of_slim_forests_are_recognised():
    cause = np.where(TIMES[1], 1 + np.arange(N_ROWS) % 2, 0)
    y = TIMES[0], cause
    forest = ObliqueSurvivalForest(N_TREES, competing_risks=True, random_state=0).fit(X, y)
    assert analysis.survival_scores(forest, X, y).out_of_bag
    assert analysis.survival_scores(survival().slim(), X, TIMES).out_of_bag


@pytest.mark.parametrize(
    ("model", "y"),
    [(ObliqueBoostingClassifier, CLASSES), (ObliqueBoostingRegressor, NUMBERS)],
)
def test_boosting_says_that_scores_of_training_rows_are_too_good(model, y):
    fitted = model(max_iter=20, early_stopping=False, random_state=0).fit(X, y)
    importance = analysis.importance(fitted, "permutation", X, y, out_of_bag=False)
    results = (importance, analysis.top_rules(fitted, X, y), analysis.rule_set(fitted, X, y))
    for result in results:
        assert "training rows" in str(result)
    with pytest.raises(ValueError, match="got boosting, which has none"):
        analysis.importance(fitted, "permutation", X, y, out_of_bag=True)


def test_every_function_of_rows_and_targets_is_looked_at():
    named = set()
    for name in analysis.__all__:
        each = getattr(analysis, name)
        if inspect.isfunction(each):
            parameters = set(inspect.signature(each).parameters)
            if {"X", "y"} <= parameters or {"X_train", "y_train"} <= parameters:
                named.add(name)
    assert named <= set(SCORES) | set(WITHOUT_SCORES)
    assert set(SCORES) | set(WITHOUT_SCORES) <= set(analysis.__all__)


@pytest.mark.parametrize("grown", [classifier, regressor])
def test_rows_of_a_fit_with_monotonic_constraints_are_recognised(grown, tmp_path):
    """Constraints bound the leaves, which then are no means of their rows."""
    forest = grown(monotonic_cst=[1, -1, 0, 1])
    y = CLASSES if grown is classifier else NUMBERS
    forest.save(tmp_path / "model.bevel")
    for each in (forest, bevel.load(tmp_path / "model.bevel")):
        found = analysis.importance(each, "permutation", X, y, n_repeats=2, random_state=0)
        assert len(found.values) == X.shape[1]
        analysis.proximity(each, X, y, kind="oob")
        with pytest.raises(ValueError, match="rows of the fit"):
            analysis.proximity(each, X[::-1], y, kind="oob")
