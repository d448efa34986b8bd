"""Where a forest's candidate directions come from.

Each class here is a small frozen description of a distribution of directions, the f_A of Tomita et
al. 2020 (SPORF, Journal of Machine Learning Research 21). Pass one as `projection=`, or its name,
or a list of them; `n_projections` says how many are drawn at each node. A direction is combined
from the numeric features only: nominal columns are split by subsets of their levels.
"""

from __future__ import annotations

from bevel.projections.base import Projection
from bevel.projections.custom import Custom
from bevel.projections.features import Axis, Gaussian, RandomCombination, SparseSigns
from bevel.projections.models import CCA, LDA, PLS, Cox, Logistic, Ridge
from bevel.projections.patches import Patches
from bevel.projections.rotations import MultiRotation, PrincipalRotation, RandomRotation

__all__ = [
    "CCA",
    "LDA",
    "PLS",
    "Axis",
    "Cox",
    "Custom",
    "Gaussian",
    "Logistic",
    "MultiRotation",
    "Patches",
    "PrincipalRotation",
    "Projection",
    "RandomCombination",
    "RandomRotation",
    "Ridge",
    "SparseSigns",
]

NAMED: dict[str, type[Projection]] = {
    member.name: member
    for member in (
        Axis,
        SparseSigns,
        RandomCombination,
        Gaussian,
        RandomRotation,
        MultiRotation,
        PrincipalRotation,
        Ridge,
        LDA,
        Logistic,
        PLS,
        CCA,
        Cox,
    )
}
# Those that a name does not say enough about, and how to write them.
NEED_SETTINGS = {
    Patches.name: "P.Patches(shape), such as P.Patches((28, 28))",
    Custom.name: "P.Custom(function) or P.Custom(matrix)",
}
