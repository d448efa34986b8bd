"""Boosting against a plain one in NumPy: exact cuts, one row after the other, one thread."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support.plain_boosting import PlainBoosting

from bevel import ObliqueBoostingClassifier, ObliqueBoostingRegressor, _core

Floats = npt.NDArray[np.float64]


def _table(rng: np.random.Generator, n: int, decimals: int, nominal: bool) -> Floats:
    """Ties, a constant column, missing values and perhaps levels."""
    X = np.round(rng.normal(size=(n, 5)), decimals)
    X[:, 2] = 3.0
    X[rng.random(n) < 0.2, 1] = np.nan
    if nominal:
        X[:, 4] = rng.integers(0, 6, n)
    return X


# With few values all but the smallest nodes keep their histograms, with many values none does.
@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("log_loss", [False, True])
def test_boosting_on_single_features_agrees_with_plain_boosting(
    seed: int, log_loss: bool, decimals: int
) -> None:
    rng = np.random.default_rng(seed)
    n, weighted, nominal = 150, seed % 2 == 1, seed % 3 == 2
    X = _table(rng, n, decimals, nominal)
    signal = np.where(np.isnan(X[:, 1]), 1.5, X[:, 1]) + X[:, 0] * (X[:, 3] > 0) + X[:, 4] % 3
    y = signal + rng.normal(size=n)
    if log_loss:
        y = (y > np.median(y)).astype(float)
    w = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    nominal_columns = frozenset({4}) if nominal else frozenset()
    l2 = (0.0, 1.5)[seed % 2]
    plain = PlainBoosting(8, 7, 1 + 4 * (seed % 3), l2, 0.3, nominal_columns)
    expected = plain.fit(X, y, w, log_loss)
    estimator = ObliqueBoostingClassifier if log_loss else ObliqueBoostingRegressor
    model = estimator(
        projection="axis",
        max_iter=8,
        max_leaf_nodes=7,
        min_samples_leaf=plain.min_samples_leaf,
        l2_regularization=l2,
        learning_rate=0.3,
        categorical_features=sorted(nominal_columns) or None,
        random_state=seed,
    ).fit(X, y, sample_weight=w if weighted else None)
    found = model.decision_function(X) if log_loss else model.predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    first_tree = model.forest_.tree_offset[:-1]
    np.testing.assert_allclose(model.forest_.gain[first_tree], plain.first_gains, rtol=1e-4)


@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("log_loss", [False, True])
def test_symmetric_trees_agree_with_plain_ones(seed: int, log_loss: bool, decimals: int) -> None:
    rng = np.random.default_rng(seed)
    n, weighted, nominal = 150, seed % 2 == 1, seed % 3 == 2
    X = _table(rng, n, decimals, nominal)
    signal = np.where(np.isnan(X[:, 1]), 1.5, X[:, 1]) + X[:, 0] * (X[:, 3] > 0) + X[:, 4] % 3
    y = signal + rng.normal(size=n)
    if log_loss:
        y = (y > np.median(y)).astype(float)
    w = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    nominal_columns = frozenset({4}) if nominal else frozenset()
    l2, depth = (0.0, 1.5)[seed % 2], 2 + seed % 3
    plain = PlainBoosting(
        8, 0, 1 + 4 * (seed % 3), l2, 0.3, nominal_columns, max_depth=depth, symmetric=True
    )
    expected = plain.fit(X, y, w, log_loss)
    estimator = ObliqueBoostingClassifier if log_loss else ObliqueBoostingRegressor
    model = estimator(
        growth="symmetric",
        projection="axis",
        max_iter=8,
        max_depth=depth,
        min_samples_leaf=plain.min_samples_leaf,
        l2_regularization=l2,
        learning_rate=0.3,
        categorical_features=sorted(nominal_columns) or None,
        random_state=seed,
    ).fit(X, y, sample_weight=w if weighted else None)
    found = model.decision_function(X) if log_loss else model.predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    first_tree = model.forest_.tree_offset[:-1]
    gains = [model.forest_.gain[root] for root in first_tree]
    np.testing.assert_allclose(gains, plain.first_gains, rtol=1e-4)


@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_trees_of_all_classes_agree_with_plain_ones(seed: int, decimals: int) -> None:
    """Up to five classes splits are sought on the classes themselves."""
    rng = np.random.default_rng(seed)
    n, weighted = 150, seed % 2 == 1
    X = _table(rng, n, decimals, nominal=False)
    signal = np.where(np.isnan(X[:, 1]), 1.5, X[:, 1]) + X[:, 0] * (X[:, 3] > 0)
    y = np.digitize(signal + 0.5 * rng.normal(size=n), [-1.0, 0.0, 1.0][: 2 + seed // 2])
    w = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    plain = PlainBoosting(6, 7, 1 + 4 * (seed % 3), 1.0, 0.3)
    expected = plain.fit_classes(X, y, w)
    model = ObliqueBoostingClassifier(
        multi_strategy="multi_output_tree",
        projection="axis",
        max_iter=6,
        max_leaf_nodes=7,
        min_samples_leaf=plain.min_samples_leaf,
        l2_regularization=1.0,
        learning_rate=0.3,
        early_stopping=False,
        random_state=seed,
    ).fit(X, y, sample_weight=w if weighted else None)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-6)


PLAIN: dict[str, Any] = {"l2_regularization": 0.0, "min_samples_leaf": 20, "learning_rate": 0.05}


def _projected(forest: Any, node: int, X: Floats) -> Floats:
    entries = slice(forest.entry_offset[node], forest.entry_offset[node + 1])
    columns, weights = forest.entry_index[entries], forest.entry_weight[entries]
    value = np.zeros(len(X), dtype=np.float32)
    for column, weight in zip(columns, weights, strict=True):
        value = (value + weight * X[:, column].astype(np.float32)).astype(np.float32)
    return value


def test_gain_of_every_oblique_split_is_that_of_its_rows() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 6)).astype(np.float32)
    y = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=400)
    model = ObliqueBoostingRegressor(
        max_iter=1, scale=None, random_state=0, n_projections=40, **PLAIN
    ).fit(X, y)
    forest = model.forest_
    g = np.full(400, y.mean()) - y
    stack = [(0, np.arange(400))]
    n_oblique = 0
    while stack:
        node, rows = stack.pop()
        if forest.right[node] < 0:
            assert forest.leaf_value[node] == pytest.approx(-0.05 * g[rows].mean(), rel=1e-6)
            assert forest.weight[node] == len(rows) >= 20
            continue
        left = _projected(forest, node, X[rows]) <= forest.threshold[node]
        parts = [g[rows[left]], g[rows[~left]]]
        gain = 0.5 * (sum(p.sum() ** 2 / len(p) for p in parts) - g[rows].sum() ** 2 / len(rows))
        assert forest.gain[node] == pytest.approx(gain, rel=1e-4)
        n_oblique += forest.entry_offset[node + 1] - forest.entry_offset[node] > 1
        stack += [(node + 1, rows[left]), (int(forest.right[node]), rows[~left])]
    assert n_oblique > 5


def test_root_takes_the_best_of_the_directions_that_are_drawn() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = X[:, 0] - X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=300)
    model = ObliqueBoostingRegressor(
        projection="sparse", n_projections=30, max_iter=1, scale=None, random_state=0, **PLAIN
    ).fit(X, y)
    options = _core.Options()
    options.families = [_core.Family("signs", 30, 90)]
    options.seed = model.fitted_forest_.provenance.seed
    offset, index, weight = _core.sample_candidates(options, np.zeros(5, dtype=np.int32), 0)
    g = y - y.mean()
    best = 0.0
    for first, last in itertools.pairwise(offset):
        order = np.argsort(X[:, index[first:last]] @ weight[first:last])
        sums, n = np.cumsum(g[order])[19:-20], np.arange(20, 281)
        best = max(best, float((0.5 * (sums**2 / n + sums**2 / (300 - n))).max()))
    assert model.forest_.gain[0] == pytest.approx(best, rel=0.02)  # bins may hide a little
    assert model.forest_.gain[0] <= best * (1 + 1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_score_of_training_rows_is_that_of_their_predictions(n_classes: int) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 6))
    X[rng.random((500, 6)) < 0.1] = np.nan
    y = rng.integers(0, n_classes, 500)
    model = ObliqueBoostingClassifier(max_iter=20, random_state=0, subsample=0.7).fit(X, y)
    loss = -np.log(model.predict_proba(X)[np.arange(500), y]).mean()
    assert model.train_score_[-1] == pytest.approx(-loss, rel=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson", "gamma"])
def test_leaves_of_each_loss_lower_it(loss: str) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 4))
    y = np.exp(0.5 * X[:, 0]) * rng.gamma(2.0, size=400) + 0.01
    model = ObliqueBoostingRegressor(loss, max_iter=30, random_state=0, learning_rate=0.1).fit(X, y)
    assert (np.diff(model.train_score_[:10]) > 0).all()
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.5


def test_quantile_loss_leaves_that_share_of_targets_below() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(2000, 3))
    y = X[:, 0] + rng.normal(size=2000)
    for quantile in (0.1, 0.9):
        model = ObliqueBoostingRegressor(
            "quantile", quantile=quantile, max_iter=50, min_samples_leaf=50, random_state=0
        ).fit(X, y)
        below = float((y <= model.predict(X)).mean())
        assert below == pytest.approx(quantile, abs=0.04)
