"""Simulated regression problems: Friedman's three, and Lin and Jeon's version of the second.

Each function returns ``(X, y)``, both float64. Friedman's are scikit-learn's, with the noise of the
papers and our seeds. The samples of Breiman (1996), Bagging predictors, have 200 rows.
"""

import numpy as np

from bevel.datasets.conventions import Measured, RandomState, check_at_least, check_spread

__all__ = ["friedman1", "friedman2", "friedman3", "lin_jeon_regression"]


def friedman1(
    n_samples: int = 200,
    n_features: int = 10,
    *,
    noise: float = 1.0,
    random_state: RandomState = None,
) -> Measured:
    """Friedman's sum of five features, two of them interacting, among others that are noise.

    ``y = 10 sin(pi X_1 X_2) + 20 (X_3 - 0.5)² + 10 X_4 + 5 X_5 + e``; all features are uniform on
    (0, 1) and those after the fifth do not matter.

    Parameters
    ----------
    n_samples : int, default=200
        Rows.
    n_features : int, default=10
        Columns, at least 5.
    noise : float, default=1.0
        Standard deviation of e, which is normal.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of float64, shape (n_samples,)

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, Annals of Statistics 19(1):1-67;
    Breiman (1996), Bagging predictors, Machine Learning 24:123-140.

    Examples
    --------
    >>> X, y = friedman1(random_state=0)
    >>> X.shape, y.shape
    ((200, 10), (200,))
    """
    from sklearn.datasets import make_friedman1

    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 5)
    check_spread("noise", noise, 1.0)
    X, y = make_friedman1(n_samples, n_features, noise=noise, random_state=_legacy(random_state))
    return X, y


def friedman2(
    n_samples: int = 200, *, noise: float = 125.0, random_state: RandomState = None
) -> Measured:
    """Friedman's impedance of an alternating current circuit.

    ``y = sqrt(X_1² + (X_2 X_3 - 1 / (X_2 X_4))²) + e`` with X_1 uniform on (0, 100), X_2 on
    (40 pi, 560 pi), X_3 on (0, 1) and X_4 on (1, 11).

    Parameters
    ----------
    n_samples : int, default=200
        Rows.
    noise : float, default=125.0
        Standard deviation of e, which is normal; the default is a third of that of the signal.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 4)
    y : ndarray of float64, shape (n_samples,)

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, Annals of Statistics 19(1):1-67;
    Breiman (1996), Bagging predictors, Machine Learning 24:123-140.

    Examples
    --------
    >>> X, y = friedman2(random_state=0)
    >>> X.shape, y.shape
    ((200, 4), (200,))
    """
    from sklearn.datasets import make_friedman2

    check_at_least("n_samples", n_samples, 1)
    check_spread("noise", noise, 125.0)
    X, y = make_friedman2(n_samples, noise=noise, random_state=_legacy(random_state))
    return X, y


def friedman3(
    n_samples: int = 200, *, noise: float = 0.1, random_state: RandomState = None
) -> Measured:
    """Friedman's phase angle of the circuit of `friedman2`.

    ``y = arctan((X_2 X_3 - 1 / (X_2 X_4)) / X_1) + e``, with the features of `friedman2`.

    Parameters
    ----------
    n_samples : int, default=200
        Rows.
    noise : float, default=0.1
        Standard deviation of e, which is normal; the default is a third of that of the signal.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 4)
    y : ndarray of float64, shape (n_samples,)

    References
    ----------
    Friedman (1991), Multivariate adaptive regression splines, Annals of Statistics 19(1):1-67;
    Breiman (1996), Bagging predictors, Machine Learning 24:123-140.

    Examples
    --------
    >>> X, y = friedman3(random_state=0)
    >>> X.shape, y.shape
    ((200, 4), (200,))
    """
    from sklearn.datasets import make_friedman3

    check_at_least("n_samples", n_samples, 1)
    check_spread("noise", noise, 0.1)
    X, y = make_friedman3(n_samples, noise=noise, random_state=_legacy(random_state))
    return X, y


def lin_jeon_regression(
    n_samples: int = 1000, n_noise: int = 6, *, random_state: RandomState = None
) -> Measured:
    """Lin and Jeon's example of regression: `friedman2`, with features that do not matter.

    They vary the size of terminal nodes on it; the best one depends on the dimension.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows, of training and of test data alike.
    n_noise : int, default=6
        Columns put after the four of `friedman2`, uniform on (0, 1): 0 or 6 in the paper, which
        makes its dimension d 4 or 10.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 4 + n_noise)
    y : ndarray of float64, shape (n_samples,)
        With normal noise of standard deviation 125.

    Notes
    -----
    The range of the uniform noise features is not printed; we take the unit interval.

    References
    ----------
    Lin and Jeon (2006), Random forests and adaptive nearest neighbors, JASA 101:578-590, the
    example of regression with terminal nodes of size k.

    Examples
    --------
    >>> X, y = lin_jeon_regression(random_state=0)
    >>> X.shape, y.shape
    ((1000, 10), (1000,))
    """
    check_at_least("n_noise", n_noise, 0)
    rng = np.random.default_rng(random_state)
    X, y = friedman2(n_samples, random_state=rng)
    return np.hstack([X, rng.random((n_samples, n_noise))]), y


def _legacy(random_state: RandomState) -> np.random.RandomState:
    """A generator of the kind scikit-learn takes, drawing from the same bits as ours would."""
    return np.random.RandomState(np.random.default_rng(random_state).bit_generator)
