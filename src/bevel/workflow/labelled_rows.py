"""A file of rows as a learning problem: features, target, and which of the two tasks it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.columns import Columns
from bevel.errors import join_names, shorten
from bevel.workflow.table_file import TableFile, open_table

__all__ = ["CLASSIFICATION", "REGRESSION", "LabelledRows", "read_labelled_rows"]

CLASSIFICATION, REGRESSION = "classification", "regression"
MOST_NUMBERED_CLASSES = 10  # more distinct whole numbers than this are taken for a quantity
LARGEST_WHOLE = 2.0**53  # above it not every whole number is a float
FEW_ROWS = 20  # in fewer, labels that are all different may be chance


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows to learn from.

    Attributes
    ----------
    X : Columns
        Features.
    y : ndarray of shape (n_rows,)
        Words or whole numbers in classification, floats in regression; none are missing.
    task : {"classification", "regression"}
    target : str
        Name of the column that y was.
    notes : tuple of str
        What the user should know of how the file was understood.
    number : ndarray of int64, shape (n_rows,), or None
        Of each row in the file, the first one below the header being 1; None: 1, 2, ...
    """

    X: Columns
    y: npt.NDArray[Any]
    task: str
    target: str
    notes: tuple[str, ...]
    number: npt.NDArray[np.int64] | None = None

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Distinct labels, sorted; none in regression."""
        return np.unique(self.y) if self.task == CLASSIFICATION else self.y[:0]

    def describe(self) -> str:
        """Size in one line."""
        n_rows, n_features = self.X.shape
        n_nominal = len(self.X.nominal)
        kinds = f"{n_features - n_nominal:,} numeric, {n_nominal:,} nominal"
        plural = "" if n_features == 1 else "s"
        return f"{n_rows:,} rows, {n_features:,} feature{plural} ({kinds})"

    def describe_target(self) -> str:
        """What is predicted, in one line."""
        if self.task == CLASSIFICATION:
            return f"{self.target}, {len(self.classes)} classes"
        return f"{self.target}, a number"


def read_labelled_rows(
    path: Path,
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    header: bool | None = None,
) -> LabelledRows:
    """Read a table and take it apart into features and target.

    Parameters
    ----------
    path : Path
        CSV, TSV or Parquet.
    target : str
        Name of the column to predict; rows that miss it are left out.
    task : {"auto", "classification", "regression"}
        "auto" is classification for words and for up to ten distinct whole numbers.
    drop : sequence of str
        Columns to leave out.
    nominal : sequence of str
        Columns whose numbers are names.
    header : bool, default=None
        Whether the first line holds names; None looks.
    """
    table = open_table(path, header=header)
    table.check_present([target, *drop, *nominal])
    _check_drop(target, drop, nominal)
    names = [name for name in table.names if name != target and name not in drop]
    if not names:
        raise ValueError(
            f"{path} must have a column beside the target {target!r}; got "
            f"{len(table.names)} column(s). Check the delimiter, the target and `drop`."
        )
    everything, notes = table.read([target, *names], dict.fromkeys(nominal, "nominal"))
    X, target_column = everything.select(names), everything.values[0]
    task, y, remark = _read_target(table, target, target_column, task)
    present = ~everything.missing(0)
    if not present.all():
        notes.append(f"{int((~present).sum()):,} rows without a target are left out.")
        X, y = X.rows(present), y[present]
    y = _as_labels(y) if task == CLASSIFICATION else y.astype(np.float64)
    _check_varies(path, target, y, len(everything))
    number = np.flatnonzero(present) + 1
    X, dropped = _without_empty(X)
    notes += [*remark, *dropped, *_keys(X), *_constant(X)]
    return LabelledRows(X, y, task, target, (*table.notes, *notes), number)


def _check_drop(target: str, drop: Sequence[str], nominal: Sequence[str]) -> None:
    """Raise if a column is to be left out and used all the same."""
    used = {target: "`target`", **dict.fromkeys(nominal, "`nominal`")}
    for name in drop:
        if name in used:
            raise ValueError(
                f"`drop` must name columns that nothing else asks for; got {name!r}, which "
                f"{used[name]} names too. Leave out one of the two."
            )


def _read_target(
    table: TableFile, target: str, column: npt.NDArray[Any], task: str
) -> tuple[str, npt.NDArray[Any], list[str]]:
    """The task, the target as it needs it, and a remark if it had to be guessed from numbers."""
    is_words = column.dtype.kind == "O"
    if is_words and task == REGRESSION:
        raise ValueError(
            f"{table.path}: the target {target!r} must hold numbers for a regression; got words "
            f"such as {next(label for label in column if label is not None)!r}. Correct the "
            'column, or pass `task="classification"`.'
        )
    if is_words:
        return CLASSIFICATION, column, []
    distinct = np.unique(column[~np.isnan(column)])
    whole = bool(np.all(distinct == np.round(distinct)))
    if task != REGRESSION and whole and np.any(np.abs(distinct) > LARGEST_WHOLE):
        # Account numbers and the like: as floats, neighbours would be one class.
        return CLASSIFICATION, table.read([target], {target: "nominal"})[0].values[0], []
    if task == "auto":
        few = whole and len(distinct) <= MOST_NUMBERED_CLASSES
        task = CLASSIFICATION if few else REGRESSION
        other = REGRESSION if few else CLASSIFICATION
        what = f"{len(distinct)} distinct {'whole ' if whole else ''}numbers"
        remark = [f'The target holds {what}: taken for {task}; `task="{other}"` changes it.']
    else:
        remark = []
    if task == CLASSIFICATION and not whole:
        column = table.read([target], {target: "nominal"})[0].values[0]
    return task, column, remark


def _as_labels(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return column.astype(np.int64) if column.dtype.kind == "f" else column.astype(np.str_)


def _check_varies(path: Path, target: str, y: npt.NDArray[Any], n_rows: int) -> None:
    if n_rows == 0:
        raise ValueError(f"{path} must have rows below its header; got none. Check the file.")
    if len(y) == 0:
        raise ValueError(
            f"{path}: the target {target!r} must have values; all rows miss it. Check the column."
        )
    if np.all(y == y[0]):
        rows = f"all {len(y):,} rows" if len(y) > 1 else "its only row"
        raise ValueError(
            f"{path}: the target {target!r} must have at least two different values; got "
            f"{shorten(y[0].item())} in {rows}. There is nothing to learn from: check the column."
        )


def _without_empty(X: Columns) -> tuple[Columns, list[str]]:
    """Leave out columns without a single value."""
    empty = {name for index, name in enumerate(X.names) if X.missing(index).all()}
    if not empty:
        return X, []
    kept = [name for name in X.names if name not in empty]
    listed = join_names([repr(name) for name in X.names if name in empty])
    if not kept:
        raise ValueError(f"Features must have values; got only empty columns: {listed}.")
    return X.select(kept), [f"Columns without any value are left out: {listed}."]


def _keys(X: Columns) -> list[str]:
    """A note on nominal columns that name the rows, or nearly so."""
    n_rows = len(X)
    notes = []
    for index in X.nominal if n_rows > FEW_ROWS else ():
        n_labels, name = len(set(X.values[index])), repr(X.names[index])
        if n_labels == n_rows:
            notes.append(f"A different label in every row of {name}; `drop` leaves it out.")
        elif 2 * n_labels > n_rows:
            notes.append(
                f"{n_labels:,} labels in {n_rows:,} rows of {name}, too many to learn from; `drop` "
                "leaves it out."
            )
    return notes


def _constant(X: Columns) -> list[str]:
    """A note if nothing varies."""
    for index in range(len(X.names)):
        present = X.values[index][~X.missing(index)]
        if np.any(present != present[0]) or len(present) < len(X):
            return []
    return ["No feature varies: every row gets the same prediction."]
