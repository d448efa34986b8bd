"""The features of a table, without identifiers, empty columns and unusable labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from bevel.data.columns import Columns
from bevel.errors import join_names
from bevel.tables.table_file import TableFile
from bevel.workflow.keys import find_keys

__all__ = [
    "check_misfits",
    "check_rows",
    "describe_size",
    "note_constant",
    "without_empty",
    "without_keys",
]

MOST_MISFIT_LABELS = 30  # for a column of numbers that became words


def describe_size(X: Columns) -> str:
    """Rows and features in one line."""
    n_rows, n_features = X.shape
    n_nominal = len(X.nominal)
    kinds = f"{n_features - n_nominal:,} numeric, {n_nominal:,} nominal"
    plural = "" if n_features == 1 else "s"
    return f"{n_rows:,} rows, {n_features:,} feature{plural} ({kinds})"


def check_rows(path: object, n_rows: int) -> None:
    """Raise if a table has no rows."""
    if n_rows == 0:
        raise ValueError(f"{path} must have rows below its header; got none. Check the file.")


def without_empty(X: Columns) -> tuple[Columns, list[str]]:
    """Drop columns without a single value."""
    empty = {name for index, name in enumerate(X.names) if X.missing(index).all()}
    if not empty:
        return X, []
    kept = [name for name in X.names if name not in empty]
    listed = join_names([repr(name) for name in X.names if name in empty])
    if not kept:
        raise ValueError(f"Features must have values; got only empty columns: {listed}.")
    return X.select(kept), [f"Columns without any value are left out: {listed}."]


def without_keys(
    X: Columns, table: TableFile, wanted: Collection[str], keep_id: bool
) -> tuple[Columns, list[str]]:
    """Drop columns that identify rows, with a note."""
    keys = [] if keep_id else find_keys(X, table.row_names, wanted, table.index)
    if not keys:
        return X, []
    names = {key.name for key in keys}
    kept = [name for name in X.names if name not in names]
    listed = join_names([f"{key.name!r} ({key.why})" for key in keys])
    if not kept:
        return X, [f"Every feature only identifies rows: {listed}."]
    return X.select(kept), [f"Left out, because they name rows: {listed}; `keep_id` keeps them."]


def check_misfits(path: object, X: Columns, misfits: Mapping[str, str]) -> None:
    """Raise if numbers or dates became labels that are too many to learn from."""
    for index in X.nominal:
        name, n_labels = X.names[index], len(set(X.values[index]))
        if name in misfits and n_labels > MOST_MISFIT_LABELS:
            raise ValueError(
                f"{path}: column {name!r} holds numbers or dates, but for {misfits[name]}; as "
                f"words they would be {n_labels:,} labels, too many to learn from. Name what means "
                f'missing (`missing`), read the column as numbers (`types={{{name!r}: "number"}}`) '
                f"or as labels all the same (`nominal`), name the `decimal` sign or the "
                "`delimiter`, or leave the column out (`drop`)."
            )


def note_constant(X: Columns) -> list[str]:
    """Note for a table whose features are all constant."""
    for index in range(len(X.names)):
        present = X.values[index][~X.missing(index)]
        if np.any(present != present[0]) or len(present) < len(X):
            return []
    return ["No feature varies: every row gets the same prediction."]
