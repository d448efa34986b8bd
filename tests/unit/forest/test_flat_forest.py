"""`bevel.forest.flat_forest`: the arrays and their views."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from bevel.forest.flat_forest import join_forests
from bevel.forest.importance import gain_importances


def equal(one, other):
    return all(np.array_equal(array, other.arrays()[name]) for name, array in one.arrays().items())


def test_counts_and_sizes_are_those_of_the_arrays(forest):
    assert len(forest) == forest.n_trees == 2
    assert (forest.n_nodes, forest.n_leaves) == (8, 5)
    arrays = [*forest.arrays().values(), forest.levels, forest.medians]
    assert forest.nbytes == sum(array.nbytes for array in arrays)


def test_depth_and_parent_follow_preorder(forest):
    assert forest.depth.tolist() == [0, 1, 1, 2, 2, 0, 1, 1]
    assert forest.parent.tolist() == [-1, 0, 0, 2, 2, -1, 5, 5]


def test_mean_depth_weighs_leaves_by_their_rows(forest):
    assert forest.mean_depth == pytest.approx((4 * 1 + 6 * 2 + 10 * 1) / 20)


def test_arrays_are_read_only_and_fields_frozen(forest):
    with pytest.raises(ValueError, match="read-only"):
        forest.threshold[0] = 1
    with pytest.raises(AttributeError):
        forest.threshold = None


@pytest.mark.parametrize(
    "copied", [lambda f: pickle.loads(pickle.dumps(f)), copy.copy, copy.deepcopy]
)
def test_copies_are_equal_and_read_only(forest, copied):
    assert forest.depth is forest.depth  # a cached value that must not be saved
    other = copied(forest)
    assert equal(forest, other)
    assert "depth" not in vars(other)
    assert not other.threshold.flags.writeable
    assert (other.n_features, other.n_classes) == (3, 2)


def test_tree_views_count_nodes_from_their_root(forest):
    first, second = forest
    assert (first.n_nodes, first.n_leaves, first.max_depth) == (5, 3, 2)
    assert first.children_left.tolist() == [1, -1, 3, -1, -1]
    assert second.children_right.tolist() == [2, -1, -1]
    assert second.weight.tolist() == [10, 5, 5]
    assert second.gain.tolist() == [5, 0, 0]
    assert first.threshold[0] == 0.5
    assert forest.tree(-1).index == 1


def test_projection_of_a_split_lists_features_and_coefficients(forest):
    features, coefficients = forest.tree(0).projection(0)
    assert features.tolist() == [0, 1]
    assert coefficients.tolist() == [1, -2]
    assert len(forest.tree(0).projection(1)[0]) == 0


def test_projection_on_a_rotation_axis_is_written_out(forest):
    features, coefficients = forest.tree(1).projection(0)
    assert features.tolist() == [0, 1]
    assert coefficients == pytest.approx([0.6, 0.8])


def test_class_shares_of_leaves_are_dense(forest):
    assert forest.tree(0).class_shares(1).tolist() == [1, 0]
    assert forest.tree(0).class_shares(4).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("index", [2, -3])
def test_tree_out_of_range_names_the_range(forest, index):
    with pytest.raises(IndexError, match=f"from 0 to 1; got {index}"):
        forest.tree(index)


def test_joined_forest_has_the_trees_of_both(forest):
    joined = join_forests(forest, forest)
    assert (joined.n_trees, joined.n_nodes) == (4, 16)
    assert joined.bits_index.tolist() == [-1, -1, 0, *[-1] * 5, -1, -1, 1, *[-1] * 5]
    assert joined.bits_offset.tolist() == [0, 1, 2]
    for index in range(4):
        one, other = joined.tree(index), forest.tree(index % 2)
        assert one.depth.tolist() == other.depth.tolist()
        for node in range(other.n_nodes):
            for mine, theirs in zip(one.projection(node), other.projection(node), strict=True):
                assert np.array_equal(mine, theirs)


def test_joining_forests_with_and_without_level_splits_marks_the_latter(forest):
    plain = pickle.loads(pickle.dumps(forest))
    for name, value in {
        "bits_index": np.empty(0, np.int32),
        "bits_offset": np.zeros(1, np.int64),
        "bits": np.empty(0, np.uint32),
    }.items():
        object.__setattr__(plain, name, value)
    joined = join_forests(plain, forest)
    assert joined.bits_index.tolist() == [*[-1] * 8, -1, -1, 0, *[-1] * 5]
    assert join_forests(plain, plain).bits_index.tolist() == []


def test_joining_forests_with_and_without_p_values_keeps_one_for_each_entry(forest):
    recorded = pickle.loads(pickle.dumps(forest))
    p_values = np.linspace(0, 1, len(forest.entry_index), dtype=np.float32)
    object.__setattr__(recorded, "entry_p_value", p_values)
    missing = np.full(len(p_values), np.nan, np.float32)
    for pair, expected in (
        ((recorded, forest), (p_values, missing)),
        ((forest, recorded), (missing, p_values)),
        ((recorded, recorded), (p_values, p_values)),
        ((forest, forest), ([], [])),
    ):
        joined = join_forests(*pair)
        assert joined.entry_p_value.dtype == np.float32
        np.testing.assert_array_equal(joined.entry_p_value, np.concatenate(expected))


def with_p_values(forest):
    recorded = pickle.loads(pickle.dumps(forest))
    object.__setattr__(recorded, "entry_p_value", np.zeros(len(forest.entry_index), np.float32))
    return recorded


def test_slim_forest_lacks_what_analysis_needs_and_nothing_else(forest):
    whole = with_p_values(forest)
    slim = whole.slim()
    assert slim.is_slim
    assert not whole.is_slim
    for name, array in slim.arrays().items():
        if name in ("gain", "weight", "entry_p_value"):
            assert (len(array), array.dtype) == (0, np.float32)
        else:
            assert array is whole.arrays()[name]
    assert slim.slim().is_slim


@pytest.mark.parametrize(
    "ask",
    [
        lambda forest: forest.mean_depth,
        lambda forest: forest.tree(0).gain,
        lambda forest: forest.tree(1).weight,
        gain_importances,
    ],
)
def test_slim_forest_refuses_what_needs_gains_or_weights(forest, ask):
    ask(forest)
    with pytest.raises(ValueError, match=r"needs the gains.*got a slim forest.*before slim\(\)"):
        ask(forest.slim())


def test_slim_forest_predicts_without_either(forest):
    slim = forest.slim()
    assert np.array_equal(slim.depth, forest.depth)
    assert slim.tree(0).max_depth == 2
    assert slim.tree(1).projection(0)[0].tolist() == [0, 1]
    assert slim.tree(0).class_shares(4).tolist() == [0.5, 0.5]


def test_joining_a_slim_and_a_whole_forest_gives_a_slim_one(forest):
    whole = with_p_values(forest)
    for pair in ((whole, whole.slim()), (whole.slim(), whole), (whole.slim(), whole.slim())):
        joined = join_forests(*pair)
        assert (joined.n_trees, joined.is_slim) == (4, True)
        assert equal(joined, join_forests(whole, whole).slim())


def test_bytes_per_node_add_up_to_the_arrays(forest):
    report = forest.bytes_per_node
    assert report["right"] == report["gain"] == 4
    assert report["entry_index"] == 4 * 10 / 8
    assert "leaf_value" not in report
    about_the_table = forest.levels.nbytes + forest.medians.nbytes
    assert sum(report.values()) * forest.n_nodes == forest.nbytes - about_the_table
    assert report.keys() - forest.slim().bytes_per_node.keys() == {"gain", "weight"}
