"""The cells of a rotation study: fold group × fold × rotation group, as the lab's store holds them.

A fold group is a repeat; what a cell draws for itself follows from it and the fold, so that all
rotation groups use the same folds and random numbers. A rotation group is a seed.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit

from bevel_lab.cells import Cell, hash_seed

__all__ = [
    "EXPERIMENT",
    "MIN_NESTED",
    "ROTATION_GROUP",
    "other_folds",
    "rotation_seed",
    "study_cells",
]

EXPERIMENT = "rotation-study"
ROTATION_GROUP = "rotation_group"
MIN_NESTED = 3  # folds of a group, of which one is tested and two are left to divide the others


def rotation_seed(experiment_seed: int, data: str, group: int) -> int:
    """Seed of a rotation group, the same for all folds and systems; below 2³¹."""
    return hash_seed(experiment_seed, data, "rotations", group)


def other_folds(folds: NDArray[np.int64], held_out: int) -> PredefinedSplit:
    """The other folds of a group, for a learner that cross-validates by itself (Fig. 3.2).

    Each of them is in turn held out of level 0, which so learns from all folds but two.

    Parameters
    ----------
    folds : ndarray of shape (n_rows,)
        Fold of each row of the data set.
    held_out : int
        The fold that is tested.
    """
    return PredefinedSplit(folds[folds != held_out])


def study_cells(
    data: str, system: str, n_fold_groups: int, n_rotation_groups: int, n_folds: int, seed: int
) -> Iterator[Cell]:
    """All cells of one learner, fold group by fold group: an early end leaves whole ones."""
    for fold_group in range(n_fold_groups):
        for group in range(n_rotation_groups):
            for fold in range(n_folds):
                setting = {ROTATION_GROUP: group}
                yield Cell(EXPERIMENT, data, system, setting, fold_group, fold, seed)
