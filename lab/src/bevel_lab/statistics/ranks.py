"""Ranks of systems on data sets: 1 is the best, ties share the mean of their ranks."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

__all__ = ["complete_rows", "hyperparameter_ranks", "mean_ranks", "rank_shares", "ranks"]

DECIMALS = 12  # means of equal errors may differ by rounding; they are ties all the same


def complete_rows(table: ArrayLike) -> NDArray[np.bool_]:
    """Which data sets have a value of every system."""
    return np.asarray(np.isfinite(np.asarray(table, dtype=np.float64)).all(axis=1))


def ranks(table: ArrayLike) -> NDArray[np.float64]:
    """Rank the systems (columns) of each data set (row) by rising value."""
    values = np.round(np.asarray(table, dtype=np.float64), DECIMALS)
    return np.asarray(rankdata(values, axis=1), dtype=np.float64)


def mean_ranks(table: ArrayLike) -> NDArray[np.float64]:
    """Mean rank of each system over the data sets (Blaser, Table 1.2)."""
    return np.asarray(ranks(table).mean(axis=0))


def rank_shares(table: ArrayLike) -> NDArray[np.float64]:
    """Share of data sets on which a system took a place (SPORF, Fig. 5B).

    Returns
    -------
    array, shape (n_systems, n_systems)
        ``[system, place]``, rows sum to 1. A tie over several places counts equally in each.
    """
    values = np.round(np.asarray(table, dtype=np.float64), DECIMALS)
    low = rankdata(values, axis=1, method="min")
    high = rankdata(values, axis=1, method="max")
    places = np.arange(1, values.shape[1] + 1)
    taken = (places >= low[..., None]) & (places <= high[..., None])  # sets x systems x places
    return np.asarray((taken / (high - low + 1)[..., None]).mean(axis=0))


def hyperparameter_ranks(errors: ArrayLike) -> NDArray[np.float64]:
    """Median rank of each hyperparameter setting (SPORF, section 5.2 and Fig. 6).

    Settings are ranked in each fold, ranks averaged over the folds of a data set, and the median
    taken over the data sets.

    Parameters
    ----------
    errors : array-like, shape (n_sets, n_folds, n_settings)

    Returns
    -------
    array, shape (n_settings,)
        Lower is better.
    """
    values = np.asarray(errors, dtype=np.float64)
    n_sets, n_folds, n_settings = values.shape
    within = ranks(values.reshape(-1, n_settings)).reshape(n_sets, n_folds, n_settings)
    return np.asarray(np.median(within.mean(axis=1), axis=0))
