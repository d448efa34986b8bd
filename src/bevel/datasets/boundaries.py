"""Blaser's three problems with known decision boundaries, on which rotations help more or less.

The first two features are uniform on the unit square and the label says on which side of the
boundary they lie, 1 above it; columns of uniform noise may follow. All have Bayes error 0. "Blaser"
is R. Blaser's thesis on random rotations; he prints the boundaries, not the number of points.
"""

import numpy as np
from numpy.typing import NDArray

from bevel._types import Floats
from bevel.datasets.conventions import Labelled, RandomState, check_at_least

__all__ = ["long_ramp", "short_ramp", "triangle"]


def triangle(
    n_samples: int = 1000, n_noise: int = 0, *, random_state: RandomState = None
) -> Labelled:
    """The diagonal of the square, ``X_2 = X_1``: the worst case for cuts along the axes.

    Blaser's "triangular base shape", to which he adds noise dimensions.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows.
    n_noise : int, default=0
        Columns of noise, uniform on (0, 1), put after the two features; up to 3 in Blaser.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2 + n_noise)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    References
    ----------
    Blaser section 2.4, Figures 2.2 (a), 2.6 and 2.7.

    Examples
    --------
    >>> X, y = triangle(n_samples=100, n_noise=3, random_state=0)
    >>> X.shape, bool(((X[:, 1] > X[:, 0]) == y).all())
    ((100, 5), True)
    """
    X = _uniform(n_samples, n_noise, random_state)
    return X, _above(X, X[:, 0])


def short_ramp(
    n_samples: int = 1000, n_noise: int = 0, *, random_state: RandomState = None
) -> Labelled:
    """A flat boundary with a small segment at 45 degrees: ``X_2 = 0.5 + max(X_1 - 0.75, 0)``.

    Most of the boundary is good for cuts along the axes, the segment at its end is not.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows.
    n_noise : int, default=0
        Columns of noise, uniform on (0, 1), put after the two features.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2 + n_noise)
    y : ndarray of int64, shape (n_samples,)
        0 or 1; 1 with probability 15/32.

    Notes
    -----
    Blaser prints ``max(x - 0.75)``; we read ``max(x - 0.75, 0)``, the flat boundary with a small
    protruding segment that his text describes.

    References
    ----------
    Blaser section 2.4, Figure 2.2 (b).

    Examples
    --------
    >>> X, y = short_ramp(n_samples=100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    X = _uniform(n_samples, n_noise, random_state)
    return X, _above(X, 0.5 + np.maximum(X[:, 0] - 0.75, 0.0))


def long_ramp(
    n_samples: int = 1000, n_noise: int = 0, *, random_state: RandomState = None
) -> Labelled:
    """A boundary half flat and half at 45 degrees: ``X_2 = 0.5 + max(X_1 - 0.5, 0)``.

    The slanted half is the longer one, so that one rotation serves it and another the rest.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows.
    n_noise : int, default=0
        Columns of noise, uniform on (0, 1), put after the two features.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2 + n_noise)
    y : ndarray of int64, shape (n_samples,)
        0 or 1; 1 with probability 3/8.

    Notes
    -----
    Blaser prints ``max(x - 0.5)``; we read ``max(x - 0.5, 0)``, as in `short_ramp`.

    References
    ----------
    Blaser section 2.4, Figure 2.2 (c).

    Examples
    --------
    >>> X, y = long_ramp(n_samples=100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    """
    X = _uniform(n_samples, n_noise, random_state)
    return X, _above(X, 0.5 + np.maximum(X[:, 0] - 0.5, 0.0))


def _uniform(n_samples: int, n_noise: int, random_state: RandomState) -> Floats:
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_noise", n_noise, 0)
    return np.random.default_rng(random_state).random((n_samples, 2 + n_noise))


def _above(X: Floats, boundary: NDArray[np.float64]) -> NDArray[np.int64]:
    return (X[:, 1] > boundary).astype(np.int64)
