"""Tables that are not the same in both passes over them: rewritten files, fickle functions."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bevel import scan

from .small_tables import (
    MEMORY,
    estimator_expressions,
    estimator_from,
    examine,
    is_refusal,
    scan_file,
    small_table,
    write_table,
)
from .verdicts import ACCEPTED, REFUSED, WrongAnswerError

FORMS = ("function", "array", "ipc", "ipc of blocks", "parquet", "csv")
BATCH_ROWS = 5
Table = pd.DataFrame


def make(rng: random.Random) -> dict[str, Any]:
    """A sound table, what becomes of it, and when."""
    form = rng.choice(FORMS)
    n_rows = rng.choice((6, 12, 24))
    return {
        **estimator_expressions(rng),
        "form": form,
        "seed": rng.randrange(10**6),
        "n_rows": n_rows,
        "change": rng.choice(list(CHANGES)),
        "row": rng.randrange(n_rows),
        "batch": rng.choice((0, 0, 0, 0, 1, 2)),
        "pass": rng.choice((2, 2, 2, 1)),
        "in_place": rng.random() < 0.5,
        "block_rows": rng.choice((None, None, 3)),
    }


def _put(column: str, value: Any) -> Callable[[Table, int], Table]:
    """A change of one value."""

    def change(table: Table, row: int) -> Table:
        values = table[column].tolist()
        values[row] = value
        return table.assign(**{column: pd.Series(values, dtype=_dtype(table[column], value))})

    return change


def _dtype(column: Any, value: Any) -> Any:
    return object if isinstance(value, str) else column.dtype


def _of(make_column: Callable[[Table], Any], name: str = "a") -> Callable[[Table, int], Table]:
    """A change of a whole column."""
    return lambda table, _row: table.assign(**{name: make_column(table)})


def _other_target(table: Table, row: int) -> Table:
    """A target outside the range of the others, or of a class that is not there."""
    return _put("y", 1e6 if table["y"].dtype.kind == "f" else "never")(table, row)


def _missing_target(table: Table, row: int) -> Table:
    return _put("y", np.nan if table["y"].dtype.kind == "f" else None)(table, row)


def _more_rows(table: Table, row: int) -> Table:
    return pd.concat([table, table.iloc[: row + 1]], ignore_index=True)


def _many_more_rows(table: Table, _row: int) -> Table:
    return pd.concat([table] * 40, ignore_index=True)


# What the first pass learns is another afterwards: the second must notice.
NOTICED: dict[str, Callable[[Table, int], Table]] = {
    "missing value": _put("a", np.nan),
    "all missing": _of(lambda table: np.full(len(table), np.nan)),
    "large value": _put("a", 1e30),
    "infinite value": _put("a", np.inf),
    "rows more": _more_rows,
    "many rows more": _many_more_rows,
    "rows less": lambda table, row: table.iloc[:row],
    "no rows": lambda table, _row: table.iloc[:0],
    "target of another class": _other_target,
    "target missing": _missing_target,
    "weight missing": _put("w", np.nan),
    "weight negative": _put("w", -1.0),
    "weight infinite": _put("w", np.inf),
    "weight large": _put("w", 1e35),
    "no weights": lambda table, _row: table.drop(columns="w"),
    "no targets": lambda table, _row: table.drop(columns="y"),
    "text": _of(lambda table: table["a"].astype(str) + " m"),
    "a column more": _of(lambda table: table["a"], "more"),
    "a column less": lambda table, _row: table.drop(columns="a"),
    "a new name": lambda table, _row: table.rename(columns={"a": "other"}),
}
CHANGES: dict[str, Callable[[Table, int], Table]] = {
    **NOTICED,
    "flags": _of(lambda table: table["a"] > 0),
    "another level": lambda table, row: _put("c", "never")(table, row) if "c" in table else table,
    "no level": lambda table, row: _put("c", None)(table, row) if "c" in table else table,
    "dates": _of(lambda table: pd.Timestamp("2024-05-31") + pd.to_timedelta(table["a"], "D")),
    "whole numbers": _of(lambda table: table["a"].astype(int)),
    "small numbers": _of(lambda table: table["a"].astype(np.float32)),
    "another order": lambda table, _row: table.iloc[::-1].reset_index(drop=True),
    "columns in another order": lambda table, _row: table[table.columns[::-1]],
    "targets of other rows": _of(lambda table: table["y"].to_numpy()[::-1], "y"),
    "weights of other rows": _of(lambda table: table["w"].to_numpy()[::-1], "w"),
    "weights of zero": _of(lambda table: np.zeros(len(table)), "w"),
    "an empty file": lambda table, _row: table[[]],
}


class FickleSource:
    """A source whose table is changed before a given batch of a given pass.

    Parameters
    ----------
    source : object
        What is read.
    change : callable
        Changes what the source reads.
    n_pass, n_batch : int
        When: from 1 and from 0 on.
    """

    def __init__(self, source: Any, change: Callable[[], None], n_pass: int, n_batch: int) -> None:
        self._source, self._change = source, change
        self._when, self._passes = (n_pass, n_batch), 0

    def batches(self) -> Iterator[Any]:
        self._passes += 1
        self._change_at(0)
        for place, batch in enumerate(self._source.batches()):
            yield batch
            self._change_at(place + 1)

    def _change_at(self, place: int) -> None:
        if (self._passes, place) == self._when:
            self._change()

    def n_rows(self) -> int | None:
        return self._source.n_rows()

    def fingerprint(self) -> str | None:
        return self._source.fingerprint()


def _fickle_function(table: Table, change: Callable[[], Table], spec: dict[str, Any]) -> Any:
    """Batches from a function, as a user may write it."""
    state = {"passes": 0, "table": table}

    def batches() -> Iterator[Any]:
        state["passes"] += 1
        for place, start in enumerate(range(0, 10**4, BATCH_ROWS)):
            if (state["passes"], place) == (spec["pass"], spec["batch"]):
                state["table"] = change()
            rows = state["table"].iloc[start : start + BATCH_ROWS]
            if not len(rows):
                return
            X = rows.drop(columns=["y", "w"], errors="ignore")
            yield (X, *(rows[name] for name in ("y", "w") if name in rows))

    return scan(batches, memory=MEMORY, block_rows=spec["block_rows"])


def _fickle_array(table: Table, changed: Table, spec: dict[str, Any]) -> Any:
    """An array that its owner changes in place."""
    numbers, others = (
        each.drop(columns=["y", "w"], errors="ignore").select_dtypes("number").to_numpy(float)
        for each in (table, changed)
    )
    y = table["y"].to_numpy()
    scanned = scan(numbers, target=y, memory=MEMORY, block_rows=spec["block_rows"])

    def change() -> None:
        n, p = (min(sizes) for sizes in zip(numbers.shape, others.shape, strict=True))
        numbers[:n, :p] = others[:n, :p]
        if "y" in changed and changed["y"].dtype == y.dtype:
            y[: len(changed)] = changed["y"].to_numpy()[: len(y)]

    source = FickleSource(scanned.source, change, spec["pass"], spec["batch"])
    return replace(scanned, source=source)


def _fickle_file(table: Table, changed: Table, spec: dict[str, Any], folder: Path) -> Any:
    """A file that is written anew, in place or under a new name that takes its place."""
    path = write_table(table, spec["form"], folder)
    (folder / "new").mkdir()
    new = write_table(changed, spec["form"], folder / "new")

    def change() -> None:
        if spec["in_place"]:
            path.write_bytes(new.read_bytes())
        else:
            new.replace(path)

    scanned = scan_file(path, block_rows=spec["block_rows"])
    source = FickleSource(scanned.source, change, spec["pass"], spec["batch"])
    return replace(scanned, source=source)


def check(spec: dict[str, Any]) -> str:
    """Fit a table while it changes."""
    estimator = estimator_from(spec)
    table = small_table(spec["seed"], spec["n_rows"], spec["estimator"], sound=True)
    changed = CHANGES[spec["change"]](table, spec["row"])
    with tempfile.TemporaryDirectory(prefix="bevel-hostile-") as folder:
        if spec["form"] == "function":
            scanned = _fickle_function(table, lambda: changed, spec)
        elif spec["form"] == "array":
            scanned = _fickle_array(table, changed, spec)
        else:
            scanned = _fickle_file(table, changed, spec, Path(folder))
        try:
            estimator.fit(scanned)
        except Exception as error:
            if is_refusal(error):
                return REFUSED
            raise
    examine(estimator)
    if must_be_noticed(spec):
        raise WrongAnswerError(
            "answer", f"a second pass with a change was accepted: {spec['change']}"
        )
    return ACCEPTED


def must_be_noticed(spec: dict[str, Any]) -> bool:
    """Whether the second pass delivered from its start what the first pass rules out."""
    whole = (spec["pass"], spec["batch"]) == (2, 0) and spec["form"] != "array"
    return whole and spec["change"] in NOTICED
