"""Scores of predictions with confidence intervals over the choice of the rows.

The intervals are of 95 % and derived from the rows: each row's influence on the score gives its
standard error. They do not include the variation between training sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score, r2_score, roc_auc_score

from bevel._types import AnyInts, Floats
from bevel.analysis.accuracy.evaluation_rows import TWO_SIDED_5_PERCENT, wilson_interval

__all__ = [
    "Estimate",
    "as_json",
    "auc_with_influence",
    "chance_error",
    "classification_scores",
    "cohen_kappa",
    "error_rate",
    "kappa_estimate",
    "log_loss",
    "mean_estimate",
    "paired_share_estimate",
    "regression_scores",
    "roc_auc",
    "row_log_losses",
    "share_estimate",
    "zero_probability_note",
]

# Metrics of predictions: error, Cohen's kappa, area under the ROC curve, log loss.
#
# A metric that is not defined on the given rows is NaN.

ROUNDING = 1e-12


def error_rate(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of wrong labels."""
    return float(np.mean(np.asarray(y_true) != np.asarray(y_pred)))


def chance_error(y: ArrayLike) -> float:
    """Error of always predicting the most frequent label: 1 − the largest class share."""
    _, counts = np.unique(np.asarray(y), return_counts=True)
    return float(1.0 - counts.max() / counts.sum())


def cohen_kappa(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Cohen's kappa: agreement beyond that of labels with the same shares drawn independently.

    NaN when both sides hold a single common label: agreement by chance is then complete.
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if len(np.union1d(truth, predicted)) < 2:
        return float("nan")
    kappa = float(cohen_kappa_score(truth, predicted))
    return kappa if abs(kappa) > ROUNDING else 0.0  # constant predictions have kappa 0


def roc_auc(y_true: ArrayLike, probabilities: ArrayLike, classes: ArrayLike) -> float:
    """Area under the ROC curve; with three or more classes the mean of one against the rest.

    Parameters
    ----------
    y_true : array-like, shape (n_rows,)
    probabilities : array-like, shape (n_rows, n_classes)
        Probabilities in the order of `classes`.
    classes : array-like, shape (n_classes,)

    Returns
    -------
    float
        Area; classes that no row has, or all rows have, are left out. NaN when none is left.
    """
    truth, shares, labels = np.asarray(y_true), np.asarray(probabilities), np.asarray(classes)
    if len(labels) == 2:
        return _area(truth == labels[1], shares[:, 1])
    areas = [_area(truth == label, shares[:, k]) for k, label in enumerate(labels)]
    defined = [area for area in areas if not np.isnan(area)]
    return float(np.mean(defined)) if defined else float("nan")


def _area(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> float:
    """Area of one class against the rest; NaN where all rows, or none, are of the class."""
    if positive.all() or not positive.any():
        return float("nan")
    return float(roc_auc_score(positive, score))


def log_loss(y_true: ArrayLike, probabilities: ArrayLike, classes: ArrayLike) -> float:
    """Mean of −log p(true label), p kept off zero by the resolution of float64.

    A label that is not among `classes` has probability zero.
    """
    truth, shares, labels = np.asarray(y_true), np.asarray(probabilities), np.asarray(classes)
    given = np.zeros(len(truth))
    for k, label in enumerate(labels):
        given = np.where(truth == label, shares[:, k], given)
    return float(np.mean(row_log_losses(given)))


def row_log_losses(given: NDArray[np.float64]) -> NDArray[np.float64]:
    """−log p of each row, where p is the predicted probability of its true label."""
    floor = np.finfo(np.float64).eps
    losses: NDArray[np.float64] = -np.log(np.clip(given, floor, 1.0))
    return losses


MAX_BRIER = 2.0  # for three classes or more; for two it is 1


@dataclass(frozen=True)
class Estimate:
    """A value and the interval around it."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def share_estimate(n_hits: int, n_rows: int) -> Estimate:
    """A share with Wilson's interval, which is sensible for few rows and shares near 0 and 1."""
    low, high = wilson_interval(n_hits, n_rows)
    return Estimate(n_hits / n_rows, float(low), float(high))


def mean_estimate(values: Floats) -> Estimate:
    """A mean with its normal interval."""
    mean = float(np.mean(values))
    return _around(mean, values - mean)


def paired_share_estimate(difference: Floats) -> Estimate:
    """Mean of differences of paired zeros and ones, with the interval of Bonett and Price.

    One more row is counted on either side, so that few or no differing pairs do not give an
    interval of zero width.
    """
    n = len(difference)
    more, fewer = (np.count_nonzero(difference == side) + 1 for side in (1, -1))
    centre = (more - fewer) / (n + 2)
    spread = np.sqrt(((more + fewer) / (n + 2) - centre**2) / (n + 2))
    half = float(TWO_SIDED_5_PERCENT * spread)
    return Estimate(float(np.mean(difference)), centre - half, centre + half)


def classification_scores(codes: AnyInts, probabilities: Floats) -> dict[str, Estimate]:
    """Error, Cohen's kappa, area under the ROC curve (mean of one against the rest), log loss and
    Brier score, as scikit-learn defines them; scores that are not defined on the rows are left out.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        Positions of the true classes.
    probabilities : ndarray of shape (n_rows, n_classes)
        Predicted probabilities, without NaN.
    """
    predicted = probabilities.argmax(axis=1)
    truth = np.eye(probabilities.shape[1])[codes]
    scores = {"error": share_estimate(int(np.count_nonzero(predicted != codes)), len(codes))}
    kappa = kappa_estimate(codes, predicted, probabilities.shape[1])
    if kappa is not None:
        scores["Cohen's kappa"] = kappa
    areas = [
        auc_with_influence(truth[:, k] == 1.0, probabilities[:, k])
        for k in range(probabilities.shape[1])
        if 0 < truth[:, k].sum() < len(codes)
    ]
    if areas:
        scores["AUC"] = _area_estimate(areas, int(np.bincount(codes).min()))
    given = probabilities[np.arange(len(codes)), codes]
    scores["log loss"] = _clipped(mean_estimate(row_log_losses(given)), 0.0, np.inf)
    brier = row_brier_scores(probabilities, truth)
    scores["Brier score"] = _clipped(mean_estimate(brier), 0.0, MAX_BRIER)
    return scores


def zero_probability_note(codes: AnyInts, probabilities: Floats) -> str:
    """A sentence on log loss if some true classes have probability zero, which dominate it.

    Out of bag this is more frequent than on new rows, which all trees predict.
    """
    count = int(np.count_nonzero(probabilities[np.arange(len(codes)), codes] == 0.0))
    if count == 0:
        return ""
    rows = "1 row whose" if count == 1 else f"{count:,} rows whose"
    each, per_row = ("costs", "") if count == 1 else ("cost", " each")
    loss = float(row_log_losses(np.zeros(1))[0])
    share = count * loss / len(codes)
    return (
        f"{rows} true class got no vote {each} {loss:.0f} of log loss{per_row}, {share:.2g} of the "
        "mean."
    )


def row_brier_scores(probabilities: Floats, truth: Floats) -> Floats:
    """Contribution of each row to scikit-learn's Brier score: squared differences, summed over
    the classes; for two classes, whose differences are equal, one counts."""
    squared = np.asarray((probabilities - truth) ** 2, dtype=np.float64)
    return squared[:, 1] if squared.shape[1] == 2 else squared.sum(axis=1)


def kappa_estimate(codes: AnyInts, predicted: AnyInts, n_classes: int) -> Estimate | None:
    """Cohen's kappa, κ = (p_o − p_e) / (1 − p_e), with the interval of Fleiss, Cohen and Everitt.

    p_o is the share of rows on which truth and prediction agree, p_e the share on which labels
    drawn independently from the shares of both would. None if both hold a single common label.
    Without a wrong row there is no spread: then Wilson's interval of the error is divided by the
    chance error 1 − p_e.
    """
    n_rows = len(codes)
    of_truth, of_predicted = (np.bincount(each, minlength=n_classes) for each in (codes, predicted))
    right = codes == predicted
    kappa = cohen_kappa(codes, predicted)
    if np.isnan(kappa):
        return None
    chance = 1.0 - int(of_truth @ of_predicted) / n_rows**2  # 1 − p_e
    if right.all():
        return Estimate(1.0, 1.0 - share_estimate(0, n_rows).high / chance, 1.0)
    # Derivatives of p_o and p_e by the weight of a row, combined by the quotient rule.
    of_agreement = right - right.mean()
    of_chance = (of_predicted[codes] + of_truth[predicted]) / n_rows - 2.0 * (1.0 - chance)
    influence = (of_agreement - (1.0 - kappa) * of_chance) / chance
    return _clipped(_around(kappa, np.where(np.abs(influence) < 1e-12, 0.0, influence)), -1.0, 1.0)


def _area_estimate(areas: Sequence[tuple[float, Floats]], n_rarest: int) -> Estimate:
    """Mean of areas; perfect ones have no spread, so the size of the rarest class is used."""
    value = float(np.mean([area for area, _ in areas]))
    influence = np.mean([each for _, each in areas], axis=0)
    if not influence.any():
        return share_estimate(round(value * max(1, n_rarest)), max(1, n_rarest))
    return _clipped(_around(value, influence), 0.0, 1.0)


def auc_with_influence(positive: npt.NDArray[np.bool_], score: Floats) -> tuple[float, Floats]:
    """Area under the ROC curve and each row's influence on it (DeLong's placements)."""
    n, n_positive = len(score), int(positive.sum())
    n_negative = n - n_positive
    ranks = rankdata(score)
    placement = np.empty(n)
    placement[positive] = (ranks[positive] - rankdata(score[positive])) / n_negative
    placement[~positive] = 1.0 - (ranks[~positive] - rankdata(score[~positive])) / n_positive
    area = float(roc_auc_score(positive, score))
    weight = np.where(positive, n / n_positive, n / n_negative)
    return area, (placement - area) * weight


def regression_scores(y: Floats, predicted: Floats) -> dict[str, Estimate]:
    """R², root mean squared error and mean absolute error."""
    squared = (y - predicted) ** 2
    spread = (y - y.mean()) ** 2
    mse, variance = float(squared.mean()), float(spread.mean())
    ratio = mse / variance
    of_r2 = (ratio * (spread - variance) - (squared - mse)) / variance
    of_mse = mean_estimate(squared)
    root = [float(np.sqrt(max(0.0, each))) for each in (mse, of_mse.low, of_mse.high)]
    return {
        "R²": _around(float(r2_score(y, predicted)), of_r2),
        "root mean squared error": Estimate(*root),
        "mean absolute error": mean_estimate(np.abs(y - predicted)),
    }


def as_json(scores: Mapping[str, Estimate]) -> dict[str, dict[str, float]]:
    """Scores as plain values."""
    return {name: each.as_dict() for name, each in scores.items()}


def _around(value: float, influence: Floats) -> Estimate:
    half = TWO_SIDED_5_PERCENT * float(np.sqrt(np.sum(influence**2))) / len(influence)
    return Estimate(value, value - half, value + half)


def _clipped(estimate: Estimate, low: float, high: float) -> Estimate:
    return Estimate(estimate.value, max(low, estimate.low), min(high, estimate.high))
