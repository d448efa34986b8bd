"""The splits of a forest as arrays from which graphs are made; independent of ONNX.

The columns that a split can refer to are the features and, after them, the axes of all trees. A
split by levels becomes a comparison like any other: a bit that is one for levels that go right is
at most one half for those that go left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s, Ints64
from bevel.data.encoding import MAX_STORED
from bevel.export.onnx.graph import Graph
from bevel.forest.flat_forest import CATEGORY_NODE, FlatForest

__all__ = [
    "COMBINED",
    "LEVELS",
    "ColumnBlock",
    "DirectionLists",
    "RightSets",
    "Splits",
    "Terms",
    "count_products",
    "flat_places",
    "level_bits",
]

# Treatment of missing values: as the median, to the left, to the right, or as a level.
COMBINED, TO_LEFT, TO_RIGHT, LEVELS = range(4)
BITS_THRESHOLD = 0.5


@dataclass(frozen=True, eq=False)
class DirectionLists:
    """Directions of several entries each.

    Attributes
    ----------
    start : ndarray of shape (n + 1,)
        Offsets of the entries of each direction.
    source, weight : ndarray
        Columns and coefficients.
    """

    start: Ints64
    source: Ints64
    weight: Float32s

    @property
    def length(self) -> Ints64:
        """Entries of each direction."""
        return np.diff(self.start)

    def chosen(self, which: npt.NDArray[Any]) -> DirectionLists:
        """Some of the directions, in the order given."""
        length = self.length[which]
        places = flat_places(self.start[:-1][which], length)
        start = np.concatenate(([0], np.cumsum(length)))
        return DirectionLists(start, self.source[places], self.weight[places])

    def reach(self, of_columns: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Upper bound on the size of each direction on columns of these sizes."""
        owner = np.repeat(np.arange(len(self.length)), self.length)
        size = np.abs(self.weight.astype(np.float64)) * of_columns[self.source]
        return np.bincount(owner, size, minlength=len(self.length)).astype(np.float64)

    def distinct(self) -> tuple[Ints64, Ints64]:
        """A representative of each distinct direction, and the index of each among them."""
        keys = (self.source.astype(np.uint64) << np.uint64(32)) | _bits(self.weight)
        return _distinct_lists(self.start, keys)


@dataclass(frozen=True, eq=False)
class Terms:
    """Columns multiplied beforehand, with missing values replaced.

    Attributes
    ----------
    source : ndarray of shape (n,)
        Column of each term.
    factor : ndarray of float32
        Multiplier of the column.
    fill : ndarray of float32
        Replacement of a missing product: that of the median, or an infinity that sends it left or
        right.
    """

    source: Ints64
    factor: Float32s
    fill: Float32s

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, eq=False)
class RightSets:
    """Levels that go right, a bit for each, followed by a bit for unseen levels.

    Attributes
    ----------
    feature : ndarray of shape (n,)
        Nominal column of each set.
    start : ndarray of shape (n + 1,)
        Offsets of the words of each set.
    words : ndarray of uint32
        Bits of the sets, lowest first.
    """

    feature: Ints64
    start: Ints64
    words: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.feature)

    def distinct(self) -> tuple[RightSets, Ints64]:
        """The distinct sets, and the index of each set among them."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.start))
        keys = (self.feature[owner].astype(np.uint64) << np.uint64(32)) | self.words
        sample, which = _distinct_lists(self.start, keys)
        length = np.diff(self.start)[sample]
        words = self.words[flat_places(self.start[sample], length)]
        start = np.concatenate(([0], np.cumsum(length)))
        return RightSets(self.feature[sample], start, words), which


@dataclass(frozen=True, eq=False)
class Splits:
    """The splits of a forest, in the order of its nodes."""

    forest: FlatForest

    @cached_property
    def node(self) -> Ints64:
        """Node of each split."""
        return np.flatnonzero(self.forest.right >= 0).astype(np.int64)

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def tree(self) -> Ints64:
        """The tree of each split."""
        return np.searchsorted(self.forest.tree_offset, self.node, side="right") - 1

    @cached_property
    def threshold(self) -> Float32s:
        """Threshold of each split."""
        return np.where(
            self.kind == LEVELS, np.float32(BITS_THRESHOLD), self.forest.threshold[self.node]
        )

    @cached_property
    def directions(self) -> DirectionLists:
        """Entries of each split, with axes of trees numbered over the forest."""
        forest = self.forest
        first = forest.entry_offset[self.node]
        length = forest.entry_offset[self.node + 1] - first
        places = flat_places(first, length)
        source = forest.entry_index[places].astype(np.int64)
        tree = np.repeat(self.tree, length)
        source += np.where(source >= forest.n_features, forest.rotation_offset[tree], 0)
        weight = np.where(np.repeat(self._by_levels, length), 1.0, forest.entry_weight[places])
        start = np.concatenate(([0], np.cumsum(length)))
        return DirectionLists(start, source, weight.astype(np.float32))

    @cached_property
    def kind(self) -> npt.NDArray[np.uint8]:
        """COMBINED, TO_LEFT, TO_RIGHT or LEVELS."""
        alone = self.directions.length == 1
        on_feature = self.directions.source[self.directions.start[:-1]] < self.forest.n_features
        kind = np.where(self.missing_left, TO_LEFT, TO_RIGHT)
        kind = np.where(alone & on_feature, kind, COMBINED)
        return np.where(self._by_levels, LEVELS, kind).astype(np.uint8)

    @property
    def _by_levels(self) -> npt.NDArray[np.bool_]:
        return (self.forest.flags[self.node] & CATEGORY_NODE) > 0

    @cached_property
    def axes(self) -> DirectionLists:
        """Axes of all trees."""
        forest = self.forest
        return DirectionLists(
            forest.rotation_entry_offset,
            forest.rotation_index.astype(np.int64),
            forest.rotation_weight,
        )

    @cached_property
    def missing_left(self) -> npt.NDArray[np.bool_]:
        """Whether NaN goes left."""
        return (self.forest.flags[self.node] & 1) > 0

    @cached_property
    def may_overflow(self) -> bool:
        """Whether a sum may overflow float32 to NaN on a row that `predict` accepts."""
        of_axes = self.axes.reach(np.ones(self.forest.n_features))
        column = np.concatenate((np.ones(self.forest.n_features), of_axes))
        reach = np.concatenate((of_axes, self.directions.reach(column)))
        return bool(reach.max(initial=0.0) * MAX_STORED > np.finfo(np.float32).max)

    def bitsets(self) -> RightSets:
        """The sets of the splits by levels, in their order."""
        forest, node = self.forest, self.node[self.kind == LEVELS]
        feature = forest.entry_index[forest.entry_offset[node]].astype(np.int64)
        n_levels = forest.levels[feature].astype(np.int64)
        length = n_levels // 32 + 1
        start = np.concatenate(([0], np.cumsum(length)))
        owner = np.repeat(np.arange(len(node)), length)
        word = flat_places(np.zeros_like(length), length)
        old = forest.bits_offset[forest.bits_index[node]][owner] + word
        # A column whose levels fill their words needs another word for unseen levels.
        has_old = word < (n_levels[owner] + 31) // 32
        left = np.where(has_old, forest.bits[np.where(has_old, old, 0)], np.uint32(0))
        last = word == n_levels[owner] // 32
        unseen = np.uint32(1) << (n_levels[owner] % 32).astype(np.uint32)
        seen = np.where(last, unseen - np.uint32(1), np.uint32(0xFFFFFFFF))
        unseen_right = last & ((forest.flags[node][owner] & 1) == 0)
        words = (~left & seen) | np.where(unseen_right, unseen, np.uint32(0))
        return RightSets(feature, start, words.astype(np.uint32))

    def terms(self, which: npt.NDArray[Any], weighted: bool) -> tuple[Terms, Ints64, Float32s]:
        """Columns that the entries of some splits read; the column and the weight of each entry.

        Parameters
        ----------
        which : ndarray of int
            Positions of the splits.
        weighted : bool
            Whether entries keep their weights; otherwise columns are multiplied by them, one
            column for each distinct product, and all weights are one.
        """
        lists = self.directions.chosen(which)
        kind = np.repeat(self.kind[which], lists.length).astype(np.int64)
        # Zero times an infinity would lose the side of a missing value.
        keeps = weighted & ((kind == COMBINED) | (lists.weight != 0.0))
        factor = np.where(keeps, np.float32(1.0), lists.weight)
        weight = np.where(keeps, lists.weight, np.float32(1.0))
        turned = (weight < 0.0) & ((kind == TO_LEFT) | (kind == TO_RIGHT))
        kind = np.where(turned, TO_LEFT + TO_RIGHT - kind, kind)
        key = ((lists.source * 4 + kind).astype(np.uint64) << np.uint64(32)) | _bits(factor)
        distinct, column = np.unique(key, return_inverse=True)
        source, kind = np.divmod((distinct >> np.uint64(32)).astype(np.int64), 4)
        factor = (distinct & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
        return Terms(source, factor, self._fill(source, factor, kind)), column, weight

    def _fill(self, source: Ints64, factor: Float32s, kind: Ints64) -> Float32s:
        # An axis is never missing; where its sum is NaN it stays NaN.
        medians = np.append(self.forest.medians, np.float32(np.nan))
        with np.errstate(over="ignore"):  # sums of splits may overflow too
            of_median = factor * medians[np.minimum(source, self.forest.n_features)]
        ends = np.where(kind == TO_LEFT, np.float32(-np.inf), np.float32(np.inf))
        return np.where((kind == TO_LEFT) | (kind == TO_RIGHT), ends, of_median).astype(np.float32)


def flat_places(first: npt.NDArray[Any], length: npt.NDArray[Any]) -> Ints64:
    """Indices of several ranges, one after another: first, first + 1, ... of each."""
    start = np.cumsum(length) - length
    places: Ints64 = np.repeat(first - start, length).astype(np.int64)
    return places + np.arange(len(places))


def _bits(values: Float32s) -> npt.NDArray[np.uint64]:
    return np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)


def _distinct_lists(start: Ints64, keys: npt.NDArray[np.uint64]) -> tuple[Ints64, Ints64]:
    """A representative of each distinct list, and the index of each list; by a verified hash."""
    length = np.diff(start)
    if len(length) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rng = np.random.default_rng(0)
    longest = int(length.max())
    odd = rng.integers(0, 2**63, size=longest, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    place = flat_places(np.zeros_like(length), length)
    mixed = (keys ^ (keys >> np.uint64(31))) * odd[place]
    mixed ^= mixed >> np.uint64(29)
    hashed = np.add.reduceat(mixed, start[:-1]) + length.astype(np.uint64)
    _, sample, which = np.unique(hashed, return_index=True, return_inverse=True)
    like = sample[which]
    alike = length == length[like]
    if alike.all():
        alike = np.array(keys[flat_places(start[like], length)] == keys)
    if not alike.all():  # hash collision: keep all lists apart
        every = np.arange(len(length), dtype=np.int64)
        return every, every
    return sample.astype(np.int64), which.astype(np.int64)


# Writes the columns that splits compare: features, products, combinations and bits of levels.
#
# Inside a block of rows a column is one line of a matrix (columns x rows), so that a column is read
# and multiplied as a whole.

# From this length and number on, directions with common features use a matrix product.
MATRIX_LENGTH = 8


class ColumnBlock:
    """The columns of a block of rows, written on first use.

    Parameters
    ----------
    graph : Graph
        Graph to write to.
    rows : str
        The block, rows x features, in float32.
    splits : Splits
        Splits that read the columns.
    """

    def __init__(self, graph: Graph, rows: str, splits: Splits) -> None:
        self.graph = graph
        self.splits = splits
        self.features = graph.add("Transpose", rows, perm=[1, 0])
        self._filled = ""
        self._axes = ""

    def terms(self, terms: Terms) -> str:
        """Products of single columns, in one row each."""
        graph = self.graph
        values = graph.add("Gather", self._raw(terms), graph.constant(terms.source, np.int32))
        if not np.all(terms.factor == 1.0):
            values = graph.add("Mul", values, graph.constant(terms.factor[:, None]))
        missing = graph.add("IsNaN", values)
        return graph.add("Where", missing, graph.constant(terms.fill[:, None]), values)

    def directions(self, lists: DirectionLists) -> tuple[str, Ints64]:
        """Combinations of columns, and the row of each."""
        uses_axes = bool(np.any(lists.source >= self.splits.forest.n_features))
        base = self._with_axes(self._fill()) if uses_axes else self._fill()
        return _combine(self.graph, base, lists)

    def bits(self, bitsets: RightSets) -> str:
        """One for rows whose level goes right, else zero; in one row for each set."""
        graph = self.graph
        code = graph.add("Gather", self.features, graph.constant(bitsets.feature, np.int32))
        first = graph.constant(bitsets.start[:-1, None], np.int32)
        bits = level_bits(graph, graph.constant(bitsets.words), first, code)
        return graph.reshape(bits, len(bitsets), -1)

    def _raw(self, terms: Terms) -> str:
        uses_axes = bool(np.any(terms.source >= self.splits.forest.n_features))
        return self._with_axes(self.features) if uses_axes else self.features

    def _fill(self) -> str:
        """Features with medians for missing values."""
        if not self._filled:
            graph, medians = self.graph, self.splits.forest.medians
            missing = graph.add("IsNaN", self.features)
            filled = graph.constant(medians[:, None])
            self._filled = graph.add("Where", missing, filled, self.features)
        return self._filled

    def _with_axes(self, features: str) -> str:
        graph = self.graph
        if not self._axes:
            axes, line = _combine(graph, self._fill(), self.splits.axes)
            if not np.array_equal(line, np.arange(len(line))):
                axes = graph.add("Gather", axes, graph.constant(line, np.int32))
            self._axes = axes
        return graph.add("Concat", features, self._axes, axis=0)


def level_bits(graph: Graph, words: str, first: str, code: str) -> str:
    """Bits of level codes, as a vector of floats.

    Parameters
    ----------
    graph : Graph
        Graph to write to.
    words : str
        All bitsets, uint32.
    first : str
        First word of the set that each code belongs to, int32.
    code : str
        Codes, as floats.
    """
    code = graph.cast(code, np.int32)
    word_size = graph.constant(32, np.int32)
    place = graph.add("Add", first, graph.add("Div", code, word_size))
    word = graph.take(words, graph.reshape(place, -1))
    shift = graph.cast(graph.reshape(graph.add("Mod", code, word_size), -1), np.uint32)
    shifted = graph.add("BitShift", word, shift, direction="RIGHT")
    return graph.cast(graph.add("Mod", shifted, graph.constant(2, np.uint32)), np.float32)


def count_products(lists: DirectionLists) -> tuple[int, int]:
    """Products of a row that some directions add one by one, and by matrix products."""
    if len(lists.length) == 0:
        return 0, 0
    groups = [_matrices(lists, group)[0] for group in _groups(lists)]
    in_matrices = sum(index.size for index in groups if _is_shared(index))
    return sum(index.size for index in groups) - in_matrices, in_matrices


def _combine(graph: Graph, base: str, lists: DirectionLists) -> tuple[str, Ints64]:
    """Values of directions on the rows of `base`, and the row of each among the results."""
    groups = _groups(lists)
    values = [_combine_alike(graph, base, *_matrices(lists, group)) for group in groups]
    line = np.empty(len(lists.length), np.int64)
    line[np.concatenate(groups)] = np.arange(len(line))
    return (graph.add("Concat", *values, axis=0) if len(values) > 1 else values[0]), line


def _combine_alike(
    graph: Graph, base: str, index: npt.NDArray[np.int32], weight: npt.NDArray[np.float32]
) -> str:
    """Values of directions of one length; `index` and `weight` are length x directions."""
    if _is_shared(index):
        features = graph.add("Gather", base, graph.constant(index[:, 0]))
        return graph.add("MatMul", graph.constant(np.ascontiguousarray(weight.T)), features)
    values = graph.add("Gather", base, graph.constant(index))
    products = graph.add("Mul", values, graph.constant(weight[:, :, None]))
    return graph.sum_first_axis(products)


def _is_shared(index: npt.NDArray[np.int32]) -> bool:
    """Whether long directions all combine the same features, for which a matrix product is faster.

    It may add them in another order: their values are then only equal up to rounding.
    """
    return min(index.shape) >= MATRIX_LENGTH and bool(np.all(index == index[:, :1]))


def _groups(lists: DirectionLists) -> list[Ints64]:
    """Directions that share their features, and the others by length, with at most a third of
    padding in each group."""
    _, features = DirectionLists(lists.start, lists.source, np.ones_like(lists.weight)).distinct()
    n_sharing = np.bincount(features)[features]
    shared = (lists.length >= MATRIX_LENGTH) & (n_sharing >= MATRIX_LENGTH)
    key = np.where(shared, -1 - features, _rounded(lists.length))
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def _rounded(length: Ints64) -> Ints64:
    """The next of 1, 2, 3, 4, 6, 8, 12, 16, ...; frequent long lengths are unchanged."""
    if len(np.unique(length)) <= 4:
        return length
    power = 2 ** np.ceil(np.log2(np.maximum(length, 1))).astype(np.int64)
    return np.where((length <= power * 3 // 4) & (power >= 4), power * 3 // 4, power)


def _matrices(
    lists: DirectionLists, group: Ints64
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Entries of a group of directions, length x directions, padded by weights of zero."""
    chosen = lists.chosen(group)
    height = max(1, int(chosen.length.max()))
    index = np.zeros((height, len(group)), np.int32)
    weight = np.zeros((height, len(group)), np.float32)
    owner = np.repeat(np.arange(len(group)), chosen.length)
    place = np.arange(len(owner)) - chosen.start[owner]
    index[place, owner] = chosen.source
    weight[place, owner] = chosen.weight
    return index, weight
