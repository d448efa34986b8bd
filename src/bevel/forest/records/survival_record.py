"""The times that the leaves of a survival forest refer to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bevel._types import Floats
from bevel.forest.flat_forest import FlatForest

__all__ = ["SurvivalRecord", "check_curves"]


@dataclass(frozen=True, eq=False)
class SurvivalRecord:
    """What a survival forest knows of time.

    Attributes
    ----------
    event_times : ndarray of float64
        Distinct times at which events were seen in training, ascending. Entries of leaves are
        numbers of these.
    last_time : float
        The largest time in training, of an event or of a censored row; nothing is known beyond.
    n_causes : int
        Kinds of events, which compete. An entry of a leaf has number event time * n_causes + cause.
    """

    event_times: Floats
    last_time: float
    n_causes: int = 1

    @property
    def n_times(self) -> int:
        """Number of event times."""
        return len(self.event_times)

    @property
    def n_numbers(self) -> int:
        """Numbers that entries of leaves may have."""
        return self.n_times * self.n_causes


def check_curves(forest: FlatForest, n_times: int) -> None:
    """Raise ValueError unless leaves without classes have entries of so many event times."""
    if forest.n_classes:
        return
    is_leaf = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    times = forest.entry_index[is_leaf]
    if len(times) and times.max() >= n_times:
        required = f"event times from 0 to {n_times - 1}" if n_times else "no entries"
        raise ValueError(f"The leaves of the forest must have {required}; got {times.max()}.")
