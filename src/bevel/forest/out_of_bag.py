"""Predictions of the training rows by the trees whose bags they are out of."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.forest.calibration import raise_to_power
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.training_rows import known_bags

__all__ = ["OutOfBag", "predict_out_of_bag"]


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
        return float(metric(y_true[self.known], decide(self.predictions[self.known])))


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
    options = known_bags(fitted, "An out-of-bag estimate").native_options()
    view = fitted.packed_predictor.view
    sums, n_trees = view.out_of_bag(X, options, 0, fitted.hard, n_threads, None, weights, rows)
    known = n_trees > 0
    predictions = np.full(sums.shape, np.nan)
    predictions[known] = sums[known] / n_trees[known, None]
    return OutOfBag(raise_to_power(predictions, fitted.power), known)
