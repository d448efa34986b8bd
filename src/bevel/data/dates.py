"""Dates as numbers: days since 1970-01-01 in UTC, so that a forest can cut before and after a day.

A time without a zone is taken for UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from bevel._types import Floats

__all__ = ["MEANING", "are_dates", "array_as_days", "objects_as_days", "series_as_days"]

MEANING = "days since 1970-01-01"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_PER_DAY = 86_400.0
MICROSECONDS_PER_DAY = 86_400_000_000


def array_as_days(values: npt.NDArray[Any]) -> Floats:
    """Days of an array of datetime64; NaN where it has NaT."""
    unit = np.datetime_data(values.dtype)[0]
    # Whole days and the rest apart: nanoseconds since 1970 have more digits than a float.
    whole = values.astype("datetime64[D]")
    days = whole.astype(np.float64)
    days[np.isnat(values)] = np.nan
    if unit in ("Y", "M", "W", "D"):
        return days
    rest = (values - whole.astype(values.dtype)).astype("timedelta64[ns]").astype(np.float64)
    return np.asarray(days + rest / (1e9 * SECONDS_PER_DAY), dtype=np.float64)


def series_as_days(column: nw.Series[Any]) -> Floats:
    """Days of a column of dates or times of any data frame library; NaN where missing."""
    if isinstance(column.dtype, nw.Date):
        column = column.cast(nw.Datetime("us"))
    stamps = np.asarray(column.dt.timestamp("us").fill_null(0).to_numpy()).astype(np.int64)
    whole, rest = np.divmod(stamps, MICROSECONDS_PER_DAY)
    days = whole + rest / float(MICROSECONDS_PER_DAY)
    return np.where(column.is_null().to_numpy(), np.nan, days)


def objects_as_days(values: Iterable[Any]) -> Floats:
    """Days of Python's and pandas' dates and times; NaN for whatever else there is."""
    return np.array([_as_days(value) for value in values], dtype=np.float64)


def are_dates(values: Sequence[Any], is_missing: Any) -> bool:
    """Whether objects are dates or times, apart from missing ones, of which not all are."""
    present = False
    for value in values:
        if isinstance(value, date | np.datetime64):
            present = present or not is_missing(value)
        elif not is_missing(value):
            return False
    return present


def _as_days(value: Any) -> float:
    if isinstance(value, np.datetime64):
        return float(array_as_days(np.array([value]))[0])
    if not isinstance(value, date) or value != value:  # NaT is no equal of itself
        return float("nan")
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return float((aware - EPOCH).total_seconds() / SECONDS_PER_DAY)
