"""Learning rate and number of iterations of boosting where they are left to the library."""

from __future__ import annotations

__all__ = ["EARLY_STOPPING_ROWS", "choose_learning_rate", "choose_max_iter"]

# From more rows on a share of them is held out to find the number of iterations.
EARLY_STOPPING_ROWS = 10_000


def choose_learning_rate(n_rows: int) -> float:  # noqa: ARG001
    """The default of `learning_rate`."""
    return 0.05


def choose_max_iter(n_rows: int, learning_rate: float, stops_early: bool) -> int:  # noqa: ARG001
    """The default of `max_iter`."""
    return 1000 if stops_early else 300
