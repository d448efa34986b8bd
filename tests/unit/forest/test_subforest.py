"""`bevel.forest.flat_forest`: some of the trees."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.forest.flat_forest import gather, join_forests, take_trees


def equal(one, other):
    return all(np.array_equal(array, other.arrays()[name]) for name, array in one.arrays().items())


def test_gather_lists_what_owners_own_one_after_another():
    places, offset = gather(np.array([0, 2, 2, 5]), np.array([2, 0, 1]))
    assert places.tolist() == [2, 3, 4, 0, 1]
    assert offset.tolist() == [0, 3, 5, 5]


def test_all_trees_are_the_forest(forest):
    assert equal(take_trees(forest, [0, 1]), forest)


@pytest.mark.parametrize("order", [[0], [1], [1, 0], [0, 0, 1]])
def test_trees_taken_one_by_one_and_joined_are_the_trees_taken_together(forest, order):
    together = take_trees(forest, order)
    joined = take_trees(forest, order[:1])
    for tree in order[1:]:
        joined = join_forests(joined, take_trees(forest, [tree]))
    assert equal(together, joined)
    assert together.n_trees == len(order)


def test_a_tree_without_level_splits_and_rotations_loses_those_of_the_others(forest):
    axes_only = take_trees(forest, [1])
    assert [len(axes_only.bits_index), len(axes_only.bits)] == [0, 0]
    assert axes_only.bits_offset.tolist() == [0]
    levels_only = take_trees(forest, [0])
    assert levels_only.rotation_offset.tolist() == [0, 0]
    assert len(levels_only.rotation_weight) == 0
    assert levels_only.bits.tolist() == [0b1001]


def test_empty_arrays_stay_empty_and_recorded_p_values_go_along(forest):
    assert take_trees(forest.slim(), [1]).is_slim
    assert len(take_trees(forest, [1]).entry_p_value) == 0
    object.__setattr__(forest, "entry_p_value", np.arange(10, dtype=np.float32))
    assert take_trees(forest, [1]).entry_p_value.tolist() == [7, 8, 9]
