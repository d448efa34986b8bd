"""Masked arrays of NumPy: masked entries are missing, in X, y and weights."""

from __future__ import annotations

import numpy as np
import pytest

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
)
from bevel.dask.parts import join_parts
from bevel.data.tables import fill_masked, read_table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
HIDDEN = np.zeros(60, dtype=bool)
HIDDEN[7] = True


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
def test_masked_numbers_are_nan(kind):
    values = np.ones((4, 2), dtype=kind)
    table = read_table(np.ma.masked_array(values, mask=[[0, 0], [0, 1], [0, 0], [0, 0]]))
    read = table.numbers(slice(0, 4), slice(0, 2))
    np.testing.assert_array_equal(read, [[1, 1], [1, np.nan], [1, 1], [1, 1]])


def test_masked_dates_are_missing_and_masked_labels_none():
    dates = np.ma.masked_array(np.array([["2024-01-01"], ["2024-01-02"]], "M8[D]"), [[1], [0]])
    assert np.isnan(read_table(dates).numbers(slice(0, 2), slice(0, 1))[:, 0]).tolist() == [1, 0]
    assert fill_masked(np.ma.masked_array(["a", "b"], [0, 1])).tolist() == ["a", None]


def test_masked_entries_of_x_count_as_nan_in_fit_and_predict():
    mask = RNG.random(X.shape) < 0.2
    hidden, missing = np.ma.masked_array(X, mask), np.where(mask, np.nan, X)
    expected = ObliqueForestClassifier(5, random_state=0).fit(missing, Y).predict_proba(missing)
    found = ObliqueForestClassifier(5, random_state=0).fit(hidden, Y).predict_proba(hidden)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "estimator",
    [
        ObliqueForestClassifier(2),
        ObliqueForestRegressor(2),
        ObliqueBoostingClassifier(max_iter=2),
        ObliqueBoostingRegressor(max_iter=2),
    ],
)
def test_masked_target_raises_as_nan_does(estimator):
    y = np.ma.masked_array(Y, HIDDEN)
    with pytest.raises(ValueError, match=r"no missing values; got 1 NaN \(row index 7\)"):
        estimator.fit(X, y)
    with pytest.raises(ValueError, match=r"no missing values; got 1 NaN \(row index 7\)"):
        estimator.fit(bevel.scan(X, target=y))


def test_masked_target_among_several_raises():
    y = np.ma.masked_array(np.column_stack([Y, Y]), np.column_stack([HIDDEN ^ HIDDEN, HIDDEN]))
    with pytest.raises(ValueError, match=r'Output "y1": .*got 1 NaN \(row index 7\)'):
        ObliqueForestRegressor(2).fit(X, y)


def test_masked_weight_raises():
    weights = np.ma.masked_array(np.ones(60), HIDDEN)
    with pytest.raises(ValueError, match=r"at least 0; got nan \(row index 7\)"):
        ObliqueForestClassifier(2).fit(X, Y, weights)
    with pytest.raises(ValueError, match=r"at least 0; got nan \(row 7\)"):
        ObliqueForestClassifier(2).fit(bevel.scan(X, target=Y, weight=weights))


def test_masked_times_and_events_raise():
    time, event = np.arange(1.0, 61.0), np.ones(60, dtype=bool)
    with pytest.raises(ValueError, match=r"times of y must be above 0.*got nan \(row index 7\)"):
        ObliqueSurvivalForest(2).fit(X, (np.ma.masked_array(time, HIDDEN), event))
    with pytest.raises(ValueError, match=r"events of y must be True"):
        ObliqueSurvivalForest(2).fit(X, (time, np.ma.masked_array(event, HIDDEN)))


def test_parts_of_a_distributed_column_keep_their_masks():
    parts = [np.ma.masked_array([1.0, 2.0], [0, 1]), np.ma.masked_array([3.0], [0])]
    np.testing.assert_array_equal(join_parts(parts), [1.0, np.nan, 3.0])
