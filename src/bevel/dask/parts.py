"""Dask collections as lists of parts: chunks of rows of an array, partitions of a frame."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bevel.dask.memory import TableSize
from bevel.dask.packages import dask_array, dask_dataframe
from bevel.data.masks import fill_masked
from bevel.errors import wrong_type

__all__ = [
    "PartedRows",
    "Parts",
    "column_parts",
    "is_array",
    "is_frame",
    "join_parts",
    "table_parts",
]

_TABLE = "a Dask array or data frame"
_COLUMN = "a Dask array or series"


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows in parts, in order.

    Attributes
    ----------
    delayed : list of Delayed
        The parts.
    n_rows : int or None
        Number of rows of all parts, if it is known before they are computed.
    size : TableSize or None
        Size of a table, if it is known.
    """

    delayed: list[Any]
    n_rows: int | None = None
    size: TableSize | None = None


@dataclass(frozen=True, eq=False)
class PartedRows:
    """Futures of the parts of the training rows, and the number of rows of each part."""

    X: list[Any]
    y: list[Any]
    sample_weight: list[Any] | None
    n_rows: tuple[list[int], ...]

    def first_rows(self) -> list[int]:
        """Number of the first row of each part of X."""
        return list(itertools.accumulate(self.n_rows[0], initial=0))[:-1]


def is_array(X: object) -> bool:
    """Whether X is a Dask array."""
    return isinstance(X, dask_array().Array)


def is_frame(X: object) -> bool:
    """Whether X is a Dask data frame."""
    return isinstance(X, dask_dataframe().DataFrame)


def check_table(X: object) -> None:
    """Raise unless X is a two-dimensional Dask array or data frame."""
    if is_frame(X):
        return
    if not is_array(X):
        remedy = (
            "Use dask.array.from_array or dask.dataframe.from_pandas, or an estimator of bevel "
            "itself (to_local() of a fitted one) for data in memory."
        )
        raise wrong_type("X", _TABLE, X, remedy)
    if X.ndim != 2:  # type: ignore[attr-defined]
        raise ValueError(
            f"X must have two dimensions, rows and columns; got a Dask array of {X.ndim}. "  # type: ignore[attr-defined]
            "Use X.reshape(-1, 1) for one column."
        )


def table_parts(X: Any) -> Parts:
    """Parts of a table, each with all of its columns."""
    check_table(X)
    if is_frame(X):
        return Parts(list(X.to_delayed()))
    whole_rows = X.rechunk({1: -1})
    parts = list(whole_rows.to_delayed().ravel())
    if np.isnan(X.shape[0]):
        return Parts(parts)
    n_rows, n_columns = map(int, X.shape)
    return Parts(parts, n_rows, TableSize(n_rows, n_columns, int(X.nbytes)))


def column_parts(name: str, column: Any) -> Parts:
    """Parts of one column, such as the target; `name` is its name in messages."""
    if is_frame(column):
        if len(column.columns) != 1:
            remedy = "Choose one, for example frame['target']."
            raise wrong_type(name, "one column", list(column.columns), remedy)
        column = column[column.columns[0]]
    if isinstance(column, dask_dataframe().Series):
        return Parts(list(column.to_delayed()))
    if not is_array(column):
        remedy = "Use dask.array.from_array or dask.dataframe.from_pandas."
        raise wrong_type(name, _COLUMN, column, remedy)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column.rechunk({1: -1})[:, 0]
    if column.ndim != 1:
        raise ValueError(
            f"{name} must have one entry for each row; got a Dask array of shape {column.shape}. "
            "Choose one column."
        )
    known = not np.isnan(column.shape[0])
    return Parts(list(column.to_delayed()), int(column.shape[0]) if known else None)


def join_parts(parts: Sequence[Any]) -> Any:
    """Join computed parts to one table or column, as `compute` of the collection would."""
    # Empty partitions are dropped, since pandas would let them change the types of columns.
    filled = [part for part in parts if part.shape[0]] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]
    if isinstance(filled[0], np.ndarray):
        return np.concatenate([fill_masked(part) for part in filled])
    if sp.issparse(filled[0]):
        return sp.vstack(filled, format="csr")
    from dask.dataframe.dispatch import concat

    return concat(filled)  # type: ignore[no-untyped-call]
