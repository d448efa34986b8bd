"""Rows of an iteration drawn by their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
STEPS = np.floor(X[:, 0] * 2.0) + 3.0 * (X[:, 1] > 0.0)
SETTINGS: dict[str, Any] = {
    "row_sampling": "gradient",
    "subsample": 0.3,
    "early_stopping": False,
    "random_state": 0,
}


def test_leaves_are_steps_of_weighted_rows() -> None:
    """Targets are constant in most leaves: then the leaf's value follows from its weight.

    A tree that forgets the factors, or counts them in one sum only, has other values.
    """
    settings = {**SETTINGS, "projection": "axis", "max_leaf_nodes": 64, "min_samples_leaf": 1}
    settings["subsample"] = 0.6
    model = ObliqueBoostingRegressor(
        max_iter=1, learning_rate=1.0, l2_regularization=1.0, **settings
    ).fit(X, STEPS)
    forest, leaves = model.forest_, model.apply(X)[:, 0]
    base, checked, weighted = model.baseline_prediction_[0], 0, 0
    for leaf in np.unique(leaves):
        targets = np.unique(STEPS[leaves == leaf])
        if len(targets) > 1:
            continue
        weight = float(forest.weight[leaf])
        expected = (targets[0] - base) * weight / (weight + 1.0)
        assert forest.leaf_value[leaf] == pytest.approx(expected, rel=1e-5)
        checked += 1
        weighted += weight != round(weight)
    assert checked > 5
    assert weighted > 5


def test_weights_of_drawn_rows_add_up_to_all_rows_on_average() -> None:
    model = ObliqueBoostingRegressor(max_iter=200, **SETTINGS).fit(X, STEPS + RNG.normal(size=600))
    forest = model.forest_
    weights = forest.weight[forest.tree_offset[:-1]]
    # Means of 200 sums; the alarm is false in fewer than one of 10 000 samples.
    error = weights.std() / np.sqrt(len(weights))
    assert abs(weights.mean() - 600) < 4.0 * error + 1e-6
    assert weights.std() > 1.0


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_bits_do_not_depend_on_threads_and_rows_without_weight(loss: str) -> None:
    y = np.abs(STEPS) + 1.0
    one = ObliqueBoostingRegressor(loss, max_iter=8, n_jobs=1, **SETTINGS).fit(X, y)
    many = ObliqueBoostingRegressor(loss, max_iter=8, n_jobs=3, **SETTINGS).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), many.predict(X))
    more_X, more_y = np.vstack([X, X[:50] + 1.0]), np.append(y, y[:50] * 2.0)
    weights = np.append(np.ones(len(y)), np.zeros(50))
    more = ObliqueBoostingRegressor(
        loss, max_iter=8, scale=None, projection="axis", **SETTINGS
    ).fit(more_X, more_y, sample_weight=weights)
    fewer = ObliqueBoostingRegressor(
        loss, max_iter=8, scale=None, projection="axis", **SETTINGS
    ).fit(X, y)
    np.testing.assert_array_equal(more.predict(X), fewer.predict(X))


def test_rows_of_large_gradient_are_drawn_rather_than_others() -> None:
    """One row of 600 has a residual 1000 times as large: every tree has it in its bag."""
    y = 0.001 * RNG.normal(size=600)
    y[17] = 10.0
    model = ObliqueBoostingRegressor(
        max_iter=20, learning_rate=0.01, min_samples_leaf=1, **{**SETTINGS, "subsample": 0.05}
    ).fit(X, y)
    assert model.predict(X[17:18])[0] > 0.01


def test_several_classes_and_early_stopping() -> None:
    y = np.digitize(STEPS, [0.0, 3.0])
    settings = {**SETTINGS, "early_stopping": True}
    model = ObliqueBoostingClassifier(max_iter=40, **settings).fit(X, y)
    assert model.score(X, y) > 0.9


def test_sampling_of_all_rows_is_refused() -> None:
    model = ObliqueBoostingRegressor(row_sampling="gradient")
    with pytest.raises(ValueError, match="needs subsample below 1"):
        model.fit(X, STEPS)
