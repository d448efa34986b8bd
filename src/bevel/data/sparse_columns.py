"""Training rows of sparse tables as the core reads them: a common value and exceptions by column.

Every number is that of the dense float32 matrix of the same table, so that trees are too. Zeros
need not stay zero: a scale moves all implicit entries of a column alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel._types import Float32s
from bevel.data.tables import SparseTable, as_floats

__all__ = ["MOST_STORED", "SparseColumns", "exceptions_of", "read_sparse"]

# Share of the entries up to which a table is kept sparse. An entry takes eight bytes, and four of a
# dense matrix.
MOST_STORED = 1 / 3
BLOCK_SIZE = 2**20  # entries of a block of rows that is made dense, 4 MB


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """Columns of float32, most of whose entries have one value.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    offset : ndarray of int64, shape (p + 1,)
        Where the exceptions of each column begin.
    rows : ndarray of int32
        Rows of the exceptions, ascending in each column.
    values : ndarray of float32
        Their values.
    common : ndarray of float32, shape (p,)
        The value of each column in all other rows.
    """

    n_rows: int
    offset: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    values: Float32s
    common: Float32s

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.common)

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in (self.offset, self.rows, self.values, self.common))

    @cached_property
    def native(self) -> _core.SparseTable:
        """The same arrays for the core."""
        return _core.SparseTable(self.n_rows, self.offset, self.rows, self.values, self.common)

    @cached_property
    def _by_row(self) -> Any:
        """The exceptions row by row."""
        return sp.csc_array((self.values, self.rows, self.offset), shape=self.shape).tocsr()

    def take(self, kept: npt.NDArray[Any]) -> SparseColumns:
        """Some rows, by a mask or ascending numbers."""
        mask = np.zeros(self.n_rows, dtype=bool)
        mask[kept] = True
        stays = mask[self.rows]
        place = np.cumsum(mask, dtype=np.int32) - 1
        before = np.concatenate(([0], np.cumsum(stays)))
        offset = before[self.offset]
        rows = place[self.rows[stays]].astype(np.int32)
        return SparseColumns(int(mask.sum()), offset, rows, self.values[stays], self.common)

    def append(self, more: SparseColumns) -> SparseColumns:
        """These rows and others after them, with the same common values."""
        both = [self, more]
        counts = [np.diff(each.offset) for each in both]
        offset = np.concatenate(([0], np.cumsum(counts[0] + counts[1])))
        rows = np.empty(offset[-1], np.int32)
        values = np.empty(offset[-1], np.float32)
        start = offset[:-1]
        for each, count, first in zip(both, counts, (0, self.n_rows), strict=True):
            place = np.arange(len(each.rows)) + np.repeat(start - each.offset[:-1], count)
            rows[place], values[place] = each.rows + np.int32(first), each.values
            start = start + count
        return SparseColumns(self.n_rows + more.n_rows, offset, rows, values, self.common)

    def blocks(self, kept: npt.NDArray[np.bool_] | None = None) -> Iterator[Float32s]:
        """All rows, or some, as dense rows in C order, in blocks of bounded size."""
        chosen = np.arange(self.n_rows) if kept is None else np.flatnonzero(kept)
        height = max(1, BLOCK_SIZE // len(self.common))
        for start in range(0, max(1, len(chosen)), height):
            yield self._dense(chosen[start : start + height])

    def parts(self, first: int, last: int, step: int = 1) -> Iterator[tuple[int, int, Float32s]]:
        """Consecutive rows in blocks of bounded size: the first, one past the last, and the rows.

        The rows are dense, in Fortran order. first, last and the numbers that are returned count
        rows in steps.
        """
        height = max(1, BLOCK_SIZE // len(self.common) // step)
        for start in range(first, last, height):
            stop = min(start + height, last)
            yield start, stop, np.asfortranarray(self._dense(slice(start * step, stop * step)))

    def _dense(self, rows: slice | npt.NDArray[np.intp]) -> Float32s:
        some = self._by_row[rows]
        dense = np.empty(some.shape, np.float32)
        dense[:] = self.common
        row = np.repeat(np.arange(len(dense)), np.diff(some.indptr))
        dense[row, some.indices] = some.data
        return dense


def exceptions_of(X: Float32s, common: Float32s) -> SparseColumns:
    """Dense rows as exceptions from given common values."""
    differs = np.not_equal(X, common) & ~(np.isnan(X) & np.isnan(common))
    columns, rows = np.nonzero(differs.T)
    offset = np.concatenate(([0], np.cumsum(differs.sum(axis=0)))).astype(np.int64)
    return SparseColumns(len(X), offset, rows.astype(np.int32), X[rows, columns], common)


def read_sparse(table: SparseTable, scaler: _core.Scaler) -> SparseColumns:
    """Columns of a sparse table of numbers that have been checked, scaled."""
    columns = table.columns
    offset = columns.indptr.astype(np.int64)
    data = as_floats(columns.data)
    if np.signbit(data[data == 0.0]).any():  # which become zero where the matrix is made dense
        data = data + 0.0
    values = scaler.transform_columns(data, offset)
    common = np.empty((1, table.n_features), np.float32)
    scaler.transform(table.common[np.newaxis], 0, 1, common)
    rows = columns.indices.astype(np.int32, copy=False)
    table.forget_columns()
    return SparseColumns(table.n_rows, offset, rows, values, common[0])
