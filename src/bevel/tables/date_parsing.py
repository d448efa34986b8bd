"""Parses dates in common notations, in days since 1970-01-01.

2024-12-31, 31.12.2024, 12/31/2024, 31-Dec-2024, each with or without a time of day. Whether the day
or the month comes first in 01/02/2024 is decided by all cells of a column, or by the user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import numpy as np

from bevel._types import Floats
from bevel.data.dates import EPOCH, SECONDS_PER_DAY

__all__ = ["ORDERS", "AmbiguousOrderError", "iso_days", "parse_date", "read_dates"]

ORDERS = {"ymd": "year first", "dmy": "day first", "mdy": "month first"}
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d.*)?")
_TIME = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>[.,]\d+)?)?"
    r" ?(?P<half>[AaPp]\.?[Mm]\.?)?(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"
)
_NUMBERS = re.compile(rf"(?P<a>\d{{1,4}})(?P<s>[./-])(?P<b>\d{{1,2}})(?P=s)(?P<c>\d{{1,4}}){_TIME}")
_DAY_FIRST = re.compile(
    rf"(?P<day>\d{{1,2}})[ -]?(?P<name>[A-Za-z]{{3,9}})\.?[ ,-]*(?P<year>\d{{4}}){_TIME}"
)
_NAME_FIRST = re.compile(
    rf"(?P<name>[A-Za-z]{{3,9}})\.? (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}){_TIME}"
)
_NAMES = ["january", "february", "march", "april", "may", "june", "july", "august"]
_NAMES += ["september", "october", "november", "december"]
_PIVOT = 69  # years of two digits below it are in this century, as in POSIX


class AmbiguousOrderError(ValueError):
    """The days and months of a column do not show which comes first."""

    def __init__(self, example: str) -> None:
        super().__init__(example)
        self.example = example


def iso_days(text: str) -> float:
    """Days of an ISO 8601 date, with or without a time of day; ValueError if it is not a date."""
    if not _ISO.fullmatch(text):
        raise ValueError(f"{text!r} is no date.")
    when = datetime.fromisoformat(text)
    return _days(when if when.tzinfo is not None else when.replace(tzinfo=UTC))


def read_dates(
    cells: Sequence[str], order: str | None = None
) -> tuple[dict[str, float], str] | None:
    """Days of the distinct cells of a column, and their order; None if a cell is not a date.

    Parameters
    ----------
    cells : sequence of str
    order : {"ymd", "dmy", "mdy"}, default=None
        Order of the parts; None infers it, and raises `AmbiguousOrderError` if it is unclear.
    """
    possible = {order} if order else set(ORDERS)
    days: dict[str, dict[str, float]] = {each: {} for each in ORDERS}
    for cell in cells:
        read = parse_date(cell)
        possible &= read.keys()
        if not possible:
            return None
        for each, value in read.items():
            days[each][cell] = value
    if not cells:
        return None
    first, *others = sorted(possible, key=list(ORDERS).index)
    for other in others:
        differs = [cell for cell in cells if days[first][cell] != days[other][cell]]
        if differs:
            raise AmbiguousOrderError(differs[0])
    return days[first], first


def parse_date(cell: str) -> dict[str, float]:
    """Days of a cell in each order in which it is a date; empty if it is not a date."""
    numbers = _NUMBERS.fullmatch(cell)
    if numbers is not None:
        return _from_numbers(numbers)
    named = _DAY_FIRST.fullmatch(cell) or _NAME_FIRST.fullmatch(cell)
    if named is None:
        return {}
    month = _month(named["name"])
    if month is None:
        return {}
    value = _when(int(named["year"]), month, int(named["day"]), named)
    return {} if value is None else dict.fromkeys(ORDERS, value)


def _from_numbers(found: re.Match[str]) -> dict[str, float]:
    a, b, c, sign = found["a"], found["b"], found["c"], found["s"]
    if len(a) == 4 and len(c) <= 2:
        places = {"ymd": (a, b, c)}
    elif len(a) <= 2 and _is_year(c, a, b, sign):
        # A point always means that the day comes first.
        places = {"dmy": (c, b, a)} | ({} if sign == "." else {"mdy": (c, a, b)})
    else:
        return {}
    read = {order: _when(_year(y), int(m), int(d), found) for order, (y, m, d) in places.items()}
    return {order: value for order, value in read.items() if value is not None}


def _is_year(c: str, a: str, b: str, sign: str) -> bool:
    """Whether the last number is a year; 1.2.10 is a version number."""
    return len(c) == 4 or (len(c) == 2 and (sign == "/" or len(a) == len(b) == 2))


def _year(text: str) -> int:
    number = int(text)
    return number if len(text) == 4 else number + (2000 if number < _PIVOT else 1900)


def _month(name: str) -> int | None:
    small = name.lower()
    for number, month in enumerate(_NAMES, start=1):
        if small in (month, month[:3]) or (small == "sept" and number == 9):
            return number
    return None


def _when(year: int, month: int, day: int, found: re.Match[str]) -> float | None:
    hour = int(found["hour"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    seconds = float("0" + (found["fraction"] or "").replace(",", "."))
    try:
        when = datetime(
            year,
            month,
            day,
            hour,
            int(found["minute"] or 0),
            int(found["second"] or 0),
            tzinfo=_zone(found["zone"]),
        )
    except ValueError:
        return None
    return _days(when) + seconds / SECONDS_PER_DAY


def _zone(text: str | None) -> timezone:
    if not text or text[0] not in "+-":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    shift = timedelta(hours=hours, minutes=minutes)
    return timezone(-shift if text[0] == "-" else shift)


def _days(when: datetime) -> float:
    return (when - EPOCH).total_seconds() / SECONDS_PER_DAY


def days_of(cells: Sequence[str | None]) -> Floats | None:
    """ISO 8601 dates as days, NaN where missing; None if a cell is not a date."""
    try:
        return np.array([np.nan if cell is None else iso_days(cell) for cell in cells])
    except ValueError:
        return None
