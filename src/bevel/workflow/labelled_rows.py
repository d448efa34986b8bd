"""A file of rows as a learning problem: features, target and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.columns import Columns
from bevel.errors import join_names, shorten
from bevel.tables.options import TableOptions
from bevel.tables.source import Source
from bevel.tables.table_file import TableFile, open_table
from bevel.workflow.features import (
    check_misfits,
    check_rows,
    describe_size,
    note_constant,
    without_empty,
    without_keys,
)
from bevel.workflow.keys import LARGEST_WHOLE

__all__ = ["CLASSIFICATION", "REGRESSION", "LabelledRows", "read_labelled_rows"]

CLASSIFICATION, REGRESSION = "classification", "regression"
LEAST_JUDGED, MOST_OWN_LABELS = 20, 0.5  # rows; share of distinct labels
MOST_NUMBERED_CLASSES = 10  # with more distinct whole numbers, the target is a quantity


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Features and target of a file.

    Attributes
    ----------
    X : Columns
        Features.
    y : ndarray of shape (n_rows,)
        Words or whole numbers in classification, floats in regression; none are missing.
    task : {"classification", "regression"}
    target : str
        Name of the column of y.
    notes : tuple of str
        Notes for the user on how the file was read.
    number : ndarray of int64, shape (n_rows,), or None
        Number of each row in the file, where 1 is the first below the header; None: 1, 2, ...
    weights : ndarray of shape (n_rows,), or None
        Weights of the rows, if a column has them.
    ids : mapping of str to ndarray of object
        Columns that name the rows, as they are written in the file.
    """

    X: Columns
    y: npt.NDArray[Any]
    task: str
    target: str
    notes: tuple[str, ...]
    number: npt.NDArray[np.int64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    ids: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Distinct labels, sorted; empty in regression."""
        return np.unique(self.y) if self.task == CLASSIFICATION else self.y[:0]

    def describe(self) -> str:
        """Size in one line."""
        return describe_size(self.X)

    def describe_target(self) -> str:
        """Description of the target, in one line."""
        if self.task == CLASSIFICATION:
            return f"{self.target}, {len(self.classes)} classes"
        return f"{self.target}, a number"


def read_labelled_rows(
    path: Path | Source,
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep_id: bool = False,
    weights: str | None = None,
    row_id: Sequence[str] = (),
    options: TableOptions | None = None,
) -> LabelledRows:
    """Read a table and split it into features and target.

    Parameters
    ----------
    path : Path or Source
        CSV, TSV or Parquet.
    target : str
        Name of the column to predict; rows that miss it are left out.
    task : {"auto", "classification", "regression"}
        "auto" is classification for words and for up to ten distinct whole numbers.
    drop : sequence of str
        Columns to leave out.
    nominal : sequence of str
        Columns whose numbers are labels.
    keep_id : bool, default=False
        Keep columns that name rows: row numbers, keys and free text.
    weights : str, default=None
        Column of the rows' weights.
    row_id : sequence of str
        Columns that name rows: not features, but kept.
    options : TableOptions, default=None
        Format of the file.
    """
    options = options or TableOptions()
    table = open_table(path, options)
    special = [name for name in (target, weights, *row_id) if name is not None]
    table.check_present([*special, *drop, *nominal])
    _check_twice(table, target)
    _check_drop(target, drop, nominal, weights, row_id)
    names = [name for name in table.names if name not in {*special, *drop}]
    if not names:
        raise ValueError(
            f"{table.source} must have a column beside the target {target!r}; got "
            f"{len(table.names)} column(s). Check the `delimiter`, the `target` and `drop`."
        )
    read = table.read([target, *names], dict.fromkeys(nominal, "nominal"))
    everything, notes = read.columns, read.notes
    X, target_column = everything.select(names), everything.values[0]
    check_rows(table.source, len(everything))
    X, left_out = without_keys(X, table, {*nominal, *options.types}, keep_id)
    task, y, remark = _read_target(table, target, target_column, task)
    present = ~everything.missing(0)
    if not present.all():
        notes.append(f"{int((~present).sum()):,} rows without a target are left out.")
        X, y = X.rows(present), y[present]
    y = _as_labels(y) if task == CLASSIFICATION else y.astype(np.float64)
    _check_varies(table.source, target, y)
    if task == CLASSIFICATION:
        _check_labels_repeat(table.source, target, y)
    number = np.flatnonzero(present) + 1
    X, empty = without_empty(X)
    check_misfits(table.source, X, read.misfits)
    notes += [*remark, *left_out, *empty, *note_constant(X)]
    return LabelledRows(
        X,
        y,
        task,
        target,
        (*table.notes, *notes),
        number,
        None if weights is None else _read_weights(table, weights, present),
        {name: words[present] for name, words in table.read_words(row_id).items()},
    )


def _check_twice(table: TableFile, target: str) -> None:
    if target in table.twice:
        raise ValueError(
            f"{table.source} must have one column {target!r} to predict; got several. Rename them "
            "in the first line."
        )


def _read_weights(
    table: TableFile, name: str, present: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Weights of the rows; the estimator checks their range."""
    read = table.read([name], {name: "numeric"}).columns
    missing = np.flatnonzero(read.missing(0) & present)
    if len(missing):
        raise ValueError(
            f"{table.source}: column {name!r} must have a weight in every row; got none in row "
            f"{missing[0] + 1}. Write 0 for rows that do not count."
        )
    return np.asarray(read.values[0][present], dtype=np.float64)


def _check_drop(
    target: str,
    drop: Sequence[str],
    nominal: Sequence[str],
    weights: str | None,
    row_id: Sequence[str],
) -> None:
    """Raise if a column is to be used in two ways."""
    uses = [(target, "`target`"), *((name, "`row_id`") for name in dict.fromkeys(row_id))]
    uses += [] if weights is None else [(weights, "`weights`")]
    uses += [(name, "`nominal`") for name in dict.fromkeys(nominal) if name != target]
    uses += [(name, "`drop`") for name in dict.fromkeys(drop)]
    seen: dict[str, str] = {}
    for name, use in uses:
        if name in seen:
            raise ValueError(
                f"{use} must name columns that no other parameter names; got {name!r}, which "
                f"{seen[name]} names too. Leave out one of the two."
            )
        seen[name] = use


def _read_target(
    table: TableFile, target: str, column: npt.NDArray[Any], task: str
) -> tuple[str, npt.NDArray[Any], list[str]]:
    """The task, the target in its type, and a note if the task was guessed from numbers."""
    is_words = column.dtype.kind == "O"
    if is_words and task == REGRESSION:
        raise ValueError(
            f"{table.source}: the target {target!r} must hold numbers for a regression; got words "
            f"such as {next(label for label in column if label is not None)!r}. Correct the "
            'column, or pass `task="classification"`.'
        )
    if is_words:
        return CLASSIFICATION, column, []
    distinct = np.unique(column[~np.isnan(column)])
    whole = bool(np.all(distinct == np.round(distinct)))
    if task != REGRESSION and whole and np.any(np.abs(distinct) > LARGEST_WHOLE):
        # Account numbers and the like: as floats, neighbouring numbers would be one class.
        return CLASSIFICATION, table.read([target], {target: "nominal"}).columns.values[0], []
    if task == "auto":
        few = whole and len(distinct) <= MOST_NUMBERED_CLASSES
        task = CLASSIFICATION if few else REGRESSION
        other = REGRESSION if few else CLASSIFICATION
        what = f"{len(distinct)} distinct {'whole ' if whole else ''}numbers"
        remark = [f'The target holds {what}: taken for {task}; `task="{other}"` changes it.']
    else:
        remark = []
    if task == CLASSIFICATION and not whole:
        column = table.read([target], {target: "nominal"}).columns.values[0]
    return task, column, remark


def _as_labels(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return column.astype(np.int64) if column.dtype.kind == "f" else column.astype(np.str_)


def _check_varies(path: object, target: str, y: npt.NDArray[Any]) -> None:
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


def _check_labels_repeat(path: object, target: str, y: npt.NDArray[Any]) -> None:
    """Raise if nearly every row has a different label, as with names, texts and keys."""
    labels, counts = np.unique(y, return_counts=True)
    if len(y) < LEAST_JUDGED or len(labels) <= MOST_OWN_LABELS * len(y):
        return
    examples = join_names([shorten(label.item()) for label in labels[:2]])
    raise ValueError(
        f"{path}: the target {target!r} must have labels that repeat; got {len(labels):,} "
        f"different ones in {len(y):,} rows, such as {examples}, of which "
        f"{int((counts == 1).sum()):,} occur once. There is nothing to learn from them: name "
        "another `target`, or if they are numbers written as words, how to read them (`decimal`, "
        f'`missing`, `types={{{target!r}: "number"}}`).'
    )
