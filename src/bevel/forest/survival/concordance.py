"""Harrell's concordance of risks with right-censored times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.data.survival import SurvivalTarget

__all__ = ["concordance", "concordance_and_error"]

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
