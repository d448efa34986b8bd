"""Trees as deep as they have splits, which nothing may walk by recursion or in quadratic time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor

N_FEATURES = 3


def chain(n_splits: int, *, left: bool = False, n_classes: int = 2) -> FlatForest:
    """One tree of which every split has a leaf as its right (or left) child."""
    n, split = 2 * n_splits + 1, np.arange(n_splits)
    place = split if left else 2 * split
    right = np.full(n, -1, np.int32)
    right[place] = n - 1 - split if left else 2 * split + 2
    is_split = right >= 0
    threshold, weight = np.zeros(n, np.float32), np.ones(n, np.float32)
    threshold[place] = np.linspace(-1, 1, n_splits)[:: -1 if left else 1]
    weight[place] = n_splits + 1 - split
    index = np.where(is_split, np.arange(n) % N_FEATURES, np.arange(n) % max(n_classes, 1))
    has_entry = is_split | (n_classes > 0)
    none = {"entry_p_value": np.float32, "bits_index": np.int32, "bits": np.uint32}
    none |= {"rotation_index": np.int32, "rotation_weight": np.float32}
    return FlatForest(
        n_features=N_FEATURES,
        n_classes=n_classes,
        levels=np.zeros(N_FEATURES, np.int32),
        medians=np.zeros(N_FEATURES, np.float32),
        tree_offset=np.array([0, n]),
        right=right,
        threshold=threshold,
        flags=np.zeros(n, np.uint8),
        gain=is_split.astype(np.float32),
        weight=weight,
        entry_offset=np.concatenate(([0], np.cumsum(has_entry))),
        entry_index=index[has_entry].astype(np.int32),
        entry_weight=np.ones(has_entry.sum(), np.float32),
        leaf_value=np.empty(0) if n_classes else np.where(is_split, 0.0, np.arange(n) / n),
        bits_offset=np.zeros(1, np.int64),
        rotation_offset=np.zeros(2, np.int64),
        rotation_entry_offset=np.zeros(1, np.int64),
        **{name: np.empty(0, kind) for name, kind in none.items()},
    )


def set_forest(estimator: Any, forest: FlatForest) -> None:
    """Let a fitted estimator have other trees."""
    predictor = PackedPredictor(forest)
    estimator._fitted = replace(estimator.fitted_forest_, predictor=predictor)


def estimator_with(forest: FlatForest) -> tuple[Any, np.ndarray, np.ndarray]:
    """A fitted estimator of another forest, rows and targets."""
    X = np.random.default_rng(0).normal(size=(50, N_FEATURES))
    y = (X[:, 0] > 0).astype(int)
    kind = ObliqueForestClassifier if forest.n_classes else ObliqueForestRegressor
    estimator = kind(forest.n_trees, random_state=0, n_jobs=1, scale=None).fit(X, y)
    set_forest(estimator, forest)
    return estimator, X, y
