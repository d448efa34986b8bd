"""Answers from a flat forest: leaves, paths, probabilities and values.

The native view of the forest is laid out for speed; it is built on first use and never saved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel.forest import FlatForest

__all__ = ["PackedPredictor"]

Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


class PackedPredictor:
    """A forest ready to predict; immutable, and safe to share between threads.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    """

    def __init__(self, forest: FlatForest) -> None:
        self.forest = forest
        self._view: _core.ForestView | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"forest": self.forest, "_view": None}

    @property
    def view(self) -> _core.ForestView:
        """The native forest. Two threads may both build it the first time; either will do."""
        if self._view is None:
            forest = self.forest
            self._view = _core.ForestView(
                forest.arrays(),
                forest.n_features,
                forest.n_classes,
                forest.levels,
                forest.medians,
            )
        return self._view

    def probabilities(self, X: Matrix, n_threads: int, hard: bool) -> Floats:
        """Class probabilities of each row, by mean shares or (hard) by votes."""
        return self.view.predict_proba(X, n_threads, hard)

    def values(self, X: Matrix, n_threads: int) -> Floats:
        """Mean over trees of the leaf values of each row."""
        return self.view.predict_value(X, n_threads)

    def leaves(self, X: Matrix, n_threads: int) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree, counted from the tree's root."""
        return self.view.apply(X, n_threads)

    def paths(self, X: Matrix, n_threads: int) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes, as an indicator matrix, and where each tree's nodes begin."""
        forest = self.forest
        node = (self.leaves(X, n_threads) + forest.tree_offset[:-1]).ravel()
        length = forest.depth[node].astype(np.int64) + 1
        start = np.cumsum(length) - length
        indices = np.empty(int(length.sum()), dtype=np.int64)
        # From the leaves up; entries of a row come out ascending, tree by tree.
        while len(node):
            indices[start + forest.depth[node]] = node
            node = forest.parent[node]
            inside = node >= 0
            node, start = node[inside], start[inside]
        per_row = length.reshape(len(X), -1).sum(axis=1)
        indptr = np.concatenate(([0], np.cumsum(per_row)))
        shape = (len(X), forest.n_nodes)
        indicator = sp.csr_matrix((np.ones(len(indices), np.int64), indices, indptr), shape=shape)
        return indicator, forest.tree_offset
