"""The one call into boosting: dataset, target and options in, trees and losses out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.data.dataset import Dataset
from bevel.errors import shorten, wrong_value
from bevel.forest.flat_forest import FlatForest
from bevel.projections.base import FamilySpec
from bevel.projections.families import Member, TableShape, resolve_families
from bevel.projections.features import Axis, SparseSigns
from bevel.projections.rotations import RandomRotation
from bevel.training.feature_constraints import FeatureConstraints, check_directions
from bevel.training.progress import Progress
from bevel.training.trainer import native_family
from bevel.training.user_loss import UserLoss
from bevel.training.validation_scorer import ValidationScorer

__all__ = [
    "BoostingFit",
    "BoostingOptions",
    "BoostingTarget",
    "boost",
    "code_bytes",
    "reads_as_it_lies",
    "resolve_directions",
]

# Size from which a table is large, 64 MB: it is read from the user's memory and scaled again in
# each iteration. Wide tables are copied, since their rows do not stay in the cache.
LARGE_TABLE = 2**24
MOST_VIEWED_COLUMNS = 256
# Columns whose codes are stored side by side.
CODED_TOGETHER = 16


@dataclass(frozen=True)
class BoostingOptions:
    """Boosting options in resolved numbers; field names are the native ones."""

    loss: str
    quantiles: list[float]  # by output; unused for losses without quantiles
    n_outputs: int
    learning_rate: float
    max_iter: int
    max_leaf_nodes: int  # 0: no limit
    max_depth: int  # -1: no limit
    min_samples_leaf: int
    l2: float
    subsample: float
    samples_by_gradient: bool
    max_bins: int
    n_iter_no_change: int  # 0: no early stopping
    tol: float
    first_iter: int = 0


@dataclass(frozen=True, eq=False)
class BoostingTarget:
    """Targets of the rows of a dataset.

    Attributes
    ----------
    values : ndarray of float64
        Targets, or classes 0, 1, ....
    weights : ndarray of float64 or None
        Weight of each row; None when all are one.
    validates : ndarray of bool or None
        Rows that no tree is grown on, and that decide when to stop; None when there are none.
    """

    values: Floats
    weights: Floats | None
    validates: npt.NDArray[np.bool_] | None

    def rows(self, kept: npt.NDArray[np.integer[Any]]) -> BoostingTarget:
        """Targets of some rows."""
        weights, validates = self.weights, self.validates
        return BoostingTarget(
            self.values[kept],
            None if weights is None else weights[kept],
            None if validates is None else validates[kept],
        )

    def training_weights(self) -> Floats:
        """Weights with zeros where rows validate."""
        weights = np.ones(len(self.values)) if self.weights is None else self.weights
        return weights if self.validates is None else np.where(self.validates, 0.0, weights)


@dataclass(frozen=True, eq=False)
class BoostingFit:
    """Result of boosting: trees, baselines, and the mean loss after each iteration."""

    forest: FlatForest
    baseline: tuple[float, ...]
    training_loss: Floats
    validation_loss: Floats
    interrupted: bool


def resolve_directions(
    members: Sequence[Member] | None,
    n_rows: int,
    levels: npt.NDArray[np.int32],
    constraints: FeatureConstraints,
) -> list[FamilySpec]:
    """Samplers of an iteration.

    Parameters
    ----------
    members : sequence of Member or None
        From `bevel.projections.families.read_projection`; None for the default.
    n_rows : int
        Number of training rows.
    levels : ndarray of int32
        Levels of each column, 0 for numeric ones.
    constraints : FeatureConstraints
        Constraints on the directions.
    """
    n_nominal = int(np.count_nonzero(levels))
    shape = TableShape(n_rows, len(levels) - n_nominal, n_nominal)
    if members is None:
        members = [Member(Axis(), "p"), *_combinations(shape)]
    members = [_with_all_axes(member, shape) for member in members]
    families = resolve_families(members, shape, regression=True)
    for member, family in zip(members, families, strict=False):
        if not member.projection.draws_without_rows or family.per_node:
            required = (
                "made of directions that do not depend on the rows of a node: axis, sparse, "
                "combination, rotation, multirotation, Patches or Custom(matrix)"
            )
            got = shorten(member.projection)
            remedy = 'Use for example projection="auto", or an ObliqueForest.'
            raise wrong_value("projection", required, got, remedy)
    check_directions(constraints, members, families, levels)
    return families


def reads_as_it_lies(
    members: Sequence[Member] | None, n_rows: int, n_features: int, scale: str | None
) -> bool:
    """Whether a fit needs no copy of the table in column order.

    Single features are read once, to code them. Directions are coded in every iteration, from
    columns that are scaled again each time.

    Parameters
    ----------
    members : sequence of Member or None
        Projections as in `resolve_directions`.
    n_rows, n_features : int
        Shape of the table.
    scale : str or None
        One of `bevel.data.scaling.SCALES`.
    """
    projections = [member.projection for member in members or ()]
    if projections and scale is None and all(isinstance(each, Axis) for each in projections):
        return True
    if not _is_large(n_rows, n_features) or n_features > MOST_VIEWED_COLUMNS:
        return False
    is_cheap = scale not in ("rank", "relative_rank")
    return is_cheap and all(each.few_features for each in projections)


def _with_all_axes(member: Member, shape: TableShape) -> Member:
    """Use all features, or all axes of a rotation, where the number is left to the library."""
    projection = member.projection
    if member.n_projections != "auto" or not isinstance(projection, Axis | RandomRotation):
        return member
    most = projection.most_draws(shape.n_numeric) or shape.n_numeric
    return Member(projection, most + shape.n_nominal, member.by_name)


def _combinations(shape: TableShape) -> list[Member]:
    if shape.n_numeric < 2:
        return []
    return [Member(SparseSigns(min(3.0, shape.n_numeric)), default_combinations(shape))]


def default_combinations(shape: TableShape) -> int:
    """Number of sparse combinations for each iteration: more where they cost little.

    In large tables one byte for each row and combination dominates the memory of a fit, and more
    iterations on fewer combinations are the better use of time.
    """
    many = max(1, min(5 * shape.n_numeric, max(shape.n_numeric, 100)))
    if not _is_large(shape.n_rows, shape.n_numeric + shape.n_nominal):
        return many
    few = -(-2 * shape.n_numeric // CODED_TOGETHER) * CODED_TOGETHER
    return min(many, few)


def _is_large(n_rows: int, n_features: int) -> bool:
    return n_rows * n_features >= LARGE_TABLE


def code_bytes(families: Sequence[FamilySpec], n_features: int) -> tuple[int, int]:
    """Bytes of a row in one-byte codes: those of its features, and at most those of directions.

    Parameters
    ----------
    families : sequence of FamilySpec
        From `resolve_directions`.
    n_features : int
        Number of columns.
    """
    n_directions = sum(family.n_draws for family in families)
    return _core.code_bytes(n_features), _core.code_bytes(n_directions)


def _rooms(
    dataset: Dataset, families: Sequence[FamilySpec]
) -> tuple[npt.NDArray[np.uint8] | None, npt.NDArray[np.uint8] | None]:
    """Arrays for the codes of features and directions; None: memory."""
    if dataset.scratch is None:
        return None, None
    n_rows, n_features = dataset.X.shape
    of_features, of_directions = code_bytes(families, n_features)
    return dataset.scratch(n_rows * of_features), dataset.scratch(n_rows * of_directions)


def _report(progress: Progress, scorer: ValidationScorer | None) -> Callable[[int, float], None]:
    """Callback that reports finished iterations with the latest validation loss or score."""

    def report(n_done: int, loss: float) -> None:
        value, name = (loss, "loss") if scorer is None else (-loss, "score")
        progress(n_done, "" if math.isnan(loss) else f"validation {name} {value:.4g}")

    return report


def boost(
    dataset: Dataset,
    target: BoostingTarget,
    families: Sequence[FamilySpec],
    constraints: FeatureConstraints,
    seed: int,
    options: BoostingOptions,
    before: tuple[tuple[float, ...], Floats | None] | None,
    n_threads: int,
    progress: Progress,
    user_loss: UserLoss | None = None,
    scorer: ValidationScorer | None = None,
) -> BoostingFit:
    """Grow the trees of some iterations.

    Parameters
    ----------
    dataset : Dataset
        Training rows, validation rows among them.
    target : BoostingTarget
        Their targets, weights and roles.
    families : sequence of FamilySpec
        From `resolve_directions`.
    constraints : FeatureConstraints
        Constraints on the trees.
    seed : int
        Seed of all random choices; an iteration depends on it and on its own number.
    options : BoostingOptions
        How to grow.
    before : tuple or None
        Baselines of earlier iterations, and the sums (n_rows, n_outputs) that they predict, or
        None if there was no earlier iteration.
    n_threads : int
        Threads to use; does not change the trees.
    progress : Progress
        Progress report of finished iterations.
    user_loss : UserLoss or None, default=None
        The user's own loss; needs a baseline in `before`.
    scorer : ValidationScorer or None, default=None
        Scorer that decides when to stop; None: the loss.
    """
    encoding = dataset.encoding
    trees = _core.Options()
    trees.families = [native_family(family) for family in families]
    trees.monotone = constraints.monotone
    trees.interaction_groups = constraints.groups
    trees.seed = seed
    native = _core.BoostingOptions()
    for name, value in vars(options).items():
        setattr(native, name, value)
    validates = target.validates
    result: dict[str, Any] = _core.boost(
        dataset.X,
        encoding.levels,
        encoding.medians,
        dataset.has_nan,
        target.values,
        target.weights,
        None if validates is None else validates.astype(np.uint8),
        None if before is None else np.asarray(before[0], dtype=np.float64),
        None if before is None or before[1] is None else np.ascontiguousarray(before[1].T).ravel(),
        trees,
        native,
        n_threads,
        _report(progress, scorer) if progress.wanted else None,
        user_loss,
        scorer,
        *_rooms(dataset, families),
        dataset.scaler,
    )
    if result["interrupted"]:
        progress.stop()
    elif progress.wanted:
        n_done = len(result["training_loss"])
        progress(options.max_iter, "" if n_done == options.max_iter else f"stopped after {n_done}")
    forest = FlatForest(
        n_features=dataset.X.shape[1],
        n_classes=0,
        levels=encoding.levels,
        medians=encoding.medians,
        **result["forest"],
    )
    return BoostingFit(
        forest,
        tuple(result["baseline"].tolist()),
        result["training_loss"],
        result["validation_loss"],
        bool(result["interrupted"]),
    )
