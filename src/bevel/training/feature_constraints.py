"""Reads `monotonic_cst` and `interaction_cst`, constraints that a model satisfies on any data."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bevel.errors import join_names, shorten, wrong_type, wrong_value
from bevel.projections.base import FamilySpec
from bevel.projections.families import Member

__all__ = [
    "DescribedColumns",
    "FeatureConstraints",
    "check_constrained",
    "check_directions",
    "read_constraints",
]


@dataclass(frozen=True)
class FeatureConstraints:
    """Constraints by the positions of columns.

    Attributes
    ----------
    monotone : tuple of int
        For each column 1, -1 or 0; empty when none is constrained.
    groups : tuple of tuple of int
        Groups of columns that may share a path; every column is in one. Empty when all may.
    """

    monotone: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.monotone or self.groups)

    def check_classes(self, n_classes: int) -> None:
        """Raise if a classifier cannot satisfy them."""
        if self.monotone and n_classes > 2:
            raise ValueError(
                "monotonic_cst needs one output: a regression or two classes; got "
                f"{n_classes} classes. Leave it out, or fit a model for each class."
            )


class DescribedColumns(Protocol):
    """Description of the columns of a table, see `bevel.data.tables.Table`."""

    @property
    def n_features(self) -> int: ...

    def describe(self, feature: int) -> str: ...


def read_constraints(
    monotonic_cst: Any, interaction_cst: Any, table: DescribedColumns, levels: npt.NDArray[np.int32]
) -> FeatureConstraints:
    """Read both parameters as given to an estimator.

    Parameters
    ----------
    monotonic_cst : array-like, mapping or None
        Constraint 1, -1 or 0 for each column, or by name.
    interaction_cst : str, sequence of sets of columns, or None
        Groups of columns that may interact.
    table : DescribedColumns
        Training table that the columns belong to.
    levels : ndarray of int32
        Levels of each column, 0 for numeric ones.
    """
    return FeatureConstraints(
        () if monotonic_cst is None else _monotone(monotonic_cst, table, levels),
        () if interaction_cst is None else _groups(interaction_cst, table),
    )


_SIGNS = "1 (predictions rise with the column), -1 (they fall) or 0 for each column"
_SIGNS_REMEDY = "Write for example monotonic_cst=[1, 0, -1] or monotonic_cst={'age': 1}."


def _monotone(
    given: Any, table: DescribedColumns, levels: npt.NDArray[np.int32]
) -> tuple[int, ...]:
    p = table.n_features
    signs = [0] * p
    if isinstance(given, Mapping):
        for key, sign in given.items():
            signs[_column("monotonic_cst", key, table)] = _sign(sign, given)
    else:
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise wrong_type("monotonic_cst", _SIGNS, given, _SIGNS_REMEDY)
        values = list(given)
        if len(values) != p:
            required = f"of one entry per column ({p})"
            raise wrong_value("monotonic_cst", required, f"{len(values)} entries", _SIGNS_REMEDY)
        signs = [_sign(sign, given) for sign in values]
    nominal = [table.describe(f) for f in range(p) if signs[f] and levels[f]]
    if nominal:
        raise ValueError(
            "monotonic_cst must be 0 for nominal columns, whose levels have no order; got "
            f"{join_names(nominal)}. Set them to 0, or make the columns numeric."
        )
    return tuple(signs) if any(signs) else ()


def _sign(value: Any, given: object) -> int:
    if not isinstance(value, numbers.Real) or float(value) not in (-1.0, 0.0, 1.0):
        raise wrong_value("monotonic_cst", _SIGNS, given, _SIGNS_REMEDY)
    return int(float(value))


_GROUPS = '"pairwise", "no_interactions", or a sequence of sets of columns'
_GROUPS_REMEDY = "Write for example interaction_cst=[{0, 1}, {2, 3, 4}]."


def _groups(given: Any, table: DescribedColumns) -> tuple[tuple[int, ...], ...]:
    p = table.n_features
    if isinstance(given, str):
        if given == "no_interactions":
            return tuple((f,) for f in range(p))
        if given == "pairwise":
            return tuple(itertools.combinations(range(p), 2)) if p > 1 else ((0,),)
        raise wrong_value("interaction_cst", _GROUPS, given, _GROUPS_REMEDY)
    if not isinstance(given, Sequence | Set) or len(given) == 0:
        raise wrong_type("interaction_cst", _GROUPS, given, _GROUPS_REMEDY)
    groups = []
    for group in given:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise wrong_type("interaction_cst", _GROUPS, given, _GROUPS_REMEDY)
        columns = sorted({_column("interaction_cst", key, table) for key in group})
        if not columns:
            raise wrong_value("interaction_cst", "made of sets with a column each", given, _DROP)
        groups.append(tuple(columns))
    rest = tuple(sorted(set(range(p)).difference(*groups)))
    return (*groups, rest) if rest else tuple(groups)


_DROP = "Drop the empty set; columns that no set names form one of their own."


def _column(parameter: str, key: Any, table: DescribedColumns) -> int:
    """Position of a column given by position or name."""
    p = table.n_features
    if isinstance(key, numbers.Integral) and not isinstance(key, bool):
        position = int(key)
        if not 0 <= position < p:
            required = f"of columns from 0 to {p - 1}"
            raise wrong_value(parameter, required, position, "Check the positions.")
        return position
    if not isinstance(key, str):
        required = "of columns by position or name"
        raise wrong_type(parameter, required, key, "Use integers or strings.")
    known = {table.describe(feature): feature for feature in range(p)}
    if repr(key) not in known:
        raise ValueError(
            f"{parameter} must name columns of X ({join_names(list(known))}); got {key!r}. Check "
            "the spelling, and pass a data frame: arrays have no names."
        )
    return known[repr(key)]


def check_constrained(monotonic_cst: Any, interaction_cst: Any, members: Sequence[Member]) -> None:
    """Raise for a projection of a forest whose directions cannot satisfy a constraint.

    Parameters
    ----------
    monotonic_cst, interaction_cst
        Constraints as given to an estimator.
    members : sequence of Member
        Projections of the estimator.
    """
    name = "monotonic_cst" if monotonic_cst is not None else "interaction_cst"
    if monotonic_cst is None and interaction_cst is None:
        return
    for member in members:
        if not member.projection.can_be_constrained:
            raise _cannot_hold(name, member)


def _cannot_hold(name: str, member: Member) -> ValueError:
    return ValueError(
        f"{name} needs directions of few features whose coefficients may be chosen; got "
        f"projection={shorten(member.projection)}, which combines features with "
        'coefficients of its own. Use "auto", "axis", "sparse", "combination" or '
        f"P.Patches, or leave {name} out."
    )


def check_directions(
    constraints: FeatureConstraints,
    members: Sequence[Member],
    families: Sequence[FamilySpec],
    levels: npt.NDArray[np.int32],
) -> None:
    """Raise for a projection whose directions cannot satisfy the constraints.

    Parameters
    ----------
    constraints : FeatureConstraints
        Constraints from `read_constraints`.
    members : sequence of Member
        Projections that `families` were resolved from, in the same order.
    families : sequence of FamilySpec
        Samplers, which may end with one for nominal columns.
    levels : ndarray of int32
        Levels of each column, 0 for numeric ones.
    """
    if not constraints:
        return
    name = "monotonic_cst" if constraints.monotone else "interaction_cst"
    for member, family in zip(members, families, strict=False):
        if not member.projection.can_be_constrained:
            raise _cannot_hold(name, member)
        if family.pool is not None:
            _check_pool(constraints, family, levels)


def _check_pool(
    constraints: FeatureConstraints, family: FamilySpec, levels: npt.NDArray[np.int32]
) -> None:
    pool = family.pool
    assert pool is not None
    column_of = np.flatnonzero(levels == 0)  # directions are over the numeric columns
    for d, (first, last) in enumerate(itertools.pairwise(pool.offset)):
        columns = [int(column_of[i]) for i in pool.index[first:last]]
        if constraints.monotone:
            ways = {
                sign * np.sign(weight)
                for f, weight in zip(columns, pool.weight[first:last], strict=True)
                if (sign := constraints.monotone[f]) and weight
            }
            if len(ways) > 1:
                raise ValueError(
                    "monotonic_cst needs directions along which all constrained columns push "
                    f"predictions the same way; got direction {d} of P.Custom, along which some "
                    "push up and some down. Change the signs of its coefficients, or leave it out."
                )
        if constraints.groups and not any(set(columns) <= set(g) for g in constraints.groups):
            raise ValueError(
                "interaction_cst needs directions whose columns are all in one set; got direction "
                f"{d} of P.Custom with columns {columns}. Leave it out, or join the sets."
            )
