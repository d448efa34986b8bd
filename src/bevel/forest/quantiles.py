"""Conditional quantiles: quantiles of the training targets under a row's forest weights."""

from __future__ import annotations

import numbers
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.errors import wrong_type, wrong_value
from bevel.forest.kept_targets import KeptTargets
from bevel.forest.predictor import PackedPredictor

__all__ = ["blocks_of_rows", "conditional_quantiles", "interval_levels", "read_levels"]


# Rows x trees of one call into the core: half a second or less, so that Ctrl-C is noticed soon.
BLOCK_SIZE = 2**20


def read_levels(quantiles: npt.ArrayLike) -> Floats:
    """Levels of quantiles as an array; raises unless they are one or more numbers from 0 to 1."""
    required, remedy = "numbers from 0 to 1", "Write for example [0.05, 0.5, 0.95]."
    try:
        levels = np.asarray(quantiles, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong_type("quantiles", required, quantiles, remedy) from None
    if levels.ndim > 1 or levels.size == 0 or not ((levels >= 0) & (levels <= 1)).all():
        raise wrong_value("quantiles", required, quantiles, remedy)
    return levels


def interval_levels(coverage: float) -> Floats:
    """Levels of the two ends of a central interval; raises unless 0 < coverage < 1."""
    complaint = ("coverage", "a number between 0 and 1", coverage, "Write for example 0.9.")
    if not isinstance(coverage, numbers.Real) or isinstance(coverage, bool):
        raise wrong_type(*complaint)
    if not 0 < coverage < 1:
        raise wrong_value(*complaint)
    return np.array([(1 - coverage) / 2, (1 + coverage) / 2])


def conditional_quantiles(
    predictor: PackedPredictor,
    targets: KeptTargets,
    X: npt.NDArray[np.float32],
    levels: Floats,
    n_threads: int,
    trees: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Smallest target at which the weights of all targets up to it reach each level.

    Parameters
    ----------
    predictor : PackedPredictor
        The forest.
    targets : KeptTargets
        Training targets in its leaves.
    X : ndarray of float32, shape (n, p)
        Rows, encoded.
    levels : ndarray of float64, shape (k,)
        Levels from 0 to 1, in any order.
    n_threads : int
        Threads to use; does not change the result.
    trees : ndarray of bool, shape (n, n_trees), default=None
        Which trees predict which row; None: all.

    Returns
    -------
    ndarray of shape (n, k)
        NaN for rows that no tree predicts.
    """
    ascending, place = np.unique(levels, return_inverse=True)
    rows = targets.leaf_rows
    found = np.empty((len(X), len(ascending)))
    for block in blocks_of_rows(len(X), predictor.forest.n_trees):
        found[block] = _core.neighbour_quantiles(
            predictor.view,
            X[block],
            rows.offset,
            rows.row,
            rows.weight,
            targets.value,
            ascending,
            None if trees is None else np.ascontiguousarray(trees[block]),
            n_threads,
        )
    return found[:, place.ravel()]


def blocks_of_rows(n_rows: int, n_trees: int) -> Iterator[slice]:
    """Slices of rows, each of which goes into the core in one call."""
    step = max(1, BLOCK_SIZE // n_trees)
    return (slice(first, first + step) for first in range(0, n_rows, step))
