"""Forests as one, such as the trees of an earlier fit and those that a warm start adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bevel._types import Array
from bevel.forest.flat_forest import FlatForest
from bevel.forest.forest_fields import FOREST_FIELDS

__all__ = ["join_all", "join_forests", "spread_columns"]


def join_all(forests: Sequence[FlatForest]) -> FlatForest:
    """Forest of the trees of one or more forests, see `join_forests`."""
    while len(forests) > 1:  # neighbours first, so that an array is copied a few times only
        pairs = [forests[k : k + 2] for k in range(0, len(forests), 2)]
        forests = [join_forests(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return forests[0]


def spread_columns(
    forest: FlatForest,
    columns: npt.NDArray[np.intp],
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
) -> FlatForest:
    """A forest of values that was grown on some columns of a table, as a forest of the table.

    Parameters
    ----------
    forest : FlatForest
        Without classes.
    columns : ndarray of int
        The columns of the table that it was grown on, ascending.
    levels, medians : ndarray
        Of all columns of the table.
    """
    index = forest.entry_index
    is_axis = index >= forest.n_features
    axis = index - forest.n_features + len(levels)
    spread = np.where(is_axis, axis, columns.take(index, mode="clip"))
    return replace(
        forest,
        n_features=len(levels),
        levels=levels,
        medians=medians,
        entry_index=spread.astype(np.int32),
        rotation_index=columns.take(forest.rotation_index).astype(np.int32),
    )


def join_forests(first: FlatForest, second: FlatForest) -> FlatForest:
    """Forest of the trees of both, grown on the same columns and classes; slim if one of them is.

    A forest with the gains of some trees only has no importances.
    """
    if first.is_slim != second.is_slim:
        first, second = first.slim(), second.slim()
    joined = {}
    for name, array in first.arrays().items():
        joined[name] = np.concatenate(_aligned(name, array, second.arrays()[name], first, second))
    return FlatForest(first.n_features, first.n_classes, first.levels, first.medians, **joined)


def _aligned(
    name: str, one: Array, other: Array, first: FlatForest, second: FlatForest
) -> tuple[Array, Array]:
    """Two arrays ready to be laid end to end."""
    if FOREST_FIELDS[name].kind == "offsets":
        return one[:-1], one[-1] + other
    if name == "bits_index":
        return _join_bits_index(first, second)
    if name == "output_classes":
        return one, other[:0]
    if name == "entry_p_value":
        return _join_p_values(first, second)
    return one, other


def _join_p_values(first: FlatForest, second: FlatForest) -> tuple[Array, Array]:
    """p-values of both forests; NaN for the forest that has not recorded any."""
    recorded = [len(f.entry_p_value) > 0 for f in (first, second)]
    one, other = (
        f.entry_p_value
        if is_recorded or not any(recorded)
        else np.full(len(f.entry_index), np.nan, np.float32)
        for f, is_recorded in zip((first, second), recorded, strict=True)
    )
    return one, other


def _join_bits_index(first: FlatForest, second: FlatForest) -> tuple[Array, Array]:
    """Bitsets of the second forest follow those of the first; both empty if neither has any."""
    if len(first.bits_index) == len(second.bits_index) == 0:
        return first.bits_index, second.bits_index
    one, other = (
        f.bits_index if len(f.bits_index) else np.full(f.n_nodes, -1, np.int32)
        for f in (first, second)
    )
    shift = len(first.bits_offset) - 1
    return one, np.where(other >= 0, other + np.int32(shift), other)
