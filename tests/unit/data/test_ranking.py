"""`bevel.data.scaling`: ranks of new values among training values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata
from support.naive.scaling import native_scale

from bevel.data import scaling
from bevel.data.scaling import MAX_KNOTS, learn_ranks, merge_ranks


def column(values):
    return np.asarray(values, dtype=np.float64)[:, None]


def ranks(train, new, relative=False):
    return native_scale(learn_ranks(column(train), relative), column(new))[:, 0].tolist()


def test_rank_of_training_values_averages_ties():
    assert ranks([10, 20, 20, 40], [10, 20, 40]) == [1, 2.5, 4]


def test_rank_of_new_values_is_interpolated_and_bounded():
    assert ranks([10, 20, 40], [5, 12.5, 30, 41, 1e30]) == [0, 1.25, 2.5, 4, 4]


def test_relative_rank_takes_the_mean_of_its_neighbours():
    # R = 1/4, 2/4, 3/4 with R(-inf) = 0 and R(inf) = 1.
    expected = [0.25, 0.5, 0.75, 0.125, 0.375, 0.375, 0.875]
    assert ranks([10, 20, 40], [10, 20, 40, 5, 11, 19, 99], relative=True) == expected


@pytest.mark.parametrize("relative", [False, True])
def test_missing_values_stay_missing_and_are_not_counted(relative):
    scaled = ranks([np.nan, 10, np.nan, 20], [10, np.nan, 20], relative)
    assert np.isnan(scaled[1])
    assert scaled[0] == (np.float32(1 / 3) if relative else 1)


@pytest.mark.parametrize("relative", [False, True])
def test_column_without_values_gives_finite_ranks(relative):
    scaled = ranks([np.nan, np.nan], [1.0, np.nan], relative)
    assert np.isfinite(scaled[0])
    assert np.isnan(scaled[1])


def test_ranks_below_the_bound_equal_scipys():
    values = np.random.default_rng(0).integers(0, 1000, 3000).astype(float)
    assert ranks(values, values) == rankdata(values).tolist()


def test_ranks_of_twenty_thousand_values_are_exact():
    values = np.random.default_rng(3).normal(size=20_000)
    assert ranks(values, values) == rankdata(values).tolist()


def test_ranks_beyond_the_bound_are_wrong_by_less_than_two_gaps(monkeypatch):
    """Also where many rows share a value, whose rank is the mean of theirs."""
    monkeypatch.setattr(scaling, "MAX_KNOTS", 50)
    rng = np.random.default_rng(4)
    values = rng.normal(size=3000)
    values[rng.random(3000) < 0.3] = 0.25
    values[rng.random(3000) < 0.1] = values.min()
    wrong = np.abs(np.array(ranks(values, values)) - rankdata(values))
    assert 0 < wrong.max() < 2 * 3000 / 49
    assert wrong[values == 0.25].max() == 0


def test_denormal_gaps_do_not_overflow():
    assert ranks([0.0, 5e-324], [0.0, 5e-324]) == [1, 2]


def test_large_columns_keep_bounded_knots_and_nearly_exact_ranks():
    values = np.random.default_rng(1).normal(size=100_000)
    scaler = learn_ranks(column(values), relative=False)
    scaled = native_scale(scaler, column(values))[:, 0]
    assert len(scaler.knots) <= MAX_KNOTS
    assert np.abs(scaled - rankdata(values)).max() < len(values) / MAX_KNOTS
    order = np.argsort(values)
    assert np.all(np.diff(scaled[order]) >= 0)
    assert scaled.min() == 1
    assert scaled.max() == len(values)


def test_merged_scaler_equals_its_parts():
    tile = np.random.default_rng(2).normal(size=(50, 4))
    whole = learn_ranks(tile, relative=False)
    merged = merge_ranks([learn_ranks(tile[:, :1], False), learn_ranks(tile[:, 1:], False)])
    new = np.random.default_rng(3).normal(size=(20, 4))
    assert np.array_equal(native_scale(whole, new), native_scale(merged, new))


def test_knots_of_float32_values_are_stored_in_float32():
    values = np.random.default_rng(4).normal(size=(20, 1)).astype(np.float32)
    assert learn_ranks(values.astype(np.float64), False).knots.dtype == np.float32
    assert learn_ranks(column([0.1, 0.2]), False).knots.dtype == np.float64
