"""Conformal intervals and sets against loops over training rows, trees and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import clone

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRanker,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    analysis,
)

Floats = npt.NDArray[np.float64]


def _problem(n: int = 60, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n + 9, 3)), 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] + X[:, 1]) + 0.3 * rng.normal(size=n + 9)
    return X[:n], y[:n], X[n:]


def _without_each_row(forest: Any, X: Floats, rows: Floats) -> Floats:
    """Mean of the trees that have not seen each training row, rows x training rows x columns."""
    out = forest.fitted_forest_.provenance.bags.rows_out(forest.forest_.n_trees)
    trees = np.array([_alone(forest, tree, rows) for tree in range(forest.forest_.n_trees)])
    with np.errstate(invalid="ignore"):
        means = [trees[out[row]].mean(axis=0) for row in range(len(X))]
    return np.stack(means, axis=1)


def _alone(forest: Any, tree: int, rows: Floats) -> Floats:
    flat = forest.forest_
    leaves = forest.apply(rows)[:, tree] + flat.tree_offset[tree]
    if not flat.n_classes:
        return flat.leaf_value[leaves][:, None]
    shares = np.zeros((len(rows), flat.n_classes))
    for row, leaf in enumerate(leaves):
        entries = slice(flat.entry_offset[leaf], flat.entry_offset[leaf + 1])
        shares[row, flat.entry_index[entries]] = flat.entry_weight[entries]
    if forest.fitted_forest_.aggregation.hard:
        return np.eye(flat.n_classes)[shares.argmax(axis=1)]
    return shares


def _interval(around: Floats, residuals: Floats, coverage: float) -> tuple[float, float]:
    n = len(residuals)
    low, high = np.sort(around - residuals), np.sort(around + residuals)
    rank = int(np.ceil(np.round(coverage * (n + 1), 9)))
    return (low[n - rank], high[rank - 1]) if rank <= n else (-np.inf, np.inf)


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_of_a_forest_are_those_of_trees_that_have_not_seen_each_row(
    grouped: bool, coverage: float
) -> None:
    X, y, new = _problem()
    forest = ObliqueForestRegressor(30, projection="sparse", random_state=0).fit(X, y)
    site = np.arange(len(y)) % 2 if grouped else None
    place = np.arange(len(new)) % 2 if grouped else None
    result = analysis.conformal(forest, X, y, by=site)
    found = result.predict_interval(new, coverage, by=place)
    around = _without_each_row(forest, X, new)[..., 0]
    residuals = np.abs(y - np.diagonal(_without_each_row(forest, X, X)[..., 0]))
    for row in range(len(new)):
        own = np.ones(len(y), bool) if site is None or place is None else site == place[row]
        own &= ~np.isnan(residuals)
        expected = _interval(around[row, own], residuals[own], coverage)
        np.testing.assert_allclose(found[row], expected, rtol=1e-9)


@pytest.mark.parametrize(
    "settings", [{"projection": "sparse"}, {"projection": "sparse", "voting": "hard"}, {}]
)
def test_sets_of_a_forest_are_those_of_trees_that_have_not_seen_each_row(
    settings: dict[str, Any],
) -> None:
    X, y, new = _problem(80, 1)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.7])]
    forest = ObliqueForestClassifier(60, **settings, random_state=0)
    forest.fit(X, labels)
    result = analysis.conformal(forest, X, labels)
    calibrate = forest.fitted_forest_.aggregation.calibrate
    codes = np.searchsorted(forest.classes_, labels)

    def shares(rows: Floats) -> Floats:
        found = _without_each_row(forest, X, rows)
        return calibrate(found.reshape(-1, 3)).reshape(found.shape)

    own = shares(X)[np.arange(80), np.arange(80)]
    scores = 1.0 - own[np.arange(80), codes]
    for coverage in (0.6, 0.9):
        found = result.predict_set(new, coverage)
        beyond = (scores[None, :, None] < 1.0 - shares(new)).sum(axis=1)
        np.testing.assert_array_equal(found, beyond < coverage * 81)


def test_intervals_of_boosting_are_those_of_models_of_other_folds() -> None:
    X, y, new = _problem()
    model = ObliqueBoostingRegressor(max_iter=5, random_state=0).fit(X, y)
    found = analysis.conformal(model, X, y, cv=3).predict_interval(new, 0.8)
    fold = np.empty(60, int)
    fold[np.random.default_rng(0).permutation(60)] = np.arange(60) % 3
    parts = [clone(model).fit(X[fold != k], y[fold != k]) for k in range(3)]
    residuals = np.array([abs(y[i] - parts[fold[i]].predict(X[i : i + 1])[0]) for i in range(60)])
    around = np.array([part.predict(new) for part in parts])[fold].T
    for row in range(len(new)):
        expected = _interval(around[row], residuals, 0.8)
        np.testing.assert_allclose(found[row], expected, rtol=1e-12)


def test_sets_of_boosting_hold_classes_that_a_fold_lacks() -> None:
    X, y, new = _problem()
    labels = np.where(y > 0, "high", "low").astype(object)
    labels[7] = "only"
    model = ObliqueBoostingClassifier(max_iter=5, random_state=0).fit(X, labels)
    found = analysis.conformal(model, X, labels, cv=3).predict_set(new, 0.9)
    assert found.shape == (len(new), 3)
    assert found.any(axis=1).all()


def test_more_trees_and_rows_than_memory_holds_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, _ = _problem()
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    monkeypatch.setattr("bevel.analysis.accuracy.conformal.MAX_NUMBERS", 1000)
    with pytest.raises(ValueError, match="at most 1000; got 20 trees and 60 rows"):
        analysis.conformal(forest, X, y)


def test_what_has_no_conformal_predictions_is_refused() -> None:
    X, y, new = _problem()
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    result = analysis.conformal(forest, X, y)
    with pytest.raises(ValueError, match="predict_set needs a classifier"):
        result.predict_set(new)
    with pytest.raises(ValueError, match="by must be None"):
        result.predict_interval(new, by=np.zeros(len(new)))
    with pytest.raises(ValueError, match="coverage must be"):
        result.predict_interval(new, 1.5)
    grouped = analysis.conformal(forest, X, y, by=np.arange(60) % 2)
    with pytest.raises(ValueError, match="by must be groups of the training rows; got 7"):
        grouped.predict_interval(new, by=np.full(len(new), 7))
    several = ObliqueForestRegressor(5, random_state=0).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="conformal needs a forest of one target"):
        analysis.conformal(several, X, np.column_stack([y, y]))
    with pytest.raises(TypeError, match="conformal needs a forest that was fitted to a target"):
        analysis.conformal(ObliqueIsolationForest(5, random_state=0).fit(X), X, y)
    levels = {"loss": "quantile", "quantile": [0.1, 0.9], "max_iter": 2, "random_state": 0}
    quantiles = ObliqueBoostingRegressor(**levels).fit(X, y)
    with pytest.raises(ValueError, match="one prediction for each row; got one of several quant"):
        analysis.conformal(quantiles, X, y)
    ranker = ObliqueBoostingRanker(max_iter=2, random_state=0)
    ranker.fit(X, np.abs(y), groups=np.arange(60) // 6)
    with pytest.raises(ValueError, match="classes or numbers; got a ranking model"):
        analysis.conformal(ranker, X, y)
