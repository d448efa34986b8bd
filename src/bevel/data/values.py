"""Values of columns as people write them: dates as dates, truth values as yes and no.

Trees read dates as days since 1970-01-01 and truth values as 1 and 0. Whatever shows a number of
such a column asks this module for its words, or for the value that the number stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Floats
from bevel.printable import number, printable

__all__ = [
    "NO",
    "YES",
    "Kind",
    "are_truths",
    "as_values",
    "day_text",
    "floored",
    "label_words",
    "ordered",
    "shown_labels",
    "term_name",
    "truth_words",
    "truths_of",
    "value_text",
]

Kind = Literal["number", "day", "time", "truth"]
"""What the numbers of a column stand for: numbers, dates without or with times of day, truth."""

NO, YES = "no", "yes"
_TRUTHS = {"true": YES, "false": NO}
# Dates outside of these years are written as numbers of days: Python's and pandas' dates end there.
FIRST_DAY, LAST_DAY = -719_162.0, 2_932_896.0  # 0001-01-01 and 9999-12-31
SECONDS_PER_DAY = 86_400
# Steps to which a date with a time of day may be rounded, as parts of a day.
STEPS_PER_DAY = (1, 24, 144, 1440, 86_400)


def as_values(kind: Kind, numbers: npt.NDArray[Any]) -> Array:
    """Numbers of a column as the values that they stand for: datetime64, or "yes" and "no".

    Numbers that stand for none, such as a truth value of 0.5 and days of the year 20000, leave the
    column in numbers; missing dates are NaT and missing truth values None.
    """
    present = numbers[~np.isnan(numbers)]
    if kind in ("day", "time"):
        if not np.all((present >= FIRST_DAY) & (present <= LAST_DAY)):
            return numbers
        seconds = np.round(np.nan_to_num(numbers.astype(np.float64)) * SECONDS_PER_DAY)
        dates = seconds.astype(np.int64).astype("datetime64[s]")
        dates[np.isnan(numbers)] = np.datetime64("NaT")
        return dates
    if kind == "truth" and np.isin(present, (0.0, 1.0)).all():
        words = np.empty(numbers.shape, dtype=object)
        words[:] = [None if np.isnan(each) else YES if each else NO for each in numbers.tolist()]
        return words
    return numbers


def ordered(column: npt.NDArray[Any]) -> Floats:
    """Values of `as_values` as numbers in their order; raises ValueError or TypeError for labels.

    >>> ordered(np.array([YES, NO, None], dtype=object)).tolist()
    [1.0, 0.0, nan]
    """
    values = column.tolist()
    if any(isinstance(each, date) for each in values):
        return np.array([np.nan if each is None else _seconds(each) for each in values])
    place = {NO: 0.0, YES: 1.0, None: np.nan}
    return np.array([place.get(each, each) for each in values], dtype=np.float64)


def day_text(days: float) -> str:
    """A date in ISO 8601, with the time of day unless that is midnight, rounded to seconds.

    >>> day_text(18262.0), day_text(18262.5), day_text(-1e9)
    ('2020-01-01', '2020-01-01 12:00', 'day −1e+09')
    """
    if not FIRST_DAY <= days <= LAST_DAY:
        return f"day {days:.7g}".replace("-", "−")
    return _iso(np.datetime64(round(days * SECONDS_PER_DAY), "s"))


def _seconds(moment: date) -> float:
    return float(np.datetime64(moment, "s").astype(np.int64))


def _iso(moment: np.datetime64) -> str:
    day, _, time = str(moment.astype("datetime64[s]")).partition("T")
    if time in ("", "00:00:00"):
        return day
    return f"{day} {time.removesuffix(':00')}"


def floored(days: float, tolerance: float, *, up: bool) -> float:
    """A date within `tolerance` of another, of as short a text as can be.

    Of dates that are equally short it is the latest that is not later than the given one, with `up`
    the earliest that is not earlier: so "at most 2020-01-01" is what is earlier than noon.
    """
    for steps in STEPS_PER_DAY:
        place = days * steps
        rounded = (math.ceil(place) if up else math.floor(place)) / steps
        if abs(rounded - days) <= tolerance:
            return rounded
    return days


def value_text(value: Any) -> str:
    """A value of a column in words: a date, yes or no, a number of four digits, a label.

    >>> import numpy as np
    >>> value_text(np.datetime64("2020-01-01")), value_text(True), value_text(-1.23456)
    ('2020-01-01', 'yes', '−1.235')
    >>> value_text(None), value_text("north")
    ('missing', 'north')
    """
    if value is None or value != value:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return YES if value else NO
    if isinstance(value, np.datetime64):
        return _iso(value)
    if isinstance(value, datetime):
        return _iso(np.datetime64(value.replace(tzinfo=None)))
    if isinstance(value, date):
        return _iso(np.datetime64(value))
    if isinstance(value, float | np.floating):
        return number(float(value))
    return printable(str(value))


def term_name(name: str, kind: Kind) -> str:
    """A column in a weighted sum: of a date its days, of a truth value 1 if it holds, else 0."""
    if kind in ("day", "time"):
        return f"days of {name}"
    return f"{name} is {YES}" if kind == "truth" else name


def truth_words(low: bool, high: bool) -> str:
    """Truth values that satisfy a condition, in words."""
    return {(1, 0): NO, (0, 1): YES, (1, 1): f"{NO} or {YES}"}.get((low, high), "neither")


def label_words(labels: Iterable[Any]) -> tuple[str, ...]:
    """Labels of a nominal column in words, all different; true and false are yes and no."""
    words = tuple(printable(str(label)) for label in labels)
    truths = tuple(_TRUTHS.get(word.lower(), "") for word in words)
    return truths if all(truths) and len(set(truths)) == len(truths) else words


def shown_labels(column: Array, levels: npt.NDArray[np.object_]) -> Array:
    """Labels of a nominal column as people write them, if its levels are true and false."""
    words = label_words(levels)
    if not words or set(words) - {YES, NO}:
        return column
    known = dict(zip(levels.tolist(), words, strict=True))
    return np.array([known.get(label, label) for label in column.tolist()], dtype=object)


def are_truths(values: Sequence[Any], is_missing: Any) -> bool:
    """Whether all objects are truth values or missing, and not all of them missing."""
    present = False
    for value in values:
        if isinstance(value, bool | np.bool_):
            present = True
        elif not is_missing(value):
            return False
    return present


def truths_of(words: npt.NDArray[np.object_]) -> Floats | None:
    """1 and 0 of a column of the words true and false, NaN where None; None if it has others."""
    known = {word: _TRUTHS.get(word.lower()) for word in set(words.tolist()) - {None}}
    if set(known.values()) not in ({YES}, {NO}, {YES, NO}):
        return None
    return np.array([np.nan if w is None else float(known[w] == YES) for w in words.tolist()])
