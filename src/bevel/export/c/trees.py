"""The trees as compact tables for the C code, as arrays.

Only splits are numbered, over all trees; since trees are in preorder, a child that is a split
follows its parent. A step from a split to a child is either the (positive) distance to it or, for a
leaf, minus the number of the leaf's prediction, which many leaves share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Ints64
from bevel.export.c.literals import code, narrow, remark, table
from bevel.export.c.model import Model
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
    "write_walk",
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
    terms : EntryLists
        Features and coefficients of the linear models of leaves, a list for each leaf; no lists
        without models.
    ranges : tuple of ndarray
        Lowest and highest value of the feature of each term.
    """

    of_node: Ints64
    values: npt.NDArray[np.float64]
    mixed: EntryLists
    terms: EntryLists
    ranges: tuple[Array, Array] = (np.empty(0, np.float32), np.empty(0, np.float32))


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
    if forest.has_leaf_models:
        of_node[is_leaf] = np.arange(np.count_nonzero(is_leaf))
        lists = _entries(forest)
        mine = np.repeat(is_leaf, lists.count)
        ranges = forest.entry_low[mine], forest.entry_high[mine]
        values = forest.leaf_value[is_leaf]
        return LeafPredictions(of_node, values, _NONE, lists.take(is_leaf), ranges)
    if forest.n_classes == 0:
        values, number = np.unique(forest.leaf_value[is_leaf], return_inverse=True)
        of_node[is_leaf] = number
        return LeafPredictions(of_node, values, _NONE, _NONE)
    leaves = _entries(forest).take(is_leaf).without_empty()
    if hard:
        of_node[is_leaf] = _votes(leaves)
        return LeafPredictions(of_node, np.empty(0), _NONE, _NONE)
    number, mixed = _shares(leaves, forest.n_classes)
    of_node[is_leaf] = number
    return LeafPredictions(of_node, np.empty(0), mixed, _NONE)


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


_BLOCK = 32  # splits that share a base, so that most offsets fit in a byte


def write_walk(model: Model, steps: Steps) -> Iterator[str]:
    """Tables and functions of a forest that has splits; the last function is model_leaf."""
    forest, name = model.forest, model.name
    lists, sets = splits(forest), bitsets(forest)
    coding = _Coding.of(lists, has_axes=bool((lists.index >= forest.n_features).any()))
    flags = forest.flags[forest.right >= 0]
    missing_left = (flags & MISSING_LEFT) > 0
    yield remark("Trees: steps from split to split; zero or less is minus the leaf's prediction.")
    yield from table(f"{name}_root", narrow(steps.root))
    yield from table(f"{name}_step", narrow(steps.following))
    yield remark("A row goes left at a split if its value is at most the threshold.")
    yield from table(f"{name}_threshold", _thresholds(model, sets))
    yield from _write_entries(model, lists, coding)
    if missing_left.any():
        yield remark("Splits whose missing values and unseen levels go left, as bits.")
        yield from table(f"{name}_missing_left", np.packbits(missing_left, bitorder="little"))
    if coding.is_combined or coding.has_axes or forest.has_leaf_models:
        yield remark("What a missing value counts as where features are combined.")
        yield from table(f"{name}_median", forest.medians)
        yield code(_FILLED, name)
    if coding.has_axes:
        yield from _write_axes(model)
        n_columns = forest.n_features
        yield code(_FILLED_VALUE, name, n_columns=n_columns) if coding.is_combined else ""
    yield code(_PROJECT if coding.is_combined else _PICK, name, **coding.words(name))
    if missing_left.any() or sets.is_by_levels.any():
        yield code(_BIT, name)
    yield from _write_sets(name, sets)
    yield code(_GOES_LEFT, name, **_choices(name, coding, sets, bool(missing_left.any())))
    yield code(_LEAF, name, tree=coding.tree_argument)


@dataclass(frozen=True)
class _Coding:
    """Encoding of the entries of the splits, as short as the forest allows.

    An entry is one whole number: the feature (or axis), then a bit for the last entry of a split
    unless all have one entry, then a bit for the sign unless weights are all one or have a table.
    """

    has_axes: bool
    is_combined: bool
    weights: str  # "ones", "signs" or "table"
    per_split: int  # entries of every split; 0 if they differ

    @classmethod
    def of(cls, lists: EntryLists, *, has_axes: bool) -> _Coding:
        weights = "table"
        if (np.abs(lists.weight) == 1).all():
            weights = "ones" if (lists.weight == 1).all() else "signs"
        counts = np.unique(lists.count)
        per_split = int(counts[0]) if len(counts) == 1 else 0
        return cls(has_axes, per_split != 1, weights, per_split)

    @property
    def n_bits(self) -> int:
        return self.is_combined + (self.weights == "signs")

    @property
    def last_bit(self) -> int:
        return 2 if self.weights == "signs" else 1

    def entries(self, lists: EntryLists) -> Array:
        coded = lists.index.astype(np.int64) << self.n_bits
        if self.is_combined:
            coded |= np.where(lists.is_last, self.last_bit, 0)
        if self.weights == "signs":
            coded |= lists.weight < 0
        return narrow(coded)

    @property
    def index(self) -> str:
        return f"entry >> {self.n_bits}" if self.n_bits else "entry"

    @property
    def tree_parameter(self) -> str:
        return ", int tree" if self.has_axes else ""

    @property
    def tree_argument(self) -> str:
        return ", tree" if self.has_axes else ""

    def _term(self, value: str) -> str:
        factor = {
            "ones": "",
            "signs": "model_sign[entry & 1] * ",  # avoids a branch that is hard to predict
            "table": "model_weight[at] * ",
        }
        return factor[self.weights] + value

    def words(self, name: str) -> dict[str, str]:
        """Substitutions in the template that projects a row."""
        raw, filled = f"row[{self.index}]", f"model_filled(row, {self.index})"
        if self.has_axes:
            raw = f"model_value(row, tree, {self.index})"
            filled = f"model_filled_value(row, tree, {self.index})"
        start = "model_entry_base[split / $block] + model_entry_start[split]"
        if self.per_split:
            start = "split" if self.per_split == 1 else "split * $count"
        texts = {"start": start, "term": self._term(raw), "filled_term": self._term(filled)}
        values = {"block": _BLOCK, "count": self.per_split}
        return {word: code(text, name, **values) for word, text in texts.items()} | {
            "tree": self.tree_parameter,
            "last": str(self.last_bit) if self.is_combined else "",
        }


def _thresholds(model: Model, sets: LeftSets) -> npt.NDArray[np.float32]:
    forest = model.forest
    _, offset = _in_blocks(sets.start)
    # Offsets are exact in float32: a block has 32 sets of at most 8 KB.
    return np.where(sets.is_by_levels, offset, forest.threshold[forest.right >= 0]).astype("f4")


def _in_blocks(start: Array) -> tuple[Array, Array]:
    """Ascending offsets as the first of each block, and the differences from it."""
    base = start[::_BLOCK]
    return base, start - np.repeat(base, _BLOCK)[: len(start)]


def _write_entries(model: Model, lists: EntryLists, coding: _Coding) -> Iterator[str]:
    name = model.name
    bits = [f"{coding.last_bit} the last of its split"] * coding.is_combined
    bits += ["1 a weight of -1"] * (coding.weights == "signs")
    shifted = f" times {1 << coding.n_bits}" if coding.n_bits else ""
    explained = f"; bits: {', '.join(bits)}" if bits else ""
    yield remark(f"Features of the splits{shifted}{explained}.")
    yield from table(f"{name}_entry", coding.entries(lists))
    if coding.weights == "table":
        yield from table(f"{name}_weight", lists.weight)
    if coding.weights == "signs":
        yield from table(f"{name}_sign", np.array([1, -1], np.float32))
    if coding.per_split == 0:
        base, offset = _in_blocks(lists.start)
        yield from table(f"{name}_entry_base", narrow(base))
        yield from table(f"{name}_entry_start", narrow(offset))


def _write_axes(model: Model) -> Iterator[str]:
    """Axes of the trees; features that all axes share are written once."""
    forest, name = model.forest, model.name
    lists = axes(forest)
    coded = narrow((lists.index.astype(np.int64) << 1) | lists.is_last)
    width = int(lists.count[0]) if (lists.count == lists.count[0]).all() else 0
    alike = width > 0 and bool((coded.reshape(-1, width) == coded[:width]).all())
    yield remark(
        "Axes of the trees: features times 2, plus 1 for the last of an axis, and weights."
    )
    yield from table(f"{name}_axis_entry", coded[:width] if alike else coded)
    yield from table(f"{name}_axis_weight", lists.weight)
    yield from table(f"{name}_axis_base", narrow(forest.rotation_offset[:-1]))
    if not width:
        yield from table(f"{name}_axis_start", narrow(lists.start))
    start = f"axis * {width}" if width else f"{name}_axis_start[axis]"
    yield code(
        _AXES, name, start=start, features="0" if alike else "at", n_columns=forest.n_features
    )


def _write_sets(name: str, sets: LeftSets) -> Iterator[str]:
    if sets.is_by_levels.any():
        yield remark(
            "Splits by levels, as bits, and sets of levels that go left, at the thresholds."
        )
        yield from table(f"{name}_by_levels", np.packbits(sets.is_by_levels, bitorder="little"))
        yield from table(f"{name}_set", sets.sets)
        yield from table(f"{name}_set_base", narrow(_in_blocks(sets.start)[0]))


def _choices(name: str, coding: _Coding, sets: LeftSets, missing_left: bool) -> dict[str, str]:
    missing = code("model_bit(model_missing_left, split)", name) if missing_left else "0"
    entry = code("model_entry[$start]", name, start=coding.words(name)["start"])
    feature = f"{entry} >> {coding.n_bits}" if coding.n_bits else entry
    by_levels = code(_BY_LEVELS, name, feature=feature, missing=missing, block=_BLOCK)
    return {
        "by_levels": by_levels if sets.is_by_levels.any() else "",
        "or_missing": f" ||\n           (value != value && {missing})" if missing_left else "",
        "tree": coding.tree_parameter,
        "tree_argument": coding.tree_argument,
    }


_FILLED = """
static float model_filled(const float *row, uint32_t feature)
{
    const float value = row[feature];
    return value == value ? value : model_median[feature];
}
"""

_AXES = """
static float model_axis(const float *row, uint32_t axis)
{
    uint32_t at = $start;
    uint32_t features = $features;
    uint32_t entry;
    float value = 0.0f;
    do {
        entry = model_axis_entry[features++];
        value += model_axis_weight[at++] * model_filled(row, entry >> 1);
    } while (!(entry & 1));
    return value;
}

static float model_value(const float *row, int tree, uint32_t index)
{
    if (index < $n_columns) return row[index];
    return model_axis(row, model_axis_base[tree] + (index - $n_columns));
}
"""

_FILLED_VALUE = """
static float model_filled_value(const float *row, int tree, uint32_t index)
{
    return index < $n_columns ? model_filled(row, index) : model_value(row, tree, index);
}
"""

_PICK = """
static float model_project(const float *row$tree, uint32_t split)
{
    const uint32_t at = $start;
    const uint32_t entry = model_entry[at];
    return $term;
}
"""

_PROJECT = """
/* A missing value stays missing where a split has one feature; elsewhere it is filled. */
static float model_project(const float *row$tree, uint32_t split)
{
    uint32_t at = $start;
    uint32_t entry = model_entry[at];
    float value;
    if (entry & $last) return $term;
    value = $filled_term;
    do {
        entry = model_entry[++at];
        value += $filled_term;
    } while (!(entry & $last));
    return value;
}
"""

_BIT = """
static int model_bit(const uint8_t *bits, uint32_t place)
{
    return (bits[place / 8] >> (place % 8)) & 1;
}
"""

_BY_LEVELS = """\
    if (model_bit(model_by_levels, split)) {
        const uint32_t feature = $feature;
        const float level = row[feature];
        const uint8_t *set = model_set + model_set_base[split / $block];
        if (!(level >= 0.0f && level < (float)model_levels[feature])) return $missing;
        return model_bit(set + (uint32_t)model_threshold[split], (uint32_t)level);
    }
"""

_GOES_LEFT = """
static int model_goes_left(const float *row$tree, uint32_t split)
{
$by_levels\
    const float value = model_project(row$tree_argument, split);
    return value <= model_threshold[split]$or_missing;
}
"""

_LEAF = """
static int32_t model_leaf(const float *row, int tree)
{
    uint32_t split = (uint32_t)-1;
    int32_t step = model_root[tree];
    while (step > 0) {
        split += (uint32_t)step;
        step = model_step[2 * split + !model_goes_left(row$tree, split)];
    }
    return -step;
}
"""
