"""Changes of given data, to test what forests depend on: linear maps, corrupt cells, correlation.

Each function takes one array or several, say of training and of test rows, and returns as many, new
and float64. "Thesis" is T. M. Tomita, *Generalized Linear Splitting Rules in Decision Forests*
(*Randomer Forests* for linear maps), Johns Hopkins University.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from bevel._types import Floats
from bevel.datasets.conventions import RandomState, check_spread, one_or_all, read_matrices
from bevel.errors import wrong_value

__all__ = [
    "affine",
    "correlated",
    "corrupt",
    "rotate",
    "scale",
]

# Linear maps: one is drawn and applied to all arrays.


@overload
def rotate(X: ArrayLike, /, *, random_state: RandomState = None) -> Floats: ...
@overload
def rotate(
    X: ArrayLike, other: ArrayLike, /, *others: ArrayLike, random_state: RandomState = None
) -> tuple[Floats, ...]: ...
def rotate(
    X: ArrayLike, /, *others: ArrayLike, random_state: RandomState = None
) -> Floats | tuple[Floats, ...]:
    """Rotate all rows around the origin by one rotation, drawn uniformly.

    Every rotation is as likely as any other (the Haar measure on SO(p)): an oblique forest should
    not mind, an axis-aligned one loses the axes.

    Parameters
    ----------
    X, *others : array-likes of shape (n_rows, n_features)
        Data to rotate alike; without missing values, which a rotation would spread over the row.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    rotated : ndarray of float64, or a tuple of them when several arrays were given

    References
    ----------
    Thesis section 2.2.3.

    Examples
    --------
    >>> X_train, X_test = np.eye(3), np.ones((2, 3))
    >>> X_train, X_test = rotate(X_train, X_test, random_state=0)
    >>> np.linalg.norm(X_train, axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    arrays = read_matrices(X, *others)
    _check_finite(arrays, "rotate")
    rotation = _rotation(arrays[0].shape[1], np.random.default_rng(random_state))
    return one_or_all([array @ rotation for array in arrays])


@overload
def scale(
    X: ArrayLike, /, *, logarithmic: bool = False, random_state: RandomState = None
) -> Floats: ...
@overload
def scale(
    X: ArrayLike,
    other: ArrayLike,
    /,
    *others: ArrayLike,
    logarithmic: bool = False,
    random_state: RandomState = None,
) -> tuple[Floats, ...]: ...
def scale(
    X: ArrayLike, /, *others: ArrayLike, logarithmic: bool = False, random_state: RandomState = None
) -> Floats | tuple[Floats, ...]:
    """Multiply every feature by a factor of its own, uniform between 1e-5 and 1e5.

    Parameters
    ----------
    X, *others : array-likes of shape (n_rows, n_features)
        Data to scale alike.
    logarithmic : bool, default=False
        Draw the factor's logarithm uniformly instead. Then factors spread over ten orders of
        magnitude, while nine in ten uniform factors share the last one.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    scaled : ndarray of float64, or a tuple of them when several arrays were given

    Notes
    -----
    The thesis says "sampled from a uniform distribution on the interval [1e-5, 1e5]", hence the
    default; the author's public scripts for its figures draw the exponent uniformly on (-5, 5),
    which is ``logarithmic=True`` and harms more. On ``sparse_parity(1000, 10)`` an unscaled forest
    of pairs, ``RandomCombination(2)``, errs on 13 % of test rows; on 16 % with uniform factors and
    on 23 % with the others (means of five seeds).

    References
    ----------
    Thesis section 2.2.3.

    Examples
    --------
    >>> X = scale(np.ones((4, 2)), random_state=0)
    >>> bool((X == X[0]).all())
    True
    """
    arrays = read_matrices(X, *others)
    factors = _factors(arrays[0].shape[1], logarithmic, np.random.default_rng(random_state))
    return one_or_all([array * factors for array in arrays])


@overload
def affine(
    X: ArrayLike, /, *, logarithmic: bool = False, random_state: RandomState = None
) -> Floats: ...
@overload
def affine(
    X: ArrayLike,
    other: ArrayLike,
    /,
    *others: ArrayLike,
    logarithmic: bool = False,
    random_state: RandomState = None,
) -> tuple[Floats, ...]: ...
def affine(
    X: ArrayLike, /, *others: ArrayLike, logarithmic: bool = False, random_state: RandomState = None
) -> Floats | tuple[Floats, ...]:
    """Rotate, then scale: features on scales that do not compare, none along an old axis.

    Parameters
    ----------
    X, *others : array-likes of shape (n_rows, n_features)
        Data to transform alike; without missing values.
    logarithmic : bool, default=False
        How factors are drawn: see `scale`.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    transformed : ndarray of float64, or a tuple of them when several arrays were given

    References
    ----------
    Thesis section 2.2.3.

    Examples
    --------
    >>> affine(np.ones((4, 2)), random_state=0).shape
    (4, 2)
    """
    arrays = read_matrices(X, *others)
    _check_finite(arrays, "affine")
    rng = np.random.default_rng(random_state)
    n_features = arrays[0].shape[1]
    rotation = _rotation(n_features, rng)
    factors = _factors(n_features, logarithmic, rng)
    return one_or_all([(array @ rotation) * factors for array in arrays])


def _check_finite(arrays: list[Floats], name: str) -> None:
    for array in arrays:
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            row, column = bad[0]
            remedy = f"{name} would spread it over the whole row; impute or drop it before."
            required = f"finite (row index {row}, column index {column})"
            raise wrong_value("X", required, float(array[row, column]), remedy)


def _rotation(n_features: int, rng: np.random.Generator) -> Floats:
    """A draw from the Haar measure on SO(p): QR of normals, with the signs of R's diagonal moved
    into Q to make it unique, and one column turned if Q is a reflection."""
    rotation, triangular = np.linalg.qr(rng.standard_normal((n_features, n_features)))
    rotation *= np.sign(np.diag(triangular))
    if np.linalg.det(rotation) < 0.0:
        rotation[:, 0] *= -1.0
    return rotation


def _factors(n_features: int, logarithmic: bool, rng: np.random.Generator) -> Floats:
    if logarithmic:
        return 10.0 ** rng.uniform(-5.0, 5.0, n_features)
    return rng.uniform(1e-5, 1e5, n_features)


# Noise: it is drawn for each row or cell, hence for each array, by itself.

FACTORS = (1e2, 1e3, 1e4, 1e5)  # of corruption


@overload
def corrupt(X: ArrayLike, /, *, share: float = 0.2, random_state: RandomState = None) -> Floats: ...
@overload
def corrupt(
    X: ArrayLike,
    other: ArrayLike,
    /,
    *others: ArrayLike,
    share: float = 0.2,
    random_state: RandomState = None,
) -> tuple[Floats, ...]: ...
def corrupt(
    X: ArrayLike, /, *others: ArrayLike, share: float = 0.2, random_state: RandomState = None
) -> Floats | tuple[Floats, ...]:
    """Multiply a fifth of the cells, chosen at random, by 100, 1000, 10 000 or 100 000.

    Parameters
    ----------
    X, *others : array-likes of shape (n_rows, n_features)
        Data to corrupt, each by itself. The author's public scripts corrupt training data only and
        test on clean data: for that, pass only the former.
    share : float, default=0.2
        Share of the cells to multiply, between 0 and 1; their number is rounded.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    corrupted : ndarray of float64, or a tuple of them when several arrays were given

    References
    ----------
    Thesis section 2.2.3.

    Examples
    --------
    >>> X = corrupt(np.ones((10, 5)), random_state=0)
    >>> int((X > 1).sum())
    10
    """
    if not 0.0 <= share <= 1.0:
        raise wrong_value("share", "between 0 and 1", share, "The default is 0.2.")
    arrays = read_matrices(X, *others)
    rng = np.random.default_rng(random_state)
    corrupted = []
    for array in arrays:
        cells = rng.choice(array.size, round(share * array.size), replace=False)
        worse = np.array(array, order="C")  # a copy, in the order in which cells are counted
        worse.ravel()[cells] *= rng.choice(FACTORS, len(cells))
        corrupted.append(worse)
    return one_or_all(corrupted)


@overload
def correlated(
    X: ArrayLike, /, *, size: float = 1.0, random_state: RandomState = None
) -> Floats: ...
@overload
def correlated(
    X: ArrayLike,
    other: ArrayLike,
    /,
    *others: ArrayLike,
    size: float = 1.0,
    random_state: RandomState = None,
) -> tuple[Floats, ...]: ...
def correlated(
    X: ArrayLike, /, *others: ArrayLike, size: float = 1.0, random_state: RandomState = None
) -> Floats | tuple[Floats, ...]:
    """Add one random number to all features of a row, which correlates them.

    The offset is normal with standard deviation `size`, drawn for each row. It stretches the data
    along the diagonal: single features lose their power to separate classes, differences of
    features lose nothing. Two features of variance v that were uncorrelated get the correlation
    ``size² / (size² + v)``.

    Parameters
    ----------
    X, *others : array-likes of shape (n_rows, n_features)
        Data to correlate, with an offset for each row.
    size : float, default=1.0
        Standard deviation of the offset. The paper goes through ``10**0, 10**1, ..., 10**15``;
        beyond ``10**6`` or so float32, in which forests see their features, rounds the data away.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    correlated : ndarray of float64, or a tuple of them when several arrays were given

    References
    ----------
    Menze et al. (2011), On oblique random forests, ECML PKDD, Figure 6: on `threenorm` and others.

    Examples
    --------
    >>> X = correlated(np.zeros((5, 3)), size=10.0, random_state=0)
    >>> bool((X == X[:, :1]).all())
    True
    """
    check_spread("size", size, 1.0)
    arrays = read_matrices(X, *others)
    rng = np.random.default_rng(random_state)
    return one_or_all([array + rng.normal(0.0, size, (len(array), 1)) for array in arrays])
