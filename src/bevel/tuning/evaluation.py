"""Evaluates candidates by the loss of their out-of-bag predictions.

The loss is that of `projection="auto"` when it compares families: the Brier score, or the squared
error. Rows count by their weights.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.row_weights import read_weights, weights_of_classes
from bevel.data.target import read_labels, read_numbers
from bevel.data.weighted_mean import mean_and_noise
from bevel.estimators import ObliqueForestClassifier
from bevel.estimators._reading import encode_rows
from bevel.projections.families import TableShape
from bevel.training.automatic.weights import measure, row_losses

__all__ = ["Evaluation", "Problem", "RowLosses", "read_problem"]


@dataclass(frozen=True)
class Evaluation:
    """Losses of a candidate in a round.

    Attributes
    ----------
    n_trees : int
        Number of trees of the candidate.
    loss, standard_error : float
        Mean out-of-bag loss, and its standard error.
    error : float
        Share of wrong rows, or mean loss of the criterion.
    difference, difference_error : float
        Loss minus that of the first candidate with as many trees, on the same rows, and the
        standard error of this difference.
    seconds : float
        Time to grow and evaluate it in this round.
    """

    n_trees: int
    loss: float
    standard_error: float
    error: float
    difference: float
    difference_error: float
    seconds: float


@dataclass(frozen=True, eq=False)
class RowLosses:
    """Loss of each row; NaN for rows that are never out of bag or have no weight."""

    values: Floats

    def less(self, other: RowLosses, weights: Floats | None) -> tuple[float, float]:
        """Mean difference from other losses on the rows that both have, and its standard error."""
        each = self.values - other.values
        known = ~np.isnan(each)
        share = np.ones(len(each)) if weights is None else weights
        share = share[known] / share[known].sum()
        mean, noise = mean_and_noise(each[known], share)
        return float(mean), float(noise)


@dataclass(frozen=True, eq=False)
class Problem:
    """Targets and weights for the evaluation of candidates.

    Attributes
    ----------
    truth : ndarray of shape (n_rows,)
        Classes as numbers, or targets.
    n_classes : int
        Number of classes, 0 in regression.
    weights : ndarray or None
        Weights of the rows, including class weights.
    shape : TableShape
        Size of the table.
    fingerprint : str
        Digest of the table, the target and the weights.
    criterion : str
        Criterion of the estimator; in regression it is the loss that candidates are compared by.
    """

    truth: npt.NDArray[Any]
    n_classes: int
    weights: Floats | None
    shape: TableShape
    fingerprint: str
    criterion: str = "squared_error"

    def losses(self, forest: Any) -> tuple[RowLosses, float, float, float]:
        """Loss of each row, their mean, its standard error, and the error of a fitted forest."""
        if self.n_classes:
            predictions = forest.oob_decision_function_
        else:
            predictions = forest.oob_prediction_[:, None]
        known = ~np.isnan(predictions).any(axis=1)
        if self.weights is not None:
            known &= self.weights > 0.0
        if not known.any():
            raise ValueError(
                "Tuning needs rows out of the bags; got none: every row was in all of them. Raise "
                "`first_trees`, or draw smaller bags with max_samples."
            )
        criterion = self.criterion
        rows = (self.truth, self.n_classes, self.weights)
        found = measure([predictions], known, *rows, criterion=criterion)
        values = np.full(len(known), np.nan)
        each = row_losses(predictions[known], self.truth[known], self.n_classes, criterion)
        values[known] = each
        return RowLosses(values), float(found.losses[0]), found.noise, float(found.errors[0])


def read_problem(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """Read and check the training rows as the estimator will.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        Estimator that defines nominal columns and class weights.
    X, y, sample_weight
        Training rows as in its `fit`.
    """
    # A stump reads the table, and raises the errors of a fit.
    stump = type(estimator)(
        1,
        projection="axis",
        criterion=estimator.criterion,
        max_depth=1,
        categorical_features=estimator.categorical_features,
        n_jobs=estimator.n_jobs,
        random_state=0,
    ).fit(X, y, sample_weight)
    encoding = stump.fitted_forest_.encoding
    rows = encode_rows(stump, X)
    n_rows, n_nominal = len(rows), int(np.count_nonzero(encoding.levels))
    truth: npt.NDArray[Any]
    if isinstance(estimator, ObliqueForestClassifier):
        classes, truth = read_labels(y, n_rows)
        of_classes = weights_of_classes(estimator.class_weight, draws_bags=True)
        weights = read_weights(sample_weight, of_classes, classes[truth], n_rows)
        labels = list(classes)
    else:
        truth, labels = read_numbers(y, n_rows), []
        weights = read_weights(sample_weight, None, None, n_rows)
    levels = [list(each.labels) for each in encoding.nominal.values()]
    described = [rows.shape, encoding.levels.tolist(), levels, labels]
    print_ = _digest(repr(described).encode(), rows, truth, weights)
    shape = TableShape(n_rows, rows.shape[1] - n_nominal, n_nominal)
    return Problem(truth, len(labels), weights, shape, print_, estimator.criterion)


def _digest(text: bytes, *arrays: npt.NDArray[Any] | None) -> str:
    digest = hashlib.sha256(text)
    for array in arrays:
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
