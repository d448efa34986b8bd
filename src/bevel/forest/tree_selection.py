"""Chooses the trees of a forest to keep when their number is limited.

The squared error of an average of trees is the mean, over all pairs of them, of the product of
their errors:

    (y - mean_t p_t)^2 = mean_s mean_t (y - p_s)(y - p_t)

For two trees the mean product is estimated on the training rows that are out of both bags. For
classes p is the vector of class shares, the product that of vectors, and the error the Brier score.
A subset is good when its trees are good (the diagonal) and err on different rows (the rest).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Target
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor, tree_predictions
from bevel.forest.training_rows import TrainingRows

__all__ = ["best_subset", "pair_errors"]


# Entries of a block of errors, rows x trees x classes: 32 MB.
BLOCK_SIZE = 2**22


def pair_errors(
    predictor: PackedPredictor, rows: TrainingRows, n_threads: int, hard: bool = False
) -> Floats:
    """Mean product of the errors of any two trees, on rows out of both bags.

    Pairs without such rows count as the mean pair. The work is that of multiplying an
    (n_trees, n_rows * n_classes) matrix with its transpose.

    Parameters
    ----------
    predictor : PackedPredictor
        The forest.
    rows : TrainingRows
        Its training rows.
    n_threads : int
        Threads that look for leaves.
    hard : bool, default=False
        Whether trees vote.

    Returns
    -------
    ndarray of shape (n_trees, n_trees)
    """
    forest = predictor.forest
    n_trees, n_columns = forest.n_trees, max(1, forest.n_classes)
    unit = _unit(forest, rows.target)
    products = np.zeros((n_trees, n_trees))
    counts = np.zeros((n_trees, n_trees))
    step = max(1, BLOCK_SIZE // (n_trees * n_columns))
    for first in range(0, len(rows.X), step):
        block = slice(first, first + step)
        leaves = predictor.leaves(rows.X[block], n_threads) + forest.tree_offset[:-1]
        out = rows.out[block].T.astype(np.float64)
        errors = _errors(forest, leaves.T, rows.target[block], hard)
        errors = np.rint(errors / unit) * out[:, :, None]
        flat = errors.reshape(n_trees, -1)
        products += flat @ flat.T
        counts += out @ out.T
    known = counts > 0
    means = unit**2 * products / np.maximum(counts, 1)
    means[~known] = means[known].mean() if known.any() else 0.0
    return means


def best_subset(errors: Floats, n: int) -> npt.NDArray[np.int64]:
    """Numbers of n trees whose average errs little, in ascending order.

    Trees are added one by one, each time the one that leaves the smallest error; ties go to the
    lower number.

    Parameters
    ----------
    errors : ndarray of shape (n_trees, n_trees)
        Matrix from `pair_errors`.
    n : int
        Trees to keep, from 1 to n_trees.
    """
    own = errors.diagonal()
    inside = np.zeros(len(errors), dtype=bool)
    with_inside = np.zeros(len(errors))  # sum over the chosen trees, for each tree
    for _ in range(n):
        best = np.where(inside, np.inf, own + 2 * with_inside).argmin()
        inside[best] = True
        with_inside += errors[best]
    return np.flatnonzero(inside)


def _unit(forest: FlatForest, target: Target) -> float:
    """Unit that errors are rounded to, a power of two: sums of their products are then exact.

    In whole units such a sum stays below 2^53 unless a tree errs worse than a constant sixteen
    times over, so it does not depend on the order of addition.
    """
    scatter = float(np.var(target)) if forest.n_classes == 0 else 1.0
    largest_sum = 16.0 * len(target) * scatter
    return 2.0 ** math.ceil(math.log2(largest_sum / 2.0**53) / 2) if largest_sum > 0 else 1.0


def _errors(
    forest: FlatForest,
    leaves: npt.NDArray[np.int64],
    target: Target,
    hard: bool,
) -> Floats:
    """Error of each tree (first axis) on each row; one column for each class, or one."""
    truth = np.eye(forest.n_classes)[target] if forest.n_classes else target[:, None]
    return np.asarray(truth - tree_predictions(forest, leaves, hard))
