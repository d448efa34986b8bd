"""Writes the columns that splits compare: features, products, combinations and bits of levels.

Inside a block of rows a column is one line of a matrix (columns x rows), so that a column is read
and multiplied as a whole.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bevel._types import Ints64
from bevel.export.onnx.graph import Graph
from bevel.export.onnx.splits import DirectionLists, RightSets, Splits, Terms

__all__ = ["ColumnBlock", "count_products", "level_bits"]

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
