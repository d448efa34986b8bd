"""`bevel.data.dataset` and `encoding`: one float32 matrix from any table."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from bevel.data import encoding as tiles
from bevel.data.dataset import learn_dataset
from bevel.data.encoding import MAX_STORED, encode
from bevel.data.scaling import SCALES
from bevel.data.tables import read_table
from bevel.errors import PrecisionWarning


def learn(X, categorical_features="from_dtype", scale=None):
    return learn_dataset(read_table(X), categorical_features, scale)


def normal(*shape, dtype=np.float64, order="C", seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return np.asarray(values, dtype=dtype, order=order)


def mixed_frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame.insert(1, "city", rng.choice(["bern", "oslo", "rome"], n))
    frame["flag"] = rng.random(n) < 0.5
    frame.loc[::7, "b"] = np.nan
    frame.loc[::11, "city"] = None
    return frame


def test_float32_in_fortran_order_without_scale_is_not_copied():
    X = normal(50, 3, dtype=np.float32, order="F")
    dataset = learn(X)
    assert np.shares_memory(dataset.X, X)
    assert X.flags.writeable


def test_float32_in_c_order_is_not_copied_for_prediction():
    X = normal(50, 3, dtype=np.float32)
    rows = encode(read_table(X), learn(X).encoding)
    assert np.shares_memory(rows, X)


@pytest.mark.parametrize("scale", [None, "standard"])
def test_results_are_read_only_float32_in_the_order_asked_for(scale):
    dataset = learn(normal(40, 3), scale=scale)
    rows = encode(read_table(normal(5, 3)), dataset.encoding)
    assert dataset.X.flags.f_contiguous
    assert rows.flags.c_contiguous
    for array in (dataset.X, rows, dataset.encoding.levels, dataset.encoding.medians):
        assert not array.flags.writeable
    assert dataset.X.dtype == rows.dtype == np.float32


@pytest.mark.parametrize("scale", [None, *SCALES])
@pytest.mark.parametrize("order", ["C", "F"])
def test_training_rows_are_read_alike_in_training_and_prediction(scale, order):
    frame = mixed_frame()
    dataset = learn(frame, scale=scale)
    rows = encode(read_table(frame), dataset.encoding, order)
    assert np.array_equal(rows, dataset.X, equal_nan=True)
    alone = encode(read_table(frame.iloc[[17]]), dataset.encoding, order)
    assert np.array_equal(alone[0], dataset.X[17], equal_nan=True)


@pytest.mark.parametrize("scale", [None, *SCALES])
@pytest.mark.parametrize("size", [7, 64, 10_000])
def test_result_does_not_depend_on_the_size_of_tiles(monkeypatch, scale, size):
    X = normal(100, 9)
    X[::5, 4] = np.nan
    expected = learn(X, scale=scale)
    monkeypatch.setattr(tiles, "TILE_SIZE", size)
    dataset = learn(X, scale=scale)
    assert np.array_equal(dataset.X, expected.X, equal_nan=True)
    assert np.array_equal(dataset.encoding.medians, expected.encoding.medians)
    rows = encode(read_table(X), dataset.encoding)
    assert np.array_equal(rows, expected.X, equal_nan=True)


@pytest.mark.parametrize("scale", [None, "standard", "rank"])
def test_every_container_gives_the_same_matrix(scale):
    frame = mixed_frame().astype({"flag": float})
    expected = learn(frame, scale=scale).X
    by_position = frame.to_numpy(dtype=object)
    others = [
        (pl.from_pandas(frame), "from_dtype"),
        (pa.Table.from_pandas(frame), "from_dtype"),
        (by_position, [1]),
        (by_position.tolist(), [1]),
    ]
    for X, nominal in others:
        assert np.array_equal(learn(X, nominal, scale).X, expected, equal_nan=True)


@pytest.mark.parametrize("scale", [None, "standard", "rank"])
def test_sparse_and_dense_give_the_same_matrix(scale):
    rng = np.random.default_rng(0)
    matrix = sp.coo_array(rng.random((60, 5)) * (rng.random((60, 5)) < 0.3))
    dataset = learn(matrix.tocsr(), scale=scale)
    assert np.array_equal(dataset.X, learn(matrix.toarray(), scale=scale).X)
    rows = encode(read_table(matrix.tocsc()), dataset.encoding)
    assert np.array_equal(rows, dataset.X)


def test_nominal_columns_hold_codes_and_are_not_scaled():
    dataset = learn(mixed_frame(), scale="standard")
    assert dataset.encoding.levels.tolist() == [0, 4, 0, 0, 0]
    assert set(dataset.X[:, 1]) == {0, 1, 2, 3}
    assert dataset.encoding.medians[1] == 0


def test_medians_are_those_of_the_stored_values_without_missing_ones():
    X = normal(101, 3)
    X[::4, 1] = np.nan
    X[:, 2] = np.nan
    dataset = learn(X, scale="standard")
    expected = np.nanmedian(dataset.X[:, :2], axis=0)
    assert dataset.encoding.medians.tolist() == [*expected, 0]
    even = learn(normal(100, 2))
    assert even.encoding.medians.tolist() == np.median(even.X, axis=0).tolist()


@pytest.mark.parametrize("scale", [None, "standard"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_names_column_and_row(scale, value):
    X = normal(9, 4)
    X[5, 2] = value
    message = rf"got {value} in column 2, row index 5. Replace infinities by NaN"
    with pytest.raises(ValueError, match=message):
        learn(X, scale=scale)
    with pytest.raises(ValueError, match=message):
        encode(read_table(X), learn(normal(9, 4), scale=scale).encoding)


def test_infinity_in_a_frame_names_the_column():
    with pytest.raises(ValueError, match="column 'b', row index 1"):
        learn(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]}))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_values_raise_without_a_scale_and_fit_with_one(dtype):
    X = normal(9, 2, dtype=dtype)
    X[3, 1] = 1e35
    with pytest.raises(
        ValueError, match=r"got 1e\+35 in column 1, row index 3.*scale=\"standard\""
    ):
        learn(X)
    assert np.isfinite(learn(X, scale="standard").X).all()


def test_values_whose_squares_overflow_raise_with_any_scale():
    with pytest.raises(ValueError, match=r"up to 1e\+150"):
        learn([[1e200], [1.0]], scale="rank")


def test_new_values_far_outside_the_training_range_stay_finite():
    encoding = learn(normal(20, 1), scale="standard").encoding
    rows = encode(read_table([[1e100], [-1e100]]), encoding)
    assert rows[:, 0].tolist() == [np.float32(MAX_STORED), -np.float32(MAX_STORED)]


def test_column_that_float32_cannot_resolve_warns_once_and_names_the_remedy():
    X = pd.DataFrame(
        {"time": 1.7e9 + np.arange(500.0), "x": normal(500), "day": 1e9 + np.arange(500)}
    )
    with pytest.warns(
        PrecisionWarning, match=r"column 'time', 'day' .*scale=\"standard\""
    ) as caught:
        learn(X)
    assert len(caught) == 1
    scaled = learn(X, scale="standard").X
    assert len(np.unique(scaled[:, 0])) == 500


def test_column_with_rounding_noise_does_not_warn():
    X = np.array([[0.3], [0.1 + 0.2], [0.7], [1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(X)
        learn(normal(5000, 3, seed=1))
        learn(np.ones((10, 2)))


def test_table_beyond_memory_says_how_much_it_needs():
    huge = sp.csr_array((2_000_000, 5_000_000), dtype=np.float32)
    with pytest.raises(MemoryError, match=r"got 2000000 x 5000000, which needs 37252.9 GiB"):
        learn(huge)


@pytest.mark.parametrize("scale", [None, "standard"])
def test_float64_copies_are_made_of_tiles_only(scale):
    X = normal(200_000, 28, dtype=np.float32)
    learn(X[:100], scale=scale)
    tracemalloc.start()
    try:
        learn(X, scale=scale)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes + 6 * 8 * tiles.TILE_SIZE


@pytest.mark.parametrize("scale", [None, *SCALES])
def test_result_does_not_depend_on_the_number_of_threads(scale):
    X = normal(30_000, 7)
    X[::5, 4] = np.nan
    alone, together = (learn_dataset(read_table(X), None, scale, n) for n in (1, 2))
    assert np.array_equal(alone.X, together.X, equal_nan=True)
    rows = encode(read_table(X), alone.encoding, n_threads=2)
    assert np.array_equal(rows, alone.X, equal_nan=True)


@pytest.mark.parametrize("scale", [None, "quantile"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_array_at_odd_addresses_is_read(scale, dtype):
    X = normal(50, 3, dtype=dtype)
    packed = np.zeros(150, dtype=[("pad", "u1"), ("value", dtype)])
    packed["value"] = X.ravel()
    odd = packed["value"].reshape(50, 3)
    assert not odd.flags.aligned
    dataset = learn(odd, scale=scale)
    assert np.array_equal(dataset.X, learn(X, scale=scale).X)
    assert np.array_equal(encode(read_table(odd), dataset.encoding), dataset.X)


@pytest.mark.parametrize("scale", [None, *SCALES])
def test_encoding_is_saved_without_its_native_form(scale):
    frame = mixed_frame()
    encoding = learn(frame, scale=scale).encoding
    before = len(pickle.dumps(encoding))
    expected = encode(read_table(frame), encoding)
    saved = pickle.dumps(encoding)
    assert len(saved) == before
    rows = encode(read_table(frame), pickle.loads(saved))
    assert np.array_equal(rows, expected, equal_nan=True)


def test_single_row_and_single_column_are_fine():
    for scale in (None, *SCALES):
        assert np.isfinite(learn([[3.0]], scale=scale).X).all()
