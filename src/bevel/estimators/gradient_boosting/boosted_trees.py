"""Methods of boosting estimators that read the fitted trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.estimators._grown import FEW_ROWS, GrownTrees
from bevel.estimators._memory import explained
from bevel.estimators._reading import encode_rows
from bevel.forest.additive import Additive, AdditiveRowPredictor, add_some_trees, add_trees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.importance import gain_importances
from bevel.forest.predictor import NumberTooLargeError
from bevel.forest.records.boosting_record import BoostingRecord
from bevel.training.threads import count_threads

__all__ = ["BoostedTrees"]


class BoostedTrees(GrownTrees):
    """The methods of a fitted boosting estimator that read its trees."""

    @property
    def n_iter_(self) -> int:
        """Number of iterations in the model."""
        fitted = self.fitted_forest_
        return int(fitted.forest.n_trees // _additive(fitted).n_outputs)

    @property
    def train_score_(self) -> Floats:
        """Minus the mean loss on the training rows, after each iteration."""
        return np.array(_record(self.fitted_forest_).training_score)

    @property
    def validation_score_(self) -> Floats:
        """Minus the mean loss on the validation rows; empty if there were none."""
        return np.array(_record(self.fitted_forest_).validation_score)

    @property
    def baseline_prediction_(self) -> Floats:
        """Initial values of the outputs, before the first tree."""
        return np.array(_additive(self.fitted_forest_).baseline)

    @property
    def predictor_(self) -> AdditiveRowPredictor:  # type: ignore[override]
        """The trees for servers: no checks, any thread; see `AdditiveRowPredictor`."""
        self.verify()
        fitted = self.fitted_forest_
        return AdditiveRowPredictor(
            fitted.packed_predictor, fitted.encoding.reading, _additive(fitted)
        )

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits, summing to one."""
        return gain_importances(self.forest_, normalised=False)

    def _raw(self, X: Any) -> Floats:
        """Sums of the trees of each row and output."""
        try:
            return self._sums(X)
        except MemoryError as error:
            told = explained(error, "A prediction", self, X)
            if told is error:
                raise
            raise told from error

    def _sums(self, X: Any) -> Floats:
        if self._is_plain(X):
            fitted = self._fitted
            n_threads = 1 if len(X) < FEW_ROWS else count_threads(self.n_jobs)
            predictor, reading = fitted.packed_predictor, fitted.encoding.reading
            try:
                return add_trees(predictor, _additive(fitted), X, n_threads, reading)
            except NumberTooLargeError:
                pass  # the slower conversion raises an error that names the row and column
        rows = encode_rows(self, X)
        fitted = self._fitted
        n_threads = count_threads(self.n_jobs)
        return add_trees(fitted.packed_predictor, _additive(fitted), rows, n_threads)

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """Sums of the trees of each row and output, after each iteration."""
        rows = encode_rows(self, X)
        fitted, n_threads = self._fitted, count_threads(self.n_jobs)
        additive, predictor = _additive(fitted), fitted.packed_predictor
        out = np.tile(np.asarray(additive.baseline), (len(rows), 1))
        step = additive.n_outputs
        for first in range(0, fitted.forest.n_trees, step):
            add_some_trees(predictor, rows, range(first, first + step), n_threads, out)
            yield out.copy()


def _additive(fitted: FittedForest) -> Additive:
    assert fitted.additive is not None
    return fitted.additive


def _record(fitted: FittedForest) -> BoostingRecord:
    record = _additive(fitted).record
    if record is None:
        raise AttributeError(
            "The learning curve needs a model that was saved by Bevel 0.2 or later, or fitted "
            "here; got one from an older file. Fit it again."
        )
    return record
