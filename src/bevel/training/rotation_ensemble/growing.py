"""Grows a regularised rotation ensemble (thesis, Algorithm 2).

Micro-forests of U trees are grown on each of R rotations; their complexities and out-of-bag errors
decide how many of the M trees each rotation gets. The result is an ordinary forest of the trees
0, 1, ... M − 1 of its seed: trees of the micro-forests that are kept retain their numbers, and the
numbers of the others are grown once more on the rotations that need more trees. A bag depends on
the seed and the number alone, so bags can be drawn again as for any forest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.data.dataset import Dataset
from bevel.forest.complexity import tree_complexities
from bevel.forest.flat_forest import FlatForest
from bevel.forest.records.rotation_record import RotationRecord
from bevel.forest.row_blocks import row_blocks
from bevel.projections.base import SparseDirections
from bevel.training.micro_forests import MicroForests, assign_trees, replace_trees
from bevel.training.options import TrainingOptions
from bevel.training.progress import Progress
from bevel.training.rotation import count_numeric
from bevel.training.rotation_ensemble.axes import draw_rotations
from bevel.training.rotation_ensemble.weights import (
    RotationWeights,
    count_trees,
    needs_errors,
    weigh_rotations,
)
from bevel.training.trainer import TrainingTarget, train

__all__ = ["EnsemblePlan", "grow_ensemble"]


@dataclass(frozen=True)
class EnsemblePlan:
    """Sizes and weighting of an ensemble.

    Attributes
    ----------
    n_trees, n_rotations, n_micro_trees : int
        M, R and U; U·R is less than M.
    weighting : str
        One of `weights.WEIGHTINGS`.
    h : float or None
        Tuning parameter of the weighting; None chooses it.
    n_dropped : int
        Random rotations left out, those of highest out-of-bag error.
    max_rotated : int
        Features rotated together.
    hard : bool
        Whether trees vote when their error is estimated.
    """

    n_trees: int
    n_rotations: int
    n_micro_trees: int
    weighting: str
    h: float | None
    n_dropped: int
    max_rotated: int
    hard: bool

    @property
    def needs_errors(self) -> bool:
        """Whether out-of-bag errors are used."""
        return self.n_dropped > 0 or needs_errors(self.weighting, self.h)


def grow_ensemble(
    dataset: Dataset,
    target: TrainingTarget,
    options: TrainingOptions,
    plan: EnsemblePlan,
    n_threads: int,
    progress_for: Callable[[range, str], Progress],
) -> tuple[FlatForest, RotationRecord]:
    """Grow the trees of a plan.

    Parameters
    ----------
    dataset, target
        Training rows.
    options : TrainingOptions
        How to grow, with one family of rotations unless all columns are nominal.
    plan : EnsemblePlan
        What to grow.
    n_threads : int
        Threads to use; does not change the forest.
    progress_for : callable
        ``progress_for(trees, label)`` makes the progress report of some trees.
    """
    n_numeric = count_numeric(dataset.encoding)
    axes = None
    if n_numeric:
        axes = draw_rotations(options.seed, plan.n_rotations, n_numeric, plan.max_rotated)

    def grow(numbers: Ints64, of_tree: npt.NDArray[np.int32], progress: Progress) -> FlatForest:
        rotated = _on_rotations(options, axes, of_tree)
        return train(dataset, target, rotated, numbers, n_threads, progress)

    of_micro = np.repeat(np.arange(plan.n_rotations, dtype=np.int32), plan.n_micro_trees)
    progress = progress_for(range(len(of_micro)), "growing micro-forests")
    micro = grow(np.arange(len(of_micro)), of_micro, progress)
    by_rotation = tree_complexities(micro, len(dataset.X)).reshape(plan.n_rotations, -1)
    complexities = np.median(by_rotation, axis=1)
    errors = np.full(plan.n_rotations, np.nan)
    if plan.needs_errors:
        errors = _errors(micro, dataset, target, options, plan, n_threads)
    weights = _weights(plan, complexities, errors)
    counts = np.empty(plan.n_rotations, np.int64)
    counts[weights.order] = count_trees(weights.values[weights.order], plan.n_trees)
    of_tree, missing = assign_trees(counts, plan.n_micro_trees)
    n_kept = plan.n_trees - len(missing)  # there are missing ones, since U < M/R
    grown = grow(missing, of_tree, progress_for(range(n_kept, plan.n_trees), "growing trees"))
    record = RotationRecord(
        *(options.seed, plan.max_rotated, complexities, errors, weights.values, weights.h, of_tree)
    )
    return replace_trees(micro, grown, missing), record


def _on_rotations(
    options: TrainingOptions, axes: SparseDirections | None, of_tree: npt.NDArray[np.int32]
) -> TrainingOptions:
    """Options whose trees have given rotations as axes; nominal columns are not rotated."""
    families = tuple(
        replace(family, pool=axes, rotation_of_tree=tuple(of_tree.tolist()))
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


def _errors(
    micro: FlatForest,
    dataset: Dataset,
    target: TrainingTarget,
    options: TrainingOptions,
    plan: EnsemblePlan,
    n_threads: int,
) -> Floats:
    """Out-of-bag error of each micro-forest: share of wrong rows, or mean squared error.

    Rows count by their weights. NaN where no row is out of a bag.
    """
    errors = np.full(plan.n_rotations, np.nan)
    forests = MicroForests(
        micro, plan.n_micro_trees, dataset, target, options, hard=plan.hard, n_threads=n_threads
    )
    blocks = row_blocks(len(target.values), max(1, target.n_classes))
    for rotation in range(plan.n_rotations):
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
