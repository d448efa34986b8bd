"""Noise for given data, to test the sensitivity of forests: corrupt cells, correlate features.

Each function takes one array or several, say of training and of test rows, and returns as many,
new and float64; it draws for each row or cell, hence for each array, by itself. "Thesis" is
T. M. Tomita, *Generalized Linear Splitting Rules in Decision Forests*, Johns Hopkins University.
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from bevel._types import Floats
from bevel.datasets.conventions import RandomState, check_spread, one_or_all, read_matrices
from bevel.errors import wrong_value

__all__ = ["correlated", "corrupt"]

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
