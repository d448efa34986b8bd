"""Rotations sorted by the complexity of the trees that grow on them (Blaser 2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis import tree_complexity
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.datasets import rotate
from bevel.errors import wrong_value
from bevel.estimators import ObliqueForestClassifier

__all__ = ["RankedRotations", "rank_rotations"]


@dataclass(frozen=True, eq=False, repr=False)
class RankedRotations(PrintedResult):
    """Rotations from the best to the worst.

    Attributes
    ----------
    rotations : ndarray of shape (n_rotations, n_features, n_features)
        ``X @ rotation`` is the rotated data; the one with the smallest trees comes first.
    complexity : ndarray of shape (n_rotations,)
        Median complexity of the trees of each micro-forest, not decreasing.
    number : ndarray of int64, shape (n_rotations,)
        In which place each rotation was drawn, from 0.
    """

    rotations: npt.NDArray[np.float64]
    complexity: npt.NDArray[np.float64]
    number: npt.NDArray[np.int64]

    def _printed(self) -> PrintedTable:
        lines = [
            ("best complexity", float(self.complexity[0])),
            ("median complexity", float(np.median(self.complexity))),
            ("worst complexity", float(self.complexity[-1])),
        ]
        n_rotations, n_features = self.rotations.shape[:2]
        return PrintedTable(f"{n_rotations} rotations of {n_features} features, ranked", (), lines)


def rank_rotations(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    n_rotations: int = 100,
    *,
    n_trees: int = 20,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> RankedRotations:
    """Draw random rotations and sort them by the size of trees: no error is looked at.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Numbers on comparable scales, none missing.
    y : array-like of shape (n_rows,)
        Labels.
    n_rotations : int, default=100
        Drawn uniformly (Haar), as in the thesis.
    n_trees : int, default=20
        Trees of a micro-forest; the thesis finds 10 to 20 enough.
    random_state : int, Generator or None, default=None
        Seed; None draws afresh each time.
    n_jobs : int, default=None
        Threads; they change no result.

    Returns
    -------
    RankedRotations
        Sorted by the median of #nodes + depth/N, ties in the order of drawing.

    References
    ----------
    Blaser's thesis, section 2.4, formula 2.5.

    Examples
    --------
    >>> from bevel.datasets import triangle
    >>> X, y = triangle(200, random_state=0)
    >>> ranked = rank_rotations(X, y, 20, n_trees=10, random_state=0)
    >>> bool(ranked.complexity[0] < ranked.complexity[-1])
    True
    """
    if n_rotations < 1:
        raise wrong_value("n_rotations", "1 or more", n_rotations, "The thesis draws 100.")
    rng = np.random.default_rng(random_state)
    table = np.asarray(X, dtype=np.float64)
    rotations, complexity = [], []
    for _ in range(n_rotations):
        rotation, rotated = rotate(np.eye(table.shape[1]), table, random_state=rng)
        forest = _micro_forest(n_trees, int(rng.integers(2**31)), n_jobs).fit(rotated, y)
        rotations.append(rotation)
        complexity.append(tree_complexity(forest).median)
    order = np.argsort(complexity, kind="stable")
    return RankedRotations(np.array(rotations)[order], np.array(complexity)[order], order)


def _micro_forest(n_trees: int, seed: int, n_jobs: int | None) -> Any:
    """Trees that cut along the axes, which are rotated; a scale would bend the rotation."""
    return ObliqueForestClassifier(
        n_trees, projection="axis", scale=None, random_state=seed, n_jobs=n_jobs
    )
