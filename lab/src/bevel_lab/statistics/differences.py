"""How large differences are: means with intervals, relative errors, agreement with a paper."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

__all__ = [
    "Interval",
    "mean_interval",
    "normalised_relative_error",
    "paired_interval",
    "share_within_two_errors",
    "standard_error",
]


@dataclass(frozen=True)
class Interval:
    """A mean with its two-sided interval (Student's t) over `n` values."""

    mean: float
    low: float
    high: float
    n: int

    def in_points(self) -> str:
        """The mean and interval of a share, in percentage points."""
        mean, low, high = (f"{100 * each:+.2f}" for each in (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}]".replace("-", "−")


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Mean of the values with its interval; infinitely wide when there are fewer than two."""
    given = np.asarray(values, dtype=np.float64)
    n = len(given)
    mean = float(given.mean()) if n else float("nan")
    if n < 2:
        return Interval(mean, -np.inf, np.inf, n)
    half = float(stats.t.ppf(0.5 + level / 2, n - 1)) * standard_error(given)
    return Interval(mean, mean - half, mean + half, n)


def paired_interval(ours: ArrayLike, theirs: ArrayLike, level: float = 0.95) -> Interval:
    """Mean of `ours` − `theirs` over pairs, with its interval."""
    return mean_interval(np.asarray(ours, np.float64) - np.asarray(theirs, np.float64), level)


def standard_error(values: ArrayLike) -> float:
    """Standard error of a mean: deviation (n − 1) over the root of n; NaN below two values."""
    given = np.asarray(values, dtype=np.float64)
    return float(given.std(ddof=1) / len(given) ** 0.5) if len(given) > 1 else float("nan")


def normalised_relative_error(
    errors: ArrayLike, reference: ArrayLike, chance: ArrayLike
) -> NDArray[np.float64]:
    """(error − the reference's) / chance error per data set (thesis, Table 2.1 and Fig. 2.6).

    Negative values are better than the reference. Data sets of one class have no chance error: NaN.
    """
    difference = np.asarray(errors, np.float64) - np.asarray(reference, np.float64)
    scale = np.asarray(chance, np.float64)
    return np.where(scale > 0.0, difference / np.where(scale > 0.0, scale, 1.0), np.nan)


def share_within_two_errors(
    ours: ArrayLike, our_errors: ArrayLike, theirs: ArrayLike, their_errors: ArrayLike
) -> float:
    """Share of data sets whose values differ by at most twice the combined standard error."""
    distance = np.abs(np.asarray(ours, np.float64) - np.asarray(theirs, np.float64))
    combined = np.hypot(np.asarray(our_errors, np.float64), np.asarray(their_errors, np.float64))
    return float(np.mean(distance <= 2.0 * combined)) if len(distance) else float("nan")
