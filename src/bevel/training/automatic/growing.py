"""Grows a forest whose trees are shared out among families by out-of-bag evidence.

Each family grows a micro-forest of U trees. All micro-forests are evaluated on the rows that every
one of them predicts out of bag, the losses become weights, and the weights become numbers of trees.
The same rows decide how small a node may be and still be split. Trees of micro-forests are kept
as far as their families get trees; the others are replaced by trees of families that get more. This
is Blaser's idea for rotations (thesis, chapter 2), applied to families.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.data.dataset import Dataset
from bevel.forest.flat_forest import FlatForest
from bevel.forest.joining import join_forests
from bevel.forest.records.family_record import FamilyRecord
from bevel.forest.row_blocks import row_blocks
from bevel.forest.subforest import take_trees
from bevel.training.automatic.node_sizes import choose_size, row_step
from bevel.training.automatic.plan import FamilyPlan
from bevel.training.automatic.weights import (
    RowsOfFamily,
    count_trees,
    measure_blocks,
    weigh_families,
)
from bevel.training.micro_forests import MicroForests, assign_trees, replace_trees
from bevel.training.options import TrainingOptions
from bevel.training.progress import Progress
from bevel.training.trainer import TrainingTarget, train

__all__ = [
    "FamilyShares",
    "Grower",
    "StoredPredictions",
    "grow_families",
    "grow_more",
    "predict_family",
    "share_by_evidence",
    "share_equally",
]


@dataclass(frozen=True)
class Grower:
    """Grows trees of given numbers and families on one training table."""

    dataset: Dataset
    target: TrainingTarget
    options: Sequence[TrainingOptions]
    n_threads: int

    def grow(
        self, numbers: Ints64, of_tree: npt.NDArray[np.int32], progress: Progress
    ) -> FlatForest:
        """Grow the trees of the given numbers and families, in the order of the numbers."""
        forest, order, n_done = None, [], 0
        for family, options in enumerate(self.options):
            chosen = np.flatnonzero(of_tree == family)
            if len(chosen) == 0:
                continue
            part = train(
                *(self.dataset, self.target, options, numbers[chosen], self.n_threads),
                progress.after(n_done),
            )
            forest = part if forest is None else join_forests(forest, part)
            order.append(chosen)
            n_done += len(chosen)
        assert forest is not None  # there are trees to grow
        return take_trees(forest, np.argsort(np.concatenate(order), kind="stable"))

    def with_node_size(self, min_samples_split: int) -> Grower:
        """Return a copy whose nodes need `min_samples_split` rows to be split."""
        options = [replace(each, min_samples_split=min_samples_split) for each in self.options]
        return replace(self, options=options)

    def micro_forests(
        self, forest: FlatForest, n_trees: int, hard: bool, first_kind: int = 0
    ) -> MicroForests:
        """Micro-forests of some trees each, to be evaluated; see `MicroForests`."""
        return MicroForests(
            *(forest, n_trees, self.dataset, self.target, self.options[0]),
            hard=hard,
            n_threads=self.n_threads,
            first_kind=first_kind,
        )


def grow_families(
    grower: Grower,
    plan: FamilyPlan,
    progress_for: Callable[[range, str], Progress],
) -> tuple[FlatForest, FamilyRecord]:
    """Grow the trees of a plan.

    Parameters
    ----------
    grower : Grower
        Grower of the families of the plan.
    plan : FamilyPlan
        Families, options and number of trees.
    progress_for : callable
        ``progress_for(trees, label)`` makes the progress report of some trees.
    """
    of_micro = plan.families_of_micro_trees(len(grower.dataset.X))
    if len(of_micro) == 0:
        shares = share_equally(plan)
        progress = progress_for(range(plan.n_trees), "growing trees")
        return grower.grow(shares.missing, shares.record.of_tree, progress), shares.record
    progress = progress_for(range(len(of_micro)), "comparing families")
    micro = grower.grow(np.arange(len(of_micro)), of_micro, progress)
    n_micro_trees = len(of_micro) // len(plan.names)
    forests = grower.micro_forests(micro, n_micro_trees, plan.hard)
    shares = share_by_evidence(plan, _evaluate(forests, plan, grower.target), grower.target)
    missing = shares.missing
    progress = progress_for(range(plan.n_trees - len(missing), plan.n_trees), "growing trees")
    sized = grower.with_node_size(shares.record.min_samples_split)
    grown = sized.grow(missing, shares.record.of_tree[missing], progress)
    return replace_trees(micro, grown, missing), shares.record


def grow_more(
    grower: Grower,
    forest: FlatForest,
    record: FamilyRecord,
    trees: range,
    progress: Progress,
) -> tuple[FlatForest, FamilyRecord]:
    """Add trees to a forest, by the weights that its families have.

    Each family gets the trees that it lacks to have its share of all trees.
    """
    wanted = count_trees(record.weights, trees.stop)
    short = np.maximum(wanted - record.n_trees, 0)
    added = count_trees(short / max(short.sum(), 1), len(trees))
    of_new = np.repeat(np.arange(len(added), dtype=np.int32), added)
    sized = grower.with_node_size(record.min_samples_split)
    grown = sized.grow(np.arange(trees.start, trees.stop), of_new, progress)
    of_tree = np.concatenate((record.of_tree, of_new))
    return join_forests(forest, grown), record.with_trees(of_tree)


@dataclass(frozen=True)
class FamilyShares:
    """The family of each tree.

    Attributes
    ----------
    record : FamilyRecord
        Families of the trees 0, 1, ... and the evidence for them.
    missing : ndarray of int64
        Numbers of the trees that are still to be grown, ascending. These are all trees if nodes are
        to be larger than those of the micro-forests.
    """

    record: FamilyRecord
    missing: Ints64


OutOfBagPredictions = tuple[Floats, npt.NDArray[np.bool_]]


class Evaluated(Protocol):
    """Out-of-bag predictions of the families, for blocks of rows.

    Attributes
    ----------
    n_families : int
        Number of families.
    known : ndarray of bool, shape (n_rows,)
        Rows that every family predicts.
    blocks : list of slice
        Consecutive rows.
    """

    n_families: int
    known: npt.NDArray[np.bool_]
    blocks: list[slice]

    def predictions(self, family: int, rows: slice) -> Floats:
        """Of a block, for each of the plan's sizes (first axis)."""


class StoredPredictions:
    """Predictions of all rows that are in memory; see `Evaluated`.

    Parameters
    ----------
    out_of_bag : sequence of (predictions, known)
        Of each family, from `predict_family`.
    """

    def __init__(self, out_of_bag: Sequence[OutOfBagPredictions]) -> None:
        self._predictions = [predictions for predictions, _ in out_of_bag]
        self.known = np.logical_and.reduce([known for _, known in out_of_bag])
        n_sizes, n_rows, width = self._predictions[0].shape
        self.n_families = len(out_of_bag)
        self.blocks = row_blocks(n_rows, self.n_families * n_sizes * width)

    def predictions(self, family: int, rows: slice) -> Floats:
        """Of a block, for each of the plan's sizes (first axis)."""
        return self._predictions[family][:, rows]


class PredictedBlocks:
    """Predictions of tables of many classes, made when a block is asked for; see `Evaluated`."""

    def __init__(
        self, forests: MicroForests, plan: FamilyPlan, target: TrainingTarget, blocks: list[slice]
    ) -> None:
        self._forests, self._plan, self._target = forests, plan, target
        self.n_families = len(plan.names)
        step = _step(plan, target)
        self.known = np.logical_and.reduce(
            [forests.known(family, step) for family in range(self.n_families)]
        )
        self.blocks = blocks

    def predictions(self, family: int, rows: slice) -> Floats:
        """Of a block, for each of the plan's sizes (first axis)."""
        return predict_family(self._forests, family, self._plan, self._target, rows)[0]


def _evaluate(forests: MicroForests, plan: FamilyPlan, target: TrainingTarget) -> Evaluated:
    """Predictions of all families: kept if they are one block, else made block by block."""
    families = range(len(plan.names))
    n_rows = -(-len(target.values) // _step(plan, target))
    width = max(1, target.n_classes, 0 if target.outputs is None else len(target.outputs))
    blocks = row_blocks(n_rows, len(families) * len(plan.node_sizes) * width)
    if len(blocks) > 1 and target.n_classes:
        return PredictedBlocks(forests, plan, target, blocks)
    return StoredPredictions([predict_family(forests, each, plan, target) for each in families])


def _step(plan: FamilyPlan, target: TrainingTarget) -> int:
    """Every so many rows one is predicted."""
    return 1 if len(plan.node_sizes) == 1 else row_step(len(target.values), target.n_classes)


def predict_family(
    forests: MicroForests,
    family: int,
    plan: FamilyPlan,
    target: TrainingTarget,
    rows: slice | None = None,
) -> OutOfBagPredictions:
    """Out-of-bag predictions by a family for each of the plan's sizes, and which rows have them.

    The first axis is that of the sizes. Of many rows, every so many one is predicted if sizes are
    compared; see `row_step`. rows: those of them to predict; None for all.
    """
    if len(plan.node_sizes) == 1:
        predictions, known = forests.predict_out_of_bag(family, rows)
        return predictions[None], known
    return forests.predict_pruned(family, plan.node_sizes, _step(plan, target), rows)


def share_by_evidence(
    plan: FamilyPlan, evaluated: Evaluated, target: TrainingTarget
) -> FamilyShares:
    """Choose the size of nodes, and divide the trees among families, by out-of-bag predictions.

    Parameters
    ----------
    plan : FamilyPlan
        The families.
    evaluated : Evaluated
        Predictions of each family.
    target : TrainingTarget
        Targets of the training rows.
    """
    known, families = evaluated.known, range(evaluated.n_families)
    criterion, n_rows, size = plan.options[0].criterion, len(target.values), 0
    step = -(-n_rows // len(known))
    if len(plan.node_sizes) > 1:
        by_rows = (
            (rows, [evaluated.predictions(family, rows) for family in families])
            for rows in evaluated.blocks
        )
        size = choose_size(by_rows, known, target, step, criterion)
    weights = None if target.weights is None else target.weights[::step]
    evidence = measure_blocks(
        [_rows_of(evaluated, family, size) for family in families],
        *(known, target.values[::step], target.n_classes, weights),
        calibrated=True,
        criterion=criterion,
        output_classes=target.output_classes,
    )
    shares = weigh_families(evidence)
    of_tree, missing = assign_trees(count_trees(shares, plan.n_trees), plan.micro_trees(n_rows))
    if size > 0:
        missing = np.arange(plan.n_trees)
    errors = (evidence.errors, evidence.standard_errors)
    return FamilyShares(_record(plan, *errors, shares, of_tree, plan.node_sizes[size]), missing)


def _rows_of(evaluated: Evaluated, family: int, size: int) -> RowsOfFamily:
    for rows in evaluated.blocks:
        yield rows, evaluated.predictions(family, rows)[size]


def share_equally(plan: FamilyPlan) -> FamilyShares:
    """Give each family the same share of the trees, if there is no out-of-bag evidence."""
    n_families = len(plan.names)
    weights = np.full(n_families, 1.0 / n_families)
    of_tree = (np.arange(plan.n_trees) % n_families).astype(np.int32)
    unknown = np.full(n_families, np.nan)
    record = _record(plan, unknown, unknown, weights, of_tree, plan.node_sizes[0])
    return FamilyShares(record, np.arange(plan.n_trees))


def _record(
    plan: FamilyPlan,
    errors: Floats,
    standard_errors: Floats,
    weights: Floats,
    of_tree: npt.NDArray[np.int32],
    min_samples_split: int,
) -> FamilyRecord:
    return FamilyRecord(
        *(plan.names, errors, standard_errors, weights, of_tree, plan.left_out), min_samples_split
    )
