"""The curves that a survival forest predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints32
from bevel.errors import wrong_value
from bevel.estimators._reading import encode_rows
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.survival.curves import (
    StepFunction,
    curves,
    median_times,
    read_times,
    survival_record,
)
from bevel.training.threads import count_threads


class PredictsCurves:
    """The methods of a survival forest that predict curves."""

    n_jobs: int | None
    _fitted: FittedForest

    def predict_survival_function(
        self, X: Any, times: Any = None, return_array: bool = False
    ) -> npt.NDArray[Any]:
        """Survival curve of each row: the mean over the trees of its leaves' Kaplan–Meier curves.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        times : array-like of ascending times, default=None
            Times to evaluate the curves at; None for `event_times_`, at which they jump. A curve is
            constant after the last event of the training rows.
        return_array : bool, default=False
            Whether to return numbers instead of functions.

        Returns
        -------
        ndarray
            Array of shape (n_rows,) with a `StepFunction` for each row, as in scikit-survival, or
            of shape (n_rows, n_times). As there, a function raises for times outside its `domain`:
            from 0 to the last time of the training rows, or from the first to the last of `times`.
        """
        return self._predict_curves(X, times, "survival", return_array)

    def predict_cumulative_hazard_function(
        self, X: Any, times: Any = None, return_array: bool = False
    ) -> npt.NDArray[Any]:
        """Cumulative hazard of each row: the mean over the trees of Nelson–Aalen in its leaves.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        times : array-like of ascending times, default=None
            Times to evaluate the curves at; None for `event_times_`, at which they jump. A curve is
            constant after the last event of the training rows.
        return_array : bool, default=False
            Whether to return numbers instead of functions.

        Returns
        -------
        ndarray
            Array of shape (n_rows,) with a `StepFunction` for each row, as in scikit-survival, or
            of shape (n_rows, n_times). As there, a function raises for times outside its `domain`:
            from 0 to the last time of the training rows, or from the first to the last of `times`.
        """
        return self._predict_curves(X, times, "hazard", return_array)

    def predict_cumulative_incidence_function(
        self, X: Any, cause: int, times: Any = None, return_array: bool = False
    ) -> npt.NDArray[Any]:
        """Probability of an event of one cause up to each time: the mean of its leaves' curves.

        Events of other causes compete: a row that had one can no longer have this one (Aalen and
        Johansen 1978). The incidences of all causes and the survival curve add up to one.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        cause : int
            Number of the cause, from 1 to `n_causes_`.
        times : array-like of ascending times, default=None
            Times to evaluate the curves at; None for `event_times_`, at which they jump.
        return_array : bool, default=False
            Whether to return numbers instead of functions.

        Returns
        -------
        ndarray
            Array of shape (n_rows,), with a `StepFunction` for each row; or of shape (n_rows,
            n_times). A function raises for times outside its `domain`: from 0 to the last time of
            the training rows, or from the first to the last of `times`.
        """
        n_causes = survival_record(self._fitted, "A curve").n_causes
        is_number = isinstance(cause, int | np.integer) and not isinstance(cause, bool)
        if not (is_number and 1 <= cause <= n_causes):
            remedy = "Fit with competing_risks=True to tell causes apart."
            raise wrong_value("cause", f"a whole number from 1 to {n_causes}", cause, remedy)
        return self._predict_curves(X, times, "incidence", return_array, int(cause) - 1)

    def predict_median(self, X: Any) -> Floats:
        """Median survival time of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            First time at which the survival curve is at most one half; infinite where it never is.
        """
        return self.predict_quantile(X, 0.5)

    def predict_quantile(self, X: Any, q: float) -> Floats:
        """Time by which a share q of rows like each row has had the event.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Rows to predict.
        q : float
            Share, above 0 and below 1; 0.5 is the median.

        Returns
        -------
        ndarray of shape (n_rows,)
            First time at which the survival curve is at most 1 - q; infinite where it never is.
        """
        if not (isinstance(q, float | np.floating) and 0.0 < q < 1.0):
            raise wrong_value("q", "a number above 0 and below 1", q, "Use 0.5 for the median.")
        leaves = self._leaves(X)
        return median_times(self._fitted, leaves, count_threads(self.n_jobs), 1.0 - float(q))

    def _leaves(self, X: Any) -> Ints32:
        rows = encode_rows(self, X)
        return self._fitted.predictor.leaves(rows, count_threads(self.n_jobs))

    def _predict_curves(
        self, X: Any, times: Any, kind: str, return_array: bool, cause: int = 0
    ) -> npt.NDArray[Any]:
        leaves = self._leaves(X)
        record = survival_record(self._fitted, "A curve")
        grid = read_times(times, record)
        n_threads = count_threads(self.n_jobs)
        values = curves(self._fitted, leaves, grid, kind, n_threads, cause)
        if return_array:
            return values
        before = 1.0 if kind == "survival" else 0.0
        functions = np.empty(len(values), dtype=object)
        domain = (0.0, record.last_time) if times is None else (float(grid[0]), float(grid[-1]))
        functions[:] = [StepFunction(grid, curve, before, domain) for curve in values]
        return functions
