"""Numbers as text, with as few digits as necessary."""

from __future__ import annotations

import math

__all__ = ["MINUS", "counted", "percent", "round_within", "shortest", "significant", "written"]

MINUS = "−"
LARGEST_COUNT = 1e15  # largest number of rows that is written with all its digits
MOST_DIGITS = 17  # digits of a float64 that identify it


def round_within(value: float, tolerance: float) -> float:
    """The number with the fewest digits within `tolerance` of `value`."""
    return shortest(value, value - tolerance, value + tolerance)


def shortest(value: float, low: float, high: float) -> float:
    """The rounding of `value` with the fewest digits from `low` to `high`; else `value`."""
    if not math.isfinite(value):
        return value
    if low <= 0.0 <= high:
        return 0.0
    value, low, high = float(value), float(low), float(high)  # NumPy scalars are slow to format
    for digits in range(1, MOST_DIGITS):
        rounded = float(f"{value:.{digits - 1}e}")
        if low <= rounded <= high:
            return rounded
    return value


def significant(value: float) -> int:
    """Number of significant digits of a number as it is written."""
    mantissa = written(value).split("e")[0]
    return len(mantissa.lstrip(MINUS).replace(".", "").strip("0"))


def written(value: float) -> str:
    """A number in text, with enough digits to identify it, and a minus sign (U+2212)."""
    return repr(float(value)).removesuffix(".0").replace("-", MINUS)


def percent(share: float) -> str:
    """A share in percent; only 1 is written as 100 % and only 0 as 0 %."""
    if not math.isfinite(share):
        return f"{written(share)} %"
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    inside = min(max(round(100.0 * share), 1), 99)
    return f"{inside} %"


def counted(weight: float) -> str:
    """A number of rows by weight."""
    if not math.isfinite(weight) or abs(weight) >= LARGEST_COUNT or weight != round(weight):
        return f"{written(round_within(weight, max(5e-4 * abs(weight), 5e-7)))} rows"
    return f"{weight:.0f} row{'' if weight == 1 else 's'}"
