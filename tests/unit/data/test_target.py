"""`bevel.data.target`: y."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
)
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


@pytest.mark.parametrize("read", [read_labels, read_numbers])
@pytest.mark.parametrize("kind", ["M8[ns]", "M8[D]", "m8[s]"])
@pytest.mark.parametrize("container", [np.asarray, pd.Series, list])
def test_not_a_time_in_the_target_names_the_row(read, kind, container):
    y = np.array([np.array(3, kind), np.array(5, kind), np.array("NaT", kind), np.array(3, kind)])
    with pytest.raises(ValueError, match=r"no missing values; got 1 Na[TN] \(row index 2\)"):
        read(container(y), 4)


@pytest.mark.parametrize(
    "y",
    [
        np.array([1, Decimal("NaN")], dtype=object),
        np.array([1, np.timedelta64("NaT", "s")], dtype=object),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([1.0, None], dtype="Float64"),
        pd.Series(["a", None], dtype="string"),
        pd.Series(pd.PeriodIndex(["2024-01", None], freq="M")),
        pl.Series([1, None]),
        pl.Series([dt.date(2024, 1, 1), None]),
        pa.chunked_array([[1, None]]),
        pa.array([dt.datetime(2024, 1, 1), None]),
        pa.array([True, None]),
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]} {getattr(y, 'dtype', type(y).__name__)}",
)
@pytest.mark.parametrize("read", [read_labels, read_numbers])
def test_missing_targets_of_any_type_raise(read, y):
    with pytest.raises(ValueError, match=r"no missing values; got 1 Na[TN] \(row index 1\)"):
        read(y, 2)


ROWS = np.random.default_rng(0).normal(size=(40, 2))
TIMES = np.datetime64("2024-01-01", "D") + (ROWS[:, 0] > 0).astype("m8[D]")
TIMES[3] = "NaT"
NAT = r"no missing values; got 1 NaT \(row index 3\)"


@pytest.mark.parametrize(
    "estimator",
    [
        ObliqueForestClassifier(2),
        ObliqueForestRegressor(2),
        ObliqueBoostingClassifier(max_iter=2),
        ObliqueBoostingRegressor(max_iter=2),
    ],
)
def test_not_a_time_raises_in_every_fit(estimator):
    with pytest.raises(ValueError, match=NAT):
        estimator.fit(ROWS, TIMES)
    with pytest.raises(ValueError, match=NAT):
        estimator.fit(bevel.scan(pl.DataFrame(ROWS), target=pl.Series(TIMES)))


@pytest.mark.parametrize("kind", [ObliqueBoostingClassifier, ObliqueBoostingRegressor])
def test_not_a_time_among_validation_rows_raises(kind):
    known = np.where(np.isnat(TIMES), TIMES[0], TIMES)
    with pytest.raises(ValueError, match=NAT):
        kind(max_iter=2).fit(ROWS, known, X_val=ROWS, y_val=TIMES)


@pytest.mark.parametrize("kind", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_not_a_time_in_one_of_several_outputs_raises(kind):
    known = np.where(np.isnat(TIMES), TIMES[0], TIMES)
    for y in (np.column_stack([known, TIMES]), pd.DataFrame({"y0": known, "y1": TIMES})):
        with pytest.raises(ValueError, match='Output "y1": y must have ' + NAT):
            kind(2).fit(ROWS, y)


def test_dates_and_durations_are_no_survival_times():
    event, days = np.ones(40, dtype=bool), np.arange(1.0, 41.0)
    for wrong in (TIMES, TIMES - TIMES[0]):
        with pytest.raises(ValueError, match="The times of y must be numbers; got"):
            ObliqueSurvivalForest(2).fit(ROWS, (wrong, event))
        with pytest.raises(ValueError, match="The entries of y must be numbers; got"):
            ObliqueSurvivalForest(2).fit(ROWS, (wrong, days, event))


def test_times_are_no_weights():
    with pytest.raises(TypeError, match="sample_weight must be an array of numbers"):
        ObliqueForestClassifier(2).fit(ROWS, ROWS[:, 0] > 0, TIMES)
