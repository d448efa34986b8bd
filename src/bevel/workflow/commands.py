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

from bevel.estimators.combined import ObliqueCombination
from bevel.estimators.loading import load
from bevel.tables.options import Source, TableKeywords, TableOptions
from bevel.workflow import explaining
from bevel.workflow.explaining import Explanation, read_to_explain
from bevel.workflow.fitting import FitResult, TuneResult, fit_table, tune_rows
from bevel.workflow.predictions import Predictions
from bevel.workflow.rows import read_labelled_rows, read_model_rows
from bevel.workflow.targets import OneColumn
from bevel.workflow.tasks import COMBINED, FOREST, KINDS, Settings, task_of

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
    model: str = COMBINED,
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
    """Fit a model to a file of rows and score it.

    Parameters
    ----------
    data : path
        CSV or TSV, also compressed, Parquet, Arrow, ORC, JSON lines or Excel.
    target : str
        Column to predict.
    task : {"auto", "classification", "regression"}
        "auto" is classification for words and for up to ten distinct whole numbers.
    model : {"combined", "forest", "boosting"}, default="combined"
        Kind of model: averaged trees, gradient boosting, or both with weights. Models with boosting
        have no out-of-bag rows; their scores are cross-validated.
    projection, n_projections, n_estimators, keep_targets
        Parameters of a forest, as in `bevel.ObliqueForestClassifier` and
        `bevel.ObliqueForestRegressor`; not of "combined", which has `quality` among the
        `parameters`. For boosting `n_estimators` is `max_iter`.
    params : path, default=None
        JSON file of further parameters, which `bevel tune --out` writes; `projection` and
        `n_projections` must then be left out.
    parameters : mapping of str to value, default=None
        Other parameters of the model, such as ``{"quality": 4}``, or ``{"max_depth": 5}`` of a
        forest.
    drop, nominal : sequence of str
        Columns to leave out, and columns whose numbers are labels.
    keep_id : bool, default=False
        Keep columns that name rows (row numbers, keys, free text), which are left out otherwise.
    weights : str, default=None
        Column of the rows' weights. Scores count all rows equally.
    row_id : sequence of str
        Columns that name rows: not features, but copied to `rows.ids`.
    random_state, n_jobs
        Seed and number of threads.
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
    >>> options = {"task": "classification", "parameters": {"quality": 1}}
    >>> result = workflow.fit(path, "species", **options)
    >>> result.scored_by, list(result.scores)
    ('cross-validated', ['error', "Cohen's kappa", 'AUC', 'log loss', 'Brier score'])
    """
    return fit_table(
        _source(data),
        OneColumn(target, task),
        Settings(
            projection,
            n_projections,
            n_estimators or 0,
            random_state,
            n_jobs,
            parameters or {},
            model,
        ),
        {
            "drop": drop,
            "nominal": nominal,
            "keep_id": keep_id,
            "weights": weights,
            "row_id": row_id,
            "options": TableOptions(**table),
        },
        params=None if params is None else Path(params),
        keep_targets=keep_targets,
        curve=curve,
        on_note=on_note,
        on_progress=on_progress,
    )


def _source(data: PathOrText | Source) -> Path | Source:
    return data if isinstance(data, Source) else Path(data)


def _report_notes(notes: Sequence[str], on_note: OnNote) -> None:
    for note in notes:
        on_note(note)


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
    >>> result = workflow.fit(path, "species", model="forest", n_estimators=20)
    >>> predictions = workflow.predict(result.model, path)
    """
    opened = _opened(model, n_jobs)
    rows = read_model_rows(opened, _source(data), row_id=row_id, options=TableOptions(**table))
    found = task_of(opened).predict(opened, rows.X, proba, interval)
    return replace(found, notes=rows.notes, ids=rows.ids)


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
    n_trees = n_estimators or rows.task.default_trees(FOREST)
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


def _note_of_members(model: Any) -> tuple[str, ...]:
    """Which of the models that are added up is explained, if there are several."""
    if not isinstance(model, ObliqueCombination):
        return ()
    chosen = explaining.explained_model(model).fitted_forest_.aggregation
    which = "boosting" if chosen.adds_up else "the forest"
    weights = KINDS[COMBINED].describe(model)
    return (
        f"Predictions are the weighted mean of both models ({weights}). Short rules, and scores of "
        f"new rows, describe both; all else describes {which}.",
    )


def explain(
    model: Any,
    data: PathOrText | Source,
    *,
    target: str | None = None,
    time: str | None = None,
    event: str | None = None,
    entry: str | None = None,
    rows: Sequence[int] = (),
    positive: Any = None,
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
    positive : label of a class, default=None
        The class that the short rules describe, as in `bevel.analysis.rule_set`.
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
    >>> result = workflow.fit(path, "species", model="forest", n_estimators=20)
    >>> explanation = workflow.explain(result.model, path, target="species")
    """
    options, times = TableOptions(**table), (time, event, entry)
    opened, read = read_to_explain(_opened(model, n_jobs), _source(data), target, times, options)
    _report_notes(read.notes, on_note)
    _report_notes(_note_of_members(opened), on_note)
    found = explaining.explain(
        opened,
        read.X,
        read.y,
        number=read.number,
        requested=rows,
        target_name=target or "",
        positive=positive,
        seed=random_state,
        on_step=lambda done, text: on_progress(text, done, explaining.N_STEPS),
    )
    return replace(found, notes=read.notes, members=" ".join(_note_of_members(opened)))


def _opened(model: Any, n_jobs: int | None) -> Any:
    """Load a model file, or copy a fitted estimator; the caller's estimator is not changed."""
    if isinstance(model, str | PathLike):
        return load(Path(model)).set_params(n_jobs=n_jobs)
    return model if n_jobs is None else copy.copy(model).set_params(n_jobs=n_jobs)
