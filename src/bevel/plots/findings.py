"""Titles that state the finding of a plot, wrapped to its width."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["course", "digits", "largest_of", "set_finding"]

LONGEST_TITLE = 46  # characters of a bold line above the narrowest bars
MOST_WRITTEN_OUT = 1e7  # larger numbers are written with an exponent
LEVEL = 0.02  # smaller reversals, as a share of the range, are ignored


def set_finding(axes: "Axes", what: str, finding: str = "", longest: int = LONGEST_TITLE) -> None:
    """Write a title above the axes: the content of the plot, and the finding."""
    text = f"{what}: {finding}" if finding else what
    axes.set_title("\n".join(textwrap.wrap(text, longest)), loc="left")


def largest_of(
    names: Sequence[str],
    values: NDArray[np.float64],
    doubtful: NDArray[np.bool_],
    things: str = "feature",
) -> str:
    """Name of the largest value, unless it may be due to chance."""
    if not len(values) or not np.max(values) > 0.0:
        return ""
    best = int(np.argmax(values))
    if doubtful.all():
        return f"no {things} is clear of zero"
    return f"largest for {names[best]}" if not doubtful[best] else ""


def course(values: NDArray[np.float64]) -> str:
    """Shape of a curve in words: its ends, or its range."""
    first, last = float(values[0]), float(values[-1])
    low, high = float(np.min(values)), float(np.max(values))
    if not high > low:
        return f"{digits(low)} throughout"
    falls = float(np.max(np.maximum.accumulate(values) - values)) / (high - low)
    rises = float(np.max(values - np.minimum.accumulate(values))) / (high - low)
    if falls <= LEVEL:
        return f"rises from {digits(first)} to {digits(last)}"
    if rises <= LEVEL:
        return f"falls from {digits(first)} to {digits(last)}"
    return f"between {digits(low)} and {digits(high)}"


def digits(value: float) -> str:
    """A number with three digits and a typographic minus sign."""
    text = f"{value:.3g}"
    if "e+" in text and abs(value) < MOST_WRITTEN_OUT:
        text = f"{float(text):,.0f}"
    return text.replace("-", "−")
