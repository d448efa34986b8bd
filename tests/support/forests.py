"""Small problems, direct calls of the core, and a plain reader of the flat forest that is written
from its description, not from the code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bevel import _core

MISSING_LEFT = 1
CATEGORY_NODE = 2
SIMD_LEVELS = ("baseline", "avx2", "avx512")


@dataclass(frozen=True)
class Problem:
    """Training rows as the core takes them."""

    X: np.ndarray  # float32, Fortran order
    target: np.ndarray  # int32 classes or float64 targets
    n_classes: int  # 0: regression
    weights: np.ndarray | None = None
    levels: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    medians: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))
    level_terms: tuple[tuple[int, int], ...] = ()  # nominal feature and level, ascending

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @property
    def row_weights(self) -> np.ndarray:
        return np.ones(self.n_rows) if self.weights is None else self.weights

    def rows(self, chosen: np.ndarray) -> Problem:
        """The same problem with some of the rows, in the order given."""
        weights = None if self.weights is None else self.weights[chosen]
        X = np.asfortranarray(self.X[chosen])
        return replace(self, X=X, target=self.target[chosen], weights=weights)


def problem(
    X: Any,
    y: Any,
    n_classes: int | None = None,
    weights: Any = None,
    levels: Any = None,
) -> Problem:
    """Make a problem; integer targets are classes, others are real."""
    X = np.asfortranarray(X, dtype=np.float32)
    y = np.asarray(y)
    if n_classes is None:
        n_classes = int(y.max()) + 1 if y.dtype.kind in "iub" else 0
    levels = np.zeros(X.shape[1], np.int32) if levels is None else np.asarray(levels, np.int32)
    return Problem(
        X=X,
        target=y.astype(np.int32 if n_classes else np.float64),
        n_classes=n_classes,
        weights=None if weights is None else np.asarray(weights, np.float64),
        levels=levels,
        medians=column_medians(X),
    )


def column_medians(X: np.ndarray) -> np.ndarray:
    columns = (column[~np.isnan(column)] for column in X.T)
    return np.array([np.median(c) if c.size else 0.0 for c in columns], np.float32)


def options(*families: tuple[Any, ...] | _core.Family, **values: Any) -> _core.Options:
    """Options of the core: families as tuples of arguments, everything else by name.

    After the numbers of draws and entries, a tuple has pairs of names and values of settings.
    """
    result = _core.Options()
    result.families = [
        f if isinstance(f, _core.Family) else _core.Family(*f[:3], **dict(f[3:])) for f in families
    ]
    for name, value in values.items():
        setattr(result, name, value)
    return result


def training_data(data: Problem) -> _core.TrainingData:
    """A problem as the core reads it: level terms are further columns of 0 and 1."""
    of_levels = [data.X[:, feature] == level for feature, level in data.level_terms]
    X = np.asfortranarray(np.column_stack([data.X, *of_levels]), dtype=np.float32)
    more = (0, len(of_levels))
    return _core.TrainingData(
        X=X,
        levels=np.pad(data.levels, more),
        medians=np.pad(data.medians, more),
        has_nan=np.isnan(X).any(axis=0).astype(np.uint8),
        level_terms=np.array(data.level_terms, np.int32) if data.level_terms else None,
        weights=data.weights,
        n_classes=data.n_classes,
        labels=data.target if data.n_classes else None,
        targets=None if data.n_classes else data.target,
    )


def grow(
    data: Problem,
    how: _core.Options,
    n_trees: int = 1,
    *,
    first_tree: int = 0,
    n_threads: int = 1,
) -> Forest:
    """Grow a forest by a direct call of the core."""
    arrays = _core.train(
        training_data(data),
        how,
        np.arange(first_tree, first_tree + n_trees, dtype=np.uint64),
        n_threads,
    )
    return Forest(arrays, data.n_features, data.n_classes, data.levels, data.medians)


@dataclass(frozen=True)
class Forest:
    """Arrays of a flat forest with what is needed to read them."""

    arrays: dict[str, np.ndarray]
    n_features: int
    n_classes: int
    levels: np.ndarray
    medians: np.ndarray

    @property
    def n_trees(self) -> int:
        return len(self.arrays["tree_offset"]) - 1

    @property
    def trees(self) -> Iterator[Tree]:
        return (Tree(self, number) for number in range(self.n_trees))

    @cached_property
    def view(self) -> _core.ForestView:
        return _core.ForestView(
            self.arrays, self.n_features, self.n_classes, self.levels, self.medians
        )

    def apply(self, X: np.ndarray, n_threads: int = 1) -> np.ndarray:
        return self.view.apply(np.ascontiguousarray(X, np.float32), n_threads)

    def predict(self, X: np.ndarray, *, hard: bool = False) -> np.ndarray:
        """Class shares, or values of a regression as one column."""
        X = np.ascontiguousarray(X, np.float32)
        if self.n_classes:
            return self.view.predict_proba(X, 1, hard)
        return self.view.predict_value(X, 1)[:, None]


@dataclass(frozen=True)
class Node:
    """One node, read from the arrays."""

    number: int  # counted from the tree's first node
    right: int  # -1: leaf
    threshold: np.float32
    missing_left: bool
    is_category: bool
    gain: np.float32
    weight: np.float32
    index: np.ndarray
    coefficient: np.ndarray
    level: np.ndarray  # of a nominal feature; -1: none
    value: float | None  # regression
    left_levels: frozenset[int]

    @property
    def is_leaf(self) -> bool:
        return self.right < 0

    @property
    def children(self) -> tuple[int, int]:
        return self.number + 1, self.right


class Tree:
    """One tree of a flat forest: its nodes, and where rows go in it."""

    def __init__(self, forest: Forest, number: int) -> None:
        self.forest = forest
        self.number = number
        self.arrays = forest.arrays
        offset = forest.arrays["tree_offset"]
        self.first, self.n_nodes = int(offset[number]), int(offset[number + 1] - offset[number])
        self.nodes = [self._read(node) for node in range(self.n_nodes)]

    def _read(self, number: int) -> Node:
        a, i = self.arrays, self.first + number
        entries = slice(a["entry_offset"][i], a["entry_offset"][i + 1])
        is_category = bool(a["flags"][i] & CATEGORY_NODE)
        return Node(
            number=number,
            right=int(a["right"][i]),
            threshold=a["threshold"][i],
            missing_left=bool(a["flags"][i] & MISSING_LEFT),
            is_category=is_category,
            gain=a["gain"][i],
            weight=a["weight"][i],
            index=a["entry_index"][entries],
            coefficient=a["entry_weight"][entries],
            level=self._levels_of_entries(entries),
            value=float(a["leaf_value"][i]) if len(a["leaf_value"]) else None,
            left_levels=self._levels(i) if is_category else frozenset(),
        )

    def _levels_of_entries(self, entries: slice) -> np.ndarray:
        level = self.arrays["entry_level"]
        return level[entries] if len(level) else np.full(entries.stop - entries.start, -1)

    def _levels(self, i: int) -> frozenset[int]:
        a = self.arrays
        bitset = a["bits_index"][i]
        words = a["bits"][a["bits_offset"][bitset] : a["bits_offset"][bitset + 1]]
        return frozenset(
            32 * w + bit
            for w, word in enumerate(words)
            for bit in range(32)
            if int(word) >> bit & 1
        )

    def _combine(self, columns: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
        """((w0 x0) + w1 x1) + ..., every operation rounded to float32; -0 becomes +0.

        Sums may leave the range of float32, and are then infinite or no number.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.float32(weights[0]) * columns[0]
            for weight, column in zip(weights[1:], columns[1:], strict=True):
                total = total + np.float32(weight) * column
            return total + np.float32(0)

    def _filled(self, X: np.ndarray, feature: int) -> np.ndarray:
        return np.where(np.isnan(X[:, feature]), self.forest.medians[feature], X[:, feature])

    def _rotated(self, X: np.ndarray, axis: int) -> np.ndarray:
        a = self.arrays
        column = a["rotation_offset"][self.number] + axis
        entries = slice(a["rotation_entry_offset"][column], a["rotation_entry_offset"][column + 1])
        columns = [self._filled(X, f) for f in a["rotation_index"][entries]]
        return self._combine(columns, a["rotation_weight"][entries])

    def projected(self, node: Node, X: np.ndarray) -> np.ndarray:
        """Projected values; NaN where a single feature is missing or a sum is no number."""
        p = self.forest.n_features
        columns = []
        levels = node.level if len(node.level) == len(node.index) else [-1] * len(node.index)
        for index, level in zip(node.index, levels, strict=True):
            if level >= 0:
                columns.append((X[:, index] == level).astype(np.float32))
            elif index >= p:
                columns.append(self._rotated(X, index - p))
            elif len(node.index) == 1:
                columns.append(X[:, index])
            else:
                columns.append(self._filled(X, index))
        return self._combine(columns, node.coefficient)

    def goes_left(self, node: Node, X: np.ndarray) -> np.ndarray:
        if not node.is_category:
            values = self.projected(node, X)
            return np.where(np.isnan(values), node.missing_left, values <= node.threshold)
        feature = node.index[0]
        n_levels = self.forest.levels[feature]
        return np.array(
            [
                int(c) in node.left_levels if 0 <= c < n_levels else node.missing_left
                for c in X[:, feature]
            ],
            dtype=bool,
        )

    def rows_of_nodes(self, X: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
        """Which of the rows pass through each node."""
        passing = [np.empty(0, np.int64)] * self.n_nodes
        passing[0] = np.asarray(rows)
        for node in self.nodes:
            if node.is_leaf:
                continue
            left, right = node.children
            here = passing[node.number]
            goes_left = self.goes_left(node, X[here])
            passing[left], passing[right] = here[goes_left], here[~goes_left]
        return passing

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Leaf of every row."""
        leaf = np.full(len(X), -1)
        for node, rows in zip(self.nodes, self.rows_of_nodes(X, np.arange(len(X))), strict=True):
            if node.is_leaf:
                leaf[rows] = node.number
        return leaf

    def depths(self) -> np.ndarray:
        depth = np.zeros(self.n_nodes, int)
        for node in self.nodes:
            if not node.is_leaf:
                depth[list(node.children)] = depth[node.number] + 1
        return depth


Directions = list[tuple[np.ndarray, np.ndarray]]


def _read_directions(arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Directions:
    offset, index, weight = arrays
    return [(index[start:end], weight[start:end]) for start, end in pairwise(offset)]


def directions_of_root(how: _core.Options, levels: np.ndarray, tree: int) -> Directions:
    """Features and weights of each direction that the root of a tree draws."""
    return _read_directions(_core.sample_candidates(how, levels, tree))


def directions_on(data: Problem, how: _core.Options, tree: int) -> tuple[Directions, Directions]:
    """Axes of a tree and directions that its root draws, for families that look at the data."""
    axes, root = _core.sample_tree(training_data(data), how, tree)
    return _read_directions(axes), _read_directions(root)


def as_matrix(directions: Directions, n_features: int) -> np.ndarray:
    """Directions as dense rows."""
    matrix = np.zeros((len(directions), n_features))
    for row, (index, weight) in zip(matrix, directions, strict=True):
        row[index] = weight
    return matrix


def bag_rows(data: Problem, how: _core.Options, tree: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that a tree was grown on, and the weight of every row of the data in it."""
    weight = _core.bag(how, data.n_rows, tree) * data.row_weights
    return np.flatnonzero(weight > 0), weight


def differing_arrays(one: Forest, other: Forest) -> list[str]:
    """Names of the arrays that are not equal bit for bit."""
    assert one.arrays.keys() == other.arrays.keys()
    return [
        name
        for name, array in one.arrays.items()
        if array.dtype != other.arrays[name].dtype
        or array.tobytes() != other.arrays[name].tobytes()
    ]


def available_simd_levels() -> tuple[str, ...]:
    return SIMD_LEVELS[: SIMD_LEVELS.index(_core.simd_level()) + 1]
