"""The training rows that give leaves their values: a forest is a weighted average over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints32, Ints64, Target
from bevel.data.row_weights import MIN_SHARE
from bevel.forest.bags import Bags
from bevel.forest.flat_forest import FlatForest, take_trees
from bevel.forest.predictor import PackedPredictor

__all__ = ["LeafRows", "agrees_with_leaves", "balancing_weights", "collect_leaf_rows"]


# Entries of a block of leaves, rows x trees: 64 MB.
BLOCK_SIZE = 2**24


@dataclass(frozen=True, eq=False)
class LeafRows:
    """Training rows in each leaf.

    Attributes
    ----------
    offset : ndarray of int64, shape (n_nodes + 1,)
        First member of each node of the forest; splits have none.
    row : ndarray of int32
        Members: rows of weight above zero, as often as they are in the bag of the tree, or in its
        part for leaves if trees are honest.
    weight : ndarray of float64
        Weight of each member; empty if all are one.
    n_rows : int
        Number of training rows.
    """

    offset: Ints64
    row: Ints32
    weight: Floats
    n_rows: int

    @property
    def node(self) -> Ints64:
        """Leaf of each member."""
        return np.repeat(np.arange(len(self.offset) - 1), np.diff(self.offset))


def collect_leaf_rows(
    forest: FlatForest,
    X: npt.NDArray[np.float32],
    bags: Bags,
    *,
    first_tree: int = 0,
    weights: Floats | None = None,
    balanced: Ints32 | None = None,
    n_threads: int = 1,
) -> LeafRows:
    """Send the training rows down the trees to whose leaves they give values.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    X : ndarray of float32, shape (n, p), C order
        Training rows, encoded.
    bags : Bags
        How the bags were drawn.
    first_tree : int, default=0
        Number, among the trees of the seed, of the forest's first.
    weights : ndarray of float64, default=None
        Of the rows; None if all are one.
    balanced : ndarray of int32, shape (n,) or (n, n_outputs), default=None
        Classes of the rows, if each bag was balanced by weights of its classes.
    n_threads : int, default=1
        Threads that look for leaves.
    """
    sizes, rows, member_weights = [], [], []
    step = max(1, BLOCK_SIZE // len(X))
    for first in range(0, forest.n_trees, step):
        trees = range(first, min(first + step, forest.n_trees))
        leaves = PackedPredictor(take_trees(forest, trees)).leaves(X, n_threads)
        for tree, leaf in zip(trees, leaves.T, strict=True):
            counts = bags.leaf_counts(first_tree + tree, weights)
            drawn = counts if weights is None else counts * (weights > 0)
            row, size = _by_leaf(leaf, drawn, forest.tree(tree).n_nodes)
            rows.append(row)
            sizes.append(size)
            member_weights.append(_weights(row, counts, weights, balanced))
    offset = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))))
    return LeafRows(offset, np.concatenate(rows), np.concatenate(member_weights), len(X))


def _by_leaf(leaf: Ints32, counts: Ints32, n_nodes: int) -> tuple[Ints32, Ints64]:
    """Rows in the order of their leaves, as often as they were drawn, and members of each node."""
    row = np.repeat(np.arange(len(leaf), dtype=np.int32), counts)
    leaf = leaf[row]
    return row[leaf.argsort(kind="stable")], np.bincount(leaf, minlength=n_nodes)


def _weights(
    row: Ints32, counts: Ints32, weights: Floats | None, balanced: Ints32 | None
) -> Floats:
    if balanced is None:
        return np.empty(0) if weights is None else weights[row]
    own = np.ones(len(row)) if weights is None else weights[row]
    return balancing_weights(row, counts, balanced) * own


def balancing_weights(row: Ints32, counts: Ints32, balanced: Ints32) -> Floats:
    """Weights of drawn rows that balance the classes of the draws, up to a factor.

    Parameters
    ----------
    row : ndarray of int32
        The rows.
    counts : ndarray of int32, shape (n,)
        How often each row was drawn.
    balanced : ndarray of int32, shape (n,) or (n, n_outputs)
        Classes of the rows.
    """
    if balanced.ndim == 1:
        return (1.0 / np.maximum(1, np.bincount(balanced, counts)))[balanced[row]]
    size = np.zeros(len(row))  # logarithms: products over many outputs may be beyond all floats
    for labels in balanced.T:
        size += np.log(np.maximum(1, np.bincount(labels, counts)))[labels[row]]
    return np.asarray(np.exp(np.maximum(size.min() - size, np.log(MIN_SHARE))))


def agrees_with_leaves(forest: FlatForest, leaf_rows: LeafRows, target: Target) -> bool:
    """Whether the rows of each leaf, with these weights, give what the leaf predicts.

    Parameters
    ----------
    forest : FlatForest
        The trees.
    leaf_rows : LeafRows
        Training rows in their leaves.
    target : ndarray of shape (n,)
        Targets of the training rows: classes as int32, or numbers as float64.
    """
    node, weight = leaf_rows.node, leaf_rows.weight
    weight = weight if len(weight) else np.ones(len(node))
    total = np.bincount(node, weight, forest.n_nodes)
    leaf = forest.right < 0
    if not (total[leaf] > 0).all():
        return False
    member = target[leaf_rows.row]
    if forest.n_classes:
        return _shares_agree(forest, node, weight / total[node], member)
    value = np.bincount(node, weight * member, forest.n_nodes)[leaf] / total[leaf]
    slack = 1e-9 * float(np.abs(target).max())
    return bool((np.abs(value - forest.leaf_value[leaf]) <= slack).all())


def _shares_agree(forest: FlatForest, node: Ints64, share: Floats, label: Target) -> bool:
    is_leaf = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    of_node = np.repeat(np.arange(forest.n_nodes), np.diff(forest.entry_offset))
    claimed = (of_node * forest.n_classes + forest.entry_index)[is_leaf]  # ascending
    there = node * forest.n_classes + label
    entry = np.minimum(claimed.searchsorted(there), len(claimed) - 1)
    shares = np.bincount(entry, share, len(claimed))
    close = np.abs(shares - forest.entry_weight[is_leaf]) <= 1e-5
    return bool((claimed[entry] == there).all() and close.all())
