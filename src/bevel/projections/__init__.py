"""Where a forest's candidate directions come from.

Each class here is a small frozen description of a distribution of directions, the f_A of Tomita et
al. 2020 (SPORF, Journal of Machine Learning Research 21). Pass one as `projection=`, or its name,
or a list of them; `n_projections` says how many are drawn at each node. A direction is combined
from the numeric features only: nominal columns are split by subsets of their levels.
"""

from __future__ import annotations

from bevel.projections.base import Projection
from bevel.projections.features import Axis, Gaussian, RandomCombination, SparseSigns
from bevel.projections.rotations import RandomRotation

__all__ = ["Axis", "Gaussian", "Projection", "RandomCombination", "RandomRotation", "SparseSigns"]

NAMED: dict[str, type[Projection]] = {
    member.name: member
    for member in (Axis, SparseSigns, RandomCombination, Gaussian, RandomRotation)
}
