"""Directions made of single features or of a few of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from bevel.projections.base import (
    Count,
    FamilySpec,
    Projection,
    check_fits,
    check_integer,
    check_real,
    resolve_count,
    round_up,
)


@dataclass(frozen=True)
class Axis(Projection):
    """Single features, drawn without replacement: Breiman's random forest (SPORF section 2.1).

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.Axis(), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.93
    """

    name: ClassVar[str] = "axis"
    draws_without_rows: ClassVar[bool] = True
    can_be_constrained: ClassVar[bool] = True
    combines_units: ClassVar[bool] = False
    few_features: ClassVar[bool] = True
    works_on_sparse: ClassVar[bool] = True

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
        involve many features, and drown those that involve few. Cost grows in proportion. Asked
        for by name (`projection="sparse"`), half of the features where there are fewer than four.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.SparseSigns(density=2), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "sparse"
    combines_levels: ClassVar[bool] = True
    draws_without_rows: ClassVar[bool] = True
    can_be_constrained: ClassVar[bool] = True
    few_features: ClassVar[bool] = True
    works_on_sparse: ClassVar[bool] = True
    density: float = 3

    def __post_init__(self) -> None:
        check_real("SparseSigns(density=)", self.density)

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """p draws: the default of SPORF's section 5.2, in regression too."""
        return n_features

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        check_fits("SparseSigns(density=)", self.density, n_numeric)
        n_nonzeros = round_up(self.density * n_draws)
        return FamilySpec("signs", n_draws, resolve_count("density * d", n_nonzeros, n_numeric))

    def shrunk_to(self, n_numeric: int) -> SparseSigns:
        # Three of three would put every feature into every direction: no cut could ever look at
        # one feature alone, and signs leave a handful of directions.
        return self if n_numeric > self.density else replace(self, density=max(1.0, n_numeric / 2))


@dataclass(frozen=True)
class RandomCombination(Projection):
    """A fixed number of features with weights uniform on (−1, 1): Breiman's Forest-RC.

    With `scale="rank"` it is FRANK (Tomita's thesis, section 2.2).

    Parameters
    ----------
    n_features : int, default=2
        L, the number of distinct features in each direction.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.RandomCombination(3), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.97
    """

    name: ClassVar[str] = "combination"
    draws_without_rows: ClassVar[bool] = True
    can_be_constrained: ClassVar[bool] = True
    few_features: ClassVar[bool] = True
    works_on_sparse: ClassVar[bool] = True
    n_features: int = 2

    def __post_init__(self) -> None:
        check_integer("RandomCombination(n_features=)", self.n_features)

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """p draws, as for SparseSigns."""
        return n_features

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        check_fits("RandomCombination(n_features=)", self.n_features, n_numeric)
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

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.Gaussian(n_features=4), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.98
    """

    name: ClassVar[str] = "gaussian"
    can_be_constrained: ClassVar[bool] = True
    n_features: Count = "sqrt"

    def __post_init__(self) -> None:
        resolve_count("Gaussian(n_features=)", self.n_features, 1)

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        n_features = resolve_count("Gaussian(n_features=)", self.n_features, n_numeric)
        check_fits("Gaussian(n_features=)", n_features, n_numeric)
        return FamilySpec("gaussian", n_draws, n_features)

    def shrunk_to(self, n_numeric: int) -> Gaussian:
        n_features = resolve_count("Gaussian(n_features=)", self.n_features, n_numeric)
        return self if n_features <= n_numeric else replace(self, n_features=n_numeric)
