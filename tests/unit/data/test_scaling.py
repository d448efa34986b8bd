"""`bevel.data.scaling`: features made comparable."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from support.naive.scaling import native_scale

from bevel.data.scaling import SCALES, automatic_scale, learn_scaler, merge_scalers


def tile(*columns):
    return np.asfortranarray(np.array(columns, dtype=np.float64).T)


def scale(kind, train, new=None):
    train = np.asfortranarray(train, dtype=np.float64)
    new = train if new is None else np.asarray(new, dtype=np.float64)
    return native_scale(learn_scaler(kind, train), new)


def test_minmax_maps_the_training_range_to_zero_and_one():
    assert scale("minmax", tile([2, 4, 6]), tile([2, 6, 8, 0]))[:, 0].tolist() == [0, 1, 1.5, -0.5]


def test_minmax_clip_cuts_new_values_to_the_training_range():
    assert scale("minmax_clip", tile([2, 4, 6]), tile([3, 8, 0]))[:, 0].tolist() == [0.25, 1, 0]


def test_standard_gives_mean_zero_and_sample_deviation_one():
    scaled = scale("standard", np.random.default_rng(0).normal(5, 3, (100, 2)))
    assert np.allclose(scaled.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(scaled.std(axis=0, ddof=1), 1)


def test_quantile_follows_blasers_formula():
    train = tile(np.arange(101.0))  # Q5 = 5, Q95 = 95
    scaled = scale("quantile", train, tile([5, 50, 95, 100, 0]))[:, 0]
    beyond = 0.01 * math.log(1 + math.log(1 + 5))
    assert scaled == pytest.approx([0, 0.5, 1, 1 + beyond, -beyond], rel=1e-7)


def test_quantile_keeps_the_order_of_outliers():
    values = np.sort(np.random.default_rng(1).standard_cauchy(1000))
    assert np.all(np.diff(scale("quantile", tile(values))[:, 0]) > 0)


@pytest.mark.parametrize("kind", SCALES)
def test_scale_is_monotone_and_keeps_missing_values(kind):
    values = np.sort(np.random.default_rng(2).normal(size=60))
    values[7] = np.nan
    scaled = scale(kind, tile(values))[:, 0]
    assert np.isnan(scaled).tolist() == np.isnan(values).tolist()
    assert np.all(np.diff(scaled[~np.isnan(scaled)]) >= 0)


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e100, np.nan])
def test_constant_and_empty_columns_are_never_divided_by_zero(kind, constant):
    scaled = scale(kind, tile([constant] * 7), tile([constant, 1.0, 2.0]))
    assert np.isfinite(scaled[1:]).all()
    assert len(set(scale(kind, tile([constant] * 7))[:, 0].astype(str))) == 1


@pytest.mark.parametrize("kind", [None, *SCALES])
def test_column_is_scaled_alike_alone_and_among_others(kind):
    train = np.asfortranarray(np.random.default_rng(3).lognormal(size=(1001, 5)))
    train[::9, 1] = np.nan
    whole = scale(kind, train)
    for feature in range(5):
        alone = scale(kind, train[:, [feature]])
        assert np.array_equal(alone[:, 0], whole[:, feature], equal_nan=True)


@pytest.mark.parametrize("kind", [None, *SCALES])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_and_columns_are_scaled_to_the_same_bits(kind, dtype):
    rows = np.random.default_rng(6).standard_t(1, size=(1300, 9)).astype(dtype)
    rows[:, 3] = 7.0
    rows[::5, 4] = np.nan
    rows[:, 5] *= 1e20
    native = learn_scaler(kind, np.asfortranarray(rows[:200], dtype=np.float64)).native(9)
    results = []
    for source, order in ((rows, "C"), (rows, "F"), (np.asfortranarray(rows), "F")):
        scaled = np.empty(rows.shape, dtype=np.float32, order=order)
        native.transform(source, 0, 1, scaled)
        results.append(scaled)
    assert np.array_equal(results[0], results[1], equal_nan=True)
    assert np.array_equal(results[0], results[2], equal_nan=True)


@pytest.mark.parametrize("kind", SCALES)
def test_merged_scaler_skips_columns_it_never_saw(kind):
    train = np.asfortranarray(np.random.default_rng(4).normal(size=(30, 3)))
    unused = learn_scaler(kind, np.empty((0, 2)))
    merged = merge_scalers(
        [learn_scaler(kind, train[:, :1]), unused, learn_scaler(kind, train[:, 1:])]
    )
    expected = scale(kind, train)
    assert np.array_equal(native_scale(merged, train[:, 1:], slice(3, 5)), expected[:, 1:])
    assert np.array_equal(native_scale(merged, train[:, :1], slice(0, 1)), expected[:, :1])


@pytest.mark.parametrize("kind", SCALES)
def test_scaler_survives_pickling(kind):
    train = np.asfortranarray(np.random.default_rng(5).normal(size=(30, 3)))
    scaler = learn_scaler(kind, train)
    copy = pickle.loads(pickle.dumps(scaler))
    assert np.array_equal(native_scale(copy, train), native_scale(scaler, train))


def test_automatic_scale_leaves_features_of_one_unit_alone():
    assert automatic_scale(combines_units=False) is None
    assert automatic_scale(combines_units=True) in SCALES
