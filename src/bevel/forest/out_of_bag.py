"""Predictions of the training rows by the trees whose bags they are out of."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.dataset import Dataset
from bevel.forest.predictor import PackedPredictor
from bevel.training.options import TrainingOptions
from bevel.training.trainer import native_options

__all__ = ["OutOfBag", "predict_out_of_bag"]

Floats = npt.NDArray[np.float64]


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
    predictor: PackedPredictor,
    dataset: Dataset,
    options: TrainingOptions,
    n_threads: int,
    hard: bool = False,
    weights: Floats | None = None,
) -> OutOfBag:
    """Predict the training rows of a forest out of bag; warns if some were in every bag.

    Parameters
    ----------
    predictor : PackedPredictor
        The forest.
    dataset : Dataset
        Its training rows.
    options : TrainingOptions
        With which it was grown; the bags are drawn again from their seed.
    n_threads : int
        Threads to use.
    hard : bool, default=False
        Whether trees vote.
    weights : ndarray of float64, default=None
        Of the training rows; None when all are one.
    """
    native = native_options(options)
    sums, n_trees = predictor.view.out_of_bag(
        dataset.X, native, 0, hard, n_threads, weights=weights
    )
    known = n_trees > 0
    predictions = np.full(sums.shape, np.nan)
    predictions[known] = sums[known] / n_trees[known, None]
    if not known.all():
        warnings.warn(
            f"Some inputs do not have OOB scores ({np.count_nonzero(~known)} of {len(known)} "
            "rows). This probably means too few trees were used to compute any reliable OOB "
            "estimates. Their estimates are NaN; grow more trees.",
            UserWarning,
            stacklevel=2,
        )
    return OutOfBag(predictions, known)
