"""Importance of features from the gains of the splits that use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.forest.flat_forest import FlatForest

__all__ = ["gain_importances", "gain_shares"]


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
