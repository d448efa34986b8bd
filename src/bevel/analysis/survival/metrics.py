"""Scores of survival predictions, with inverse probability of censoring weights (IPCW).

Definitions are those of scikit-survival, so that scores can be compared: the censoring
distribution is the Kaplan-Meier curve of the censoring times of `y_train`. Rows that enter late are
also weighted by the probability of having entered.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bevel._types import Bools, Floats
from bevel.data.survival import SurvivalTarget, read_survival
from bevel.errors import wrong_value
from bevel.forest.survival import StepFunction, concordance

__all__ = [
    "brier_score",
    "concordance_index",
    "dynamic_auc",
    "end_of_weights",
    "integrated_brier_score",
    "kaplan_meier",
]


def concordance_index(y: Any, risk: Any) -> float:
    """Harrell's concordance: share of pairs in which the earlier event has the higher risk.

    Parameters
    ----------
    y : structured array, tuple of two arrays, or data frame
        Times and events, as in `ObliqueSurvivalForest.fit`.
    risk : array-like of shape (n,)
        Predicted risks, such as those of `predict`.

    Returns
    -------
    float
        Share of the comparable pairs, ties counted half; NaN without a comparable pair.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> round(analysis.concordance_index(y[200:], forest.predict(X[200:])), 2)
    0.78
    """
    values = _read_predictions("risk", risk)
    return concordance(read_survival(y, len(values)), values)


def kaplan_meier(y: Any, weights: Any = None) -> StepFunction:
    """Kaplan-Meier estimate of the survival curve of some rows.

    Parameters
    ----------
    y : structured array, tuple of two arrays, or data frame
        Times and events.
    weights : array-like of shape (n,), default=None
        Weights of the rows; None weighs all equally.

    Returns
    -------
    StepFunction
        Share of rows without an event up to a time, as a function of the time. It is constant after
        the last time.

    Examples
    --------
    >>> from bevel.analysis import kaplan_meier
    >>> curve = kaplan_meier(([1.0, 2.0, 3.0, 4.0], [True, False, True, True]))
    >>> curve([0.5, 1.0, 3.5])
    array([1.   , 0.75 , 0.375])
    """
    target = read_survival(y, None)
    weight = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
    return StepFunction(*_product_limit(target, weight), 1.0)


def _product_limit(target: SurvivalTarget, weight: Floats) -> tuple[Floats, Floats]:
    times, place = np.unique(target.time, return_inverse=True)
    deaths = np.bincount(place, weight * target.event, len(times))
    leaving = np.bincount(place, weight, len(times)).astype(np.float64)
    at_risk = _at_risk(target, weight, times, leaving)
    share = np.divide(deaths, at_risk, out=np.zeros(len(times)), where=at_risk > 0.0)
    curve: Floats = np.cumprod(1.0 - share, dtype=np.float64)
    return times, curve


def _at_risk(target: SurvivalTarget, weight: Floats, times: Floats, leaving: Floats) -> Floats:
    """Weight of the rows at risk at each of the distinct times."""
    at_risk: Floats = leaving[::-1].cumsum()[::-1]
    if target.entry is not None:  # rows whose entry is at a time or after it
        later = np.searchsorted(times, target.entry, side="right")
        at_risk = at_risk - np.bincount(later, weight, len(times) + 1)[:0:-1].cumsum()[::-1]
    return at_risk


class ObservationProbability:
    """Probability that rows are seen: not censored before a time, and entered before it.

    Rows seen from the start have the probability G(t) of not being censored before t, for which the
    product-limit estimate is used. A row that enters at random is seen at t with probability
    P(entry < t <= censoring), given that it is seen at all. The share of rows at risk is that times
    S(t-), so that it is estimated by (rows at risk) / (rows * S(t-)), with the product-limit
    estimate of S. Without late rows that is G(t-). The weights of all rows that count at a time add
    up to their number.
    """

    def __init__(self, train: SurvivalTarget, target: SurvivalTarget) -> None:
        self._late = target.entry is not None
        ones = np.ones(len(train))
        if self._late:
            if train.entry is None:
                raise ValueError(
                    "y has rows that enter late, and y_train none, so that the chance of having "
                    "entered cannot be estimated. Pass y_train with entries, or without y_train."
                )
            times, curve = _product_limit(train, ones)
            self._curve = StepFunction(times, curve, 1.0)
            self._times, self._entries = np.sort(train.time), np.sort(train.entry)
            return
        times, place = np.unique(train.time, return_inverse=True)
        events = np.bincount(place, train.event, len(times))
        leaving = np.bincount(place, minlength=len(times)).astype(np.float64)
        # Events come before censoring at the same time.
        at_risk = _at_risk(train, ones, times, leaving) - events
        lost = leaving - events
        share = np.divide(lost, at_risk, out=np.zeros(len(times)), where=at_risk > 0.0)
        self._curve = StepFunction(times, np.cumprod(1.0 - share, dtype=np.float64), 1.0)

    def _n_at_risk(self, times: Floats, side: Literal["left", "right"]) -> Floats:
        """Rows of y_train at risk at some times ("left") or just after them ("right")."""
        entered = np.searchsorted(self._entries, times, side)
        return (entered - np.searchsorted(self._times, times, side)).astype(np.float64)

    @property
    def end(self) -> float:
        """Time at which all late rows so far have had their event, though others enter later."""
        gone = self._curve.x[self._curve.y == 0.0][:1]
        if len(gone) == 0:
            return float("inf")
        others = gone[0] < self._entries[-1] or self._n_at_risk(gone, "right")[0] > 0.0
        return float(gone[0]) if others else float("inf")

    def check_times(self, grid: Floats) -> None:
        """Raise for times at which late rows have no weights."""
        if not self._late:
            return
        start = self._entries[0]
        if grid[0] < start:
            raise ValueError(
                f"times must not be before the first entry of y_train, {start:g}, when no row is "
                f"seen; got {grid[0]:g}. Leave out earlier times."
            )
        if grid[-1] >= self.end:
            raise ValueError(
                f"times must be below {self.end:g} for these late rows: all that had entered by "
                "then have had their event, so that survival is estimated as 0, though others are "
                f"seen later; got {grid[-1]:g}. Leave out later times, or use concordance_index."
            )

    def at_event(self, target: SurvivalTarget) -> Floats:
        """1 / P(seen at the event) for rows with an event, 0 for others."""
        if self._late:
            scaled = self._n_at_risk(target.time, "left") / len(self._times)
            place = np.searchsorted(self._curve.x, target.time, side="left")
            before = np.concatenate(([1.0], self._curve.y))[place]
        else:
            before, scaled = np.ones(len(target)), self._curve(target.time)
        good = target.event & (scaled > 0.0)
        weight: Floats = np.divide(before, scaled, out=np.zeros(len(target)), where=good)
        return weight

    def after(self, grid: Floats) -> Floats:
        """P(seen) for rows without an event up to each time; infinite if none is seen."""
        if not self._late:
            chance = self._curve(grid)
            return np.where(chance > 0.0, chance, np.inf)
        at_risk, survival = self._n_at_risk(grid, "right"), self._curve(grid)
        good = (at_risk > 0.0) & (survival > 0.0)
        found = np.full(len(grid), np.inf)
        np.divide(at_risk, len(self._times) * survival, out=found, where=good)
        return found


def end_of_weights(target: SurvivalTarget) -> float:
    """Time from which late rows have no weights; infinite if there is none."""
    return float("inf") if target.entry is None else ObservationProbability(target, target).end


def _without_event(target: SurvivalTarget, time: float) -> Bools:
    """Rows that are seen without an event just after a time."""
    later: Bools = target.time > time
    return later if target.entry is None else later & (target.entry <= time)


def brier_score(y: Any, survival: Any, times: Any, y_train: Any = None) -> Floats:
    """Brier score at each time: mean squared difference of survival and its prediction.

    Rows are weighted by 1 / P(seen), which corrects for those that are censored, and for those that
    were never seen because they would have entered after their event. It assumes that entry and
    censoring are independent of the event time and the features.

    Parameters
    ----------
    y : structured array, tuple of two arrays, or data frame
        Times and events of the rows, with entries if they enter late.
    survival : array-like of shape (n_rows, n_times)
        Predicted probabilities of being without an event at each time, such as
        `predict_survival_function(X, times, return_array=True)`.
    times : array-like of ascending times
        Times to evaluate, within the times of y.
    y_train : as y, default=None
        Rows from which censoring and entry are estimated; None takes y.

    Returns
    -------
    ndarray of shape (n_times,)
        Scores from 0 to 1, 0.25 for a prediction of one half.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> times = [0.5, 1.0, 1.5]
    >>> survival = forest.predict_survival_function(X[200:], times, return_array=True)
    >>> analysis.brier_score(y[200:], survival, times, y_train=y[:200]).round(2)
    array([0.18, 0.16, 0.16])
    """
    target, grid = read_survival(y, None), _read_grid(times)
    predicted = _read_predictions("survival", survival)
    if predicted.shape != (len(target), len(grid)):
        required = f"of shape ({len(target)}, {len(grid)}), rows and times"
        raise wrong_value("survival", required, predicted.shape, "Predict at these times.")
    seen = ObservationProbability(
        target if y_train is None else read_survival(y_train, None), target
    )
    seen.check_times(grid)
    weight, chance = seen.at_event(target), seen.after(grid)
    scores = np.empty(len(grid))
    for k, time in enumerate(grid):
        died = (target.time <= time) & target.event
        square = predicted[:, k] ** 2 * (weight * died)
        alive = _without_event(target, time) / chance[k]
        scores[k] = np.mean(square + (1.0 - predicted[:, k]) ** 2 * alive)
    return scores


def integrated_brier_score(y: Any, survival: Any, times: Any, y_train: Any = None) -> float:
    """Mean of the Brier score over time.

    Parameters
    ----------
    y, survival, times, y_train
        Parameters as in `brier_score`; two times or more.

    Returns
    -------
    float
        Integral by the trapezoidal rule, divided by the time between first and last.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> times = [0.5, 1.0, 1.5]
    >>> survival = forest.predict_survival_function(X[200:], times, return_array=True)
    >>> round(analysis.integrated_brier_score(y[200:], survival, times, y_train=y[:200]), 3)
    0.166
    """
    grid = _read_grid(times)
    if len(grid) < 2:
        raise wrong_value("times", "two or more", len(grid), "Pass a grid of times.")
    scores = brier_score(y, survival, grid, y_train)
    steps = np.diff(grid)
    return float(((scores[1:] + scores[:-1]) / 2.0 * steps).sum() / steps.sum())


def dynamic_auc(y: Any, risk: Any, times: Any, y_train: Any = None) -> Floats:
    """Area under the ROC curve at each time: rows with an event by then against rows without.

    Weights correct for censored and late rows, as in `brier_score`.

    Parameters
    ----------
    y : structured array, tuple of two arrays, or data frame
        Times and events of the rows.
    risk : array-like of shape (n_rows,) or (n_rows, n_times)
        Predicted risks, the same for all times or one for each.
    times : array-like of ascending times
        Times to evaluate, within the times of y.
    y_train : as y, default=None
        Rows from which the censoring is estimated; None takes y.

    Returns
    -------
    ndarray of shape (n_times,)
        Areas; NaN at times before the first event or after the last row.

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> risk = forest.predict(X[200:])
    >>> analysis.dynamic_auc(y[200:], risk, [0.5, 1.0], y_train=y[:200]).round(2)
    array([0.83, 0.85])
    """
    target, grid = read_survival(y, None), _read_grid(times)
    risks = _read_predictions("risk", risk)
    if risks.ndim == 1:
        risks = np.broadcast_to(risks[:, None], (len(risks), len(grid)))
    if risks.shape != (len(target), len(grid)):
        required = f"of shape ({len(target)},) or ({len(target)}, {len(grid)})"
        raise wrong_value("risk", required, risks.shape, "Predict the rows of y.")
    seen = ObservationProbability(
        target if y_train is None else read_survival(y_train, None), target
    )
    seen.check_times(grid)
    weight = seen.at_event(target)
    return np.array(
        [
            _area(target.event & (target.time <= t), _without_event(target, t), risks[:, k], weight)
            for k, t in enumerate(grid)
        ]
    )


def _area(case: Bools, control: Bools, risk: Floats, weight: Floats) -> float:
    """Weighted share of pairs of a case and a control in which the case has the higher risk."""
    others = np.sort(risk[control])
    total = weight[case].sum() * len(others)
    if not total > 0.0:
        return float("nan")
    below = np.searchsorted(others, risk[case], side="left")
    tied = np.searchsorted(others, risk[case], side="right") - below
    return float((weight[case] * (below + 0.5 * tied)).sum() / total)


def _read_grid(times: Any) -> Floats:
    grid = np.atleast_1d(np.asarray(times, dtype=np.float64))
    good = grid.ndim == 1 and len(grid) > 0 and np.isfinite(grid).all() and (grid > 0.0).all()
    if not good or not (np.diff(grid) > 0.0).all():
        required = "ascending times above 0"
        raise wrong_value("times", required, times, "Sort them with np.unique(times).")
    return grid


def _read_predictions(name: str, values: Any) -> npt.NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2) or not np.isfinite(array).all():
        required = "finite numbers, one row for each of y"
        raise wrong_value(name, required, values, "Leave out rows without a prediction.")
    return array
