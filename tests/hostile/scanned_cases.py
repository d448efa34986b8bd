"""Tables that are scanned: the same rows as arrays, batches or files, in blocks of any size."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from bevel import scan

from .verdicts import WrongAnswerError

WAYS = ("array", "batches", "function", "npy", "parquet", "csv", "arrow", "damaged", "consumed")
MEMORY = ("None", "'1GB'", "32e6", "32_000_000", "inf", "nan", "'9' * 400", "10**400", "-1")
MEMORY += ("'1 PB'", "True", "'1e9'", "''", "b'1GB'", "[1]", "2**63", "'\\ud800'", "'0.5 GiB'")
BLOCK_ROWS = ("None", "1", "2", "7", "1000", "2**31", "2**63", "2**70", "0", "-1", "True", "2.0")
BLOCK_ROWS += ("'3'", "np.int64(3)", "nan", "[2]")
SHARE = 0.15


def expressions(odd: bool, rng: random.Random) -> dict[str, str]:
    """How a table is to be scanned; sound settings unless `odd`."""
    memory = rng.choice(MEMORY if odd else MEMORY[:4])
    block_rows = rng.choice(BLOCK_ROWS if odd else BLOCK_ROWS[:5])
    way = rng.choice(WAYS if odd else WAYS[:7])
    return {"way": repr(way), "memory": memory, "block_rows": block_rows}


class Scanned:
    """A table on disk or in memory, and the arguments with which it is scanned.

    Parameters
    ----------
    rows : tuple
        X, y and weights, of any kind.
    way : str
        One of `WAYS`.
    """

    def __init__(self, rows: tuple[Any, Any, Any], way: str) -> None:
        self._rows, self._way = rows, way
        self._folder = tempfile.TemporaryDirectory(prefix="bevel-hostile-scan-")

    def __enter__(self) -> Scanned:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def table(self, **settings: Any) -> Any:
        """The scanned table."""
        X, y, weights = self._rows
        if self._way == "array":
            return scan(X, target=y, weight=weights, **settings)
        if self._way in ("batches", "function", "consumed"):
            whole = [(X, y) if weights is None else (X, y, weights)]
            source = {"batches": whole, "function": lambda: iter(whole), "consumed": iter(whole)}
            return scan(source[self._way], **settings)
        if self._way == "npy":
            return self._arrays(settings)
        return self._files(settings)

    def _arrays(self, settings: dict[str, Any]) -> Any:
        X, y, weights = self._rows
        path = Path(self._folder.name) / "rows.npy"
        np.save(path, np.asarray(X), allow_pickle=True)
        return scan(path, target=y, weight=weights, **settings)

    def _files(self, settings: dict[str, Any]) -> Any:
        X, y, weights = self._rows
        names = list(getattr(X, "columns", range(np.shape(X)[1] if np.ndim(X) == 2 else 0)))
        try:
            columns = {str(name): _column(X, i, name) for i, name in enumerate(names)}
            columns |= {"target": np.ravel(np.asarray(y)) if y is not None else []}
            columns |= {} if weights is None else {"weight": np.asarray(weights)}
            table = pa.Table.from_pandas(pd.DataFrame(columns))
        except (pa.ArrowException, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError("no file can hold these rows") from error
        ending = "parquet" if self._way == "damaged" else self._way
        path = Path(self._folder.name) / f"rows.{ending}"
        _write(table, path, self._way)
        weight = None if weights is None else "weight"
        return scan(path, target="target", weight=weight, **settings)


def _column(X: Any, place: int, name: Any) -> Any:
    return X[name] if hasattr(X, "columns") else np.asarray(X)[:, place]


def _write(table: pa.Table, path: Path, way: str) -> None:
    try:
        if way == "csv":
            pyarrow.csv.write_csv(table, path)
        elif way == "arrow":
            pyarrow.feather.write_feather(table, path)
        else:
            pyarrow.parquet.write_table(table, path)
    except (pa.ArrowException, ValueError) as error:
        raise ValueError("no file can hold these rows") from error
    if way == "damaged":
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            file.write(b"\xff" * 16)


def check_blocks(estimator: Any, again: Any, X: Any) -> None:
    """The forest of a table must be the same in other blocks."""
    X = np.asarray(X) if isinstance(X, np.matrix) else X  # which only files of rows accept
    if estimator.apply(X).tobytes() != again.apply(X).tobytes():
        raise WrongAnswerError("differs", "leaves are others in other blocks of a scanned table")
