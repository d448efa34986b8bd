"""A local session of Spark, whose workers predict; needs Java. Run by `nox -s clients`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.nominal_tables import classes_of, new_rows, nominal_table

from bevel import ObliqueClassifier, ObliqueForestClassifier, ObliqueForestRegressor, scoring

# Warnings of Spark are its own.
pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]

FRAME, TARGET = nominal_table(200, n_places=30)
ROWS = new_rows(FRAME).assign(key=range(120)).rename(columns={"b": "b c.d"})
FRAME = FRAME.rename(columns={"b": "b c.d"})


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed; nox -s clients")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    started = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield started
    started.stop()


@pytest.mark.parametrize("kind", ["classes", "truths", "values", "combined"])
def test_rows_of_spark_are_predicted_as_frames_are(session: Any, kind: str) -> None:
    model = {
        "classes": lambda: ObliqueForestClassifier(5, random_state=0),
        "truths": lambda: ObliqueForestClassifier(5, random_state=0),
        "values": lambda: ObliqueForestRegressor(5, random_state=0),
        "combined": lambda: ObliqueClassifier(quality=1, random_state=0),
    }[kind]()
    y = {"values": TARGET, "truths": TARGET > 0}.get(kind, classes_of(TARGET, 3))
    model.fit(FRAME, y)
    rows = session.createDataFrame(ROWS.where(ROWS.notna(), None)).repartition(3)
    found = scoring.predict_spark(model, rows, keep=["key"]).toPandas().sort_values("key")
    expected = {"key": list(range(120)), "prediction": model.predict(ROWS[FRAME.columns]).tolist()}
    if kind != "values":
        shares = model.predict_proba(ROWS[FRAME.columns])
        for k, label in enumerate(model.classes_):
            expected[f"probability_{label}"] = shares[:, k].tolist()
    assert found.to_dict("list") == expected


def test_missing_columns_are_refused_before_anything_is_computed(session: Any) -> None:
    model = ObliqueForestRegressor(5, random_state=0).fit(FRAME, TARGET)
    with pytest.raises(ValueError, match="must have the columns of fit and of keep; got none"):
        scoring.predict_spark(model, session.range(3))
