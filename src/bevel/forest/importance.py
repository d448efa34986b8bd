"""Importance of features from the splits that use them: gains, and directions of effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel._types import Floats
from bevel.forest.flat_forest import CATEGORY_NODE, FlatForest

__all__ = [
    "SplitSigns",
    "gain_importances",
    "gain_shares",
    "split_signs",
]


def gain_importances(forest: FlatForest, *, normalised: bool = True) -> Floats:
    """Breiman's gain (Gini) importance of each feature, summing to one.

    The gain of a split is credited to the features of its direction in proportion to the absolute
    values of their coefficients, through the axes of a rotation too. As in scikit-learn, each tree
    is normalised before averaging, and trees without splits do not count; zeros if none has any.
    Trees that add up are not normalised: later ones have less to explain.
    """
    forest.check_not_slim("feature_importances_")
    total = np.zeros(forest.n_features)
    for share in gain_shares(forest, normalised=normalised):
        total += share
    return total / total.sum() if total.sum() > 0.0 else total


def gain_shares(forest: FlatForest, *, normalised: bool = True) -> Iterator[Floats]:
    """Share of each feature in the gain of a tree, tree after tree, those without splits left out.

    The forest must not be slim.
    """
    for tree in np.flatnonzero(np.diff(forest.tree_offset) > 1):
        credit = _tree_importances(forest, int(tree))
        if credit.sum() > 0.0:
            yield credit / credit.sum() if normalised else credit


def _tree_importances(forest: FlatForest, tree: int) -> Floats:
    """Gain credited to each feature in one tree."""
    nodes = slice(forest.tree_offset[tree], forest.tree_offset[tree + 1])
    offset = forest.entry_offset[nodes.start : nodes.stop + 1]
    entries = slice(offset[0], offset[-1])
    gain = np.where(forest.right[nodes] < 0, 0.0, forest.gain[nodes])
    credit = _divide(gain, offset - offset[0], forest.entry_weight[entries])
    axes = slice(forest.rotation_offset[tree], forest.rotation_offset[tree + 1])
    n_axes = int(axes.stop - axes.start)
    # Entries of leaves are classes and carry no credit; they may exceed the number of features.
    used = credit > 0.0
    by_index = _sums(forest.entry_index[entries][used], credit[used], forest.n_features + n_axes)
    by_feature = by_index[: forest.n_features]
    if n_axes:
        by_feature = by_feature + _through_rotation(forest, axes, by_index[forest.n_features :])
    return by_feature


def _through_rotation(forest: FlatForest, axes: slice, credit: Floats) -> Floats:
    """Pass the credit of rotation axes on to the features they are made of."""
    offset = forest.rotation_entry_offset[axes.start : axes.stop + 1]
    entries = slice(offset[0], offset[-1])
    passed = _divide(credit, offset - offset[0], forest.rotation_weight[entries])
    return _sums(forest.rotation_index[entries], passed, forest.n_features)


def _divide(
    amount: Floats, offset: npt.NDArray[np.int64], weight: npt.NDArray[np.float32]
) -> Floats:
    """Divide each owner's amount among its entries in proportion to their absolute weights."""
    size = np.abs(weight, dtype=np.float64)
    owner = np.repeat(np.arange(len(amount)), np.diff(offset))
    whole = _sums(owner, size, len(amount))
    return amount[owner] * size / np.where(whole > 0.0, whole, 1.0)[owner]


def _sums(place: npt.NDArray[np.integer[Any]], amount: Floats, n_places: int) -> Floats:
    """Sum the amounts that belong to each place."""
    return np.asarray(np.bincount(place, amount, minlength=n_places), dtype=np.float64)


# Signs of splits: whether the prediction rises or falls along each feature.

NODES_AT_ONCE, MAX_MEANS = 2**15, 2**20  # limits of a batch of small trees


class SplitSigns(NamedTuple):
    """Variance removed by splits, with and without sign; K outputs, p features.

    Attributes
    ----------
    net : ndarray of shape (K, p)
        Variance that splits remove of each output, counted as positive where the output rises with
        the feature and as negative where it falls.
    total : ndarray of shape (K, p)
        Variance removed, all counted as positive: `net / total` is between -1 and 1.
    """

    net: Floats
    total: Floats


def split_signs(forest: FlatForest, n_outputs: int = 1) -> SplitSigns:
    """Whether outputs rise or fall with each feature, over all splits that use it.

    A split removes variance of an output in proportion to the squared difference of the means of
    its sides. It is divided among the features of the direction as gains are, by absolute weights;
    its sign is that of the difference times that of the weight. Nominal features, of whose levels
    none is more than another, have no sign: their splits and parts of directions do not count.

    Parameters
    ----------
    forest : FlatForest
        Classifier, whose outputs are the class shares, or regressor. Must not be slim.
    n_outputs : int, default=1
        Outputs of an additive forest: tree t belongs to output t % n_outputs.
    """
    forest.check_not_slim("direction")
    shape = (forest.n_classes or n_outputs, forest.n_features)
    net, total = np.zeros(shape), np.zeros(shape)
    for trees in _batches(forest):
        _add_trees(forest, trees, net, total)
    return SplitSigns(net, total)


def _batches(forest: FlatForest) -> list[range]:
    """Neighbouring trees that have few nodes together, or one tree each."""
    batch = forest.tree_offset[:-1] // NODES_AT_ONCE
    ends = [*np.flatnonzero(np.diff(batch)).tolist(), forest.n_trees - 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [range(start, end + 1) for start, end in zip(starts, ends, strict=True)]


def _add_trees(forest: FlatForest, trees: range, net: Floats, total: Floats) -> None:
    offset = forest.tree_offset[trees.start : trees.stop + 1]
    first, end = int(offset[0]), int(offset[-1])
    tree = np.repeat(np.arange(len(trees)), np.diff(offset))
    root = (offset[:-1] - first)[tree]
    right = forest.right[first:end]
    by_levels = forest.flags[first:end] & CATEGORY_NODE != 0
    weight = forest.weight[first:end].astype(np.float64)
    whole = weight[root]  # zero where weights are too small for float32
    weight /= np.where(whole > 0.0, whole, 1.0)
    split = np.flatnonzero((right >= 0) & ~by_levels)
    if not len(split):
        return
    left_child, right_child = split + 1, (root + right)[split]
    both = weight[left_child] + weight[right_child]
    size = weight[left_child] * weight[right_child] / np.where(both > 0.0, both, 1.0)
    shares = _shares_of_features(forest, trees, first + split, tree[split])
    if forest.n_classes == 0:
        own = (trees.start + tree[split]) % len(net)
    step = max(1, MAX_MEANS // len(right)) if forest.n_classes else 1
    for start in range(0, len(net), step):
        some = slice(start, min(start + step, len(net)))
        means = _node_means(forest, slice(first, end), weight, root, some)
        change = means[right_child] - means[left_child]
        removed = size[:, None] * change * np.abs(change)
        if forest.n_classes == 0:
            removed[own != start] = 0.0
        net[some] += (shares @ removed).T
        total[some] += (abs(shares) @ np.abs(removed)).T


def _node_means(
    forest: FlatForest,
    nodes: slice,
    weight: Floats,
    root: npt.NDArray[np.int64],
    outputs: slice,
) -> Floats:
    """Mean of the outputs over the leaves below each node: nodes x outputs."""
    is_leaf = forest.right[nodes] < 0
    sums = np.zeros((len(is_leaf), outputs.stop - outputs.start))
    if forest.n_classes == 0:
        # Around one leaf of the tree, so that large targets with small differences keep digits.
        value = forest.central_value[nodes]
        leaf = np.flatnonzero(is_leaf)
        centre = value[leaf[np.searchsorted(leaf, root)]]
        sums[:, 0] = np.where(is_leaf, (value - centre) * weight, 0.0)
    else:
        offset = forest.entry_offset[nodes.start : nodes.stop + 1]
        entries = slice(offset[0], offset[-1])
        owner = np.repeat(np.arange(len(is_leaf)), np.diff(offset))
        label = forest.entry_index[entries]
        used = is_leaf[owner] & (label >= outputs.start) & (label < outputs.stop)
        share = forest.entry_weight[entries][used].astype(np.float64)
        sums[owner[used], label[used] - outputs.start] = share * weight[owner[used]]
    last = forest.subtree_end[nodes] - nodes.start
    below = _between(np.where(is_leaf, weight, 0.0)[:, None], last)
    return np.asarray(_between(sums, last) / np.where(below > 0.0, below, 1.0))


def _between(values: Floats, last: npt.NDArray[np.int64]) -> Floats:
    """Sums from each node to the end of its subtree, which preorder keeps together."""
    summed = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    return np.asarray(summed[last] - summed[:-1])


def _shares_of_features(
    forest: FlatForest,
    trees: range,
    split: npt.NDArray[np.int64],
    tree: npt.NDArray[np.int64],
) -> sp.csr_matrix:
    """Share of each feature in the direction of each split, with its sign: p x splits."""
    p = forest.n_features
    first_axis = forest.rotation_offset[trees.start : trees.stop + 1]
    n_axes = int(first_axis[-1] - first_axis[0])
    begin = forest.entry_offset[split]
    count = forest.entry_offset[split + 1] - begin
    owner = np.repeat(np.arange(len(split)), count)
    entry = (begin - np.cumsum(count) + count)[owner] + np.arange(len(owner))
    value = _signed_shares(forest.entry_weight[entry], owner, len(split))
    place = forest.entry_index[entry].astype(np.int64)
    value[(place < p) & (forest.levels[np.minimum(place, p - 1)] > 0)] = 0.0  # levels
    if n_axes:  # axes are counted in each tree
        place += np.where(place >= p, (first_axis[:-1] - first_axis[0])[tree[owner]], 0)
    shares = sp.csr_matrix((value, (place, owner)), shape=(p + n_axes, len(split)))
    if not n_axes:
        return shares
    offset = forest.rotation_entry_offset[first_axis[0] : first_axis[-1] + 1]
    own = slice(int(offset[0]), int(offset[-1]))
    axis = np.repeat(np.arange(n_axes), np.diff(offset))
    value = _signed_shares(forest.rotation_weight[own], axis, n_axes)
    through = sp.csr_matrix((value, (forest.rotation_index[own], axis)), shape=(p, n_axes))
    return sp.csr_matrix(shares[:p] + through @ shares[p:])


def _signed_shares(
    weight: npt.NDArray[np.float32], owner: npt.NDArray[np.int64], n_owners: int
) -> Floats:
    """Weights as shares of the absolute weights of their owner."""
    exact = weight.astype(np.float64)
    whole = np.bincount(owner, np.abs(exact), n_owners)
    return np.asarray(exact / np.where(whole > 0.0, whole, 1.0)[owner])
