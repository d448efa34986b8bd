"""Settings of boosting drawn together at random: all ways to predict agree."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.nominal_tables import classes_of, new_rows, nominal_table

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRanker,
    ObliqueBoostingRegressor,
    ObliqueSurvivalBoosting,
)
from bevel.analysis import shapley_values

N_ROWS = 160
KINDS: dict[str, Any] = {
    "numbers": (ObliqueBoostingRegressor, {"linear_leaves": [False, True]}),
    "quantiles": (ObliqueBoostingRegressor, {"quantile": [[0.1, 0.5, 0.9]], "loss": ["quantile"]}),
    "classes": (ObliqueBoostingClassifier, {"class_weight": [None, "balanced"]}),
    "rankings": (ObliqueBoostingRanker, {"loss": ["lambdarank", "pairwise"]}),
    "times": (ObliqueSurvivalBoosting, {"loss": ["cox", "log_logistic", "weibull"]}),
}
SHARED: dict[str, list[Any]] = {
    "growth": ["best_first", "symmetric"],
    "max_depth": [None, 2, 5],
    "max_leaf_nodes": ["auto", None, 6],
    "min_samples_leaf": [1, 5, 20],
    "l2_regularization": [0.0, 3.0],
    "projection": ["auto", "axis", "sparse", ["axis", "rotation"]],
    "subsample": [1.0, 0.5],
    "interaction_cst": [None, None, [["a", "b"], ["b", "c", "d"]]],
    "early_stopping": [False, True],
}


def _draw(rng: np.random.Generator, choices: dict[str, list[Any]]) -> dict[str, Any]:
    drawn = {name: values[rng.integers(len(values))] for name, values in choices.items()}
    if drawn["projection"] == ["axis", "rotation"]:
        drawn["interaction_cst"] = None
    return drawn


def _numbers(n: int, seed: int) -> pd.DataFrame:
    """Rows without nominal and missing values, of which blocks take faster ways down the trees."""
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 4)), columns=[*"abcd"])


def _table(seed: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Training rows, what they say of a target, and new rows."""
    if seed >= 2:
        X = _numbers(N_ROWS, seed)
        return X, 2.0 * X["a"].to_numpy() + (X["b"] * X["c"]).to_numpy(), _numbers(80, seed + 9)
    X, y = nominal_table(N_ROWS, seed)
    return X, y - 2.0, new_rows(X, 40, seed + 1)


def _target(kind: str, y: np.ndarray, seed: int) -> tuple[Any, dict[str, Any]]:
    """The target of a kind, and other arguments of the fit."""
    given = {"sample_weight": (np.arange(N_ROWS) % 3).astype(float)} if seed % 2 else {}
    if kind == "classes":
        return classes_of(y, 4), given
    if kind == "rankings":
        return np.digitize(y, [-1.0, 0.0, 2.0]), {**given, "groups": np.arange(N_ROWS) // 8}
    if kind == "times":
        return (np.round(np.exp(-y / 4.0), 1) + 0.1, y > -1.0), given
    return y, given


def _predict(model: Any, rows: pd.DataFrame) -> np.ndarray:
    found = model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
    return np.asarray(found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_settings_drawn_together_predict_alike_in_all_ways(
    tmp_path: Path, kind: str, seed: int
) -> None:
    rng = np.random.default_rng([seed, *kind.encode()])
    estimator, own = KINDS[kind]
    if estimator in (ObliqueBoostingRegressor, ObliqueBoostingClassifier):
        own = {**own, "multi_strategy": ["one_output_per_tree", "multi_output_tree"]}
    settings = {**_draw(rng, {**SHARED, **own}), "max_iter": 6, "random_state": seed}
    X, y, rows = _table(seed)
    y, given = _target(kind, y, seed)
    model = estimator(**settings, n_jobs=1).fit(X, y, **given)
    expected = _predict(model, rows)
    assert np.isfinite(expected).all()
    threads = estimator(**settings, n_jobs=2).fit(X, y, **given)
    np.testing.assert_array_equal(_predict(threads, rows), expected)
    single = [_predict(model, rows.iloc[i : i + 1]) for i in range(len(rows))]
    np.testing.assert_array_equal(np.concatenate(single), expected)
    model.save(tmp_path / "model.bevel")
    for mmap in (False, True):
        loaded = bevel.load(tmp_path / "model.bevel", mmap=mmap)
        np.testing.assert_array_equal(_predict(loaded, rows), expected)
    _check_shapley(model, rows)
    if kind != "quantiles":
        _check_sql(model, rows, expected)


def _check_shapley(model: Any, rows: pd.DataFrame) -> None:
    some = rows.iloc[:4]
    values = shapley_values(model, some, rows.iloc[:10], random_state=0)
    sums = model._raw(some)
    total = np.asarray(values.values).sum(axis=1) + np.asarray(values.base_values)
    np.testing.assert_allclose(total.reshape(sums.shape), sums, atol=1e-6)


def _check_sql(model: Any, rows: pd.DataFrame, expected: np.ndarray) -> None:
    """SQLite has no numbers of single precision: a few rows may go to the other side."""
    with closing(sqlite3.connect(":memory:")) as database:
        rows.assign(key=range(len(rows))).to_sql("given", database, index=False)
        query = model.to_sql("given", dialect="sqlite", keep=["key"])
        found = pd.read_sql_query(query, database).sort_values("key").drop(columns="key")
    columns = [name for name in found if name != "prediction"] or ["prediction"]
    close = np.isclose(found[columns].to_numpy().reshape(expected.shape), expected, atol=1e-10)
    assert close.mean() > 0.9
