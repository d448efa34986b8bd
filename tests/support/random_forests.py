"""Forests that nobody has grown: random trees with every kind of node, side by side.

Grown forests are alike in what their nodes hold; what reads forests must cope with all that the
format allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bevel.forest.flat_forest import FlatForest

MISSING_LEFT = 1
CATEGORY_NODE = 2
KINDS = ("single", "signs", "weights", "dense", "category", "axis", "mixed", "mixed_signs")
KINDS += ("level", "levels", "level_signs")


@dataclass
class _Lists:
    """The arrays of a forest while they grow."""

    rng: np.random.Generator
    levels: np.ndarray
    n_classes: int
    kinds: tuple[str, ...]
    n_axes: int = 0

    def __post_init__(self) -> None:
        self.right: list[int] = []
        self.threshold: list[float] = []
        self.flags: list[int] = []
        self.entry_offset = [0]
        self.entry_index: list[int] = []
        self.entry_weight: list[float] = []
        self.entry_level: list[int] = []
        self.leaf_value: list[float] = []
        self.bits_index: list[int] = []
        self.bits_offset = [0]
        self.bits: list[int] = []

    def add_tree(self, depth: int) -> None:
        self.first = len(self.right)
        self._grow(depth)

    def _grow(self, depth: int) -> None:
        node = len(self.right)
        is_leaf = depth == 0 or self.rng.random() < 0.2
        self._add_node(*(self._leaf() if is_leaf else self._split()))
        if not is_leaf:
            self._grow(depth - 1)
            self.right[node] = len(self.right) - self.first
            self._grow(depth - 1)

    def _add_node(self, index, weight, threshold, flags, level=None) -> None:
        self.right.append(-1)
        self.threshold.append(threshold)
        self.flags.append(flags)
        self.entry_index.extend(index)
        self.entry_weight.extend(weight)
        self.entry_level.extend([-1] * len(index) if level is None else level)
        self.entry_offset.append(len(self.entry_index))
        self.leaf_value.append(self.rng.normal())
        self.bits_index.append(len(self.bits_offset) - 2 if flags & CATEGORY_NODE else -1)

    def _leaf(self):
        if self.n_classes == 0:
            return [], [], 0.0, 0
        n = int(self.rng.integers(1, min(3, self.n_classes) + 1))
        classes = np.sort(self.rng.choice(self.n_classes, n, replace=False))
        return classes, self.rng.dirichlet(np.ones(n)).astype(np.float32), 0.0, 0

    def _split(self):
        rng = self.rng
        missing_left = MISSING_LEFT if rng.random() < 0.5 else 0
        threshold = np.round(rng.normal(), 1)
        kind = str(rng.choice(self.kinds))
        numeric, nominal = np.flatnonzero(self.levels == 0), np.flatnonzero(self.levels)
        if (kind == "category" and len(nominal)) or len(numeric) == 0:
            feature = int(rng.choice(nominal))
            n_words = -(-int(self.levels[feature]) // 32)
            words = rng.integers(0, 2**32, n_words)
            words[-1] &= 2**32 - 1 >> -int(self.levels[feature]) % 32  # no bit beyond the levels
            self.bits.extend(int(word) for word in words)
            self.bits_offset.append(len(self.bits))
            return [feature], [1.0], 0.0, missing_left | CATEGORY_NODE
        if kind.startswith("level") and len(nominal):
            return self._level_direction(kind, numeric, nominal, missing_left)
        index, weight = self._direction(kind, numeric)
        return index, weight, threshold, missing_left

    def _level_direction(self, kind, numeric, nominal, missing_left):
        """One level, or several levels of few nominal features and numeric ones."""
        rng = self.rng
        feature = rng.choice(nominal, 1 if kind == "level" else 6)
        drawn = {(int(f), int(rng.integers(0, min(4, self.levels[f])))) for f in feature}
        if kind != "level":
            few = rng.choice(numeric, int(rng.integers(0, min(3, len(numeric)) + 1)), replace=False)
            drawn |= {(int(f), -1) for f in few}
        index, level = zip(*rng.permutation(sorted(drawn)).tolist(), strict=True)
        signs = rng.choice([-1.0, 1.0], len(index))
        weight = signs if kind == "level_signs" else signs * rng.integers(1, 20, len(index)) / 10
        threshold = weight[0] / 2 if len(index) == 1 else rng.choice([0.0, 0.5, 1.0, -1.0])
        return index, weight, float(threshold), missing_left, level

    def _direction(self, kind, numeric):
        rng = self.rng
        axes = len(self.levels) + np.arange(self.n_axes)
        if kind == "axis" and self.n_axes:
            return [int(rng.choice(axes))], [1.0]
        if kind in ("single", "axis", "category", "level"):
            return [int(rng.choice(numeric))], [float(rng.choice([1.0, 1.0, -1.0, 0.5]))]
        if kind.startswith("mixed"):
            numeric = np.concatenate((numeric, axes))
        n = len(numeric) if kind == "dense" else int(rng.integers(1, min(12, len(numeric)) + 1))
        index = rng.choice(numeric, n, replace=False)
        signs = rng.choice([-1.0, 1.0], n)
        return index, signs if kind.endswith("signs") else rng.normal(size=n).astype(np.float32)


def random_forest(
    rng: np.random.Generator,
    n_features: int = 6,
    n_classes: int = 3,
    n_trees: int = 5,
    depth: int = 5,
    n_nominal: int = 0,
    n_axes: int = 0,
    kinds: tuple[str, ...] = KINDS,
) -> FlatForest:
    """A random forest in the sense of the word; `n_classes` 0 is regression."""
    levels = np.zeros(n_features, np.int32)
    levels[:n_nominal] = rng.integers(1, rng.choice([5, 80], n_nominal))
    lists = _Lists(rng, levels, n_classes, kinds, n_axes)
    tree_offset = [0]
    for _ in range(n_trees):
        lists.add_tree(depth)
        tree_offset.append(len(lists.right))
    medians = np.where(levels == 0, np.round(rng.normal(size=n_features), 1), 0.0)
    numeric = np.flatnonzero(levels == 0)
    axes = [_axis(rng, numeric, dense=bool(n_axes % 2)) for _ in range(n_trees * n_axes)]
    none = np.empty(0)
    return FlatForest(
        n_features=n_features,
        n_classes=n_classes,
        levels=levels,
        medians=medians.astype(np.float32),
        tree_offset=np.array(tree_offset, np.int64),
        right=np.array(lists.right, np.int32),
        threshold=np.array(lists.threshold, np.float32),
        flags=np.array(lists.flags, np.uint8),
        gain=(rng.random(len(lists.right)) * (np.array(lists.right) >= 0)).astype(np.float32),
        weight=rng.random(len(lists.right)).astype(np.float32),
        entry_offset=np.array(lists.entry_offset, np.int64),
        entry_index=np.array(lists.entry_index, np.int32),
        entry_weight=np.array(lists.entry_weight, np.float32),
        entry_p_value=np.empty(0, np.float32),
        leaf_value=np.array(lists.leaf_value if n_classes == 0 else [], np.float64),
        bits_index=np.array(lists.bits_index if n_nominal else [], np.int32),
        bits_offset=np.array(lists.bits_offset, np.int64),
        bits=np.array(lists.bits, np.uint32),
        rotation_offset=np.arange(n_trees + 1, dtype=np.int64) * n_axes,
        rotation_entry_offset=np.cumsum([0] + [len(index) for index, _ in axes], dtype=np.int64),
        rotation_index=np.concatenate([none, *(i for i, _ in axes)]).astype(np.int32),
        rotation_weight=np.concatenate([none, *(w for _, w in axes)]).astype(np.float32),
        entry_level=np.array(
            lists.entry_level if max(lists.entry_level, default=-1) >= 0 else [], np.int32
        ),
    )


def _axis(rng, numeric, dense):
    n = len(numeric) if dense else int(rng.integers(1, len(numeric) + 1))
    index = np.sort(rng.choice(numeric, n, replace=False))
    return index, rng.normal(size=n)


def random_rows(
    rng: np.random.Generator, forest: FlatForest, n_rows: int, missing: float = 0.0
) -> np.ndarray:
    """Rows with ties on thresholds, unseen levels, many of the first levels and missing values."""
    X = np.round(rng.normal(size=(n_rows, forest.n_features)), 1).astype(np.float32)
    for feature in np.flatnonzero(forest.levels):
        most = rng.choice([4, forest.levels[feature] + 2], n_rows)
        X[:, feature] = rng.integers(-1, most)
    X[rng.random(X.shape) < missing] = np.nan
    return X
