"""Directions that are axes of rotations."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import ClassVar

from bevel.errors import wrong_type, wrong_value
from bevel.projections.base import (
    FamilySpec,
    Projection,
    check_fits,
    check_flag,
    check_integer,
    check_option,
)

# The share of the rows that a group of features learns from, in Rodriguez et al. 2006.
ROTATION_FOREST_SHARE = 0.75


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
        this size and leaves the other features as they are (1.5). Memory grows with its square per
        tree.
    method : {"haar", "direct"}, default="haar"
        "haar" draws every rotation with equal density (the QR method of 1.4). "direct" is the
        shorter method of Listing 1.1: one random axis, the others its mirror image. Every single
        axis of it but the first lies close to a feature if there are many features.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.RandomRotation(), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.98
    """

    name: ClassVar[str] = "rotation"
    draws_without_rows: ClassVar[bool] = True
    per: str = "tree"
    flip: bool = False
    max_features: int = 1000
    method: str = "haar"

    def __post_init__(self) -> None:
        check_option("RandomRotation(per=)", self.per, ("tree", "node"))
        check_option("RandomRotation(method=)", self.method, ("haar", "direct"))
        check_flag("RandomRotation(flip=)", self.flip)
        check_integer("RandomRotation(max_features=)", self.max_features)

    def most_draws(self, n_numeric: int) -> int:
        return n_numeric

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        n_rotated = min(int(self.max_features), n_numeric)
        how = {"flip": self.flip, "per_node": self.per == "node", "direct": self.method == "direct"}
        return FamilySpec("rotation", n_draws, n_rotated, how)


@dataclass(frozen=True)
class MultiRotation(Projection):
    """The features and the axes of many random rotations, pooled at every node.

    Source: Blaser, "Random rotations in machine learning" (thesis), section 3.2. The rotations are
    drawn once for the forest: every tree chooses among the same axes, at each node those that suit
    it. Directions are drawn without replacement from the pool.

    Parameters
    ----------
    n_rotations : int, default=30
        K, the views of the features: one unrotated and K − 1 Haar rotations. 30 is the paper's.
    flip : bool, default=False
        Admit reflections as well, that is orthogonal matrices of determinant −1.
    max_features : int, default=1000
        Features rotated together; when there are more, each rotation takes a fresh random subset of
        this size. Drawing and memory (8 bytes each) grow with K times its square, once per forest;
        a split on a rotated axis keeps a weight for each of them.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.MultiRotation(10), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.97
    """

    name: ClassVar[str] = "multirotation"
    draws_without_rows: ClassVar[bool] = True
    n_rotations: int = 30
    flip: bool = False
    max_features: int = 1000

    def __post_init__(self) -> None:
        check_integer("MultiRotation(n_rotations=)", self.n_rotations, "rotations")
        check_flag("MultiRotation(flip=)", self.flip)
        check_integer("MultiRotation(max_features=)", self.max_features)

    def default_draws(self, n_features: int, regression: bool) -> int:
        """√(Kp), what R's randomForest, which the paper used, takes of K·p columns.

        The paper has no regression. A third of K·p dense directions at each node would cost 30
        times what it costs other forests, so there it is the larger of √(Kp) and p/3.
        """
        n_draws = math.isqrt(int(self.n_rotations) * n_features)
        return max(1, n_draws, n_features // 3 if regression else 1)

    def most_draws(self, n_numeric: int) -> int:
        return n_numeric + (int(self.n_rotations) - 1) * min(int(self.max_features), n_numeric)

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        n_rotated = min(int(self.max_features), n_numeric)
        n_rotations = int(self.n_rotations)
        if n_rotations * n_rotated**2 >= 2**32:
            required = f"such that rotations of {n_rotated} features have fewer than 2^32 weights"
            name, remedy = "MultiRotation(n_rotations=)", "Lower n_rotations or max_features."
            raise wrong_value(name, required, n_rotations, remedy)
        how = {"flip": self.flip, "n_rotations": n_rotations}
        return FamilySpec("multirotation", n_draws, n_rotated, how)


@dataclass(frozen=True)
class PrincipalRotation(Projection):
    """Principal components of random groups of features: Rotation Forest.

    Source: Rodriguez, Kuncheva and Alonso 2006, "Rotation Forest: a new classifier ensemble method"
    (IEEE Transactions on Pattern Analysis and Machine Intelligence 28). The numeric features are
    divided at random into groups. For each group a set of classes is chosen (of those in the tree's
    bag, every non-empty set as likely), then a bootstrap of a share of their rows; all principal
    components of the group on these rows become axes of the tree. In regression, and with
    `threshold="purely_random"`, which looks at no label, all classes take part. The original trees
    have no bags: `bootstrap=False`.

    Components follow the features of largest variance, so features should be comparable (`scale`).
    Missing values count as the median; rows count by their sample weights.

    Parameters
    ----------
    group_size : int, default=3
        Features in a group, 3 in the paper; the last group may be smaller.
    per : {"tree", "node"}, default="tree"
        "node" is the form of Tomita's thesis, Table 3.1: at each node new groups, and their
        components on all rows of the node; those of eigenvalue zero are no candidates. When fewer
        directions are drawn than there are features, groups are dealt until there are enough.
    share : float in (0, 1], default=None
        Size of a group's bootstrap as a share of the rows of its classes. None means 0.75, the
        paper's, per tree; at nodes there is no bootstrap and it must be None.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, projections as P
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(20, projection=P.PrincipalRotation(), random_state=0)
    >>> round(forest.fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.96
    """

    name: ClassVar[str] = "principal"
    group_size: int = 3
    per: str = "tree"
    share: float | None = None

    def __post_init__(self) -> None:
        check_integer("PrincipalRotation(group_size=)", self.group_size)
        check_option("PrincipalRotation(per=)", self.per, ("tree", "node"))
        self._check_share()

    def _check_share(self) -> None:
        name, required = "PrincipalRotation(share=)", "a number in (0, 1] or None"
        if self.share is None:
            return
        if isinstance(self.share, bool) or not isinstance(self.share, numbers.Real):
            raise wrong_type(name, required, self.share, "The paper uses 0.75.")
        if not 0.0 < self.share <= 1.0:
            raise wrong_value(name, required, self.share, "The paper uses 0.75.")
        if self.per == "node":
            required = 'None with per="node", which learns from all rows of the node'
            raise wrong_value(name, required, self.share, 'Leave it out, or use per="tree".')

    def default_draws(self, n_features: int, regression: bool) -> int:  # noqa: ARG002
        """All axes: the trees of Rotation Forest draw none."""
        return n_features

    def most_draws(self, n_numeric: int) -> int:
        return n_numeric

    def family(self, n_draws: int, n_numeric: int) -> FamilySpec:
        check_fits("PrincipalRotation(group_size=)", self.group_size, n_numeric)
        share = ROTATION_FOREST_SHARE if self.share is None else float(self.share)
        how = {"per_node": True} if self.per == "node" else {"share": share}
        return FamilySpec("principal", n_draws, int(self.group_size), how)

    def shrunk_to(self, n_numeric: int) -> PrincipalRotation:
        return replace(self, group_size=min(self.group_size, n_numeric))
