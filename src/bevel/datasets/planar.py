"""Classification problems of the plane, to look at: mixtures, a circle, two spirals."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.datasets.conventions import Labelled, RandomState, check_at_least, check_spread
from bevel.errors import wrong_value

__all__ = ["circles", "esl_mixture", "esl_mixture_means", "lin_jeon_classification", "spirals"]


def esl_mixture_means(
    n_means: int = 10, *, random_state: RandomState = None
) -> NDArray[np.float64]:
    """Draw the means of the mixture of *The Elements of Statistical Learning*: see `esl_mixture`.

    Parameters
    ----------
    n_means : int, default=10
        Means of each class.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    means : ndarray of float64, shape (2, n_means, 2)
        Draws from N((1, 0), I) for class 0 and from N((0, 1), I) for class 1.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), *The Elements of Statistical Learning*, section 2.3.3.

    Examples
    --------
    >>> from bevel.datasets import esl_mixture_means
    >>> esl_mixture_means(5, random_state=0).shape
    (2, 5, 2)
    """
    check_at_least("n_means", n_means, 1)
    centre = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    return centre + np.random.default_rng(random_state).standard_normal((2, n_means, 2))


def esl_mixture(
    n_samples: int = 200, *, means: ArrayLike | None = None, random_state: RandomState = None
) -> Labelled:
    """Two classes, each a mixture of ten small normals: the picture of oblique forests.

    The means of a class are themselves drawn from a normal, around (1, 0) or around (0, 1); a row
    picks one of its class at random and adds N(0, I/5). The boundary is smooth and winds; its
    error depends on the means.

    Parameters
    ----------
    n_samples : int, default=200
        Rows; the book has 100 of each class.
    means : array-like of shape (2, n_means, 2) or None, default=None
        Means of class 0 and of class 1, as from `esl_mixture_means`; None draws ten of each. Pass
        the same ones for training and for test data, which are otherwise different problems.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
    y : ndarray of int64, shape (n_samples,)
        0 (BLUE in the book) or 1 (ORANGE), equally likely.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), *The Elements of Statistical Learning*, section 2.3.3;
    Blaser, thesis, Figure 1.1; Menze et al. (2011), Figure 4.

    Examples
    --------
    >>> means = esl_mixture_means(random_state=0)
    >>> X, y = esl_mixture(means=means, random_state=1)
    >>> X_test, y_test = esl_mixture(10_000, means=means, random_state=2)
    """
    check_at_least("n_samples", n_samples, 1)
    rng = np.random.default_rng(random_state)
    if means is None:
        means = esl_mixture_means(random_state=rng)
    means = np.asarray(means, dtype=np.float64)
    if means.ndim != 3 or means.shape[0] != 2 or means.shape[1] < 1 or means.shape[2] != 2:
        required = "of shape (2, n_means, 2)"
        raise wrong_value("means", required, means.shape, "Draw them with esl_mixture_means.")
    y = rng.integers(0, 2, n_samples)
    mean = means[y, rng.integers(0, means.shape[1], n_samples)]
    return mean + rng.normal(0.0, math.sqrt(1 / 5), (n_samples, 2)), y


def lin_jeon_classification(n_samples: int = 1000, *, random_state: RandomState = None) -> Labelled:
    """Lin and Jeon's example of classification: two normals of the plane that overlap.

    Class 0 is N((0, 0), I) and class 1 is N((1, 1), I). The Bayes rule cuts on ``X_1 + X_2 > 1``
    and errs with probability Phi(-sqrt(1/2)), 24.0 %. The paper varies the size of terminal nodes
    on it.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows; the paper has 500 of each class.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    References
    ----------
    Lin and Jeon (2006), Random forests and adaptive nearest neighbors, JASA 101:578-590, the
    example of classification with terminal nodes of size k.

    Examples
    --------
    >>> X, y = lin_jeon_classification(n_samples=500, random_state=0)
    >>> bool(X[y == 1].mean() > 0.5 > X[y == 0].mean())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    return rng.standard_normal((n_samples, 2)) + y[:, None], y


def circles(
    n_samples: int = 300, n_features: int = 2, *, random_state: RandomState = None
) -> Labelled:
    """A circle in a square, or a ball in a cube, with half of the volume inside.

    Features are uniform on (-1, 1); class 0 is the ball around the origin that has half the volume
    of the cube, of radius ``sqrt(2 / pi)`` in the plane, and class 1 all the rest. The Bayes error
    is 0.

    Parameters
    ----------
    n_samples : int, default=300
        Rows.
    n_features : int, default=2
        Columns: 2 or 3. From the fourth dimension on, a ball of half the volume sticks out of the
        cube.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    References
    ----------
    Menze et al. (2011), Table 1, data set 20; after "circle" of the R package mlbench.

    Examples
    --------
    >>> X, y = circles(n_samples=100, random_state=0)
    >>> bool((((X**2).sum(axis=1) > 2 / math.pi) == y).all())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    squared_radius = {2: 2.0 / math.pi, 3: (3.0 / math.pi) ** (2 / 3)}
    if n_features not in squared_radius:
        remedy = "A ball of half the volume sticks out of the cube from 4 dimensions on."
        raise wrong_value("n_features", "2 or 3", n_features, remedy)
    X = np.random.default_rng(random_state).uniform(-1.0, 1.0, (n_samples, n_features))
    y = (X**2).sum(axis=1) > squared_radius[n_features]
    return X, y.astype(np.int64)


def spirals(
    n_samples: int = 300,
    n_turns: float = 1.5,
    *,
    noise: float = 0.05,
    random_state: RandomState = None,
) -> Labelled:
    """Two spirals, each the mirror image of the other through the origin.

    A row lies t turns along its spiral, t uniform on (0, `n_turns`): at the angle 2 pi t and the
    distance (1 + 2 t) / 3 from the origin, so that the first turn ends on the unit circle. The
    other class has the opposite point. Normal noise is added to both coordinates.

    Parameters
    ----------
    n_samples : int, default=300
        Rows.
    n_turns : float, default=1.5
        Length of each spiral in turns; above 0.
    noise : float, default=0.05
        Standard deviation around the spirals, whose distance is 1/3.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    Notes
    -----
    The paper does not print its settings; these are those of the noisy example in the manual of
    the R package mlbench, where the problem comes from.

    References
    ----------
    Menze et al. (2011), Table 1, data set 17.

    Examples
    --------
    >>> X, y = spirals(n_samples=100, noise=0.0, random_state=0)
    >>> float(np.hypot(X[:, 0], X[:, 1]).min()) > 1 / 3
    True
    """
    check_at_least("n_samples", n_samples, 1)
    if not (math.isfinite(n_turns) and n_turns > 0.0):
        raise wrong_value("n_turns", "finite and above 0", n_turns, "The default is 1.5.")
    check_spread("noise", noise, 0.05)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    t = rng.uniform(0.0, n_turns, n_samples)
    radius = np.where(y == 0, 1.0, -1.0) * (1.0 + 2.0 * t) / 3.0
    spiral = radius[:, None] * np.column_stack([np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)])
    return spiral + rng.normal(0.0, noise, (n_samples, 2)), y
