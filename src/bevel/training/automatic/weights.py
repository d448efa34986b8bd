"""Weights of families: out-of-bag losses in units of the noise of those losses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from bevel._types import Floats, Ints64
from bevel.data.weighted_mean import mean_and_noise, weighted_mean
from bevel.forest.calibration import POWERS, raise_to_power
from bevel.forest.predictor import most_probable_classes
from bevel.forest.row_blocks import row_blocks

__all__ = [
    "Evidence",
    "RowsOfFamily",
    "brier_scores",
    "count_trees",
    "losses_of_best_power",
    "measure",
    "measure_blocks",
    "row_losses",
    "weigh_families",
]

# Predictions of one family by consecutive blocks of rows.
RowsOfFamily = Iterable[tuple[slice, Floats]]

# How fast weights fall: a family that is one standard error worse than the best counts e^−DECAY of
# it. Chosen on data sets (docs/design/automatic_families.md).
DECAY = 2.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Out-of-bag results of families on the same rows.

    Attributes
    ----------
    errors : ndarray of shape (n_families,)
        Share of wrong rows, or mean loss of the criterion; NaN without rows that all families
        predict.
    standard_errors : ndarray of shape (n_families,)
        Standard errors of `errors`.
    losses : ndarray of shape (n_families,)
        Mean Brier score, calibrated if that was requested, or mean loss of the criterion; the
        weights follow from it.
    noise : float
        Standard error of the loss of the best family.
    """

    errors: Floats
    standard_errors: Floats
    losses: Floats
    noise: float


def measure(
    predictions: list[Floats],
    known: npt.NDArray[np.bool_],
    truth: npt.NDArray[Any],
    n_classes: int,
    weights: Floats | None,
    *,
    calibrated: bool = False,
    criterion: str = "squared_error",
    output_classes: npt.NDArray[np.int32] | None = None,
) -> Evidence:
    """Evidence from out-of-bag predictions.

    Parameters
    ----------
    predictions : list of ndarray of shape (n_rows, n_classes), or (n_rows, 1) in regression
        Out-of-bag predictions of each family.
    known : ndarray of bool
        Rows that every family predicts out of bag.
    truth : ndarray
        Classes as numbers, or targets.
    n_classes : int
        Number of classes, 0 in regression.
    weights : ndarray or None
        Weights of the rows.
    calibrated : bool, default=False
        Whether Brier scores are of class shares raised to the power that suits each family best.
    criterion : str, default="squared_error"
        Criterion of the trees; in regression it is also the loss.
    output_classes : ndarray of int32 or None
        Classes of each of several outputs, 0 in regression. Errors and losses are then means over
        the outputs, squared errors after division by the variance of the output.
    """
    return measure_blocks(
        [_as_blocks(each) for each in predictions],
        *(known, truth, n_classes, weights),
        calibrated=calibrated,
        criterion=criterion,
        output_classes=output_classes,
    )


def _as_blocks(predictions: Floats) -> RowsOfFamily:
    for rows in row_blocks(*predictions.shape):
        yield rows, predictions[rows]


def measure_blocks(
    predictions: Sequence[RowsOfFamily],
    known: npt.NDArray[np.bool_],
    truth: npt.NDArray[Any],
    n_classes: int,
    weights: Floats | None,
    *,
    calibrated: bool = False,
    criterion: str = "squared_error",
    output_classes: npt.NDArray[np.int32] | None = None,
) -> Evidence:
    """What `measure` returns, of predictions that come in blocks of rows, family by family."""
    n_families = len(predictions)
    if not known.any():
        unknown = np.full(n_families, np.nan)
        return Evidence(unknown, unknown, unknown, np.nan)
    share = np.ones(np.count_nonzero(known)) if weights is None else weights[known]
    share = share / share.sum()
    variance = None
    if output_classes is not None and not output_classes.any():
        variance = _variance(truth[known], share)

    def of_rows(part: Floats, truth: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        if output_classes is not None:
            return _of_outputs(part, truth, output_classes, variance)
        if not n_classes:
            losses = row_losses(part, truth, n_classes, criterion)
            return losses, losses
        wrong = (part.argmax(axis=1) != truth).astype(np.float64)
        return brier_scores(part, truth) if calibrated else row_losses(
            part, truth, n_classes
        ), wrong

    wrong, losses = [], []
    for family in predictions:
        found = [of_rows(part[known[rows]], truth[rows][known[rows]]) for rows, part in family]
        loss = np.concatenate([each for each, _ in found], axis=-1)
        losses.append(losses_of_best_power(loss, share) if loss.ndim == 2 else loss)
        wrong.append(np.concatenate([each for _, each in found]))
    errors, standard_errors = mean_and_noise(np.array(wrong), share)
    means, noises = mean_and_noise(np.array(losses), share)
    return Evidence(errors, standard_errors, means, float(noises[means.argmin()]))


def _of_outputs(
    predictions: Floats,
    truth: npt.NDArray[Any],
    n_classes: npt.NDArray[np.int32],
    variance: Floats | None,
) -> tuple[Floats, Floats]:
    """Loss and error of each row, means over the outputs; variance: of them, in regression."""
    if variance is not None:
        squares = (predictions - truth) ** 2 / np.where(variance > 0.0, variance, 1.0)
        losses = squares.mean(axis=1)
        return losses, losses
    n_outputs = len(n_classes)
    decided = most_probable_classes(predictions, n_classes) + np.cumsum(n_classes) - n_classes
    right = np.take_along_axis(predictions, truth.astype(np.int64), axis=1).sum(axis=1)
    losses = 0.5 * ((predictions**2).sum(axis=1) - 2.0 * right + n_outputs) / n_outputs
    return losses, np.asarray((decided != truth).mean(axis=1))


def _variance(truth: npt.NDArray[Any], share: Floats) -> Floats:
    """Of each of several outputs, over rows of weights that sum to one."""
    centred = truth - weighted_mean(truth.T, share)
    return weighted_mean(centred.T**2, share)


def row_losses(
    predictions: Floats,
    truth: npt.NDArray[Any],
    n_classes: int,
    criterion: str = "squared_error",
) -> Floats:
    """Loss of each row: its Brier score, or in regression the loss of the criterion.

    The Brier score is half of the squared distance between the probabilities of a row and its
    class.
    """
    if not n_classes:
        return _number_losses(predictions[:, 0], truth, criterion)
    right = predictions[np.arange(len(truth)), truth]
    return np.asarray(0.5 * ((predictions**2).sum(axis=1) - 2.0 * right + 1.0))


def _number_losses(predictions: Floats, truth: Floats, criterion: str) -> Floats:
    if criterion == "absolute_error":
        return np.asarray(np.abs(predictions - truth))
    if criterion == "poisson":  # half of the deviance; all trees of a row may predict zero
        rates = np.maximum(predictions, np.finfo(np.float64).tiny)
        return np.asarray(xlogy(truth, truth / rates) - truth + predictions)
    return np.asarray((predictions - truth) ** 2)


def brier_scores(predictions: Floats, truth: npt.NDArray[Any]) -> Floats:
    """Brier score of each row (second axis) with each of the `POWERS` (first axis)."""
    n_classes = predictions.shape[1]
    return np.array(
        [
            row_losses(raise_to_power(np.array(predictions, order="C"), power), truth, n_classes)
            for power in POWERS
        ]
    )


def losses_of_best_power(losses: Floats, share: Floats) -> Floats:
    """Loss of each row with the power of least mean loss; see `brier_scores`.

    Trees of some families are more alike than those of others. Mean shares of unlike trees are
    further from 0 and 1, which costs them Brier score but no errors, and which the power of the
    whole forest corrects.
    """
    best = int(np.argmin([weighted_mean(loss, share) for loss in losses]))
    return np.asarray(losses[best])


def weigh_families(evidence: Evidence) -> Floats:
    """Weights of families, summing to one.

    exp(−DECAY · Δ/σ), where Δ is the excess loss of a family over the best one and σ is the noise
    of that loss. σ falls with the number of rows: with few rows the weights are nearly equal.
    """
    losses = evidence.losses
    if np.isnan(losses).any():
        return np.full(len(losses), 1.0 / len(losses))
    excess = losses - losses.min()
    # Without noise, as when every row is predicted exactly, equal losses still get equal weights.
    units = np.where(excess > 0.0, excess / max(evidence.noise, np.finfo(float).tiny), 0.0)
    weights = np.exp(-DECAY * np.minimum(units, 1e3))
    return np.asarray(weights / weights.sum())


def count_trees(weights: Floats, n_trees: int) -> Ints64:
    """Trees of each family: shares of `n_trees`, rounded so that they sum to it.

    Parts left over by rounding down go to the largest remainders, of equal ones to the first.
    """
    shares = np.asarray(weights) * n_trees
    counts = np.floor(shares + 1e-9).astype(np.int64)
    order = np.argsort(-(shares - counts), kind="stable")
    counts[order[: n_trees - int(counts.sum())]] += 1
    return counts
