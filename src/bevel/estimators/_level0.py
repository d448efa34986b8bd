"""A model of level 0: one view of some rows, learned from them and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from bevel._types import Float32s, Floats, Ints32
from bevel.data.dataset import Encoding
from bevel.estimators._folds import stratified_folds
from bevel.estimators._learners import CodedClassifier, fit_classifier, make_learner, takes_codes
from bevel.training.rotation import rotated_view

# Of the search for settings, when there are no out-of-bag rows.
SEARCH_FOLDS = 5

Setting = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows to learn from, with all that is learned of them before a model is fitted.

    Attributes
    ----------
    X : ndarray of float32
        The rows to learn from, scaled by themselves alone.
    codes, weights
        Their classes and weights.
    encoding : Encoding
        How they were read.
    held_out : ndarray of float32
        Rows that the models predict, read in the same way; none when all are learned from.
    """

    X: Float32s
    codes: Ints32
    weights: Floats | None
    encoding: Encoding
    held_out: Float32s


@dataclass(frozen=True, eq=False)
class Level0:
    """The learner of level 0 and the settings it chooses from."""

    prototype: Any
    settings: Sequence[Setting]
    n_classes: int

    def fit(
        self, part: LearningRows, rotation: Floats | None, seed: int
    ) -> tuple[CodedClassifier, Setting]:
        """A model of a view of the rows of a part, and the setting it has chosen."""
        X = self._view(part.X, part, rotation)
        setting = self._choose(X, part, seed)
        learner = self._learner(setting, part, seed)
        return fit_classifier(learner, X, part.codes, part.weights), setting

    def predict(
        self, model: CodedClassifier, part: LearningRows, rotation: Floats | None
    ) -> Floats:
        """Prediction of a model of a part for the rows held out from it."""
        view = self._view(part.held_out, part, rotation)
        return model.probabilities(view, self.n_classes)

    def _view(self, X: Float32s, part: LearningRows, rotation: Floats | None) -> Float32s:
        return rotated_view(X, part.encoding, rotation, codes=takes_codes(self.prototype))

    def _learner(self, setting: Setting, part: LearningRows, seed: int) -> Any:
        return make_learner(self.prototype, seed, part.encoding).set_params(**setting)

    def _choose(self, X: Float32s, part: LearningRows, seed: int) -> Setting:
        """The most accurate setting on the part's own rows (Blaser 3.4.1), of equal ones the first.

        Predictions for rows of the part come from models that have not seen them: trees whose bag
        they were out of, or models of the other folds of the part.
        """
        if len(self.settings) == 1 or len(np.unique(part.codes)) == 1:
            return self.settings[0]
        scores = [self._score(setting, X, part, seed) for setting in self.settings]
        return self.settings[int(np.argmax(scores))]

    def _score(self, setting: Setting, X: Float32s, part: LearningRows, seed: int) -> float:
        learner = self._learner(setting, part, seed)
        if _has_out_of_bag(learner):
            learner.set_params(oob_score=learner.get_params()["oob_score"] or True)
            fitted = fit_classifier(learner, X, part.codes, part.weights).model
            return float(fitted.oob_score_)
        hits = np.empty(len(X))
        weights = part.weights
        for train, test in stratified_folds(part.codes, min(SEARCH_FOLDS, len(X)), seed):
            some = None if weights is None else weights[train]
            learner = self._learner(setting, part, seed)
            model = fit_classifier(learner, X[train], part.codes[train], some)
            hits[test] = model.classes(X[test]) == part.codes[test]
        return float(np.average(hits, weights=weights))


def read_settings(param_grid: Any) -> list[Setting]:
    """The settings of a grid; a single one that changes nothing if there is no grid."""
    return [{}] if param_grid is None else list(ParameterGrid(param_grid))


def _has_out_of_bag(learner: Any) -> bool:
    parameters = learner.get_params(deep=False)
    return "oob_score" in parameters and bool(parameters.get("bootstrap", True))
