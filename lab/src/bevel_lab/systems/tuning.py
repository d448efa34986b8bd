"""A system whose settings are chosen on the training rows, as its paper chooses them."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel_lab.systems.base import Grid, System, Task

__all__ = ["Tuned", "inner_folds"]


class Tuned:
    """Tries a grid of settings, then fits the best of them; of equal ones the first.

    Parameters
    ----------
    system : System
    grid : Grid
    task : Task
    setting : mapping
        What is not tuned.
    tuning_trees : int, default=None
        Trees while tuning, for systems that have trees; None: as many as in the end.
    """

    def __init__(
        self,
        system: System,
        grid: Grid,
        task: Task,
        setting: Mapping[str, Any],
        tuning_trees: int | None = None,
    ) -> None:
        self.system = system
        self.task = task
        self.setting = dict(setting)
        self.grid = grid
        fewer = {"n_trees": tuning_trees} if tuning_trees and system.has_trees else {}
        self.tuning_setting = {**self.setting, **fewer}

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "Tuned":
        """Choose, then fit on all rows; ``details_`` has what was tried and chosen."""
        start = time.perf_counter()
        tried = list(self.grid.settings(self.task))
        error_of = self._out_of_bag if self.grid.by == "oob" else self._cross_validated
        errors = [error_of(setting, X, y) for setting in tried]
        best = int(np.argmin(errors))
        self.details_ = {
            "chosen": dict(tried[best]),
            "tried": [
                {"setting": dict(setting), "error": error}
                for setting, error in zip(tried, errors, strict=True)
            ],
            "tuned_by": self.grid.by,
            "seconds_tuning": time.perf_counter() - start,
        }
        self.model_: Any = self._make(self.task, {**self.setting, **tried[best]}).fit(X, y)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Prediction of the chosen one."""
        predicted: NDArray[Any] = self.model_.predict(X)
        return predicted

    def __getattr__(self, name: str) -> Any:
        """All else is the chosen one's: predict_proba if it has that, classes_, forest_."""
        if name == "model_":  # not fitted yet
            raise AttributeError(name)
        return getattr(self.model_, name)

    def _make(self, task: Task, setting: Mapping[str, Any]) -> Any:
        return self.system.make(task, **setting)

    def _out_of_bag(self, setting: Mapping[str, Any], X: NDArray[Any], y: NDArray[Any]) -> float:
        """Out-of-bag error; in regression the share of variance that is left."""
        model = self._make(self.task, {**self.tuning_setting, **setting, "oob_score": True})
        return 1.0 - float(model.fit(X, y).oob_score_)

    def _cross_validated(
        self, setting: Mapping[str, Any], X: NDArray[Any], y: NDArray[Any]
    ) -> float:
        """Error, or mean squared error, over all rows, each predicted once."""
        loss = np.empty(len(y))
        n_folds = min(self.grid.n_folds, len(y))
        if not self.task.is_regression:  # some class has a row for each fold
            n_folds = max(2, min(n_folds, int(np.unique(y, return_counts=True)[1].max())))
        for train, test in inner_folds(self.task, n_folds).split(X, y):
            classes, codes = np.unique(y[train], return_inverse=True)
            inner = replace(self.task, n_train=len(train))
            if self.task.is_regression:
                model = self._make(inner, {**self.tuning_setting, **setting})
                loss[test] = (model.fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2
            else:
                inner = replace(inner, n_classes=len(classes))
                model = self._make(inner, {**self.tuning_setting, **setting})
                predicted = model.fit(X[train], codes).predict(X[test])
                loss[test] = classes[np.asarray(predicted).astype(np.intp)] != y[test]
        return float(loss.mean())


def inner_folds(task: Task, n_folds: int) -> Any:
    """Folds for choices inside a fit, shuffled by the seed of the cell."""
    from sklearn.model_selection import KFold, StratifiedKFold

    make = KFold if task.is_regression else StratifiedKFold
    return make(n_folds, shuffle=True, random_state=task.random_state)
