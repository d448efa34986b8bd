"""The rotations of an ensemble: the identity, and Haar rotations of the features.

Rotations are never kept: they are drawn again from the seed of the forest whenever they are
needed. In an ensemble all of them have as many axes as there are numeric features.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel.projections.base import FamilySpec, SparseDirections
from bevel.training.trainer import native_family

__all__ = ["MOST_ENTRIES", "as_matrices", "count_entries", "draw_rotations"]

# Entries of all rotations together: the core counts them in 32 bits.
MOST_ENTRIES = 2**32 - 1


def count_entries(n_rotations: int, n_numeric: int, max_rotated: int) -> int:
    """Weights of all axes; each takes 8 bytes."""
    n_rotated = min(n_numeric, max_rotated)
    return n_numeric + (n_rotations - 1) * (n_rotated**2 + n_numeric - n_rotated)


def draw_rotations(
    seed: int, n_rotations: int, n_numeric: int, max_rotated: int
) -> SparseDirections:
    """Axes of the identity and of n_rotations − 1 random rotations, back to back.

    They are the rotations of a multi-rotation forest with this seed. When there are more than
    `max_rotated` features, each rotation turns a random subset of that size and leaves the others
    unchanged.

    Parameters
    ----------
    seed : int
        Seed of the forest.
    n_rotations : int
        Number of rotations, including the identity.
    n_numeric : int
        Numeric features, at least one; axes count them from 0.
    max_rotated : int
        Features rotated together.
    """
    n_rotated = min(n_numeric, max_rotated)
    options = _core.Options()
    options.seed = seed
    options.families = [
        native_family(FamilySpec("multirotation", 1, n_rotated, n_rotations=n_rotations))
    ]
    drawn = SparseDirections(*_core.forest_axes(options, np.zeros(n_numeric, np.int32)))
    return drawn if n_rotated == n_numeric else _completed(drawn, n_rotations, n_numeric, n_rotated)


def _completed(
    drawn: SparseDirections, n_rotations: int, n_numeric: int, n_rotated: int
) -> SparseDirections:
    """Return the rotations with the features that they leave out added as axes."""
    identity = drawn.index[:n_numeric]
    subsets = drawn.index[n_numeric:].reshape(n_rotations - 1, n_rotated, n_rotated)
    weights = drawn.weight[n_numeric:].reshape(n_rotations - 1, -1)
    length, index, weight = [np.ones(n_numeric, np.int64)], [identity], [drawn.weight[:n_numeric]]
    for subset, turned in zip(subsets, weights, strict=True):
        rest = np.setdiff1d(identity, subset[0])
        length += [np.full(n_rotated, n_rotated), np.ones(len(rest), np.int64)]
        index += [subset.ravel(), rest]
        weight += [turned, np.ones(len(rest), np.float32)]
    offset = np.concatenate(([0], np.cumsum(np.concatenate(length)))).astype(np.uint32)
    return SparseDirections(offset, np.concatenate(index).astype(np.int32), np.concatenate(weight))


def as_matrices(axes: SparseDirections, n_numeric: int) -> npt.NDArray[np.float32]:
    """Rotations as matrices of shape (n_rotations, n_numeric, n_numeric); columns are axes."""
    matrices = np.zeros((axes.n_directions // n_numeric, n_numeric, n_numeric), np.float32)
    axis = np.repeat(np.arange(axes.n_directions), np.diff(axes.offset))
    matrices[axis // n_numeric, axes.index, axis % n_numeric] = axes.weight
    return matrices
