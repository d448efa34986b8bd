"""Groups of features that are perturbed together."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bevel.errors import join_names, wrong_type, wrong_value

__all__ = ["Group", "layers_of", "read_groups"]


@dataclass(frozen=True)
class Group:
    """Some features under one name.

    Attributes
    ----------
    name : str
        Name to print.
    features : tuple of int
        Positions of the columns, ascending.
    number : int
        Position among all groups.
    """

    name: str
    features: tuple[int, ...]
    number: int


def read_groups(groups: object, names: Sequence[str]) -> list[Group]:
    """Read groups: a mapping of names to columns, or None for each feature by itself.

    Groups may have columns in common; columns in no group are not measured.
    """
    if groups is None:
        return [Group(name, (feature,), feature) for feature, name in enumerate(names)]
    if not isinstance(groups, Mapping):
        remedy = 'Write groups={"size": ["length", "width"]}.'
        raise wrong_type("groups", "None or a mapping of names to columns", groups, remedy)
    if not groups:
        raise wrong_value("groups", "at least one group", groups, "Leave it out for all features.")
    place = {name: feature for feature, name in enumerate(names)}
    return [
        Group(str(name), _read_columns(str(name), columns, place), number)
        for number, (name, columns) in enumerate(groups.items())
    ]


def _read_columns(group: str, columns: Any, place: Mapping[str, int]) -> tuple[int, ...]:
    what = f"groups[{group!r}]"
    if isinstance(columns, str | numbers.Integral) or not isinstance(columns, Iterable):
        columns = [columns]
    features = {_read_column(what, column, place) for column in columns}
    if not features:
        remedy = "Leave the group out, or name its columns."
        raise wrong_value(what, "at least one column", list(columns), remedy)
    return tuple(sorted(features))


def _read_column(what: str, column: object, place: Mapping[str, int]) -> int:
    required = f"columns of the fit, by name or from 0 to {len(place) - 1}"
    remedy = f"Choose from {join_names(list(place))}."
    if isinstance(column, str):
        if column not in place:
            raise wrong_value(what, required, column, remedy)
        return place[column]
    if not isinstance(column, numbers.Integral) or isinstance(column, bool):
        raise wrong_type(what, required, column, remedy)
    feature = int(column)
    if not 0 <= feature < len(place):
        raise wrong_value(what, required, column, remedy)
    return feature


def layers_of(groups: Iterable[Group], most: int) -> list[list[Group]]:
    """Groups in layers of at most `most` that have no column in common within a layer."""
    layers: list[list[Group]] = []
    used: list[set[int]] = []
    for group in groups:
        for layer, taken in zip(layers, used, strict=True):
            if len(layer) < most and taken.isdisjoint(group.features):
                break
        else:
            layer, taken = [], set()
            layers.append(layer)
            used.append(taken)
        layer.append(group)
        taken.update(group.features)
    return layers
