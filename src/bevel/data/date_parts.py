"""What people derive from dates by hand: the day of the year, the day of the week, the hour.

A part of a date is worth a column of its own if the target varies with it beyond what the date
itself, as a moment in time, already says. Two things have to agree: an F test on the training rows,
and that what is learned in some stretches of time holds in another, which a target that wanders by
itself over the years does not pass.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy import stats

from bevel._types import Array, Floats

__all__ = ["PARTS", "WEEKDAYS", "helps", "part_of", "varies", "words_of_week"]

# Length of the cycle of each part, in days.
PARTS = {"day of year": 365.25, "day of week": 7.0, "hour": 1.0}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

DEGREE = 3  # of the polynomial that stands for the moment
HARMONICS = 2  # waves of a cycle: one and two a year, or a day
N_STRETCHES = 5  # stretches of time, one of which is held out
MIN_ROWS = 50


def part_of(part: str, days: Floats) -> Floats:
    """A part of dates, which are days since 1970-01-01; NaN where they are missing.

    The day of the year counts from 1, the day of the week from 0 for Monday, and hours have
    fractions.

    >>> [float(part_of(part, np.array([18322.75]))[0]) for part in PARTS]  # Sunday 2020-03-01 18:00
    [61.0, 6.0, 18.0]
    """
    whole = np.floor(days)
    if part == "hour":
        return np.asarray(np.round((days - whole) * 86_400) / 3600)
    if part == "day of week":
        return np.asarray((whole + 3) % 7)  # 1970-01-01 was a Thursday
    known = ~np.isnan(days)
    result = np.full(days.shape, np.nan)
    date = whole[known].astype(np.int64).astype("datetime64[D]")
    result[known] = (date - date.astype("datetime64[Y]")).astype(np.int64) + 1
    return result


def varies(part: str, days: Floats) -> bool:
    """Whether a part has several values, and is no function of the moment: more than a cycle."""
    known = days[~np.isnan(days)]
    if len(known) == 0 or np.ptp(known) <= PARTS[part]:
        return False
    return len(np.unique(part_of(part, known))) > 1


def helps(part: str, days: Floats, targets: Floats) -> tuple[float, bool]:
    """Evidence that the target varies with a part of a date beyond what the moment says.

    Parameters
    ----------
    part : str
        One of `PARTS`.
    days : ndarray of shape (n,)
        Dates as days since 1970-01-01, NaN where they are missing.
    targets : ndarray of shape (n, k)
        Numbers to predict; of classes their indicators.

    Returns
    -------
    p_value : float
        Smallest p-value of the k targets, times k; 1 if there are too few rows.
    holds : bool
        Whether the target of that p-value is predicted better in stretches of time that were held
        out.
    """
    known = ~np.isnan(days) & ~np.isnan(targets).any(axis=1)
    if known.sum() < MIN_ROWS:
        return 1.0, False
    days, targets = days[known], targets[known]
    moment, cycle = _moment(days), _cycle(part, days)
    rest = targets - moment @ np.linalg.lstsq(moment, targets)[0]
    both = np.hstack([moment, cycle])
    rank = np.linalg.matrix_rank(both)
    extra, free = rank - np.linalg.matrix_rank(moment), len(days) - rank
    without = (rest**2).sum(axis=0)
    left = ((targets - both @ np.linalg.lstsq(both, targets)[0]) ** 2).sum(axis=0)
    if extra < 1 or free < 1:
        return 1.0, False
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = ((without - left) / extra) / (left / free)
    p_values = np.where(
        without > 1e-12 * (targets**2).sum(axis=0), stats.f.sf(ratio, extra, free), 1
    )
    best = int(np.argmin(np.nan_to_num(p_values, nan=1.0)))
    p_value = min(1.0, float(p_values[best]) * targets.shape[1])
    return p_value, _holds(days, cycle, rest[:, best])


def _moment(days: Floats) -> Floats:
    low, high = days.min(), days.max()
    place = 2.0 * (days - low) / (high - low) - 1.0 if high > low else np.zeros(len(days))
    return np.asarray(np.vander(place, DEGREE + 1))


def _cycle(part: str, days: Floats) -> Floats:
    """Waves of a year or a day, or indicators of the days of the week."""
    values = part_of(part, days)
    if part == "day of week":
        return np.asarray(values[:, None] == np.arange(1, 7), dtype=np.float64)
    length = {"day of year": 365.25, "hour": 24.0}[part]
    angle = 2.0 * np.pi * values[:, None] / length * np.arange(1, HARMONICS + 1)
    return np.hstack([np.sin(angle), np.cos(angle)])


def _holds(days: Floats, cycle: Floats, rest: Floats) -> bool:
    """Whether what the cycle says in four stretches of time is right in the fifth.

    It has to be in all stretches together and in all but one of them.
    """
    stretch = np.empty(len(days), np.intp)
    stretch[np.argsort(days, kind="stable")] = np.arange(len(days)) * N_STRETCHES // len(days)
    design = np.hstack([np.ones((len(days), 1)), cycle])
    gains = []
    for number in range(N_STRETCHES):
        inside, held = stretch != number, stretch == number
        weights = np.linalg.lstsq(design[inside], rest[inside])[0]
        plain = rest[inside].mean()
        wrong = (rest[held] - design[held] @ weights) ** 2
        gains.append(float(((rest[held] - plain) ** 2).sum() - wrong.sum()))
    return sum(gains) > 0.0 and sum(gain > 0.0 for gain in gains) >= N_STRETCHES - 1


def words_of_week(values: Iterable[float]) -> npt.NDArray[np.object_]:
    """Names of days of the week; None for NaN."""
    listed = [None if value != value else WEEKDAYS[int(value)] for value in values]
    words: Array = np.empty(len(listed), dtype=object)
    words[:] = listed
    return words
