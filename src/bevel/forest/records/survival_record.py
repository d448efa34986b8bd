"""The times that the leaves of a survival forest refer to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bevel._types import Floats
from bevel.forest.flat_forest import FlatForest

__all__ = ["SurvivalRecord", "check_curves"]

ROUNDING = 1e-5  # rounding error of sums of jumps in float32


@dataclass(frozen=True, eq=False)
class SurvivalRecord:
    """Event times and causes of a survival forest.

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
        """Exclusive upper bound on the numbers of the entries of leaves."""
        return self.n_times * self.n_causes


def check_curves(forest: FlatForest, n_times: int, n_causes: int = 1) -> None:
    """Raise ValueError unless leaves have valid entries for these numbers of times and causes."""
    if forest.n_classes:
        return
    is_leaf = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    numbers = forest.entry_index[is_leaf]
    most = n_times * n_causes
    if len(numbers) and numbers.max() >= most:
        required = f"event times from 0 to {most - 1}" if most else "no entries"
        raise ValueError(f"The leaves of the forest must have {required}; got {numbers.max()}.")
    if n_causes == 1 or not len(numbers):
        return
    node = np.repeat(np.arange(forest.n_nodes), np.diff(forest.entry_offset))[is_leaf]
    first = np.flatnonzero(np.diff(node * n_times + numbers // n_causes, prepend=-1))
    total = np.add.reduceat(forest.entry_weight[is_leaf].astype(np.float64), first).max()
    if not total <= 1.0 + ROUNDING:
        raise ValueError(
            f"The hazards of all causes must jump by at most 1 at a time; got {total:g}."
        )
