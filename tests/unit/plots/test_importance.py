"""Pictures of importances: what is drawn, given axes, and what is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel.analysis import importance
from bevel.analysis.results import Importance
from bevel.plots import importance_bars, top_projections


def forest(projection="sparse", p=5, n_trees=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, p))
    model = ObliqueForestClassifier(n_trees, projection=projection, random_state=0, n_jobs=1)
    return model.fit(X, X[:, 0] - X[:, 1] > 0)


def rendered(axes):
    """Draw it, cut to what is on it; returns the size of the picture."""
    file = io.BytesIO()
    axes.figure.savefig(file, format="png", bbox_inches="tight", dpi=50)
    return len(file.getvalue())


@pytest.mark.parametrize("kind", ["gini", "split_frequency", "projection"])
def test_bars_are_the_largest_importances_in_order(kind):
    result = importance(forest(), kind)
    axes = importance_bars(result, n_top=3)
    values = result.share if kind == "projection" else np.sort(result.values)[::-1]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(values[:3])
    labels = [label.get_text() for label in axes.get_yticklabels()]
    names = result.words if kind == "projection" else result.top(3).names
    assert labels == list(names[:3])
    assert axes.yaxis_inverted()
    assert rendered(axes) > 1000


def test_whiskers_are_one_standard_deviation_and_end_at_zero():
    result = Importance("gini", ("a", "b"), np.array([0.6, 0.4]), "x", std=np.array([0.1, 0.5]))
    ends = importance_bars(result).collections[0].get_segments()
    assert [segment[:, 0].tolist() for segment in ends] == [
        pytest.approx([0.5, 0.7]),
        pytest.approx([0.0, 0.9]),
    ]
    signed = Importance("corrected", ("a", "b"), np.array([0.6, -0.1]), "x", std=np.full(2, 0.2))
    ends = importance_bars(signed).collections[0].get_segments()
    assert ends[1][:, 0].tolist() == pytest.approx([-0.3, 0.1])


def test_bars_without_spread_have_no_whiskers():
    axes = importance_bars(importance(forest(n_trees=1)))
    assert len(axes.collections) == 0
    assert "standard deviation" not in axes.get_xlabel()


def test_heat_map_shows_the_weights_of_the_best_directions_with_their_shares():
    result = importance(forest(), "projection")
    axes = top_projections(result, n_top=4)
    assert pytest.approx(result.top(4).dense()) == np.asarray(axes.collections[0].get_array()).T
    bars, _ = sorted(axes.figure.axes, key=lambda each: each is axes)
    assert [bar.get_height() for bar in bars.patches] == pytest.approx(result.share[:4])
    signs = [text.get_text() for text in axes.texts]
    assert signs.count("+") == np.count_nonzero(result.top(4).dense() > 0)
    assert signs.count("−") == np.count_nonzero(result.top(4).dense() < 0)
    assert rendered(axes) > 1000


def test_heat_map_writes_no_sign_before_a_weight_that_rounds_to_zero():
    result = importance(forest(P.RandomRotation(), p=8), "projection").top(20)
    assert np.any((result.dense() < 0) & (result.dense() > -0.05))
    texts = {text.get_text() for text in top_projections(result, n_top=20).texts}
    assert "0.0" in texts
    assert "−0.0" not in texts


@pytest.mark.parametrize("projection", ["combination", P.RandomRotation()])
def test_heat_map_of_many_features_shows_those_that_are_used(projection):
    result = importance(forest(projection, p=40), "projection")
    axes = top_projections(result, n_top=2)
    used = np.flatnonzero(result.top(2).dense().any(axis=0))
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == min(30, len(used))
    assert set(labels) <= {f"x{feature}" for feature in used}
    assert rendered(axes) > 1000


def test_pictures_are_drawn_on_given_axes():
    from matplotlib.figure import Figure

    left, right = Figure(figsize=(10, 4)).subplots(1, 2)
    model = forest()
    assert importance_bars(importance(model), ax=left) is left
    assert top_projections(importance(model, "projection"), ax=right) is right
    assert rendered(left) > 1000


def test_other_things_are_refused():
    result = importance(forest())
    with pytest.raises(TypeError, match=r'result must be Directions; .*importance.forest, "proj'):
        top_projections(result)
    with pytest.raises(TypeError, match="result must be an Importance or Directions"):
        importance_bars([1, 2])
    with pytest.raises(ValueError, match="n_top must be an integer of at least 1; got 0"):
        importance_bars(result, n_top=0)
    empty = ObliqueForestClassifier(2).fit([[1.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="at least one direction; got 'a forest without splits'"):
        top_projections(importance(empty, "projection"))
