"""The trees as compact tables for the C code, as arrays.

Only splits are numbered, over all trees; since trees are in preorder, a child that is a split
follows its parent. A step from a split to a child is either the (positive) distance to it or, for a
leaf, minus the number of the leaf's prediction, which many leaves share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Ints64
from bevel.forest.flat_forest import CATEGORY_NODE, FlatForest

__all__ = [
    "EntryLists",
    "LeafPredictions",
    "LeftSets",
    "Steps",
    "axes",
    "bitsets",
    "leaf_predictions",
    "splits",
    "steps",
]


MISSING_LEFT = 1  # a bit of `flags`


@dataclass(frozen=True, eq=False)
class EntryLists:
    """Lists of entries (index, weight), one after another."""

    count: Ints64
    index: Array
    weight: Array

    @property
    def start(self) -> Ints64:
        """Offset of each list."""
        return np.cumsum(self.count) - self.count

    @property
    def is_last(self) -> npt.NDArray[np.bool_]:
        """Whether an entry is the last of its list."""
        last = np.zeros(len(self.index), dtype=np.bool_)
        last[np.cumsum(self.count) - 1] = True
        return last

    def take(self, chosen: npt.NDArray[np.bool_]) -> EntryLists:
        """Some of the lists."""
        entries = np.repeat(chosen, self.count)
        return EntryLists(self.count[chosen], self.index[entries], self.weight[entries])

    def without_empty(self) -> EntryLists:
        """Add an entry of weight zero to empty lists."""
        empty = self.count == 0
        if not empty.any():
            return self
        place = self.start[empty]
        index, weight = np.insert(self.index, place, 0), np.insert(self.weight, place, 0)
        return EntryLists(np.maximum(self.count, 1), index, weight)


@dataclass(frozen=True, eq=False)
class LeafPredictions:
    """Predictions of leaves.

    Attributes
    ----------
    of_node : ndarray of shape (n_nodes,)
        Number of each leaf's prediction; below `n_classes` it is that class alone. 0 for splits.
    values : ndarray of float64
        Regression: the value of each prediction.
    mixed : EntryLists
        Leaves with shares of several classes. The prediction of a list that begins at entry e is
        n_classes + e.
    """

    of_node: Ints64
    values: npt.NDArray[np.float64]
    mixed: EntryLists


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of a walk: `root` to the first split of a tree, `following` from a split."""

    root: Ints64
    following: Ints64  # two for each split, left and right


@dataclass(frozen=True, eq=False)
class LeftSets:
    """Levels that go left at each split by levels, as bytes one set after another."""

    is_by_levels: npt.NDArray[np.bool_]  # for each split
    start: Ints64  # for each split, the offset of its set
    sets: npt.NDArray[np.uint8]


def leaf_predictions(forest: FlatForest, hard: bool) -> LeafPredictions:
    """Number the predictions of the leaves."""
    is_leaf = forest.right < 0
    of_node = np.zeros(forest.n_nodes, dtype=np.int64)
    if forest.n_classes == 0:
        values, number = np.unique(forest.leaf_value[is_leaf], return_inverse=True)
        of_node[is_leaf] = number
        return LeafPredictions(of_node, values, _NONE)
    leaves = _entries(forest).take(is_leaf).without_empty()
    if hard:
        of_node[is_leaf] = _votes(leaves)
        return LeafPredictions(of_node, np.empty(0), _NONE)
    number, mixed = _shares(leaves, forest.n_classes)
    of_node[is_leaf] = number
    return LeafPredictions(of_node, np.empty(0), mixed)


def steps(forest: FlatForest, of_node: Ints64) -> Steps:
    """Number the splits and refer to children and predictions by steps."""
    is_split = forest.right >= 0
    place = np.cumsum(is_split) - 1
    parent = np.flatnonzero(is_split)
    first_of_tree = np.repeat(forest.tree_offset[:-1], np.diff(forest.tree_offset))
    children = np.stack((parent + 1, first_of_tree[parent] + forest.right[parent]), axis=1)
    roots = forest.tree_offset[:-1]
    step = np.where(
        is_split[children], place[children] - place[parent][:, None], -of_node[children]
    )
    root = np.where(is_split[roots], place[roots] + 1, -of_node[roots])
    return Steps(root, step.ravel())


def splits(forest: FlatForest) -> EntryLists:
    """Directions of the splits; those by levels have one entry of weight one."""
    is_split = forest.right >= 0
    lists = _entries(forest).take(is_split)
    by_levels = np.repeat((forest.flags[is_split] & CATEGORY_NODE) > 0, lists.count)
    return EntryLists(lists.count, lists.index, np.where(by_levels, np.float32(1), lists.weight))


def axes(forest: FlatForest) -> EntryLists:
    """Axes of all trees, such as those of their rotations."""
    count = np.diff(forest.rotation_entry_offset)
    return EntryLists(count, forest.rotation_index, forest.rotation_weight).without_empty()


def bitsets(forest: FlatForest) -> LeftSets:
    """Gather the sets of levels of the splits, each cut to whole bytes."""
    node = np.flatnonzero(forest.right >= 0)
    chosen = (forest.flags[node] & CATEGORY_NODE) > 0
    size = np.zeros(len(node), dtype=np.int64)
    feature = forest.entry_index[forest.entry_offset[node[chosen]]]
    size[chosen] = (forest.levels[feature] + 7) // 8
    start = np.cumsum(size) - size
    if not chosen.any():
        return LeftSets(chosen, start, np.empty(0, np.uint8))
    source = 4 * forest.bits_offset[forest.bits_index[node[chosen]]]
    byte = np.arange(size.sum()) + np.repeat(source - start[chosen], size[chosen])
    return LeftSets(chosen, start, forest.bits.astype("<u4").view(np.uint8)[byte])


_NONE = EntryLists(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))


def _entries(forest: FlatForest) -> EntryLists:
    return EntryLists(np.diff(forest.entry_offset), forest.entry_index, forest.entry_weight)


def _votes(leaves: EntryLists) -> Array:
    """Class of the largest share of each leaf; ties go to the first."""
    largest = np.maximum.reduceat(leaves.weight, leaves.start)
    leaf = np.repeat(np.arange(len(leaves.count)), leaves.count)
    candidate = np.flatnonzero(leaves.weight == largest[leaf])
    _, first = np.unique(leaf[candidate], return_index=True)
    return np.asarray(leaves.index[candidate[first]])


def _shares(leaves: EntryLists, n_classes: int) -> tuple[Ints64, EntryLists]:
    """Number of each leaf's prediction, and the distinct lists of shares."""
    first = leaves.start
    number = leaves.index[first].astype(np.int64)
    is_mixed = (leaves.count > 1) | (leaves.weight[first] != 1.0)
    mixed = leaves.take(is_mixed)
    place, is_new = _repeats(mixed)
    number[is_mixed] = n_classes + place
    return number, mixed.take(is_new)


def _repeats(lists: EntryLists) -> tuple[Ints64, npt.NDArray[np.bool_]]:
    """Offset of each list once repeated ones are dropped, and which ones are kept."""
    entries = np.empty(len(lists.index), dtype=[("index", "<i4"), ("weight", "<f4")])
    entries["index"], entries["weight"] = lists.index, lists.weight
    data, size = entries.tobytes(), entries.itemsize
    place = np.empty(len(lists.count), dtype=np.int64)
    is_new = np.zeros(len(lists.count), dtype=np.bool_)
    known: dict[bytes, int] = {}
    end = 0
    for k, (start, count) in enumerate(
        zip(lists.start.tolist(), lists.count.tolist(), strict=True)
    ):
        place[k] = known.setdefault(data[start * size : (start + count) * size], end)
        if place[k] == end:
            is_new[k] = True
            end += count
    return place, is_new
