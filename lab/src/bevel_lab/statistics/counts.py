"""How often a system was best, or as good as the best."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel_lab.statistics.ranks import DECIMALS
from bevel_lab.statistics.significance import corrected_t_test, wilcoxon

__all__ = ["MIN_FOR_WILCOXON", "best_or_alike", "wins_ties_losses", "within_one_deviation"]

# The smallest two-sided p-value of n pairs is 2 / 2^n: below six pairs it cannot reach 5 %.
MIN_FOR_WILCOXON = 6


def wins_ties_losses(ours: ArrayLike, theirs: ArrayLike) -> tuple[int, int, int]:
    """On how many data sets the first has the lower, the same and the higher value."""
    difference = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    sign = np.sign(np.round(difference, DECIMALS))
    return int(np.sum(sign < 0)), int(np.sum(sign == 0)), int(np.sum(sign > 0))


def best_or_alike(
    scores: ArrayLike, *, alpha: float = 0.05, test_share: float | None = None
) -> NDArray[np.bool_]:
    """Mark the best system of one data set and those not significantly worse (Menze, Table 1).

    The best has the lowest mean over the splits; each other one is compared with it by a two-sided
    paired test of Wilcoxon. On fewer than six splits that test can never reject at 5 %;
    there `corrected_t_test` takes its place when `test_share` is known.

    Parameters
    ----------
    scores : array-like, shape (n_systems, n_splits)
        Lower is better; a system that lacks a split (NaN) is not marked.
    alpha : float, default=0.05
    test_share : float, optional
        Rows tested in a split as a share of all.

    Returns
    -------
    array of bool, shape (n_systems,)
    """
    values = np.asarray(scores, dtype=np.float64)
    whole = np.isfinite(values).all(axis=1)
    alike = np.zeros(len(values), dtype=np.bool_)
    if not whole.any():
        return alike
    means = np.where(whole, np.round(values.mean(axis=1), DECIMALS), np.inf)
    best = int(np.argmin(means))
    small = values.shape[1] < MIN_FOR_WILCOXON and test_share is not None
    for system in np.flatnonzero(whole):
        if means[system] == means[best]:
            p_value = 1.0
        elif small:
            assert test_share is not None
            p_value = corrected_t_test(values[system], values[best], test_share)
        else:
            p_value = wilcoxon(values[system], values[best])
        alike[system] = p_value >= alpha
    return alike


def within_one_deviation(table: ArrayLike) -> NDArray[np.bool_]:
    """Mark values within one cross-sectional standard deviation of their row's best (Blaser 1.6).

    The deviation of a data set is that over its systems (n − 1 in the denominator).
    """
    values = np.asarray(table, dtype=np.float64)
    best = values.min(axis=1, keepdims=True)
    reach = values.std(axis=1, ddof=1, keepdims=True)
    return np.asarray(np.round(values - best, DECIMALS) <= np.round(reach, DECIMALS))
