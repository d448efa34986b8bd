"""Runs a rotation study: a repeated nested cross-validation over fold groups × rotation groups."""

from __future__ import annotations

import hashlib
import numbers
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from bevel.data.tables import take_rows
from bevel.data.target import read_labels, read_numbers
from bevel.errors import wrong_type, wrong_value
from bevel.report.page import describe_environment
from bevel.training.progress import Progress
from bevel_lab.cells import OK, Cell, Result
from bevel_lab.protocols.splits import stratified_folds
from bevel_lab.running.remaining import RemainingTime
from bevel_lab.running.steps import Step
from bevel_lab.running.store import ResultStore, flat_result
from bevel_lab.studies.layout import (
    EXPERIMENT,
    MIN_NESTED,
    ROTATION_GROUP,
    other_folds,
    rotation_seed,
    study_cells,
)
from bevel_lab.studies.result import RotationStudy, read_studies

__all__ = ["rotation_study"]

DATA = "X"  # the name of the user's rows in a store
NOT_MEANING = ("n_jobs", "verbose", "callback")  # change no result


def rotation_study(
    estimator: Any,
    X: Any,
    y: Any,
    fold_groups: int = 20,
    rotation_groups: int = 20,
    *,
    n_folds: int = 5,
    nested: bool = True,
    name: str | None = None,
    folder: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    verbose: bool = False,
    progress: Callable[[Step], object] | None = None,
) -> RotationStudy:
    """Find out whether rotations matter on one's own data, and which are good.

    Each *fold group* is a random division of the rows into `n_folds` folds, each *rotation group* a
    set of random rotations. The learner is cross-validated on every pair of them; the variance of
    the errors then says how much is due to the choice of rotations and how much to the folds.

    A rotation group is a seed: given to the estimator as ``rotation_state`` if it has one, and as
    ``random_state`` otherwise, which decides over the rotations of `bevel.presets.rr_rf` and says
    of a learner without rotations how much its own luck matters.

    Parameters
    ----------
    estimator : classifier or regressor
        What scikit-learn can clone; its own parameters say how many rotations are in a group.
    X : array, data frame or sparse matrix of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Labels, which folds are stratified by, or numbers.
    fold_groups, rotation_groups : int, default=20
        The thesis has 20 of each: 20 × 20 × 5 fits.
    n_folds : int, default=5
        Folds of a group.
    nested : bool, default=True
        Whether an estimator that cross-validates by itself (that has a parameter ``cv``) gets the
        other folds of the group for it: of 5 folds one is for testing, and each of the other 4 is
        in turn held out of level 0 (Fig. 3.2). Needs 3 folds or more.
    name : str, default=None
        What the learner is called; None takes the name of its class.
    folder : path, default=None
        A run folder: every fit is in it before the next is begun, and the same call goes on where
        it ended. ``bevel lab report`` makes a page of it.
    random_state : int, Generator or None, default=None
        Seed of all groups; with a `folder` it must be an integer. Studies of several learners with
        the same seed have the same fold and rotation groups.
    verbose : bool, default=False
        Draw a bar with the remaining time.
    progress : callable, default=None
        Called after each fit with an object that has ``n_done``, ``n_cells`` and ``seconds_left``.

    Returns
    -------
    RotationStudy

    Notes
    -----
    Rows count alike: there are no sample weights.

    References
    ----------
    Blaser's thesis, sections 3.3.1 to 3.3.3.

    Examples
    --------
    >>> from bevel import presets
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris()
    >>> forest = presets.rr_rf(n_estimators=10)
    >>> study = rotation_study(forest, X, y, 3, 4, random_state=0)
    >>> study.errors.shape
    (3, 4)
    >>> 0 <= study.best_rotation_group < 4
    True
    """
    sizes = {"fold_groups": fold_groups, "rotation_groups": rotation_groups}
    for what, number in {**sizes, "n_folds": n_folds}.items():
        _check_count(what, number, 2 if what == "n_folds" else 1)
    seed = _seed(random_state, folder)
    X = X if hasattr(X, "shape") else np.asarray(X)
    target = _read_target(estimator, y, X.shape[0])
    runner = _StudyRunner(estimator, X, target, n_folds, nested)
    called = type(estimator).__name__ if name is None else name
    cells = list(study_cells(DATA, called, fold_groups, rotation_groups, n_folds, seed))
    if folder is None:
        results = list(_results(cells, runner, verbose, progress))
    else:
        results = _keep(ResultStore(folder), cells, runner, called, verbose, progress)
    return read_studies(map(flat_result, results))[DATA, called]


def _keep(
    store: ResultStore,
    cells: list[Cell],
    runner: _StudyRunner,
    name: str,
    verbose: bool,
    progress: Callable[[Step], object] | None,
) -> list[Result]:
    """Run the cells that have no result in the folder; returns those of all cells."""
    wanted = {cell.key for cell in cells}
    with store.lock():
        store.check_meaning(runner.meaning(name))
        done = store.done_keys()
        store.begin(_description(runner, name, cells[0].experiment_seed, len(done | wanted)))
        missing = [cell for cell in cells if cell.key not in done]
        for _ in _results(missing, runner, verbose, progress, store):
            pass
    return [result for result in store.results() if result.cell.key in wanted]


def _results(
    cells: list[Cell],
    runner: _StudyRunner,
    verbose: bool,
    progress: Callable[[Step], object] | None,
    store: ResultStore | None = None,
) -> Iterator[Result]:
    """Results as they come; each is stored before it is shown."""
    remaining = RemainingTime(cells, lambda _: 1.0)
    bar = Progress(0, len(cells), verbose, None, label="fits")
    with bar:
        for number, cell in enumerate(cells, 1):
            start = time.perf_counter()
            result = runner.run(cell)
            if store is not None:
                store.append(result)
            remaining.finished(cell, time.perf_counter() - start)
            bar(number)
            if progress is not None:
                progress(Step(result, number, len(cells), remaining.seconds()))
            yield result


class _StudyRunner:
    """Fits and tests one cell."""

    def __init__(
        self, estimator: Any, X: Any, target: npt.NDArray[Any], n_folds: int, nested: bool
    ) -> None:
        self.estimator, self.X, self.target, self.n_folds = estimator, X, target, n_folds
        self.classify = bool(is_classifier(estimator))
        parameters = estimator.get_params(deep=True)
        self.seeds = _named(parameters, "random_state")
        self.rotations = _named(parameters, "rotation_state")
        has_folds = "cv" in estimator.get_params(deep=False)
        self.inner = nested and n_folds >= MIN_NESTED and has_folds
        strata = target if self.classify else np.zeros(len(target))
        stratified_folds(strata, n_folds, 0)  # refuses more folds than rows before anything is run
        self._strata = strata
        self._last: tuple[int, npt.NDArray[np.int64]] | None = None

    def meaning(self, name: str) -> dict[str, Any]:
        """What the results in a folder depend on."""
        parameters = self.estimator.get_params(deep=True)
        words = {
            key: repr(value)
            for key, value in sorted(parameters.items())
            if key.rpartition("__")[2] not in NOT_MEANING and not hasattr(value, "get_params")
        }
        return {
            "experiment": EXPERIMENT,
            "system": name,
            "estimator": [type(self.estimator).__name__, words],
            "rows": _fingerprint(self.X, self.target),
            "folds": self.n_folds,
            "nested": self.inner,
        }

    def run(self, cell: Cell) -> Result:
        """Train on all folds but one, and test on that."""
        folds = self._folds(cell)
        train, test = np.flatnonzero(folds != cell.fold), np.flatnonzero(folds == cell.fold)
        learner = clone(self.estimator).set_params(**self._parameters(cell, folds))
        start = time.perf_counter()
        learner.fit(take_rows(self.X, train), self.target[train])
        fitted = time.perf_counter()
        losses = self._losses(np.asarray(learner.predict(take_rows(self.X, test))), test)
        return Result(
            cell,
            OK,
            metrics={
                "error" if self.classify else "mse": float(losses.mean()),
                "squared_loss": float((losses**2).mean()),
            },
            seconds_fit=fitted - start,
            seconds_predict=time.perf_counter() - fitted,
            n_train=len(train),
            n_test=len(test),
            n_features=self.X.shape[1],
            n_classes=len(np.unique(self.target)) if self.classify else 0,
        )

    def _losses(
        self, predicted: npt.NDArray[Any], test: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.float64]:
        if self.classify:
            return np.asarray(predicted != self.target[test], dtype=np.float64)
        return np.asarray((predicted - self.target[test]) ** 2, dtype=np.float64)

    def _folds(self, cell: Cell) -> npt.NDArray[np.int64]:
        if self._last is None or self._last[0] != cell.split_seed:
            folds = stratified_folds(self._strata, self.n_folds, cell.split_seed)
            self._last = (cell.split_seed, folds)
        return self._last[1]

    def _parameters(self, cell: Cell, folds: npt.NDArray[np.int64]) -> dict[str, Any]:
        group = int(cell.setting[ROTATION_GROUP])
        of_group = rotation_seed(cell.experiment_seed, cell.data, group)
        own = cell.seed if self.rotations else of_group
        given: dict[str, Any] = dict.fromkeys(self.seeds, own)
        given |= dict.fromkeys(self.rotations, of_group)
        if self.inner:
            given["cv"] = other_folds(folds, cell.fold)
        return given


def _named(parameters: Mapping[str, Any], name: str) -> list[str]:
    """Parameters of that name, of the estimator and of those inside it."""
    return [each for each in parameters if each.rpartition("__")[2] == name]


def _read_target(estimator: Any, y: Any, n_rows: int) -> npt.NDArray[Any]:
    if is_classifier(estimator):
        classes, codes = read_labels(y, n_rows)
        return np.asarray(classes.take(codes))
    return np.asarray(read_numbers(y, n_rows))


def _description(runner: _StudyRunner, name: str, seed: int, n_cells: int) -> dict[str, Any]:
    return {
        **describe_environment(),
        "experiment": EXPERIMENT,
        "sentence": "Errors over fold groups × rotation groups.",
        "meaning": runner.meaning(name),
        "systems": [name],
        "labels": {name: name},
        "absent": {},
        "seed": seed,
        "n_cells": n_cells,
    }


def _fingerprint(X: Any, target: npt.NDArray[Any]) -> str:
    """Changes with any value of the rows."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    values = frame.to_numpy() if isinstance(frame, nw.DataFrame) else X
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    digest = hashlib.sha256(repr(values.shape).encode())
    for part in (values, target):
        plain = part.dtype.kind in "fiubUS"
        digest.update(
            np.ascontiguousarray(part).tobytes() if plain else repr(part.tolist()).encode()
        )
    return digest.hexdigest()[:16]


def _seed(random_state: Any, folder: object) -> int:
    if folder is not None and not isinstance(random_state, numbers.Integral):
        required = "an integer where a folder keeps the results"
        remedy = "Only so can the same call go on where it ended."
        raise wrong_type("random_state", required, random_state, remedy)
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(np.random.default_rng(random_state).integers(2**31))


def _check_count(what: str, number: Any, least: int) -> None:
    required = f"an integer of at least {least}"
    remedy = "The thesis has 20 groups of each kind and 5 folds."
    if isinstance(number, bool) or not isinstance(number, numbers.Integral):
        raise wrong_type(what, required, number, remedy)
    if number < least:
        raise wrong_value(what, required, number, remedy)
