"""Predictions where the rows are, beside `predict`: ``python -m benchmarks.scoring``.

Processor time of one thread for the rows of a table in DuckDB and SQLite, the least of the repeats:
the query of `to_sql` (`plan` is DuckDB's time before it runs), the function of
`scoring.duckdb_function`, and `predict` and `predict_proba` of a frame. Needs duckdb.
"""

import argparse
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from benchmarks import machine
from benchmarks.tables import markdown
from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier, scoring

FIELDS = ("model", "nodes", "kB", "predict_s", "function_s", "plan_s", "duckdb_s", "sqlite_s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(machine.describe(), end="\n\n", flush=True)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(options.rows, 10)), columns=[*"abcdefghij"])
    y = np.where(frame.a + frame.b * frame.c + rng.normal(size=len(frame)) > 0, "yes", "no")
    models = {
        "boosting of 50 trees": ObliqueBoostingClassifier(max_iter=50),
        "forest of 10 trees of 50 leaves": ObliqueForestClassifier(10, max_leaf_nodes=50),
        "forest of 30 trees": ObliqueForestClassifier(30),
    }
    rows = []
    for name, model in models.items():
        model.set_params(random_state=0, n_jobs=1).fit(frame[:1000], y[:1000])
        size = (model.forest_.n_nodes, len(model.to_sql("t")) // 1000)
        rows.append([name, *map(str, size), *_times(model, frame, options.repeats)])
    print(markdown(list(FIELDS), rows))


def _times(model: Any, frame: pd.DataFrame, repeats: int) -> list[str]:
    query = model.to_sql("t")
    with duckdb.connect() as database, closing(sqlite3.connect(":memory:")) as small:
        database.execute("SET threads = 1")
        database.register("given", frame)
        database.execute("CREATE TABLE t AS SELECT * FROM given")
        frame.to_sql("t", small, index=False)
        call = scoring.duckdb_function(database, model, "score")
        todo: list[Callable[[], Any]] = [
            lambda: (model.predict(frame), model.predict_proba(frame)),
            lambda: database.execute(f"SELECT {call} FROM t").df(),
            lambda: database.execute(f"EXPLAIN {query}").fetchall(),
            lambda: database.execute(query).df(),
            lambda: small.execute(model.to_sql("t", dialect="sqlite")).fetchall(),
        ]
        return [f"{min(_seconds(each) for _ in range(repeats)):.2f}" for each in todo]


def _seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
