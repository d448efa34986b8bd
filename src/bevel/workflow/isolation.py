"""An isolation forest from a file of rows, and the rows that stand out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Indices
from bevel.data.tables import Columns
from bevel.estimators import ObliqueIsolationForest
from bevel.tables.options import Source, TableKeywords, TableOptions
from bevel.tables.table_file import open_table
from bevel.workflow.rows import (
    check_misfits,
    check_rows,
    describe_size,
    note_constant,
    without_empty,
    without_keys,
)

__all__ = [
    "IsolationFit",
    "fit_isolation",
]

# Fits an isolation forest to a file of rows, and finds its outliers.


@dataclass(frozen=True, eq=False)
class IsolationFit:
    """An isolation forest, and the scores of its training rows.

    Attributes
    ----------
    model : ObliqueIsolationForest
        Fitted model.
    X : Columns
        Features.
    ids : mapping of str to ndarray of object
        Columns that name the rows, as they are written in the file.
    notes : tuple of str
        Notes for the user on how the file was read.
    scores : ndarray of shape (n_rows,)
        Scores of the training rows, from `score_samples`; the lower, the more unusual.
    seconds : float
        Duration of the fit.
    """

    model: ObliqueIsolationForest
    X: Columns
    ids: Mapping[str, npt.NDArray[Any]]
    notes: tuple[str, ...]
    scores: Floats
    seconds: float

    @property
    def n_outliers(self) -> int:
        """Number of rows below the threshold of the model."""
        return int(np.count_nonzero(self.scores < self.model.offset_))

    def most_unusual(self, n_rows: int) -> Indices:
        """Rows of the lowest scores, the lowest first."""
        return np.argsort(self.scores, kind="stable")[:n_rows]

    def describe(self) -> str:
        """Size in one line."""
        return describe_size(self.X)


def fit_isolation(
    data: str | Path | Source,
    *,
    parameters: dict[str, Any] | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep_id: bool = False,
    row_id: Sequence[str] = (),
    on_note: Callable[[str], None] | None = None,
    **table: Unpack[TableKeywords],
) -> IsolationFit:
    """Fit an isolation forest to all columns of a file of rows.

    Parameters
    ----------
    data : path
        CSV, TSV (both may be gzipped) or Parquet.
    parameters : dict, default=None
        Parameters of `bevel.ObliqueIsolationForest`.
    drop, nominal, keep_id, row_id
        Columns as in `bevel.workflow.fit`.
    on_note : callable
        Callback as in `bevel.workflow.fit`.
    **table
        Format of the file.
    """
    source = data if isinstance(data, Source) else Path(data)
    X, ids, notes = _read(source, drop, nominal, keep_id, row_id, TableOptions(**table))
    for note in notes if on_note else ():
        assert on_note is not None
        on_note(note)

    model = ObliqueIsolationForest(**(parameters or {}))
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    return IsolationFit(model, X, ids, notes, model.score_samples(X), seconds)


def _read(
    source: Path | Source,
    drop: Sequence[str],
    nominal: Sequence[str],
    keep_id: bool,
    row_id: Sequence[str],
    options: TableOptions,
) -> tuple[Columns, dict[str, npt.NDArray[Any]], tuple[str, ...]]:
    """Features of all rows, the columns that name them, and notes."""
    table = open_table(source, options)
    table.check_present([*row_id, *drop, *nominal])
    names = [name for name in table.names if name not in {*row_id, *drop}]
    if not names:
        raise ValueError(
            f"{table.source} must have a column that is no name of rows and not dropped; got "
            f"{len(table.names)} column(s). Check `drop` and `row_id`."
        )
    read = table.read(names, dict.fromkeys(nominal, "nominal"))
    check_rows(table.source, len(read.columns))
    wanted = {*nominal, *options.types}
    X, left_out = without_keys(read.columns, table, wanted, keep_id)
    X, empty = without_empty(X)
    check_misfits(table.source, X, read.misfits)
    notes = (*table.notes, *read.notes, *left_out, *empty, *note_constant(X))
    return X, table.read_words(row_id), notes
