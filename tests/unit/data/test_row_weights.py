"""`bevel.data.row_weights`: sample weights times class weights."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.data.row_weights import read_weights

LABELS = np.array([0, 0, 1, 2])


def test_weights_are_sample_weights_times_class_weights():
    labels = np.array([0, 0, 0, 1])
    assert read_weights(None, None, labels, 4) is None
    assert read_weights([1, 2, 3, 4], None, labels, 4).tolist() == [1, 2, 3, 4]
    assert read_weights([1, 2, 3, 4], {0: 10, 1: 1}, labels, 4).tolist() == [10, 20, 30, 4]
    balanced = read_weights(None, "balanced", labels, 4)
    assert balanced == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 1], r"finite numbers of at least 0; got -2 \(row index 1\)"),
        ([1, 1, np.nan], r"got nan \(row index 2\)"),
        ([np.inf, 1, 1], r"got inf \(row index 0\)"),
        ([0, 0, 0], "at least one weight above zero; got zero for every row"),
        ([1, 1], r"must have shape \(3,\).*got shape \(2,\)"),
        (np.ones((3, 1)), r"got shape \(3, 1\)"),
        (2.0, r"got shape \(\)"),
    ],
)
def test_impossible_weights_raise(weights, message):
    with pytest.raises(ValueError, match=message):
        read_weights(weights, None, None, 3)


@pytest.mark.parametrize(
    "weights", [["a", "b"], [1, 1j], [1, {}], np.array(["NaT", "NaT"], "M8[s]")]
)
def test_weights_that_are_no_numbers_raise(weights):
    with pytest.raises(TypeError, match=r"must be an array of numbers; got .* Convert"):
        read_weights(weights, None, None, 2)


def test_weight_beyond_floats_raises():
    with pytest.raises(ValueError, match="sample_weight must be an array of numbers; got 1000"):
        read_weights([1, 10**400], None, None, 2)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: -1, 1: 1}, r"class_weight\[0\] must be a number from 0 to 1e\+15; got -1"),
        ({0: np.nan}, r"class_weight\[0\] must be .*got nan"),
        ({1: np.inf}, r"class_weight\[1\] must be .*got inf"),
        ({1: 10**400}, r"class_weight\[1\] must be .*got 1000"),
        ({7: -1, 0: 1, 1: 1, 2: 1}, r"class_weight\[7\] must be .*got -1"),
        ({0: 1, 7: 2}, "must name classes of y; got 7, which y does not have, .* for 1, 2. Use"),
        ({0: 0, 1: 0, 2: 0}, "class_weight must have at least one weight above zero; got zero"),
        ({0: 1e-16, 1: 0, 2: 0}, r"largest weight from 1e-15 to 1e\+15, .*; got 1e-16. Divide"),
    ],
)
def test_impossible_class_weights_raise(class_weight, message):
    with pytest.raises(ValueError, match=message):
        read_weights(None, class_weight, LABELS, 4)


@pytest.mark.parametrize("weight", ["heavy", None, [1.0], 1j])
def test_class_weight_that_is_no_number_raises(weight):
    with pytest.raises(TypeError, match=r"class_weight\[0\] must be a number from 0 to"):
        read_weights(None, {0: weight}, LABELS, 4)


def test_classes_without_a_weight_have_one():
    assert read_weights(None, {1: 5}, LABELS, 4).tolist() == [1, 1, 5, 1]


def test_weight_of_an_absent_class_is_taken_where_all_others_are_named():
    assert read_weights(None, {0: 1, 1: 2, 2: 3, 7: 9}, LABELS, 4).tolist() == [1, 1, 2, 3]


def test_product_without_weight_raises_though_its_factors_have_some():
    with pytest.raises(ValueError, match="sample_weight times class_weight must have at least one"):
        read_weights([1, 1, 0, 0], {0: 0}, LABELS, 4)


@pytest.mark.parametrize(
    ("weights", "class_weight", "message"),
    [
        ([1e300, 1, 1, 1], None, r"sample_weight must have a largest .*got 1e\+300. Divide all"),
        ([1e-310] * 4, None, r"sample_weight must have a largest .*got 1e-310"),
        ([1e15, 1, 1, 1], {0: 1e15}, r"sample_weight times class_weight .*got 1e\+30"),
        ([1e-15, 0, 0, 0], {0: 1e-9}, r"sample_weight times class_weight .*got 1e-24"),
    ],
)
def test_largest_weight_out_of_range_raises(weights, class_weight, message):
    with pytest.raises(ValueError, match=message):
        read_weights(weights, class_weight, LABELS, 4)


def test_weights_far_below_the_largest_count_as_a_share_of_it():
    weights = read_weights([0.0, 1e-310, 1e-300, 1e10], None, None, 4)
    assert weights == pytest.approx([0.0, 1e-10, 1e-10, 1e10], rel=1e-15)
    kept = [0.0, 1e-19, 0.3, 1.0]
    assert read_weights(kept, None, None, 4).tolist() == kept
