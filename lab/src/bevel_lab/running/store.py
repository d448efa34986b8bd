"""Results of a run in one SQLite file: each is on the disk before the next is begun.

``results`` has a line per cell, ``metrics`` a line per cell and metric, ``starts`` a line per time
that the run was started or taken up again, with the command, the versions and the machine.
"""

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from bevel.errors import shorten
from bevel_lab.cells import FAILED, Cell, Result, canonical

__all__ = ["RESULTS_FILE", "ResultStore", "flat_result"]

RESULTS_FILE = "results.sqlite"
LOCK_FILE = "running.sqlite"

SCHEMA = """
CREATE TABLE IF NOT EXISTS starts (
    start INTEGER PRIMARY KEY, description TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, start INTEGER, experiment TEXT, data TEXT, system TEXT, setting TEXT,
    repeat INTEGER, fold INTEGER, experiment_seed INTEGER, status TEXT, message TEXT,
    seconds_fit REAL, seconds_predict REAL, memory_mb REAL,
    n_train INTEGER, n_test INTEGER, n_features INTEGER, n_classes INTEGER, n_jobs INTEGER,
    details TEXT, predictions TEXT
);
CREATE TABLE IF NOT EXISTS metrics (
    key TEXT REFERENCES results(key), metric TEXT, value REAL, PRIMARY KEY (key, metric)
);
"""


class ResultStore:
    """The results of one run folder.

    Parameters
    ----------
    folder : path
        Is made when it does not exist, unless `read_only`.
    read_only : bool, default=False
        For reports: the folder must hold results, and nothing is written.
    """

    def __init__(self, folder: str | Path, *, read_only: bool = False) -> None:
        self.folder = Path(folder)
        self.path = self.folder / RESULTS_FILE
        if read_only and not self.path.is_file():
            raise FileNotFoundError(
                f"{self.folder} must be a folder that `bevel lab run` has written; it has no "
                f"{RESULTS_FILE}. Give the folder after --out of the run."
            )
        if not read_only:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._connect() as connection:
                connection.executescript(SCHEMA)

    def begin(self, description: Mapping[str, Any]) -> None:
        """Record that the run was started, or taken up again."""
        with self._connect() as connection:
            connection.execute(
                "INSERT INTO starts (description) VALUES (?)", (canonical(dict(description)),)
            )

    def append(self, result: Result) -> None:
        """Put a result on the disk; a cell that is there already raises."""
        row = _row(result)
        names = ", ".join(row)
        marks = ", ".join(f":{name}" for name in row)
        metrics = [
            (result.cell.key, name, None if math.isnan(value) else float(value))
            for name, value in result.metrics.items()
        ]
        with self._connect() as connection:
            connection.execute(
                f"INSERT INTO results ({names}, start) "
                f"VALUES ({marks}, (SELECT max(start) FROM starts))",
                row,
            )
            connection.executemany("INSERT INTO metrics VALUES (?, ?, ?)", metrics)

    def delete_failures(self) -> int:
        """Remove failed cells, so that they are run again; returns how many there were."""
        with self._connect() as connection:
            failed = "SELECT key FROM results WHERE status = ?"
            connection.execute(f"DELETE FROM metrics WHERE key IN ({failed})", (FAILED,))
            return connection.execute("DELETE FROM results WHERE status = ?", (FAILED,)).rowcount

    def done_keys(self) -> set[str]:
        """Keys of the cells that need not be run: those with any result."""
        with self._connect() as connection:
            return {key for (key,) in connection.execute("SELECT key FROM results")}

    def results(self) -> list[Result]:
        """All results in the order in which they came."""
        with self._connect() as connection:
            metrics: dict[str, dict[str, float]] = {}
            for key, name, value in connection.execute("SELECT * FROM metrics ORDER BY rowid"):
                metrics.setdefault(key, {})[name] = math.nan if value is None else value
            rows = connection.execute("SELECT * FROM results ORDER BY rowid")
            return [_result(row, metrics.get(row["key"], {})) for row in rows]

    def frame(self) -> list[dict[str, Any]]:
        """All results as flat dicts: the cell's fields, the result's, and each metric by name.

        ``setting`` and ``details`` are dicts. pandas.DataFrame(store.frame()) makes a table of it.
        """
        return [flat_result(result) for result in self.results()]

    def describe(self) -> dict[str, Any]:
        """How the run was started last, and under ``starts`` every start before it and that."""
        with self._connect() as connection:
            rows = connection.execute("SELECT description FROM starts ORDER BY start")
            starts = [json.loads(text) for (text,) in rows]
        return {**(starts[-1] if starts else {}), "starts": starts}

    def check_meaning(self, settings: Mapping[str, Any]) -> None:
        """A run folder holds results of one experiment, under one set of rules."""
        starts = self.describe()["starts"]
        if not starts:
            return
        before = starts[0]["meaning"]
        differing = [name for name in settings if settings[name] != before.get(name)]
        if differing:
            had = ", ".join(f"{name} {shorten(before.get(name))}" for name in differing)
            got = ", ".join(f"{name} {shorten(settings[name])}" for name in differing)
            raise ValueError(
                f"A run can only be taken up with the settings it was begun with ({had}); got "
                f"{got}. Give another --out, or the same settings; {self.folder} is left as it is."
            )

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep a second run out of the folder; the system ends the lock with the process."""
        with closing(sqlite3.connect(self.folder / LOCK_FILE, timeout=0)) as connection:
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                raise BlockingIOError(
                    f"Only one run may write to {self.folder}; another one is writing to it. "
                    "Wait for it, stop it, or give another --out."
                ) from None
            yield

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """One transaction: on the disk when it ends, or as if it had never been."""
        with closing(sqlite3.connect(self.path, timeout=60)) as connection:
            connection.row_factory = sqlite3.Row
            # A rollback journal, synced: slower than a write-ahead log, but a copy of the one file
            # is always whole, on any file system.
            connection.execute("PRAGMA synchronous = EXTRA")
            with connection:
                yield connection


def _row(result: Result) -> dict[str, Any]:
    cell = result.cell
    return {
        "key": cell.key,
        "experiment": cell.experiment,
        "data": cell.data,
        "system": cell.system,
        "setting": canonical(dict(cell.setting)),
        "repeat": cell.repeat,
        "fold": cell.fold,
        "experiment_seed": cell.experiment_seed,
        "status": result.status,
        "message": result.message,
        "seconds_fit": result.seconds_fit,
        "seconds_predict": result.seconds_predict,
        "memory_mb": result.memory_mb,
        "n_train": result.n_train,
        "n_test": result.n_test,
        "n_features": result.n_features,
        "n_classes": result.n_classes,
        "n_jobs": result.n_jobs,
        "details": canonical(dict(result.details)),
        "predictions": result.predictions,
    }


CELL_FIELDS = ("experiment", "data", "system", "repeat", "fold", "experiment_seed")
RESULT_FIELDS = ("status", "message", "n_train", "n_test", "n_features", "n_classes", "n_jobs")
MEASURED = ("seconds_fit", "seconds_predict", "memory_mb")  # SQLite stores NaN as NULL


def _result(row: sqlite3.Row, metrics: Mapping[str, float]) -> Result:
    measured: dict[str, Any] = {n: math.nan if row[n] is None else row[n] for n in MEASURED}
    return Result(
        cell=Cell(setting=json.loads(row["setting"]), **{n: row[n] for n in CELL_FIELDS}),
        metrics=metrics,
        details=json.loads(row["details"]),
        predictions=row["predictions"],
        **{name: row[name] for name in RESULT_FIELDS},
        **measured,
    )


def flat_result(result: Result) -> dict[str, Any]:
    """A result as one line of a table."""
    cell = result.cell
    return {
        "key": cell.key,
        **{name: getattr(cell, name) for name in CELL_FIELDS},
        "setting": dict(cell.setting),
        **{name: getattr(result, name) for name in (*RESULT_FIELDS, *MEASURED)},
        "details": dict(result.details),
        "predictions": result.predictions,
        **result.metrics,
    }
