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
from bevel.errors import shorten

__all__ = ["MEANING", "are_dates", "array_as_days", "objects_as_days", "series_as_days"]

MEANING = "days since 1970-01-01"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_PER_DAY = 86_400.0
UNITS_PER_DAY = {
    "h": 24,
    "m": 1440,
    **{unit: 86_400 * 1000**k for k, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs", "as"))},
}
LARGEST_DIVISOR = np.iinfo(np.int64).max


def array_as_days(values: npt.NDArray[Any]) -> Floats:
    """Days of an array of datetime64 of any unit; NaN where it has NaT."""
    unit, count = np.datetime_data(values.dtype)
    per_day = UNITS_PER_DAY.get(unit)
    if per_day is None:
        days = _whole_days(values)
    elif count == 1 and per_day <= LARGEST_DIVISOR:
        # Whole days and the rest apart: nanoseconds since 1970 have more digits than a float.
        whole, rest = np.divmod(values.astype(np.int64), per_day)
        days = whole + rest / float(per_day)
    else:
        days = values.astype(np.int64) * (count / per_day)
    return np.where(np.isnat(values), np.nan, days)


def _whole_days(values: npt.NDArray[Any]) -> Floats:
    """Days of years, months, weeks or days."""
    days = values.astype("datetime64[D]")
    wrong = values[(days.astype(values.dtype) != values) & ~np.isnat(values)]
    if len(wrong):
        raise ValueError(
            f"X must hold dates whose {MEANING} are numbers of 64 bits; got {shorten(wrong[0])}. "
            "Replace dates that cannot be by NaT, which means missing."
        )
    return days.astype(np.float64)


def series_as_days(column: nw.Series[Any]) -> Floats:
    """Days of a column of dates or times of any data frame library; NaN where missing."""
    values = column.to_numpy()  # in UTC if it has a zone
    return array_as_days(values) if values.dtype.kind == "M" else objects_as_days(values)


def objects_as_days(values: Iterable[Any]) -> Floats:
    """Days of Python's and pandas' dates and times; NaN for other objects."""
    return np.array([_as_days(value) for value in values], dtype=np.float64)


def are_dates(values: Sequence[Any], is_missing: Any) -> bool:
    """Whether all objects are dates or times or missing, and not all of them missing."""
    present = False
    for value in values:
        if isinstance(value, date | np.datetime64):
            present = present or not is_missing(value)
        elif not is_missing(value):
            return False
    return present


def _as_days(value: Any) -> float:
    if hasattr(value, "to_datetime64"):  # pandas times reach beyond Python's years
        value = value.to_datetime64()
    if isinstance(value, np.datetime64):
        return float(array_as_days(np.array([value]))[0])
    if not isinstance(value, date) or value != value:  # NaT does not equal itself
        return float("nan")
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return float((aware - EPOCH).total_seconds() / SECONDS_PER_DAY)
