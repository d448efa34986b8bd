"""Honest trees: the values of the leaves come from rows that no split was learnt on.

The part of a bag for leaves goes down the tree that was grown on the other part. A leaf that no row
reaches is merged with its sibling, so that each leaf has a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel._types import Array, Floats, Ints32, Ints64
from bevel.data.dataset import Dataset
from bevel.forest.bags import Bags
from bevel.forest.flat_forest import NOTHING_OF_ENTRY, FlatForest, keep_nodes, take_trees
from bevel.forest.leaf_rows import BLOCK_SIZE, balancing_weights
from bevel.forest.predictor import PackedPredictor

__all__ = ["with_honest_leaves"]


class Shares(NamedTuple):
    """Class shares of leaves, in the order of the leaves and of the classes."""

    node: Ints64
    label: Ints64
    share: Floats


def with_honest_leaves(
    forest: FlatForest,
    dataset: Dataset,
    labels_or_values: Array,
    weights: Floats | None,
    bags: Bags,
    numbers: Sequence[int] | npt.NDArray[np.integer[Any]],
    *,
    balances: bool,
    n_threads: int,
) -> FlatForest:
    """The forest with values of the leaves from the part of each bag that is for leaves.

    Parameters
    ----------
    forest : FlatForest
        Trees whose splits were learnt on the other parts.
    dataset : Dataset
        Training rows.
    labels_or_values : ndarray of shape (n,) or (n, n_outputs)
        Their targets: classes, numbered over all outputs, or numbers.
    weights : ndarray of float64 or None
        Their weights; None if all are one.
    bags : Bags
        How bags and their parts were drawn.
    numbers : sequence of int
        Number of each tree among those of the seed.
    balances : bool
        Whether classes are balanced within bags.
    n_threads : int
        Threads that look for leaves.
    """
    target = labels_or_values.reshape(len(labels_or_values), -1)
    balanced = labels_or_values if balances else None
    total, n_rows = np.zeros(forest.n_nodes), np.zeros(forest.n_nodes, np.int64)
    found: list[Any] = []
    centre, reach = _middle(target) if not forest.n_classes else (0.0, 1.0)
    for tree, leaf in _leaves(forest, dataset, n_threads):
        row, weight = _drawn(bags, int(numbers[tree]), weights, balanced)
        first, last = forest.tree_offset[tree : tree + 2].tolist()
        nodes, size = slice(first, last), last - first
        node = leaf[row]
        n_rows[nodes] = np.bincount(node, minlength=size)
        total[nodes] = np.bincount(node, weight, size)
        if forest.n_classes:
            found.append(_shares(node, weight, target[row], total[nodes], forest, first))
        else:
            units = (target[row] - centre) / reach
            sums = [np.bincount(node, weight * column, size) for column in units.T]
            found.append(np.column_stack(sums))
    kept = _kept(forest, n_rows)
    pruned = keep_nodes(forest, kept)
    pruned = replace(pruned, weight=_sums_of_subtrees(pruned, total[kept]).astype(np.float32))
    if forest.n_classes:
        shares = Shares(*(np.concatenate(part) for part in zip(*found, strict=True)))
        return _with_shares(pruned, np.bincount(shares.node, minlength=len(kept))[kept], shares)
    is_leaf = pruned.right < 0
    means = np.concatenate(found)[kept][is_leaf] / total[kept][is_leaf, None]
    return _with_means(pruned, centre + reach * means)


def _leaves(forest: FlatForest, dataset: Dataset, n_threads: int) -> Iterator[tuple[int, Ints32]]:
    """Each tree, and the leaf of each training row in it."""
    step = max(1, BLOCK_SIZE // dataset.shape[0])
    for first in range(0, forest.n_trees, step):
        trees = range(first, min(first + step, forest.n_trees))
        predictor = PackedPredictor(take_trees(forest, trees))
        leaves = [predictor.leaves(rows, n_threads) for rows in dataset.blocks()]
        yield from zip(trees, np.concatenate(leaves).T, strict=True)


def _drawn(
    bags: Bags, tree: int, weights: Floats | None, balanced: Ints32 | None
) -> tuple[Ints32, Floats]:
    """Rows that give the leaves of a tree their values, and the weights of their draws."""
    counts = bags.leaf_counts(tree, weights)
    drawn = counts if weights is None else counts * (weights > 0.0)
    row = np.flatnonzero(drawn).astype(np.int32)
    weight = counts[row].astype(np.float64)
    if balanced is not None:  # draws weigh one on average, as they do in growth
        balance = balancing_weights(row, counts, balanced)
        weight *= balance * (weight.sum() / (weight * balance).sum())
    return row, weight if weights is None else weight * weights[row]


def _middle(target: Floats) -> tuple[Floats, Floats]:
    """Middle of the targets of each output, and the farthest distance from it."""
    low, high = target.min(axis=0), target.max(axis=0)
    centre = low / 2.0 + high / 2.0
    reach = np.maximum(high - centre, centre - low)
    return centre, np.where(reach > 0.0, reach, 1.0)


def _shares(
    node: Ints32, weight: Floats, labels: Ints32, total: Floats, forest: FlatForest, first: int
) -> Shares:
    """Class shares of the leaves of a tree whose first node has a number."""
    n_classes, n_outputs = forest.n_classes, labels.shape[1]
    place = np.repeat(node.astype(np.int64) * n_classes, n_outputs) + labels.ravel()
    entry, of_member = np.unique(place, return_inverse=True)
    of_leaf, label = np.divmod(entry, n_classes)
    sums = np.bincount(of_member, np.repeat(weight, n_outputs))
    return Shares(of_leaf + first, label, sums / total[of_leaf])


def _kept(forest: FlatForest, n_rows: Ints64) -> npt.NDArray[np.bool_]:
    """Leaves that rows reach, and splits with such leaves on both sides."""
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(n_rows)))
    reached = before[forest.subtree_end] > before[:-1]
    split = np.flatnonzero(forest.right >= 0)
    kept = reached.copy()
    kept[split] = reached[split + 1] & reached[_right(forest, split)]
    return kept


def _right(forest: FlatForest, split: Ints64) -> Ints64:
    """Right children of splits, counted over the whole forest."""
    tree = forest.tree_offset.searchsorted(split, side="right") - 1
    return np.asarray(forest.tree_offset[tree] + forest.right[split])


def _sums_of_subtrees(forest: FlatForest, of_leaf: Floats) -> Floats:
    """The sum over the leaves of each node's subtree."""
    sums = np.where(forest.right < 0, of_leaf, 0.0)
    split = np.flatnonzero(forest.right >= 0)
    depth = forest.depth[split]
    split = split[np.argsort(-depth, kind="stable")]
    right = _right(forest, split)
    ends = np.flatnonzero(np.diff(np.sort(-depth))) + 1
    for above, to_the_right in zip(np.split(split, ends), np.split(right, ends), strict=True):
        sums[above] = sums[above + 1] + sums[to_the_right]
    return sums


def _with_means(forest: FlatForest, means: Floats) -> FlatForest:
    """The forest with new means of the outputs in its leaves."""
    if len(forest.output_classes):
        return replace(forest, output_value=means.ravel())
    values = forest.leaf_value.copy()
    values[forest.right < 0] = means[:, 0]
    return replace(forest, leaf_value=values)


def _with_shares(forest: FlatForest, n_classes: Ints64, shares: Shares) -> FlatForest:
    """The forest with new class shares in its leaves; n_classes: of each node that is a leaf."""
    is_leaf, length = forest.right < 0, np.diff(forest.entry_offset)
    of_split = ~np.repeat(is_leaf, length)
    length = np.where(is_leaf, n_classes, length)
    new = np.repeat(is_leaf, length)
    entries: dict[str, Any] = {
        "entry_offset": np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    }
    for name, nothing in (("entry_index", 0), ("entry_weight", 0), *NOTHING_OF_ENTRY.items()):
        old = getattr(forest, name)
        if len(old):
            entries[name] = np.full(len(new), nothing, old.dtype)
            entries[name][~new] = old[of_split]
    entries["entry_index"][new], entries["entry_weight"][new] = shares.label, shares.share
    return replace(forest, **entries)
