"""Metrics of predictions: error, Cohen's kappa, area under the ROC curve, log loss.

A metric that is not defined on the given rows is NaN.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import cohen_kappa_score, roc_auc_score

__all__ = ["chance_error", "cohen_kappa", "error_rate", "log_loss", "roc_auc", "row_log_losses"]

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
