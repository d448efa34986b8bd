"""The plan of a forest of several families: their options and the sizes of micro-forests."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bevel.projections.families import TableShape, resolve_families
from bevel.training.automatic.candidates import Candidate, candidates_for
from bevel.training.automatic.node_sizes import sizes_to_compare
from bevel.training.criteria import is_regression
from bevel.training.options import TrainingOptions
from bevel.training.trainer import TrainingTarget

__all__ = ["FamilyPlan", "plan_families"]

MICRO_SHARE = 10  # each micro-forest has one in this many of all trees
# With many rows fewer trees are enough to tell families apart, and each costs more
# (docs/design/automatic_families.md).
MANY_ROWS = 1000
ENOUGH_MICRO_TREES = 25
MICRO_SHARE_OF_MANY_ROWS = 20
FEWEST_MICRO_TREES = 5  # with fewer the out-of-bag error of a family is mostly chance
# A family that fits alone has the only trees to compare node sizes with, and few trees favour
# larger nodes than many do.
MICRO_SHARE_ALONE = 5
FEWEST_MICRO_TREES_ALONE = 10


@dataclass(frozen=True)
class FamilyPlan:
    """Families of a forest, with their options and the number of trees.

    Attributes
    ----------
    names : tuple of str
        Names of the families.
    options : tuple of TrainingOptions
        How each family grows; seed and bags are the same in all.
    n_trees : int
        Trees of the forest.
    hard : bool
        Whether trees vote.
    left_out : tuple of (str, str)
        Families that do not fit the table, and why.
    node_sizes : tuple of int
        Values of `min_samples_split` that are compared, ascending. Micro-forests are grown with the
        first.
    """

    names: tuple[str, ...]
    options: tuple[TrainingOptions, ...]
    n_trees: int
    hard: bool
    left_out: tuple[tuple[str, str], ...]
    node_sizes: tuple[int, ...]

    def micro_trees(self, n_rows: int) -> int:
        """Trees of a micro-forest: a tenth of all, and at most half in all micro-forests together.

        With many rows it is a twentieth, if that is `ENOUGH_MICRO_TREES`. A single family has
        `ENOUGH_MICRO_TREES`, or a fifth of all if that is more. 0 if there is nothing to compare:
        a single family of a given size of nodes, too few trees, or no rows out of bag.
        """
        if not self.options[0].leaves_rows_out(n_rows):
            return 0
        n_families = len(self.names)
        if n_families == 1:
            return self._micro_trees_alone()
        n = self.n_trees // max(MICRO_SHARE, 2 * n_families)
        if n_rows >= MANY_ROWS:
            n = min(n, max(ENOUGH_MICRO_TREES, self.n_trees // MICRO_SHARE_OF_MANY_ROWS))
        return n if n >= FEWEST_MICRO_TREES else 0

    def _micro_trees_alone(self) -> int:
        """Trees needed to choose the node size of a single family."""
        if len(self.node_sizes) == 1:
            return 0
        n = min(self.n_trees // 2, max(ENOUGH_MICRO_TREES, self.n_trees // MICRO_SHARE_ALONE))
        return n if n >= FEWEST_MICRO_TREES_ALONE else 0

    def families_of_micro_trees(self, n_rows: int) -> npt.NDArray[np.int32]:
        """Number of the family of each tree of the micro-forests; empty if none are grown."""
        families = np.arange(len(self.names), dtype=np.int32)
        return np.repeat(families, self.micro_trees(n_rows))


def plan_families(
    options: TrainingOptions,
    shape: TableShape,
    target: TrainingTarget,
    n_trees: int,
    hard: bool,
) -> FamilyPlan:
    """Plan for a table.

    Parameters
    ----------
    options : TrainingOptions
        Options that all families share; the criterion "auto" leaves the choice to them.
    shape : TableShape
        Size of the training table.
    target : TrainingTarget
        Targets of the training rows.
    n_trees : int
        Trees of the forest.
    hard : bool
        Whether trees vote.
    """
    purely_random = options.threshold == "purely_random"
    regression = is_regression(options.criterion)
    constrained = "monotonic_cst" if options.monotone else ""
    if options.interaction_groups:
        constrained = constrained or "interaction_cst"
    fitting, left_out = candidates_for(
        shape,
        regression=regression,
        purely_random=purely_random,
        splits_pure=options.split_pure_nodes,
        constrained=constrained,
    )

    def options_of(candidate: Candidate) -> TrainingOptions:
        families = resolve_families(
            candidate.members, shape, regression=regression, single_draw=purely_random
        )
        criterion = candidate.criterion if options.criterion == "auto" else options.criterion
        return replace(options, families=tuple(families), criterion=criterion)

    return FamilyPlan(
        names=tuple(candidate.name for candidate in fitting),
        options=tuple(options_of(candidate) for candidate in fitting),
        n_trees=n_trees,
        hard=hard,
        left_out=tuple(left_out),
        node_sizes=sizes_to_compare(
            None if options.chooses_node_size else options.min_samples_split,
            target,
            options.criterion,
        ),
    )
