"""A forest small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.forest.flat_forest import FlatForest


def small_forest() -> FlatForest:
    """Two trees on three features, the last of them nominal with four levels, and two classes.

    Tree 0: x0 - 2 x1 <= 0.5 ? (class 0) : (level of x2 in {0, 3} ? class 1 : half and half)
    Tree 1: axis 1 of its rotation, 0.6 x0 + 0.8 x1, <= 0 ? class 1 : class 0
    """
    return FlatForest(
        n_features=3,
        n_classes=2,
        levels=np.array([0, 0, 4], np.int32),
        medians=np.array([0.25, -1, 0], np.float32),
        tree_offset=np.array([0, 5, 8], np.int64),
        right=np.array([2, -1, 4, -1, -1, 2, -1, -1], np.int32),
        threshold=np.array([0.5, 0, 0, 0, 0, 0, 0, 0], np.float32),
        flags=np.array([0, 0, 2, 0, 0, 1, 0, 0], np.uint8),
        gain=np.array([6, 0, 3, 0, 0, 5, 0, 0], np.float32),
        weight=np.array([10, 4, 6, 2, 4, 10, 5, 5], np.float32),
        entry_offset=np.array([0, 2, 3, 4, 5, 7, 8, 9, 10], np.int64),
        entry_index=np.array([0, 1, 0, 2, 1, 0, 1, 4, 1, 0], np.int32),
        entry_p_value=np.empty(0, np.float32),
        entry_weight=np.array([1, -2, 1, 1, 1, 0.5, 0.5, 1, 1, 1], np.float32),
        leaf_value=np.empty(0),
        bits_index=np.array([-1, -1, 0, -1, -1, -1, -1, -1], np.int32),
        bits_offset=np.array([0, 1], np.int64),
        bits=np.array([0b1001], np.uint32),
        rotation_offset=np.array([0, 0, 2], np.int64),
        rotation_entry_offset=np.array([0, 2, 4], np.int64),
        rotation_index=np.array([0, 1, 0, 1], np.int32),
        rotation_weight=np.array([0.8, -0.6, 0.6, 0.8], np.float32),
    )


@pytest.fixture
def forest() -> FlatForest:
    return small_forest()
