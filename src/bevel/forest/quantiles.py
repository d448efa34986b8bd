"""Conditional quantiles: quantiles of the training targets under a row's forest weights.

The training targets of each leaf are stored beside a forest.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.data.row_weights import MAX_WEIGHT
from bevel.errors import wrong_type, wrong_value
from bevel.forest.flat_forest import FlatForest, gather
from bevel.forest.leaf_rows import LeafRows
from bevel.forest.predictor import PackedPredictor

__all__ = [
    "LeafTargets",
    "blocks_of_rows",
    "conditional_quantiles",
    "interval_levels",
    "join_targets",
    "keep_targets",
    "read_levels",
    "take_targets",
]

# The training targets of each leaf, stored beside a forest to predict quantiles.


@dataclass(frozen=True, eq=False)
class LeafTargets:
    """Training targets, ascending, and which of them are in each leaf.

    Attributes
    ----------
    value : ndarray of float64, shape (n,)
        Targets of the training rows, ascending.
    weight : ndarray of float64, shape (n,)
        Weights of these rows; empty if all are one.
    offset : ndarray of int64, shape (n_nodes + 1,)
        First member of each node of the forest; splits have none.
    row : ndarray of int32
        Members: positions in `value`, as often as they are in the bag of the tree.
    """

    value: Floats
    weight: Floats
    offset: npt.NDArray[np.int64]
    row: npt.NDArray[np.int32]

    def __reduce__(self) -> tuple[Callable[..., LeafTargets], tuple[Any, ...]]:
        """Pickle what the constructor takes, without what follows from it."""
        return _restored, tuple(getattr(self, field.name) for field in fields(self))

    def __getstate__(self) -> dict[str, Any]:
        """State for formats such as skops, which write and set a state."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(vars(_restored(*(state[field.name] for field in fields(self)))))

    @cached_property
    def leaf_rows(self) -> LeafRows:
        """The rows of each leaf, where rows are numbered by ascending target."""
        weight = self.weight[self.row] if len(self.weight) else self.weight
        return LeafRows(self.offset, self.row, weight, len(self.value))


def _restored(*values: Any) -> LeafTargets:
    """Targets from a pickle or a state; ValueError if members are not among them, or not finite."""
    targets = LeafTargets(*values)
    weight = targets.weight
    sound = np.isfinite(targets.value).all() and ((weight >= 0) & (weight <= MAX_WEIGHT)).all()
    offset, row, n_rows = targets.offset, targets.row, len(targets.value)
    rises = offset[0] == 0 and offset[-1] == len(row) and bool((np.diff(offset) >= 0).all())
    within = len(row) == 0 or (row.min() >= 0 and row.max() < n_rows)
    if not (sound and rises and within and len(weight) in (0, n_rows)):
        raise ValueError(
            f"Targets in a pickle must be finite and members of {n_rows} rows; got a damaged one. "
            "Copy the pickle again."
        )
    return targets


def keep_targets(leaf_rows: LeafRows, target: Floats, weights: Floats | None) -> LeafTargets:
    """Targets of the rows in each leaf.

    Parameters
    ----------
    leaf_rows : LeafRows
        Rows in the leaves of a forest for regression.
    target : ndarray of float64, shape (n,)
        Targets of the training rows.
    weights : ndarray of float64 or None
        Weights of the training rows.
    """
    weight = np.empty(0) if weights is None else weights
    return _ascending(LeafTargets(target, weight, leaf_rows.offset, leaf_rows.row))


def _ascending(targets: LeafTargets) -> LeafTargets:
    """Renumber the rows by ascending target."""
    order = targets.value.argsort(kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    weight = targets.weight[order] if len(targets.weight) else targets.weight
    return LeafTargets(targets.value[order], weight, targets.offset, rank[targets.row])


def take_targets(
    targets: LeafTargets, forest: FlatForest, trees: npt.NDArray[np.int64]
) -> LeafTargets:
    """Targets of some of the trees of `forest`, in the given order."""
    nodes, _ = gather(forest.tree_offset, trees)
    members, offset = gather(targets.offset, nodes)
    return LeafTargets(targets.value, targets.weight, offset, targets.row[members])


def join_targets(first: LeafTargets, second: LeafTargets) -> LeafTargets:
    """Targets of two forests that are joined, which may have been grown on different rows."""
    offset = np.concatenate((first.offset[:-1], first.offset[-1] + second.offset))
    if _same(first.value, second.value) and _same(first.weight, second.weight):
        row = np.concatenate((first.row, second.row))
        return LeafTargets(first.value, first.weight, offset, row)
    value = np.concatenate((first.value, second.value))
    row = np.concatenate((first.row, second.row + np.int32(len(first.value))))
    return _ascending(LeafTargets(value, _join_weights(first, second), offset, row))


def _same(one: Floats, other: Floats) -> bool:
    return np.array_equal(one, other)


def _join_weights(first: LeafTargets, second: LeafTargets) -> Floats:
    if len(first.weight) == len(second.weight) == 0:
        return first.weight
    weights = (t.weight if len(t.weight) else np.ones(len(t.value)) for t in (first, second))
    return np.concatenate(tuple(weights))


# Rows x trees of one call into the core: half a second or less, so that Ctrl-C is noticed soon.
BLOCK_SIZE = 2**20


def read_levels(quantiles: npt.ArrayLike) -> Floats:
    """Levels of quantiles as an array; raises unless they are one or more numbers from 0 to 1."""
    required, remedy = "numbers from 0 to 1", "Write for example [0.05, 0.5, 0.95]."
    try:
        levels = np.asarray(quantiles, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong_type("quantiles", required, quantiles, remedy) from None
    if levels.ndim > 1 or levels.size == 0 or not ((levels >= 0) & (levels <= 1)).all():
        raise wrong_value("quantiles", required, quantiles, remedy)
    return levels


def interval_levels(coverage: float) -> Floats:
    """Levels of the two ends of a central interval; raises unless 0 < coverage < 1."""
    complaint = ("coverage", "a number between 0 and 1", coverage, "Write for example 0.9.")
    if not isinstance(coverage, numbers.Real) or isinstance(coverage, bool):
        raise wrong_type(*complaint)
    if not 0 < coverage < 1:
        raise wrong_value(*complaint)
    return np.array([(1 - coverage) / 2, (1 + coverage) / 2])


def conditional_quantiles(
    predictor: PackedPredictor,
    targets: LeafTargets,
    X: npt.NDArray[np.float32],
    levels: Floats,
    n_threads: int,
    trees: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Smallest target at which the weights of all targets up to it reach each level.

    Parameters
    ----------
    predictor : PackedPredictor
        The forest.
    targets : LeafTargets
        Training targets in its leaves.
    X : ndarray of float32, shape (n, p)
        Rows, encoded.
    levels : ndarray of float64, shape (k,)
        Levels from 0 to 1, in any order.
    n_threads : int
        Threads to use; does not change the result.
    trees : ndarray of bool, shape (n, n_trees), default=None
        Which trees predict which row; None: all.

    Returns
    -------
    ndarray of shape (n, k)
        NaN for rows that no tree predicts.
    """
    ascending, place = np.unique(levels, return_inverse=True)
    rows = targets.leaf_rows
    found = np.empty((len(X), len(ascending)))
    for block in blocks_of_rows(len(X), predictor.forest.n_trees):
        found[block] = _core.neighbour_quantiles(
            predictor.view,
            X[block],
            rows.offset,
            rows.row,
            rows.weight,
            targets.value,
            ascending,
            None if trees is None else np.ascontiguousarray(trees[block]),
            n_threads,
        )
    return found[:, place.ravel()]


def blocks_of_rows(n_rows: int, n_trees: int) -> Iterator[slice]:
    """Slices of rows, each of which goes into the core in one call."""
    step = max(1, BLOCK_SIZE // n_trees)
    return (slice(first, first + step) for first in range(0, n_rows, step))
