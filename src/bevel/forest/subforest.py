"""A forest made of some of another's trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Ints64
from bevel.forest.flat_forest import FlatForest
from bevel.forest.forest_fields import FOREST_FIELDS

__all__ = ["gather", "take_trees"]


def take_trees(forest: FlatForest, trees: npt.ArrayLike) -> FlatForest:
    """Forest of the given trees, in the given order.

    Parameters
    ----------
    forest : FlatForest
        Forest to take them from.
    trees : array-like of int
        Numbers of the trees, from 0.
    """
    owners = _owners(forest, np.asarray(trees, dtype=np.int64))
    taken: dict[str, Any] = _take_bitsets(forest, owners["node"])
    for name, field in FOREST_FIELDS.items():
        if name in taken:
            continue
        take = _take_offset if field.kind == "offsets" else _take
        taken[name] = take(getattr(forest, name), owners[field.per])
    return replace(forest, **taken)


def _owners(forest: FlatForest, trees: Ints64) -> dict[str, list[slice]]:
    """Slices of the trees, their nodes, entries and axes, by the words of `ForestField.per`."""
    runs = _runs(trees)
    nodes = _owned(forest.tree_offset, runs)
    axes = _owned(forest.rotation_offset, runs)
    return {
        "tree": runs,
        "node": nodes,
        "entry": _owned(forest.entry_offset, nodes),
        "axis": axes,
        "axis_entry": _owned(forest.rotation_entry_offset, axes),
        "output": [slice(None)],
        "leaf_output": _leaf_outputs(forest, runs),
    }


def _leaf_outputs(forest: FlatForest, runs: list[slice]) -> list[slice]:
    """Slices of the leaf values of runs of trees: n nodes have (n + trees) / 2 leaves."""
    first = (forest.tree_offset + np.arange(forest.n_trees + 1)) // 2 * len(forest.output_classes)
    return _owned(first, runs)


def _runs(trees: Ints64) -> list[slice]:
    """Consecutive trees as slices, since their entries are consecutive too."""
    ends = np.flatnonzero(np.diff(trees) != 1) + 1
    return [slice(int(run[0]), int(run[-1]) + 1) for run in np.split(trees, ends) if len(run)]


def _owned(offset: Ints64, owners: list[slice]) -> list[slice]:
    """Slices of the entries that runs of owners own."""
    return [slice(int(offset[run.start]), int(offset[run.stop])) for run in owners]


def _take(array: Array, runs: list[slice]) -> Array:
    """The array at the runs; an array that the forest does not keep stays empty."""
    return np.concatenate([array[run] for run in runs]) if len(array) and runs else array[:0]


def _take_offset(offset: Ints64, owners: list[slice]) -> Ints64:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(_take(np.diff(offset), owners))))


def gather(offset: Ints64, owners: Ints64) -> tuple[Ints64, Ints64]:
    """Positions of the entries of the owners, one owner after another, and the new offsets."""
    length = offset[owners + 1] - offset[owners]  # work proportional to the number of owners
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    shift = np.repeat(offset[owners] - start[:-1], length)
    return shift + np.arange(start[-1]), start


def _take_bitsets(forest: FlatForest, nodes: list[slice]) -> dict[str, Array]:
    """Bitsets of the nodes, numbered anew in the order of the nodes that use them."""
    index = _take(forest.bits_index, nodes)
    used = index >= 0
    words, offset = gather(forest.bits_offset, index[used].astype(np.int64))
    renumbered = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    if not used.any():
        renumbered = np.empty(0, np.int32)
    return {"bits_index": renumbered, "bits_offset": offset, "bits": forest.bits[words]}
