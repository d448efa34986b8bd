"""The commands `bevel fit`, `predict`, `tune` and `explain` for Python: a file in, results out.

Messages name the parameters below; the command line replaces them with its flags.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from bevel.errors import join_names, nearest, wrong_value
from bevel.estimators.loading import load
from bevel.tables.options import Source, TableKeywords, TableOptions
from bevel.workflow import explaining, fitting
from bevel.workflow.explaining import Explanation, explain_survival, of_target, survival_columns
from bevel.workflow.fitting import (
    BOOSTING,
    FOREST,
    MODELS,
    FitResult,
    Settings,
    TuneResult,
    check_keep_targets,
    score_fitted,
    tune_rows,
    with_parameter_file,
)
from bevel.workflow.predicting import Predictions, predict_file
from bevel.workflow.rows import CLASSIFICATION, LabelledRows, read_labelled_rows, read_model_rows
from bevel.workflow.survival import read_survival_rows

__all__ = ["FitResult", "TuneResult", "explain", "fit", "predict", "tune"]

PathOrText = str | PathLike[str]
OnProgress = Callable[[str, int, int], object]
OnNote = Callable[[str], object]


def _ignore(*_: object) -> None:
    """Do nothing; default of callbacks."""


def fit(
    data: PathOrText | Source,
    target: str,
    *,
    task: str = "auto",
    model: str = FOREST,
    projection: Any = "auto",
    n_projections: int | float | str = "auto",
    n_estimators: int | None = None,
    params: PathOrText | None = None,
    keep_targets: bool = False,
    parameters: Mapping[str, Any] | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep_id: bool = False,
    weights: str | None = None,
    row_id: Sequence[str] = (),
    random_state: int = 0,
    n_jobs: int | None = None,
    curve: bool = False,
    on_note: OnNote = _ignore,
    on_progress: OnProgress = _ignore,
    **table: Unpack[TableKeywords],
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
    model : {"forest", "boosting"}, default="forest"
        Kind of model: averaged trees, or gradient boosting. Boosting has no out-of-bag rows; its
        scores are cross-validated.
    projection, n_projections, n_estimators, keep_targets, n_jobs
        Parameters as in `bevel.ObliqueForestClassifier` and `bevel.ObliqueForestRegressor`. For
        boosting `n_estimators` is `max_iter`.
    params : path, default=None
        JSON file of further parameters, which `bevel tune --out` writes; `projection` and
        `n_projections` must then be left out.
    parameters : mapping of str to value, default=None
        Other parameters of the forest, such as ``{"max_depth": 5}``.
    drop, nominal : sequence of str
        Columns to leave out, and columns whose numbers are labels.
    keep_id : bool, default=False
        Keep columns that name rows (row numbers, keys, free text), which are left out otherwise.
    weights : str, default=None
        Column of the rows' weights. Scores count all rows equally.
    row_id : sequence of str
        Columns that name rows: not features, but copied to `rows.ids`.
    random_state : int, default=0
    curve : bool, default=False
        Whether to compute the out-of-bag loss against the number of trees.
    on_note : callable
        Called with each note on the file, as soon as it is read.
    on_progress : callable
        Called with the name of the step, the number of its parts done, and their total.
    **table
        Format of the file: `header`, `delimiter`, `decimal`, `missing`, `encoding` and `types`,
        as in `TableOptions`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bevel import workflow
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> path = Path(tempfile.mkdtemp(), "iris.csv")
    >>> X.assign(species=y).to_csv(path, index=False)
    >>> result = workflow.fit(path, "species", task="classification", n_estimators=20)
    >>> result.scored_by, list(result.scores)
    ('out-of-bag', ['error', "Cohen's kappa", 'AUC', 'log loss', 'Brier score'])
    """
    rows = read_labelled_rows(
        _source(data),
        target,
        task=task,
        drop=drop,
        nominal=nominal,
        keep_id=keep_id,
        weights=weights,
        row_id=row_id,
        options=TableOptions(**table),
    )
    _report_notes(rows.notes, on_note)
    if keep_targets:
        check_keep_targets(rows)
    others = _known_classes(dict(parameters or {}), rows)
    _check_model(model, params, keep_targets)
    n_trees = n_estimators or (fitting.default_trees(rows.task) if model == FOREST else 0)
    settings = Settings(projection, n_projections, n_trees, random_state, n_jobs, others, model)
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


def _check_model(model: str, params: PathOrText | None, keep_targets: bool) -> None:
    if model not in MODELS:
        raise wrong_value("model", '"forest" or "boosting"', model, "Check the spelling.")
    if model == BOOSTING and keep_targets:
        raise ValueError(
            "`keep_targets` belongs to forests; got it with boosting, whose intervals come from "
            "its held-out rows. Leave it out."
        )
    if model == BOOSTING and params is not None:
        raise ValueError(
            "`params` holds parameters that `tune` has found for a forest; got it with boosting. "
            "Leave it out, or fit a forest."
        )


def _source(data: PathOrText | Source) -> Path | Source:
    return data if isinstance(data, Source) else Path(data)


def _report_notes(notes: Sequence[str], on_note: OnNote) -> None:
    for note in notes:
        on_note(note)


def _known_classes(parameters: dict[str, Any], rows: LabelledRows) -> dict[str, Any]:
    """Parameters with class weights by the labels of the target, also where given as text."""
    given = parameters.get("class_weight")
    if given is None:
        return parameters
    if rows.task != CLASSIFICATION:
        raise ValueError(
            "`class_weight` needs a target of classes; got a target of numbers. Leave it out, or "
            'ask for `task="classification"`.'
        )
    if isinstance(given, str):
        return parameters
    labels = {str(label): label for label in rows.classes.tolist()}
    unknown = [str(label) for label in given if str(label) not in labels]
    if unknown:
        close = nearest(unknown[0], list(labels))
        raise ValueError(
            f"`class_weight` must name classes of {rows.target!r} ({join_names(list(labels))}); "
            f"got {unknown[0]!r}. {f'Did you mean {close!r}?' if close else 'Check the spelling.'}"
        )
    weights = {labels[str(label)]: weight for label, weight in given.items()}
    return parameters | {"class_weight": dict.fromkeys(labels.values(), 1.0) | weights}


def predict(
    model: Any,
    data: PathOrText | Source,
    *,
    proba: bool = False,
    interval: float | None = None,
    row_id: Sequence[str] = (),
    n_jobs: int | None = None,
    **table: Unpack[TableKeywords],
) -> Predictions:
    """Predict the rows of a file.

    Parameters
    ----------
    model : fitted estimator, or path of a model file
    data : path
        Columns are found by name, in any order.
    proba : bool, default=False
        Whether to give class probabilities too.
    interval : float, default=None
        Share of the rows that a prediction interval is to cover, such as 0.9, for a regressor that
        was fitted with `keep_targets`.
    row_id : sequence of str
        Columns that name rows, copied to the result.
    n_jobs : int, default=None
        Number of threads; None: all cores for a model file, `n_jobs` of a fitted estimator.
    **table
        Format of the file, as in `fit`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bevel import workflow
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> path = Path(tempfile.mkdtemp(), "iris.csv")
    >>> X.assign(species=y).to_csv(path, index=False)
    >>> result = workflow.fit(path, "species", task="classification", n_estimators=20)
    >>> predictions = workflow.predict(result.model, path)
    """
    return predict_file(
        _opened(model, n_jobs),
        _source(data),
        proba=proba,
        interval=interval,
        row_id=row_id,
        options=TableOptions(**table),
    )


def tune(
    data: PathOrText | Source,
    target: str,
    *,
    task: str = "auto",
    budget: int | None = None,
    seconds: float | None = None,
    grid: str = "auto",
    all_powers: bool = False,
    first_trees: int = 100,
    n_estimators: int | None = None,
    store: PathOrText | None = None,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    keep_id: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    refit: bool = True,
    on_note: OnNote = _ignore,
    on_progress: OnProgress = _ignore,
    **table: Unpack[TableKeywords],
) -> TuneResult:
    """Search for better parameters than the defaults on a file of rows; see `bevel.tune`.

    Parameters
    ----------
    data, target, task, n_estimators, drop, nominal, keep_id, random_state, n_jobs, on_note, \
    on_progress, **table
        Parameters as in `fit`.
    budget, seconds, first_trees, store, refit
        Parameters as in `bevel.tune`.
    grid : {"auto", "sporf"}, default="auto"
        Candidates: those of general use, or the grid of the SPORF paper over d and λ.
    all_powers : bool, default=False
        With ``grid="sporf"``, try p² directions even if they are many.

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
    rows = read_labelled_rows(
        _source(data),
        target,
        task=task,
        drop=drop,
        nominal=nominal,
        keep_id=keep_id,
        options=TableOptions(**table),
    )
    _report_notes(rows.notes, on_note)
    n_trees = n_estimators or fitting.default_trees(rows.task)
    found = tune_rows(
        rows,
        Settings("auto", n_trees=n_trees, seed=random_state, n_jobs=n_jobs),
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
    data: PathOrText | Source,
    *,
    target: str | None = None,
    time: str | None = None,
    event: str | None = None,
    entry: str | None = None,
    rows: Sequence[int] = (),
    random_state: int = 0,
    n_jobs: int | None = None,
    on_note: OnNote = _ignore,
    on_progress: OnProgress = _ignore,
    **table: Unpack[TableKeywords],
) -> Explanation:
    """Explain a model on the rows of a file: importance, directions, rules, single rows.

    Parameters
    ----------
    model : fitted estimator, or path of a model file
    data : path
        The rows of the fit are recognised, and predicted by the trees that have not seen them.
    target : str, default=None
        Column of true targets, if the file has one.
    time, event : str, default=None
        Columns of the times and events, of a survival forest; both or none.
    entry : str, default=None
        Column of the times from which rows are seen, of a survival forest.
    rows : sequence of int
        Numbers of rows to explain in addition to the chosen ones; 1 is the first below the header.
    random_state : int, default=0
    n_jobs : int, default=None
        Number of threads, as in `predict`.
    on_note, on_progress : callable
        Callbacks as in `fit`.
    **table
        Format of the file, as in `fit`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bevel import workflow
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris(as_frame=True)
    >>> path = Path(tempfile.mkdtemp(), "iris.csv")
    >>> X.assign(species=y).to_csv(path, index=False)
    >>> result = workflow.fit(path, "species", task="classification", n_estimators=20)
    >>> explanation = workflow.explain(result.model, path, target="species")
    """
    opened = _opened(model, n_jobs)
    columns = survival_columns(opened, target, time, event, entry)
    source, options = _source(data), TableOptions(**table)

    def on_step(done: int, text: str) -> None:
        on_progress(text, done, explaining.N_STEPS)

    given: dict[str, Any] = {"requested": rows, "seed": random_state, "on_step": on_step}
    if getattr(opened.fitted_forest_, "survival", None) is not None:
        survival = read_survival_rows(opened, source, columns, options)
        _report_notes(survival.notes, on_note)
        found = explain_survival(
            opened, survival.X, survival.target, number=survival.number, **given
        )
        return replace(found, notes=survival.notes)
    opened = of_target(opened, target)
    read = read_model_rows(opened, source, target=target, options=options)
    _report_notes(read.notes, on_note)
    given["target_name"] = target or ""
    found = explaining.explain(opened, read.X, read.y, number=read.number, **given)
    return replace(found, notes=read.notes)


def _opened(model: Any, n_jobs: int | None) -> Any:
    """Load a model file, or copy a fitted estimator; the caller's estimator is not changed."""
    if isinstance(model, str | PathLike):
        return load(Path(model)).set_params(n_jobs=n_jobs)
    return model if n_jobs is None else copy.copy(model).set_params(n_jobs=n_jobs)
