"""Dates as numbers: days since 1970-01-01, so that a forest can cut before and after a day.

Only the order of ISO 8601 is read, 2024-12-31 and 2024-12-31 23:59: others, such as 01/02/2024,
mean different days in different countries.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

__all__ = ["MEANING", "as_days", "columns_as_days"]

MEANING = "days since 1970-01-01"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_PER_DAY = 86_400.0
_LOOKS_LIKE_A_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d.*)?")


def as_days(text: str) -> float:
    """A date, with or without a time of day, in days; ValueError if it is none.

    A time without a zone is taken for UTC.
    """
    if not _LOOKS_LIKE_A_DATE.fullmatch(text):
        raise ValueError(f"{text!r} is no date.")
    when = datetime.fromisoformat(text)
    aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return (aware - EPOCH).total_seconds() / SECONDS_PER_DAY


def columns_as_days(frame: Any) -> tuple[Any, list[str]]:
    """A data frame with its columns of dates as days, and the names of these columns."""
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    dates = [name for name, kind in table.schema.items() if kind in (nw.Date, nw.Datetime)]
    days = [
        nw.col(name).cast(nw.Datetime("ms")).dt.timestamp("ms") / (1000 * SECONDS_PER_DAY)
        for name in dates
    ]
    return (table.with_columns(*days).to_native() if dates else frame), dates
