"""A forest made of some of another's trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.forest.flat_forest import FlatForest

__all__ = ["gather", "take_trees"]

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64]


def take_trees(forest: FlatForest, trees: npt.ArrayLike) -> FlatForest:
    """Forest of the given trees, in the given order.

    Parameters
    ----------
    forest : FlatForest
        Where to take them from.
    trees : array-like of int
        Their numbers, from 0.
    """
    runs = _runs(np.asarray(trees, dtype=np.int64))
    nodes = _owned(forest.tree_offset, runs)
    entries = _owned(forest.entry_offset, nodes)
    axes = _owned(forest.rotation_offset, runs)
    axis_entries = _owned(forest.rotation_entry_offset, axes)
    of_node = {"right", "threshold", "flags", "gain", "weight", "leaf_value"}
    of_entry = {"entry_index", "entry_weight", "entry_p_value"}
    taken = {
        **{name: _take(getattr(forest, name), nodes) for name in of_node},
        **{name: _take(getattr(forest, name), entries) for name in of_entry},
        **_take_bitsets(forest, nodes),
        "rotation_index": _take(forest.rotation_index, axis_entries),
        "rotation_weight": _take(forest.rotation_weight, axis_entries),
    }
    return FlatForest(
        n_features=forest.n_features,
        n_classes=forest.n_classes,
        levels=forest.levels,
        medians=forest.medians,
        tree_offset=_take_offset(forest.tree_offset, runs),
        entry_offset=_take_offset(forest.entry_offset, nodes),
        rotation_offset=_take_offset(forest.rotation_offset, runs),
        rotation_entry_offset=_take_offset(forest.rotation_entry_offset, axes),
        **taken,
    )


def _runs(trees: Places) -> list[slice]:
    """Trees that follow one another as slices: what they own follows one another too."""
    ends = np.flatnonzero(np.diff(trees) != 1) + 1
    return [slice(int(run[0]), int(run[-1]) + 1) for run in np.split(trees, ends) if len(run)]


def _owned(offset: Places, owners: list[slice]) -> list[slice]:
    """Where the things are that runs of owners own."""
    return [slice(int(offset[run.start]), int(offset[run.stop])) for run in owners]


def _take(array: Array, runs: list[slice]) -> Array:
    """The array at the runs; an array that the forest does not keep stays empty."""
    return np.concatenate([array[run] for run in runs]) if len(array) and runs else array[:0]


def _take_offset(offset: Places, owners: list[slice]) -> Places:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(_take(np.diff(offset), owners))))


def gather(offset: Places, owners: Places) -> tuple[Places, Places]:
    """Places of what the owners own, one owner after another, and where each one's begin then."""
    length = offset[owners + 1] - offset[owners]  # as much work as there are owners
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
