"""Predictions of the training rows by the trees whose bags they are out of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Floats
from bevel.forest.calibration import raise_to_power
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.row_blocks import row_blocks
from bevel.forest.training_rows import known_bags

__all__ = ["OutOfBag", "out_of_bag_blocks", "predict_out_of_bag"]


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
        """The same as consecutive rows, none of them many values; see `row_blocks`."""
        for rows in row_blocks(len(self.known), self.predictions.shape[1]):
            yield rows, OutOfBag(self.predictions[rows], self.known[rows])


def predict_out_of_bag(
    fitted: FittedForest,
    X: npt.NDArray[np.float32],
    n_threads: int,
    weights: Floats | None = None,
    rows: tuple[int, int] | None = None,
) -> OutOfBag:
    """Predict the training rows of a forest out of bag.

    Parameters
    ----------
    fitted : FittedForest
        The forest, whose bags are drawn again from their seed.
    X : ndarray of float32
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
    X: npt.NDArray[np.float32],
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
    if len(blocks) > 1:  # drawn once, not for every block
        bags = _core.draw_bags(options, len(X), 0, fitted.forest.n_trees, weights, n_threads)
    for block in blocks:
        chosen = (first + block.start, first + block.stop)
        sums, n_trees = view.out_of_bag(
            X, options, 0, fitted.hard, n_threads, None, weights, chosen, bags
        )
        known = n_trees > 0
        sums[~known] = np.nan
        np.divide(sums, n_trees[:, None], out=sums, where=known[:, None])
        yield block, OutOfBag(raise_to_power(sums, fitted.power), known)


def _width(fitted: FittedForest) -> int:
    """Numbers that are predicted for each row."""
    return max(1, fitted.forest.n_classes or len(fitted.forest.output_classes))
