"""What `bevel fit`, `predict`, `tune` and `explain` do, for Python: a file of rows in, results out.

Messages name the parameters below; the command line replaces them with its flags.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from bevel._types import Floats
from bevel.analysis.results import OutOfBagCurve
from bevel.estimators.loading import load
from bevel.tuning.results import TuningResult
from bevel.workflow import explaining, fitting
from bevel.workflow.explaining import Explanation
from bevel.workflow.fitting import Settings, check_keep_targets, score_fitted
from bevel.workflow.labelled_rows import LabelledRows, read_labelled_rows
from bevel.workflow.model_rows import read_model_rows
from bevel.workflow.predicting import Predictions, predict_file
from bevel.workflow.scores import Estimate
from bevel.workflow.tuning import tune_rows, with_parameter_file

__all__ = ["FitResult", "TuneResult", "explain", "fit", "predict", "tune"]

PathOrText = str | PathLike[str]
OnProgress = Callable[[str, int, int], object]
OnNote = Callable[[str], object]


def _ignore(*_: object) -> None:
    """The default of callbacks."""


@dataclass(frozen=True, eq=False)
class FitResult:
    """A forest fitted to a file of rows.

    Attributes
    ----------
    model : estimator
    scores : dict of str to Estimate
        Each with its 95 % interval.
    scored_by : {"out-of-bag", "cross-validated"}
    rows : LabelledRows
        What was read from the file; ``rows.notes`` has remarks on how it was read.
    settings : Settings
        With which the forest was grown.
    seconds : float
        Time to grow the trees.
    out_of_bag : ndarray or None
        Probabilities (n_rows, n_classes) or values (n_rows,), NaN for rows in every bag; None if
        the projection leaves no rows out.
    curve : OutOfBagCurve or None
        Out-of-bag loss against the number of trees, with ``curve=True``.
    """

    model: Any
    scores: dict[str, Estimate]
    scored_by: str
    rows: LabelledRows
    settings: Settings
    seconds: float
    out_of_bag: Floats | None
    curve: OutOfBagCurve | None


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Parameters that were searched on a file of rows.

    Attributes
    ----------
    model : estimator
        With the best parameters; fitted unless ``refit=False``.
    found : TuningResult
        All candidates, and the best.
    rows : LabelledRows
        What was read from the file.
    """

    model: Any
    found: TuningResult
    rows: LabelledRows


def fit(
    data: PathOrText,
    target: str,
    *,
    task: str = "auto",
    projection: Any = "sparse",
    n_projections: int | float | str = "auto",
    n_estimators: int = 300,
    params: PathOrText | None = None,
    keep_targets: bool = False,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    header: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    curve: bool = False,
    on_note: OnNote = _ignore,
    on_progress: OnProgress = _ignore,
) -> FitResult:
    """Fit a forest to a file of rows and score it.

    Parameters
    ----------
    data : path
        CSV, TSV (both may be gzipped) or Parquet.
    target : str
        Column to predict.
    task : {"auto", "classification", "regression"}
        "auto" is classification for words and for up to ten distinct whole numbers.
    projection, n_projections, n_estimators, keep_targets, n_jobs
        As in `bevel.ObliqueForestClassifier` and `bevel.ObliqueForestRegressor`.
    params : path, default=None
        JSON file of further parameters, which `bevel tune --out` writes; `projection` and
        `n_projections` must then be left out.
    drop, nominal : sequence of str
        Columns to leave out, and columns whose numbers are names.
    header : bool, default=None
        Whether the first line holds names; None looks.
    random_state : int, default=0
    curve : bool, default=False
        Whether to compute the out-of-bag loss against the number of trees.
    on_note : callable
        Called with each remark on the file, as soon as it is read.
    on_progress : callable
        Called with the name of the step, the number of its parts done, and the number of all.
    """
    rows = _read(data, target, task, drop, nominal, header, on_note)
    if keep_targets:
        check_keep_targets(rows)
    settings = Settings(projection, n_projections, n_estimators, random_state, n_jobs)
    if params is not None:
        settings = with_parameter_file(settings, Path(params), rows)
    fitted = fitting.fit(
        rows,
        settings,
        keep_targets=keep_targets,
        curve=curve,
        on_tree=lambda done, total: on_progress("growing trees", done, total),
    )
    scored_by, scores = score_fitted(
        rows,
        settings,
        fitted,
        on_fold=lambda done, total: on_progress("cross-validating", done, total),
    )
    return FitResult(
        fitted.model,
        scores,
        scored_by,
        rows,
        settings,
        fitted.seconds,
        fitted.out_of_bag,
        fitted.curve,
    )


def _read(
    data: PathOrText,
    target: str,
    task: str,
    drop: Sequence[str],
    nominal: Sequence[str],
    header: bool | None,
    on_note: OnNote,
) -> LabelledRows:
    rows = read_labelled_rows(
        Path(data), target, task=task, drop=drop, nominal=nominal, header=header
    )
    for note in rows.notes:
        on_note(note)
    return rows


def predict(
    model: Any,
    data: PathOrText,
    *,
    proba: bool = False,
    header: bool | None = None,
    n_jobs: int | None = None,
) -> Predictions:
    """Predict the rows of a file.

    Parameters
    ----------
    model : fitted estimator, or path of a model file
    data : path
        Columns are found by name, in any order.
    proba : bool, default=False
        Whether to give class probabilities too.
    header : bool, default=None
    n_jobs : int, default=None
        None: all processors for a model file, the `n_jobs` of a fitted estimator.
    """
    return predict_file(_opened(model, n_jobs), Path(data), proba=proba, header=header)


def tune(
    data: PathOrText,
    target: str,
    *,
    task: str = "auto",
    budget: int | None = None,
    seconds: float | None = None,
    grid: str = "auto",
    all_powers: bool = False,
    first_trees: int = 100,
    n_estimators: int = 300,
    store: PathOrText | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    header: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    refit: bool = True,
    on_note: OnNote = _ignore,
    on_progress: OnProgress = _ignore,
) -> TuneResult:
    """Search for better parameters than the defaults on a file of rows; see `bevel.tune`.

    Parameters
    ----------
    data, target, task, n_estimators, drop, nominal, header, random_state, n_jobs, on_note, \
    on_progress
        As in `fit`.
    budget, seconds, first_trees, store, refit
        As in `bevel.tune`.
    grid : {"auto", "sporf"}, default="auto"
        What to try: candidates of general use, or the grid of the SPORF paper over d and λ.
    all_powers : bool, default=False
        With ``grid="sporf"``, try p² directions however many that are.
    """
    rows = _read(data, target, task, drop, nominal, header, on_note)
    found = tune_rows(
        rows,
        Settings("auto", n_trees=n_estimators, seed=random_state, n_jobs=n_jobs),
        grid=grid,
        all_powers=all_powers,
        budget=budget,
        seconds=seconds,
        first_trees=first_trees,
        store=store,
        refit=refit,
        callback=lambda done, total: on_progress("trying parameters", done, total),
    )
    return TuneResult(found.best_estimator_, found, rows)


def explain(
    model: Any,
    data: PathOrText,
    *,
    target: str | None = None,
    rows: Sequence[int] = (),
    header: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_note: OnNote = _ignore,
    on_progress: OnProgress = _ignore,
) -> Explanation:
    """Explain a model on the rows of a file: importance, directions, rules, single rows.

    Parameters
    ----------
    model : fitted estimator, or path of a model file
    data : path
        The rows of the fit are recognised, and predicted by the trees that have not seen them.
    target : str, default=None
        Column of true targets, if the file has one.
    rows : sequence of int
        Numbers of rows to explain beside those that are chosen; 1 is the first below the header.
    header : bool, default=None
    random_state : int, default=0
    n_jobs : int, default=None
        As in `predict`.
    on_note, on_progress : callable
        As in `fit`.
    """
    opened = _opened(model, n_jobs)
    read = read_model_rows(opened, Path(data), target=target, header=header)
    for note in read.notes:
        on_note(note)
    found = explaining.explain(
        opened,
        read.X,
        read.y,
        number=read.number,
        requested=rows,
        seed=random_state,
        on_step=lambda done, text: on_progress(text, done, explaining.N_STEPS),
    )
    return replace(found, notes=read.notes)


def _opened(model: Any, n_jobs: int | None) -> Any:
    """The model of a file, or a fitted estimator; that of the caller is not changed."""
    if isinstance(model, str | PathLike):
        return load(Path(model)).set_params(n_jobs=n_jobs)
    return model if n_jobs is None else copy.copy(model).set_params(n_jobs=n_jobs)
