"""Curves of survival forests, and how well risks order times."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from bevel._types import Floats, Ints32, Ints64
from bevel.data.survival import SurvivalTarget
from bevel.data.tables import fill_masked
from bevel.errors import wrong_value
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.task import Survival, SurvivalByRisk

__all__ = [
    "StepFunction",
    "concordance",
    "concordance_and_error",
    "curves",
    "fit_baseline",
    "median_times",
    "read_times",
    "risk_task",
    "survival_task",
]

# Harrell's concordance of risks with right-censored times.

MAX_HAZARD = 1e300  # a row of risk 0, where all rows at risk have the lowest ones
MAX_LOG_SPREAD = 5.0  # of times (kLargestLogScale in survival.cpp)
TIED = 1e-8  # risks that differ by no more are tied, as in scikit-survival


def concordance(target: SurvivalTarget, risk: Floats) -> float:
    """Share of the comparable pairs in which the row of the earlier event has the higher risk.

    A pair is comparable if the earlier time is that of an event; of two rows of the same time, if
    one has the event and the other is censored. A row that entered late is compared with events
    after its entry. Tied risks count one half. NaN without a pair.

    Parameters
    ----------
    target : SurvivalTarget
        Times and events.
    risk : ndarray of float64, shape (n,)
        Risk scores, higher for earlier events.
    """
    return concordance_and_error(target, risk)[0]


def concordance_and_error(target: SurvivalTarget, risk: Floats) -> tuple[float, float]:
    """The concordance, and its standard error over the choice of the rows.

    O(n log n): pairs are counted, not compared one by one. The concordance is a ratio of two sums
    over pairs of rows. Its variance is that of the rows' own shares in them (Hoeffding's
    projection), to first order. Both are NaN without a pair.

    Parameters
    ----------
    target : SurvivalTarget
        Times and events.
    risk : ndarray of float64, shape (n,)
        Risk scores, higher for earlier events; finite.
    """
    order = np.lexsort((~target.event, target.time))  # events before censored rows of the same time
    time, risk = target.time[order], risk[order]
    earlier = np.flatnonzero(target.event[order])
    times = time[earlier]
    # First row that a row with an event can be compared with: after the events of its time.
    n_events = np.searchsorted(times, times, "right") - np.searchsorted(times, times, "left")
    later = np.searchsorted(time, times, "left") + n_events
    # Events that a row can be compared with because it was seen later: those in [first, last).
    last = np.searchsorted(later, np.arange(len(time)), "right")
    first = np.zeros(len(time), dtype=np.int64)
    if target.entry is not None:
        first = np.searchsorted(times, target.entry[order], "right")
    place, below, up_to = _risk_places(risk, risk[earlier])

    pairs = (last - first).astype(np.float64)  # that each row belongs to
    good = pairs - 0.5 * sum(_count(bound, first, last, place + 1) for bound in (below, up_to))
    n_rows = np.full(len(later), len(time))
    pairs[earlier] += n_rows - later
    good[earlier] += 0.5 * sum(_count(place, later, n_rows, bound) for bound in (below, up_to))
    if target.entry is not None:  # but not with rows that entered after the event
        entry = target.entry[order]
        by_entry = np.argsort(entry, kind="stable")
        start = np.searchsorted(entry[by_entry], times, "left")
        places = place[by_entry]
        pairs[earlier] -= n_rows - start
        good[earlier] -= 0.5 * sum(_count(places, start, n_rows, at) for at in (below, up_to))
    total = pairs.sum() / 2.0
    if total == 0.0:
        return float("nan"), float("nan")
    share = float(good.sum() / 2.0 / total)
    return share, float(np.sqrt(((good - share * pairs) ** 2).sum()) / total)


def _risk_places(risk: Floats, of_events: Floats) -> tuple[Ints64, Ints64, Ints64]:
    """Positions of all risks in sorted order; for events also how many risks are below theirs, and
    how many are below or tied.
    """
    order = np.argsort(risk, kind="stable")
    place = np.empty(len(risk), dtype=np.int64)
    place[order] = np.arange(len(risk))
    ascending = risk[order]
    below = _first_place(ascending, of_events, lambda difference: difference <= TIED)
    return place, below, _first_place(ascending, of_events, lambda difference: difference < -TIED)


def _first_place(
    ascending: Floats, values: Floats, holds: Callable[[Floats], npt.NDArray[np.bool_]]
) -> Ints64:
    """Where `holds(value - ascending)` begins to hold, by halving: differences are rounded, so that
    a search for `value - TIED` could end one place beside it.
    """
    low = np.zeros(len(values), dtype=np.int64)
    high = np.full(len(values), len(ascending))
    for _ in range(len(ascending).bit_length()):
        middle = (low + high) // 2
        open_ = low < high
        found = holds(values - ascending[np.minimum(middle, len(ascending) - 1)])
        high = np.where(open_ & found, middle, high)
        low = np.where(open_ & ~found, middle + 1, low)
    return low


def _count(numbers: Ints64, first: Ints64, last: Ints64, bound: Ints64) -> Ints64:
    """Count how many of numbers[first:last] are below a bound, for many queries at once.

    The numbers are divided bit by bit, from the highest on, into those without and with the bit,
    in their order (a wavelet matrix): ranges stay ranges, and each bit of a bound costs two looks
    into a cumulative sum. O((n + queries) log n).
    """
    found = np.zeros(len(bound), dtype=np.int64)
    largest = max(int(numbers.max(initial=0)), int(bound.max(initial=0)))
    for bit in range(largest.bit_length() - 1, -1, -1):
        has_bit = (numbers >> bit) & 1 == 1
        without = np.concatenate(([0], np.cumsum(~has_bit)))
        first_without, last_without = without[first], without[last]
        takes = (bound >> bit) & 1 == 1
        found += np.where(takes, last_without - first_without, 0)
        first = np.where(takes, without[-1] + first - first_without, first_without)
        last = np.where(takes, without[-1] + last - last_without, last_without)
        numbers = np.concatenate((numbers[~has_bit], numbers[has_bit]))
    return found


# Curves of a survival forest: averages of what the leaves of a row hold.

KINDS = ("hazard", "survival", "incidence")  # as the core numbers them
BLOCK_BYTES = 2**26  # memory of the curves of a block


class StepFunction:
    """A curve that jumps at some times and is constant in between.

    Attributes
    ----------
    x : ndarray
        Times of the jumps, ascending.
    y : ndarray
        Values from each time on.
    before : float
        Value before the first jump.
    domain : tuple of float
        First and last time that the curve is known at. A curve without an end stays as it is.
    """

    def __init__(
        self, x: Floats, y: Floats, before: float, domain: tuple[float, float] = (0.0, np.inf)
    ) -> None:
        self.x, self.y, self.before, self.domain = x, y, before, domain

    def __call__(self, times: object) -> Floats:
        """Values at some times; raises ValueError for times outside the domain."""
        asked = np.asarray(times, dtype=np.float64)
        first, last = self.domain
        outside = asked[~((asked >= first) & (asked <= last))]
        if outside.size:
            required = f"from {first:g} to {last:g}, where the curve is known"
            remedy = f"Cut them off, for example with np.clip(times, {first:g}, {last:g})."
            raise wrong_value("times", required, outside.flat[0], remedy)
        place = np.searchsorted(self.x, asked, side="right")
        values: Floats = np.concatenate(([self.before], self.y))[place]
        return values

    def __repr__(self) -> str:
        first, last = self.x[0], self.x[-1]
        return f"StepFunction({len(self.x)} steps from {first:g} to {last:g})"


def survival_task(fitted: FittedForest, caller: str) -> Survival:
    """The task of a survival forest; raises for other forests."""
    if isinstance(fitted.task, Survival):
        return fitted.task
    raise ValueError(
        f"{caller} needs a survival forest; got {fitted.task.model}. Fit ObliqueSurvivalForest on "
        "times and events."
    )


def risk_task(fitted: FittedForest) -> SurvivalByRisk:
    """The task of survival boosting."""
    assert isinstance(fitted.task, SurvivalByRisk)
    return fitted.task


def fit_baseline(
    target: SurvivalTarget, risk: Floats, weights: Floats, distribution: str
) -> SurvivalByRisk:
    """The curve of a row of risk 0, from rows of known risks.

    Parameters
    ----------
    target : SurvivalTarget
        Times, events and entries.
    risk, weights : ndarray of float64, shape (n,)
        Risks and weights of the rows.
    distribution : str
        As of `SurvivalByRisk`.
    """
    times, last = target.event_times, float(target.time.max())
    if distribution != "cox":
        spread = _best_spread(target, risk, weights, distribution)
        return SurvivalByRisk(times, last, np.empty(0), distribution, spread)
    ratio = weights * np.exp(np.clip(risk, -230.0, 230.0))
    place = np.searchsorted(times, target.time[target.event])
    events = np.bincount(place, weights[target.event], minlength=len(times))
    own = np.bincount(place, ratio[target.event], minlength=len(times))
    leaves = np.searchsorted(times, target.time, side="right")
    at_risk = np.bincount(leaves, ratio, minlength=len(times) + 1)[::-1].cumsum()[::-1][1:]
    if target.entry is not None:
        enters = np.searchsorted(times, target.entry, side="right")
        at_risk -= np.bincount(enters, ratio, minlength=len(times) + 1)[::-1].cumsum()[::-1][1:]
    hazard = np.cumsum(events / np.maximum(at_risk, own))
    return SurvivalByRisk(times, last, np.minimum(hazard, MAX_HAZARD))


def _best_spread(target: SurvivalTarget, risk: Floats, weights: Floats, distribution: str) -> float:
    """Spread of the logarithms of times of the highest likelihood."""

    def loss(log_spread: float) -> float:
        z = (np.log(target.time) + risk) * np.exp(-log_spread)
        hazard = _cumulative_hazard(z, distribution)
        if target.entry is not None:
            late = target.entry > 0.0
            entered = (np.log(target.entry[late]) + risk[late]) * np.exp(-log_spread)
            hazard[late] -= _cumulative_hazard(entered, distribution)
        log_slope = z if distribution == "weibull" else z - np.logaddexp(0.0, z)
        return float(weights @ (hazard + target.event * (log_spread - log_slope)))

    found = minimize_scalar(loss, bounds=(-MAX_LOG_SPREAD, MAX_LOG_SPREAD), method="bounded")
    return float(np.exp(found.x))


def _cumulative_hazard(z: Floats, distribution: str) -> Floats:
    if distribution == "weibull":
        return np.exp(np.clip(z, -230.0, 230.0))
    return np.logaddexp(0.0, z)


def read_times(times: object, record: Survival | SurvivalByRisk) -> Floats:
    """Times at which curves are wanted, ascending; those of the training events by default.

    Warns of times beyond the last one of the training rows, where curves stay as they are.
    """
    if times is None:
        return record.event_times
    try:
        values = np.atleast_1d(np.asarray(fill_masked(times), dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    good = values.ndim == 1 and len(values) > 0 and bool(np.isfinite(values).all())
    if not (good and (values >= 0.0).all() and (np.diff(values) > 0.0).all()):
        required = "None or ascending times of 0 or more"
        raise wrong_value("times", required, times, "Sort them with np.unique(times).")
    if values[-1] > record.last_time:
        warnings.warn(
            f"times should be at most {record.last_time:g}, the last time of the training rows; "
            f"got {values[-1]:g}. Nothing is known beyond: the curves stay constant there.",
            UserWarning,
            stacklevel=4,
        )
    return values


def curves(
    fitted: FittedForest,
    leaves: Ints32,
    times: Floats,
    kind: str,
    n_threads: int,
    cause: int = 0,
) -> Floats:
    """Mean curve of each row over its trees, at ascending times.

    Parameters
    ----------
    fitted : FittedForest
        A survival forest.
    leaves : ndarray of int32, shape (n, n_trees)
        Leaf of each row in each tree, -1 where a tree does not count for a row.
    times : ndarray of float64
        Times to evaluate, ascending.
    kind : {"survival", "hazard", "incidence"}
        Mean Kaplan–Meier curve of the leaves, mean cumulative hazard (Nelson–Aalen), both of all
        causes together, or mean cumulative incidence of one cause (Aalen–Johansen).
    n_threads : int
        Threads to use.
    cause : int, default=0
        Cause of the incidence, from 0 on.
    """
    record = survival_task(fitted, "A survival curve")
    first = np.searchsorted(times, record.event_times, side="left").astype(np.int32)
    view = fitted.packed_predictor.view
    found: Floats = view.survival_curves(
        leaves, first, len(times), KINDS.index(kind), n_threads, record.n_causes, cause
    )
    if kind == "survival":
        np.maximum(found, 0.0, out=found)  # rounding may leave sums just below 0
    elif kind == "incidence":
        np.minimum(found, 1.0, out=found)  # or just above 1
    return found


def in_blocks(
    n_rows: int, n_times: int, work: Callable[[slice], Floats]
) -> Iterator[tuple[slice, Floats]]:
    """Results of `work` on blocks of rows whose curves fit in memory."""
    step = max(1, BLOCK_BYTES // (8 * max(1, n_times)))
    for first in range(0, n_rows, step):
        rows = slice(first, min(n_rows, first + step))
        yield rows, work(rows)


def median_times(fitted: FittedForest, leaves: Ints32, n_threads: int, share: float) -> Floats:
    """First time at which the survival curve of each row is at most `share`; infinite if never."""
    times = survival_task(fitted, "A median").event_times
    out = np.full(len(leaves), np.inf)

    def work(rows: slice) -> Floats:
        return curves(fitted, leaves[rows], times, "survival", n_threads)

    for rows, values in in_blocks(len(leaves), len(times), work):
        # Products of rounded jumps may lie just above the share that they should equal.
        below = values <= share + 1e-9
        reached = below.any(axis=1)
        out[rows] = np.where(reached, times[below.argmax(axis=1)], np.inf)
        out[rows][np.isnan(values).any(axis=1)] = np.nan
    return out
