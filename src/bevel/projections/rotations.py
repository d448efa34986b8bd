"""Directions that are axes of rotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bevel.errors import wrong_type, wrong_value
from bevel.projections.base import FamilySpec, Projection, check_integer


@dataclass(frozen=True)
class RandomRotation(Projection):
    """Axes of a uniformly random (Haar) rotation of the features: RR-RF and RR-ET.

    Source: Blaser, "Random rotations in machine learning" (thesis), sections 1.4 to 1.6.

    Parameters
    ----------
    per : {"tree", "node"}, default="tree"
        Whether a tree keeps one rotation or every node draws its own.
    flip : bool, default=False
        Admit reflections as well, that is orthogonal matrices of determinant −1.
    max_features : int, default=1000
        Features rotated together; when there are more, each rotation takes a fresh random subset of
        this size. Memory grows with its square per tree.
    """

    name: ClassVar[str] = "rotation"
    per: str = "tree"
    flip: bool = False
    max_features: int = 1000

    def __post_init__(self) -> None:
        if self.per not in ("tree", "node"):
            raise wrong_value("RandomRotation(per=)", '"tree" or "node"', self.per, "Choose one.")
        if not isinstance(self.flip, bool):
            raise wrong_type("RandomRotation(flip=)", "a bool", self.flip, "Choose True or False.")
        check_integer("RandomRotation(max_features=)", self.max_features)

    def most_draws(self, n_numeric: int) -> int:
        return min(int(self.max_features), n_numeric)

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        n_rotated = self.most_draws(n_numeric)
        return FamilySpec("rotation", n_draws, n_rotated, self.flip, self.per == "node")
