"""One tree of a forest as an estimator of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel.analysis.analysed_forest import read_forest
from bevel.estimators._compression import keep_trees

__all__ = ["single_tree"]


def single_tree(estimator: Any, tree: int = 0) -> Any:
    """A fitted estimator whose forest is one tree of another's.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest; it is not changed.
    tree : int, default=0
        Index of the tree; negative numbers count from the end.

    Returns
    -------
    ObliqueForestClassifier or ObliqueForestRegressor
        Estimator to predict with, or to draw with `bevel.plots.decision_boundary`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import single_tree
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(10, random_state=0).fit(X, y)
    >>> single_tree(forest, 3).forest_.n_trees
    1
    """
    analysed = read_forest(estimator, "single_tree")
    chosen = analysed.forest.tree(tree).index
    return keep_trees(analysed.estimator, np.array([chosen]))
