"""Probability that a node draws a direction close to a given one, in closed form (thesis, A).

v is the given direction, of length one, p its number of features and c = cos θ. A candidate a is
close when |a·v| ≥ c ‖a‖.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from bevel._types import Floats
from bevel.analysis.geometry.angles import read_angle, read_direction
from bevel.analysis.geometry.sampler import read_sampler
from bevel.errors import wrong_value
from bevel.projections import Projection
from bevel.projections.base import FamilySpec
from bevel.projections.counts import Count

__all__ = ["probability_within"]


ROUNDING = 1e-9  # rounding error of a cosine


def probability_within(
    projection: str | Projection,
    direction: npt.ArrayLike,
    angle: float,
    *,
    n_projections: Count = "auto",
) -> float:
    """Probability that a node draws a candidate within an angle of a direction.

    Exact, for "axis", "sparse", "rotation" (up to 45 degrees), "gaussian" and "combination" of one
    feature; `simulate_within` estimates it for every sampler.

    Parameters
    ----------
    projection : str or Projection
        Sampler of candidates, as in the estimators. Features are assumed to have the same unit, and
        for "gaussian" the same variance.
    direction : array-like of shape (n_features,)
        Direction to approximate. For "sparse", "gaussian" and rotations of some of the features,
        all nonzero weights must have the same size.
    angle : float
        θ, in degrees, above 0 and below 90.
    n_projections : int, float or str, default="auto"
        Number of candidates of a node, as in the estimators.

    Returns
    -------
    float
        Probability.

    Examples
    --------
    One of 16 features, and a uniformly random rotation of them:

    >>> round(probability_within("sparse", [1] + [0] * 15, angle=15), 3)
    0.122
    >>> round(probability_within("rotation", [1] + [0] * 15, angle=15, n_projections=16), 9)
    5e-09
    """
    v, theta = read_direction(direction), read_angle(angle)
    family = read_sampler(projection, n_projections, len(v))
    if family.kind not in _CLOSED_FORMS or _is_open(family, theta):
        raise wrong_value(
            "projection",
            "one with a closed form: axis, sparse, rotation (up to 45 degrees), gaussian, or "
            "combination of one feature",
            projection,
            "Use simulate_within, which draws.",
        )
    return float(np.clip(_CLOSED_FORMS[family.kind](family, v, float(np.cos(theta))), 0.0, 1.0))


def _is_open(family: FamilySpec, theta: float) -> bool:
    wide = family.kind == "rotation" and theta > np.pi / 4
    return wide or (family.kind == "combination" and family.n_nonzeros > 1)


def _axis(family: FamilySpec, v: Floats, c: float) -> float:
    """Probability for d of p features without replacement (hypergeometric)."""
    n_close = np.count_nonzero(np.abs(v) >= c - ROUNDING)
    return 1.0 - float(stats.hypergeom.pmf(0, len(v), n_close, family.n_draws))


def _single_features(family: FamilySpec, v: Floats, c: float) -> float:
    """Probability for d features with replacement."""
    n_close = np.count_nonzero(np.abs(v) >= c - ROUNDING)
    return _any_of(family.n_draws, n_close / len(v))


def _gaussian(family: FamilySpec, v: Floats, c: float) -> float:
    """Probability for d independent directions, each uniform in a subspace of L features."""
    return _any_of(family.n_draws, _cap_in_subspace(family.n_nonzeros, v, c))


def _rotation(family: FamilySpec, v: Floats, c: float) -> float:
    """Probability for d axes of one rotation: up to 45 degrees at most one of them is close.

    Of p axes m are rotated, in a random subspace of m features; the others are features.
    """
    p, rotated = len(v), family.n_nonzeros / len(v)
    n_close = np.count_nonzero(np.abs(v) >= c - ROUNDING)
    alone = (1.0 - rotated) * n_close / p
    return family.n_draws * (rotated * _cap_in_subspace(family.n_nonzeros, v, c) + alone)


def _signs(family: FamilySpec, v: Floats, c: float) -> float:
    """Probability for m entries ±1 put into p x d cells without replacement (SPORF 3.1).

    A column with k entries can be filled in C(p, k) ways, of which a share f(k) leaves it far from
    v. All columns are far in a share [x^m] (Σ_k C(p, k) f(k) x^k)^d / C(pd, m) of the fillings;
    binomial probabilities instead of binomial coefficients keep the numbers in range.
    """
    p, d, m = len(v), family.n_draws, family.n_nonzeros
    m = min(m, p * d)
    q = _equal_weights(v)
    k = np.arange(min(p, m) + 1)
    far = np.array([1.0 - _signs_close(p, q, each, c) for each in k.tolist()])
    column = stats.binom.pmf(k, p, m / (p * d)) * far
    all_far = float(_power(column, d, m)[m])
    return 1.0 - all_far / float(stats.binom.pmf(m, p * d, m / (p * d)))


def _signs_close(p: int, q: int, k: int, c: float) -> float:
    """Probability that k random features with random signs are close to q of p features."""
    if k == 0:
        return 0.0
    shared = np.arange(min(k, q) + 1)  # features in common
    needed = c * np.sqrt(k * q) - ROUNDING  # |sum of their signs|
    # |2B − h| ≥ needed, where B of the h signs agree; both tails of a symmetric distribution.
    fewest = np.ceil((shared + needed) / 2.0)
    tail = np.minimum(1.0, 2.0 * stats.binom.sf(fewest - 1, shared, 0.5))
    return float(stats.hypergeom.pmf(shared, p, q, k) @ tail)


def _power(polynomial: Floats, exponent: int, degree: int) -> Floats:
    """Coefficients up to `degree` of a power; all are positive, so that nothing cancels."""
    result = np.zeros(degree + 1)
    result[0] = 1.0
    base = np.zeros(degree + 1)
    base[: len(polynomial)] = polynomial[: degree + 1]
    while exponent:
        if exponent & 1:
            result = np.convolve(result, base)[: degree + 1]
        base = np.convolve(base, base)[: degree + 1]
        exponent >>= 1
    return result


def _cap_in_subspace(n_chosen: int, v: Floats, c: float) -> float:
    """Probability that a uniform direction of n random features is close to v."""
    p = len(v)
    if n_chosen == p:
        return _cap(p, c)
    q = _equal_weights(v)
    shared = np.arange(1, min(n_chosen, q) + 1)
    # The part of v within the subspace has length √(shared / q).
    close = [_cap(n_chosen, c / float(np.sqrt(h / q))) for h in shared]
    return float(stats.hypergeom.pmf(shared, p, q, n_chosen) @ close)


def _cap(n: int, c: float) -> float:
    """Share of the unit sphere in n dimensions with |x·u| ≥ c: (x·u)² is Beta(1/2, (n−1)/2)."""
    if n == 1:
        return float(c <= 1.0 + ROUNDING)
    if c >= 1.0:
        return 0.0
    return float(special.betainc((n - 1) / 2.0, 0.5, 1.0 - c * c))


def _any_of(n_draws: int, probability: float) -> float:
    """Probability that at least one of independent draws succeeds."""
    return float(-np.expm1(n_draws * np.log1p(-probability))) if probability < 1.0 else 1.0


def _equal_weights(v: Floats) -> int:
    """Number of features of v; raises unless their weights have the same size."""
    size = np.abs(v[v != 0.0])
    if not np.allclose(size, size[0], rtol=1e-9, atol=0.0):
        required = "made of weights of one size, and zeros"
        raise wrong_value("direction", required, v.tolist(), "Use simulate_within, which draws.")
    return len(size)


_CLOSED_FORMS: dict[str, Callable[[FamilySpec, Floats, float], float]] = {
    "axis": _axis,
    "combination": _single_features,
    "gaussian": _gaussian,
    "rotation": _rotation,
    "signs": _signs,
}
