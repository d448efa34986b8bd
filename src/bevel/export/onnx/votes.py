"""Adds up the predictions of the leaves of a row, in double precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Ints64
from bevel.export.onnx.graph import Graph
from bevel.export.onnx.splits import flat_places
from bevel.forest.flat_forest import FlatForest

__all__ = ["Votes", "read_sums", "read_votes"]


# A dense table is used if it is at most this many times larger than the shares in it.
DENSE = 2.0


@dataclass(frozen=True, eq=False)
class Votes:
    """Predictions of the leaves of a forest.

    Attributes
    ----------
    leaf_id : ndarray of int64, shape (n_nodes,)
        Identifier of each leaf: its row in `table`, or the position of its first share. Ascending.
    n_outputs : int
        Number of classes, or 1 for values.
    table : ndarray of shape (n_leaves, n_outputs), or None
        Shares or values; None if most are zero, in which case they are sparse:
    column, share, more : ndarray of shape (n_shares,), or None
        Nonzero shares, their classes, and whether another share of the leaf follows.
    """

    leaf_id: Ints64
    n_outputs: int
    table: npt.NDArray[np.floating] | None
    column: npt.NDArray[np.int32] | None = None
    share: npt.NDArray[np.float32] | None = None
    more: npt.NDArray[np.bool_] | None = None

    def n_numbers(self, n_trees: int) -> int:
        """Numbers held for a row."""
        return 3 * n_trees * (1 if self.table is None else self.n_outputs) + 2 * self.n_outputs

    def write(self, graph: Graph, leaves: str) -> str:
        """Sums over trees: rows x outputs, float64; `leaves` are trees x rows."""
        if self.table is None:
            return self._write_sparse(graph, leaves)
        table = graph.constant(self.table.T.reshape(-1))
        output = graph.constant(len(self.table) * np.arange(self.n_outputs)[:, None], np.int32)
        place = graph.add("Add", graph.add("Unsqueeze", leaves, graph.integers(1)), output)
        votes = graph.take(table, graph.reshape(place, -1))
        shape = graph.add("Shape", place)
        votes = graph.add("Reshape", graph.cast(votes, np.float64), shape, allowzero=1)
        return graph.add("Transpose", graph.sum_first_axis(votes), perm=[1, 0])

    def _write_sparse(self, graph: Graph, leaves: str) -> str:
        """Step through the shares of all leaves at once, adding each to its row and class."""
        n_rows = graph.length(leaves, 1)
        n_sums = graph.add("Mul", n_rows, graph.integers(self.n_outputs))
        sums = graph.add("Expand", graph.constant(np.zeros(1)), n_sums)
        row = graph.add(
            "Range", graph.constant(0, np.int64), graph.scalar(n_rows), graph.constant(1, np.int64)
        )
        first = graph.add(
            "Mul", graph.cast(row, np.int32), graph.constant(self.n_outputs, np.int32)
        )
        first = graph.add("Expand", first, graph.add("Shape", leaves))
        state = [
            (sums, np.float64),
            (graph.reshape(leaves, -1), np.int32),
            (graph.reshape(first, -1), np.int32),
        ]
        assert self.column is not None
        assert self.share is not None
        assert self.more is not None
        shares = (graph.constant(self.column), graph.constant(self.share))
        if not self.more.any():
            added = _add_shares(graph, shares, *(tensor for tensor, _ in state))
        else:
            more = graph.constant(self.more)
            added, *_ = graph.loop(
                graph.constant(self.n_outputs, np.int64),
                state,
                lambda inner, _, held: _share_trip(inner, shares, more, *held),
            )
        return graph.reshape(added, -1, self.n_outputs)


def _share_trip(
    graph: Graph, shares: tuple[str, str], more: str, sums: str, place: str, first: str
) -> tuple[str, list[str], list[str]]:
    """Add one share of every leaf, and continue with the leaves that have more."""
    sums = _add_shares(graph, shares, sums, place, first)
    left = graph.reshape(graph.add("NonZero", graph.take(more, place)), -1)
    place = graph.add("Add", graph.take(place, left), graph.constant(1, np.int32))
    first = graph.take(first, left)
    n_left = graph.scalar(graph.length(place))
    going = graph.add("Greater", n_left, graph.constant(0, np.int64))
    return going, [sums, place, first], []


def _add_shares(graph: Graph, shares: tuple[str, str], sums: str, place: str, first: str) -> str:
    """Add the share at each position to the sums of a row, which begin at `first`."""
    column, share = shares
    where = graph.add("Add", first, graph.take(column, place))
    what = graph.cast(graph.take(share, place), np.float64)
    return graph.add("ScatterElements", sums, where, what, axis=0, reduction="add")


def read_votes(forest: FlatForest, hard: bool) -> Votes:
    """Read the predictions of the leaves: shares, or (hard) one vote for the largest."""
    leaves = np.flatnonzero(forest.right < 0)
    leaf_id = np.zeros(forest.n_nodes, np.int64)
    leaf_id[leaves] = np.arange(len(leaves))
    if forest.n_classes == 0:
        return Votes(leaf_id, 1, forest.leaf_value[leaves][:, None])
    start, column, share = _shares(forest, leaves)
    if hard:
        start, column, share = _largest(start, column, share)
    owner = np.repeat(np.arange(len(leaves)), np.diff(start))
    if len(leaves) * forest.n_classes <= DENSE * len(share):
        table = np.zeros((len(leaves), forest.n_classes), np.float32)
        table[owner, column] = share
        return Votes(leaf_id, forest.n_classes, table)
    leaf_id[leaves] = start[:-1]
    more = np.append(owner[1:] == owner[:-1], False)
    return Votes(leaf_id, forest.n_classes, None, column, share, more)


def read_sums(forest: FlatForest, n_outputs: int) -> Votes:
    """Read the values that leaves add to the output of their tree: tree t to t % n_outputs."""
    leaves = np.flatnonzero(forest.right < 0)
    leaf_id = np.zeros(forest.n_nodes, np.int64)
    leaf_id[leaves] = np.arange(len(leaves))
    tree = np.searchsorted(forest.tree_offset, leaves, side="right") - 1
    table = np.zeros((len(leaves), n_outputs))
    table[np.arange(len(leaves)), tree % n_outputs] = forest.leaf_value[leaves]
    return Votes(leaf_id, n_outputs, table)


def _shares(
    forest: FlatForest, leaves: Ints64
) -> tuple[Ints64, npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    first = forest.entry_offset[leaves]
    length = forest.entry_offset[leaves + 1] - first
    places = flat_places(first, length)
    start = np.concatenate(([0], np.cumsum(length)))
    return start, forest.entry_index[places], forest.entry_weight[places]


def _largest(
    start: Ints64, column: npt.NDArray[np.int32], share: npt.NDArray[np.float32]
) -> tuple[Ints64, npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """One vote for the largest share of each leaf; ties go to the first."""
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    best = np.flatnonzero(share == np.maximum.reduceat(share, start[:-1])[owner])
    _, first = np.unique(owner[best], return_index=True)
    chosen = best[first]
    return np.arange(len(start)), column[chosen], np.ones(len(chosen), np.float32)
