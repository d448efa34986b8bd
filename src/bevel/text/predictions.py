"""Predictions of all nodes of a tree, inner ones too: of one output, of several, of survival."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import AnyInts, Floats
from bevel.forest.flat_forest import FlatForest, TreeView, gather, take_trees
from bevel.forest.outputs import forest_of_output
from bevel.forest.task import SeveralOutputs, Survival, called
from bevel.printable import printable
from bevel.text.split_text import counted, percent, round_within, written

__all__ = [
    "NodePredictions",
    "OutputPredictions",
    "SurvivalPredictions",
    "called",
    "read_output_predictions",
    "read_predictions",
    "read_survival_predictions",
]

# Predictions of all nodes of a tree, including splits: class shares or means, rows and gains.


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
    models : mapping of int to str, default={}
        Linear models of leaves, by their places. Their means are the values in the middle of the
        ranges of the features.
    """

    classes: tuple[str, ...]
    rows: Floats
    gain: Floats
    means: Floats
    range: tuple[float, float]
    models: Mapping[int, str] = field(default_factory=dict, kw_only=True)

    @property
    def best(self) -> npt.NDArray[np.intp]:
        """Class of each node; ties go to the first."""
        return np.asarray(self.means.argmax(axis=1))

    def prediction(self, place: int) -> str:
        """Prediction of a node: a class, with its share unless that is 1, or a mean."""
        values = self.means[place]
        if np.isnan(values).any():
            return ""
        if place in self.models:
            return self.models[place]
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
        if place in self.models:
            found["model"] = self.models[place]
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
    value = tree.forest.central_value[tree.nodes][leaf]
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
        yield 0, np.arange(len(leaf)), tree.forest.central_value[tree.nodes][leaf]
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
        return np.asarray(tree.forest.central_value[tree.nodes][leaf][:, None])
    owner, label, share = _shares(tree, leaf)
    predictions = np.zeros((len(leaf), tree.forest.n_classes))
    predictions[owner, label] = share
    return predictions


# Predictions of the nodes of a tree for several outputs, each as if it were the only one.

MAX_WRITTEN = 4  # outputs of a node in a text


@dataclass(frozen=True, eq=False)
class OutputPredictions:
    """Predictions of some nodes for several outputs, with the methods of `NodePredictions`.

    Attributes
    ----------
    outputs : SeveralOutputs
        Names and classes of the outputs.
    forest : FlatForest
        Forest of this tree alone.
    node, end : ndarray of int64
        The nodes, and one past the last node of their subtrees.
    """

    outputs: SeveralOutputs
    forest: FlatForest
    node: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]

    @property
    def rows(self) -> Floats:
        """Weighted number of training rows; NaN in a slim forest."""
        return self._of(0).rows

    @property
    def gain(self) -> Floats:
        """Impurity that each split removes, summed over the outputs."""
        if self.forest.is_slim:
            return np.full(len(self.node), np.nan)
        return self.forest.gain[self.node].astype(np.float64)

    @cached_property
    def _known(self) -> dict[int, NodePredictions]:
        return {}

    def _of(self, k: int) -> NodePredictions:
        if k not in self._known:
            single = forest_of_output(self.forest, self.outputs, k)
            classes = () if self.outputs.labels is None else self.outputs.labels[k]
            labels = tuple(printable(str(label)) for label in classes)
            self._known[k] = read_predictions(single.tree(0), self.node, self.end, labels)
        return self._known[k]

    @property
    def _each(self) -> Mapping[str, NodePredictions]:
        names = (printable(name) for name in self.outputs.names)
        return {name: self._of(k) for k, name in enumerate(names)}

    def summary(self, place: int) -> str:
        """Predictions of the first few outputs, and rows, of a node."""
        parts = []
        for k, name in enumerate(self.outputs.names[:MAX_WRITTEN]):
            if text := self._of(k).prediction(place):
                parts.append(f"{printable(name)} {text}")
        if parts and len(self.outputs) > MAX_WRITTEN:
            parts.append(f"{len(self.outputs) - MAX_WRITTEN} more outputs")
        if not np.isnan(self.rows[place]):
            parts.append(counted(float(self.rows[place])))
        return ", ".join(parts)

    def entry(self, place: int) -> dict[str, Any]:
        """Predictions of a node as plain values, output by output; unknown ones are left out."""
        found: dict[str, Any] = {}
        if not np.isnan(self.rows[place]):
            found |= {"rows": float(self.rows[place]), "gain": float(self.gain[place])}
        each = {name: predictions.entry(place) for name, predictions in self._each.items()}
        known = {
            name: {key: value for key, value in entry.items() if key not in ("rows", "gain")}
            for name, entry in each.items()
        }
        return found | {"outputs": known}

    def columns(self) -> dict[str, Any]:
        """The predictions as columns, named after the outputs."""
        found: dict[str, Any] = {"rows": self.rows, "gain": self.gain}
        for name, predictions in self._each.items():
            columns = predictions.columns()
            found |= {
                f"{column}_{name}": values
                for column, values in columns.items()
                if column not in ("rows", "gain")
            }
        return found


def read_output_predictions(
    tree: TreeView, node: npt.NDArray[np.int64], end: npt.NDArray[np.int64], outputs: SeveralOutputs
) -> OutputPredictions:
    """Predictions of nodes whose subtrees end before `end`, for several outputs."""
    return OutputPredictions(outputs, take_trees(tree.forest, [tree.index]), node, end)


# Predictions of the nodes of a survival tree: median times, events and rows.

HALF = 0.5 - 1e-9  # sums of rounded jumps may be slightly too low


@dataclass(frozen=True, eq=False)
class SurvivalPredictions(NodePredictions):
    """Predictions of some nodes; `means` are their risks.

    Attributes
    ----------
    median : ndarray
        First time at which the survival curve of a node is at most one half; infinite if never.
    left : ndarray
        Survival curve at its end.
    n_times : ndarray of int
        Number of times at which rows of a node had events.
    """

    median: Floats
    left: Floats
    n_times: AnyInts

    def prediction(self, place: int) -> str:
        """Median survival of a node, or the surviving share at the end."""
        if np.isnan(self.median[place]):
            return ""
        if np.isinf(self.median[place]):
            return f"median survival not reached, {percent(float(self.left[place]))} left"
        median = float(self.median[place])
        return f"median survival {written(round_within(median, 5e-4 * median))}"

    def summary(self, place: int) -> str:
        """Median survival, event times and rows of a node."""
        parts = [self.prediction(place)]
        if not np.isnan(self.median[place]):
            n = int(self.n_times[place])
            parts.append("no event" if n == 0 else f"events at {n} time{'' if n == 1 else 's'}")
        if not np.isnan(self.rows[place]):
            parts.append(counted(float(self.rows[place])))
        return ", ".join(part for part in parts if part)

    def entry(self, place: int) -> dict[str, Any]:
        """Prediction of a node as plain values; unknown ones are left out."""
        found = super().entry(place)
        if np.isnan(self.median[place]):
            return found
        median = float(self.median[place])
        return found | {
            "median": None if np.isinf(median) else median,
            "survival_at_end": float(self.left[place]),
            "event_times": int(self.n_times[place]),
        }

    def columns(self) -> dict[str, Any]:
        """The predictions as columns."""
        own = {"median": self.median, "survival_at_end": self.left, "event_times": self.n_times}
        return super().columns() | own


def read_survival_predictions(
    tree: TreeView,
    node: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    record: Survival,
) -> SurvivalPredictions:
    """Predictions of nodes whose subtrees end before `end`.

    The curve of a split is the weighted mean of those of its leaves; a slim forest has no weights,
    and only the curves of leaves.
    """
    plain = read_predictions(tree, node, end, ())
    leaf = np.flatnonzero(tree.children_right < 0)
    forest = tree.forest
    entry, offset = gather(forest.entry_offset, leaf + tree.nodes.start)
    time = forest.entry_index[entry] // record.n_causes
    weight = np.ones(len(leaf)) if forest.is_slim else tree.weight[leaf].astype(np.float64)
    fall = _falls(time, forest.entry_weight[entry].astype(np.float64), offset)
    first, last = np.searchsorted(leaf, node), np.searchsorted(leaf, end)
    median, left = np.full(len(node), np.nan), np.full(len(node), np.nan)
    n_times = np.zeros(len(node), dtype=np.int64)
    for k, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if forest.is_slim and high - low > 1:
            continue
        some = slice(int(offset[low]), int(offset[high]))
        share = weight[low:high] / weight[low:high].sum()
        each = fall[some] * np.repeat(share, np.diff(offset[low : high + 1]))
        order = np.argsort(time[some], kind="stable")
        gone = np.cumsum(each[order])
        place = int(np.searchsorted(gone, HALF))
        reached = place < len(gone)
        median[k] = record.event_times[time[some][order[place]]] if reached else np.inf
        left[k] = max(0.0, 1.0 - float(gone[-1])) if len(gone) else 1.0
        n_times[k] = len(np.unique(time[some]))
    return SurvivalPredictions(
        (), plain.rows, plain.gain, plain.means, plain.range, median, left, n_times
    )


def _falls(time: AnyInts, jump: Floats, offset: npt.NDArray[np.int64]) -> Floats:
    """Decrease of the Kaplan-Meier curve of a leaf at each of its entries."""
    fall = np.empty(len(jump))
    for low, high in zip(offset[:-1].tolist(), offset[1:].tolist(), strict=True):
        _, place = np.unique(time[low:high], return_inverse=True)  # all causes of a time are merged
        at_time = np.bincount(place, jump[low:high])
        before = np.concatenate(([1.0], np.cumprod(1.0 - at_time)))
        fall[low:high] = before[place] * jump[low:high]
    return fall
