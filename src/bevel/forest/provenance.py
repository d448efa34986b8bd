"""Where the trees of a fitted model come from: their bags and seed, and what was chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.forest.bags import Bags
from bevel.forest.records import FamilyRecord, RotationRecord

__all__ = ["Provenance"]


@dataclass(frozen=True, eq=False)
class Provenance:
    """How the trees of a fitted model were grown.

    Attributes
    ----------
    seed : int or None
        Seed of the trees 0, 1, ...; None if only some of these trees were kept.
    bags : Bags or None
        How the bags were drawn; None if there are none, if trees were chosen, or differ in it.
    class_weight : dict, str or None
        As given to the estimator.
    tuned_out_of_bag : str
        The projection that chose its penalties on out-of-bag rows; empty if none did.
    rotations : RotationRecord or None
        Record of a regularised rotation ensemble.
    families : FamilyRecord or None
        Record of a forest whose families share the trees (`projection="auto"`).
    bounds_leaves : bool
        Whether monotonic constraints bound the leaves, which are then no means of their rows.
    """

    seed: int | None
    bags: Bags | None = None
    class_weight: Any = None
    tuned_out_of_bag: str = ""
    rotations: RotationRecord | None = None
    families: FamilyRecord | None = None
    bounds_leaves: bool = False

    @property
    def draws_bags(self) -> bool:
        """Whether each tree was grown on a bag."""
        return self.bags is not None and self.bags.size > 0

    @property
    def balances_bags(self) -> bool:
        """Whether the classes of each bag were balanced."""
        class_weight = self.class_weight
        balances = isinstance(class_weight, str) and class_weight == "balanced_subsample"
        return balances and self.draws_bags

    def of_some_trees(self, trees: npt.NDArray[np.int64]) -> Provenance:
        """What is known if only these trees are kept."""
        rotations, families = self.rotations, self.families
        return replace(
            self,
            seed=None,
            bags=None,
            rotations=rotations and replace(rotations, of_tree=rotations.of_tree[trees]),
            families=families and families.with_trees(families.of_tree[trees]),
        )
