"""The papers' simulated classification problems, by their names in the papers.

Each function returns ``(X, y)``: ``X`` float64 of shape (n_samples, n_features), ``y`` int64 labels
counted from 0. Rows are independent draws, so class counts vary as they would in a sample. The
defaults are the papers' settings; SPORF is Tomita et al. (2020), JMLR 21(104), and "thesis" is
T. M. Tomita, *Generalized Linear Splitting Rules in Decision Forests*, Johns Hopkins University.
"""

import numpy as np

from bevel.datasets.conventions import Labelled, RandomState, check_at_least, check_spread
from bevel.errors import wrong_value

__all__ = ["consistency", "orthant", "parallel_hyperplanes", "sparse_parity", "trunk"]


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
