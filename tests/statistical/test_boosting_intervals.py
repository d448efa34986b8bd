"""Intervals of boosting cover what they promise, on rows that nobody has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom

import bevel
from bevel import ObliqueBoostingRegressor
from bevel.forest.records import conformal_quantile

FAMILIES: dict[str, dict[str, Any]] = {
    "squared": {},
    "absolute": {"loss": "absolute_error"},
    "gamma": {"loss": "gamma"},
    "quantiles": {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]},
}


def _table(n: int, seed: int) -> tuple[Any, Any]:
    """Skewed targets whose spread depends on the row."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 4))
    mean = np.exp(1.0 + X[:, 0] + X[:, 1] * X[:, 2])
    return X, mean * rng.gamma(3.0, 1.0 / 3.0, n)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_share_of_covered_rows_is_what_was_asked(family: str, coverage: float) -> None:
    """Null hypothesis: validation rows and new rows are exchangeable.

    With n validation rows and m new rows the number of covered rows is beta-binomial with
    parameters (k, n + 1 - k), k = ceil(coverage (n + 1)) (Vovk 2012); two tails of intervals that
    are not symmetric leave out as many ranks. Validation rows did not choose the number of
    iterations here (no iteration is dropped). False alarms: one in a million for each case.
    """
    n, m = 999, 20_000
    X, y = _table(1500, 1)
    X_val, y_val = _table(n, 2)
    X_new, y_new = _table(m, 3)
    model = ObliqueBoostingRegressor(
        max_iter=60, n_iter_no_change=1000, tol=0.0, random_state=0, **FAMILIES[family]
    ).fit(X, y, X_val=X_val, y_val=y_val)
    low, high = model.predict_interval(X_new, coverage).T
    assert (low <= high).all()
    inside = int(((low <= y_new) & (y_new <= high)).sum())
    if family == "quantiles":
        k = int(np.ceil(coverage * (n + 1)))
    else:
        tail = int(np.ceil((1.0 + coverage) / 2.0 * (n + 1)))
        k = 2 * tail - (n + 1)
    law = betabinom(m, k, n + 1 - k)
    assert law.cdf(inside) > 5e-7
    assert law.sf(inside - 1) > 5e-7


def test_early_stopping_on_the_same_rows_costs_little_coverage(tmp_path: Path) -> None:
    """Twenty fits that stop early; the mean coverage of 0.9 is at least 0.88.

    One fit's coverage has standard deviation below 0.03 (100 held-out rows), the mean of twenty
    below 0.007; 0.9 - 0.88 is about three of them, and conformal ranks lie above 0.9 by up to
    0.01: false alarms below one in ten thousand, with fixed seeds none.
    """
    found = []
    X_new, y_new = _table(4000, 99)
    for seed in range(20):
        X, y = _table(1000, seed)
        model = ObliqueBoostingRegressor(early_stopping=True, random_state=seed).fit(X, y)
        low, high = model.predict_interval(X_new).T
        found.append(float(np.mean((low <= y_new) & (y_new <= high))))
    assert np.mean(found) > 0.88
    assert np.mean(found) < 0.95
    model.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel", mmap=True)
    np.testing.assert_array_equal(loaded.predict_interval(X_new), np.column_stack([low, high]))


def test_conformal_quantile_is_an_order_statistic() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=99)
    for share in (0.1, 0.5, 0.9, 0.99):
        rank = int(np.ceil(round(share * 100, 9)))
        assert conformal_quantile(scores, None, share) == np.sort(scores)[rank - 1]
        assert conformal_quantile(scores, np.full(99, 3.0), share) == np.sort(scores)[rank - 1]
    assert conformal_quantile(scores, None, 0.995) == np.inf
    doubled = conformal_quantile(np.repeat(scores, 2), None, 0.5)
    assert conformal_quantile(scores, np.full(99, 2.0), 0.5) == doubled


def test_intervals_need_validation_rows() -> None:
    X, y = _table(200, 0)
    model = ObliqueBoostingRegressor(max_iter=5).fit(X, y)
    with pytest.raises(ValueError, match="needs validation rows"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_interval(X, 1.0)


def test_validation_rows_of_weight_zero_do_not_count() -> None:
    X, y = _table(400, 0)
    X_val, y_val = _table(100, 1)
    settings: dict[str, Any] = {"max_iter": 20, "n_iter_no_change": 50, "random_state": 0}
    weights = np.arange(100) % 2 + 0.0
    one = ObliqueBoostingRegressor(**settings).fit(
        X, y, X_val=X_val, y_val=y_val, sample_weight_val=weights
    )
    odd = weights > 0
    two = ObliqueBoostingRegressor(**settings).fit(X, y, X_val=X_val[odd], y_val=y_val[odd])
    np.testing.assert_allclose(one.predict_interval(X), two.predict_interval(X))
