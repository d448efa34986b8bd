"""Lin and Jeon's theory of forests as neighbours: k-potential nearest neighbours (Definition 1 and
Proposition 1), how many there are, and what error is left (Theorems 1 to 3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import gammaln

from bevel._types import Bools, Float32s, Floats, Indices
from bevel.analysis.analysed_forest import AnalysedForest, check_count, read_forest
from bevel.errors import wrong_value
from bevel.projections.base import check_integer

__all__ = [
    "expected_potential_neighbours",
    "mean_squared_error_bound",
    "potential_neighbours",
]


def potential_neighbours(forest: Any, X_train: Any, X: Any, k: int) -> sp.csr_matrix:
    """Training rows that are among the k nearest to a row by some monotone distance.

    A distance is monotone if every point of the hyperrectangle between a and b is closer to a than
    b is. A training row is such a k-potential nearest neighbour (k-PNN) if and only if fewer than k
    other training rows are in the hyperrectangle between it and the row (Proposition 1); rows on
    its border are in it. The voting points of a forest whose trees see all rows and whose leaves
    are hyperrectangles of at most k rows are all among them (Proposition 2).

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        Forest with axis-aligned splits of numeric features. Raises for others, whose leaves are not
        hyperrectangles.
    X_train : array-like of shape (n_train, n_features)
        Training rows, without missing values.
    X : array-like of shape (n_rows, n_features)
        Rows to find neighbours of, without missing values.
    k : int
        Number of neighbours, at least one.

    Returns
    -------
    csr_matrix of bool, shape (n_rows, n_train)
        True for k-potential nearest neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import presets
    >>> from bevel.analysis import forest_weights, potential_neighbours
    >>> X, y = np.random.default_rng(0).random((100, 2)), np.arange(100.0)
    >>> forest = presets.random_side(k=3, task="regression", random_state=0).fit(X, y)
    >>> votes = forest_weights(forest, X, y, [[0.5, 0.5]])
    >>> near = potential_neighbours(forest, X, [[0.5, 0.5]], k=3)
    >>> votes.nnz == votes.multiply(near).nnz  # all voting points are potential neighbours
    True
    """
    check_integer("k", k, "neighbours")
    analysed = read_forest(forest, "potential_neighbours", several_outputs=True)
    _check_axis_aligned(analysed)
    points, targets = (_complete(analysed, name, rows) for name, rows in _named(X_train, X))
    places, place, n_at = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    near = [np.flatnonzero(_near(places, n_at, target, k)[place.ravel()]) for target in targets]
    first = np.cumsum([0, *map(len, near)])
    entries = (np.ones(first[-1], bool), np.concatenate(near), first)
    return sp.csr_matrix(entries, shape=(len(targets), len(points)))


def _named(X_train: Any, X: Any) -> list[tuple[str, Any]]:
    return [("X_train", X_train), ("X", X)]


def _check_axis_aligned(analysed: AnalysedForest) -> None:
    """Raise unless every leaf is a hyperrectangle."""
    forest = analysed.forest
    split = forest.right >= 0
    n_entries = np.diff(forest.entry_offset)[split]
    feature = forest.entry_index[forest.entry_offset[:-1][split]]
    oblique = (n_entries > 1) | (feature >= forest.n_features)
    by_levels = forest.levels[np.where(oblique, 0, feature)] > 0
    if oblique.any() or by_levels.any():
        got = "oblique splits" if oblique.any() else "splits of nominal columns by levels"
        raise ValueError(
            f"{analysed.caller} needs leaves that are hyperrectangles, so splits of one numeric "
            f'feature each; got {got}. Fit with projection="axis" on numeric columns, or use '
            "forest_weights, which takes any forest."
        )


def _complete(analysed: AnalysedForest, name: str, rows: Any) -> Float32s:
    encoded = analysed.encode(rows)
    missing = np.isnan(encoded).any(axis=1)
    if missing.any():
        got = f"{np.count_nonzero(missing)} rows with missing values"
        raise wrong_value(name, "rows without missing values", got, "Drop or impute them.")
    return encoded


def _near(places: Float32s, n_at: npt.NDArray[np.int64], target: Float32s, k: int) -> Bools:
    """Whether the points at each position, of which there are `n_at`, are k-PNNs of the target.

    Positions are visited in an order in which those inside a hyperrectangle come before the one
    that spans it. Those with k points or more inside need not be visited: the first k points inside
    any hyperrectangle are at positions that have fewer than k inside their own.
    """
    offset = places.astype(np.float64) - target
    order = np.lexsort((*np.abs(offset).T, np.abs(offset).sum(axis=1)))
    inside = np.zeros(len(places), np.int64)  # points at positions visited so far
    left = order
    while len(left):
        place, left = left[0], left[1:]
        inside[left[_contains(offset[left], offset[place])]] += n_at[place]
        left = left[inside[left] < k]
    return inside + n_at - 1 < k


def _contains(corners: npt.NDArray[np.float64], point: npt.NDArray[np.float64]) -> Bools:
    """Whether the hyperrectangle from the origin to each corner contains the point."""
    low, high = np.minimum(corners, 0.0), np.maximum(corners, 0.0)
    return np.asarray(((low <= point) & (point <= high)).all(axis=1))


def expected_potential_neighbours(
    n_rows: int, n_features: int, k: int = 1, *, corner: bool = True
) -> float:
    """Expected number of k-potential nearest neighbours among uniform rows.

    For the origin of [0, 1]^d, the exact A_k(n, d, 0, 1), whose leading term is k (log n)^(d − 1) /
    (d − 1)! (Theorem 1). A row is a k-PNN if fewer than k others are in the rectangle between it
    and the target, whose volume V is the product of d uniform numbers: A_k = n E[P(Bin(n − 1, V) <
    k)]. In the middle of the cube there are 2^d quadrants, each with rows and a rectangle of its
    own, and their number is larger, at most 2^d times that of the corner (Lemma 1).

    Parameters
    ----------
    n_rows : int
        n, the sample size.
    n_features : int
        d, the dimension.
    k : int, default=1
        Terminal node size.
    corner : bool, default=True
        Whether the target is the origin, which has the fewest; False: the centre of the cube.

    Returns
    -------
    float
        A_k(n, d, 0, 1), or A_k(n, d, centre, 1).

    References
    ----------
    Lin and Jeon 2006, Random forests and adaptive nearest neighbors, Theorems 1 and 2, Lemma 1.

    Examples
    --------
    >>> from bevel.analysis import expected_potential_neighbours
    >>> round(expected_potential_neighbours(1000, 2), 3)  # 1 + 1/2 + … + 1/1000
    7.485
    >>> expected_potential_neighbours(1000, 1, k=5)
    5.0
    """
    n, d = check_count("n_rows", n_rows), check_count("n_features", n_features)
    k = check_count("k", k)
    if not isinstance(corner, bool):
        raise wrong_value("corner", "True or False", corner, "Leave it out for the corner.")
    if k >= n:
        return float(n)
    if corner:
        return _at_corner(n, d, k)
    # Rows are uniform over the quadrants of the centre; each is a cube with the target at a corner.
    counts = np.arange(n + 1)
    log_share = _log_binomial(n, counts, 0.5**d)
    likely = np.flatnonzero(log_share > -40.0)
    each = [_at_corner(int(m), d, k) if m > k else float(m) for m in likely]
    return float(2**d * np.sum(np.exp(log_share[likely]) * each))


def mean_squared_error_bound(n_rows: int, n_features: int, k: int = 1, *, noise: float) -> float:
    """Lower bound on the mean squared error of forests whose splits do not depend on the targets.

    An average with weights W_i that sum to one over the k-PNNs, chosen without the targets, has at
    least the variance σ² Σ W_i² ≥ σ² / (their number). By Jensen's inequality MSE ≥ σ² / A_k(n, d,
    x₀), which is Theorem 3's Λ k⁻¹ (log n)^−(d−1) with its constant. By Lemma 1, A_k is at most
    2^d A_k(n, d, 0) at any point of uniform rows, and never more than n.

    Parameters
    ----------
    n_rows, n_features, k
        Parameters as in `expected_potential_neighbours`.
    noise : float
        σ, the standard deviation of the targets around their expectation.

    Returns
    -------
    float
        σ² / min(n, 2^d A_k(n, d, 0, 1)), for uniform rows and any point of the cube.

    References
    ----------
    Lin and Jeon 2006, Random forests and adaptive nearest neighbors, Theorem 3.

    Examples
    --------
    >>> from bevel.analysis import mean_squared_error_bound
    >>> round(mean_squared_error_bound(1000, 1, 5, noise=2.0), 3)  # 4 / 10 neighbours
    0.4
    """
    if not isinstance(noise, int | float) or not noise > 0.0:
        raise wrong_value("noise", "a standard deviation above 0", noise, "Write noise=1.0.")
    number = min(2.0**n_features * expected_potential_neighbours(n_rows, n_features, k), n_rows)
    return float(noise) ** 2 / number


def _at_corner(n: int, d: int, k: int) -> float:
    """n E[P(Bin(n − 1, V) < k)], V = e^−T, where T has the gamma distribution of shape d.

    P(Bin(n − 1, v) = j) integrates over T to a sum of alternating terms that cancel; the integral
    over t is smooth, and the trapezoidal rule on a transformed axis gives it to 1e-9.
    """
    if d == 1:
        return float(k)
    # t = exp(s) covers (0, ∞); the integrand decays at both ends faster than any power.
    s = np.linspace(-25.0, math.log(60.0 + 3.0 * d + 6.0 * math.log(n + 1.0)), 8001)
    t = np.exp(s)
    log_density = (d - 1) * s - t - math.lgamma(d) + s  # density of T, times dt/ds
    log_v, log_rest = -t, np.log(-np.expm1(-t))
    below = np.zeros_like(t)
    for j in range(k):
        choose = math.lgamma(n) - math.lgamma(j + 1) - math.lgamma(n - j)
        below += np.exp(choose + j * log_v + (n - 1 - j) * log_rest)
    values = np.exp(log_density) * below  # 0 at both ends
    return float(n * values.sum() * (s[1] - s[0]))


def _log_binomial(n: int, counts: Indices, share: float) -> Floats:
    choose = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    return np.asarray(choose + counts * math.log(share) + (n - counts) * math.log1p(-share))
