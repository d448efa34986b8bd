"""Predictions in Arrow tables, DuckDB and Dask are those of `predict`, for every kind of model."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.nominal_tables import classes_of, new_rows, nominal_table

from bevel import (
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
    scoring,
)
from bevel.datasets import weibull

FRAME, TARGET = nominal_table(200, n_places=30)
ROWS = new_rows(FRAME).assign(key=np.arange(120))
MADE = {
    "classes": lambda: ObliqueForestClassifier(5, random_state=0).fit(FRAME, classes_of(TARGET, 3)),
    "truths": lambda: ObliqueForestClassifier(5, random_state=0).fit(FRAME, TARGET > 0),
    "whole": lambda: ObliqueForestClassifier(5, random_state=0).fit(FRAME, (TARGET > 0) + 5),
    "values": lambda: ObliqueForestRegressor(5, random_state=0).fit(FRAME, TARGET),
    "combined": lambda: ObliqueClassifier(quality=1, random_state=0).fit(
        FRAME, classes_of(TARGET, 2)
    ),
    "quantiles": lambda: ObliqueBoostingRegressor(
        loss="quantile", quantile=[0.1, 0.9], max_iter=5, random_state=0
    ).fit(FRAME, TARGET),
}


@pytest.fixture(params=MADE)
def model(request: pytest.FixtureRequest) -> Any:
    return MADE[request.param]()


def expected_of(model: Any) -> dict[str, list[Any]]:
    """The columns that scoring should add to the rows."""
    rows = ROWS.drop(columns="key")
    predicted = model.predict(rows)
    if predicted.ndim == 2:
        return {"quantile_0.1": predicted[:, 0].tolist(), "quantile_0.9": predicted[:, 1].tolist()}
    found = {"prediction": predicted.tolist()}
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(rows)
        for k, label in enumerate(model.classes_):
            found[f"probability_{label}"] = shares[:, k].tolist()
    return found


def test_arrow_tables_and_frames_of_polars_are_predicted_as_frames_are(model: Any) -> None:
    expected = {"key": list(range(120))} | expected_of(model)
    shuffled = ROWS[ROWS.columns[::-1]]
    for rows in (pa.Table.from_pandas(shuffled, preserve_index=False), pl.from_pandas(shuffled)):
        assert scoring.predict_arrow(model, rows, keep=["key"]).to_pydict() == expected


def test_batches_are_predicted_one_after_another(model: Any) -> None:
    table = pa.Table.from_pandas(ROWS, preserve_index=False)
    batches = iter([*table.slice(0, 0).to_batches(), *table.to_batches(max_chunksize=50)])
    found = scoring.predict_batches(model, batches)
    first = next(found)
    assert len(first) == 50
    assert pa.Table.from_batches([first, *found]).to_pydict() == expected_of(model)


def test_no_rows_give_an_empty_table_of_the_same_types(model: Any) -> None:
    table = pa.Table.from_pandas(ROWS, preserve_index=False)
    whole = scoring.predict_arrow(model, table, keep=["key"])
    assert scoring.predict_arrow(model, table.slice(0, 0), keep=["key"]).schema == whole.schema


def test_function_of_duckdb_predicts_as_python_does(model: Any) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    given = pa.Table.from_pandas(ROWS, preserve_index=False)
    with duckdb.connect() as database:
        call = scoring.duckdb_function(database, model, "score")
        database.register("given", given)
        found = database.execute(f"SELECT {call} AS found FROM given ORDER BY key").fetchall()
    expected = expected_of(model)
    columns = list(expected.values())
    if len(columns) == 1:
        assert [row[0] for row in found] == columns[0]
    else:
        assert list(found[0][0]) == list(expected)
        assert [tuple(row[0].values()) for row in found] == list(zip(*columns, strict=True))


def test_function_of_duckdb_takes_dates_and_truth_values() -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    rng = np.random.default_rng(0)
    days = rng.integers(0, 900, 100)
    frame = pd.DataFrame({"day": np.datetime64("2020-01-01", "s") + days.astype("m8[D]")})
    frame["flag"] = rng.random(100) < 0.5
    model = ObliqueForestRegressor(5, random_state=0).fit(frame, days + 300.0 * frame["flag"])
    with duckdb.connect() as database:
        call = scoring.duckdb_function(database, model, "score")
        database.register("given", frame)
        found = database.execute(f"SELECT {call} FROM given").fetchall()
    assert [row[0] for row in found] == model.predict(frame).tolist()


def test_partitions_of_dask_are_predicted_lazily(model: Any) -> None:
    frames = pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")
    rows = frames.from_pandas(ROWS, npartitions=3)
    found = scoring.predict_dask(model, rows, keep=["key"])
    assert list(found.columns) == ["key", *expected_of(model)]
    computed = found.compute(scheduler="sync")
    assert computed.to_dict("list") == {"key": list(range(120))} | expected_of(model)
    assert computed.index.tolist() == ROWS.index.tolist()


def test_scorers_are_sent_as_files_of_models() -> None:
    scorer = scoring._Scorer(MADE["values"](), ["key"]).to_send()
    again = pickle.loads(pickle.dumps(scorer))
    table = pa.Table.from_pandas(ROWS, preserve_index=False)
    assert again.of_table(table).equals(scorer.of_table(table))


def test_models_that_saw_no_names_read_the_columns_that_are_not_kept() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = ObliqueForestRegressor(5, random_state=0).fit(X, X[:, 0])
    expected = model.predict(X).tolist()
    table = pa.table({"id": range(50), "height": X[:, 0], "width": X[:, 1]})
    found = scoring.predict_arrow(model, table, keep=["id"])
    assert found["prediction"].to_pylist() == expected
    named = pa.table({"x1": X[:, 1], "other": X[:, 1], "x0": X[:, 0]})
    assert scoring.predict_arrow(model, named)["prediction"].to_pylist() == expected
    with pytest.raises(ValueError, match="must have the 2 columns of fit"):
        scoring.predict_arrow(model, table)


def test_risks_and_outliers_are_what_predict_gives() -> None:
    X, y = weibull(100, random_state=0)
    table = pa.table({f"x{k}": column for k, column in enumerate(X.T)})
    for made in (
        ObliqueSurvivalForest(5, random_state=0).fit(X, y),
        ObliqueIsolationForest(5, random_state=0).fit(X),
    ):
        found = scoring.predict_arrow(made, table)
        assert found.to_pydict() == {"prediction": made.predict(X).tolist()}


def test_what_cannot_be_scored_is_refused() -> None:
    forest = MADE["values"]()
    table = pa.Table.from_pandas(ROWS, preserve_index=False)
    with pytest.raises(ValueError, match="must have the columns of fit and of keep; got none"):
        scoring.predict_arrow(forest, table.drop_columns(["c"]))
    with pytest.raises(ValueError, match="got none named id"):
        scoring.predict_arrow(forest, table, keep=["id"])
    with pytest.raises(TypeError, match="keep must be a list of names"):
        scoring.predict_arrow(forest, table, keep="key")
    with pytest.raises(ValueError, match="keep must be other names than those of predictions"):
        scoring.predict_arrow(forest, table, keep=["prediction"])
    with pytest.raises(TypeError, match="model must be a fitted forest"):
        scoring.predict_arrow(ObliqueForestRegressor(), table)
    with pytest.raises(ValueError, match="name must be a word"):
        scoring.duckdb_function(None, forest, "a b")
    with pytest.raises(TypeError, match="frame must be a Dask data frame"):
        scoring.predict_dask(forest, ROWS.to_numpy())
    wrapped = pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "a", "b"), pa.array(["x"]))
    columns = {name: wrapped if name == "c" else table[name][:1] for name in table.column_names}
    with pytest.raises(TypeError, match="Arrow's own types"):
        scoring.predict_arrow(forest, pa.table(columns))
    several = ObliqueForestRegressor(5, random_state=0).fit(FRAME, np.column_stack([TARGET] * 2))
    with pytest.raises(ValueError, match="Ask for one of them"):
        scoring.predict_arrow(several, table)
