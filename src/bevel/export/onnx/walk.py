"""Finds leaves by a walk of all rows through all trees at once, in a loop of the graph.

A walker is a row in a tree. The table that walkers step through has one line for each `width`
entries of a split: a longer direction takes several lines, and a walker carries the partial sum
from line to line. Leaves have no lines; a walker in leaf i is at ~i. Every few steps walkers in
leaves are removed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Ints64
from bevel.export.onnx.columns import ColumnBlock, level_bits
from bevel.export.onnx.graph import Graph
from bevel.export.onnx.splits import LEVELS, RightSets, Splits, Terms

__all__ = ["WalkRoute"]

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
