"""Ensembles of trees on rotations that are not all worth the same (Blaser, thesis, chapter 2), and
rotated views of a table for learners of other libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from bevel import _core
from bevel._types import Float32s, Floats, Ints32, Ints64
from bevel.data.encoding import Encoding
from bevel.data.tables import Table
from bevel.forest.flat_forest import tree_complexities
from bevel.forest.records import RotationRecord
from bevel.forest.row_blocks import row_blocks
from bevel.projections.base import FamilySpec, SparseDirections
from bevel.training.automatic import MicroForests, TreeShares, assign_trees
from bevel.training.options import TrainingOptions
from bevel.training.trainer import TrainingTarget, native_family

__all__ = [
    "MAX_ENTRIES",
    "WEIGHTINGS",
    "EnsemblePlan",
    "RotationPlan",
    "RotationWeights",
    "as_matrices",
    "count_entries",
    "count_numeric",
    "count_trees",
    "cut_weights",
    "draw_rotations",
    "exponential_weights",
    "haar_rotations",
    "linear_weights",
    "needs_errors",
    "plain_matrix",
    "rotated_view",
    "weigh_rotations",
]

# Rotated views of a table, for learners of other libraries: numeric features rotated, nominal not.
#
# A view is made of rows as a dataset holds them: numeric features scaled before they are rotated
# (Blaser, thesis 1.6.2: a rotation depends on units and outliers), and missing values replaced by
# the median of the training rows (1.6.1), since a rotation would spread them over the row. Nominal
# columns keep their level codes or become indicators, and are never rotated.


def haar_rotations(n_rotations: int, n_features: int, seed: int, *, flip: bool = False) -> Floats:
    """Random rotations from the uniform (Haar) distribution (Blaser 1.4).

    Parameters
    ----------
    n_rotations, n_features : int
        Number of rotations and of features.
    seed : int
        64 bits; rotation r is the one that tree r of a rotation forest of this seed draws.
    flip : bool, default=False
        Admit reflections as well, that is orthogonal matrices of determinant −1.

    Returns
    -------
    ndarray of shape (n_rotations, n_features, n_features)
        Columns are the new axes: rows of features times a matrix are rotated rows.

    Examples
    --------
    >>> (rotation,) = haar_rotations(1, 3, seed=0)
    >>> bool(np.allclose(rotation @ rotation.T, np.eye(3)))
    True
    """
    rotations = [_core.haar_rotation(n_features, flip, seed, tree) for tree in range(n_rotations)]
    axes = np.array(rotations).reshape(n_rotations, n_features, n_features)
    return np.ascontiguousarray(axes.transpose(0, 2, 1))


def count_numeric(encoding: Encoding) -> int:
    """Number of features that are rotated."""
    return int(np.count_nonzero(encoding.levels == 0))


def plain_matrix(table: Table, encoding: Encoding) -> Floats:
    """A training table as one matrix: unscaled numbers, and level codes in nominal columns.

    It depends on no scale, medians or levels, which are learned later from some of its rows.
    """
    matrix = np.empty((table.n_rows, table.n_features), order="F")
    rows = slice(0, table.n_rows)
    for feature in np.flatnonzero(encoding.levels == 0).tolist():
        matrix[:, feature] = table.numbers(rows, slice(feature, feature + 1))[:, 0]
    for feature, levels in encoding.nominal.items():
        matrix[:, feature] = levels.encode(table.labels(feature), table.describe(feature))
    return matrix


def rotated_view(
    X: Float32s, encoding: Encoding, rotation: Floats | None, *, codes: bool, n_threads: int = 1
) -> Float32s:
    """View of some rows for a learner.

    Parameters
    ----------
    X : ndarray of float32, shape (n_rows, p)
        Rows as a dataset holds them: scaled, with level codes, NaN where numbers are missing.
    encoding : Encoding
        Encoding of the rows that the learner is trained on.
    rotation : ndarray of shape (n_numeric, n_numeric) or None
        From `haar_rotations`; None leaves the axes as they are.
    codes : bool
        Whether nominal columns stay in their places as codes. Otherwise each becomes C − 1
        indicators of its C levels behind the numeric features, as in Blaser 1.6.1; missing is a
        level, and one never seen counts as the last.
    n_threads : int, default=1
        Threads that rotate.

    Returns
    -------
    ndarray of float32, Fortran order
        View without missing values; each row has the same bits alone and among others.
    """
    numeric = np.flatnonzero(encoding.levels == 0)
    numbers = _without_missing(X, numeric, encoding.medians)
    if rotation is not None:
        turned = np.empty_like(numbers)
        _core.rotate_rows(numbers, np.asfortranarray(rotation), n_threads, turned)
        numbers = turned
    if len(numeric) == X.shape[1]:
        return numbers
    if codes:
        view = np.array(X, order="F")
        view[:, numeric] = numbers
        return view
    return np.asfortranarray(np.hstack([numbers, *_indicators(X, encoding)]))


def _without_missing(X: Float32s, features: npt.NDArray[np.intp], medians: Float32s) -> Float32s:
    numbers = np.asfortranarray(X[:, features])
    missing = np.isnan(numbers)
    return np.where(missing, medians[features], numbers) if missing.any() else numbers


def _indicators(X: Float32s, encoding: Encoding) -> list[Float32s]:
    """C − 1 columns for each nominal one; the last level is where all of them are zero."""
    nominal = [(feature, int(encoding.levels[feature])) for feature in sorted(encoding.nominal)]
    return [
        (X[:, feature, np.newaxis] == np.arange(n_levels - 1)).astype(np.float32)
        for feature, n_levels in nominal
    ]


# The rotations of an ensemble: the identity, and Haar rotations of the features.
#
# Rotations are never kept: they are drawn again from the seed of the forest whenever they are
# needed. In an ensemble all of them have as many axes as there are numeric features.

# Entries of all rotations together: the core counts them in 32 bits.
MAX_ENTRIES = 2**32 - 1


def count_entries(n_rotations: int, n_numeric: int, max_rotated: int) -> int:
    """Weights of all axes; each takes 8 bytes."""
    n_rotated = min(n_numeric, max_rotated)
    return n_numeric + (n_rotations - 1) * (n_rotated**2 + n_numeric - n_rotated)


def draw_rotations(
    seed: int, n_rotations: int, n_numeric: int, max_rotated: int
) -> SparseDirections:
    """Axes of the identity and of n_rotations − 1 random rotations, back to back.

    They are the rotations of a multi-rotation forest with this seed. When there are more than
    `max_rotated` features, each rotation turns a random subset of that size and leaves the others
    unchanged.

    Parameters
    ----------
    seed : int
        Seed of the forest.
    n_rotations : int
        Number of rotations, including the identity.
    n_numeric : int
        Numeric features, at least one; axes count them from 0.
    max_rotated : int
        Features rotated together.
    """
    n_rotated = min(n_numeric, max_rotated)
    options = _core.Options()
    options.seed = seed
    options.families = [
        native_family(FamilySpec("multirotation", 1, n_rotated, {"n_rotations": n_rotations}))
    ]
    drawn = SparseDirections(*_core.forest_axes(options, np.zeros(n_numeric, np.int32)))
    return (
        drawn
        if n_rotated == n_numeric
        else _with_other_axes(drawn, n_rotations, n_numeric, n_rotated)
    )


def _with_other_axes(
    drawn: SparseDirections, n_rotations: int, n_numeric: int, n_rotated: int
) -> SparseDirections:
    """Return the rotations with the features that they leave out added as axes."""
    identity = drawn.index[:n_numeric]
    subsets = drawn.index[n_numeric:].reshape(n_rotations - 1, n_rotated, n_rotated)
    weights = drawn.weight[n_numeric:].reshape(n_rotations - 1, -1)
    length, index, weight = [np.ones(n_numeric, np.int64)], [identity], [drawn.weight[:n_numeric]]
    for subset, turned in zip(subsets, weights, strict=True):
        rest = np.setdiff1d(identity, subset[0])
        length += [np.full(n_rotated, n_rotated), np.ones(len(rest), np.int64)]
        index += [subset.ravel(), rest]
        weight += [turned, np.ones(len(rest), np.float32)]
    offset = np.concatenate(([0], np.cumsum(np.concatenate(length)))).astype(np.uint32)
    return SparseDirections(offset, np.concatenate(index).astype(np.int32), np.concatenate(weight))


def as_matrices(axes: SparseDirections, n_numeric: int) -> npt.NDArray[np.float32]:
    """Rotations as matrices of shape (n_rotations, n_numeric, n_numeric); columns are axes."""
    matrices = np.zeros((axes.n_directions // n_numeric, n_numeric, n_numeric), np.float32)
    axis = np.repeat(np.arange(axes.n_directions), np.diff(axes.offset))
    matrices[axis // n_numeric, axes.index, axis % n_numeric] = axes.weight
    return matrices


# Weights of the rotations of an ensemble (thesis, 2.3.1 and 2.5).
#
# Weights do not increase from the most favourable rotation to the least, and sum to one. They
# determine numbers of trees.

# In the order (a) to (h) of section 2.5.
WEIGHTINGS = ("rre", "cut", "exp", "bst", "new", "lin", "oob", "jnt")
IDENTITY = 0  # number of the rotation that changes nothing


@dataclass(frozen=True, eq=False)
class RotationWeights:
    """Weights of rotations.

    Attributes
    ----------
    values : ndarray of shape (n_rotations,)
        Weights by number of the rotation.
    order : ndarray of shape (n_rotations,)
        Numbers of the rotations, the most favourable first.
    h : float or None
        The tuning parameter of "cut" and "exp".
    """

    values: Floats
    order: Ints64
    h: float | None


def cut_weights(n_rotations: int, h: float) -> Floats:
    """I(r ≤ h)/h: equal weights for the first h rotations (2.6)."""
    return np.where(np.arange(1, n_rotations + 1) <= h, 1.0 / h, 0.0)


# From here on all weight is on the first rotation; infinity times zero would be NaN.
FASTEST_DECAY = 1000.0


def exponential_weights(n_rotations: int, h: float) -> Floats:
    """2^(−r/h) (2^(1/h) − 1) / (1 − 2^(−R/h)): halved every h rotations (2.7).

    Written as 2^(−(r−1)/h) (1 − 2^(−1/h)) / (1 − 2^(−R/h)), which neither overflows for small h nor
    cancels for large ones.
    """
    decay = min(math.log(2.0) / h, FASTEST_DECAY)
    share = math.expm1(-decay) / math.expm1(-decay * n_rotations)
    return np.asarray(share * np.exp(-decay * np.arange(n_rotations)))


def linear_weights(rank: npt.ArrayLike) -> Floats:
    """Weights in proportion to R, R − 1, ... 1 for ranks 1, 2, ... R; equal ranks are shared."""
    rank = np.asarray(rank, dtype=np.float64)
    steps = len(rank) + 1 - rank
    return np.asarray(steps / steps.sum())


def needs_errors(weighting: str, h: float | None) -> bool:
    """Whether the weights depend on out-of-bag errors."""
    return weighting in ("oob", "jnt") or (weighting in ("cut", "exp") and h is None)


def weigh_rotations(
    weighting: str, complexities: Floats, errors: Floats, h: float | None = None
) -> RotationWeights:
    """Weights of rotations, of which the first is the identity.

    Parameters
    ----------
    weighting : str
        One of `WEIGHTINGS`.
    complexities : ndarray of shape (n_rotations,)
        Median complexity of a tree on each rotation. Ties are broken by the lower number.
    errors : ndarray of shape (n_rotations,)
        Out-of-bag error on each rotation; NaN is unknown and counts as the mean of the others.
    h : float, default=None
        The tuning parameter of "cut" and "exp"; None chooses it on the errors.
    """
    n = len(complexities)
    errors = _filled(errors)
    if weighting in ("lin", "oob", "jnt"):
        rank = _rank(weighting, complexities, errors)
        return RotationWeights(linear_weights(rank), np.argsort(rank, kind="stable"), None)
    order = np.argsort(complexities, kind="stable")
    if weighting in ("cut", "exp"):
        curve = cut_weights if weighting == "cut" else exponential_weights
        h = choose_h(curve, _grid(weighting, n), errors[order]) if h is None else float(h)
        sorted_weights = curve(n, h)
    else:
        n_equal = {
            "rre": n,
            "bst": 1,
            "new": int(np.count_nonzero(complexities <= complexities[IDENTITY])),
        }[weighting]
        h, sorted_weights = None, cut_weights(n, n_equal)
    values = np.empty(n)
    values[order] = sorted_weights
    return RotationWeights(values, order, h)


def _rank(weighting: str, complexities: Floats, errors: Floats) -> Floats:
    if weighting == "lin":
        return np.asarray(rankdata(complexities))
    if weighting == "oob":
        return np.asarray(rankdata(errors))
    return np.asarray(rankdata(rankdata(errors) + rankdata(complexities)))


def _filled(errors: Floats) -> Floats:
    known = np.isfinite(errors)
    return np.where(known, errors, errors[known].mean() if known.any() else 0.0)


def _grid(weighting: str, n_rotations: int) -> Floats:
    """Values of h to try, ascending: from nearly all trees on one rotation to nearly equal."""
    if weighting == "cut":
        return np.arange(1.0, n_rotations + 1.0)
    return 2.0 ** np.arange(-2.0, math.log2(n_rotations) + 4.0, 0.25)


def choose_h(curve: Callable[[int, float], Floats], grid: Floats, sorted_errors: Floats) -> float:
    """The h of the smallest Σ wᵣ·OOBᵣ; ties go to the smallest h, for simpler trees."""
    mean_errors = np.array([curve(len(sorted_errors), h) @ sorted_errors for h in grid])
    rounding = 1e-12 * float(np.abs(sorted_errors).max(initial=0.0))
    return float(grid[np.flatnonzero(mean_errors <= mean_errors.min() + rounding)[0]])


def count_trees(sorted_weights: Floats, n_trees: int) -> Ints64:
    """Trees on each rotation, the most favourable first; they sum to n_trees.

    Weights times n_trees are rounded. Missing trees are added to the first rotation, and
    surplus ones are taken from the last ones.
    """
    counts = np.rint(np.asarray(sorted_weights) * n_trees).astype(np.int64)
    surplus = int(counts.sum()) - n_trees
    if surplus <= 0:
        counts[0] -= surplus
        return counts
    # Cumulative counts, cut at n_trees.
    return np.diff(np.minimum(np.cumsum(counts), n_trees), prepend=0)


# Grows a regularised rotation ensemble (thesis, Algorithm 2).
#
# Micro-forests of U trees are grown on each of R rotations; their complexities and out-of-bag
# errors decide how many of the M trees each rotation gets. The result is an ordinary forest of the
# trees 0, 1, ... M − 1 of its seed: trees of the micro-forests that are kept retain their numbers,
# and the numbers of the others are grown once more on the rotations that need more trees. A bag
# depends on the seed and the number alone, so bags can be drawn again as for any forest.


@dataclass(frozen=True)
class EnsemblePlan:
    """Sizes and weighting of an ensemble.

    Attributes
    ----------
    n_trees, n_rotations, n_micro_trees : int
        M, R and U; U·R is less than M.
    weighting : str
        One of `WEIGHTINGS`.
    h : float or None
        Tuning parameter of the weighting; None chooses it.
    n_dropped : int
        Random rotations left out, those of highest out-of-bag error.
    max_rotated : int
        Features rotated together.
    """

    n_trees: int
    n_rotations: int
    n_micro_trees: int
    weighting: str
    h: float | None
    n_dropped: int
    max_rotated: int

    @property
    def needs_errors(self) -> bool:
        """Whether out-of-bag errors are used."""
        return self.n_dropped > 0 or needs_errors(self.weighting, self.h)


class RotationPlan:
    """The rotations that share the trees of an ensemble; see `bevel.training.forest_fit.TreePlan`.

    Parameters
    ----------
    sizes : EnsemblePlan
        Sizes and weighting.
    options : TrainingOptions
        How to grow, with one family of rotations unless all columns are nominal.
    n_numeric : int
        Number of numeric columns.
    """

    label: ClassVar[str] = "growing micro-forests"

    def __init__(self, sizes: EnsemblePlan, options: TrainingOptions, n_numeric: int) -> None:
        self._sizes, self._options = sizes, options
        self._axes = None
        if n_numeric:
            drawn = (options.seed, sizes.n_rotations, n_numeric, sizes.max_rotated)
            self._axes = draw_rotations(*drawn)

    def micro_trees(self, n_rows: int) -> int:  # noqa: ARG002
        """Trees of a micro-forest."""
        return self._sizes.n_micro_trees

    def of_micro_trees(self, n_rows: int) -> Ints32:  # noqa: ARG002
        """Rotation of each tree of the micro-forests."""
        rotations = np.arange(self._sizes.n_rotations, dtype=np.int32)
        return np.repeat(rotations, self._sizes.n_micro_trees)

    def by_options(
        self, numbers: Ints64, of_tree: Ints32
    ) -> Iterator[tuple[TrainingOptions, Ints64]]:
        """Options whose trees have the rotations as axes, for all trees at once."""
        by_number = np.zeros(int(numbers.max()) + 1, np.int32)
        by_number[numbers] = of_tree
        yield _on_rotations(self._options, self._axes, by_number), np.arange(len(numbers))

    def share(self, forests: MicroForests | None, target: TrainingTarget) -> TreeShares:
        """Share out the trees by the complexities and out-of-bag errors of the micro-forests."""
        assert forests is not None  # there is one for each rotation
        sizes = self._sizes
        complexity = tree_complexities(forests.forest, len(target.values))
        complexities = np.median(complexity.reshape(sizes.n_rotations, -1), axis=1)
        errors = np.full(sizes.n_rotations, np.nan)
        if sizes.needs_errors:
            errors = _errors(forests, target, sizes.n_rotations)
        weights = _weights(sizes, complexities, errors)
        counts = np.empty(sizes.n_rotations, np.int64)
        counts[weights.order] = count_trees(weights.values[weights.order], sizes.n_trees)
        of_tree, missing = assign_trees(counts, sizes.n_micro_trees)
        record = RotationRecord(
            *(self._options.seed, sizes.max_rotated, complexities, errors, weights.values),
            *(weights.h, of_tree),
        )
        return TreeShares(of_tree, missing, rotations=record)


def _on_rotations(
    options: TrainingOptions, axes: SparseDirections | None, of_tree: npt.NDArray[np.int32]
) -> TrainingOptions:
    """Options whose trees have given rotations as axes; nominal columns are not rotated."""
    given = {"given_axes": axes, "rotation_of_tree": of_tree.tolist()}
    families = tuple(
        replace(family, settings={**family.settings, **given})
        if family.kind == "rotation"
        else family
        for family in options.families
    )
    return replace(options, families=families)


def _weights(plan: EnsemblePlan, complexities: Floats, errors: Floats) -> RotationWeights:
    """Weights of all rotations; those that are dropped have weight zero and come last."""
    dropped = _worst(errors, plan.n_dropped)
    kept = np.setdiff1d(np.arange(plan.n_rotations), dropped)
    among = weigh_rotations(plan.weighting, complexities[kept], errors[kept], plan.h)
    values = np.zeros(plan.n_rotations)
    values[kept] = among.values
    return RotationWeights(values, np.concatenate((kept[among.order], dropped)), among.h)


def _worst(errors: Floats, n_dropped: int) -> Ints64:
    """Random rotations of highest error, never the identity."""
    by_error = 1 + np.argsort(np.where(np.isfinite(errors[1:]), errors[1:], np.inf), kind="stable")
    return by_error[len(by_error) - n_dropped :]


def _errors(forests: MicroForests, target: TrainingTarget, n_rotations: int) -> Floats:
    """Out-of-bag error of each micro-forest: share of wrong rows, or mean squared error.

    Rows count by their weights. NaN where no row is out of a bag.
    """
    errors = np.full(n_rotations, np.nan)
    blocks = row_blocks(len(target.values), max(1, target.n_classes))
    for rotation in range(n_rotations):
        losses, knowns = [], []
        for rows in blocks:
            some = rows if len(blocks) > 1 else None
            predictions, known = forests.predict_out_of_bag(rotation, some)
            truth = target.values[rows][known]
            losses.append(_losses(predictions[known], truth, target.n_classes))
            knowns.append(known)
        known = np.concatenate(knowns)
        if known.any():
            weights = None if target.weights is None else target.weights[known]
            errors[rotation] = np.average(np.concatenate(losses), weights=weights)
    return errors


def _losses(predictions: Floats, truth: npt.NDArray[Any], n_classes: int) -> Floats:
    if n_classes:
        return np.asarray(predictions.argmax(axis=1) != truth, dtype=np.float64)
    return np.asarray((predictions[:, 0] - truth) ** 2, dtype=np.float64)
