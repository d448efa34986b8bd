"""Databases that answer queries on a data frame."""

from __future__ import annotations

import csv
import io
import os
import sqlite3
import subprocess
from contextlib import closing
from typing import Any

import pandas as pd
import pytest

TABLE = 'the "rows"'  # a name that needs quotes


def answers(dialect: str, frame: pd.DataFrame, sql: str) -> pd.DataFrame:
    """The result of a query on a frame as the table `TABLE`."""
    return {"sqlite": _in_sqlite, "duckdb": _in_duckdb, "postgresql": _in_postgresql}[dialect](
        frame, sql
    )


def _in_sqlite(frame: pd.DataFrame, sql: str) -> pd.DataFrame:
    with closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql(TABLE, database, index=False)
        return pd.read_sql_query(sql, database)


def _in_duckdb(frame: pd.DataFrame, sql: str) -> pd.DataFrame:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as database:
        database.register("given", frame)
        database.execute(f"CREATE TABLE {_quoted(TABLE)} AS SELECT * FROM given")
        return database.execute(sql).df()


_TYPES = {"f": "double precision", "i": "bigint", "b": "boolean", "M": "timestamp"}


def _in_postgresql(frame: pd.DataFrame, sql: str) -> pd.DataFrame:
    """Through psql, which reads the variables PGHOST, PGUSER and PGDATABASE."""
    if "PGHOST" not in os.environ:
        pytest.skip("PGHOST is not set: no PostgreSQL to ask")
    columns = ", ".join(
        f"{_quoted(name)} {_TYPES.get(frame[name].dtype.kind, 'text')}" for name in frame
    )
    copied = io.StringIO()
    frame.to_csv(copied, index=False, header=False, na_rep="NULL", quoting=csv.QUOTE_MINIMAL)
    script = (
        f"CREATE TEMPORARY TABLE {_quoted(TABLE)} ({columns});\n"
        f"COPY {_quoted(TABLE)} FROM STDIN WITH (FORMAT csv, NULL 'NULL');\n"
        f"{copied.getvalue()}\\.\n"
        f"{sql};\n"
    )
    command = ["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return pd.read_csv(io.StringIO(done.stdout), true_values=["t"], false_values=["f"])


def _quoted(name: Any) -> str:
    return '"' + str(name).replace('"', '""') + '"'
