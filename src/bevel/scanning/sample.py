"""A sample of rows chosen by a hash of their number, independent of the batches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["RowSample"]


class RowSample:
    """The rows with the smallest hashes.

    Parameters
    ----------
    size : int
        Rows to choose; all if there are fewer.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._hashes = np.empty(0, dtype=np.uint64)
        self._rows = np.empty(0, dtype=np.int64)
        self._bound = np.uint64(2**64 - 1)

    def add(
        self, first_row: int, n_rows: int, counted: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Consider the next rows; `counted` marks those that may be chosen."""
        rows = np.arange(first_row, first_row + n_rows, dtype=np.int64)
        if counted is not None:
            rows = rows[counted]
        hashes = hash_rows(rows)
        chosen = hashes <= self._bound
        self._hashes = np.concatenate([self._hashes, hashes[chosen]])
        self._rows = np.concatenate([self._rows, rows[chosen]])
        if len(self._rows) >= 2 * self._size:
            self._cut()

    def _cut(self) -> None:
        if len(self._rows) > self._size:
            kept = np.argpartition(self._hashes, self._size - 1)[: self._size]
            self._hashes, self._rows = self._hashes[kept], self._rows[kept]
            self._bound = self._hashes.max()

    def rows(self) -> npt.NDArray[np.int64]:
        """Numbers of the chosen rows, ascending."""
        self._cut()
        return np.sort(self._rows)


def hash_rows(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """A bijection of 64-bit numbers that scrambles them (the last steps of SplitMix64)."""
    z = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
