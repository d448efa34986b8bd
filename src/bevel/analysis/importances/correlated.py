"""Groups of features that depend on each other, to be permuted together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from bevel._types import Floats
from bevel.analysis.analysed_forest import read_forest
from bevel.errors import wrong_value

__all__ = ["correlated_groups"]


def correlated_groups(forest: object, X: Any, *, threshold: float = 0.7) -> dict[str, list[int]]:
    """Groups of features whose ranks are correlated.

    Permuting one of two redundant features hardly raises the error, so that both seem to matter
    little. Permuting them together measures the importance of the group.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest; each nominal column is a group by itself.
    X : array or data frame of shape (n, p)
        Rows, such as the training rows. A missing value counts as the median.
    threshold : float, default=0.7
        Features are joined, by average linkage, while the mean absolute rank correlation between
        the groups is above it.

    Returns
    -------
    dict
        Positions of the columns of each group, for ``importance(..., groups=)``. A group is named
        after its members.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import correlated_groups
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    >>> groups = correlated_groups(forest, X, threshold=0.8)
    >>> [len(columns) for columns in groups.values()]
    [3, 1]
    """
    analysed = read_forest(forest, "correlated_groups")
    if not isinstance(threshold, float | int) or not 0.0 < threshold < 1.0:
        raise wrong_value("threshold", "between 0 and 1", threshold, "Write threshold=0.7.")
    encoded = analysed.encode(X)
    distance = 1.0 - _rank_correlation(encoded, analysed.forest.levels == 0)
    p = len(analysed.names)
    labels = np.ones(1, np.int64)
    if p > 1:
        tree = linkage(squareform(distance, checks=False), "average")
        labels = fcluster(tree, 1.0 - threshold, criterion="distance")
    groups: dict[int, list[int]] = {}
    for feature, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(feature)
    return {" + ".join(analysed.names[f] for f in group): group for group in groups.values()}


def _rank_correlation(X: Any, numeric: Any) -> Floats:
    """Absolute rank correlations; 0 for nominal and for constant features."""
    present = np.where(np.isnan(X).all(axis=0), 0.0, X)
    filled = np.where(np.isnan(present), np.nanmedian(present, axis=0), present)
    ranks = rankdata(filled, axis=0)
    ranks -= ranks.mean(axis=0)
    size = np.sqrt(np.square(ranks).sum(axis=0))
    usable = (size > 0) & numeric
    ranks[:, ~usable] = 0.0
    ranks[:, usable] /= size[usable]
    correlation = np.minimum(np.abs(ranks.T @ ranks), 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)
