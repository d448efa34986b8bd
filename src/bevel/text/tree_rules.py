"""A tree as readable rules: its nodes as a table, as text, as a dictionary and as a data frame."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s, Ints64
from bevel.extras import import_optional
from bevel.forest.flat_forest import TreeView
from bevel.html_table import html_text
from bevel.parameters.parameter import Integer, NoneOption, Number, Parameter
from bevel.text.predictions import NodePredictions, OutputPredictions
from bevel.text.split_text import (
    Condition,
    SplitText,
    ThresholdSplitText,
    conjunction,
    counted,
    together,
)

if TYPE_CHECKING:
    from bevel.text.vocabulary import Vocabulary

__all__ = [
    "ForestRules",
    "Style",
    "TreeRules",
    "notes_text",
    "read_tree",
    "tree_text",
]


@dataclass(frozen=True)
class Style:
    """Options for writing a tree.

    Attributes
    ----------
    max_depth : int or None
        Subtrees at this depth become leaves; None: no limit.
    min_rows : float
        Splits with fewer (weighted) rows on one side are hidden with their subtrees.
    digits : int or None
        Digits of weights and thresholds, counted from the spread of the columns; None: as many as
        float32, in which trees compare, can distinguish.
    max_terms : int or None
        Terms of a combination that are written out; None: all.
    max_nodes : int or None
        Subtrees become leaves at the depth that leaves at most this many nodes; None: no limit.
    """

    max_depth: int | None = None
    min_rows: float = 0
    digits: int | None = 3
    max_terms: int | None = 8
    max_nodes: int | None = None

    def __post_init__(self) -> None:
        for parameter in _PARAMETERS:
            parameter.check(getattr(self, parameter.name))


def _parameter(name: str, *accepts: Integer | Number | NoneOption) -> Parameter:
    return Parameter(name, None, accepts, "", f"See the documentation of {name} in tree_rules.")


_PARAMETERS = (
    _parameter("max_depth", Integer(0), NoneOption()),
    _parameter("min_rows", Number("[0, inf]")),
    _parameter("digits", Integer(1), NoneOption()),
    _parameter("max_terms", Integer(1), NoneOption()),
    _parameter("max_nodes", Integer(1), NoneOption()),
)


# A tree drawn with characters.

WIDTH = 100
TURN, TEE, LINE, BLANK = "└─ ", "├─ ", "│  ", "   "
DEEPEST_INDENT = 40  # depth after which lines begin at the left again, with the depth in brackets


def tree_text(rules: TreeRules) -> str:
    """The nodes of a tree, one line each, then the notes."""
    prefix = [""] * len(rules)  # prefixes of the lines below a node
    lines = [_title(rules)]
    if len(rules) == 1:
        lines.append(f"always: {rules.predictions.summary(0)}")
    for place in range(1, len(rules)):
        above = int(rules.parent[place])
        last = rules.right[above] == place
        lines.append(prefix[above] + (TURN if last else TEE) + _line(rules, place))
        deeper = rules.depth[place] % DEEPEST_INDENT
        inside = prefix[above] + (BLANK if last else LINE)
        prefix[place] = inside if deeper else f"[{rules.depth[place]}] "
    return "\n".join((*lines, *notes_text(rules.notes)))


def notes_text(notes: tuple[str, ...]) -> list[str]:
    """Notes as lines of a readable length."""
    return [line for note in notes for line in textwrap.wrap(note, WIDTH)]


def _title(rules: TreeRules) -> str:
    n_leaves, depth = rules.n_leaves, int(rules.depth.max())
    title = f"tree {rules.tree} of {rules.n_trees}: "
    title += f"{n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}, depth {depth}"
    rows = float(rules.predictions.rows[0])
    return title if np.isnan(rows) else f"{title}, {counted(rows)}"


def _line(rules: TreeRules, place: int) -> str:
    condition = rules.condition(place)
    if rules.left[place] >= 0:
        return str(condition)
    mark = " …" if rules.cut[place] else ""
    return f"{condition}: {rules.predictions.summary(place)}{mark}"


DEEPEST_DICT = 200  # readers of JSON, including Python's, fail at about 1000 levels
MAX_CELLS = 2**24  # nodes times classes
MAX_SHOWN = 3  # trees shown in the cell of a notebook


@dataclass(frozen=True, eq=False)
class TreeRules:
    """A tree as readable rules; arrays have one entry for each node that is shown, in preorder.

    Attributes
    ----------
    tree, n_trees : int
        Index of the tree, and number of trees.
    node : ndarray of int64
        Numbers of the nodes in the tree.
    parent, left, right : ndarray of int64
        Positions of a node's relatives in these arrays; -1 for none.
    depth : ndarray of int64
        Splits above each node.
    cut : ndarray of bool
        Whether a node stands for a hidden subtree.
    split_texts : tuple of SplitText or None
        The split of each node; None for leaves.
    predictions : NodePredictions
        Weighted rows, gains, and class shares or means.
    notes : tuple of str
        Notes on the rules.
    """

    tree: int
    n_trees: int
    node: Ints64
    parent: Ints64
    left: Ints64
    right: Ints64
    depth: Ints64
    cut: npt.NDArray[np.bool_]
    split_texts: tuple[SplitText | None, ...]
    predictions: NodePredictions | OutputPredictions
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.node)

    @property
    def n_leaves(self) -> int:
        """Number of leaves shown, including those that stand for subtrees."""
        return int(np.count_nonzero(self.left < 0))

    def condition(self, place: int) -> Condition | None:
        """Condition that leads from the parent to a node; None for the root."""
        above = int(self.parent[place])
        split = self.split_texts[above] if above >= 0 else None
        if split is None:
            return None
        return split.sides[0 if self.left[above] == place else 1]

    def splits_above(self, place: int) -> Iterator[SplitText]:
        """Splits above a node, from the nearest one up."""
        while (place := int(self.parent[place])) >= 0:
            if (split := self.split_texts[place]) is not None:
                yield split

    def path(self, place: int) -> tuple[Condition, ...]:
        """Conditions of a node from the root on, those on the same subject merged."""
        found = []
        while (condition := self.condition(place)) is not None:
            found.append(condition)
            place = int(self.parent[place])
        return conjunction(reversed(found))

    def rule(self, place: int) -> str:
        """The conditions of a node as one text."""
        return together(self.path(place))

    def __str__(self) -> str:
        return tree_text(self)

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __repr__(self) -> str:
        return f"<tree {self.tree} of {self.n_trees} in words: {len(self)} nodes; print to read>"

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested dictionaries of plain values, ready for JSON.

        Returns
        -------
        dict
            The root: "node", "rows", "gain", "value" or "class_shares"; of a split also "rule",
            "left" and "right", and the combination as "terms", "threshold" and "operator", or
            "levels". "pruned" marks a node that stands for a subtree. Raises ValueError for a tree
            deeper than 200, which JSON and others could not nest.
        """
        if (depth := int(self.depth.max())) > DEEPEST_DICT:
            raise ValueError(
                f"Nested dictionaries must be of a tree of depth {DEEPEST_DICT} or less; got depth "
                f"{depth}. Prune it with max_depth={DEEPEST_DICT}, or use to_pandas(), which has a "
                "line for each node."
            )
        made = [self._entry(place) for place in range(len(self))]
        for place, above in enumerate(self.parent):
            if above >= 0:
                made[above]["left" if self.left[above] == place else "right"] = made[place]
        return {"tree": self.tree, **made[0], "notes": list(self.notes)}

    def _entry(self, place: int) -> dict[str, Any]:
        entry = {"node": int(self.node[place]), **self.predictions.entry(place)}
        if self.cut[place]:
            entry["pruned"] = True
        split = self.split_texts[place]
        if split is not None:
            entry |= {"rule": str(split.sides[0]), **_parts(split)}
        return entry

    def columns(self) -> dict[str, Any]:
        """The nodes as columns of equal length."""
        rules = [self.condition(place) for place in range(len(self))]
        splits = [split.sides[0] if split else None for split in self.split_texts]
        above = np.where(self.parent >= 0, self.node[self.parent], -1)
        return {
            "tree": np.full(len(self), self.tree),
            "node": self.node,
            "parent": above,
            "depth": self.depth,
            "rule": ["" if rule is None else str(rule) for rule in rules],
            "split": ["" if split is None else str(split) for split in splits],
            "pruned": self.cut,
            **self.predictions.columns(),
        }

    def to_pandas(self) -> Any:
        """One line for each node.

        Returns
        -------
        pandas.DataFrame
            Columns tree, node, parent, depth, rule (by which a row enters the node), split (the
            rule of its left child), pruned, rows, gain, prediction, and the shares of the classes.
        """
        return _frame([self])


@dataclass(frozen=True, eq=False)
class ForestRules:
    """Several trees as readable rules.

    Attributes
    ----------
    trees : tuple of TreeRules
        Rules of each tree.
    """

    trees: tuple[TreeRules, ...]

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[TreeRules]:
        return iter(self.trees)

    def __getitem__(self, index: int) -> TreeRules:
        return self.trees[index]

    def __str__(self) -> str:
        return "\n\n".join(str(tree) for tree in self.trees)

    def _repr_html_(self) -> str:
        shown = "\n\n".join(str(tree) for tree in self.trees[:MAX_SHOWN])
        hidden = len(self) - MAX_SHOWN
        return html_text(f"{shown}\n\n… {hidden} more trees" if hidden > 0 else shown)

    def __repr__(self) -> str:
        n_nodes = sum(len(tree) for tree in self.trees)
        return f"<{len(self)} trees in words: {n_nodes} nodes; print to read>"

    def to_dict(self) -> dict[str, Any]:
        """All trees, each as from `TreeRules.to_dict`."""
        return {"trees": [tree.to_dict() for tree in self.trees]}

    def to_pandas(self) -> Any:
        """One line for each node of each tree, as in `TreeRules.to_pandas`."""
        return _frame(self.trees)


def read_tree(
    words: Vocabulary,
    tree: TreeView,
    style: Style,
    encoded: Float32s | None = None,
    leaves: npt.NDArray[np.int32] | None = None,
) -> TreeRules:
    """Format a tree; with encoded rows and their leaves, with enough digits to route them."""
    end = subtree_ends(tree)
    node, parent = _shown(tree, end, style)
    place = np.full(tree.n_nodes, -1, dtype=np.int64)
    place[node] = np.arange(len(node))
    is_split = np.append(parent[1:] == np.arange(len(node) - 1), False)  # left child is next
    right = np.where(is_split, place[tree.children_right[node]], -1)
    left = np.where(is_split, np.arange(1, len(node) + 1), -1)
    _check_size(len(node), len(words.classes))
    formatter = words.split_formatter(tree, style)
    split_texts = []
    for n, splits in zip(node, is_split, strict=True):
        rows = None
        if splits and encoded is not None and leaves is not None:
            rows = encoded[(leaves >= n) & (leaves < end[n])]
        split_texts.append(formatter.split_text(int(n), rows) if splits else None)
    return TreeRules(
        tree.index,
        tree.forest.n_trees,
        node,
        parent,
        left,
        right,
        tree.depth[node].astype(np.int64),
        ~is_split & (tree.children_right[node] >= 0),
        tuple(split_texts),
        words.predictions(tree, node, end[node]),
        formatter.notes(),
    )


def _check_size(n_nodes: int, n_classes: int) -> None:
    if n_nodes * n_classes > MAX_CELLS:
        raise ValueError(
            f"A tree in words must have at most {MAX_CELLS} shares of classes; got {n_nodes} "
            f"nodes and {n_classes} classes. Prune it with max_depth or min_rows."
        )


def subtree_ends(tree: TreeView) -> Ints64:
    """One past the last node of each node's subtree, which is contiguous in preorder."""
    return np.asarray(tree.forest.subtree_end[tree.nodes] - tree.nodes.start)


def _shown(tree: TreeView, end: Ints64, style: Style) -> tuple[Ints64, Ints64]:
    """Nodes that remain after pruning, and the position of each one's parent among them."""
    pruned = tree.children_right < 0
    max_depth = style.max_depth
    if style.max_nodes is not None:
        max_depth = _depth_of_few(tree, style.max_nodes)
    if max_depth is not None:
        pruned = pruned | (tree.depth >= max_depth)
    if style.min_rows > 0:
        # A split whose smaller child has too few rows is hidden with its subtree.
        weight, children = tree.weight, np.flatnonzero(tree.children_right >= 0)
        smaller = np.minimum(weight[children + 1], weight[tree.children_right[children]])
        pruned = pruned.copy()
        pruned[children[smaller < style.min_rows]] = True
    if style.max_nodes is None and (pruned & (tree.children_right >= 0)).any():
        tree.forest.check_not_slim("A pruned tree")
    shown: list[int] = []
    parent: list[int] = []
    node = 0
    above: list[int] = []  # shown splits above the current node
    while node < tree.n_nodes:
        while above and node >= end[shown[above[-1]]]:
            above.pop()
        parent.append(above[-1] if above else -1)
        shown.append(node)
        if pruned[node]:
            node = int(end[node])
        else:
            above.append(len(shown) - 1)
            node += 1
    return np.array(shown, dtype=np.int64), np.array(parent, dtype=np.int64)


def _depth_of_few(tree: TreeView, max_nodes: int) -> int:
    """Depth at which a tree is cut to have at most `max_nodes` nodes."""
    of_depth = np.bincount(tree.depth)
    return max(int(np.searchsorted(np.cumsum(of_depth), max_nodes, side="right")) - 1, 1)


def _parts(split: SplitText) -> dict[str, Any]:
    """Parts of a split as plain values."""
    if not isinstance(split, ThresholdSplitText):
        return {"levels": list(split.sides[0].labels or ())}
    return {
        "features": [int(feature) for feature in split.features],
        "weights": [float(weight) for weight in split.weights],
        "operator": ">=" if split.at_least else "<=",
        "threshold": split.threshold,
    }


def _frame(trees: Sequence[TreeRules]) -> Any:
    pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
    parts = [tree.columns() for tree in trees]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return pandas.DataFrame(joined)
