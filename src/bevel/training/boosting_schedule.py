"""Learning rate and number of iterations of boosting where they are left to the library."""

from __future__ import annotations

__all__ = ["EARLY_STOPPING_ROWS", "choose_learning_rate", "choose_max_iter"]

# From more rows on a share of them is held out to find the number of iterations.
EARLY_STOPPING_ROWS = 10_000


def choose_learning_rate(n_rows: int) -> float:
    """The default of `learning_rate`: with many rows each tree may be trusted more."""
    return 0.05 if n_rows <= EARLY_STOPPING_ROWS else 0.1


def choose_max_iter(learning_rate: float, is_classifier: bool, stops_early: bool) -> int:
    """The default of `max_iter`.

    Without early stopping a classifier gets fewer: its probabilities become too sure of themselves
    long before a regression's values get worse.
    """
    if stops_early:
        return 1000
    at_this_rate = (10.0 if is_classifier else 50.0) / learning_rate
    return max(20, min(2000, round(at_this_rate)))
