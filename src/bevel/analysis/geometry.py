"""Geometry of directions: how close samplers come to a good one, and how good one is.

Angles are between lines, in degrees from 0 to 90: a direction and its negative make the same cuts.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from bevel import _core
from bevel._types import Floats
from bevel.analysis.analysed_forest import check_count, check_flag, read_forest
from bevel.analysis.importances.projection import Directions, measure_directions
from bevel.analysis.rules.split_directions import find_directions
from bevel.errors import shorten, wrong_type, wrong_value
from bevel.projections import Projection
from bevel.projections.base import Count, FamilySpec
from bevel.projections.families import TableShape, read_projection, resolve_families
from bevel.training.trainer import native_family

__all__ = [
    "ProbabilityEstimate",
    "angles",
    "closest_cosine",
    "probability_within",
    "read_angle",
    "read_direction",
    "read_directions",
    "read_sampler",
    "root_directions",
    "simulate_within",
    "trunk_bayes_error",
]

# Angles between lines, and checks of given directions.


def angles(directions: Directions | npt.ArrayLike, direction: npt.ArrayLike) -> Floats:
    """Angle of each direction to a given one, in degrees from 0 to 90.

    Parameters
    ----------
    directions : Directions or array-like of shape (n_directions, n_features)
        Directions, such as `importance(forest, "projection")` or `root_directions(forest)`.
    direction : array-like of shape (n_features,)
        Direction of any length but zero.

    Returns
    -------
    ndarray of shape (n_directions,)
        Angles between lines: a direction and its negative are at 0 degrees.

    Examples
    --------
    >>> angles([[1, 0], [1, -1], [0, -2]], [1, 1]).round().tolist()
    [45.0, 90.0, 45.0]
    """
    to = read_direction(direction)
    rows = read_directions(directions, len(to))
    length = np.linalg.norm(rows, axis=1)
    # The smaller of sine and cosine is accurate near 0 and near 90 degrees.
    along = np.abs(rows @ to)
    across = np.linalg.norm(rows - np.outer(rows @ to, to), axis=1)
    if (length == 0.0).any():
        raise wrong_value("directions", "of non-zero length", "a row of zeros", "Leave it out.")
    return np.asarray(np.degrees(np.arctan2(across, along)))


def read_direction(direction: npt.ArrayLike) -> Floats:
    """Scale a direction to length one; raises if it is invalid."""
    given = np.asarray(direction, dtype=np.float64)
    length = np.linalg.norm(given)
    if given.ndim != 1 or len(given) == 0 or not np.isfinite(length) or length == 0.0:
        required = "a vector of finite numbers, not all zero"
        raise wrong_value("direction", required, direction, "Pass one weight for each feature.")
    return np.asarray(given / length)


def read_directions(directions: Directions | npt.ArrayLike, n_features: int) -> Floats:
    """Directions as rows of a matrix; raises if they are invalid."""
    if isinstance(directions, Directions):
        rows = directions.dense()
    else:
        rows = np.asarray(directions, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(
            f"directions must be rows of {n_features} weights; got shape {rows.shape}. Pass one "
            "weight for each feature."
        )
    if not np.isfinite(rows).all():
        raise wrong_value("directions", "finite", "NaN or infinity", "Leave such rows out.")
    return rows


def read_angle(angle: object) -> float:
    """An angle in radians; raises if it is invalid."""
    required, remedy = "a number of degrees in (0, 90)", "A useful one is 15."
    if isinstance(angle, bool) or not isinstance(angle, numbers.Real):
        raise wrong_type("angle", required, angle, remedy)
    if not 0.0 < float(angle) < 90.0:
        raise wrong_value("angle", required, shorten(angle), remedy)
    return float(np.radians(float(angle)))


def root_directions(forest: object, *, merge_signs: bool = True) -> Directions:
    """Directions of the root splits of a fitted forest, by share of their gain.

    Compare those of several samplers, as Figure 3.1 of Tomita's thesis does.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest; trees without a split are left out.
    merge_signs : bool, default=True
        Whether a direction and its negative, which make the same cut, are one.

    Returns
    -------
    Directions
        Directions, whose `angles(result, direction)` show how close they are to a known best one.

    Examples
    --------
    >>> from bevel import datasets, presets
    >>> X, y = datasets.parallel_hyperplanes(500, 4, random_state=0)
    >>> forest = presets.sporf(n_estimators=50, random_state=0).fit(X, y)
    >>> root_directions(forest).words[0]
    'x0 + x1'
    """
    check_flag("merge_signs", merge_signs)
    analysed = read_forest(forest, "root_directions", trees_only=True, several_outputs=True)
    trees = analysed.forest
    trees.check_not_slim(analysed.caller)
    roots = trees.tree_offset[:-1]
    roots = roots[trees.right[roots] >= 0]
    return measure_directions(analysed, find_directions(trees, roots, merge_signs=merge_signs))


def read_sampler(projection: str | Projection, n_projections: Count, n_features: int) -> FamilySpec:
    """The sampler of a node; raises for samplers that learn from the target."""
    members = read_projection(projection, n_projections)
    if len(members) != 1:
        raise wrong_value("projection", "one sampler", projection, "Ask for each member by itself.")
    (member,) = members
    if member.projection.reads_target or member.projection.name in ("principal", "custom"):
        required = "a sampler that does not look at the data"
        remedy = 'Use for example "sparse", "axis" or "rotation".'
        raise wrong_value("projection", required, projection, remedy)
    (family,) = resolve_families([member], TableShape(0, n_features, 0), regression=False)
    return family


# Simulated probability that a node draws a direction close to a given one (thesis, A).


class ProbabilityEstimate(NamedTuple):
    """An estimated probability and its standard error."""

    value: float
    standard_error: float


def simulate_within(
    projection: str | Projection,
    direction: npt.ArrayLike,
    angle: float,
    *,
    n_projections: Count = "auto",
    n_repeats: int = 10_000,
    random_state: int | np.random.Generator | None = None,
) -> ProbabilityEstimate:
    """Estimate the probability that a node draws a candidate within an angle of a direction.

    Draws with the samplers that grow forests, `n_repeats` times. Features are assumed to have the
    same unit and the same variance.

    Parameters
    ----------
    projection : str or Projection
        Sampler of candidates, as in the estimators; any that does not depend on the data.
    direction : array-like of shape (n_features,)
        Direction to approximate.
    angle : float
        θ, in degrees, above 0 and below 90.
    n_projections : int, float or str, default="auto"
        Number of candidates of a node, as in the estimators.
    n_repeats : int, default=10_000
        Number of nodes to simulate; 10 000 in the thesis.
    random_state : int, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    ProbabilityEstimate
        Estimate with `value` and `standard_error`.

    Examples
    --------
    >>> simulate_within("sparse", [1, 1, 0, 0], angle=20, n_repeats=2000, random_state=0).value
    0.074
    """
    v, theta = read_direction(direction), read_angle(angle)
    check_count("n_repeats", n_repeats)
    options = _core.Options()
    options.families = [native_family(read_sampler(projection, n_projections, len(v)))]
    seeds = np.random.default_rng(random_state).integers(2**63, size=n_repeats).tolist()
    limit = float(np.cos(theta)) - 1e-6  # weights are float32
    share = sum(closest_cosine(options, seed, v) >= limit for seed in seeds) / n_repeats
    return ProbabilityEstimate(share, float(np.sqrt(share * (1.0 - share) / n_repeats)))


def closest_cosine(options: _core.Options, seed: int, v: npt.NDArray[np.float64]) -> float:
    """|cos| of the angle between v and the closest candidate of a root; 0 if there is none."""
    options.seed = seed
    p = len(v)
    # Two rows, of mean zero and variance one, for samplers that standardise.
    X = np.asfortranarray(np.outer([-1.0, 1.0], np.ones(p)), dtype=np.float32)
    data = _core.TrainingData(
        X=X,
        levels=np.zeros(p, np.int32),
        medians=np.zeros(p, np.float32),
        n_classes=2,
        labels=np.array([0, 1], np.int32),
    )
    axes, root = _core.sample_tree(data, options, 0)
    return float(_cosines(axes if len(axes[0]) > 1 else root, v, root).max(initial=0.0))


def _cosines(
    table: tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]],
    v: npt.NDArray[np.float64],
    root: tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.float32]],
) -> npt.NDArray[np.float64]:
    """|cos| of the drawn directions of a table: all of them, or for axes those of the root."""
    offset, index, weight = table
    if len(offset) == 1:
        return np.zeros(0)
    owner = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    weight = weight.astype(np.float64)
    along = np.bincount(owner, weight * v[index], len(offset) - 1)
    length = np.sqrt(np.bincount(owner, weight * weight, len(offset) - 1))
    cosine = np.abs(along) / np.where(length > 0.0, length, 1.0)
    return cosine if table is root else cosine[root[1] - len(v)]


def trunk_bayes_error(directions: Directions | npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Bayes error of Trunk's problem along directions: Φ(−|⟨μ, a⟩| / ‖a‖).

    The classes of `bevel.datasets.trunk` are normal with identity covariance and means ±μ, μ_j =
    1/√j; along a they are normal with means ±⟨μ, a⟩ and variance ‖a‖².

    Parameters
    ----------
    directions : Directions or array-like of shape (n_directions, n_features)
        Weights of the unscaled features: grow the forest with ``scale=None``.

    Returns
    -------
    ndarray of shape (n_directions,)
        Errors between Φ(−‖μ‖), along μ itself, and 1/2.

    Examples
    --------
    >>> trunk_bayes_error([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).round(3).tolist()
    [0.159, 0.114, 0.094]
    """
    if isinstance(directions, Directions):
        if directions.is_scaled:
            required = "of features as they are"
            got = "directions of a forest that scales features"
            raise wrong_value("directions", required, got, "Fit with scale=None.")
        rows = directions.dense()
    else:
        rows = np.atleast_2d(np.asarray(directions, dtype=np.float64))
        rows = read_directions(rows, rows.shape[-1])
    length = np.linalg.norm(rows, axis=1)
    if (length == 0.0).any():
        raise wrong_value("directions", "of non-zero length", "a row of zeros", "Leave it out.")
    mean = 1.0 / np.sqrt(np.arange(1, rows.shape[1] + 1))
    return np.asarray(special.ndtr(-np.abs(rows @ mean) / length))


# Probability that a node draws a direction close to a given one, in closed form (thesis, A).
#
# v is the given direction, of length one, p its number of features and c = cos θ. A candidate a is
# close when |a·v| ≥ c ‖a‖.

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
