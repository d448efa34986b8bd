"""`bevel.data.encoding`: labels of nominal columns and their codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bevel.data.encoding import MAX_LEVELS, choose_nominal, learn_levels
from bevel.data.tables import read_table


def labels(*values):
    return np.array(values, dtype=object)


def test_codes_follow_the_sorted_labels():
    levels = learn_levels(labels("b", "a", "c", "a"), "'x'")
    assert levels.encode(labels("a", "b", "c"), "'x'").tolist() == [0, 1, 2]
    assert levels.n_codes == 3


def test_missing_in_training_is_a_level_of_its_own():
    levels = learn_levels(labels("b", None, "a", float("nan")), "'x'")
    assert levels.n_codes == 3
    assert levels.encode(labels(None, "a", pd.NA, "never"), "'x'").tolist() == [2, 0, 2, 3]


def test_missing_unseen_in_training_is_an_unseen_level():
    levels = learn_levels(labels("b", "a"), "'x'")
    assert levels.encode(labels(None, "never"), "'x'").tolist() == [2, 2]


def test_numbers_are_labels_of_equal_value():
    levels = learn_levels(np.array([3.0, np.nan, 5.0]), "0")
    assert levels.encode(labels(3, 5, None), "0").tolist() == [0, 1, 2]
    assert levels.encode(np.array([5, 3]), "0").tolist() == [1, 0]


def test_levels_of_several_types_have_an_order_of_their_own():
    one = learn_levels(labels(2, "x", (1, 2)), "0")
    other = learn_levels(labels((1, 2), 2, "x"), "0")
    assert one.labels.tolist() == other.labels.tolist()


def test_a_column_of_more_labels_than_can_be_levels_is_left_out():
    found = learn_levels(np.arange(MAX_LEVELS + 1), "'id'")
    assert found.is_left_out
    assert (found.n_too_many, found.n_codes) == (MAX_LEVELS + 1, 1)
    assert found.encode(labels("a", 3, None), "'id'").tolist() == [0, 0, 0]
    assert learn_levels(np.arange(MAX_LEVELS), "'id'").n_codes == MAX_LEVELS
    assert learn_levels(np.arange(MAX_LEVELS + 1), "'id'", 70_000).n_codes == MAX_LEVELS + 1


@pytest.mark.parametrize(("train", "new"), [(["a"], [1.0]), ([1, 2], ["a", None])])
def test_labels_of_another_kind_than_in_training_raise(train, new):
    levels = learn_levels(labels(*train), "'city'")
    with pytest.raises(ValueError, match="in nominal column 'city', as in fit; got"):
        levels.encode(labels(*new), "'city'")


def test_unhashable_labels_name_the_column():
    with pytest.raises(TypeError, match=r"Nominal column 'x' must hold labels.*Convert them"):
        learn_levels(labels([1], [2], [3]), "'x'")


FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [0.5, 1.0]})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("from_dtype", [1]),
        (None, []),
        ([], []),
        ([2, 0], [0, 2]),
        (["c", "b"], [1, 2]),
        ([False, True, True], [1, 2]),
        (np.array([1]), [1]),
        (pd.Index(["a"]), [0]),
    ],
)
def test_categorical_features_in_every_form_name_columns(given, expected):
    assert choose_nominal(given, read_table(FRAME)) == expected


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("dtype", ValueError, "got 'dtype'"),
        ([3], ValueError, "indices from 0 to 2; got 3"),
        ([-1], ValueError, "got -1"),
        ([True], ValueError, r"one entry per column \(3\); got '1 entries'"),
        (["z"], ValueError, r"must name columns of X \('a', 'b', 'c'\); got 'z'"),
        ([0.5], TypeError, "categorical_features must be"),
        (3, TypeError, "got 3 of type int"),
        ([[0]], TypeError, "categorical_features must be"),
    ],
)
def test_categorical_features_that_name_no_column_raise(given, error, message):
    with pytest.raises(error, match=message):
        choose_nominal(given, read_table(FRAME))
