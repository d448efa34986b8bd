"""Blocks of rows: tables of rows x classes are made piece by piece.

With many classes they would be larger than the training rows by far.
"""

from __future__ import annotations

import itertools

__all__ = ["MAX_VALUES", "row_blocks"]

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
