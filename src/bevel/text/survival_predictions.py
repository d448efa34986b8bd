"""Predictions of the nodes of a survival tree: median times, events and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import AnyInts, Floats
from bevel.forest.flat_forest import TreeView
from bevel.forest.records.survival_record import SurvivalRecord
from bevel.forest.subforest import gather
from bevel.text.decimals import counted, percent, round_within, written
from bevel.text.node_predictions import NodePredictions, read_predictions

__all__ = ["SurvivalPredictions", "read_survival_predictions"]

HALF = 0.5 - 1e-9  # sums of rounded jumps may be slightly too low


@dataclass(frozen=True, eq=False)
class SurvivalPredictions(NodePredictions):
    """Predictions of some nodes; `means` are their risks.

    Attributes
    ----------
    median : ndarray
        First time at which the survival curve of a node is at most one half; infinite if never.
    left : ndarray
        Survival curve at its end.
    n_times : ndarray of int
        Number of times at which rows of a node had events.
    """

    median: Floats
    left: Floats
    n_times: AnyInts

    def prediction(self, place: int) -> str:
        """Median survival of a node, or the surviving share at the end."""
        if np.isnan(self.median[place]):
            return ""
        if np.isinf(self.median[place]):
            return f"median survival not reached, {percent(float(self.left[place]))} left"
        median = float(self.median[place])
        return f"median survival {written(round_within(median, 5e-4 * median))}"

    def summary(self, place: int) -> str:
        """Median survival, event times and rows of a node."""
        parts = [self.prediction(place)]
        if not np.isnan(self.median[place]):
            n = int(self.n_times[place])
            parts.append("no event" if n == 0 else f"events at {n} time{'' if n == 1 else 's'}")
        if not np.isnan(self.rows[place]):
            parts.append(counted(float(self.rows[place])))
        return ", ".join(part for part in parts if part)

    def entry(self, place: int) -> dict[str, Any]:
        """Prediction of a node as plain values; unknown ones are left out."""
        found = super().entry(place)
        if np.isnan(self.median[place]):
            return found
        median = float(self.median[place])
        return found | {
            "median": None if np.isinf(median) else median,
            "survival_at_end": float(self.left[place]),
            "event_times": int(self.n_times[place]),
        }

    def columns(self) -> dict[str, Any]:
        """The predictions as columns."""
        own = {"median": self.median, "survival_at_end": self.left, "event_times": self.n_times}
        return super().columns() | own


def read_survival_predictions(
    tree: TreeView,
    node: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    record: SurvivalRecord,
) -> SurvivalPredictions:
    """Predictions of nodes whose subtrees end before `end`.

    The curve of a split is the weighted mean of those of its leaves; a slim forest has no weights,
    and only the curves of leaves.
    """
    plain = read_predictions(tree, node, end, ())
    leaf = np.flatnonzero(tree.children_right < 0)
    forest = tree.forest
    entry, offset = gather(forest.entry_offset, leaf + tree.nodes.start)
    time = forest.entry_index[entry] // record.n_causes
    weight = np.ones(len(leaf)) if forest.is_slim else tree.weight[leaf].astype(np.float64)
    fall = _falls(time, forest.entry_weight[entry].astype(np.float64), offset)
    first, last = np.searchsorted(leaf, node), np.searchsorted(leaf, end)
    median, left = np.full(len(node), np.nan), np.full(len(node), np.nan)
    n_times = np.zeros(len(node), dtype=np.int64)
    for k, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if forest.is_slim and high - low > 1:
            continue
        some = slice(int(offset[low]), int(offset[high]))
        share = weight[low:high] / weight[low:high].sum()
        each = fall[some] * np.repeat(share, np.diff(offset[low : high + 1]))
        order = np.argsort(time[some], kind="stable")
        gone = np.cumsum(each[order])
        place = int(np.searchsorted(gone, HALF))
        reached = place < len(gone)
        median[k] = record.event_times[time[some][order[place]]] if reached else np.inf
        left[k] = max(0.0, 1.0 - float(gone[-1])) if len(gone) else 1.0
        n_times[k] = len(np.unique(time[some]))
    return SurvivalPredictions(
        (), plain.rows, plain.gain, plain.means, plain.range, median, left, n_times
    )


def _falls(time: AnyInts, jump: Floats, offset: npt.NDArray[np.int64]) -> Floats:
    """Decrease of the Kaplan-Meier curve of a leaf at each of its entries."""
    fall = np.empty(len(jump))
    for low, high in zip(offset[:-1].tolist(), offset[1:].tolist(), strict=True):
        _, place = np.unique(time[low:high], return_inverse=True)  # all causes of a time are merged
        at_time = np.bincount(place, jump[low:high])
        before = np.concatenate(([1.0], np.cumprod(1.0 - at_time)))
        fall[low:high] = before[place] * jump[low:high]
    return fall
