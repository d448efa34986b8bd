"""Scorers of scikit-learn on the validation rows of boosting, called after each iteration."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from bevel._types import Floats
from bevel.errors import shorten, wrong_value
from bevel.forest.additive import Additive

__all__ = ["ValidationScorer", "read_scorer"]

Scorer = Callable[..., Any]


def read_scorer(scoring: Any, is_classifier: bool) -> Scorer | None:
    """Scorer of the parameter `scoring`; None if the loss decides.

    Parameters
    ----------
    scoring : str, callable or None
        Scoring as given to the estimator.
    is_classifier : bool
        Task, which selects the default scorer.
    """
    if isinstance(scoring, str) and scoring == "loss":
        return None
    if scoring is None:
        scoring = "accuracy" if is_classifier else "r2"
    try:
        scorer: Scorer = get_scorer(scoring)
    except ValueError:
        required = (
            '"loss", None, a scorer\'s name of sklearn.metrics.get_scorer_names() or a scorer'
        )
        remedy = 'Use for example scoring="roc_auc".'
        raise wrong_value("scoring", required, scoring, remedy) from None
    return scorer


def _takes_weights(scorer: Scorer) -> bool:
    """Whether a scorer has an argument `sample_weight`; assumed if it has no signature."""
    try:
        parameters = inspect.signature(scorer).parameters
    except (TypeError, ValueError):
        return True
    kinds = [each.kind for each in parameters.values()]
    return "sample_weight" in parameters or inspect.Parameter.VAR_KEYWORD in kinds


class _Predictions(BaseEstimator):  # type: ignore[misc]
    """Passed to a scorer as the fitted estimator; holds the predictions of some rows."""

    def __init__(self, rows: Any = None, additive: Additive | None = None) -> None:
        self.rows = rows
        self.additive = additive
        self.raw: Floats = np.empty((0, 1))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _link(self, X: Any) -> Additive:
        if X is not self.rows:
            raise ValueError(
                "scoring must ask for predictions of all the rows that it is given, and of no "
                f"others; got {shorten(X)}. Use a scorer of scikit-learn, or the loss."
            )
        assert self.additive is not None
        return self.additive


class _ClassPredictions(ClassifierMixin, _Predictions):  # type: ignore[misc]
    classes_: npt.NDArray[Any]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return np.asarray(self.classes_.take(self._link(X).classes(self.raw)))

    def predict_proba(self, X: Any) -> Floats:
        return self._link(X).probabilities(self.raw)

    def decision_function(self, X: Any) -> Floats:
        self._link(X)
        return self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw


class _ValuePredictions(RegressorMixin, _Predictions):  # type: ignore[misc]
    def predict(self, X: Any) -> Floats:
        return self._link(X).values(self.raw)


class ValidationScorer:
    """Scores the raw predictions of the validation rows during a fit.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``; with ``sample_weight`` too if it has such an argument.
    rows : object
        Validation rows, as the user has given them.
    truth : ndarray
        Their targets: labels or numbers.
    weights : ndarray or None
        Their weights; None if all are one.
    additive : Additive
        Baseline and link; only the link is used.
    classes : ndarray or None
        Labels of the classes; None in regression.
    """

    def __init__(
        self,
        scorer: Scorer,
        rows: Any,
        truth: npt.NDArray[Any],
        weights: Floats | None,
        additive: Additive,
        classes: npt.NDArray[Any] | None,
    ) -> None:
        self._scorer, self._rows, self._truth = scorer, rows, truth
        weighs = weights is not None and _takes_weights(scorer)
        self._given = {"sample_weight": weights} if weighs else {}
        self._model: Any
        if classes is None:
            self._model = _ValuePredictions(rows, additive)
        else:
            self._model = _ClassPredictions(rows, additive)
            self._model.classes_ = classes

    def __call__(self, raw: Floats) -> float:
        """Score of raw predictions, given output after output."""
        self._model.raw = np.ascontiguousarray(raw.reshape(-1, len(self._truth)).T)
        found = self._ask()
        try:
            score = float(found)
        except (TypeError, ValueError):
            score = math.nan
        if not math.isfinite(score):
            raise ValueError(
                f"scoring must return a finite number; got {shorten(found)}. Use another scorer, "
                "or more validation rows if it needs all classes."
            )
        return score

    def _ask(self) -> Any:
        try:
            return self._scorer(self._model, self._rows, self._truth, **self._given)
        except AttributeError as error:
            known = "predict"
            if isinstance(self._model, ClassifierMixin):
                known += ", predict_proba, decision_function and classes_"
            raise ValueError(
                f"scoring must need nothing of the model but {known}; got "
                f"{shorten(self._scorer)}, which needs more ({error}). Use a scorer for "
                "such models, or the loss."
            ) from error
