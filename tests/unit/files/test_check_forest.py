"""The check of a forest finds each fault that would lead its readers astray."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from support.random_forests import random_forest

from bevel import _core
from bevel.forest.flat_forest import FlatForest
from bevel.forest.task import check_curves


def check(forest: FlatForest, **changed: Any) -> None:
    about = {
        name: changed.pop(name, getattr(forest, name))
        for name in ("n_features", "n_classes", "levels", "medians")
    }
    _core.check_forest(forest.arrays() | changed, **about)


def as_regression(forest: FlatForest, **changed: Any) -> None:
    """Check the trees as those of a regression: entries of leaves out, leaf values in."""
    counts = np.diff(forest.entry_offset)
    is_leaf = forest.right < 0
    of_split = np.repeat(~is_leaf, counts)
    arrays = {
        "n_classes": 0,
        "entry_offset": np.concatenate(([0], np.cumsum(np.where(is_leaf, 0, counts)))),
        "entry_index": forest.entry_index[of_split],
        "entry_weight": forest.entry_weight[of_split],
        "leaf_value": np.where(is_leaf, 1.5, 0),
    }
    check(forest, **arrays | changed)


def test_sound_forest_is_accepted(forest: FlatForest) -> None:
    check(forest)
    as_regression(forest)


def test_slimmed_forest_is_accepted(forest: FlatForest) -> None:
    none = np.empty(0, np.float32)
    check(forest, gain=none, weight=none)


def test_recorded_p_values_are_accepted(forest: FlatForest) -> None:
    check(forest, entry_p_value=np.full(10, np.nan, np.float32))
    check(forest, entry_p_value=np.linspace(0, 1, 10, dtype=np.float32))


@pytest.mark.parametrize("value", [-0.1, 1.5, np.inf])
def test_p_value_that_is_no_probability_is_refused(value: float, forest: FlatForest) -> None:
    p_value = np.full(10, np.nan, np.float32)
    p_value[3] = value
    with pytest.raises(ValueError, match="entry_p_value must be from 0 to 1"):
        check(forest, entry_p_value=p_value)


def test_gain_that_rounding_made_negative_is_accepted(forest: FlatForest) -> None:
    gain = forest.gain.copy()
    gain[2] = -1e-7
    check(forest, gain=gain)


def test_set_of_levels_that_no_split_uses_is_refused(forest: FlatForest) -> None:
    with pytest.raises(ValueError, match="Each of 9 sets of levels must belong to a split; 1 do"):
        check(forest, bits_offset=np.array([0, *[1] * 9]))


def test_set_of_levels_that_two_splits_share_is_refused() -> None:
    forest = random_forest(np.random.default_rng(0), n_nominal=3, kinds=("category",))
    check(forest)
    shared = np.where(forest.bits_index == 1, 0, forest.bits_index).astype(np.int32)
    levels = np.where(forest.levels > 0, 5, 0).astype(np.int32)  # each set has bits enough
    with pytest.raises(ValueError, match=r"belong to one split|must have"):
        check(forest, bits_index=shared, levels=levels)


@dataclass(frozen=True)
class Fault:
    """One value of one array changed, and what the message says of it."""

    array: str
    place: int
    value: float
    message: str


# Nodes of tree 0: split, leaf, split by levels, leaf, leaf; tree 1: split on an axis, leaf, leaf.
# Entries: 0, 1 | 2 | 3 | 4 | 5, 6 || 7 | 8 | 9.
FAULTS = {
    "first_tree_late": Fault("tree_offset", 0, 1, "tree_offset must ascend"),
    "last_tree_short": Fault("tree_offset", 2, 7, "tree_offset must ascend"),
    "trees_descend": Fault("tree_offset", 1, 9, "tree_offset must ascend"),
    "tree_empty": Fault("tree_offset", 1, 0, "Tree 0 must have from 1"),
    "tree_cut": Fault("tree_offset", 1, 4, "Node 2 of tree 0: its right child"),
    "right_is_root": Fault("right", 0, 0, "Node 0 of tree 0: its right child"),
    "right_is_left": Fault("right", 0, 1, "Node 0 of tree 0: its right child"),
    "right_skips": Fault("right", 0, 3, "Node 2 of tree 0: a node must be the child"),
    "right_backwards": Fault("right", 2, 1, "Node 2 of tree 0: its right child"),
    "right_outside": Fault("right", 2, 5, "Node 2 of tree 0: its right child"),
    "right_negative": Fault("right", 1, -2, "Node 1 of tree 0: a leaf must have -1"),
    "leaf_splits": Fault("right", 1, 3, "Node 1 of tree 0: its right child"),
    "last_leaf_splits": Fault("right", 4, 6, "Node 4 of tree 0: its right child"),
    "split_is_leaf": Fault("right", 2, -1, "Node 3 of tree 0: a node must be the child"),
    "root_is_leaf": Fault("right", 0, -1, "Node 1 of tree 0: a node must be the child"),
    "entries_start_late": Fault("entry_offset", 0, 1, "entry_offset must ascend"),
    "entries_descend": Fault("entry_offset", 1, 4, "entry_offset must ascend"),
    "entries_end_early": Fault("entry_offset", 8, 9, "entry_offset must ascend"),
    "split_without_entries": Fault("entry_offset", 1, 0, "Node 0 of tree 0: a split must have"),
    "leaf_without_entries": Fault("entry_offset", 2, 2, "Node 1 of tree 0: a leaf must have"),
    "feature_negative": Fault("entry_index", 0, -1, "Node 0 of tree 0: its features"),
    "feature_beyond": Fault("entry_index", 1, 3, "Node 0 of tree 0: its features"),
    "feature_nominal": Fault("entry_index", 1, 2, "Node 0 of tree 0: a direction must combine"),
    "axis_beyond": Fault("entry_index", 7, 5, "Node 0 of tree 1: its features"),
    "levels_of_numbers": Fault("entry_index", 3, 0, "Node 2 of tree 0: a split by levels"),
    "levels_of_nothing": Fault("entry_index", 3, 3, "Node 2 of tree 0: a split by levels"),
    "levels_of_less": Fault("entry_index", 3, -7, "Node 2 of tree 0: a split by levels"),
    "class_negative": Fault("entry_index", 2, -1, "Node 1 of tree 0: its classes"),
    "class_beyond": Fault("entry_index", 2, 2, "Node 1 of tree 0: its classes"),
    "class_twice": Fault("entry_index", 6, 0, "Node 4 of tree 0: its classes must ascend"),
    "coefficient_nan": Fault("entry_weight", 0, np.nan, "Node 0 of tree 0: its coefficients"),
    "coefficient_infinite": Fault("entry_weight", 7, np.inf, "Node 0 of tree 1: its coeff"),
    "share_nan": Fault("entry_weight", 2, np.nan, "Node 1 of tree 0: the shares"),
    "share_negative": Fault("entry_weight", 5, -0.1, "Node 4 of tree 0: the shares"),
    "share_above_one": Fault("entry_weight", 2, 1.01, "Node 1 of tree 0: the shares"),
    "threshold_nan": Fault("threshold", 0, np.nan, "Node 0 of tree 0: its threshold"),
    "threshold_infinite": Fault("threshold", 0, np.inf, "Node 0 of tree 0: its threshold"),
    "threshold_of_levels": Fault("threshold", 2, -np.inf, "Node 2 of tree 0: its threshold"),
    "threshold_of_leaf": Fault("threshold", 1, np.inf, "Node 1 of tree 0: its threshold"),
    "coefficient_of_levels": Fault("entry_weight", 3, np.nan, "Node 2 of tree 0: its coeff"),
    "feature_twice": Fault("entry_index", 1, 0, "Node 0 of tree 0: a direction must combine"),
    "shares_below_one": Fault("entry_weight", 5, 0.3, "Node 4 of tree 0: the shares .* sum to 1"),
    "shares_above_one": Fault("entry_weight", 5, 0.9, "Node 4 of tree 0: the shares .* sum to 1"),
    "share_zero": Fault("entry_weight", 2, 0.0, "Node 1 of tree 0: the shares .* sum to 1"),
    "gain_nan": Fault("gain", 0, np.nan, "gain must be finite"),
    "gain_infinite": Fault("gain", 0, np.inf, "gain must be finite"),
    "gain_negative": Fault("gain", 2, -1, "gain must not be negative"),
    "gain_of_leaf": Fault("gain", 1, 1, "gain must not be negative, and 0 for leaves"),
    "weight_nan": Fault("weight", 1, np.nan, "weight must be finite"),
    "weight_infinite": Fault("weight", 0, np.inf, "weight must be finite"),
    "weight_negative": Fault("weight", 1, -4, "weight must be finite and not negative"),
    "bit_beyond": Fault("bits", 0, 0b11001, "Node 2 of tree 0: its set of levels must have no bit"),
    "axis_feature_twice": Fault("rotation_index", 1, 0, "An axis must combine each feature once"),
    "flags_unknown": Fault("flags", 0, 4, "Node 0 of tree 0: unknown flags"),
    "leaf_flagged": Fault("flags", 1, 1, "Node 1 of tree 0: a leaf must have no flags"),
    "number_flagged_as_level": Fault("flags", 0, 2, "Node 0 of tree 0: a split by levels"),
    "level_not_flagged": Fault("flags", 2, 0, "Node 2 of tree 0: only a split by levels"),
    "set_negative": Fault("bits_index", 2, -1, "Node 2 of tree 0: its set of levels"),
    "set_beyond": Fault("bits_index", 2, 1, "Node 2 of tree 0: its set of levels"),
    "set_of_another": Fault("bits_index", 0, 0, "Node 0 of tree 0: only a split by levels"),
    "sets_start_late": Fault("bits_offset", 0, 1, "bits_offset must ascend"),
    "sets_beyond": Fault("bits_offset", 1, 2, "bits_offset must ascend"),
    "axes_descend": Fault("rotation_offset", 1, 3, "rotation_offset must ascend"),
    "axes_beyond": Fault("rotation_offset", 2, 3, "rotation_offset must ascend"),
    "axis_of_another_tree": Fault("rotation_offset", 1, 2, "Node 0 of tree 1: its features"),
    "axis_entries_descend": Fault("rotation_entry_offset", 1, 5, "rotation_entry_offset must"),
    "axis_empty": Fault("rotation_entry_offset", 1, 0, "An axis must have a feature"),
    "axis_too_long": Fault("rotation_entry_offset", 1, 3, "An axis must combine each feature"),
    "axis_feature_negative": Fault("rotation_index", 0, -1, "rotation_index must name"),
    "axis_feature_beyond": Fault("rotation_index", 0, 3, "rotation_index must name"),
    "axis_feature_nominal": Fault("rotation_index", 0, 2, "rotation_index must name"),
    "axis_weight_nan": Fault("rotation_weight", 0, np.nan, "rotation_weight must be finite"),
    "levels_negative": Fault("levels", 0, -1, "levels must be from 0"),
    "levels_too_many": Fault("levels", 2, 65_536, "levels must be from 0"),
    "levels_without_bits": Fault("levels", 2, 33, "Node 2 of tree 0: its set of levels must"),
    "median_nan": Fault("medians", 0, np.nan, "medians must be finite"),
    "median_infinite": Fault("medians", 1, np.inf, "medians must be finite"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_fault_is_found(fault: Fault, forest: FlatForest) -> None:
    array = getattr(forest, fault.array).copy()
    array[fault.place] = fault.value
    with pytest.raises(ValueError, match=fault.message):
        check(forest, **{fault.array: array})


def with_levels(forest: FlatForest, **changed: Any) -> dict[str, Any]:
    """Arrays of the forest whose first direction has a number and levels 0 and 2 of feature 2."""
    level = np.full(11, -1, np.int32)
    level[1:3] = 0, 2
    own = {"entry_level": level, "entry_index": np.insert(forest.entry_index, 2, 2)}
    own["entry_index"][1] = 2
    own["entry_weight"] = np.insert(forest.entry_weight, 2, 0.5)
    own["entry_offset"] = forest.entry_offset + (np.arange(9) > 0)
    return own | changed


def test_levels_in_a_direction_are_accepted(forest: FlatForest) -> None:
    check(forest, **with_levels(forest))
    check(forest, entry_level=np.full(10, -1, np.int32))


# Entries: 0, 1, 2 | 3 | 4 (by levels) | 5 | 6, 7 || 8 (an axis) | 9 | 10.
LEVEL_FAULTS = {
    "level_beyond": Fault("entry_level", 2, 5, "Node 0 of tree 0: a level term must name a level"),
    "level_far_beyond": Fault("entry_level", 2, 2**31 - 1, "Node 0 of tree 0: a level term must"),
    "level_negative": Fault("entry_level", 2, -2, "entry_level must be at least -1"),
    "level_of_number": Fault("entry_level", 0, 0, "Node 0 of tree 0: a level term must name"),
    "level_of_axis": Fault("entry_level", 8, 0, "Node 0 of tree 1: a level term must name"),
    "level_twice": Fault("entry_level", 2, 0, "combine each level once; got level 0 of feature 2"),
    "level_missing": Fault("entry_level", 2, -1, "feature 2, which is nominal"),
    "level_of_leaf": Fault("entry_level", 3, 0, "Node 1 of tree 0: only directions combine levels"),
    "level_of_leaf_negative": Fault("entry_level", 10, -2, "Node 2 of tree 1: only directions"),
    "level_of_split_by_levels": Fault("entry_level", 4, 1, "Node 2 of tree 0: only directions"),
    "feature_of_level_beyond": Fault("entry_index", 1, 3, "Node 0 of tree 0: its features"),
    "feature_of_level_negative": Fault("entry_index", 1, -1, "Node 0 of tree 0: its features"),
}


@pytest.mark.parametrize("fault", LEVEL_FAULTS.values(), ids=LEVEL_FAULTS.keys())
def test_fault_of_a_level_in_a_direction_is_found(fault: Fault, forest: FlatForest) -> None:
    arrays = with_levels(forest)
    arrays[fault.array][fault.place] = fault.value
    with pytest.raises(ValueError, match=fault.message):
        check(forest, **arrays)


@pytest.mark.parametrize("length", [1, 9, 11, 12])
def test_levels_of_another_number_of_entries_are_refused(length: int, forest: FlatForest) -> None:
    with pytest.raises(ValueError, match="entry_level must have"):
        check(forest, entry_level=np.full(length, -1, np.int32))


ARRAYS = sorted({field.name for field in fields(FlatForest)} - {"n_features", "n_classes"})


@pytest.mark.parametrize("name", ARRAYS)
def test_array_of_another_length_is_found(name: str, forest: FlatForest) -> None:
    array = getattr(forest, name)
    longer = np.concatenate((array, array[-1:] if len(array) else np.zeros(1, array.dtype)))
    with pytest.raises(ValueError, match=r"must have|must ascend|must belong"):
        check(forest, **{name: longer})


@pytest.mark.parametrize("name", ["right", "entry_offset", "levels", "bits"])
def test_empty_array_is_found(name: str, forest: FlatForest) -> None:
    with pytest.raises(ValueError, match=r"must have|must ascend|must be"):
        check(forest, **{name: getattr(forest, name)[:0]})


def test_forest_without_trees_is_refused(forest: FlatForest) -> None:
    nothing = {name: array[:0] for name, array in forest.arrays().items()}
    starts = {name: np.zeros(1, np.int64) for name in nothing if name.endswith("offset")}
    with pytest.raises(ValueError, match="must have a tree"):
        check(forest, **nothing | starts)


def test_array_of_another_type_is_refused(forest: FlatForest) -> None:
    with pytest.raises(ValueError, match="wrong type"):
        check(forest, right=forest.right.astype(np.int64))


@pytest.mark.parametrize(("n_features", "n_classes"), [(0, 2), (-1, 2), (3, -1), (2, 2), (4, 2)])
def test_wrong_numbers_of_features_and_classes_are_refused(
    n_features: int, n_classes: int, forest: FlatForest
) -> None:
    with pytest.raises(ValueError, match="must"):
        check(forest, n_features=n_features, n_classes=n_classes)


def test_split_by_levels_with_two_entries_is_refused(forest: FlatForest) -> None:
    entries = {
        "entry_offset": np.array([0, 2, 2, 4, 4, 4, 5, 5, 5]),
        "entry_index": np.array([0, 1, 2, 2, 4], np.int32),
        "entry_weight": np.ones(5, np.float32),
    }
    with pytest.raises(ValueError, match="Node 2 of tree 0: a split by levels"):
        as_regression(forest, **entries)


def test_leaf_value_that_is_not_finite_is_refused(forest: FlatForest) -> None:
    value = np.zeros(8)
    value[6] = np.inf
    with pytest.raises(ValueError, match="Node 1 of tree 1: its value"):
        as_regression(forest, leaf_value=value)


@pytest.mark.parametrize("size", [1.01e65, 1e200, np.finfo(np.float64).max, np.nan])
def test_leaf_value_beyond_all_targets_is_refused(forest: FlatForest, size: float) -> None:
    """Also where its sum over trees is finite: its square might not be."""
    value = np.zeros(8)
    value[6] = -size
    with pytest.raises(ValueError, match=r"Node 1 of tree 1: its value .* at most 1e65 in size"):
        as_regression(forest, leaf_value=value)
    as_regression(forest, leaf_value=np.full(8, -1e65))


def test_entries_in_a_leaf_of_a_regression_are_refused(forest: FlatForest) -> None:
    regression = replace(forest, n_classes=0, leaf_value=np.zeros(8))
    with pytest.raises(ValueError, match="must have no entries"):
        check_curves(regression, 0)


def test_event_times_that_the_forest_has_not_are_refused(forest: FlatForest) -> None:
    survival = replace(forest, n_classes=0, leaf_value=np.zeros(8))
    largest = int(survival.entry_index[leaf_entries(survival)].max())
    check_curves(survival, largest + 1)
    with pytest.raises(ValueError, match=f"from 0 to {largest - 1}"):
        check_curves(survival, largest)


@pytest.mark.parametrize("jump", [0.0, -0.5, 1.5, np.nan])
def test_jumps_of_a_hazard_that_are_no_shares_are_refused(forest: FlatForest, jump: float) -> None:
    weight = forest.entry_weight.copy()
    weight[leaf_entries(forest)[0]] = jump
    with pytest.raises(ValueError, match="jumps of its hazard"):
        check(forest, n_classes=0, leaf_value=np.zeros(8), entry_weight=weight)


def test_event_times_of_a_leaf_that_do_not_ascend_are_refused(forest: FlatForest) -> None:
    index = forest.entry_index.copy()
    index[leaf_entries(forest)] = -1
    with pytest.raises(ValueError, match="event times must ascend"):
        check(forest, n_classes=0, leaf_value=np.zeros(8), entry_index=index)


def leaf_entries(forest: FlatForest) -> np.ndarray:
    return np.flatnonzero(np.repeat(forest.right < 0, np.diff(forest.entry_offset)))


def test_leaf_values_of_a_classifier_are_refused(forest: FlatForest) -> None:
    with pytest.raises(ValueError, match="leaf_value must have 0 values"):
        check(forest, leaf_value=np.zeros(8))


def test_tree_as_deep_as_it_has_splits_is_accepted() -> None:
    """A million levels: no recursion."""
    n = 1_000_000
    right = np.full(2 * n + 1, -1, np.int32)
    right[:n] = np.arange(2 * n, n, -1)
    forest = _regression_tree(right)
    check(forest)


def _regression_tree(right: np.ndarray) -> FlatForest:
    n, is_split = len(right), right >= 0
    none = {"bits_index": np.int32, "bits": np.uint32, "gain": np.float32, "weight": np.float32}
    none |= {"entry_p_value": np.float32, "rotation_index": np.int32, "rotation_weight": np.float32}
    return FlatForest(
        n_features=1,
        n_classes=0,
        levels=np.zeros(1, np.int32),
        medians=np.zeros(1, np.float32),
        tree_offset=np.array([0, n]),
        right=right,
        threshold=np.zeros(n, np.float32),
        flags=np.zeros(n, np.uint8),
        entry_offset=np.concatenate(([0], np.cumsum(is_split))),
        entry_index=np.zeros(is_split.sum(), np.int32),
        entry_weight=np.ones(is_split.sum(), np.float32),
        leaf_value=np.zeros(n),
        bits_offset=np.zeros(1, np.int64),
        rotation_offset=np.zeros(2, np.int64),
        rotation_entry_offset=np.zeros(1, np.int64),
        **{name: np.empty(0, kind) for name, kind in none.items()},
    )
