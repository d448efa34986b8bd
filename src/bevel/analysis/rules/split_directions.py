"""The distinct directions of a forest's splits, found without a loop over nodes.

Directions are expressed in features, through the axes of rotations, and divided by their
largest absolute weight: a direction and a positive multiple of it make the same cuts. Weights of
±1 are unchanged. Normalised weights are compared bit by bit in float32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.forest.flat_forest import FlatForest, gather

__all__ = ["SparseRows", "SplitDirections", "distinct_rows", "find_directions", "tidy_rows"]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Directions as rows: entries of row r are `offset[r]` to `offset[r + 1]`, features ascend."""

    offset: Ints64
    index: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.offset) - 1

    def take(self, rows: Ints64) -> SparseRows:
        """Some of the rows, in the given order."""
        entries, offset = gather(self.offset, rows)
        return SparseRows(offset, self.index[entries], self.weight[entries])

    def dense(self, n_features: int) -> Floats:
        """Rows as a matrix."""
        matrix = np.zeros((len(self), n_features))
        matrix[np.repeat(np.arange(len(self)), np.diff(self.offset)), self.index] = self.weight
        return matrix


@dataclass(frozen=True, eq=False)
class SplitDirections:
    """Distinct directions, in the order in which they first occur, and the splits along them.

    Attributes
    ----------
    rows : SparseRows
        Directions, of largest absolute weight 1.
    node, tree : ndarray of int64
        Position of each split in the arrays of the forest, and its tree.
    direction : ndarray of int64
        Row of each split's direction.
    """

    rows: SparseRows
    node: Ints64
    tree: Ints64
    direction: Ints64


def find_directions(
    forest: FlatForest, nodes: Ints64 | None = None, *, merge_signs: bool = True
) -> SplitDirections:
    """Directions of splits; levels that they combine follow the features, as columns of 0 and 1.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    nodes : ndarray of int64, default=None
        Positions of splits in the forest's arrays; None means all.
    merge_signs : bool, default=True
        Whether a direction and its negative, which make the same cuts, are one.
    """
    forest, _ = forest.with_level_columns
    node = np.flatnonzero(forest.right >= 0) if nodes is None else nodes
    tree = np.searchsorted(forest.tree_offset, node, side="right") - 1
    entries, offset = gather(forest.entry_offset, node)
    index = forest.entry_index[entries].astype(np.int64)
    weight = forest.entry_weight[entries]
    owner = np.repeat(np.arange(len(node)), np.diff(offset))
    # Axes are numbered over the whole forest. Splits along one axis are found equal before it is
    # expanded, so that a dense rotation is expanded once and not at every node.
    index += np.where(index >= forest.n_features, forest.rotation_offset[tree[owner]], 0)
    rows, direction = distinct_rows(tidy_rows(owner, index, weight, len(node), merge_signs))
    if len(forest.rotation_index):
        written, again = distinct_rows(_write_out(forest, rows, merge_signs))
        rows, direction = written, again[direction]
    return SplitDirections(rows, node, tree, direction)


def _write_out(forest: FlatForest, rows: SparseRows, merge_signs: bool) -> SparseRows:
    """Replace axes by their features."""
    owner = np.repeat(np.arange(len(rows)), np.diff(rows.offset))
    is_axis = rows.index >= forest.n_features
    axis = rows.index[is_axis].astype(np.int64) - forest.n_features
    entries, offset = gather(forest.rotation_entry_offset, axis)
    length = np.diff(offset)
    weight = np.repeat(rows.weight[is_axis].astype(np.float64), length)
    return tidy_rows(
        np.concatenate((owner[~is_axis], np.repeat(owner[is_axis], length))),
        np.concatenate((rows.index[~is_axis], forest.rotation_index[entries])),
        np.concatenate((rows.weight[~is_axis], weight * forest.rotation_weight[entries])),
        len(rows),
        merge_signs,
    )


def tidy_rows(
    owner: Ints64,
    index: npt.NDArray[np.integer],
    weight: npt.NDArray[np.floating],
    n_rows: int,
    merge_signs: bool,
) -> SparseRows:
    """Rows with ascending, distinct features and nonzero weights, the largest of them ±1.

    With `merge_signs` the largest weight of each row is positive, the first of tied ones.
    """
    # By owner, then by feature. Owners mostly ascend, which is fast with a merge sort of one key.
    n_columns = int(index.max(initial=0)) + 1
    order = np.argsort(owner * n_columns + index, kind="stable")
    owner, index = owner[order], index[order]
    starts = np.ones(len(owner), dtype=bool)
    starts[1:] = (np.diff(owner) != 0) | (np.diff(index) != 0)
    total = np.bincount(np.cumsum(starts) - 1, weight[order].astype(np.float64))
    kept = np.flatnonzero(starts)[total != 0.0]
    owner, index, total = owner[kept], index[kept], total[total != 0.0]

    largest = np.zeros(n_rows)
    np.maximum.at(largest, owner, np.abs(total))
    offset = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=n_rows))))
    if merge_signs and len(total):
        # Positions of the largest weights, backwards, so that the first of a row is written last.
        top = np.flatnonzero(np.abs(total) == largest[owner])[::-1]
        largest[owner[top]] = total[top]
    scaled = (total / largest[owner]).astype(np.float32)
    return SparseRows(offset.astype(np.int64), index.astype(np.int32), scaled)


def distinct_rows(rows: SparseRows) -> tuple[SparseRows, Ints64]:
    """The distinct rows, in order of first occurrence, and the index of each row among them.

    Rows are sorted by a fingerprint of 64 bits and then compared, so that a collision only costs
    time.
    """
    salt = 0
    while True:
        _, first, group = np.unique(_prints(rows, salt), return_index=True, return_inverse=True)
        if _are_equal(rows, rows.take(first[group])):
            break
        salt += 1
    order = np.argsort(first)
    place = np.empty(len(first), dtype=np.int64)
    place[order] = np.arange(len(first))
    return rows.take(first[order]), place[group]


def _prints(rows: SparseRows, salt: int) -> npt.NDArray[np.uint64]:
    """Sum over the entries of each row of a hash of feature and weight (splitmix64's finaliser)."""
    x = rows.index.astype(np.uint64) << np.uint64(32) | rows.weight.view(np.uint32)
    x += np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(x, dtype=np.uint64)))
    return np.asarray(sums[rows.offset[1:]] - sums[rows.offset[:-1]])


def _are_equal(a: SparseRows, b: SparseRows) -> bool:
    return (
        np.array_equal(a.offset, b.offset)
        and np.array_equal(a.index, b.index)
        # By their bits, as they are hashed, so that the search ends even for NaN.
        and np.array_equal(a.weight.view(np.uint32), b.weight.view(np.uint32))
    )
