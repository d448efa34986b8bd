"""Sends rows to their leaves block by block, so that memory does not grow with a batch's rows, and
adds up the predictions of the leaves of a row, in double precision.

There are two routes to a leaf. Trees that read columns are fast where the splits of a forest share
few comparisons: single features, axes of rotations, signed sums of few features. The walk works out
at each node what that node compares, which is less where every node has its own direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s, Floats, Ints64
from bevel.export.onnx.graph import ML_DOMAIN, Graph
from bevel.export.onnx.splits import (
    LEVELS,
    ColumnBlock,
    DirectionLists,
    RightSets,
    Splits,
    Terms,
    count_products,
    flat_places,
    level_bits,
)
from bevel.forest.flat_forest import FlatForest

__all__ = [
    "Route",
    "TreesRoute",
    "Votes",
    "WalkRoute",
    "read_sums",
    "read_votes",
    "write_sums",
]

# A dense table is used if it is at most this many times larger than the shares in it.
DENSE = 2.0


@dataclass(frozen=True, eq=False)
class LeafModels:
    """Linear models of leaves: arrays with a line for each leaf and a column for each term.

    Attributes
    ----------
    feature, slope, low, high : ndarray of shape (n_leaves, n_terms)
        Terms; those that a leaf does not have come last and have slope 0.
    medians : ndarray of shape (n_features,)
        What a missing value counts as.
    """

    feature: npt.NDArray[np.int32]
    slope: Floats
    low: Float32s
    high: Float32s
    medians: Float32s

    @classmethod
    def of(cls, forest: FlatForest, leaves: Ints64) -> LeafModels | None:
        """The models of some leaves; None if there are none."""
        if not forest.has_leaf_models:
            return None
        first = forest.entry_offset[leaves]
        length = forest.entry_offset[leaves + 1] - first
        places = flat_places(first, length)
        owner = np.repeat(np.arange(len(leaves)), length)
        term = places - np.repeat(first, length)
        tables = []
        for name in ("entry_index", "entry_weight", "entry_low", "entry_high"):
            array = getattr(forest, name)
            table = np.zeros((len(leaves), int(length.max())), array.dtype)
            table[owner, term] = array[places]
            tables.append(table)
        feature, slope, low, high = tables
        return cls(feature, slope.astype(np.float64), low, high, forest.medians)

    def add(self, graph: Graph, values: str, leaves: str, rows: str) -> str:
        """Add the terms of leaves, trees x rows, to a flat list of their values."""
        shape, flat = graph.add("Shape", leaves), graph.reshape(leaves, -1)
        filled = graph.add("Where", graph.add("IsNaN", rows), graph.constant(self.medians), rows)
        filled = graph.reshape(filled, -1)
        n_rows = graph.scalar(graph.length(rows))
        zero, one = graph.constant(0, np.int64), graph.constant(1, np.int64)
        row = graph.cast(graph.add("Range", zero, n_rows, one), np.int32)
        first = graph.add("Mul", row, graph.constant(len(self.medians), np.int32))
        first = graph.reshape(graph.add("Expand", first, shape), -1)
        for k in range(self.feature.shape[1]):
            feature, slope, low, high = (
                graph.take(graph.constant(each[:, k]), flat)
                for each in (self.feature, self.slope, self.low, self.high)
            )
            x = graph.take(filled, graph.add("Add", first, feature))
            x = graph.add("Min", graph.add("Max", x, low), high)
            term = graph.add("Mul", slope, graph.cast(x, np.float64))
            values = graph.add("Add", values, term)
        return values


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
    models : LeafModels or None
        Linear models that are added to the values of the table, which has one column then.
    """

    leaf_id: Ints64
    n_outputs: int
    table: npt.NDArray[np.floating] | None
    column: npt.NDArray[np.int32] | None = None
    share: npt.NDArray[np.float32] | None = None
    more: npt.NDArray[np.bool_] | None = None
    models: LeafModels | None = None

    def n_numbers(self, n_trees: int) -> int:
        """Numbers held for a row."""
        of_models = 0 if self.models is None else 10 * n_trees
        own = 3 * n_trees * (1 if self.table is None else self.n_outputs) + 2 * self.n_outputs
        return own + of_models

    def write(self, graph: Graph, leaves: str, rows: str) -> str:
        """Sums over trees: rows x outputs, float64; `leaves` are trees x rows."""
        if self.table is None:
            return self._write_sparse(graph, leaves)
        table = graph.constant(self.table.T.reshape(-1))
        output = graph.constant(len(self.table) * np.arange(self.n_outputs)[:, None], np.int32)
        place = graph.add("Add", graph.add("Unsqueeze", leaves, graph.integers(1)), output)
        votes = graph.take(table, graph.reshape(place, -1))
        shape, votes = graph.add("Shape", place), graph.cast(votes, np.float64)
        if self.models is not None:
            votes = self.models.add(graph, votes, leaves, rows)
        votes = graph.add("Reshape", votes, shape, allowzero=1)
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
        values = forest.leaf_value[leaves][:, None]
        return Votes(leaf_id, 1, values, models=LeafModels.of(forest, leaves))
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
    return Votes(leaf_id, n_outputs, table, models=LeafModels.of(forest, leaves))


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


# Largest whole numbers that float32 holds exactly, in which the operator returns the leaf.
MAX_LEAVES = 2**24
# Nanoseconds of an added product, of one in a matrix product, of a column and of a tree:
# rough estimates from a few forests on one busy machine. They only choose a route.
ADDED_NS, MATRIX_NS, COLUMN_NS, TREE_NS = 2.7, 0.1, 2.0, 80.0
# Bytes of a node in the model, mostly the name of its operator.
NODE_BYTES = 48


@dataclass(frozen=True, eq=False)
class TreesRoute:
    """Columns of all distinct comparisons of a forest, and trees that read one at each split.

    Attributes
    ----------
    splits : Splits
        The splits of the forest.
    terms, lists, bitsets : Terms, DirectionLists and RightSets
        Distinct comparisons of single columns, of combinations and of levels.
    column : ndarray of shape (n_splits,)
        Column that each split reads, counted within its kind.
    """

    splits: Splits
    terms: Terms
    lists: DirectionLists
    bitsets: RightSets
    column: Ints64

    @classmethod
    def of(cls, splits: Splits) -> TreesRoute:
        """Find the distinct comparisons of a forest."""
        column = np.empty(len(splits), np.int64)
        single, combined, levels = _kinds(splits)
        terms, column[single], _ = splits.terms(single, weighted=False)
        lists = splits.directions.chosen(combined)
        sample, column[combined] = lists.distinct()
        bitsets, column[levels] = splits.bitsets().distinct()
        return cls(splits, terms, lists.chosen(sample), bitsets, column)

    @property
    def n_columns(self) -> int:
        """Number of distinct comparisons."""
        return len(self.terms) + len(self.lists.length) + len(self.bitsets)

    @cached_property
    def _n_added(self) -> tuple[int, int]:
        return count_products(self.lists)

    @property
    def n_numbers(self) -> int:
        """Numbers held for a row, besides its features and axes."""
        return 2 * (self._n_added[0] + self.n_columns + self.splits.forest.n_trees)

    @property
    def cost(self) -> float:
        """Estimated nanoseconds for a row of a large batch, without those for axes."""
        added, in_matrices = self._n_added
        columns = ADDED_NS * added + MATRIX_NS * in_matrices + COLUMN_NS * self.n_columns
        return columns + TREE_NS * self.splits.forest.n_trees

    def can_encode(self, leaf_id: npt.NDArray[np.int64]) -> bool:
        """Whether the float32 output of the operator distinguishes all leaves of a tree."""
        right, offset = self.splits.forest.right, self.splits.forest.tree_offset
        last = leaf_id[offset[1:] - 1]  # the last node in preorder is a leaf
        return bool((last - leaf_id[_first_leaves(right, offset[:-1])]).max() < MAX_LEAVES)

    def write(self, graph: Graph, rows: str, leaf_id: npt.NDArray[np.int64]) -> str:
        """Leaf that each row of a block reaches in each tree: trees x rows, int32.

        Parameters
        ----------
        graph : Graph
            Graph to write to.
        rows : str
            The block, rows x features.
        leaf_id : ndarray of shape (n_nodes,)
            Identifier of each leaf, ascending.
        """
        forest = self.splits.forest
        columns, line = self._columns(ColumnBlock(graph, rows, self.splits))
        roots = forest.tree_offset[:-1]
        first_leaf = leaf_id[_first_leaves(forest.right, roots)]
        found = self._operator(graph, columns, line, leaf_id, first_leaf)
        found = graph.cast(graph.add("Transpose", found, perm=[1, 0]), np.int32)
        return graph.add("Add", found, graph.constant(first_leaf[:, None], np.int32))

    def _columns(self, block: ColumnBlock) -> tuple[str, Ints64]:
        """All comparisons of a block, rows x columns, and the column of each split."""
        graph = block.graph
        single, combined, levels = _kinds(self.splits)
        line, parts, n_before = self.column.copy(), [], 0
        if len(single):
            parts.append(block.terms(self.terms))
            n_before += len(self.terms)
        if len(combined):
            values, order = block.directions(self.lists)
            parts.append(values)
            line[combined] = order[line[combined]] + n_before
            n_before += len(order)
        if len(levels):
            parts.append(block.bits(self.bitsets))
            line[levels] += n_before
        whole = graph.add("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]
        return graph.add("Transpose", whole, perm=[1, 0]), line

    def _operator(
        self,
        graph: Graph,
        columns: str,
        line: Ints64,
        leaf_id: npt.NDArray[np.int64],
        first_leaf: npt.NDArray[np.int64],
    ) -> str:
        """The tree operator; tree t writes the number of its leaf, from zero, to target t."""
        forest = self.splits.forest
        graph.weigh(NODE_BYTES * forest.n_nodes)
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offset))
        number = np.arange(forest.n_nodes) - forest.tree_offset[tree]
        leaf = forest.right < 0
        column = np.zeros(forest.n_nodes, np.int64)
        column[self.splits.node] = line
        threshold = np.zeros(forest.n_nodes, np.float32)
        threshold[self.splits.node] = self.splits.threshold
        return graph.add(
            "TreeEnsembleRegressor",
            columns,
            domain=ML_DOMAIN,
            n_targets=forest.n_trees,
            nodes_treeids=tree.tolist(),
            nodes_nodeids=number.tolist(),
            nodes_featureids=column.tolist(),
            nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
            nodes_values=threshold.tolist(),
            nodes_truenodeids=np.where(leaf, 0, number + 1).tolist(),
            nodes_falsenodeids=np.where(leaf, 0, forest.right).tolist(),
            **self._tracks(),
            target_treeids=tree[leaf].tolist(),
            target_nodeids=number[leaf].tolist(),
            target_ids=tree[leaf].tolist(),
            target_weights=(leaf_id - first_leaf[tree])[leaf].astype(np.float32).tolist(),
        )

    def _tracks(self) -> dict[str, Any]:
        """Attributes for the side of sums that are NaN; empty if there are none."""
        if not self.splits.may_overflow:
            return {}
        to_left = np.zeros(self.splits.forest.n_nodes, np.int64)
        to_left[self.splits.node] = self.splits.missing_left
        return {"nodes_missing_value_tracks_true": to_left.tolist()}


def _kinds(splits: Splits) -> tuple[Ints64, Ints64, Ints64]:
    """Positions of splits on single columns, on combinations and by levels."""
    levels = splits.kind == LEVELS
    alone = splits.directions.length == 1
    return (
        np.flatnonzero(alone & ~levels),
        np.flatnonzero(~alone),
        np.flatnonzero(levels),
    )


def _first_leaves(
    right: npt.NDArray[np.int32], roots: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The first leaf of each tree in preorder, at the end of its leftmost path."""
    leaves = np.flatnonzero(right < 0)
    return leaves[np.searchsorted(leaves, roots)]


# Finds leaves by a walk of all rows through all trees at once, in a loop of the graph.
#
# A walker is a row in a tree. The table that walkers step through has one line for each `width`
# entries of a split: a longer direction takes several lines, and a walker carries the partial sum
# from line to line. Leaves have no lines; a walker in leaf i is at ~i. Every few steps walkers in
# leaves are removed.

# Entries of a line. Wide lines waste reads on short directions, narrow ones take more steps.
WIDEST = 32
# Cost of a step besides its entries, in units of entries.
STEP_COST = 6
# Nanoseconds of an entry: a rough estimate, as those of the trees.
STEP_NS = 3.0
# Steps between two removals of walkers in leaves.
STEPS = 4


@dataclass(frozen=True, eq=False)
class WalkRoute:
    """The table of a walk.

    Attributes
    ----------
    splits : Splits
        The splits of the forest.
    terms : Terms
        Columns that entries read.
    column, weight : ndarray of shape (n_lines, width)
        Entries of each line.
    weighted : bool
        Whether any weight differs from one.
    first, last : ndarray of shape (n_splits,)
        Lines of each split.
    """

    splits: Splits
    terms: Terms
    column: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float32]
    weighted: bool
    first: Ints64
    last: Ints64

    @classmethod
    def of(cls, splits: Splits) -> WalkRoute:
        """Make the table of a forest with at least one split."""
        every = np.arange(len(splits))
        weighted = False
        terms, column, weight = splits.terms(every, weighted)
        n_columns = len(np.unique(splits.directions.source))
        if len(terms) > 4 * n_columns + 64:  # nearly all entries have distinct weights
            weighted = True
            terms, column, weight = splits.terms(every, weighted)
        length = splits.directions.length
        width = _best_width(length)
        n_lines = -(-length // width)
        first = np.cumsum(n_lines) - n_lines
        if np.any(length % width):
            terms = _with_zero(terms)
        shape = (int(n_lines.sum()), width)
        columns = np.full(shape, len(terms) - 1, np.int32)
        weights = np.zeros(shape, np.float32)
        owner = np.repeat(every, length)
        place = np.arange(len(owner)) - splits.directions.start[owner]
        columns[first[owner] + place // width, place % width] = column
        weights[first[owner] + place // width, place % width] = weight
        return cls(splits, terms, columns, weights, weighted, first, first + n_lines - 1)

    @property
    def n_lines(self) -> int:
        """Number of lines of the table."""
        return len(self.column)

    @property
    def width(self) -> int:
        """Number of entries of a line."""
        return int(self.column.shape[1])

    @property
    def n_numbers(self) -> int:
        """Numbers held for a row, besides its features and axes."""
        per_walker = 3 * self.width + 8
        return self.splits.forest.n_trees * per_walker + 2 * len(self.terms)

    @property
    def cost(self) -> float:
        """Estimated nanoseconds for a row of a large batch, without those for axes."""
        forest = self.splits.forest
        n_steps = forest.depth[forest.right < 0].mean() * self.n_lines / len(self.splits)
        per_tree = n_steps * (STEP_COST + self.width) * STEP_NS
        return float(forest.n_trees * per_tree + len(self.terms))

    def write(self, graph: Graph, rows: str, leaf_id: npt.NDArray[np.int64]) -> str:
        """Leaf that each row of a block reaches in each tree: trees x rows, int32.

        Parameters
        ----------
        graph : Graph
            Graph to write to.
        rows : str
            The block, rows x features.
        leaf_id : ndarray of shape (n_nodes,)
            Identifier of each leaf.
        """
        block = ColumnBlock(graph, rows, self.splits)
        values = graph.add("Transpose", block.terms(self.terms), perm=[1, 0])
        values = graph.reshape(values, -1)
        roots = self._places(leaf_id)[self.splits.forest.tree_offset[:-1]]
        n_rows = graph.length(rows)
        shape = graph.add("Concat", graph.integers(len(roots)), n_rows, axis=0)
        start = graph.add("Expand", graph.constant(roots[:, None], np.int32), shape)
        row = _count_up(graph, n_rows, len(self.terms))
        offset = graph.add("Expand", row, shape)
        arrived = _Stepper(graph, self, values, leaf_id).walk(start, offset)
        leaves = graph.add("Sub", graph.constant(-1, np.int32), arrived)
        return graph.reshape(leaves, len(roots), -1)

    def children(self, leaf_id: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Next position of a walker from each line: to the right, to the left."""
        places = self._places(leaf_id)
        following = np.arange(1, self.n_lines + 1)
        children = np.stack((following, following), axis=1)
        forest, node = self.splits.forest, self.splits.node
        first_node = forest.tree_offset[self.splits.tree]
        children[self.last, 0] = places[first_node + forest.right[node]]
        children[self.last, 1] = places[node + 1]
        return children.astype(np.int32)

    def of_last_lines(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Values of splits, on their last lines; zero on others."""
        lines = np.zeros(self.n_lines, values.dtype)
        lines[self.last] = values
        return lines

    def _places(self, leaf_id: npt.NDArray[np.int64]) -> Ints64:
        """Position of a walker at each node: the first line of a split, or ~leaf."""
        places = ~leaf_id
        places[self.splits.node] = self.first
        return places


class _Stepper:
    """Writes steps of walkers, whose tables are constants of the graph."""

    def __init__(
        self, graph: Graph, route: WalkRoute, values: str, leaf_id: npt.NDArray[np.int64]
    ) -> None:
        self.values = values
        self.route = route
        self.column = graph.constant(route.column.T.reshape(-1))
        self.weight = graph.constant(route.weight.T.reshape(-1)) if route.weighted else ""
        self.entries = graph.constant(route.n_lines * np.arange(route.width)[:, None], np.int32)
        self.threshold = graph.constant(route.of_last_lines(route.splits.threshold))
        ends = np.where(route.splits.missing_left, np.float32(-np.inf), np.float32(np.inf))
        overflows = route.splits.may_overflow
        self.no_number = graph.constant(route.of_last_lines(ends)) if overflows else ""
        self.children = graph.constant(route.children(leaf_id).reshape(-1))
        self.graph = graph
        continues = np.ones(route.n_lines, np.bool_)
        continues[route.last] = False
        self.continues = graph.constant(continues) if continues.any() else ""
        bitsets, which = route.splits.bitsets().distinct()
        self.words = graph.constant(bitsets.words) if len(bitsets) else ""
        self.first_word = graph.constant(self._first_words(bitsets, which)) if self.words else ""

    def _first_words(self, bitsets: RightSets, which: Ints64) -> npt.NDArray[np.int32]:
        """First word of the bitset of each line, -1 for none."""
        first = np.full(self.route.n_lines, -1, np.int32)
        first[self.route.last[self.route.splits.kind == LEVELS]] = bitsets.start[which]
        return first

    def walk(self, start: str, offset: str) -> str:
        """Final positions of walkers; `offset` is where the values of their rows begin."""
        graph = self.graph
        places, offset = graph.reshape(start, -1), graph.reshape(offset, -1)
        everyone = _count_up(graph, graph.length(places), 1)
        state: list[tuple[str, npt.DTypeLike]] = [
            (places, np.int32),
            (everyone, np.int32),
            (places, np.int32),
            (offset, np.int32),
        ]
        if self.continues:
            zero = graph.constant(np.float32(0))
            nothing = graph.add("Expand", zero, graph.add("Shape", places))
            state.append((nothing, np.float32))
        most = int(self.route.splits.forest.depth.max()) * int(
            1 + (self.route.last - self.route.first).max()
        )
        trips = graph.constant(most // STEPS + 2, np.int64)
        arrived, *_ = graph.loop(trips, state, self._trip)
        return arrived

    def _trip(self, graph: Graph, _trip: str, state: list[str]) -> tuple[str, list[str], list[str]]:
        arrived, walkers, places, offset, *carried = state
        for _ in range(STEPS):
            places, carried = self._step(graph, places, offset, carried)
        arrived = graph.add("ScatterElements", arrived, walkers, places, axis=0)
        walking = graph.add("GreaterOrEqual", places, graph.constant(0, np.int32))
        still = graph.reshape(graph.add("NonZero", walking), -1)
        kept = [graph.take(tensor, still) for tensor in (walkers, places, offset, *carried)]
        n_walking = graph.scalar(graph.length(kept[0]))
        going = graph.add("Greater", n_walking, graph.constant(0, np.int64))
        return going, [arrived, *kept], []

    def _step(
        self, graph: Graph, places: str, offset: str, carried: list[str]
    ) -> tuple[str, list[str]]:
        """Move one line further; walkers in leaves read line 0 and stay."""
        line = graph.add("Max", places, graph.constant(0, np.int32))
        value = self._value(graph, line, offset, carried)
        compared = self._with_levels(graph, line, self._as_number(graph, line, value))
        threshold = graph.take(self.threshold, line)
        goes_left = graph.cast(graph.add("LessOrEqual", compared, threshold), np.int32)
        child = graph.add("Add", graph.add("Add", line, line), goes_left)
        next_place = graph.take(self.children, child)
        in_leaf = graph.add("Less", places, graph.constant(0, np.int32))
        places = graph.add("Where", in_leaf, places, next_place)
        if not carried:
            return places, carried
        on_its_way = graph.take(self.continues, line)
        return places, [graph.add("Where", on_its_way, value, graph.constant(np.float32(0)))]

    def _value(self, graph: Graph, line: str, offset: str, carried: list[str]) -> str:
        """Carried sum plus the entries of the line, added in their order."""
        entry = graph.reshape(graph.add("Add", line, self.entries), -1)
        column = graph.reshape(graph.take(self.column, entry), self.route.width, -1)
        place = graph.reshape(graph.add("Add", column, offset), -1)
        values = graph.take(self.values, place)
        if self.weight:
            values = graph.add("Mul", values, graph.take(self.weight, entry))
        if carried:
            values = graph.add("Concat", carried[0], values, axis=0)
        elif self.route.width == 1:
            return values
        return graph.sum_first_axis(graph.reshape(values, self.route.width + len(carried), -1))

    def _as_number(self, graph: Graph, line: str, value: str) -> str:
        """Replace NaN by the infinity that sends it to its side."""
        if not self.no_number:
            return value
        ends = graph.take(self.no_number, line)
        return graph.add("Where", graph.add("IsNaN", value), ends, value)

    def _with_levels(self, graph: Graph, line: str, value: str) -> str:
        """The value, or the level's bit where the split is by levels."""
        if not self.words:
            return value
        first = graph.take(self.first_word, line)
        by_levels = graph.add("GreaterOrEqual", first, graph.constant(0, np.int32))
        code = graph.add("Where", by_levels, value, graph.constant(np.float32(0)))
        first = graph.add("Max", first, graph.constant(0, np.int32))
        bit = level_bits(graph, self.words, first, code)
        return graph.add("Where", by_levels, bit, value)


def _best_width(length: Ints64) -> int:
    """The width of the lowest cost over all splits."""
    lengths, count = np.unique(length, return_counts=True)
    widths = range(1, min(WIDEST, int(lengths[-1])) + 1)
    costs = [float(np.dot(-(-lengths // width), count)) * (STEP_COST + width) for width in widths]
    return widths[int(np.argmin(costs))]


def _with_zero(terms: Terms) -> Terms:
    """Terms followed by one that is zero, for padded entries."""
    zero = np.zeros(1, np.float32)
    return Terms(
        np.append(terms.source, 0),
        np.concatenate((terms.factor, zero)),
        np.concatenate((terms.fill, zero)),
    )


def _count_up(graph: Graph, length: str, step: int) -> str:
    """0, step, 2 step, ... as int32; `length` is a vector of one int64."""
    zero = graph.constant(0, np.int64)
    counted = graph.cast(
        graph.add("Range", zero, graph.scalar(length), graph.constant(1, np.int64)), np.int32
    )
    return graph.add("Mul", counted, graph.constant(step, np.int32))


Route = Literal["auto", "trees", "walk"]

# Numbers that a block may hold at a time, 8 to 16 MB.
BLOCK_SIZE = 2**21
# For single rows, trees took a seventh to a half of the time of a walk where both were equal in
# batches, so they may be somewhat slower in batches.
TREES_FAVOUR = 1.25
# onnxruntime reads trees of a model by recursion: trees of about 10 000 levels end
# the process with a stack of 8 MB, trees of about 800 with 512 kB.
MAX_LEVELS = 200


class PreparedRoute(Protocol):
    """A route, prepared for one forest."""

    @property
    def n_numbers(self) -> int:
        """Numbers held for a row, besides its features and axes."""
        ...

    @property
    def cost(self) -> float:
        """Estimated nanoseconds for a row of a large batch, without those for axes."""
        ...

    def write(self, graph: Graph, rows: str, leaf_id: npt.NDArray[np.int64]) -> str:
        """Leaf that each row of a block reaches in each tree: trees x rows, int32."""
        ...


def write_sums(graph: Graph, rows: str, forest: FlatForest, votes: Votes, route: Route) -> str:
    """Sums over trees of predictions of leaves: rows x outputs, float64.

    Parameters
    ----------
    graph : Graph
        Graph to write to.
    rows : str
        Rows x features, float32.
    forest : FlatForest
        The trees.
    votes : Votes
        Predictions of the leaves.
    route : {"auto", "trees", "walk"}
        Route to the leaves.
    """
    way = _choose(forest, votes, route)
    n_numbers = way.n_numbers + votes.n_numbers(forest.n_trees) + _n_columns(forest)
    n_block = max(1, BLOCK_SIZE // n_numbers)
    n_rows = graph.length(rows)
    most = graph.integers(n_block - 1)
    n_blocks = graph.add("Div", graph.add("Add", n_rows, most), graph.integers(n_block))
    n_blocks = graph.add("Max", n_blocks, graph.integers(1))
    filled = graph.add("Sub", graph.add("Add", n_rows, n_blocks), graph.integers(1))
    height = graph.scalar(graph.add("Div", filled, n_blocks))
    last_row = graph.add("Sub", n_rows, graph.integers(1))

    def block(inner: Graph, number: str, _: list[str]) -> tuple[str, list[str], list[str]]:
        first = inner.add("Mul", number, height)
        end = inner.add("Add", first, height)
        chosen = inner.add("Range", first, end, inner.constant(1, np.int64))
        chosen = inner.add("Min", chosen, last_row)  # the last block is padded by the last row
        some = inner.add("Gather", rows, chosen, axis=0)
        leaves = way.write(inner, some, votes.leaf_id)
        return inner.constant(True), [], [votes.write(inner, leaves, some)]

    (sums,) = graph.loop(graph.scalar(n_blocks), [], block, [np.float64])
    sums = graph.reshape(sums, -1, votes.n_outputs)
    return graph.add("Slice", sums, graph.integers(0), n_rows, graph.integers(0))


class RootsRoute:
    """Route of trees without splits, whose rows are at their leaf."""

    cost = 0.0

    def __init__(self, forest: FlatForest) -> None:
        self.forest = forest
        self.n_numbers = forest.n_trees

    def write(self, graph: Graph, rows: str, leaf_id: npt.NDArray[np.int64]) -> str:
        roots = graph.constant(leaf_id[self.forest.tree_offset[:-1], None], np.int32)
        count = graph.add("Concat", graph.integers(1), graph.length(rows), axis=0)
        return graph.add("Expand", roots, count)


def _choose(forest: FlatForest, votes: Votes, route: Route) -> PreparedRoute:
    splits = Splits(forest)
    if len(splits) == 0:
        return RootsRoute(forest)
    if route == "walk":
        return WalkRoute.of(splits)
    is_deep = int(forest.depth.max()) > MAX_LEVELS
    if route == "trees":
        _refuse_deep(forest, is_deep)
        return TreesRoute.of(splits)
    if is_deep:
        return WalkRoute.of(splits)
    trees = TreesRoute.of(splits)
    walk = WalkRoute.of(splits)
    is_fast = trees.cost <= TREES_FAVOUR * walk.cost
    return trees if is_fast and trees.can_encode(votes.leaf_id) else walk


def _refuse_deep(forest: FlatForest, is_deep: bool) -> None:
    if is_deep:
        required = f'"auto" or "walk" for trees of more than {MAX_LEVELS} levels'
        n_levels = int(forest.depth.max())
        got = f'"trees" for one of {n_levels}, which ends the process that reads the model'
        raise ValueError(f"route must be {required}; got {got}. Leave it out.")


def _n_columns(forest: FlatForest) -> int:
    """Numbers held for the features and axes of a row, while axes are added up."""
    added, _ = count_products(Splits(forest).axes)
    return 2 * (forest.n_features + added + int(forest.rotation_offset[-1]))
