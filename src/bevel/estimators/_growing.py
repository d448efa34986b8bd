"""Growth of the trees of an estimator, by one projection or by several families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bevel.data.dataset import Dataset
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import FlatForest
from bevel.forest.joining import join_forests
from bevel.forest.records.family_record import FamilyRecord
from bevel.forest.records.rotation_record import RotationRecord
from bevel.projections.families import Member, TableShape
from bevel.training.automatic.growing import Grower, grow_families, grow_more
from bevel.training.automatic.plan import plan_families
from bevel.training.options import TrainingOptions
from bevel.training.progress import Callback, Progress
from bevel.training.trainer import TrainingTarget, train


@dataclass(frozen=True, eq=False)
class PreparedFit:
    """Encoded rows and resolved options of a fit.

    Attributes
    ----------
    dataset : Dataset
        Training rows, encoded.
    target : TrainingTarget
        Targets and weights of the training rows.
    options : TrainingOptions
        Parameters as numbers, resolved for the size of the table.
    bags : Bags or None
        How bags are drawn; None if the trees of an earlier fit have other bags.
    values : mapping
        Parameters by name, checked.
    members : sequence of Member
        The projections; empty with `projection="auto"`.
    """

    dataset: Dataset
    target: TrainingTarget
    options: TrainingOptions
    bags: Bags | None
    values: Mapping[str, Any]
    members: Sequence[Member]


class Grown(NamedTuple):
    """Trees of a fit, and the record of how they were grown."""

    forest: FlatForest
    rotations: RotationRecord | None = None
    families: FamilyRecord | None = None

    def after(self, earlier: FlatForest) -> Grown:
        """Return the forest of an earlier fit followed by these trees."""
        return self._replace(forest=join_forests(earlier, self.forest))


class TreeGrowth:
    """The part of an estimator that grows trees."""

    n_estimators: int
    verbose: int
    callback: Callback | None

    def _grow(self, prepared: PreparedFit, before: FittedForest | None, n_threads: int) -> Grown:
        """The forest of this fit: the earlier trees, and the new ones."""
        dataset, target, options = prepared.dataset, prepared.target, prepared.options
        n_before = 0 if before is None else before.forest.n_trees
        trees = range(n_before, self.n_estimators)
        if before is not None and not len(trees):
            return Grown(before.forest, before.rotations, before.families)
        if options.families == ():
            return self._grow_families(dataset, target, options, before, n_threads)
        grown = self._train(dataset, target, options, trees, n_threads)
        return grown if before is None else grown.after(before.forest)

    def _train(
        self,
        dataset: Dataset,
        target: TrainingTarget,
        options: TrainingOptions,
        trees: range,
        n_threads: int,
    ) -> Grown:
        return Grown(train(dataset, target, options, trees, n_threads, self._progress(trees)))

    def _grow_families(
        self,
        dataset: Dataset,
        target: TrainingTarget,
        options: TrainingOptions,
        before: FittedForest | None,
        n_threads: int,
    ) -> Grown:
        """Grow trees of several families: `projection="auto"`."""
        hard = getattr(self, "voting", "soft") == "hard"
        plan = plan_families(options, shape_of(dataset), target, self.n_estimators, hard)
        grower = Grower(dataset, target, plan.options, n_threads)
        if before is None:
            forest, record = grow_families(grower, plan, self._progress)
            return Grown(forest, families=record)
        if before.families is None:
            raise ValueError(
                'warm_start with projection="auto" needs trees of an earlier fit with '
                'projection="auto", whose families go on; got trees of another projection. Keep '
                "the projection, or set warm_start=False."
            )
        trees = range(before.forest.n_trees, self.n_estimators)
        more = (before.families, trees, self._progress(trees))
        forest, record = grow_more(grower, before.forest, *more)
        return Grown(forest, families=record)

    def _progress(self, trees: range, label: str = "growing trees") -> Progress:
        """Progress report of the trees of a fit."""
        show = bool(self.verbose)
        return Progress(trees.start, trees.stop, show, self.callback, label=label)


def shape_of(dataset: Dataset) -> TableShape:
    n_rows, n_features = dataset.X.shape
    n_nominal = int(np.count_nonzero(dataset.encoding.levels))
    return TableShape(n_rows, n_features - n_nominal, n_nominal)
