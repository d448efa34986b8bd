"""Paired differences and their intervals."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

__all__ = ["Interval", "paired"]


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval (Student's t over pairs, two-sided)."""

    mean: float
    low: float
    high: float
    n: int

    def within(self, margin: float) -> bool:
        """Is the whole interval inside ± `margin`?"""
        return -margin <= self.low and self.high <= margin

    def in_points(self) -> str:
        """The mean and interval of a share, in percentage points."""
        return f"{100 * self.mean:+.2f} [{100 * self.low:+.2f}, {100 * self.high:+.2f}]"


def paired(ours: np.ndarray, theirs: np.ndarray) -> Interval:
    """Mean of `ours` − `theirs` over pairs; an infinite interval when there are fewer than two."""
    difference = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    n = len(difference)
    mean = float(difference.mean()) if n else float("nan")
    if n < 2:
        return Interval(mean, -np.inf, np.inf, n)
    half = float(stats.t.ppf(0.975, n - 1) * difference.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n)
