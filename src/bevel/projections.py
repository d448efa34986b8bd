"""Where a forest's candidate directions come from.

Each class here is a small frozen description of a distribution of directions, the f_A of Tomita et
al. 2020 (SPORF, Journal of Machine Learning Research 21). Pass one as `projection=`, or its name,
or a list of them; `n_projections` says how many are drawn at each node. A direction is combined
from the numeric features only: nominal columns are split by subsets of their levels.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from bevel.counts import Count, resolve_count, round_up
from bevel.errors import wrong_type, wrong_value

__all__ = ["Axis", "Gaussian", "Projection", "RandomCombination", "RandomRotation", "SparseSigns"]


@dataclass(frozen=True)
class FamilySpec:
    """One of the samplers that the trainer runs at each node, in resolved numbers."""

    kind: str
    n_draws: int
    n_nonzeros: int = 0
    flip: bool = False
    per_node: bool = False


@dataclass(frozen=True)
class Projection(ABC):
    """What every distribution of directions answers; not used by itself."""

    name: ClassVar[str]

    def default_draws(self, n_features: int, regression: bool) -> int:
        """Draws per node when `n_projections="auto"`: √p, or p/3 in regression."""
        return max(1, n_features // 3) if regression else resolve_count("auto", "sqrt", n_features)

    def most_draws(self, n_numeric: int) -> int | None:  # noqa: ARG002
        """Distinct directions that exist, None when they are drawn with replacement."""
        return None

    @abstractmethod
    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        """Describe draws among the numeric features to the trainer; raises if impossible."""

    def shrunk_to(self, n_numeric: int) -> Projection:  # noqa: ARG002
        """Reduce default settings to what so few features allow; used when asked for by name."""
        return self


@dataclass(frozen=True)
class Axis(Projection):
    """Single features, drawn without replacement: Breiman's random forest (SPORF section 2.1)."""

    name: ClassVar[str] = "axis"

    def most_draws(self, n_numeric: int) -> int:
        return n_numeric

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:  # noqa: ARG002
        return FamilySpec("axis", n_draws)


@dataclass(frozen=True)
class SparseSigns(Projection):
    """Sums and differences of a few features: SPORF (Tomita et al. 2020, section 3.1).

    At each node ⌈λpd⌉ entries −1 or +1 are thrown uniformly into a p × d matrix whose columns are
    the candidate directions; empty columns are simply not candidates.

    Parameters
    ----------
    density : float, default=3
        λp, the mean number of features in a direction. More of them find slanted boundaries that
        involve many features, and drown those that involve few. Cost grows in proportion.
    """

    name: ClassVar[str] = "sparse"
    density: float = 3

    def __post_init__(self) -> None:
        _check_real("SparseSigns(density=)", self.density)

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """p draws: the default of SPORF's section 5.4, in regression too."""
        return n_features

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        _check_fits("SparseSigns(density=)", self.density, n_numeric)
        n_nonzeros = round_up(self.density * n_draws)
        return FamilySpec("signs", n_draws, resolve_count("density * d", n_nonzeros, n_numeric))

    def shrunk_to(self, n_numeric: int) -> SparseSigns:
        return replace(self, density=min(self.density, n_numeric))


@dataclass(frozen=True)
class RandomCombination(Projection):
    """A fixed number of features with weights uniform on (−1, 1): Breiman's Forest-RC.

    With `scale="rank"` it is FRANK (Tomita's thesis, section 2.2).

    Parameters
    ----------
    n_features : int, default=2
        L, the number of distinct features in each direction.
    """

    name: ClassVar[str] = "combination"
    n_features: int = 2

    def __post_init__(self) -> None:
        _check_integer("RandomCombination(n_features=)", self.n_features)

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """p draws, as for SparseSigns."""
        return n_features

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        _check_fits("RandomCombination(n_features=)", self.n_features, n_numeric)
        return FamilySpec("combination", n_draws, int(self.n_features))

    def shrunk_to(self, n_numeric: int) -> RandomCombination:
        return replace(self, n_features=min(self.n_features, n_numeric))


@dataclass(frozen=True)
class Gaussian(Projection):
    """A random subset of features, standardised in the node, with normal weights.

    This is oRF-rnd of Menze et al. 2011 ("On Oblique Random Forests", section 2).

    Parameters
    ----------
    n_features : int, float or str, default="sqrt"
        mtry, the number of distinct features in each direction: an integer, a share of the numeric
        features in (0, 1], "sqrt", "log2", "p" or "p**k" of their number.
    """

    name: ClassVar[str] = "gaussian"
    n_features: Count = "sqrt"

    def __post_init__(self) -> None:
        resolve_count("Gaussian(n_features=)", self.n_features, 1)

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        n_features = resolve_count("Gaussian(n_features=)", self.n_features, n_numeric)
        _check_fits("Gaussian(n_features=)", n_features, n_numeric)
        return FamilySpec("gaussian", n_draws, n_features)


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
        _check_integer("RandomRotation(max_features=)", self.max_features)

    def most_draws(self, n_numeric: int) -> int:
        return min(int(self.max_features), n_numeric)

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        n_rotated = self.most_draws(n_numeric)
        return FamilySpec("rotation", n_draws, n_rotated, self.flip, self.per == "node")


NAMED: dict[str, type[Projection]] = {
    member.name: member
    for member in (Axis, SparseSigns, RandomCombination, Gaussian, RandomRotation)
}


def _check_real(name: str, value: object) -> None:
    remedy = "Values from 1 to 5 are usual."
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise wrong_type(name, "a positive number", value, remedy)
    if not 0.0 < float(value) < float("inf"):
        raise wrong_value(name, "a positive number", value, remedy)


def _check_integer(name: str, value: object) -> None:
    remedy = "Pass a whole number of features."
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise wrong_type(name, "an integer of at least 1", value, remedy)
    if value < 1:
        raise wrong_value(name, "an integer of at least 1", value, remedy)


def _check_fits(name: str, value: float, n_numeric: int) -> None:
    if value > n_numeric:
        required = f"at most the number of numeric features ({n_numeric})"
        raise wrong_value(name, required, value, f"Use {n_numeric} or less.")
