"""Curves of a survival forest: averages of what the leaves of a row hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bevel._types import Floats, Ints32
from bevel.errors import wrong_value
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.records.survival_record import SurvivalRecord

__all__ = [
    "StepFunction",
    "curves",
    "median_times",
    "read_times",
    "survival_record",
]

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


def survival_record(fitted: FittedForest, caller: str) -> SurvivalRecord:
    """The times of a survival forest; raises for other forests."""
    if fitted.survival is None:
        raise ValueError(
            f"{caller} needs a survival forest; got a "
            f"{'regression' if fitted.classes is None else 'classifier'}. Fit "
            "ObliqueSurvivalForest on times and events."
        )
    return fitted.survival


def read_times(times: object, record: SurvivalRecord) -> Floats:
    """Times at which curves are wanted, ascending; those of the training events by default."""
    if times is None:
        return record.event_times
    try:
        values = np.atleast_1d(np.asarray(times, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    good = values.ndim == 1 and len(values) > 0 and bool(np.isfinite(values).all())
    if not (good and (values >= 0.0).all() and (np.diff(values) > 0.0).all()):
        required = "None or ascending times of 0 or more"
        raise wrong_value("times", required, times, "Sort them with np.unique(times).")
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
    record = survival_record(fitted, "A survival curve")
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
    times = survival_record(fitted, "A median").event_times
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
