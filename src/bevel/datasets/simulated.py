"""The papers' simulated classification problems, by their names in the papers.

Each function returns ``(X, y)``: ``X`` float64 of shape (n_samples, n_features), ``y`` int64 labels
counted from 0. Rows are independent draws, so class counts vary as they would in a sample. The
defaults are the papers' settings; SPORF is Tomita et al. (2020), JMLR 21(104), and "thesis" is
T. M. Tomita, *Generalized Linear Splitting Rules in Decision Forests*, Johns Hopkins University.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel._types import Floats
from bevel.datasets.conventions import Labelled, RandomState, check_at_least, check_spread
from bevel.errors import wrong_value

__all__ = [
    "bars",
    "biomarkers",
    "circles",
    "consistency",
    "esl_mixture",
    "esl_mixture_means",
    "lin_jeon_classification",
    "long_ramp",
    "orthant",
    "parallel_hyperplanes",
    "ringnorm",
    "short_ramp",
    "sparse_parity",
    "spirals",
    "threenorm",
    "triangle",
    "trunk",
    "twonorm",
    "waveform",
]


def sparse_parity(
    n_samples: int = 5000,
    n_features: int = 20,
    n_informative: int = 3,
    *,
    random_state: RandomState = None,
) -> Labelled:
    """Parity of the signs of the first few features: noisy XOR in many dimensions.

    Every feature is uniform on (-1, 1); ``y = odd(Q)`` with Q the number of positive values among
    the first `n_informative` features (p* in the paper). No proper subset of those features
    carries any information about the label. The Bayes error is 0.

    Parameters
    ----------
    n_samples : int, default=5000
        Rows; the size at which SPORF section 4.4 studies its parameters.
    n_features : int, default=20
        Columns, p in the paper.
    n_informative : int, default=3
        Columns that decide the label, p* in the paper; at most `n_features`.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    References
    ----------
    SPORF section 4.2; thesis sections 2.2.1 and 3.2.2.

    Examples
    --------
    >>> X, y = sparse_parity(n_samples=100, random_state=0)
    >>> X.shape, bool(((X[:, :3] > 0).sum(axis=1) % 2 == y).all())
    ((100, 20), True)
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_informative", n_informative, 1)
    if n_informative > n_features:
        required = f"at most n_features ({n_features})"
        raise wrong_value("n_informative", required, n_informative, "Lower it or add features.")
    X = np.random.default_rng(random_state).uniform(-1.0, 1.0, (n_samples, n_features))
    y = np.count_nonzero(X[:, :n_informative] > 0.0, axis=1) % 2
    return X, y.astype(np.int64)


def orthant(
    n_samples: int = 400, n_features: int = 6, *, random_state: RandomState = None
) -> Labelled:
    """One class for each orthant: the problem made for axis-aligned trees.

    Every feature is uniform on (-1, 1) and the label names the orthant: bit j of `y` is 1 when
    feature j is positive, so there are ``2**n_features`` equally likely classes. (The paper counts
    orthants from 1, here they start at 0.) The Bayes error is 0.

    Parameters
    ----------
    n_samples : int, default=400
        Rows; the size at which SPORF section 4.4 studies its parameters. Small samples may miss
        some of the classes.
    n_features : int, default=6
        Columns, p in the paper; at most 62, so that the label fits in 64 bits.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        Between 0 and ``2**n_features - 1``.

    References
    ----------
    SPORF section 4.2; thesis section 3.2.2.

    Examples
    --------
    >>> X, y = orthant(n_samples=5, n_features=2, random_state=0)
    >>> bool(((X[:, 0] > 0) + 2 * (X[:, 1] > 0) == y).all())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 1)
    if n_features > 62:
        required = "at most 62, so that labels fit in 64 bits"
        raise wrong_value("n_features", required, n_features, "Draw fewer features.")
    X = np.random.default_rng(random_state).uniform(-1.0, 1.0, (n_samples, n_features))
    y = (X > 0.0) @ (np.int64(1) << np.arange(n_features, dtype=np.int64))
    return X, y.astype(np.int64)


def trunk(
    n_samples: int = 100, n_features: int = 10, *, random_state: RandomState = None
) -> Labelled:
    """Two Gaussians whose means differ less and less from one feature to the next.

    Both classes have identity covariance; the mean of class 1 is
    ``mu = (1, 1/sqrt(2), ..., 1/sqrt(p))`` and that of class 0 is ``-mu``. The Bayes rule cuts on
    ``mu @ x > 0`` and errs with probability Phi(-sqrt(1 + 1/2 + ... + 1/p)): 0.0435 at p = 10.

    Parameters
    ----------
    n_samples : int, default=100
        Rows; a size of the papers' experiments.
    n_features : int, default=10
        Columns, p in the paper.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    References
    ----------
    SPORF section 4.2; thesis sections 2.2.1 and 3.2.2; Trunk (1979).

    Examples
    --------
    >>> X, y = trunk(n_samples=100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 10), [0, 1])
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 1)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    mean = 1.0 / np.sqrt(np.arange(1, n_features + 1))
    X = rng.standard_normal((n_samples, n_features)) + np.where(y[:, None] == 1, mean, -mean)
    return X, y


def consistency(
    n_samples: int = 5000, n_stripes: int = 20, *, random_state: RandomState = None
) -> Labelled:
    """Biau's three squares, on which a greedy axis-aligned forest need not be consistent.

    Rows are uniform on ``[0,1]² ∪ [1,2]² ∪ [2,3]²``. The first square holds vertical stripes of
    alternating label, the last one horizontal stripes, and the middle one a 2 × 2 checkerboard, on
    which no axis-aligned cut gains anything. With countably many stripes there is always a better
    cut among the stripes, the checkerboard is never cut, and the error stays at 1/6 or above.
    Here the stripes are finite in number and equally wide. The Bayes error is 0.

    Parameters
    ----------
    n_samples : int, default=5000
        Rows.
    n_stripes : int, default=20
        Stripes in each of the two striped squares. The papers have infinitely many; a sample can
        resolve them only while it holds several rows for each.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
    y : ndarray of int64, shape (n_samples,)
        0 or 1; equally likely when `n_stripes` is even.

    Notes
    -----
    The bound of 1/6 is about trees that are not grown to the end. Trees with pure leaves run out
    of stripes and cut the checkerboard after all, so that the axis-aligned forest is the better one
    on such a sample. The effect shows with a budget, best first: ``growth="best_first"`` and
    ``max_leaf_nodes=2 * n_stripes``, or ``max_depth`` no larger than that. Give the oblique forest
    directions along the axes too, as ``SparseSigns(density=1)`` does: two non-zeros in each
    direction would leave the stripes out of reach.

    References
    ----------
    SPORF section 4.1; Biau, Devroye and Lugosi (2008), JMLR 9:2015-2033.

    Examples
    --------
    >>> X, y = consistency(n_samples=300, n_stripes=4, random_state=0)
    >>> bool((np.floor(X[:, 0]) == np.floor(X[:, 1])).all())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_stripes", n_stripes, 1)
    rng = np.random.default_rng(random_state)
    square = rng.integers(0, 3, n_samples)
    X = rng.random((n_samples, 2)) + square[:, None]
    inside = X - square[:, None]  # after rounding, so that labels follow from X exactly
    stripe = (inside * n_stripes).astype(np.int64) % 2
    cell = (inside >= 0.5).sum(axis=1) % 2
    y = np.choose(square, [stripe[:, 0], cell, stripe[:, 1]])
    return X, y.astype(np.int64)


def parallel_hyperplanes(
    n_samples: int = 2000,
    n_features: int = 20,
    *,
    offset: float = 0.1,
    noise: float = 0.01,
    random_state: RandomState = None,
) -> Labelled:
    """Two thin parallel slabs that no single feature separates.

    Class 0 lies on ``X_1 + X_2 = -e`` and class 1 on ``X_1 + X_2 = +e``, where ``e`` is drawn from
    N(`offset`, `noise`²) for each row. All other features, and ``X_1``, are uniform on
    (-0.5, 0.5); ``X_2`` follows from the constraint. The cut ``X_1 + X_2 > 0`` is the Bayes rule;
    its error is Phi(-offset / noise), about 8e-24 at the defaults.

    Parameters
    ----------
    n_samples : int, default=2000
        Rows. The thesis does not print its number.
    n_features : int, default=20
        Columns, at least 2; those after the second are noise.
    offset : float, default=0.1
        Mean of ``e``: each slab's distance from the origin along ``X_1 + X_2``.
    noise : float, default=0.01
        Standard deviation of ``e``.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    Notes
    -----
    The thesis writes e ~ N(0.1, 0.01) without saying whether 0.01 is a variance. We read it as a
    standard deviation: the text calls it "a small amount" of noise around two hyperplanes, while a
    variance of 0.01 would let 16 % of the rows cross over to the other side; and the author's
    public script for the same figure draws ``rnorm(n, mean, sd = 0.01)``. Pass ``noise=0.1`` for
    the other reading.

    References
    ----------
    Thesis section 3.2.1 and Figure 3.1.

    Examples
    --------
    >>> X, y = parallel_hyperplanes(n_samples=100, random_state=0)
    >>> bool(((X[:, 0] + X[:, 1] > 0) == y).all())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 2)
    check_spread("noise", noise, 0.01)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    X = rng.uniform(-0.5, 0.5, (n_samples, n_features))
    distance = rng.normal(offset, noise, n_samples)
    X[:, 1] = np.where(y == 1, distance, -distance) - X[:, 0]
    return X, y


# Breiman's simulated classification problems: three of normals, and the waveforms of CART.
#
# All return ``(X, y)`` as the other simulations do; Breiman's class 1 has label 0, his class 2 has
# label 1, and so on. His training samples have 300 rows, his test samples 3000.


def twonorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: RandomState = None
) -> Labelled:
    """Two normals, one above and one below: the best cut is the plane between them.

    Both classes have unit covariance; the mean is ``(a, ..., a)`` in the first and
    ``(-a, ..., -a)`` in the second, with ``a = 2 / sqrt(n_features)``. Each feature carries a
    little information, all the same amount. The Bayes rule cuts on the sum of the features and
    errs with probability Phi(-2), 2.3 %, whatever the dimension.

    Parameters
    ----------
    n_samples : int, default=300
        Rows.
    n_features : int, default=20
        Columns, d in the paper.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    References
    ----------
    Breiman (1998), Arcing classifiers, Annals of Statistics 26(3):801-849.

    Examples
    --------
    >>> X, y = twonorm(n_samples=200, random_state=0)
    >>> bool(X[y == 0].mean() > 0 > X[y == 1].mean())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 1)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    sign = np.where(y == 0, 1.0, -1.0)
    mean = sign[:, None] * np.full(n_features, 2.0 / math.sqrt(n_features))
    return rng.standard_normal((n_samples, n_features)) + mean, y


def threenorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: RandomState = None
) -> Labelled:
    """Three normals, the outer two of them of one class: no plane will do.

    All have unit covariance. A row of the first class comes with equal probability from the normal
    with mean ``(a, ..., a)`` or the one with mean ``(-a, ..., -a)``; the second class has mean
    ``(a, -a, a, -a, ...)``; ``a = 2 / sqrt(n_features)``. The Bayes error is 10.5 % in any even
    dimension, where the means are orthogonal.

    Parameters
    ----------
    n_samples : int, default=300
        Rows.
    n_features : int, default=20
        Columns, d in the paper.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    References
    ----------
    Breiman (1998), Arcing classifiers, Annals of Statistics 26(3):801-849. Menze et al. (2011),
    Figure 6, correlates its features: `correlated`.

    Examples
    --------
    >>> X, y = threenorm(n_samples=100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 20), [0, 1])
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 1)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    side = rng.choice([-1.0, 1.0], n_samples)
    alternating = np.where(np.arange(n_features) % 2 == 0, 1.0, -1.0)
    mean = np.where(y[:, None] == 0, side[:, None], alternating) * (2.0 / math.sqrt(n_features))
    return rng.standard_normal((n_samples, n_features)) + mean, y


def ringnorm(
    n_samples: int = 300,
    n_features: int = 20,
    *,
    a: float | None = None,
    random_state: RandomState = None,
) -> Labelled:
    """A narrow normal inside a wide one: the second class is surrounded by the first.

    The first class has mean 0 and covariance four times the identity; the second has mean
    ``(a, ..., a)`` and unit covariance. The Bayes rule is a sphere; at the defaults its error is
    1.24 %.

    Parameters
    ----------
    n_samples : int, default=300
        Rows.
    n_features : int, default=20
        Columns, d in the paper.
    a : float or None, default=None
        Mean of every feature in the second class; None means ``2 / sqrt(n_features)``.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
    y : ndarray of int64, shape (n_samples,)
        0 or 1, equally likely.

    Notes
    -----
    Copies of this problem differ in `a`: it is 2/sqrt(20) in the Delve archive and 1/sqrt(d) in
    the R package mlbench. Breiman reports a theoretical error of 1.3 %; the first gives 1.24 % and
    the second 1.50 %, so we take the first. Pass ``a=1 / math.sqrt(n_features)`` for the other.

    References
    ----------
    Breiman (1998), Arcing classifiers, Annals of Statistics 26(3):801-849.

    Examples
    --------
    >>> X, y = ringnorm(n_samples=200, random_state=0)
    >>> bool(X[y == 0].std() > 1.5 > X[y == 1].std())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_features", n_features, 1)
    if a is None:
        a = 2.0 / math.sqrt(n_features)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    noise = rng.standard_normal((n_samples, n_features))
    return np.where(y[:, None] == 0, 2.0 * noise, noise + a), y


def waveform(
    n_samples: int = 300, n_noise: int = 0, *, random_state: RandomState = None
) -> Labelled:
    """Noisy mixtures of two of three triangular waves, sampled at 21 points: three classes.

    With ``h1(j) = max(6 - |j - 11|, 0)``, ``h2(j) = h1(j - 4)`` and ``h3(j) = h1(j + 4)``,
    feature j (1 to 21) of a row is

    ====== ========================== =====
    class  feature                    label
    ====== ========================== =====
    first  ``u h1 + (1 - u) h2 + e``  0
    second ``u h1 + (1 - u) h3 + e``  1
    third  ``u h2 + (1 - u) h3 + e``  2
    ====== ========================== =====

    where u is uniform on (0, 1), one for each row, and e standard normal, one for each cell.
    Neighbouring features are strongly correlated. The Bayes error is about 14 %.

    Parameters
    ----------
    n_samples : int, default=300
        Rows.
    n_noise : int, default=0
        Standard normal columns put after the 21 features; 19 of them make the version with 40.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 21 + n_noise)
    y : ndarray of int64, shape (n_samples,)
        0, 1 or 2, equally likely.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*, section 2.6;
    the waves are numbered as in Hastie, Tibshirani and Friedman (2009), *The Elements of
    Statistical Learning*, section 12.6.

    Examples
    --------
    >>> X, y = waveform(n_samples=100, n_noise=19, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 40), [0, 1, 2])
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_noise", n_noise, 0)
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 3, n_samples)
    u = rng.random((n_samples, 1))
    waves = _waves()
    first, second = waves[[0, 0, 1]], waves[[1, 2, 2]]
    X = rng.standard_normal((n_samples, 21 + n_noise))
    X[:, :21] += u * first[y] + (1.0 - u) * second[y]
    return X, y


def _waves() -> Floats:
    """Rows h1, h2, h3 at the points 1 to 21."""
    peak = np.array([[11.0], [15.0], [7.0]])
    height: Floats = 6.0 - np.abs(np.arange(1.0, 22.0) - peak)
    return height.clip(min=0.0)


# Blaser's three problems with known decision boundaries, on which rotations help more or less.
#
# The first two features are uniform on the unit square and the label says on which side of the
# boundary they lie, 1 above it; columns of uniform noise may follow. All have Bayes error 0.
# "Blaser" is R. Blaser's thesis on random rotations; he prints the boundaries, not the number of
# points.


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


# Classification problems of the plane, to look at: mixtures, a circle, two spirals.


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


def bars(
    n_samples: int = 100,
    image_size: int = 20,
    n_lines: int = 5,
    *,
    random_state: RandomState = None,
) -> Labelled:
    """Images of horizontal or vertical bars, randomly sized and spaced.

    An image is black (0) but for `n_lines` white (1) rows, if its class is 0, or as many white
    columns, if it is 1, each set of lines equally likely. Lines side by side merge to thicker bars.
    A pixel is white with probability ``n_lines / image_size`` in both classes, so that none is
    informative by itself; two neighbours are. The Bayes error is 0.

    Parameters
    ----------
    n_samples : int, default=100
        Rows: one image each.
    image_size : int, default=20
        Pixels along each side of the square image.
    n_lines : int, default=5
        White rows or columns; at least 1 and fewer than `image_size`.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, image_size ** 2)
        0 or 1, one image row after the other: ``X.reshape(-1, image_size, image_size)`` has
        horizontal lines along its last axis.
    y : ndarray of int64, shape (n_samples,)
        0 for horizontal bars, 1 for vertical ones, equally likely.

    Notes
    -----
    The thesis shows the images without saying how they were drawn. Size, number of lines and the
    way to place them are those of the author's public script of "image stripes", whose sample sizes
    (10, 20 and 50 images) fit its figure.

    References
    ----------
    Thesis section 3.3.8 and Figure 3.11: T. M. Tomita, *Generalized Linear Splitting Rules in
    Decision Forests*, Johns Hopkins University.

    Examples
    --------
    >>> X, y = bars(n_samples=10, random_state=0)
    >>> images = X.reshape(-1, 20, 20)
    >>> bool((images[y == 0].min(axis=2) == images[y == 0].max(axis=2)).all())
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("image_size", image_size, 2)
    if not 1 <= n_lines < image_size:
        required = f"at least 1 and below image_size ({image_size})"
        raise wrong_value("n_lines", required, n_lines, "Otherwise both classes look the same.")
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    white = np.tile(np.arange(image_size) < n_lines, (n_samples, 1))
    white = rng.permuted(white, axis=1)
    across, down = white[:, :, None], white[:, None, :]
    images = np.where(y[:, None, None] == 0, across, down)  # either spreads over the other axis
    return images.reshape(n_samples, -1).astype(np.float64), y


SHIFTS = (4.0, 2.5)  # of the two markers in cases, in standard deviations
N_SIBLINGS = 3  # peptides of one protein
SHARED = 0.5  # correlation of the peptides of one protein


def biomarkers(
    n_controls: int = 27,
    n_cases: int = 7,
    n_features: int = 318,
    *,
    random_state: RandomState = None,
) -> Labelled:
    """Log abundances of peptides in samples of healthy people and of patients.

    Every feature is standard normal in controls. In cases two of them, the markers, are shifted:
    feature 0 by 4 and feature 1 by 2.5 standard deviations; nothing else differs. Features come
    from proteins, three from each: j, j + k and j + 2k, with k a third of the features, rounded up,
    have correlation 1/2 with each other and none with the rest. So the markers are independent,
    and each has two siblings that are not informative by themselves.

    With as many controls as cases, the Bayes rule of the two markers, on
    ``4 x0 + 2.5 x1``, errs with probability Phi(-2.36) = 0.9 %, that of all features, which takes
    the siblings off, with Phi(-2.89) = 0.2 %.

    Parameters
    ----------
    n_controls, n_cases : int, default=27 and 7
        Samples of each kind: the sizes of the thesis's training set. Its test set has 10 and 22.
    n_features : int, default=318
        Columns, at least 6.
    random_state : int, Generator or None, default=None
        Seed of the draw; None draws afresh each time.

    Returns
    -------
    X : ndarray of float64, shape (n_controls + n_cases, n_features)
        Controls first.
    y : ndarray of int64, shape (n_controls + n_cases,)
        0 for controls, 1 for cases.

    References
    ----------
    Thesis chapter 4, whose measurements this imitates in shape, not in distribution.

    Examples
    --------
    >>> X, y = biomarkers(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((34, 318), [27, 7])
    """
    check_at_least("n_controls", n_controls, 0)
    check_at_least("n_cases", n_cases, 0)
    check_at_least("n_controls + n_cases", n_controls + n_cases, 1)
    check_at_least("n_features", n_features, 2 * N_SIBLINGS)
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.array([0, 1], np.int64), [n_controls, n_cases])
    n_proteins = -(-n_features // N_SIBLINGS)
    level = rng.standard_normal((len(y), n_proteins))
    own = rng.standard_normal((len(y), n_features))
    X = np.sqrt(SHARED) * level[:, np.arange(n_features) % n_proteins] + np.sqrt(1 - SHARED) * own
    X[:, : len(SHIFTS)] += np.outer(y, SHIFTS)
    return X, y
