"""Learning rate and number of iterations of boosting where they are left to the library."""

from __future__ import annotations

from bevel._types import Floats

__all__ = [
    "EARLY_STOPPING_ROWS",
    "FEWEST_ROWS_TO_HOLD_OUT",
    "REFIT_FACTOR",
    "choose_learning_rate",
    "choose_max_iter",
    "choose_refit_rate",
    "choose_validation_fraction",
    "is_clearly_better",
]

# With more rows, the rows that find the number of iterations are not fitted again.
EARLY_STOPPING_ROWS = 10_000
# With fewer rows, the held-out ones are too few to decide.
FEWEST_ROWS_TO_HOLD_OUT = 100
# Iterations on all rows for each that was best without the held-out fifth of them. The validation
# loss is flat around its minimum, and classes are still separated better beyond it.
REFIT_FACTOR = 1.5
# Smaller differences, as a share of the loss, are noise on a few held-out rows.
CLEAR_DIFFERENCE = 0.03


def choose_learning_rate(n_rows: int, is_classifier: bool, refits: bool) -> float:
    """The default of `learning_rate`: with many rows each tree may be trusted more.

    A regression that is refitted searches only for its number of iterations, with larger steps.
    """
    if refits and not is_classifier:
        return 0.1
    return 0.05 if n_rows <= EARLY_STOPPING_ROWS else 0.1


def choose_refit_rate(is_classifier: bool) -> float:
    """The default of `learning_rate` where all rows are fitted again."""
    return 0.05 if is_classifier else 0.03


def choose_validation_fraction(refits: bool) -> float:
    """The default of `validation_fraction`: rows that are fitted again cost nothing."""
    return 0.2 if refits else 0.1


def choose_max_iter(
    learning_rate: float, is_classifier: bool, stops_early: bool, n_outputs: int = 1
) -> int:
    """The default of `max_iter`.

    A classifier without early stopping gets fewer: its probabilities become overconfident
    long before the predictions of a regression get worse.
    """
    if stops_early:
        return 1000 if n_outputs == 1 else 600
    at_this_rate = (10.0 if is_classifier else 50.0) / learning_rate
    return round(max(20.0, min(2000.0, at_this_rate)))  # infinite for the smallest rates


def is_clearly_better(loss: Floats, other: Floats) -> bool:
    """Whether the lowest validation loss of some iterations is clearly below that of others.

    Parameters
    ----------
    loss, other : ndarray
        Validation loss of each iteration; minus the score, where a scorer decides when to stop.
    """
    if not len(loss) or not len(other):
        return False
    lowest, reference = float(loss.min()), float(other.min())
    return reference - lowest > CLEAR_DIFFERENCE * abs(reference)
