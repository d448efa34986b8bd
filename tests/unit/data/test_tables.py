"""`bevel.data.tables`: arrays, frames and sparse matrices behind one interface."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from bevel.data.tables import is_missing, read_table

ALL_ROWS = slice(0, 3)


def numbers(X):
    table = read_table(X)
    return table.numbers(slice(0, table.n_rows), slice(0, table.n_features))


@pytest.mark.parametrize(
    ("dtype", "stored"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float32),
        (np.int64, np.float64),
        (np.int32, np.float64),
        (np.uint8, np.float32),
        (np.bool_, np.float32),
    ],
)
def test_array_is_read_as_the_narrowest_exact_float(dtype, stored):
    tile = numbers(np.array([[1, 0], [0, 1]], dtype=dtype))
    assert tile.dtype == stored
    assert tile.tolist() == [[1, 0], [0, 1]]


def test_object_array_of_numbers_is_numeric_and_none_is_missing():
    tile = numbers(np.array([[1, None], [2.5, True]], dtype=object))
    assert np.array_equal(tile, [[1, np.nan], [2.5, 1]], equal_nan=True)


FRAMES = {
    "pandas": pd.DataFrame(
        {
            "real": [1.5, None, 3.0],
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
        }
    ),
    "polars": pl.DataFrame(
        {"real": [1.5, None, 3.0], "whole": [1, None, 3], "flag": [True, None, False]}
    ),
    "pyarrow": pa.table(
        {"real": [1.5, None, 3.0], "whole": [1, None, 3], "flag": [True, None, False]}
    ),
}


@pytest.mark.parametrize("library", FRAMES)
def test_frame_columns_with_nulls_are_numbers_with_nan(library):
    table = read_table(FRAMES[library])
    assert (table.n_rows, table.n_features) == (3, 3)
    assert table.nominal_by_dtype() == []
    assert table.describe(1) == "'whole'"
    tile = table.numbers(ALL_ROWS, slice(0, 3))
    expected = [[1.5, 1, 1], [np.nan, np.nan, np.nan], [3, 3, 0]]
    assert np.array_equal(tile, expected, equal_nan=True)


def test_pandas_text_and_category_columns_are_nominal():
    frame = pd.DataFrame(
        {
            "text": ["a", None, "c"],
            "string": pd.array(["a", None, "c"], dtype="string"),
            "category": pd.Categorical([3, None, 5]),
            "mixed": pd.Series([1, "x", None], dtype=object),
            "numbers": pd.Series([1, 2.5, None], dtype=object),
            "real": [1.0, 2.0, 3.0],
        }
    )
    assert read_table(frame).nominal_by_dtype() == [0, 1, 2, 3]


def test_polars_text_columns_are_nominal():
    frame = pl.DataFrame(
        {
            "string": ["a", None, "c"],
            "categorical": pl.Series(["a", None, "b"], dtype=pl.Categorical),
            "enum": pl.Series(["a", None, "b"], dtype=pl.Enum(["a", "b"])),
            "whole": [1, 2, 3],
        }
    )
    assert read_table(frame).nominal_by_dtype() == [0, 1, 2]


def test_arrow_text_columns_are_nominal():
    text = pa.array(["a", None, "c"])
    frame = pa.table({"string": text, "dictionary": text.dictionary_encode(), "n": [1, 2, 3]})
    assert read_table(frame).nominal_by_dtype() == [0, 1]


def test_decimals_and_columns_of_nulls_are_numbers():
    money = [decimal.Decimal("1.25"), None]
    frame = pl.DataFrame({"money": money, "nothing": pl.Series([None, None])})
    expected = [[1.25, np.nan], [np.nan, np.nan]]
    assert np.array_equal(numbers(frame), expected, equal_nan=True)


def test_signalling_nan_among_decimals_of_pandas_is_read_as_an_object():
    money = [decimal.Decimal("sNaN"), decimal.Decimal(2)]
    frame = pd.DataFrame({"money": pd.Series(money, dtype=object)})
    assert [str(value) for value in read_table(frame).labels(0)] == ["sNaN", "2"]


def test_frame_with_integer_column_names_is_read_by_position():
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=[2, 0, 1])
    assert numbers(frame).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_sparse_matrix_is_read_as_dense_tiles(form):
    dense = np.array([[0, 1.5, 0], [2, 0, 0]])
    table = read_table(sp.coo_array(dense).asformat(form))
    assert table.numbers(slice(0, 2), slice(1, 3)).tolist() == [[1.5, 0], [0, 0]]
    assert table.numbers(slice(1, 2), slice(0, 3)).tolist() == [[2, 0, 0]]


def test_labels_of_a_sparse_column_raise():
    with pytest.raises(TypeError, match=r"sparse.*categorical_features=None"):
        read_table(sp.eye_array(3).tocsr()).labels(1)


@pytest.mark.parametrize(
    "X",
    [
        [["1", 2]],
        np.array([["1", 2]], dtype=object),
        np.array([["1", "2"]]),
        pd.DataFrame({"0": ["1"], "b": [2]}),
    ],
    ids=["list", "object", "text", "frame"],
)
def test_text_in_a_numeric_column_names_column_and_value(X):
    message = r"numbers in column '?0'?; could not convert string to float: '1' \(row index 0\)"
    with pytest.raises(ValueError, match=message):
        numbers(X)


def test_objects_that_are_no_numbers_name_the_column():
    with pytest.raises(TypeError, match=r"column 1; .* string or a real number, not 'dict'"):
        numbers(np.array([[1, {}]], dtype=object))


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"when": pd.to_timedelta(["1 day"])}),
        pl.DataFrame({"when": [datetime.time(12, 30)]}),
        pl.DataFrame({"when": [[1, 2]]}),
        np.array([[1]], dtype="timedelta64[D]"),
    ],
)
def test_durations_and_lists_raise_and_ask_for_numbers(X):
    with pytest.raises(TypeError, match=r"(?s)X must hold numbers, labels .*got .*Convert it"):
        numbers(X)


def test_lazy_frame_raises_and_asks_to_collect():
    with pytest.raises(TypeError, match=r"lazy LazyFrame.*Pass X.collect\(\)"):
        read_table(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=[0, 1]), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ([1.0, 2.0], "Expected 2D array, got 1D array"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (np.array([[1j]]), "Complex data not supported"),
    ],
)
def test_table_without_two_filled_dimensions_raises(X, message):
    with pytest.raises(ValueError, match=message):
        read_table(X)


def test_missing_values_of_all_libraries_are_recognised():
    assert all(map(is_missing, [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT]))
    assert not any(map(is_missing, [0, "", "nan", False, 1.5, float("inf")]))


@pytest.mark.parametrize(
    "X", [[[1, 2], [-(10**400), 3]], pd.DataFrame({"a": [1, -(10**400)]}, dtype=object)]
)
def test_number_beyond_floats_names_its_place(X):
    message = r"range of floats in column .*; got -1000.* \(row index 1\). Rescale the column"
    with pytest.raises(ValueError, match=message):
        numbers(X)


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.null(), pa.int64(), pa.bool_(), pa.string(), pa.float16(), pa.decimal128(5, 2)),
        *(pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.int64())),
    ],
    ids=str,
)
def test_arrow_column_without_values_is_missing_throughout(kind):
    table = pa.table({"empty": pa.array([None] * 3, kind)})
    assert np.isnan(numbers(table)).all()
    assert all(is_missing(label) for label in read_table(table).labels(0))
