"""Models of level 0, each fitted to one view of some rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import ParameterGrid

from bevel._types import AnyFloats, Float32s, Floats
from bevel.data.encoding import Encoding
from bevel.estimators._folds import stratified_folds
from bevel.estimators._learners import (
    CodedClassifier,
    fit_classifier,
    fit_regressor,
    make_learner,
    takes_codes,
)
from bevel.training.rotation import rotated_view

# Folds of the search for settings, when there are no out-of-bag rows.
SEARCH_FOLDS = 5

Setting = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows to learn from, with their encoding.

    Attributes
    ----------
    X : ndarray of float32
        The rows to learn from, scaled by themselves alone.
    target, weights
        Class numbers or values of the rows, and their weights.
    encoding : Encoding
        Encoding of the rows.
    held_out : ndarray of float32
        Rows that the models predict, encoded in the same way; empty when all are learned from.
    """

    X: Float32s
    target: npt.NDArray[Any]
    weights: Floats | None
    encoding: Encoding
    held_out: Float32s


@dataclass(frozen=True)
class Output:
    """Output of a model, which is the input of the next stage.

    Attributes
    ----------
    n_classes : int
        Number of classes; 0 in regression, where the output is the predicted value.
    labels : bool
        Whether the output is an indicator of the predicted class instead of probabilities.
    """

    n_classes: int
    labels: bool

    @property
    def width(self) -> int:
        """Number of values for each row."""
        return max(self.n_classes, 1)

    def of(self, model: Any, view: AnyFloats) -> Floats:
        """Output of a fitted model for some rows, of shape (n_rows, width)."""
        if not self.n_classes:
            return np.asarray(model.predict(view), dtype=np.float64).reshape(len(view), 1)
        if self.labels:
            chosen: Floats = np.eye(self.n_classes)[model.classes(view)]
            return chosen
        shares: Floats = model.probabilities(view, self.n_classes)
        return shares

    def columns(self, passed: Floats) -> Floats:
        """Input of the next stage: all views side by side, and only one column for two classes."""
        chosen = passed[:, :, 1:] if self.n_classes == 2 else passed
        n_rows, n_views, width = chosen.shape
        return np.ascontiguousarray(chosen.reshape(n_rows, n_views * width))


def fit_model(
    learner: Any, X: AnyFloats, target: npt.NDArray[Any], weights: Floats | None, output: Output
) -> Any:
    """Fit a classifier to class numbers, or a regressor."""
    fit = fit_classifier if output.n_classes else fit_regressor
    return fit(learner, X, target, weights)


@dataclass(frozen=True, eq=False)
class Level0:
    """The learner of level 0 and the settings it chooses from."""

    prototype: Any
    settings: Sequence[Setting]
    output: Output

    def fit(self, part: LearningRows, rotation: Floats | None, seed: int) -> tuple[Any, Setting]:
        """Fit a model to a view of the rows of a part, and return it with the chosen setting."""
        X = self._view(part.X, part, rotation)
        setting = self._choose(X, part, seed)
        learner = self._learner(setting, part, seed)
        return fit_model(learner, X, part.target, part.weights, self.output), setting

    def predict(self, model: Any, part: LearningRows, rotation: Floats | None) -> Floats:
        """Output of a model for the rows held out from its part."""
        return self.output.of(model, self._view(part.held_out, part, rotation))

    def _view(self, X: Float32s, part: LearningRows, rotation: Floats | None) -> Float32s:
        return rotated_view(X, part.encoding, rotation, codes=takes_codes(self.prototype))

    def _learner(self, setting: Setting, part: LearningRows, seed: int) -> Any:
        return make_learner(self.prototype, seed, part.encoding).set_params(**setting)

    def _choose(self, X: Float32s, part: LearningRows, seed: int) -> Setting:
        """The most accurate setting on the part's own rows (Blaser 3.4.1); ties go to the first.

        Predictions for rows of the part come from models that have not seen them: trees whose bag
        they were out of, or models of the other folds of the part.
        """
        if len(self.settings) == 1 or len(np.unique(part.target)) == 1:
            return self.settings[0]
        scores = [self._score(setting, X, part, seed) for setting in self.settings]
        return self.settings[int(np.argmax(scores))]

    def _score(self, setting: Setting, X: Float32s, part: LearningRows, seed: int) -> float:
        learner = self._learner(setting, part, seed)
        if _has_out_of_bag(learner):
            learner.set_params(oob_score=learner.get_params()["oob_score"] or True)
            fitted = fit_model(learner, X, part.target, part.weights, self.output)
            bare = fitted.model if isinstance(fitted, CodedClassifier) else fitted
            return float(bare.oob_score_)
        hits = np.empty(len(X))
        weights = part.weights
        of_classes = part.target if self.output.n_classes else np.zeros(len(X), np.int32)
        for train, test in stratified_folds(of_classes, min(SEARCH_FOLDS, len(X)), seed):
            some = None if weights is None else weights[train]
            learner = self._learner(setting, part, seed)
            model = fit_model(learner, X[train], part.target[train], some, self.output)
            if self.output.n_classes:
                hits[test] = model.classes(X[test]) == part.target[test]
            else:
                hits[test] = -((self.output.of(model, X[test])[:, 0] - part.target[test]) ** 2)
        return float(np.average(hits, weights=weights))


def read_settings(param_grid: Any) -> list[Setting]:
    """The settings of a grid; a single one that changes nothing if there is no grid."""
    return [{}] if param_grid is None else list(ParameterGrid(param_grid))


def _has_out_of_bag(learner: Any) -> bool:
    parameters = learner.get_params(deep=False)
    return "oob_score" in parameters and bool(parameters.get("bootstrap", True))
