"""Predictions of single trees: values, class shares or votes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bevel.forest.flat_forest import FlatForest
from bevel.forest.subforest import gather

__all__ = ["tree_predictions"]


def tree_predictions(
    forest: FlatForest, leaves: npt.NDArray[np.int64], hard: bool
) -> npt.NDArray[np.float64]:
    """Prediction of each leaf, with one more axis: one column for each class, or one for the value.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    leaves : ndarray of int64, any shape
        Leaves, counted over the whole forest.
    hard : bool
        Whether trees vote for a class instead of giving its share.
    """
    if forest.n_classes == 0:
        return forest.leaf_value[leaves][..., None]
    shares = np.zeros((leaves.size, forest.n_classes))
    entries, offset = gather(forest.entry_offset, leaves.ravel())
    leaf = np.repeat(np.arange(leaves.size), np.diff(offset))
    shares[leaf, forest.entry_index[entries]] = forest.entry_weight[entries]
    if hard:
        shares = np.eye(forest.n_classes)[shares.argmax(axis=1)]
    return shares.reshape(*leaves.shape, -1)
