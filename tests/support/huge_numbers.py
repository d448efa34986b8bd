"""Forests and rows whose sums leave the range of float32, and where such rows go.

The rule, for every reader of a forest: terms are multiplied and added in float32, in the order of
the entries; a row goes left if its sum is at most the threshold, infinities included; a sum that is
no number goes where the split sends missing values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bevel.forest.flat_forest import FlatForest
from support.forests import Forest
from support.random_forests import random_forest

LARGEST = np.finfo(np.float32).max
SIZES = (1.0, 1.0, 1e-41, 1e-20, 1e15, 1e30, LARGEST)


def scaled(rng: np.random.Generator, values: np.ndarray, largest: float = LARGEST) -> np.ndarray:
    """Values times factors of all sizes, as finite float32."""
    wide = np.asarray(values, np.float64) * rng.choice(SIZES, np.shape(values))
    return np.clip(wide, -largest, largest).astype(np.float32)


def huge_forest(rng: np.random.Generator, *, keep_signs: bool = False, **shape) -> FlatForest:
    """A random forest with thresholds, medians and coefficients of all sizes."""
    forest = random_forest(rng, **shape)
    is_split = np.repeat(forest.right >= 0, np.diff(forest.entry_offset))
    weight = forest.entry_weight.copy()
    if not keep_signs:
        weight[is_split] = scaled(rng, weight[is_split])
    medians = np.where(forest.levels == 0, scaled(rng, forest.medians), 0.0)
    return replace(
        forest,
        medians=medians.astype(np.float32),
        threshold=scaled(rng, forest.threshold),
        entry_weight=weight,
        rotation_weight=scaled(rng, forest.rotation_weight),
    )


def huge_rows(
    rng: np.random.Generator,
    forest: FlatForest,
    n_rows: int,
    missing: float = 0.0,
    largest: float = LARGEST,
) -> np.ndarray:
    """Ordinary rows and rows with values of all sizes, up to the largest and down to subnormals."""
    shape = (n_rows, forest.n_features)
    X = np.round(rng.normal(size=shape), 1).astype(np.float32)
    huge = rng.random(n_rows) < 0.7
    X[huge] = scaled(rng, X[huge], largest)
    ends = (rng.random(shape) < 0.3) & huge[:, None]
    X[ends] = rng.choice(np.array([largest, -largest, 0.0, -0.0, 1e-45], np.float32), ends.sum())
    for feature in np.flatnonzero(forest.levels):
        X[:, feature] = rng.integers(-1, forest.levels[feature] + 2, n_rows)
    X[rng.random(shape) < missing] = np.nan
    return X


def naive_leaves(forest: FlatForest, X: np.ndarray) -> np.ndarray:
    """Leaf of each row in each tree, by the plain reader of `support.forests`."""
    plain = Forest(
        forest.arrays(), forest.n_features, forest.n_classes, forest.levels, forest.medians
    )
    return np.stack([tree.apply(X) for tree in plain.trees], axis=1)


def naive_answers(forest: FlatForest, X: np.ndarray) -> np.ndarray:
    """Mean over trees of the shares, or values, of the leaves; n_rows x max(n_classes, 1)."""
    leaves = naive_leaves(forest, X) + forest.tree_offset[:-1]
    sums = np.zeros((len(X), max(forest.n_classes, 1)))
    for row, nodes in zip(sums, leaves, strict=True):
        for node in nodes:
            entries = slice(forest.entry_offset[node], forest.entry_offset[node + 1])
            if forest.n_classes:
                row[forest.entry_index[entries]] += forest.entry_weight[entries]
            else:
                row[0] += forest.leaf_value[node]
    return sums / forest.n_trees
