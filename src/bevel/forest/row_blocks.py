"""Blocks of rows: tables of rows x classes are made piece by piece.

With many classes they would be larger than the training rows by far.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from bevel._types import Float32s, Floats, Ints32
from bevel.data.sparse_columns import SparseColumns

__all__ = ["MAX_VALUES", "row_blocks", "sums_of_rows"]

MAX_VALUES = 2_000_000  # of a block; 16 MB as float64


def row_blocks(n_rows: int, values_per_row: int, first: int = 0) -> list[slice]:
    """Consecutive rows in as few blocks of `MAX_VALUES` values as there can be.

    Parameters
    ----------
    n_rows : int
        Rows in all; none are one empty block.
    values_per_row : int
        Numbers that are stored for each. A block has at least one row.
    first : int, default=0
        Number of the first row.
    """
    size = max(1, MAX_VALUES // max(1, values_per_row))
    n_blocks = max(1, -(-n_rows // size))
    bounds = [first + n_rows * i // n_blocks for i in range(n_blocks + 1)]
    return [slice(*pair) for pair in itertools.pairwise(bounds)]


def sums_of_rows(
    predict: Callable[[Float32s, tuple[int, int] | None, int | None], Any],
    X: Float32s | SparseColumns,
    rows: tuple[int, int] | None,
    step: int = 1,
) -> tuple[Floats, Ints32]:
    """Out-of-bag sums and numbers of trees of training rows; sparse rows are made dense in parts.

    Parameters
    ----------
    predict : callable
        ``predict(X, rows, n_rows)`` with all rows, a range of them and None; or with the rows of a
        range, the range and the number of all rows.
    X : ndarray of float32 or SparseColumns
        All rows.
    rows : tuple of int or None
        First of the rows and one past the last; None for all.
    step : int, default=1
        The range counts every so many rows one.
    """
    if not isinstance(X, SparseColumns):
        found: tuple[Floats, Ints32] = predict(X, rows, None)
        return found
    first, last = rows or (0, -(-len(X) // step))
    parts = [
        predict(part, (start, stop), len(X)) for start, stop, part in X.parts(first, last, step)
    ]
    sums, counts = zip(*parts, strict=True)
    return np.concatenate(sums, axis=-2), np.concatenate(counts)
