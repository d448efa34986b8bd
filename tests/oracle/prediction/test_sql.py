"""Queries of whole models against predictions in Python, in SQLite, DuckDB and PostgreSQL.

DuckDB is asked if it is installed, PostgreSQL if PGHOST names a server.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.databases import TABLE, answers
from support.nominal_tables import classes_of, n_level_terms, new_rows, nominal_table

import bevel.export.sql
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueRegressor,
    ObliqueSurvivalForest,
)
from bevel import projections as P
from bevel.datasets import weibull

DIALECTS = ["sqlite", "duckdb", "postgresql"]
NAN = float("nan")

pytestmark = pytest.mark.parametrize("dialect", DIALECTS)


def expected_of(model: Any, rows: Any) -> pd.DataFrame:
    """What the query should give: predictions, and probabilities of classes."""
    found = pd.DataFrame({"prediction": model.predict(rows)})
    if hasattr(model, "predict_proba"):
        for label, column in zip(model.classes_, model.predict_proba(rows).T, strict=True):
            found[f"probability_{label}"] = column
    return found


def assert_same(dialect: str, model: Any, rows: pd.DataFrame, exact: bool = False) -> None:
    """The query gives the predictions of all rows, to the precision of a sum.

    In SQLite sums of directions are not rounded to float32: a few rows at a threshold may differ.
    """
    rows = rows.assign(**{"the key": range(len(rows))})
    sql = model.to_sql(TABLE, dialect=dialect, keep=["the key"])
    found = answers(dialect, rows, sql).sort_values("the key", ignore_index=True)
    expected = expected_of(model, rows.drop(columns="the key"))
    assert list(found) == ["the key", *expected]
    for name in expected:
        if expected[name].dtype.kind == "f":
            same = np.isclose(found[name], expected[name], rtol=1e-11, atol=1e-13)
        else:
            same = (found[name] == expected[name]).to_numpy()
        assert same.mean() >= (0.98 if dialect == "sqlite" and not exact else 1.0), name


def numbers(n: int = 250, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns with ties, gaps, a constant, large and small units, and names to quote."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [1, 10, 1e-3, 1, 1, 1e6]
    X[:, 3] = rng.integers(0, 5, n)
    y = X[:, 0] + X[:, 1] / 10 + X[:, 3] + rng.normal(size=n)
    X[:, 4] = 7.0
    X[rng.random(X.shape) < 0.05] = NAN
    return pd.DataFrame(X, columns=['the "a"', "B", "select", "_v0", "d'", "rows"]), y


def other_rows(frame: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Rows of training, others far beyond them, and others with many gaps."""
    rng = np.random.default_rng(seed)
    beyond = frame * 10.0 ** rng.integers(-3, 4, frame.shape) * rng.choice([-1, 1], frame.shape)
    holes = frame.where(rng.random(frame.shape) < 0.5)
    return pd.concat([frame, beyond, holes], ignore_index=True)


SMALL = {"n_estimators": 8, "random_state": 0, "n_jobs": 1}
SHORT = {"max_iter": 12, "random_state": 0}
MADE = {
    "default_classes": (lambda: ObliqueForestClassifier(**SMALL), 3),
    "default_values": (lambda: ObliqueForestRegressor(**SMALL), 0),
    "axis": (lambda: ObliqueForestClassifier(projection="axis", **SMALL), 2),
    "axis_quantile": (
        lambda: ObliqueForestClassifier(projection="axis", scale="quantile", **SMALL),
        2,
    ),
    "votes": (lambda: ObliqueForestClassifier(voting="hard", **SMALL), 3),
    "one_tree": (lambda: ObliqueForestClassifier(1, random_state=0), 2),
    "rotation": (lambda: ObliqueForestClassifier(projection="rotation", **SMALL), 3),
    "multirotation": (lambda: ObliqueForestRegressor(projection=P.MultiRotation(2), **SMALL), 0),
    "ridge": (lambda: ObliqueForestRegressor(projection="ridge", **SMALL), 0),
    "standard": (lambda: ObliqueForestRegressor(scale="standard", **SMALL), 0),
    "minmax_clip": (lambda: ObliqueForestClassifier(scale="minmax_clip", **SMALL), 2),
    "minmax": (lambda: ObliqueForestClassifier(scale="minmax", **SMALL), 2),
    "quantile": (lambda: ObliqueForestClassifier(scale="quantile", **SMALL), 2),
    "no_scale": (lambda: ObliqueForestClassifier(projection="sparse", scale=None, **SMALL), 2),
    "large_leaves": (lambda: ObliqueForestClassifier(max_leaf_nodes=6, **SMALL), 3),
    "leaf": (lambda: ObliqueForestClassifier(max_depth=1, min_samples_leaf=120, **SMALL), 2),
    "boosting_values": (lambda: ObliqueBoostingRegressor(**SHORT), 0),
    "boosting_counts": (lambda: ObliqueBoostingRegressor(loss="poisson", **SHORT), 0),
    "boosting_median": (
        lambda: ObliqueBoostingRegressor(loss="quantile", quantile=0.7, **SHORT),
        0,
    ),
    "boosting_two": (lambda: ObliqueBoostingClassifier(**SHORT), 2),
    "boosting_three": (lambda: ObliqueBoostingClassifier(**SHORT), 3),
    "combined_classes": (lambda: ObliqueClassifier(quality=1, random_state=0), 3),
    "combined_values": (lambda: ObliqueRegressor(quality=1, random_state=0), 0),
}


@pytest.mark.parametrize("kind", MADE)
def test_query_predicts_as_python_does(dialect: str, kind: str) -> None:
    frame, y = numbers()
    make, n_classes = MADE[kind]
    y = np.abs(y) if kind == "boosting_counts" else y
    model = make().fit(frame, classes_of(y, n_classes) if n_classes else y)
    # Splits by one feature, with or without a scale, are exact in SQLite too.
    assert_same(dialect, model, other_rows(frame), exact=kind in ("axis", "axis_quantile"))


@pytest.mark.parametrize("kind", ["forest", "boosting", "classes", "subsets"])
def test_query_reads_labels_levels_and_means_of_the_target_as_python_does(
    dialect: str, kind: str
) -> None:
    frame, y = nominal_table(500, n_places=130)
    model = {
        "forest": ObliqueForestRegressor(10, random_state=0),
        "boosting": ObliqueBoostingRegressor(max_iter=20, random_state=0),
        "classes": ObliqueForestClassifier(10, random_state=0),
        "subsets": ObliqueForestRegressor(10, projection="axis", random_state=0),
    }[kind].fit(frame, classes_of(y, 3) if kind == "classes" else y)
    assert kind == "subsets" or n_level_terms(model) > 0
    assert_same(dialect, model, frame)
    assert_same(dialect, model, new_rows(frame))


def test_numbers_and_truth_values_as_labels_are_found(dialect: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.integers(0, 6, 200) * 10, "flag": rng.random(200) < 0.5})
    frame["x"] = rng.normal(size=200)
    y = (frame["code"] % 20 == 0) + 0.5 * frame["flag"] + 0.1 * frame["x"]
    model = ObliqueForestRegressor(
        8, categorical_features=["code"], projection="axis", random_state=0
    ).fit(frame, y)
    assert_same(dialect, model, frame)
    assert_same(dialect, model, frame.assign(code=frame["code"] + 10))


def test_dates_are_days(dialect: str) -> None:
    rng = np.random.default_rng(0)
    minutes = rng.integers(0, 2_000_000, 200)
    frame = pd.DataFrame(
        {
            "moment": np.datetime64("1969-06-01") + minutes.astype("timedelta64[m]"),
            "day": np.datetime64("2020-01-01", "s") + rng.integers(0, 900, 200).astype("m8[D]"),
            "x": rng.normal(size=200),
        }
    )
    y = minutes / 1e6 + frame["x"] + (frame["day"] > "2021-01-01")
    model = ObliqueForestRegressor(8, random_state=0).fit(frame, y)
    if dialect == "sqlite":
        kept = frame.assign(moment=frame["moment"].astype(str), day=frame["day"].astype(str))
        found = answers(dialect, kept, model.to_sql(TABLE, dialect=dialect))
        np.testing.assert_allclose(found["prediction"], model.predict(frame))
    else:
        assert_same(dialect, model, frame)


def test_labels_of_classes_keep_their_type_and_quotes(dialect: str) -> None:
    frame, y = numbers(100)
    for labels in (["it's", "x"], [3, 7], [False, True]):
        model = ObliqueForestClassifier(3, random_state=0).fit(frame, np.array(labels)[(y > 0) * 1])
        sql = model.to_sql(TABLE, dialect=dialect)
        found = answers(dialect, frame, sql)["prediction"]
        assert found.tolist() == model.predict(frame).tolist()  # 0 == False


def test_calibrated_probabilities_are_raised_to_their_power(dialect: str) -> None:
    frame, y = numbers(400)
    labels = np.where(y > 2, "high", "low")
    model = ObliqueForestClassifier(8, calibration="power", random_state=0).fit(frame, labels)
    assert model.fitted_forest_.aggregation.power != 1.0
    assert_same(dialect, model, frame)


def test_survival_gives_the_risk_and_isolation_path_lengths(dialect: str) -> None:
    X, y = weibull(150, random_state=0)
    rows = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    model = ObliqueSurvivalForest(8, random_state=0).fit(X, y)
    found = answers(dialect, rows, model.to_sql(TABLE, dialect=dialect))
    np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=1e-9)
    sql = ObliqueIsolationForest(8, random_state=0).fit(X).to_sql(TABLE, dialect=dialect)
    assert "the mean path length" in sql
    assert len(answers(dialect, rows, sql)) == 150


def test_deep_trees_and_many_trees_are_not_too_deep_for_a_database(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    steps = np.arange(400.0)
    frame = pd.DataFrame({"x": np.exp(steps / 40), "z": rng.normal(size=400)})
    # A chain: each split cuts off the largest values.
    model = ObliqueForestRegressor(
        2, projection="axis", bootstrap=False, n_projections="p", random_state=0
    ).fit(frame[["x"]], 1.3**steps)
    assert max(tree.depth.max() for tree in model.forest_) > 50
    assert_same(dialect, model, frame[["x"]])
    monkeypatch.setattr(bevel.export.sql, "CHAIN", 10)
    model = ObliqueForestRegressor(25, max_depth=2, random_state=0).fit(frame, rng.normal(size=400))
    assert_same(dialect, model, frame)


def test_one_row_and_a_target_of_one_value_are_constants(dialect: str) -> None:
    frame, y = numbers(60)
    model = ObliqueForestClassifier(3, random_state=0).fit(frame, np.full(60, "only"))
    assert_same(dialect, model, frame)
    model = ObliqueForestRegressor(3, random_state=0).fit(frame, np.full(60, 2.5))
    found = answers(dialect, frame, model.to_sql(TABLE, dialect=dialect))
    assert found["prediction"].tolist() == [2.5] * 60
    assert len(y) == 60


def test_linear_models_of_leaves_are_sums_of_cut_columns(dialect: str) -> None:
    frame, y = numbers()
    model = ObliqueBoostingRegressor(
        max_iter=4, learning_rate=0.5, linear_leaves=True, early_stopping=False, random_state=0
    )
    model.fit(frame, y)
    assert model.forest_.has_leaf_models
    assert_same(dialect, model, other_rows(frame))
