"""Predictions of all nodes of a tree, including splits: class shares or means, rows and gains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.forest.flat_forest import TreeView
from bevel.forest.subforest import gather
from bevel.text.decimals import counted, percent, round_within, written

__all__ = ["NodePredictions", "called", "read_predictions"]


@dataclass(frozen=True, eq=False)
class NodePredictions:
    """Predictions of some nodes.

    Attributes
    ----------
    classes : tuple of str
        Labels; empty in regression.
    rows : ndarray
        Weighted number of training rows; NaN in a slim forest.
    gain : ndarray
        Weighted impurity that the split removes; 0 for leaves.
    means : ndarray of shape (n_nodes, n_classes), or (n_nodes, 1) in regression
        Class shares or means; NaN for splits of a slim forest.
    range : tuple of two floats
        Lowest and highest prediction of a leaf; in regression it decides the digits.
    """

    classes: tuple[str, ...]
    rows: Floats
    gain: Floats
    means: Floats
    range: tuple[float, float]

    @property
    def best(self) -> npt.NDArray[np.intp]:
        """Class of each node; ties go to the first."""
        return np.asarray(self.means.argmax(axis=1))

    def prediction(self, place: int) -> str:
        """Prediction of a node: a class, with its share unless that is 1, or a mean."""
        values = self.means[place]
        if np.isnan(values).any():
            return ""
        if not self.classes:
            return written(round_within(float(values[0]), 5e-4 * (self.range[1] - self.range[0])))
        best = int(values.argmax())
        name, share = called(self.classes[best]), float(values[best])
        return name if share > 1.0 - 1e-6 else f"{name} {percent(share)}"

    def summary(self, place: int) -> str:
        """Prediction and rows of a node."""
        parts = [self.prediction(place)]
        if not np.isnan(self.rows[place]):
            parts.append(counted(float(self.rows[place])))
        return ", ".join(part for part in parts if part)

    def entry(self, place: int) -> dict[str, Any]:
        """Prediction of a node as plain values; unknown ones are left out."""
        shares = (float(value) for value in self.means[place])
        found: dict[str, Any] = {}
        if not np.isnan(self.rows[place]):
            found |= {"rows": float(self.rows[place]), "gain": float(self.gain[place])}
        if np.isnan(self.means[place]).any():
            return found
        if not self.classes:
            return found | {"value": next(shares)}
        return found | {"class_shares": dict(zip(self.classes, shares, strict=True))}

    def columns(self) -> dict[str, Any]:
        """The predictions as columns."""
        known = {"rows": self.rows, "gain": self.gain}
        if not self.classes:
            return known | {"prediction": self.means[:, 0]}
        labels = np.array(self.classes, dtype=object)[self.best]
        shares = {f"share_{c}": self.means[:, k] for k, c in enumerate(self.classes)}
        return known | {"prediction": labels, **shares}


def called(label: str) -> str:
    """Name of a class in a sentence: numeric labels are preceded by a word."""
    try:
        float(label)
    except ValueError:
        return label
    return f"class {label}"


def read_predictions(
    tree: TreeView,
    node: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    classes: tuple[str, ...],
) -> NodePredictions:
    """Predictions of nodes whose subtrees end before `end`: weighted means of their leaves."""
    leaf = np.flatnonzero(tree.children_right < 0)
    extremes = _extremes(tree, leaf)
    own = tree.children_right[node] < 0  # leaves keep their own prediction, unrounded
    if tree.forest.is_slim:
        values = np.full((len(node), max(len(classes), 1)), np.nan)
        values[own] = _leaf_predictions(tree, node[own])
        unknown = np.full(len(node), np.nan)
        return NodePredictions(classes, unknown, unknown, values, extremes)
    weight = tree.weight.astype(np.float64)
    values = _means(tree, leaf, weight[leaf], node, end, max(len(classes), 1))
    values[own] = _leaf_predictions(tree, node[own])
    gain = tree.gain[node].astype(np.float64)
    return NodePredictions(classes, weight[node], gain, values, extremes)


def _extremes(tree: TreeView, leaf: npt.NDArray[np.intp]) -> tuple[float, float]:
    if tree.forest.n_classes:
        return 0.0, 1.0
    value = tree.forest.leaf_value[tree.nodes][leaf]
    return float(value.min()), float(value.max())


def _means(
    tree: TreeView,
    leaf: npt.NDArray[np.intp],
    weight: Floats,
    node: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    n_columns: int,
) -> Floats:
    """Means over the leaves of each node's subtree, class by class, to save memory."""
    first, last = np.searchsorted(leaf, node), np.searchsorted(leaf, end)
    total = _between(weight, first, last)
    values = np.empty((len(node), n_columns))
    for column, owner, value in _columns(tree, leaf, n_columns):
        bounds = (np.searchsorted(owner, each) for each in (first, last))
        values[:, column] = _between(value * weight[owner], *bounds)
    return np.asarray(values / np.where(total > 0.0, total, 1.0)[:, None])


def _between(values: Floats, first: npt.NDArray[np.intp], last: npt.NDArray[np.intp]) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(values)))
    return np.asarray(sums[last] - sums[first])


def _columns(
    tree: TreeView, leaf: npt.NDArray[np.intp], n_columns: int
) -> Iterator[tuple[int, npt.NDArray[np.intp], Floats]]:
    """Leaves, ascending, and their predictions, one class after the other."""
    if not tree.forest.n_classes:
        yield 0, np.arange(len(leaf)), tree.forest.leaf_value[tree.nodes][leaf]
        return
    owner, label, share = _shares(tree, leaf)
    order = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[order], np.arange(n_columns + 1))
    for column in range(n_columns):
        mine = order[bounds[column] : bounds[column + 1]]
        yield column, owner[mine], share[mine]


def _shares(
    tree: TreeView, leaf: npt.NDArray[np.integer[Any]]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32], Floats]:
    """Leaf, class and share of each entry of some leaves of a classifier."""
    forest = tree.forest
    entry, offset = gather(forest.entry_offset, leaf + tree.nodes.start)
    owner = np.repeat(np.arange(len(leaf)), np.diff(offset))
    return owner, forest.entry_index[entry], forest.entry_weight[entry].astype(np.float64)


def _leaf_predictions(tree: TreeView, leaf: npt.NDArray[np.integer[Any]]) -> Floats:
    if not tree.forest.n_classes:
        return np.asarray(tree.forest.leaf_value[tree.nodes][leaf][:, None])
    owner, label, share = _shares(tree, leaf)
    predictions = np.zeros((len(leaf), tree.forest.n_classes))
    predictions[owner, label] = share
    return predictions
