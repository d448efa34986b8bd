"""The rows a forest was grown on, given once more: its bags drawn again, and the rows recognised.

A forest keeps no row, but its leaves determine where its training rows must fall. Predictions of
these rows are made by the trees whose bags they are out of.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Array, Float32s, Floats, Ints32, Target
from bevel.data.row_weights import read_weights, weights_of_classes
from bevel.data.sparse_columns import SparseColumns
from bevel.data.survival import SurvivalTarget
from bevel.data.target import (
    read_output_labels,
    read_output_weights,
    split_outputs,
)
from bevel.errors import NoOutOfBagError
from bevel.forest.bags import Bags, check_leaves_rows_out
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.flat_forest import take_trees
from bevel.forest.leaf_rows import LeafRows, agrees_with_leaves, collect_leaf_rows
from bevel.forest.predictor import PackedPredictor
from bevel.forest.row_blocks import row_blocks, sums_of_rows
from bevel.forest.survival import survival_task
from bevel.forest.task import SeveralOutputs, Survival

__all__ = [
    "OutOfBag",
    "TrainingRows",
    "Weighting",
    "bags_that_leave_rows_out",
    "find_training_rows",
    "known_bags",
    "leaf_rows_of",
    "out_of_bag_blocks",
    "out_of_bag_rows",
    "predict_out_of_bag",
    "survival_rows_of",
    "training_rows_of",
]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Training rows of a forest with their bags.

    Attributes
    ----------
    X : ndarray of float32, shape (n, p)
        Rows encoded as for prediction.
    target : ndarray of shape (n,)
        Classes as int32, or numbers as float64.
    out : ndarray of bool, shape (n, n_trees)
        Whether a row is out of a tree's bag.
    bags : Bags
        How the bags were drawn.
    """

    X: npt.NDArray[np.float32]
    target: Array
    out: npt.NDArray[np.bool_]
    bags: Bags


class Weighting(NamedTuple):
    """Weights of the rows of a fit."""

    weights: npt.NDArray[np.float64] | None  # weights of the rows; None if all are one
    balanced: npt.NDArray[np.int32] | None = None  # classes of the rows, if each bag was balanced


def training_rows_of(
    fitted: FittedForest,
    X: npt.NDArray[np.float32],
    y: Any,
    caller: str,
    sample_weight: Any = None,
) -> TrainingRows:
    """Return the rows of an earlier fit, given again; raises if they differ.

    Parameters
    ----------
    fitted : FittedForest
        The forest.
    X : ndarray of float32
        Rows encoded as for prediction.
    y : array-like
        Target as given to fit.
    caller : str
        Name of the caller, for messages.
    sample_weight : array-like, default=None
        Weights as given to fit, if they are known.
    """
    fitted, y, sample_weight = _with_one_output(fitted, y, sample_weight, len(X))
    bags, target = known_bags(fitted, caller), fitted.task.read_again(y, len(X))
    weights = _reread_weights(fitted, sample_weight, target).weights
    return find_training_rows(fitted, bags, X, target, weights)


def out_of_bag_rows(
    fitted: FittedForest, X: npt.NDArray[np.float32], y: Any, caller: str
) -> TrainingRows:
    """Return the rows of a fit, given again; raises unless its bags leave rows out."""
    bags_that_leave_rows_out(fitted, caller)
    return training_rows_of(fitted, X, y, caller)


def leaf_rows_of(
    fitted: FittedForest,
    X: npt.NDArray[np.float32],
    y: Any,
    sample_weight: Any,
    caller: str,
    n_threads: int,
) -> tuple[LeafRows, TrainingRows, Weighting]:
    """Return the training rows in their leaves; raises if they contradict the leaf predictions."""
    if isinstance(fitted.task, Survival):
        return _leaf_rows_of_times(fitted, fitted.task, X, y, sample_weight, caller, n_threads)
    balanced = _balanced_outputs(fitted, y, len(X))
    fitted, y, sample_weight = _with_one_output(fitted, y, sample_weight, len(X))
    rows = training_rows_of(fitted, X, y, caller, sample_weight)
    weighting = _reread_weights(fitted, sample_weight, rows.target)
    if balanced is not None:
        weighting = weighting._replace(balanced=balanced)
    leaf_rows = collect_leaf_rows(
        fitted.forest,
        rows.X,
        rows.bags,
        weights=weighting.weights,
        balanced=weighting.balanced,
        n_threads=n_threads,
    )
    bounded = fitted.provenance.bounds_leaves
    if not (bounded or agrees_with_leaves(fitted.forest, leaf_rows, rows.target)):
        raise ValueError(
            f"{caller} needs the rows, targets and weights of the fit; got others, which do not "
            "give what the leaves predict. Pass the X, y and sample_weight of the fit."
        )
    return leaf_rows, rows, weighting


def _leaf_rows_of_times(
    fitted: FittedForest,
    task: Survival,
    X: npt.NDArray[np.float32],
    y: Any,
    sample_weight: Any,
    caller: str,
    n_threads: int,
) -> tuple[LeafRows, TrainingRows, Weighting]:
    """Return the training rows of a survival forest in their leaves; the targets are times."""
    bags, forest = known_bags(fitted, caller), fitted.forest
    target = task.read_times(y, len(X))
    if len(X) != bags.n_rows:
        raise _other_rows(f"the {bags.n_rows} training rows", f"{len(X)} rows")
    weights = read_weights(sample_weight, None, None, len(X))
    rows = TrainingRows(X, target.time, bags.rows_out(forest.n_trees, weights), bags)
    leaf_rows = collect_leaf_rows(forest, X, bags, weights=weights, n_threads=n_threads)
    # Each event time of a leaf is that of an event among its rows, and there are no others.
    node, event = leaf_rows.node, target.event[leaf_rows.row]
    times = task.event_times.searchsorted(target.time[leaf_rows.row[event]])
    cause = np.zeros(len(times), int)
    if target.cause is not None:
        cause = target.cause[leaf_rows.row[event]].astype(int) - 1
    seen = np.unique(node[event] * task.n_numbers + times * task.n_causes + cause)
    is_leaf = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    of_node = np.repeat(np.arange(forest.n_nodes), np.diff(forest.entry_offset))
    claimed = (of_node * task.n_numbers + forest.entry_index)[is_leaf]
    same = np.array_equal(target.event_times, task.event_times) or weights is not None
    if not (same and np.array_equal(seen, claimed)):
        raise _other_rows("the rows of the fit", "others, which do not give the curves of leaves")
    return leaf_rows, rows, Weighting(weights)


def _with_one_output(
    fitted: FittedForest, y: Any, sample_weight: Any, n_rows: int
) -> tuple[FittedForest, Any, Any]:
    """Return the first of several outputs, which identifies the rows, with the weights of all."""
    outputs, provenance = fitted.task, fitted.provenance
    if not isinstance(outputs, SeveralOutputs):
        return fitted, y, sample_weight
    given = split_outputs(y)
    if given is None or len(given.columns) != len(outputs):
        got = 1 if given is None else len(given.columns)
        raise ValueError(
            f"y must have the {len(outputs)} outputs of the fit; got {got}. Pass the y that the "
            "forest was fitted on."
        )
    if outputs.labels is not None and provenance.class_weight is not None:
        classes, codes = read_output_labels(given, n_rows)
        class_weight = weights_of_classes(provenance.class_weight, provenance.draws_bags)
        sample_weight = read_output_weights(sample_weight, class_weight, classes, codes)
    return fitted.output(0), given.columns[0], sample_weight


def _balanced_outputs(fitted: FittedForest, y: Any, n_rows: int) -> Ints32 | None:
    """Classes of all outputs, if each bag was balanced by them; None of one output."""
    if fitted.task.n_outputs == 1 or not fitted.provenance.balances_bags:
        return None
    given = split_outputs(y)
    return None if given is None else read_output_labels(given, n_rows)[1]


def known_bags(fitted: FittedForest, caller: str) -> Bags:
    """How the bags were drawn; raises if they cannot be drawn again."""
    if fitted.aggregation.adds_up:
        raise NoOutOfBagError(
            f"{caller} needs a forest whose trees have bags; got boosting, which has none. Pass "
            "rows that were not in the fit, as new ones (out_of_bag=False, or no y)."
        )
    bags = fitted.provenance.bags
    if bags is None or fitted.provenance.seed is None:
        raise ValueError(
            f"{caller} needs a forest whose bags can be drawn again; got trees chosen by "
            "prune_trees, or grown with other bags by warm_start, or over blocks of a scanned "
            "table. Ask the whole forest, after its last fit, or a forest of rows in memory."
        )
    return bags


def bags_that_leave_rows_out(fitted: FittedForest, caller: str) -> Bags:
    """Return how the bags were drawn; raises unless each tree has rows it has not seen."""
    tuned = fitted.provenance.tuned_out_of_bag
    if tuned:
        raise NoOutOfBagError(
            f"{caller} needs out-of-bag rows that no tree has learned from; got "
            f"{tuned}, which chose its penalties on them. Use "
            'Ridge(tune="gcv").'
        )
    bags = known_bags(fitted, caller)
    check_leaves_rows_out(bags)
    return bags


def _reread_weights(fitted: FittedForest, sample_weight: Any, target: Target) -> Weighting:
    """Weights of the rows of an earlier fit, given again."""
    classes, provenance = fitted.classes, fitted.provenance
    if classes is None:
        return Weighting(read_weights(sample_weight, None, None, len(target)))
    weights = read_weights(
        sample_weight,
        weights_of_classes(provenance.class_weight, provenance.draws_bags),
        classes[target],
        len(target),
    )
    return Weighting(weights, target.astype(np.int32) if provenance.balances_bags else None)


def find_training_rows(
    fitted: FittedForest,
    bags: Bags,
    X: npt.NDArray[np.float32],
    target: Array,
    weights: Floats | None = None,
) -> TrainingRows:
    """Training rows with their bags; raises if these are not the rows the forest was grown on.

    Parameters
    ----------
    fitted : FittedForest
        Trees 0, 1, ... of the seed.
    bags : Bags
        How the bags were drawn.
    X : ndarray of float32
        Rows encoded as for prediction.
    target : ndarray
        Target: classes as int32, or numbers as float64.
    weights : ndarray of float64, default=None
        Weights of the rows, as far as they are known; None if all are one.
    """
    if len(X) != bags.n_rows:
        raise _other_rows(f"the {bags.n_rows} training rows", f"{len(X)} rows")
    _recognise(fitted, bags, X, target, weights)
    return TrainingRows(X, target, bags.rows_out(fitted.forest.n_trees, weights), bags)


def survival_rows_of(
    fitted: FittedForest,
    X: npt.NDArray[np.float32],
    target: SurvivalTarget,
    caller: str,
    weights: Floats | None = None,
) -> TrainingRows:
    """Return the rows of a survival forest with their times; raises if they differ."""
    bags, task = known_bags(fitted, caller), survival_task(fitted, caller)
    found = find_training_rows(fitted, bags, X, task.numbers_of(target), weights)
    return replace(found, target=target.time)


def _recognise(
    fitted: FittedForest,
    bags: Bags,
    X: npt.NDArray[np.float32],
    target: Array,
    weights: Floats | None,
) -> None:
    """Check that every leaf of the first and the last tree holds rows of the bag that fit it.

    Single rows are not checked: they may have had weight zero. Where constraints bound the leaves,
    every leaf has to hold some row.
    """
    for number in {0, fitted.forest.n_trees - 1}:
        tree = take_trees(fitted.forest, [number])
        bag = np.flatnonzero(bags.leaf_counts(number, weights))
        leaf = PackedPredictor(tree).leaves(np.ascontiguousarray(X[bag]), 1)[:, 0]
        if fitted.provenance.bounds_leaves:
            same = bool(np.isin(np.flatnonzero(tree.right < 0), leaf).all())
        else:
            same = fitted.task.agrees(tree, leaf, target[bag])
        if not same:
            raise _other_rows("the rows of the fit", "rows that do not fall into the same leaves")


def _other_rows(required: str, got: str) -> ValueError:
    return ValueError(
        f"X and y must be {required}, in the order of the fit, because bags are drawn again by row "
        f"number; got {got}. Pass the X and y that the forest was fitted on."
    )


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Out-of-bag predictions.

    Attributes
    ----------
    predictions : ndarray of shape (n_rows, n_classes), or (n_rows, 1) in regression
        Class probabilities or values; NaN for rows that were in every bag.
    known : ndarray of bool, shape (n_rows,)
        Rows that were out of at least one bag.
    """

    predictions: Floats
    known: npt.NDArray[np.bool_]

    def warn_of_unknown(self) -> None:
        """Warn if some rows were in every bag."""
        if not self.known.all():
            warnings.warn(
                f"Some inputs do not have OOB scores ({np.count_nonzero(~self.known)} of "
                f"{len(self.known)} rows). This probably means too few trees were used to compute "
                "any reliable OOB estimates. Their estimates are NaN; grow more trees.",
                UserWarning,
                stacklevel=3,
            )

    def score(
        self,
        metric: Callable[[npt.NDArray[Any], npt.NDArray[Any]], float],
        y_true: npt.NDArray[Any],
        decide: Callable[[Floats], npt.NDArray[Any]],
    ) -> float:
        """Score of the known rows, NaN without any; `decide` turns predictions into targets."""
        if not self.known.any():
            return float("nan")
        decided = [decide(block.predictions[block.known]) for _, block in self.blocks()]
        return float(metric(y_true[self.known], np.concatenate(decided)))

    def blocks(self) -> Iterator[tuple[slice, OutOfBag]]:
        """Out-of-bag predictions of consecutive rows, block by block, as `row_blocks` cuts them."""
        for rows in row_blocks(len(self.known), self.predictions.shape[1]):
            yield rows, OutOfBag(self.predictions[rows], self.known[rows])


def predict_out_of_bag(
    fitted: FittedForest,
    X: Float32s | SparseColumns,
    n_threads: int,
    weights: Floats | None = None,
    rows: tuple[int, int] | None = None,
) -> OutOfBag:
    """Predict the training rows of a forest out of bag.

    Parameters
    ----------
    fitted : FittedForest
        The forest, whose bags are drawn again from their seed.
    X : ndarray of float32 or SparseColumns
        Its training rows, encoded.
    n_threads : int
        Threads to use.
    weights : ndarray of float64, default=None
        Weights of the training rows; None when all are one.
    rows : tuple of int, default=None
        First row to predict, and one past the last; None for all rows.
    """
    first, last = (0, len(X)) if rows is None else rows
    predictions = np.empty((last - first, _width(fitted)))
    known = np.empty(last - first, dtype=bool)
    for block, estimates in out_of_bag_blocks(fitted, X, n_threads, weights, rows):
        predictions[block] = estimates.predictions
        known[block] = estimates.known
    return OutOfBag(predictions, known)


def out_of_bag_blocks(
    fitted: FittedForest,
    X: Float32s | SparseColumns,
    n_threads: int,
    weights: Floats | None = None,
    rows: tuple[int, int] | None = None,
) -> Iterator[tuple[slice, OutOfBag]]:
    """What `predict_out_of_bag` returns, as consecutive rows that are predicted one by one.

    The slices count from the first of the rows.
    """
    options = known_bags(fitted, "An out-of-bag estimate").native_options()
    view = fitted.packed_predictor.view
    first, last = (0, len(X)) if rows is None else rows
    blocks = row_blocks(last - first, _width(fitted))
    bags = None
    if len(blocks) > 1 or isinstance(X, SparseColumns):  # drawn once, not for every block
        bags = _core.draw_bags(options, len(X), 0, fitted.forest.n_trees, weights, n_threads)
    how = (options, 0, fitted.aggregation.hard, n_threads, None, weights)

    def predict(some: Float32s, rows: tuple[int, int] | None, n_rows: int | None) -> Any:
        return view.out_of_bag(some, *how, rows, bags, n_rows)

    for block in blocks:
        chosen = (first + block.start, first + block.stop)
        sums, n_trees = sums_of_rows(predict, X, chosen)
        known = n_trees > 0
        sums[~known] = np.nan
        np.divide(sums, n_trees[:, None], out=sums, where=known[:, None])
        yield block, OutOfBag(fitted.aggregation.calibrate(sums), known)


def _width(fitted: FittedForest) -> int:
    """Numbers that are predicted for each row."""
    return max(1, fitted.forest.n_classes or len(fitted.forest.output_classes))
