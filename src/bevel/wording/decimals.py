"""Numbers as a person would write them: as few digits as the meaning allows."""

from __future__ import annotations

import math

__all__ = ["MINUS", "counted", "percent", "round_within", "significant", "written"]

MINUS = "−"
MOST_DIGITS = 17  # of a float64, which are then its value


def round_within(value: float, tolerance: float) -> float:
    """The number of fewest digits that is no further than `tolerance` from `value`."""
    if not math.isfinite(value) or not tolerance > 0.0:
        return value
    if abs(value) <= tolerance:
        return 0.0
    for digits in range(1, MOST_DIGITS):
        rounded = float(f"{value:.{digits - 1}e}")
        if abs(rounded - value) <= tolerance:
            return rounded
    return value


def significant(value: float) -> int:
    """Significant digits of a number as it is written."""
    mantissa = f"{value:.{MOST_DIGITS - 2}g}".split("e")[0]
    return len(mantissa.lstrip("-").replace(".", "").strip("0"))


def written(value: float) -> str:
    """A number in text, with a true minus."""
    return f"{value:.{MOST_DIGITS - 2}g}".replace("-", MINUS)


def percent(share: float) -> str:
    """A share in percent; only all is 100 % and only nothing is 0 %."""
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    inside = min(max(round(100.0 * share), 1), 99)
    return f"{inside} %"


def counted(weight: float) -> str:
    """A number of rows by weight."""
    return (
        f"{written(round_within(weight, max(5e-4 * abs(weight), 5e-7)))} rows"
        if (weight != round(weight))
        else f"{weight:.0f} row{'' if weight == 1 else 's'}"
    )
