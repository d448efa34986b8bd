"""Parsing of cells as numbers, dates and labels, decided by all cells of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.tables import EPOCH, SECONDS_PER_DAY
from bevel.errors import shorten

__all__ = [
    "ORDERS",
    "AmbiguousDecimalError",
    "AmbiguousOrderError",
    "Convention",
    "InferredColumn",
    "WrittenNumbers",
    "can_be_values",
    "decimal_of",
    "first_misfit",
    "infer_type",
    "iso_days",
    "parse_date",
    "parse_number",
    "read_dates",
    "read_numbers",
]

# Parses numbers as spreadsheets write them: 50,123.4 and 50.123,4, 1.2%, $5, (3.00), 1 234.
#
# The decimal sign may be a point or a comma, and the other one groups digits. All cells of a column
# decide together: `1,234` alone may be either.

_SPACES = " \u00a0\u2009\u202f"  # between groups of digits, and before currency signs
_MINUS = "-−–"
_CURRENCY = r"US\$|[$€£¥₹₽₩₺]|(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|CNY)\b"
_PERCENT = "%"


def _pattern(decimal: str, group: str) -> re.Pattern[str]:
    """A number with a decimal sign, whose digits may be grouped by another sign."""
    grouped = rf"[1-9]\d{{0,2}}(?:(?P<g>[{re.escape(group)}'’{_SPACES}])\d{{3}}(?:(?P=g)\d{{3}})*)"
    indian = rf"[1-9]\d?(?:{re.escape(group)}\d\d)+{re.escape(group)}\d{{3}}"
    plain = r"\d+"
    fraction = rf"(?:{re.escape(decimal)}\d*)?"
    number = (
        rf"(?:{grouped}|{indian}|{plain}){fraction}(?:[eE][+-]?\d+)?"
        rf"|{re.escape(decimal)}\d+(?:[eE][+-]?\d+)?"
    )
    sign = rf"[+{re.escape(_MINUS)}]?"
    space = f"[{_SPACES}]?"
    return re.compile(
        rf"(?P<open>\()?{space}(?P<sign>{sign}){space}(?P<before>{_CURRENCY})?{space}"
        rf"(?P<sign2>{sign}){space}(?P<number>{number}){space}"
        rf"(?P<after>{_CURRENCY}|{_PERCENT})?{space}(?P<close>\))?"
    )


_PATTERNS = {".": _pattern(".", ","), ",": _pattern(",", ".")}
_GROUPING = {".": ",", ",": "."}


class AmbiguousDecimalError(ValueError):
    """Cells have different values with a decimal point and with a decimal comma."""

    def __init__(self, example: str) -> None:
        super().__init__(example)
        self.example = example


@dataclass(frozen=True)
class WrittenNumbers:
    """Values of the distinct cells of a column.

    Attributes
    ----------
    values : dict of str to float
    example : str or None
        A cell that is not a plain number.
    """

    values: dict[str, float]
    example: str | None


def read_numbers(
    cells: Sequence[str], decimal: str | None, preferred: str | None, grouped_by_comma: bool
) -> WrittenNumbers | None:
    """Numbers of the distinct cells of a column; None if a cell is not a number.

    Parameters
    ----------
    cells : sequence of str
        Distinct cells.
    decimal : {".", ","} or None
        The only decimal sign that is allowed.
    preferred : {".", ","} or None
        The decimal sign of the file, tried first.
    grouped_by_comma : bool
        Whether `1,234` means 1234 if nothing else is known; otherwise it raises
        `AmbiguousDecimalError`.
    """
    signs = [decimal] if decimal else sorted(".,", key=lambda sign: sign != preferred)
    read = {sign: found for sign in signs if (found := _values(cells, sign)) is not None}
    if not read:
        return None
    chosen = next(iter(read))
    if len(read) == 2 and preferred is None and read["."] != read[","]:
        if not grouped_by_comma:
            raise AmbiguousDecimalError(next(c for c in cells if read["."][c] != read[","][c]))
        chosen = "."
    values = read[chosen]
    return WrittenNumbers(values, next((cell for cell in cells if not _is_plain(cell)), None))


def decimal_of(cells: Iterable[str]) -> str | None:
    """The decimal sign that cells imply; None if they imply none or both."""
    proofs: set[str] = set()
    for cell in cells:
        if "," in cell or "." in cell:
            readings = [sign for sign in ".," if parse_number(cell, sign) is not None]
            proofs.update(readings if len(readings) == 1 else ())
    return proofs.pop() if len(proofs) == 1 else None


def parse_number(cell: str, decimal: str) -> tuple[float, str] | None:
    """A cell as a number and its unit (a currency, % or nothing); None if it is not a number."""
    found = _PATTERNS[decimal].fullmatch(cell)
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    if (found["sign"] and found["sign2"]) or (found["before"] and found["after"]):
        return None
    digits = re.sub(rf"[{re.escape(_GROUPING[decimal])}'’{_SPACES}]", "", found["number"])
    value = float(digits.replace(decimal, "."))
    is_negative = found["open"] or (found["sign"] or found["sign2"] or "+") in _MINUS
    return (-value if is_negative else value), found["before"] or found["after"] or ""


def _values(cells: Sequence[str], decimal: str) -> dict[str, float] | None:
    values, units = {}, set()
    for cell in cells:
        parsed = parse_number(cell, decimal)
        if parsed is None:
            return None
        values[cell] = parsed[0]
        units.add(parsed[1])
    # Amounts without a sign are in the column's currency; 5 and 5 % are different numbers.
    currencies = units - {"", _PERCENT}
    is_mixed = len(currencies) > 1 or (_PERCENT in units and len(units) > 1)
    return None if is_mixed else values


def _is_plain(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# Parses dates in common notations, in days since 1970-01-01.
#
# 2024-12-31, 31.12.2024, 12/31/2024, 31-Dec-2024, each with or without a time of day. Whether the
# day or the month comes first in 01/02/2024 is decided by all cells of a column, or by the user.

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


# Interprets columns of text that are neither plain numbers nor ISO 8601 dates.

# Cells that mean a missing value in columns of numbers or dates; elsewhere they are labels.
MAYBE_MISSING = frozenset(
    {".", "..", "-", "--", "---", "–", "—", "*", "none", "nil", "missing", "unknown"}
    | {"n.a.", "n.d.", "not available", "not applicable"}
)
MOSTLY = 0.8  # share of numbers, or dates, above which other cells may be mistakes


@dataclass(frozen=True)
class Convention:
    """Number format of a file, as far as it is known."""

    decimal: str | None = None  # given by the user
    preferred: str | None = None  # inferred from the first rows
    grouped_by_comma: bool = True


@dataclass(frozen=True, eq=False)
class InferredColumn:
    """A column of text.

    Attributes
    ----------
    values : ndarray of float, or None
        Numbers or days; None if the column holds labels.
    order : str
        Order of dates: "ymd", "dmy" or "mdy"; otherwise empty.
    example : str
        A cell and its value, unless the conversion is obvious.
    missing : tuple of str
        Cells that were read as missing.
    misfit : str
        First label that is not a number, or date, in a column where nearly all are.
    """

    values: Floats | None
    order: str = ""
    example: str = ""
    missing: tuple[str, ...] = ()
    misfit: str = ""


def infer_type(
    words: npt.NDArray[Any], convention: Convention, kind: str | None, title: str
) -> InferredColumn:
    """Read a column of words as numbers or dates if its cells allow it.

    Parameters
    ----------
    words : ndarray of object
        Cells; None where missing.
    convention : Convention
    kind : str or None
        Type given by the user: one of `bevel.tables.options.TYPES`. Cells of another type are then
        missing.
    title : str
        The file and the column, for messages.
    """
    cells = list(dict.fromkeys(word for word in words if word is not None))
    if kind is not None:
        cells = [cell for cell in cells if _fits(cell, kind, convention)]
    present = [cell for cell in cells if cell.lower() not in MAYBE_MISSING]
    try:
        found = _read(present, convention, kind)
    except AmbiguousDecimalError as error:
        raise ValueError(
            f"{title} holds {error.example!r}, which may be "
            f"{parse_number(error.example, '.')[0]:g} or "  # type: ignore[index]
            f"{parse_number(error.example, ',')[0]:g}. "  # type: ignore[index]
            'Say which: `decimal="."` or `decimal=","`.'
        ) from None
    except AmbiguousOrderError as error:
        name = title.rpartition("column ")[2]
        raise ValueError(
            f"{title} holds {error.example!r}, of which the day and the month cannot be told "
            f'apart. Say which comes first: `types={{{name}: "dmy"}}` or `types={{{name}: '
            '"mdy"}`.'
        ) from None
    if found is None:
        return InferredColumn(None, misfit=_misfit(words, convention))
    meaning, order, example = found
    values = np.array([np.nan if word is None else meaning.get(word, np.nan) for word in words])
    left = [word for word in dict.fromkeys(words) if word is not None and word not in meaning]
    return InferredColumn(values, order, example, tuple(left))


def can_be_values(cells: Sequence[str], convention: Convention, kind: str | None) -> bool:
    """Whether a column with these cells among others may hold numbers or dates.

    If some cells are labels, the whole column is nominal. A type given by the user takes
    precedence.
    """
    present = [cell for cell in cells if cell.lower() not in MAYBE_MISSING]
    if kind is not None or not present:
        return True
    try:
        return _read(present, convention, kind) is not None
    except (AmbiguousDecimalError, AmbiguousOrderError):
        return True


def _read(
    cells: Sequence[str], convention: Convention, kind: str | None
) -> tuple[Mapping[str, float], str, str] | None:
    """Values of the distinct cells, the order of dates, and an example; None for labels."""
    if not cells:
        return ({}, "", "") if kind is not None else None
    if kind in (None, "number"):
        numbers = read_numbers(
            cells, convention.decimal, convention.preferred, convention.grouped_by_comma
        )
        if numbers is not None:
            example = numbers.example
            text = "" if example is None else f"{example!r} is {numbers.values[example]:.12g}"
            return numbers.values, "", text
    if kind != "number":
        dates = read_dates(cells, kind if kind in ORDERS else None)
        if dates is not None:
            return dates[0], dates[1], repr(cells[0])
    return None


def _fits(cell: str, kind: str, convention: Convention) -> bool:
    if kind == "number":
        signs = convention.decimal or ".,"
        return any(parse_number(cell, sign) is not None for sign in signs)
    read = parse_date(cell)
    return bool(read) if kind == "date" else kind in read


def first_misfit(words: npt.NDArray[Any], convention: Convention) -> str:
    """The first cell that is not a number, or not a date if the first cell is a date."""
    present = [(row, word) for row, word in enumerate(words, start=1) if word is not None]
    kind = "date" if _fits(present[0][1], "date", convention) else "number"
    misfits = ((r, w) for r, w in present if not _fits(w, kind, convention))
    row, word = next(misfits, present[0])
    return f"{shorten(word)} in row {row}"


def _misfit(words: npt.NDArray[Any], convention: Convention) -> str:
    """The first cell that is not a number, or date, where nearly all are; empty otherwise."""
    present = [(row, word) for row, word in enumerate(words, start=1) if word is not None]
    for kind in ("number", "date"):
        fits = {word: _fits(word, kind, convention) for _, word in present}
        n_fitting = sum(fits[word] for _, word in present)
        if present and n_fitting > MOSTLY * len(present):
            # All may fit singly but not together, such as 5 and 5 %.
            row, word = next(((r, w) for r, w in present if not fits[w]), present[0])
            return f"{shorten(word)} in row {row}"
    return ""
