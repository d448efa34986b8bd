"""`bevel.data.target`: y."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from bevel.data.target import read_labels, read_numbers


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
    ],
)
def test_labels_of_any_container_become_codes_of_sorted_classes(y):
    classes, codes = read_labels(y, 3)
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]
    assert codes.dtype == np.int32


def test_numbers_become_contiguous_float64():
    values = read_numbers(np.arange(6, dtype=np.float32)[::2], 3)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    assert values.tolist() == [0, 2, 4]


@pytest.mark.parametrize("read", [read_labels, read_numbers])
def test_missing_target_names_the_row(read):
    with pytest.raises(
        ValueError, match=r"y must have no missing values; got 2 NaN \(row index 1\)"
    ):
        read([1.0, np.nan, 0.0, np.nan], 4)


def test_missing_label_names_the_row():
    with pytest.raises(ValueError, match=r"got 1 NaN \(row index 2\)"):
        read_labels(np.array(["a", "b", None], dtype=object), 3)


@pytest.mark.parametrize("read", [read_labels, read_numbers])
def test_infinite_target_names_the_row(read):
    with pytest.raises(
        ValueError, match=r"y must hold finite numbers; got 1 infinity \(row index 1\)"
    ):
        read([1.0, np.inf], 2)


@pytest.mark.parametrize("read", [read_labels, read_numbers])
def test_several_targets_raise_and_name_the_way_out(read):
    message = r"y must be a 1d array.*got an array of shape \(3, 2\).*sklearn.multioutput"
    with pytest.raises(ValueError, match=message):
        read(np.zeros((3, 2)), 3)


@pytest.mark.parametrize("read", [read_labels, read_numbers])
def test_target_of_another_length_raises(read):
    with pytest.raises(ValueError, match="one value for each of the 5 rows of X; got 3"):
        read([0, 1, 0], 5)


def test_column_vector_warns_and_is_flattened():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert read_numbers(np.ones((3, 1)), 3).shape == (3,)


def test_continuous_labels_raise():
    with pytest.raises(ValueError, match="Unknown label type"):
        read_labels([0.5, 1.5, 0.25], 3)


def test_text_target_of_a_regressor_raises():
    with pytest.raises(ValueError, match=r"y must hold numbers for a regressor; got .*'low'"):
        read_numbers(["low", "high"], 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, -1e61], r"up to 1e\+60 in size; got -1e\+61 \(row index 1\). Rescale y"),
        ([1, 10**400], r"up to 1e\+60 in size; got 1000.*\.\.\.. Rescale y"),
        ([1.0, 1j], r"must hold numbers for a regressor; got .*complex"),
    ],
)
def test_target_beyond_the_limit_raises(y, message):
    with pytest.raises(ValueError, match=message):
        read_numbers(y, 2)
