"""The flat forest: a grown forest as read-only arrays, and the only thing that is saved of it.

Nodes of all trees lie one after another. Within a tree they are in preorder, so that the left child
of node i is i + 1; only right children are stored. Fields marked N have one entry per node;
`FOREST_FIELDS` has the lengths and types of all arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Array, Float32s, Ints64
from bevel.errors import SlimForestError
from bevel.html_table import html_table, html_text

if TYPE_CHECKING:
    from bevel.text import TreeRules, Vocabulary

__all__ = [
    "FOREST_FIELDS",
    "NOTHING_OF_ENTRY",
    "FlatForest",
    "ForestField",
    "TreeView",
    "check_forest",
    "gather",
    "join_all",
    "join_forests",
    "keep_nodes",
    "overview_lines",
    "overview_title",
    "scale_leaves",
    "spread_columns",
    "take_trees",
    "tree_complexities",
    "tree_depths",
]

# The table of the arrays of a flat forest: types, lengths and uses.
#
# File columns, slim forests, joined forests and subforests follow from it.
# `cpp/bevel/forest/forest_fields.h` is the same table in C++; a test compares them.


class ForestField(NamedTuple):
    """One array of a flat forest.

    Attributes
    ----------
    dtype : str
        NumPy's name of the type.
    per : str
        What there are values for. A set is a set of levels, a word 32 bits of one. An axis is a
        direction that the nodes of a tree share. Outputs are counted where there are several, and
        in regression each leaf has a value for each of them.
    kind : str
        "values": one value each. "offsets": where the things that each one owns begin, then where
        the last ones end. "optional": one value each, or none at all. "regression": one value each
        in a regression with one output, else none at all.
    use : str
        Arrays for "analysis" are empty in a slim forest.
    """

    dtype: str
    per: Literal[
        "tree", "node", "entry", "set", "word", "axis", "axis_entry", "output", "leaf_output"
    ]
    kind: Literal["values", "offsets", "optional", "regression"] = "values"
    use: Literal["prediction", "analysis"] = "prediction"


# In the order of the fields of FlatForest, which is that of the columns of a file.
FOREST_FIELDS: Mapping[str, ForestField] = {
    "tree_offset": ForestField("<i8", "tree", "offsets"),
    "right": ForestField("<i4", "node"),
    "threshold": ForestField("<f4", "node"),
    "flags": ForestField("|u1", "node"),
    "gain": ForestField("<f4", "node", "optional", "analysis"),
    "weight": ForestField("<f4", "node", "optional", "analysis"),
    "entry_offset": ForestField("<i8", "node", "offsets"),
    "entry_index": ForestField("<i4", "entry"),
    "entry_weight": ForestField("<f4", "entry"),
    "entry_p_value": ForestField("<f4", "entry", "optional", "analysis"),
    "leaf_value": ForestField("<f8", "node", "regression"),
    "bits_index": ForestField("<i4", "node", "optional"),
    "bits_offset": ForestField("<i8", "set", "offsets"),
    "bits": ForestField("<u4", "word"),
    "rotation_offset": ForestField("<i8", "tree", "offsets"),
    "rotation_entry_offset": ForestField("<i8", "axis", "offsets"),
    "rotation_index": ForestField("<i4", "axis_entry"),
    "rotation_weight": ForestField("<f4", "axis_entry"),
    "output_classes": ForestField("<i4", "output"),
    "output_value": ForestField("<f8", "leaf_output"),
    "entry_level": ForestField("<i4", "entry", "optional"),
    "entry_low": ForestField("<f4", "entry", "optional"),
    "entry_high": ForestField("<f4", "entry", "optional"),
}


# Summary of a forest: its kind, number of trees and size.


def overview_title(forest: FlatForest) -> str:
    """Short description of the forest."""
    trees = f"{forest.n_trees:,} tree{'' if forest.n_trees == 1 else 's'}"
    task = f"{forest.n_classes} classes" if forest.n_classes else "numbers in the leaves"
    if forest.n_outputs > 1:
        task += f", {forest.n_outputs} outputs"
    return f"Flat forest of {trees}, {task}"


def overview_lines(forest: FlatForest) -> list[tuple[str, str]]:
    """Names and values: features, nodes, leaves, depth, memory."""
    n_nominal = int(np.count_nonzero(forest.levels))
    nominal = f", {n_nominal:,} of them nominal" if n_nominal else ""
    lines = [("features", f"{forest.n_features:,}{nominal}")]
    if forest.n_trees:
        depth = np.maximum.reduceat(forest.depth, forest.tree_offset[:-1])
        lines += [
            ("nodes", f"{forest.n_nodes:,}, {forest.n_nodes / forest.n_trees:,.0f} per tree"),
            ("leaves", f"{forest.n_leaves:,}, {forest.n_leaves / forest.n_trees:,.0f} per tree"),
            ("depth", f"median {np.median(depth):g}, at most {int(np.max(depth))}"),
        ]
    lines.append(("memory", _bytes(forest.nbytes)))
    return lines


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


# The flat forest: a grown forest as read-only arrays, and the only thing that is saved of it.
#
# Nodes of all trees lie one after another. Within a tree they are in preorder, so that the left
# child of node i is i + 1; only right children are stored. Fields marked N have one entry per node;
# `FOREST_FIELDS` has the lengths and types of all arrays.

MISSING_LEFT, CATEGORY_NODE = 1, 2  # bits of `flags`
MAX_SHOWN = 2000  # nodes of a tree that is printed


@dataclass(frozen=True, eq=False, repr=False)
class FlatForest:
    """A grown forest.

    Attributes
    ----------
    n_features : int
        Columns of the training table.
    n_classes : int
        Classes of a classifier, 0 in regression. Of several outputs those of all of them, numbered
        one after the other.
    levels : ndarray of int32, shape (n_features,)
        Levels of each nominal column, 0 for numeric ones.
    medians : ndarray of float32, shape (n_features,)
        What a missing value counts as where features are combined.
    tree_offset : ndarray of int64, shape (n_trees + 1,)
        First node of each tree.
    right : ndarray of int32, N
        Right child, counted from the tree's first node; -1 for a leaf.
    threshold : ndarray of float32, N
        A row goes left when its projected value is at most the threshold.
    flags : ndarray of uint8, N
        Bit 0: missing values, or unseen levels, go left. Bit 1: the split is by levels.
    gain : ndarray of float32, N
        Weighted impurity removed by the split; 0 for a leaf. In units of a power of two where
        targets are so large or small that float32 could not hold it. Empty in a slim forest.
    weight : ndarray of float32, N
        Weighted number of training rows. Empty in a slim forest.
    entry_offset : ndarray of int64, N + 1
        Where the entries of each node begin.
    entry_index : ndarray of int32
        Split: features of the direction; n_features + a stands for axis a of the tree.
        Leaf of a classifier: classes.
    entry_weight : ndarray of float32
        Split: coefficients of the direction. Leaf of a classifier: shares of the classes.
    entry_p_value : ndarray of float32, one for each entry, or empty unless recorded
        p-value of a coefficient that a node model has tested, else NaN. Empty in a slim forest.
    leaf_value : ndarray of float64, N in regression with one output, else empty
        Mean target of a leaf.
    bits_index : ndarray of int32, N, or empty without splits by levels
        Which bitset a split uses; -1 for none.
    bits_offset, bits : ndarray of int64 and uint32
        Bitsets of the levels that go left.
    rotation_offset : ndarray of int64, shape (n_trees + 1,)
        First axis of each tree: directions its nodes share, such as those of a rotation.
    rotation_entry_offset : ndarray of int64
        Where the entries of each axis begin.
    rotation_index, rotation_weight : ndarray of int32 and float32
        Features and coefficients of each axis.
    output_classes : ndarray of int32, shape (n_outputs,), or empty of one output
        Classes of each of several outputs, 0 in regression.
    output_value : ndarray of float64, shape (n_leaves * n_outputs,), or empty
        Regression with several outputs: means of the targets of each leaf, leaf after leaf in the
        order of their nodes.
    entry_level : ndarray of int32, one for each entry, or empty if all are -1
        Level of a nominal feature: the entry adds its coefficient to the projected value of rows
        that have the level, and nothing to others. -1: a coefficient of the feature's number.
    entry_low, entry_high : ndarray of float32, one for each entry, or empty without leaf models
        Leaf with a linear model, whose features and coefficients are the entries of the leaf: the
        range to which the feature is clipped. The leaf predicts `leaf_value` plus the sum of the
        coefficients times the clipped features. 0 for splits.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, datasets
    >>> forest = ObliqueForestClassifier(10, random_state=0).fit(*datasets.load_iris()).forest_
    >>> forest.n_features, forest.n_classes, len(forest.tree_offset)
    (4, 3, 11)
    """

    n_features: int
    n_classes: int
    levels: npt.NDArray[np.int32]
    medians: npt.NDArray[np.float32]
    tree_offset: npt.NDArray[np.int64]
    right: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float32]
    flags: npt.NDArray[np.uint8]
    gain: npt.NDArray[np.float32]
    weight: npt.NDArray[np.float32]
    entry_offset: npt.NDArray[np.int64]
    entry_index: npt.NDArray[np.int32]
    entry_weight: npt.NDArray[np.float32]
    entry_p_value: npt.NDArray[np.float32]
    leaf_value: npt.NDArray[np.float64]
    bits_index: npt.NDArray[np.int32]
    bits_offset: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint32]
    rotation_offset: npt.NDArray[np.int64]
    rotation_entry_offset: npt.NDArray[np.int64]
    rotation_index: npt.NDArray[np.int32]
    rotation_weight: npt.NDArray[np.float32]
    output_classes: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    output_value: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    entry_level: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    entry_low: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    entry_high: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))

    def __post_init__(self) -> None:
        for name, value in self._fields().items():
            # Read-only arrays stay the same objects, so that a pickle holds shared ones once.
            if isinstance(value, np.ndarray) and value.flags.writeable:
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    @cached_property
    def with_level_columns(self) -> tuple[FlatForest, Ints64]:
        """The same forest on a table with a column of 0 and 1 for each level in a direction.

        Returns the forest, without `entry_level`, and the nominal feature and the level of each
        column that follows those of the table, as rows.
        """
        is_level = self.entry_level >= 0
        if not is_level.any():
            return self, np.empty((0, 2), np.int64)
        named = np.column_stack((self.entry_index, self.entry_level))[is_level].astype(np.int64)
        terms, place = np.unique(named, axis=0, return_inverse=True)
        n, p = len(terms), self.n_features
        of_split = np.repeat(self.right >= 0, np.diff(self.entry_offset))
        index = self.entry_index.copy()
        index[of_split & (index >= p)] += n  # axes follow
        index[is_level] = p + place.ravel()
        widened = replace(
            self,
            n_features=p + n,
            levels=np.append(self.levels, np.zeros(n, np.int32)),
            medians=np.append(self.medians, np.zeros(n, np.float32)),
            entry_index=index,
            entry_level=self.entry_level[:0],
        )
        return widened, terms

    def __reduce__(self) -> tuple[Callable[..., FlatForest], tuple[Any, ...]]:
        """Pickle what the constructor takes; what comes back is checked as that of a file is."""
        return _restored, tuple(self._fields().values())

    def __getstate__(self) -> dict[str, Any]:
        """State for formats such as skops, which write and set a state."""
        return self._fields()

    def __setstate__(self, state: dict[str, Any]) -> None:
        restored = _restored(*(state.get(each.name) for each in fields(self)))
        vars(self).update(restored._fields())

    def __copy__(self) -> FlatForest:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> FlatForest:
        copies = {name: deepcopy(value, memo) for name, value in self._fields().items()}
        return FlatForest(**copies)

    def _fields(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def arrays(self) -> dict[str, Array]:
        """The arrays that describe the trees, by name."""
        return {name: getattr(self, name) for name in FOREST_FIELDS}

    def __repr__(self) -> str:
        lines = overview_lines(self)
        return "\n".join([overview_title(self), *(f"  {name:<8}  {text}" for name, text in lines)])

    def _repr_html_(self) -> str:
        return html_table(overview_title(self), (), overview_lines(self))

    def __len__(self) -> int:
        return self.n_trees

    def __iter__(self) -> Iterator[TreeView]:
        return (self.tree(index) for index in range(self.n_trees))

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_offset) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes, splits and leaves, of all trees."""
        return len(self.right)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int(np.count_nonzero(self.right < 0))

    @property
    def n_outputs(self) -> int:
        """Number of targets that the leaves predict."""
        return max(1, len(self.output_classes))

    @property
    def has_leaf_models(self) -> bool:
        """Whether leaves have linear models."""
        return len(self.entry_low) > 0

    @cached_property
    def central_value(self) -> npt.NDArray[np.float64]:
        """Value of each leaf; with a linear model that in the middle of its ranges. 0 of splits."""
        if not self.has_leaf_models:
            return self.leaf_value
        middle = (self.entry_low.astype(np.float64) + self.entry_high) / 2.0
        node = np.repeat(np.arange(self.n_nodes), np.diff(self.entry_offset))
        added = np.bincount(node, self.entry_weight * middle, minlength=self.n_nodes)
        return np.asarray(self.leaf_value + added)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays."""
        return sum(v.nbytes for v in self._fields().values() if isinstance(v, np.ndarray))

    @property
    def bytes_per_node(self) -> dict[str, float]:
        """Memory of each array that is not empty, divided by the number of nodes."""
        return {name: a.nbytes / self.n_nodes for name, a in self.arrays().items() if a.nbytes}

    def slim(self) -> FlatForest:
        """Forest without what only training and analysis need; it predicts the same.

        `gain`, `weight` and `entry_p_value` become empty; whatever needs them raises.
        """
        dropped: dict[str, Any] = {
            name: np.empty(0, each.dtype)
            for name, each in FOREST_FIELDS.items()
            if each.use == "analysis"
        }
        return replace(self, **dropped)

    @property
    def is_slim(self) -> bool:
        """Whether the arrays that only analysis needs were dropped."""
        return min(len(self.gain), len(self.weight)) < self.n_nodes

    def check_not_slim(self, caller: str) -> None:
        """Raise if the arrays that `caller` needs were dropped by `slim`."""
        if self.is_slim:
            raise SlimForestError(
                f"{caller} needs the gains and weights of the nodes; got a slim forest, which has "
                "dropped them. Ask before slim(), or keep the full forest beside the slim one."
            )

    @property
    def mean_depth(self) -> float:
        """Mean number of splits a training row passes, over rows (by weight) and trees."""
        self.check_not_slim("mean_depth")
        leaf = self.right < 0
        weight = self.weight[leaf].astype(np.float64)
        if not weight.any():  # all weights underflow float32
            weight += 1.0
        return float(np.dot(self.depth[leaf], weight) / weight.sum())

    @cached_property
    def parent(self) -> npt.NDArray[np.int64]:
        """Parent of each node, counted over the whole forest; -1 for a root."""
        split = np.flatnonzero(self.right >= 0)
        parent = np.full(self.n_nodes, -1, dtype=np.int64)
        parent[split + 1] = split
        parent[self._first_node_of_tree()[split] + self.right[split]] = split
        return parent

    @cached_property
    def depth(self) -> npt.NDArray[np.int32]:
        """Splits above each node; 0 for a root."""
        # Splits that begin before a node, minus those whose subtrees end before it.
        is_split = self.right >= 0
        ended = np.bincount(self.subtree_end[is_split], minlength=self.n_nodes + 1)
        begun: npt.NDArray[np.int64] = np.cumsum(is_split) - is_split
        return np.asarray(begun - np.cumsum(ended)[:-1], dtype=np.int32)

    @cached_property
    def subtree_end(self) -> npt.NDArray[np.int64]:
        """One past the last node of each node's subtree, which preorder keeps together."""
        is_split = self.right >= 0
        last = np.arange(self.n_nodes, dtype=np.int64)
        last[is_split] = (self._first_node_of_tree() + self.right)[is_split]
        while is_split[last].any():  # doubles the distance, up to the rightmost leaf
            last = last[last]
        return last + 1

    @cached_property
    def columns_with_missing(self) -> npt.NDArray[np.bool_]:
        """Numeric columns of which some split sends missing values other than where unseen ones go.

        A split that has seen no missing value sends them with its heavier child, so that nothing
        need be said of columns whose splits all do so. All columns of a slim forest, which has no
        weights to decide by.
        """
        columns = np.zeros(self.n_features, dtype=bool)
        if self.is_slim:
            return ~columns
        alone = (np.diff(self.entry_offset) == 1) & (self.right >= 0)
        node = np.flatnonzero(alone & (self.flags & CATEGORY_NODE == 0))
        feature = self.entry_index[self.entry_offset[node]]
        is_number = feature < self.n_features
        is_number[is_number] = self.levels[feature[is_number]] == 0  # else a level term
        node, feature = node[is_number], feature[is_number]
        weight, left = (self.weight[place].astype(np.float64) for place in (node, node + 1))
        lead = 2.0 * left - weight
        decided = np.abs(lead) > 1e-5 * weight
        sent_left = (self.flags[node] & MISSING_LEFT).astype(bool)
        columns[feature[decided & (sent_left != (lead > 0.0))]] = True
        return columns

    def _first_node_of_tree(self) -> npt.NDArray[np.int64]:
        return np.repeat(self.tree_offset[:-1], np.diff(self.tree_offset))

    def with_names(self, vocabulary: Vocabulary) -> Self:
        """This forest, with the names and units that its trees are printed with.

        Like a cached value, the vocabulary is neither saved nor compared: estimators set it on the
        forests that they return.
        """
        vars(self)["vocabulary"] = vocabulary
        return self

    def tree(self, index: int) -> TreeView:
        """View of one tree; negative indices count from the end. Print it to read its rules."""
        if not -self.n_trees <= index < self.n_trees:
            raise IndexError(
                f"tree index must be from 0 to {self.n_trees - 1}; got {index}. See n_trees."
            )
        return TreeView(self, index % self.n_trees)


def _restored(*values: Any) -> FlatForest:
    """A forest from a pickle or a state; raises ValueError instead of leading the core astray."""
    forest = FlatForest(*values)
    try:
        check_forest(forest)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A forest in a pickle must be sound; got a damaged one. {error} Copy the pickle again."
        ) from None
    return forest


def check_forest(forest: FlatForest) -> None:
    """Raise ValueError unless the arrays could come from the trainer; one pass over them."""
    _core.check_forest(
        forest.arrays(), forest.n_features, forest.n_classes, forest.levels, forest.medians
    )


@dataclass(frozen=True, eq=False)
class TreeView:
    """One tree of a forest; nodes are counted from its root, node 0."""

    forest: FlatForest
    index: int

    def __repr__(self) -> str:
        return f"<tree {self.index} of {self.forest.n_trees}: {self.n_nodes} nodes>"

    def __str__(self) -> str:
        if "vocabulary" not in vars(self.forest):
            return repr(self)
        rules = self.rules(max_nodes=MAX_SHOWN)
        hidden = self.n_nodes - len(rules)
        more = f"\n… {hidden:,} more nodes: print rules() to read them all" if hidden else ""
        return f"{rules}{more}"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def rules(self, **style: Any) -> TreeRules:
        """The tree in the user's names and units.

        Parameters
        ----------
        **style
            max_depth, min_rows, digits and max_terms, as in `bevel.analysis.tree_rules`.
        """
        vocabulary: Vocabulary | None = vars(self.forest).get("vocabulary")
        if vocabulary is None:
            raise ValueError(
                "The rules of a tree need an estimator, which has its features' names and "
                "scale; got bare arrays. Take the tree from forest_ of a fitted estimator."
            )
        return vocabulary.rules(self, **style)

    def to_dict(self) -> dict[str, Any]:
        """The rules of the tree as nested dictionaries, ready for JSON."""
        return self.rules().to_dict()

    def to_pandas(self) -> Any:
        """The rules of the tree as a data frame, one line for each node."""
        return self.rules().to_pandas()

    @cached_property
    def nodes(self) -> slice:
        """Where the tree's nodes are in the forest's arrays."""
        offset = self.forest.tree_offset
        return slice(int(offset[self.index]), int(offset[self.index + 1]))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, splits and leaves."""
        return int(self.nodes.stop - self.nodes.start)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.children_right < 0))

    @property
    def children_right(self) -> npt.NDArray[np.int32]:
        """Right child of each node, -1 for a leaf."""
        return self.forest.right[self.nodes]

    @property
    def children_left(self) -> npt.NDArray[np.int32]:
        """Left child of each node, -1 for a leaf."""
        following = np.arange(1, self.n_nodes + 1, dtype=np.int32)
        return np.where(self.children_right < 0, np.int32(-1), following)

    @property
    def threshold(self) -> npt.NDArray[np.float32]:
        """Threshold of each split."""
        return self.forest.threshold[self.nodes]

    @property
    def weight(self) -> npt.NDArray[np.float32]:
        """Weighted number of training rows of each node."""
        self.forest.check_not_slim("TreeView.weight")
        return self.forest.weight[self.nodes]

    @property
    def gain(self) -> npt.NDArray[np.float32]:
        """Weighted impurity removed by each split."""
        self.forest.check_not_slim("TreeView.gain")
        return self.forest.gain[self.nodes]

    @property
    def depth(self) -> npt.NDArray[np.int32]:
        """Splits above each node."""
        return self.forest.depth[self.nodes]

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depth.max())

    def projection(self, node: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Features and coefficients of a split, rotations written out; empty for a leaf."""
        if self.children_right[node] < 0:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        index, weight = self.entries(node)
        if (index < self.forest.n_features).all():
            return index.copy(), weight.copy()
        parts = [self._written_out(i, w) for i, w in zip(index, weight, strict=True)]
        features, coefficients = (np.concatenate(part) for part in zip(*parts, strict=True))
        return features, coefficients

    def class_shares(self, node: int) -> npt.NDArray[np.float64]:
        """Share of each class in a leaf of a classifier."""
        shares = np.zeros(self.forest.n_classes)
        index, weight = self.entries(node)
        if self.children_right[node] < 0:
            shares[index] = weight
        return shares

    def entries(self, node: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Entries of a node as they are stored: see `FlatForest.entry_index`."""
        forest, place = self.forest, self.nodes.start + node
        own = slice(forest.entry_offset[place], forest.entry_offset[place + 1])
        return forest.entry_index[own], forest.entry_weight[own]

    def _written_out(
        self, index: int, weight: float
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        forest = self.forest
        if index < forest.n_features:
            return np.array([index], np.int32), np.array([weight], np.float32)
        axis = forest.rotation_offset[self.index] + index - forest.n_features
        own = slice(forest.rotation_entry_offset[axis], forest.rotation_entry_offset[axis + 1])
        return forest.rotation_index[own], np.float32(weight) * forest.rotation_weight[own]


# Blaser's complexity of a tree: its number of nodes, with its depth to break ties.


def tree_complexities(forest: FlatForest, n_rows: int) -> npt.NDArray[np.float64]:
    """#nodes + depth/N of each tree (thesis, formula 2.5).

    Parameters
    ----------
    forest : FlatForest
        The trees; slim ones will do.
    n_rows : int
        N, the training rows. A tree is less deep than there are rows, so that the number of nodes
        decides first.
    """
    return np.asarray(np.diff(forest.tree_offset) + tree_depths(forest) / n_rows)


def tree_depths(forest: FlatForest) -> npt.NDArray[np.int32]:
    """Splits above the deepest leaf of each tree."""
    return np.asarray(np.maximum.reduceat(forest.depth, forest.tree_offset[:-1]))


# Forests as one, such as the trees of an earlier fit and those that a warm start adds.


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


def scale_leaves(forest: FlatForest, factor: float) -> FlatForest:
    """A forest of values whose leaves predict a multiple, for analysis only.

    Each term of a linear model becomes two, whose slopes sum to the multiple in double precision.
    """
    scaled = replace(forest, leaf_value=forest.leaf_value * factor)
    if not forest.has_leaf_models:
        return scaled
    of_leaf = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    copies = np.where(of_leaf, 2, 1)
    start = np.concatenate(([0], np.cumsum(copies)))
    entries: dict[str, Any] = {
        name: np.repeat(array, copies)
        for name, array in forest.arrays().items()
        if FOREST_FIELDS[name].per == "entry" and len(array)
    }
    slope = forest.entry_weight[of_leaf] * np.float64(factor)
    first, place = slope.astype(np.float32), start[:-1][of_leaf]
    entries["entry_weight"][place] = first
    entries["entry_weight"][place + 1] = (slope - first).astype(np.float32)
    return replace(scaled, entry_offset=start[forest.entry_offset], **entries)


# What optional arrays of entries hold where there is nothing.
NOTHING_OF_ENTRY = {"entry_p_value": np.nan, "entry_level": -1, "entry_low": 0, "entry_high": 0}


def with_level_values(X: Float32s, terms: Ints64) -> Float32s:
    """Encoded rows with the columns that `FlatForest.with_level_columns` adds."""
    if not len(terms):
        return X
    return np.column_stack((X, X[:, terms[:, 0]] == terms[:, 1])).astype(np.float32)


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
    if name in NOTHING_OF_ENTRY and (len(one) or len(other)):
        nothing, n_entries = (
            NOTHING_OF_ENTRY[name],
            (len(first.entry_index), len(second.entry_index)),
        )
        one, other = (
            array if len(array) else np.full(n, nothing, FOREST_FIELDS[name].dtype)
            for array, n in zip((one, other), n_entries, strict=True)
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


# A forest made of some of another's trees.


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
    taken: dict[str, Any] = _take_bitsets(forest, _take(forest.bits_index, owners["node"]))
    for name, array in FOREST_FIELDS.items():
        if name in taken:
            continue
        take = _take_offset if array.kind == "offsets" else _take
        taken[name] = take(getattr(forest, name), owners[array.per])
    return replace(forest, **taken)


def keep_nodes(forest: FlatForest, kept: npt.NDArray[np.bool_]) -> FlatForest:
    """Forest without some of its leaves; what is left of a split takes the place of the split.

    Parameters
    ----------
    forest : FlatForest
        The forest.
    kept : ndarray of bool, N
        Some leaves of each tree, and the splits that have some of them on both sides.
    """
    node, first = np.flatnonzero(kept), forest._first_node_of_tree()
    entry, offset = gather(forest.entry_offset, node)
    index = forest.bits_index[node] if len(forest.bits_index) else forest.bits_index
    taken: dict[str, Any] = {"entry_offset": offset, **_take_bitsets(forest, index)}
    of_owner = {"node": node, "entry": entry}
    for name, field_ in FOREST_FIELDS.items():
        array = getattr(forest, name)
        if field_.per in of_owner and name not in taken:
            taken[name] = array[of_owner[field_.per]] if len(array) else array
    # In preorder, what is left of a subtree begins with the first node of it that is kept.
    n_before: Ints64 = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept)))
    right = n_before[first + np.maximum(forest.right, 0)] - n_before[first]
    taken["right"] = np.where(forest.right < 0, -1, right)[node].astype(np.int32)
    taken["tree_offset"] = n_before[forest.tree_offset]
    if len(forest.output_value):
        of_leaf = forest.output_value.reshape(-1, len(forest.output_classes))
        taken["output_value"] = of_leaf[kept[forest.right < 0]].ravel()
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


def _take_bitsets(forest: FlatForest, index: Array) -> dict[str, Array]:
    """Bitsets of nodes, by their `bits_index`, numbered anew in the order of the nodes."""
    used = index >= 0
    words, offset = gather(forest.bits_offset, index[used].astype(np.int64))
    renumbered = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    if not used.any():
        renumbered = np.empty(0, np.int32)
    return {"bits_index": renumbered, "bits_offset": offset, "bits": forest.bits[words]}
