"""Runs one cell: makes the rows, fits, predicts and scores; an error becomes a failed result."""

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bevel.workflow.scores import chance_error, cohen_kappa, error_rate, log_loss, roc_auc
from bevel_lab.cells import FAILED, OK, SKIPPED, Cell, Result
from bevel_lab.protocols.base import Plan, Problem, Protocol
from bevel_lab.running.adapting import adapted
from bevel_lab.running.memory import MemoryRise
from bevel_lab.systems import SYSTEMS
from bevel_lab.systems.base import System, Task
from bevel_lab.systems.tuning import Tuned

__all__ = ["CellRunner", "failed"]

LONGEST_MESSAGE = 500
UNSEEN = -1  # code of a test label that training has not seen: always wrong


@dataclass
class CellRunner:
    """Runs the cells of a protocol, one at a time, in the process it lives in.

    Attributes
    ----------
    protocol : Protocol
    plan : Plan
    folder : path
        The run folder.
    keep_predictions : bool
        Whether the test predictions are written to files of the folder.
    interpreters : mapping of str to str
        For packages that live elsewhere: the interpreter that has them.
    """

    protocol: Protocol
    plan: Plan
    folder: Path
    keep_predictions: bool = False
    interpreters: Mapping[str, str] = field(default_factory=dict)
    _last: tuple[str, Problem] | None = field(default=None, repr=False)

    def run(self, cell: Cell, n_jobs: int) -> Result:
        """What comes of a cell; an error is a result, too."""
        try:
            return self._run(cell, n_jobs)
        except Exception as error:
            return failed(cell, f"{type(error).__name__}: {error}", n_jobs)

    def _run(self, cell: Cell, n_jobs: int) -> Result:
        system = SYSTEMS[cell.system]
        setting = self._setting(system, cell)
        n_jobs = setting.pop("n_jobs", n_jobs)
        problem = self._problem(cell)
        rows = Rows(adapted(problem, nominal=system.nominal, missing=system.missing))
        result = rows.describe(Result(cell, OK, n_jobs=n_jobs))
        task = rows.task(cell.seed, n_jobs)
        refusal = system.refuses(task)
        if refusal:
            return replace(result, status=SKIPPED, message=refusal)
        with threadpool_limits(n_jobs):  # of BLAS and OpenMP, which no n_jobs reaches
            return self._measure(result, rows, self._estimator(system, task, setting))

    def _measure(self, result: Result, rows: "Rows", estimator: Any) -> Result:
        memory = MemoryRise()
        seconds_fit, _ = _timed(lambda: estimator.fit(rows.X_train, rows.y_train))
        seconds_predict, predicted = _timed(lambda: estimator.predict(rows.X_test))
        memory_mb = memory.mb()
        if hasattr(estimator, "fit_seconds_"):  # in another interpreter: its own clock
            seconds_fit, seconds_predict = estimator.fit_seconds_, estimator.predict_seconds_
            memory_mb = float("nan")  # not ours to see
        predicted = np.asarray(predicted).ravel()
        shares = rows.shares(estimator)
        metrics = rows.metrics(estimator, predicted, shares)
        if self.protocol.measure is not None:
            metrics |= self.protocol.measure(estimator, rows.problem, result.cell)
        return replace(
            result,
            metrics=metrics,
            seconds_fit=seconds_fit,
            seconds_predict=seconds_predict,
            memory_mb=memory_mb,
            details=getattr(estimator, "details_", {}),
            predictions=self._keep(result.cell, rows, predicted, shares),
        )

    def _problem(self, cell: Cell) -> Problem:
        """The rows; those of the last cell when only the system has changed."""
        problem_cell = cell.problem
        if self._last is None or self._last[0] != problem_cell.key:
            self._last = None  # two large problems at once may be too many
            self._last = (problem_cell.key, self.protocol.load(problem_cell, self.plan))
        return self._last[1]

    def _setting(self, system: System, cell: Cell) -> dict[str, Any]:
        setting = dict(self.protocol.parameters(cell, self.plan))
        if self.plan.trees is not None:
            setting["n_trees"] = self.plan.trees
        if not system.has_trees:
            setting.pop("n_trees", None)
        python = self.interpreters.get(system.needs or "")
        if python is not None:
            setting["python"] = python
        return setting

    def _estimator(self, system: System, task: Task, setting: Mapping[str, Any]) -> Any:
        grid = self.protocol.grids_of(self.plan).get(system.name, system.tuning)
        if grid is not None and self.protocol.is_tuned(self.plan):
            fewer = self.plan.tuning_trees or self.protocol.tuning_trees
            return Tuned(system, grid, task, setting, fewer)
        return system.make(task, **setting)

    def _keep(
        self, cell: Cell, rows: "Rows", predicted: NDArray[Any], shares: NDArray[np.float64] | None
    ) -> str:
        """Write the test predictions to a file of the run folder; a whole one or none."""
        if not self.keep_predictions:
            return ""
        name = f"predictions/{hashlib.sha256(cell.key.encode()).hexdigest()[:20]}.npz"
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {"truth": rows.problem.y_test, "predicted": rows.labels(predicted)}
        if shares is not None:
            arrays |= {"probabilities": shares, "classes": rows.classes}
        unfinished = path.with_suffix(f".{os.getpid()}.tmp.npz")
        np.savez_compressed(unfinished, allow_pickle=False, **arrays)
        unfinished.replace(path)
        return name


class Rows:
    """The rows of a problem with labels as codes 0, 1, …, which every package takes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.is_regression = problem.task == "regression"
        self.X_train, self.X_test = problem.X_train, problem.X_test
        self.y_train, self.y_test = problem.y_train, problem.y_test
        self.classes: NDArray[Any] = np.empty(0)
        if not self.is_regression:
            self.classes, self.y_train = np.unique(problem.y_train, return_inverse=True)
            place = np.minimum(np.searchsorted(self.classes, problem.y_test), len(self.classes) - 1)
            self.y_test = np.where(self.classes[place] == problem.y_test, place, UNSEEN)

    def task(self, seed: int, n_jobs: int) -> Task:
        """The task of the system."""
        X = self.X_train
        return Task(
            kind=self.problem.task,
            n_train=len(X),
            p=X.shape[1],
            n_classes=len(self.classes),
            random_state=seed,
            n_jobs=n_jobs,
            categorical_features=self.problem.categorical_features,
            has_missing=bool(np.isnan(X).any() or np.isnan(self.X_test).any()),
        )

    def describe(self, result: Result) -> Result:
        """The result with the sizes of the problem."""
        both = () if self.is_regression else (self.problem.y_train, self.problem.y_test)
        return replace(
            result,
            n_train=len(self.X_train),
            n_test=len(self.X_test),
            n_features=self.X_train.shape[1],
            n_classes=len(np.unique(np.concatenate(both))) if both else 0,
        )

    def labels(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Predicted codes as the labels they stand for."""
        return codes if self.is_regression else self.classes[codes.astype(np.intp)]

    def shares(self, estimator: Any) -> NDArray[np.float64] | None:
        """Class probabilities of the test rows; None where the system has none."""
        if self.is_regression or not hasattr(estimator, "predict_proba"):
            return None
        return np.asarray(estimator.predict_proba(self.X_test), dtype=np.float64)

    def metrics(
        self, estimator: Any, predicted: NDArray[Any], shares: NDArray[np.float64] | None
    ) -> dict[str, float]:
        """The scores that every cell has."""
        on_training = np.asarray(estimator.predict(self.X_train)).ravel()
        if self.is_regression:
            mse = float(np.mean((predicted - self.y_test) ** 2))
            spread = float(np.var(self.y_test))
            return {
                "mse": mse,
                "rmse": float(np.sqrt(mse)),
                "r2": 1.0 - mse / spread if spread > 0.0 else float("nan"),
                "train_mse": float(np.mean((on_training - self.y_train) ** 2)),
            }
        codes = np.arange(len(self.classes))
        order = shares if shares is not None else _decision(estimator, self.X_test)
        unknown = float("nan")
        return {
            "error": error_rate(self.y_test, predicted),
            "kappa": cohen_kappa(self.y_test, predicted),
            "auc": unknown if order is None else roc_auc(self.y_test, order, codes),
            "log_loss": unknown if shares is None else log_loss(self.y_test, shares, codes),
            "train_error": error_rate(self.y_train, on_training),
            "chance_error": chance_error(np.concatenate([self.y_train, self.y_test])),
        }


def failed(cell: Cell, message: str, n_jobs: int = 1) -> Result:
    """A cell that came to nothing, and why."""
    text = " ".join(message.split())
    if len(text) > LONGEST_MESSAGE:
        text = text[: LONGEST_MESSAGE - 3] + "..."
    return Result(cell, FAILED, message=text, n_jobs=n_jobs)


def _decision(estimator: Any, X: NDArray[Any]) -> NDArray[np.float64] | None:
    """A score per class from systems without probabilities: enough for a ROC curve."""
    if not hasattr(estimator, "decision_function"):
        return None
    score = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return score if score.ndim == 2 else np.column_stack([-score, score])


def _timed(call: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result
