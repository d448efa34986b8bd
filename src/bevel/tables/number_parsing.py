"""Parses numbers as spreadsheets write them: 50,123.4 and 50.123,4, 1.2%, $5, (3.00), 1 234.

The decimal sign may be a point or a comma, and the other one groups digits. All cells of a
column decide together: `1,234` alone may be either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["AmbiguousDecimalError", "WrittenNumbers", "decimal_of", "parse_number", "read_numbers"]

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
