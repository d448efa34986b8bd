"""Files that are small, or sound, and may cost more than they should: many trees, tall or wide."""

from __future__ import annotations

import itertools
import random

import numpy as np

from .parsed import ModelFile


def claim_many_trees(file: ModelFile, rng: random.Random) -> str:
    """Columns of one value: a few bytes that claim a forest of any number of roots."""
    n_trees = int(10 ** rng.uniform(3, rng.choice((4, 6.7))))
    put_trees(file, np.zeros(n_trees, np.int32), np.arange(n_trees + 1))
    return f"{n_trees} trees that are roots"


def grow_tall(file: ModelFile, rng: random.Random) -> str:
    """A tree that is a chain: every left child, or every right child, is a leaf."""
    n_splits = int(10 ** rng.uniform(1, rng.choice((3, 5))))
    leans_left = rng.random() < 0.5
    left_leaves = np.zeros(2 * n_splits + 1, np.int32)
    if leans_left:
        left_leaves[:n_splits] = np.arange(n_splits, 0, -1)
    else:
        left_leaves[0:-1:2] = 1
    put_trees(file, left_leaves, np.array([0, len(left_leaves)]))
    return f"a tree of depth {n_splits}, leaning {'left' if leans_left else 'right'}"


def put_trees(file: ModelFile, left_leaves: np.ndarray, tree_offset: np.ndarray) -> None:
    """Replace the forest: splits at 0 on a numeric feature, leaves of the first class or of 1."""
    is_classifier = file.header["classes"] is not None
    is_split = left_leaves > 0
    n_nodes, n_axes = len(left_leaves), len(tree_offset)
    n_entries = (is_split | is_classifier).astype(np.int64)
    nominal = {each["feature"] for each in file.header["nominal"]}
    feature = next(f for f in itertools.count() if f not in nominal)
    entries = np.flatnonzero(n_entries)
    arrays = {
        "tree_offset": tree_offset.astype(np.int64),
        "left_leaves": left_leaves,
        "threshold": np.zeros(n_nodes, np.float32),
        "flags": np.zeros(n_nodes, np.uint8),
        "gain": is_split.astype(np.float32),
        "weight": np.ones(n_nodes, np.float32),
        "entry_offset": np.concatenate([[0], np.cumsum(n_entries)]),
        "entry_index": np.where(is_split[entries], feature, 0).astype(np.int32),
        "entry_weight": np.ones(len(entries), np.float32),
        "entry_p_value": np.zeros(0, np.float32),
        "leaf_value": np.ones(0 if is_classifier else n_nodes),
        "bits_index": np.zeros(0, np.int32),
        "bits_offset": np.zeros(1, np.int64),
        "bits": np.zeros(0, np.uint32),
        "rotation_offset": np.zeros(n_axes, np.int64),
        "rotation_entry_offset": np.zeros(1, np.int64),
        "rotation_index": np.zeros(0, np.int32),
        "rotation_weight": np.zeros(0, np.float32),
    }
    for name, values in arrays.items():
        file.put_values(name, values)
    _fit_the_rest(file, n_trees=len(tree_offset) - 1)


def _fit_the_rest(file: ModelFile, n_trees: int) -> None:
    """What else of the file must agree with the number of trees."""
    for column in [name for name in file.columns() if name.startswith("target_")]:
        for part in [name for name in file.arrays if name.startswith(f"{column}.")]:
            del file.arrays[part]
    if "targets" in file.header:
        file.header["targets"] = None
    if "rotations.of_tree" in file.arrays:
        file.arrays["rotations.of_tree"] = np.zeros(n_trees, np.int32)


def widen(file: ModelFile, rng: random.Random) -> str:
    """A great many features, most of which no tree looks at."""
    n_features = int(10 ** rng.uniform(2, rng.choice((4, 5.5))))
    file.header["n_features"] = n_features
    if rng.random() < 0.7:
        file.header["feature_names"] = None
    for name in ("medians", "scaler.shift", "scaler.span", "scaler.low", "scaler.high"):
        if name in file.arrays:
            file.arrays[name] = np.resize(file.arrays[name], n_features)
    return f"{n_features} features"
