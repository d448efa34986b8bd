"""k-potential nearest neighbours (Lin and Jeon, Definition 1 and Proposition 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel._types import Bools, Float32s
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.errors import wrong_value
from bevel.projections.base import check_integer

__all__ = ["potential_neighbours"]


def potential_neighbours(forest: Any, X_train: Any, X: Any, k: int) -> sp.csr_matrix:
    """Training rows that are among the k nearest to a row by some monotone distance.

    A distance is monotone if every point of the hyperrectangle between a and b is closer to a than
    b is. A training row is such a k-potential nearest neighbour (k-PNN) if and only if fewer than k
    other training rows are in the hyperrectangle between it and the row (Proposition 1); rows on
    its border are in it. The voting points of a forest whose trees see all rows and whose leaves
    are hyperrectangles of at most k rows are all among them (Proposition 2).

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        Forest with axis-aligned splits of numeric features. Raises for others, whose leaves are not
        hyperrectangles.
    X_train : array-like of shape (n_train, n_features)
        Training rows, without missing values.
    X : array-like of shape (n_rows, n_features)
        Rows to find neighbours of, without missing values.
    k : int
        Number of neighbours, at least one.

    Returns
    -------
    csr_matrix of bool, shape (n_rows, n_train)
        True for k-potential nearest neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import presets
    >>> from bevel.analysis import forest_weights, potential_neighbours
    >>> X, y = np.random.default_rng(0).random((100, 2)), np.arange(100.0)
    >>> forest = presets.random_side(k=3, task="regression", random_state=0).fit(X, y)
    >>> votes = forest_weights(forest, X, y, [[0.5, 0.5]])
    >>> near = potential_neighbours(forest, X, [[0.5, 0.5]], k=3)
    >>> votes.nnz == votes.multiply(near).nnz  # all voting points are potential neighbours
    True
    """
    check_integer("k", k, "neighbours")
    analysed = read_forest(forest, "potential_neighbours", several_outputs=True)
    _check_axis_aligned(analysed)
    points, targets = (_complete(analysed, name, rows) for name, rows in _named(X_train, X))
    places, place, n_at = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    near = [np.flatnonzero(_near(places, n_at, target, k)[place.ravel()]) for target in targets]
    first = np.cumsum([0, *map(len, near)])
    entries = (np.ones(first[-1], bool), np.concatenate(near), first)
    return sp.csr_matrix(entries, shape=(len(targets), len(points)))


def _named(X_train: Any, X: Any) -> list[tuple[str, Any]]:
    return [("X_train", X_train), ("X", X)]


def _check_axis_aligned(analysed: AnalysedForest) -> None:
    """Raise unless every leaf is a hyperrectangle."""
    forest = analysed.forest
    split = forest.right >= 0
    n_entries = np.diff(forest.entry_offset)[split]
    feature = forest.entry_index[forest.entry_offset[:-1][split]]
    oblique = (n_entries > 1) | (feature >= forest.n_features)
    by_levels = forest.levels[np.where(oblique, 0, feature)] > 0
    if oblique.any() or by_levels.any():
        got = "oblique splits" if oblique.any() else "splits of nominal columns by levels"
        raise ValueError(
            f"{analysed.caller} needs leaves that are hyperrectangles, so splits of one numeric "
            f'feature each; got {got}. Fit with projection="axis" on numeric columns, or use '
            "forest_weights, which takes any forest."
        )


def _complete(analysed: AnalysedForest, name: str, rows: Any) -> Float32s:
    encoded = analysed.encode(rows)
    missing = np.isnan(encoded).any(axis=1)
    if missing.any():
        got = f"{np.count_nonzero(missing)} rows with missing values"
        raise wrong_value(name, "rows without missing values", got, "Drop or impute them.")
    return encoded


def _near(places: Float32s, n_at: npt.NDArray[np.int64], target: Float32s, k: int) -> Bools:
    """Whether the points at each position, of which there are `n_at`, are k-PNNs of the target.

    Positions are visited in an order in which those inside a hyperrectangle come before the one
    that spans it. Those with k points or more inside need not be visited: the first k points inside
    any hyperrectangle are at positions that have fewer than k inside their own.
    """
    offset = places.astype(np.float64) - target
    order = np.lexsort((*np.abs(offset).T, np.abs(offset).sum(axis=1)))
    inside = np.zeros(len(places), np.int64)  # points at positions visited so far
    left = order
    while len(left):
        place, left = left[0], left[1:]
        inside[left[_contains(offset[left], offset[place])]] += n_at[place]
        left = left[inside[left] < k]
    return inside + n_at - 1 < k


def _contains(corners: npt.NDArray[np.float64], point: npt.NDArray[np.float64]) -> Bools:
    """Whether the hyperrectangle from the origin to each corner contains the point."""
    low, high = np.minimum(corners, 0.0), np.maximum(corners, 0.0)
    return np.asarray(((low <= point) & (point <= high)).all(axis=1))
