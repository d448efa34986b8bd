"""Weights of the rotations of an ensemble (thesis, 2.3.1 and 2.5).

Weights do not increase from the most favourable rotation to the least, and sum to one. They
determine numbers of trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from bevel._types import Floats, Ints64

__all__ = [
    "WEIGHTINGS",
    "RotationWeights",
    "count_trees",
    "cut_weights",
    "exponential_weights",
    "linear_weights",
    "needs_errors",
    "weigh_rotations",
]


# In the order (a) to (h) of section 2.5.
WEIGHTINGS = ("rre", "cut", "exp", "bst", "new", "lin", "oob", "jnt")
IDENTITY = 0  # number of the rotation that changes nothing


@dataclass(frozen=True, eq=False)
class RotationWeights:
    """Weights of rotations.

    Attributes
    ----------
    values : ndarray of shape (n_rotations,)
        Weights by number of the rotation.
    order : ndarray of shape (n_rotations,)
        Numbers of the rotations, the most favourable first.
    h : float or None
        The tuning parameter of "cut" and "exp".
    """

    values: Floats
    order: Ints64
    h: float | None


def cut_weights(n_rotations: int, h: float) -> Floats:
    """I(r ≤ h)/h: equal weights for the first h rotations (2.6)."""
    return np.where(np.arange(1, n_rotations + 1) <= h, 1.0 / h, 0.0)


# From here on all weight is on the first rotation; infinity times zero would be NaN.
FASTEST_DECAY = 1000.0


def exponential_weights(n_rotations: int, h: float) -> Floats:
    """2^(−r/h) (2^(1/h) − 1) / (1 − 2^(−R/h)): halved every h rotations (2.7).

    Written as 2^(−(r−1)/h) (1 − 2^(−1/h)) / (1 − 2^(−R/h)), which neither overflows for small h nor
    cancels for large ones.
    """
    decay = min(math.log(2.0) / h, FASTEST_DECAY)
    share = math.expm1(-decay) / math.expm1(-decay * n_rotations)
    return np.asarray(share * np.exp(-decay * np.arange(n_rotations)))


def linear_weights(rank: npt.ArrayLike) -> Floats:
    """Weights in proportion to R, R − 1, ... 1 for ranks 1, 2, ... R; equal ranks are shared."""
    rank = np.asarray(rank, dtype=np.float64)
    steps = len(rank) + 1 - rank
    return np.asarray(steps / steps.sum())


def needs_errors(weighting: str, h: float | None) -> bool:
    """Whether the weights depend on out-of-bag errors."""
    return weighting in ("oob", "jnt") or (weighting in ("cut", "exp") and h is None)


def weigh_rotations(
    weighting: str, complexities: Floats, errors: Floats, h: float | None = None
) -> RotationWeights:
    """Weights of rotations, of which the first is the identity.

    Parameters
    ----------
    weighting : str
        One of `WEIGHTINGS`.
    complexities : ndarray of shape (n_rotations,)
        Median complexity of a tree on each rotation. Ties are broken by the lower number.
    errors : ndarray of shape (n_rotations,)
        Out-of-bag error on each rotation; NaN is unknown and counts as the mean of the others.
    h : float, default=None
        The tuning parameter of "cut" and "exp"; None chooses it on the errors.
    """
    n = len(complexities)
    errors = _filled(errors)
    if weighting in ("lin", "oob", "jnt"):
        rank = _rank(weighting, complexities, errors)
        return RotationWeights(linear_weights(rank), np.argsort(rank, kind="stable"), None)
    order = np.argsort(complexities, kind="stable")
    if weighting in ("cut", "exp"):
        curve = cut_weights if weighting == "cut" else exponential_weights
        h = choose_h(curve, _grid(weighting, n), errors[order]) if h is None else float(h)
        sorted_weights = curve(n, h)
    else:
        n_equal = {
            "rre": n,
            "bst": 1,
            "new": int(np.count_nonzero(complexities <= complexities[IDENTITY])),
        }[weighting]
        h, sorted_weights = None, cut_weights(n, n_equal)
    values = np.empty(n)
    values[order] = sorted_weights
    return RotationWeights(values, order, h)


def _rank(weighting: str, complexities: Floats, errors: Floats) -> Floats:
    if weighting == "lin":
        return np.asarray(rankdata(complexities))
    if weighting == "oob":
        return np.asarray(rankdata(errors))
    return np.asarray(rankdata(rankdata(errors) + rankdata(complexities)))


def _filled(errors: Floats) -> Floats:
    known = np.isfinite(errors)
    return np.where(known, errors, errors[known].mean() if known.any() else 0.0)


def _grid(weighting: str, n_rotations: int) -> Floats:
    """Values of h to try, ascending: from nearly all trees on one rotation to nearly equal."""
    if weighting == "cut":
        return np.arange(1.0, n_rotations + 1.0)
    return 2.0 ** np.arange(-2.0, math.log2(n_rotations) + 4.0, 0.25)


def choose_h(curve: Callable[[int, float], Floats], grid: Floats, sorted_errors: Floats) -> float:
    """The h of the smallest Σ wᵣ·OOBᵣ; ties go to the smallest h, for simpler trees."""
    mean_errors = np.array([curve(len(sorted_errors), h) @ sorted_errors for h in grid])
    rounding = 1e-12 * float(np.abs(sorted_errors).max(initial=0.0))
    return float(grid[np.flatnonzero(mean_errors <= mean_errors.min() + rounding)[0]])


def count_trees(sorted_weights: Floats, n_trees: int) -> Ints64:
    """Trees on each rotation, the most favourable first; they sum to n_trees.

    Weights times n_trees are rounded. Missing trees are added to the first rotation, and
    surplus ones are taken from the last ones.
    """
    counts = np.rint(np.asarray(sorted_weights) * n_trees).astype(np.int64)
    surplus = int(counts.sum()) - n_trees
    if surplus <= 0:
        counts[0] -= surplus
        return counts
    # Cumulative counts, cut at n_trees.
    return np.diff(np.minimum(np.cumsum(counts), n_trees), prepend=0)
