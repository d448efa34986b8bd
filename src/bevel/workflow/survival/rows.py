"""Rows of a file for a saved survival forest, with their times and events."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.columns import Columns
from bevel.data.survival import SurvivalTarget
from bevel.tables.options import TableOptions
from bevel.tables.source import Source
from bevel.workflow.model_rows import read_model_rows
from bevel.workflow.survival.columns import SurvivalColumns, read_survival_columns

__all__ = ["SurvivalRows", "read_survival_rows"]


@dataclass(frozen=True, eq=False)
class SurvivalRows:
    """Rows that a survival forest can predict.

    Attributes
    ----------
    X : Columns
        The columns of fit, in its order.
    target : SurvivalTarget or None
        Times and events, if their columns are given.
    number : ndarray of int64, shape (n_rows,)
        Number of each row in the file; the first one below the header is 1.
    notes : tuple of str
        Notes for the user.
    """

    X: Columns
    target: SurvivalTarget | None
    number: npt.NDArray[np.int64]
    notes: tuple[str, ...]


def read_survival_rows(
    model: Any, path: Path | Source, columns: SurvivalColumns | None, options: TableOptions
) -> SurvivalRows:
    """Read the rows of a table for a survival forest.

    Parameters
    ----------
    model : ObliqueSurvivalForest
        Fitted model.
    path : Path or Source
        CSV, TSV or Parquet with the columns of fit; others are left out with a note.
    columns : SurvivalColumns or None
        Columns of the target, if there is one; rows without a time are left out with a note.
    options : TableOptions
        Format of the file.
    """
    names = () if columns is None else (columns.time, columns.event, columns.entry)
    aside = [name for name in names if name is not None]
    read = read_model_rows(model, path, row_id=aside, options=options)
    if columns is None:
        return SurvivalRows(read.X, None, read.number, read.notes)
    found = read_survival_columns(path, columns, options)
    known = found.known
    if not known.any():
        raise ValueError(
            f"{path}: the column {columns.time!r} must have times; all rows miss it. Check the "
            "column, or leave `time` and `event` out."
        )
    notes = read.notes
    if not known.all():
        notes = (*notes, f"{int((~known).sum()):,} rows without a time are left out.")
    target = found.target(known, needs_event=False)
    return SurvivalRows(read.X.rows(known), target, read.number[known], notes)
