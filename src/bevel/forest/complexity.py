"""Blaser's complexity of a tree: its number of nodes, with its depth to break ties."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bevel.forest.flat_forest import FlatForest

__all__ = ["tree_complexities", "tree_depths"]


def tree_complexities(forest: FlatForest, n_rows: int) -> npt.NDArray[np.float64]:
    """#nodes + depth/N of each tree (thesis, formula 2.5).

    Parameters
    ----------
    forest : FlatForest
        The trees; slim ones will do.
    n_rows : int
        N, the training rows. A tree is less deep than there are rows, so that the number of nodes
        decides first.
    """
    return np.asarray(np.diff(forest.tree_offset) + tree_depths(forest) / n_rows)


def tree_depths(forest: FlatForest) -> npt.NDArray[np.int32]:
    """Splits above the deepest leaf of each tree."""
    return np.asarray(np.maximum.reduceat(forest.depth, forest.tree_offset[:-1]))
