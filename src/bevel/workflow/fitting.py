"""Fits models to tables: reads the rows, grows the trees, and scores them out of bag or in
cross-validation; and searches parameters.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.analysis.results import OutOfBagCurve
from bevel.data.leaks import without_leak_alarm
from bevel.errors import LeakWarning, NoOutOfBagError, wrong_value
from bevel.projections.families import TableShape
from bevel.tables.options import Source
from bevel.tuning import TuningResult, tune
from bevel.tuning.candidates import sporf_grid
from bevel.tuning.parameter_file import read_parameter_file
from bevel.workflow.rows import LabelledRows
from bevel.workflow.targets import TargetColumns
from bevel.workflow.tasks import BOOSTING, COMBINED, FOREST, KINDS, Settings

__all__ = [
    "GRIDS",
    "FitResult",
    "Fitted",
    "TuneResult",
    "cross_validate",
    "fit",
    "fit_table",
    "tune_rows",
    "with_parameter_file",
]

N_FOLDS = 5
OnTree = Callable[[int, int], object]
OnFold = Callable[[int, int], object]


def _do_nothing(*_: object) -> None:
    """Do nothing; a callback lets Ctrl-C interrupt the growth of trees."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model and its out-of-bag estimates.

    Attributes
    ----------
    model : estimator
    out_of_bag : ndarray, dict of str to ndarray, or None
        Probabilities (n_rows, n_classes) or values (n_rows,), NaN for rows in every bag, of each
        of several outputs by its name; None if the trees leave no rows out.
    seconds : float
        Time to grow the trees.
    alarms : tuple of str
        What the fit found suspicious in the table: columns that know the target, copies of rows.
    """

    model: Any
    out_of_bag: Any
    seconds: float
    alarms: tuple[str, ...] = ()


def fit(
    rows: LabelledRows,
    settings: Settings,
    *,
    keep_targets: bool = False,
    on_tree: OnTree = _do_nothing,
) -> Fitted:
    """Grow the trees of a model; `keep_targets` keeps the training targets, for quantiles."""
    has_bags = rows.task.has_bags and settings.kind.has_bags
    given: dict[str, Any] = {"oob_score": True} if has_bags else {}
    given |= {"keep_targets": True} if keep_targets else {}
    model = rows.task.make(settings, callback=on_tree, **given)
    predictions = None
    start = time.perf_counter()
    try:
        alarms = _fit_quietly(model, rows)
        predictions = rows.task.out_of_bag(model) if has_bags else None
    except NoOutOfBagError:
        if rows.task.needs_bags:
            raise
        alarms = _fit_quietly(model.set_params(oob_score=False), rows)
    seconds = time.perf_counter() - start
    return Fitted(model.set_params(callback=None), predictions, seconds, alarms)


def _fit_quietly(model: Any, rows: LabelledRows) -> tuple[str, ...]:
    """Fit without the warning that some rows have been in every bag so far, and return alarms."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        model.fit(rows.X, rows.y, rows.weights)
    for each in caught:
        if not issubclass(each.category, LeakWarning):
            warnings.warn(each.message, each.category, stacklevel=2)
    return tuple(str(each.message) for each in caught if issubclass(each.category, LeakWarning))


def cross_validate(
    rows: LabelledRows, settings: Settings, *, on_fold: OnFold = _do_nothing
) -> Floats:
    """Predictions of every row by a model that has not seen it.

    Folds are drawn by the seed and stratified by class. A class with fewer rows than
    folds is absent from some training sets; its probability is zero there.
    """
    n_folds = min(N_FOLDS, len(rows.y))
    tests, predictions = [], []
    folds = rows.task.folds(rows, n_folds, settings.seed)
    for done, (train, test) in enumerate(folds, 1):
        weights = None if rows.weights is None else rows.weights[train]
        model = rows.task.make(settings, callback=_do_nothing)
        with without_leak_alarm():  # that of all rows is told
            model.fit(rows.X.rows(train), rows.y[train], weights)
        tests.append(test)
        predictions.append(rows.task.predict_fold(model, rows.X.rows(test), rows))
        on_fold(done, n_folds)
    return np.concatenate(predictions)[np.argsort(np.concatenate(tests))]


# Results of fitting and tuning on a file of rows.


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model fitted to a file of rows.

    Attributes
    ----------
    model : estimator
    scores : dict of str to Estimate
        Scores, each with its 95 % interval; for several targets one such dictionary for each.
        `SurvivalScores` of a survival forest, and the scores of the rows of an isolation forest.
    scored_by : {"out-of-bag", "cross-validated"}
    rows : LabelledRows
        Rows of the file; ``rows.notes`` has notes on how it was read.
    settings : Settings
        Settings of the model.
    seconds : float
        Time to grow the trees.
    out_of_bag : ndarray or None
        Probabilities (n_rows, n_classes) or values (n_rows,), NaN for rows in every bag, in a
        dictionary for several targets; None if the trees leave no rows out.
    scored : ndarray or None
        The predictions that the scores are of: those out of bag, or those of cross-validation.
    curve : OutOfBagCurve or None
        Out-of-bag loss against the number of trees, with ``curve=True``.
    positive : object
        The class that the short rules of its page are of; None for all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bevel import workflow
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> path = Path(tempfile.mkdtemp(), "iris.csv")
    >>> X.assign(species=y).to_csv(path, index=False)
    >>> result = workflow.fit(path, "species", model="forest", n_estimators=20)
    >>> result.model.n_classes_
    3
    """

    model: Any
    scores: Any
    scored_by: str
    rows: LabelledRows
    settings: Settings
    seconds: float
    out_of_bag: Any
    scored: Any
    curve: OutOfBagCurve | None
    positive: Any = None


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Parameters that were searched on a file of rows.

    Attributes
    ----------
    model : estimator
        Estimator with the best parameters; fitted unless ``refit=False``.
    found : TuningResult
        All candidates, and the best.
    rows : LabelledRows
        Rows of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bevel import workflow
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> path = Path(tempfile.mkdtemp(), "iris.csv")
    >>> X.assign(species=y).to_csv(path, index=False)
    >>> options = dict(task="classification", budget=200, first_trees=10, n_estimators=20)
    >>> tuned = workflow.tune(path, "species", **options)
    >>> tuned.model.n_estimators
    20
    """

    model: Any
    found: TuningResult
    rows: LabelledRows


def fit_table(
    data: Path | Source,
    targets: TargetColumns,
    settings: Settings,
    reading: Mapping[str, Any],
    *,
    params: Path | None = None,
    keep_targets: bool = False,
    curve: bool = False,
    on_note: Callable[[str], object] = _do_nothing,
    on_progress: Callable[[str, int, int], object] = _do_nothing,
) -> FitResult:
    """Read a table, fit a model to it and score it.

    Parameters
    ----------
    data : Path or Source
        The file.
    targets : TargetColumns
        The columns to learn.
    settings : Settings
        Parameters of the model; 0 trees are as many as the estimator has by default.
    reading : mapping of str to value
        Further parameters of `read_labelled_rows`.
    params : Path, default=None
        File of further parameters, from `bevel tune --out`.
    keep_targets : bool, default=False
        Whether to keep the training targets in the model, for intervals.
    curve : bool, default=False
        Whether to compute the out-of-bag loss against the number of trees.
    on_note, on_progress : callable
        Callbacks as in `bevel.workflow.fit`.
    """
    rows = targets.read(data, **reading)
    task = rows.task
    for note in rows.notes:
        on_note(note)
    if keep_targets:
        task.check_keep_targets(rows)
    settings = replace(
        settings,
        n_trees=settings.n_trees or task.default_trees(settings.model),
        others=task.parameters(settings.others, rows),
    )
    _check_kind(settings, params, keep_targets)
    if params is not None:
        settings = with_parameter_file(settings, params, rows)
    fitted = fit(
        rows,
        settings,
        keep_targets=keep_targets,
        on_tree=lambda done, total: on_progress("growing trees", done, total),
    )
    for alarm in fitted.alarms:
        on_note(alarm)
    rows = replace(rows, notes=(*rows.notes, *fitted.alarms))
    by, predictions = "out-of-bag", fitted.out_of_bag
    scores = task.scores(rows, fitted.model, predictions)
    if task.is_cross_validated and not scores:
        by, predictions = (
            "cross-validated",
            cross_validate(
                rows,
                settings,
                on_fold=lambda done, total: on_progress("cross-validating", done, total),
            ),
        )
        scores = task.scores(rows, fitted.model, predictions)
    course = None
    if curve and by == "out-of-bag":
        course = task.curve(fitted.model, rows)
    return FitResult(
        fitted.model,
        scores,
        by,
        rows,
        settings,
        fitted.seconds,
        out_of_bag=fitted.out_of_bag,
        scored=predictions,
        curve=course,
    )


def _check_kind(settings: Settings, params: Path | None, keep_targets: bool) -> None:
    model, default = settings.model, Settings()
    if model not in KINDS:
        required = '"combined", "forest" or "boosting"'
        raise wrong_value("model", required, model, "Check the spelling.")
    if model != FOREST and keep_targets:
        raise ValueError(
            f"`keep_targets` belongs to forests; got it with {got_of(model)}, whose intervals come "
            'from held-out rows. Leave it out, or set model="forest".'
        )
    if model != FOREST and params is not None:
        raise ValueError(
            "`params` holds parameters that `tune` has found for a forest; got it with "
            f'{got_of(model)}. Leave it out, or set model="forest".'
        )
    given = (settings.projection, settings.n_projections, settings.n_trees)
    if model == COMBINED and given != (default.projection, default.n_projections, 0):
        raise ValueError(
            "`projection`, `n_projections` and `n_estimators` are chosen by a combined model; got "
            f'{given}. Leave them out, or set model="forest".'
        )


def got_of(model: str) -> str:
    """A kind of model in a sentence."""
    return "boosting" if model == BOOSTING else f"a {model} model"


# Searches parameters on labelled rows of a file.

GRIDS = ("auto", "sporf")


def tune_rows(
    data: LabelledRows, settings: Settings, *, grid: str, all_powers: bool, **options: Any
) -> TuningResult:
    """Search on the rows of a file.

    Parameters
    ----------
    data : LabelledRows
        Rows to learn from.
    settings : Settings
        Settings of the first candidate.
    grid : {"auto", "sporf"}
        Candidates of general use, or SPORF's grid.
    all_powers : bool
        With "sporf", try d = p² too, even if these directions are many.
    **options
        Options of `bevel.tune`.
    """
    if grid not in GRIDS:
        raise wrong_value("grid", '"auto" or "sporf"', grid, "Leave it out for the usual ones.")
    if all_powers and grid != "sporf":
        required, remedy = 'False unless grid="sporf"', "Ask for that grid, or leave it out."
        raise wrong_value("all_powers", required, all_powers, remedy)
    candidates: Any = "auto"
    if grid == "sporf":
        n_rows, n_features = data.X.shape
        n_nominal = len(data.X.nominal)
        shape = TableShape(n_rows, n_features - n_nominal, n_nominal)
        candidates = sporf_grid(shape, all_powers=all_powers)
        if not candidates:
            raise ValueError(
                "SPORF's grid needs at least one numeric column to make directions of; got "
                "nominal columns only. Leave `grid` out."
            )
    return tune(data.task.make(settings), data.X, data.y, candidates=candidates, **options)


def with_parameter_file(settings: Settings, path: Path, data: LabelledRows) -> Settings:
    """Settings with the parameters of a file in place of the defaults.

    Parameters
    ----------
    settings : Settings
        Settings whose projection must be a default: that of the file would contradict another one.
    path : Path
        File written by `bevel tune --out`.
    data : LabelledRows
        Rows to learn from.
    """
    default = Settings()
    given = (settings.projection, settings.n_projections)
    if given != (default.projection, default.n_projections):
        raise ValueError(
            f"`params` must be the only source of the projection; got `projection` and "
            f"`n_projections` {given} beside it. Leave them out, or edit the file."
        )
    read = read_parameter_file(path, type(data.task.make(settings)), data.target)
    return replace(
        settings,
        projection=read.pop("projection", "auto"),
        n_projections=read.pop("n_projections", "auto"),
        others={**read, **settings.others},
    )
