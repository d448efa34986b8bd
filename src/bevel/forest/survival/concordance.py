"""Harrell's concordance of risks with right-censored times."""

from __future__ import annotations

import numpy as np

from bevel._types import Floats
from bevel.data.survival import SurvivalTarget

__all__ = ["concordance", "concordance_and_error"]

TIED = 1e-8  # risks that differ by no more are tied, as in scikit-survival
BLOCK = 2**22  # pairs that are compared at a time


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
        Higher for earlier events.
    """
    return concordance_and_error(target, risk)[0]


def concordance_and_error(target: SurvivalTarget, risk: Floats) -> tuple[float, float]:
    """The concordance, and its standard error over the choice of the rows.

    It is a ratio of two sums over pairs of rows. Its variance is that of the rows' own shares in
    them (Hoeffding's projection), to first order. Both are NaN without a pair.

    Parameters
    ----------
    target : SurvivalTarget
        Times and events.
    risk : ndarray of float64, shape (n,)
        Higher for earlier events.
    """
    order = np.lexsort((~target.event, target.time))  # events before censored rows of their time
    time, event, risk = target.time[order], target.event[order], risk[order]
    entry = None if target.entry is None else target.entry[order]
    earlier = np.flatnonzero(event)
    # The first row that a row with an event can be compared with: behind the events of its time.
    times = time[earlier]
    n_events = np.searchsorted(times, times, "right") - np.searchsorted(times, times, "left")
    later = np.searchsorted(time, times, "left") + n_events
    good, pairs = np.zeros(len(time)), np.zeros(len(time))  # of which each row is a part
    step = max(1, BLOCK // max(1, len(time)))
    for first in range(0, len(earlier), step):
        rows = earlier[first : first + step]
        difference = risk[rows, None] - risk[None, :]
        may = np.arange(len(time))[None, :] >= later[first : first + step, None]
        if entry is not None:
            may &= entry[None, :] < time[rows, None]
        near = np.abs(difference) <= TIED
        won = may * np.where(near, 0.5, difference > 0.0)
        for sums, values in ((good, won), (pairs, may)):
            sums += values.sum(axis=0)
            sums[rows] += values.sum(axis=1)
    total = pairs.sum() / 2.0
    if total == 0.0:
        return float("nan"), float("nan")
    share = float(good.sum() / 2.0 / total)
    return share, float(np.sqrt(((good - share * pairs) ** 2).sum()) / total)
