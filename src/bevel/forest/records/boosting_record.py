"""The record of a boosting fit: the learning curve, and residuals of the validation rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bevel._types import Floats

__all__ = ["BoostingRecord", "Calibration", "conformal_quantile"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Residuals of the validation rows, from which intervals follow.

    Attributes
    ----------
    residuals : ndarray of float64, shape (n_validation, 1 or 2)
        Target minus prediction over the prediction's spread; for models of several quantiles the
        lowest quantile minus the target, and the target minus the highest.
    weights : ndarray of float64, shape (n_validation,), or None
        Weights of the rows; None if all are one.
    power : float
        The spread is the prediction to this power: 0 for values, 0.5 for counts, 1 for positive
        numbers whose spread grows with them.
    """

    residuals: Floats
    weights: Floats | None
    power: float

    def spread(self, predictions: Floats) -> Floats:
        """Divisor of the residuals at each prediction."""
        return np.asarray(np.maximum(predictions, 1e-300) ** self.power)

    def around(self, predictions: Floats, coverage: float) -> Floats:
        """Interval around predictions of a mean or median, shape (n_rows, 2).

        Each end leaves out half of the remaining probability: residuals need not be symmetric.
        """
        tail = (1.0 + coverage) / 2.0
        upper = conformal_quantile(self.residuals[:, 0], self.weights, tail)
        lower = conformal_quantile(-self.residuals[:, 0], self.weights, tail)
        spread = self.spread(predictions)
        ends = np.column_stack([predictions - lower * spread, predictions + upper * spread])
        return np.maximum(ends, 0.0) if self.power else ends

    def between(self, lowest: Floats, highest: Floats, coverage: float) -> Floats:
        """Interval from the outer quantiles (Romano, Patterson, Candès 2019), shape (n_rows, 2)."""
        beyond = conformal_quantile(self.residuals.max(axis=1), self.weights, coverage)
        ends = np.column_stack([lowest - beyond, highest + beyond])
        # A negative correction may swap the ends of a narrow interval.
        middle = ends.mean(axis=1)
        ends[:, 0], ends[:, 1] = np.minimum(ends[:, 0], middle), np.maximum(ends[:, 1], middle)
        return ends


def conformal_quantile(scores: Floats, weights: Floats | None, share: float) -> float:
    """The smallest score that a new one does not exceed with probability `share`.

    The new row counts as one more row, whose score is infinite: with n equal weights this is the
    score of rank ceil(share * (n + 1)). Infinite if there are too few rows.

    Parameters
    ----------
    scores : ndarray of float64
        Scores of the validation rows.
    weights : ndarray of float64 or None
        Weights of the validation rows; the new row has the largest.
    share : float
        Probability between 0 and 1.
    """
    order = np.argsort(scores, kind="stable")
    own = np.ones(len(scores)) if weights is None else weights[order]
    total = own.sum() + own.max()
    # Rounding must not cost a rank.
    rank = int(np.searchsorted(np.cumsum(own), share * total * (1.0 - 1e-12)))
    return float(scores[order[rank]]) if rank < len(scores) else np.inf


@dataclass(frozen=True, eq=False)
class BoostingRecord:
    """Learning curve and validation residuals of a boosting fit.

    Attributes
    ----------
    training_score : ndarray of float64
        Minus the mean loss on the training rows, after each iteration.
    validation_score : ndarray of float64
        Minus the mean loss on the validation rows; empty if there were none.
    calibration : Calibration or None
        Residuals of a regressor that had validation rows.
    """

    training_score: Floats
    validation_score: Floats
    calibration: Calibration | None = None
