"""Survival curves from the weights that a forest gives its training rows (Lin and Jeon 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bevel._types import Floats
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.neighbours.proximity import forest_weights
from bevel.data.survival import SurvivalTarget, read_survival
from bevel.forest.survival import BLOCK_BYTES, read_times, survival_task

__all__ = ["neighbour_survival"]


def neighbour_survival(
    forest: Any,
    X_train: Any,
    y_train: Any,
    X: Any = None,
    *,
    times: Any = None,
    sample_weight: Any = None,
) -> Floats:
    """Survival curve of each row: one Kaplan-Meier curve of the weighted training rows.

    `forest_weights` are the weights of the training rows, as adaptive neighbours of a row.
    `predict_survival_function` averages the curves of the leaves; this is the curve of
    all of them together, which is more stable in the tails, where leaves have few rows at risk.

    Parameters
    ----------
    forest : ObliqueSurvivalForest
        A fitted survival forest.
    X_train, y_train : array-like
        The rows of the fit with their times and events, in the order of the fit.
    X : array-like of shape (n_rows, n_features), default=None
        Rows to predict. None: the training rows, each by the trees whose bags it is out of.
    times : array-like of ascending times, default=None
        Times of the curves; None for the event times of the fit.
    sample_weight : array-like of shape (n_train,), default=None
        Weights of the training rows, if the fit had any.

    Returns
    -------
    ndarray of shape (n_rows, n_times)
        Probabilities of being without an event; NaN for a training row that was in every bag.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> analysis.neighbour_survival(forest, X[:200], y[:200], X[200:202], times=[0.5, 1.0]).round(2)
    array([[0.48, 0.3 ],
           [0.25, 0.1 ]])
    """
    analysed = read_forest(forest, "neighbour_survival")
    record = survival_task(analysed.fitted, "neighbour_survival")
    grid = read_times(times, record)
    weights = forest_weights(forest, X_train, y_train, X, sample_weight=sample_weight)
    target = read_survival(y_train, weights.shape[1], competing=record.n_causes > 1)
    out = np.empty((weights.shape[0], len(grid)))
    step = max(1, BLOCK_BYTES // (8 * weights.shape[1]))
    for first in range(0, len(out), step):
        out[first : first + step] = _weighted_curves(weights[first : first + step], target, grid)
    return out


def _weighted_curves(weights: sp.csr_matrix, target: SurvivalTarget, grid: Floats) -> Floats:
    order = target.time.argsort(kind="stable")
    time, event = target.time[order], target.event[order]
    weight = weights.toarray()[:, order]
    from_row = weight[:, ::-1].cumsum(axis=1)[:, ::-1]  # weight of a row and those after it
    at_risk = from_row[:, np.searchsorted(time, target.event_times, side="left")]
    if target.entry is not None:  # minus those whose entry is at a time or after it
        by_entry = target.entry.argsort(kind="stable")
        late = weights.toarray()[:, by_entry][:, ::-1].cumsum(axis=1)[:, ::-1]
        late = np.concatenate((late, np.zeros((len(late), 1))), axis=1)
        first = np.searchsorted(target.entry[by_entry], target.event_times, side="left")
        at_risk = at_risk - late[:, first]
    place = np.searchsorted(target.event_times, time[event])
    first = np.flatnonzero(np.diff(place, prepend=-1))
    deaths = np.add.reduceat(weight[:, event], first, axis=1)
    tiny = 1e-12  # rounding error of empty sums
    share = np.divide(deaths, at_risk, out=np.zeros(deaths.shape), where=at_risk > tiny)
    curve = np.cumprod(1.0 - np.minimum(share, 1.0), axis=1)
    curve = np.concatenate((np.ones((len(curve), 1)), curve), axis=1)
    values: Floats = curve[:, np.searchsorted(target.event_times, grid, side="right")]
    values[weight.sum(axis=1) == 0.0] = np.nan
    return values
