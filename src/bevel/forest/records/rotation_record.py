"""The record of the rotations of a regularised rotation ensemble."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Floats

__all__ = ["RotationRecord"]


@dataclass(frozen=True, eq=False)
class RotationRecord:
    """The rotations of an ensemble, the identity first, with their errors and weights.

    Attributes
    ----------
    seed : int
        Seed that they are drawn from.
    max_rotated : int
        Features that they rotate together.
    complexities : ndarray of shape (n_rotations,)
        Median complexity of the trees of each micro-forest.
    errors : ndarray of shape (n_rotations,)
        Out-of-bag errors of the micro-forests; NaN where not known, or not requested.
    weights : ndarray of shape (n_rotations,)
        Share of trees that each rotation was to have.
    h : float or None
        The tuning parameter of the weights.
    of_tree : ndarray of int32, shape (n_trees,)
        Rotation of each tree.
    """

    seed: int
    max_rotated: int
    complexities: Floats
    errors: Floats
    weights: Floats
    h: float | None
    of_tree: npt.NDArray[np.int32]

    @property
    def n_rotations(self) -> int:
        return len(self.complexities)

    @property
    def n_trees(self) -> npt.NDArray[np.int64]:
        """Trees on each rotation."""
        return np.bincount(self.of_tree, minlength=self.n_rotations)
