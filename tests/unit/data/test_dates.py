"""Columns of dates: every library's give the same forest as days, remembered and saved."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bevel
from bevel import ObliqueForestClassifier
from bevel.data.dataset import learn_dataset
from bevel.data.tables import Columns, array_as_days, read_table

RNG = np.random.default_rng(0)
SECONDS = RNG.integers(-(2**31), 2**31, 60)
TIMES = np.datetime64("1970-01-01", "us") + SECONDS.astype("timedelta64[s]")
DAYS = SECONDS / 86_400.0
Y = SECONDS > 0
LATER = dt.timezone(dt.timedelta(hours=9))


def python_times(zone=None):
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    times = [epoch + dt.timedelta(seconds=int(each)) for each in SECONDS]
    return [each.astimezone(zone) if zone else each.replace(tzinfo=None) for each in times]


TABLES = {
    "pandas": lambda: pd.DataFrame({"t": TIMES}),
    "pandas in nanoseconds": lambda: pd.DataFrame({"t": TIMES.astype("datetime64[ns]")}),
    "pandas with a zone": lambda: pd.DataFrame({"t": pd.to_datetime(python_times(LATER))}),
    "pandas by pyarrow": lambda: pd.DataFrame({"t": TIMES}).astype("timestamp[us][pyarrow]"),
    "objects": lambda: pd.DataFrame({"t": pd.Series(python_times(), dtype=object)}),
    "objects with a zone": lambda: pd.DataFrame(
        {"t": pd.Series(python_times(LATER), dtype=object)}
    ),
    "polars": lambda: pl.DataFrame({"t": TIMES}),
    "polars with a zone": lambda: pl.DataFrame(
        {"t": pl.Series(TIMES).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")}
    ),
    "pyarrow": lambda: pa.table({"t": TIMES}),
    "array": lambda: TIMES[:, None],
    "array of objects": lambda: np.array(python_times(), dtype=object)[:, None],
    "columns": lambda: Columns(("t",), (DAYS,), frozenset({"t"})),
}


@pytest.mark.parametrize("kind", TABLES)
def test_times_of_any_library_are_read_as_days(kind):
    table = read_table(TABLES[kind]())
    assert table.dates() == [0]
    assert table.nominal_by_dtype() == []
    np.testing.assert_allclose(table.numbers(slice(0, 60), slice(0, 1))[:, 0], DAYS, rtol=1e-15)


@pytest.mark.parametrize(
    "make",
    [
        lambda dates: pd.DataFrame({"t": dates}),
        lambda dates: pd.DataFrame({"t": dates.astype(object)}),
        lambda dates: pl.DataFrame({"t": dates}),
        lambda dates: pa.table({"t": dates}),
        lambda dates: dates[:, None],
    ],
    ids=["pandas", "objects", "polars", "pyarrow", "array"],
)
def test_dates_without_a_time_are_whole_days_and_missing_ones_nan(make):
    dates = np.array(["1969-12-31", "2024-02-29", "NaT", "0001-01-01"], dtype="datetime64[D]")
    if isinstance(make(dates), pd.DataFrame) and make(dates)["t"].dtype != object:
        dates[3] = np.datetime64("1700-01-01")
    table = read_table(make(dates))
    assert table.dates() == [0]
    expected = [-1.0, 19_782.0, np.nan, dates[3].astype(int)]
    np.testing.assert_array_equal(table.numbers(slice(0, 4), slice(0, 1))[:, 0], expected)


def test_days_keep_nanoseconds_of_a_day():
    times = np.array(["2024-01-01T00:00:00.000000001", "1969-12-31T12:00"], dtype="datetime64[ns]")
    days = array_as_days(times)
    assert days[1] == -0.5
    assert array_as_days(times.astype("datetime64[h]"))[1] == -0.5


def test_forest_on_dates_is_that_on_days_and_survives_its_file(tmp_path):
    frame = pd.DataFrame({"t": TIMES, "x": RNG.normal(size=60)})
    numbers = frame.assign(t=DAYS)
    forest = ObliqueForestClassifier(5, random_state=0).fit(frame, Y)
    expected = ObliqueForestClassifier(5, random_state=0).fit(numbers, Y).predict_proba(numbers)
    np.testing.assert_array_equal(forest.predict_proba(frame), expected)
    forest.save(tmp_path / "dates.bevel")
    loaded = bevel.load(tmp_path / "dates.bevel")
    assert loaded.fitted_forest_.encoding.dates == {0}
    np.testing.assert_array_equal(loaded.predict_proba(pl.from_pandas(frame)), expected)


def test_dates_where_fit_saw_numbers_are_refused_and_the_reverse():
    dates, numbers = pd.DataFrame({"t": TIMES}), pd.DataFrame({"t": DAYS})
    on_dates = ObliqueForestClassifier(2).fit(dates, Y)
    on_numbers = ObliqueForestClassifier(2).fit(numbers, Y)
    with pytest.raises(ValueError, match="dates in column 't', as in fit; got numbers"):
        on_dates.predict(numbers)
    with pytest.raises(ValueError, match="numbers in column 't', as in fit; got dates"):
        on_numbers.predict(dates)
    with pytest.raises(ValueError, match="dates in column 0, as in fit; got numbers"):
        ObliqueForestClassifier(2).fit(TIMES[:, None], Y).predict(DAYS[:, None])


@pytest.mark.parametrize("missing", [[None], [np.nan], [pd.NaT]])
def test_a_column_without_a_value_may_stand_for_dates(missing):
    forest = ObliqueForestClassifier(2).fit(pd.DataFrame({"t": TIMES}), Y)
    assert len(forest.predict(pd.DataFrame({"t": missing}))) == 1


def test_nominal_dates_stay_labels():
    table = read_table(pd.DataFrame({"t": TIMES.astype("datetime64[s]").astype(object)}))
    encoding = learn_dataset(table, ["t"], None).encoding
    assert encoding.dates == frozenset()
    assert 0 in encoding.nominal


def test_exports_say_that_a_column_holds_days():
    forest = ObliqueForestClassifier(2).fit(pd.DataFrame({"t": TIMES, "x": DAYS}), Y)
    assert '0  "t"  date, in days since 1970-01-01' in forest.to_c()
    pytest.importorskip("onnx")
    assert "days since 1970-01-01" in forest.to_onnx().graph.input[0].doc_string


LIMITS = np.array([pd.Timestamp.min.value, pd.Timestamp.max.value], dtype="datetime64[ns]")
FAR = np.array([-(10**14), 10**14], dtype="datetime64[s]")  # three million years
LAST_DATES = pa.array([-(2**31), 2**31 - 1], pa.int32()).cast(pa.date32())


@pytest.mark.parametrize(
    ("given", "days"),
    [
        (LIMITS[:, None], LIMITS.astype(int) / 864e11),
        (pd.DataFrame({"t": LIMITS}), LIMITS.astype(int) / 864e11),
        (pd.DataFrame({"t": LIMITS}).astype(object), LIMITS.astype(int) / 864e11),
        (pl.DataFrame({"t": LIMITS}), LIMITS.astype(int) / 864e11),
        (pa.table({"t": LIMITS}), LIMITS.astype(int) / 864e11),
        (pd.DataFrame({"t": pd.Series(LIMITS).dt.tz_localize("UTC")}), LIMITS.astype(int) / 864e11),
        (FAR[:, None], FAR.astype(int) / 86_400),
        (pd.DataFrame({"t": FAR}), FAR.astype(int) / 86_400),
        (pd.DataFrame({"t": FAR}, dtype=object), FAR.astype(int) / 86_400),
        (pl.DataFrame({"t": FAR.astype("datetime64[ms]")}), FAR.astype(int) / 86_400),
        (pa.table({"t": FAR}), FAR.astype(int) / 86_400),
        (pa.table({"t": LAST_DATES}), [-(2**31), 2**31 - 1]),
        (pl.DataFrame({"t": pl.Series(LAST_DATES)}), [-(2**31), 2**31 - 1]),
        (pa.table({"t": pa.array([dt.date(1, 1, 1)], pa.date64())}), [-719_162]),
    ],
)
def test_dates_at_the_ends_of_their_range_keep_their_place(given, days):
    table = read_table(given)
    assert table.dates() == [0]
    read = table.numbers(slice(0, table.n_rows), slice(0, 1))[:, 0]
    np.testing.assert_allclose(read, days, rtol=1e-15)


SECONDS_OF = {
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "ps": 1e-12,
    "fs": 1e-15,
    "as": 1e-18,
    "25s": 25.0,
    "7us": 7e-6,
}


@pytest.mark.parametrize("unit", SECONDS_OF)
def test_times_of_every_unit_are_days(unit):
    times = np.array([2**40, -(2**40), np.iinfo(np.int64).min]).astype(f"datetime64[{unit}]")
    expected = 2.0**40 * SECONDS_OF[unit] / 86_400.0
    days = array_as_days(times)
    np.testing.assert_allclose(days, [expected, -expected, np.nan], rtol=1e-11)


@pytest.mark.parametrize("unit", ["Y", "M", "W"])
def test_dates_beyond_64_bits_of_days_raise(unit):
    with pytest.raises(ValueError, match="X must hold dates whose days since 1970-01-01"):
        array_as_days(np.array([0, 2**62]).astype(f"datetime64[{unit}]"))
