"""What `bevel fit`, `predict`, `tune` and `explain` do, for Python: a file of rows in, results out.

Messages speak of the parameters below; the command line writes its own flags for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from bevel.estimators.loading import load
from bevel.workflow import explaining, fitting, tuning
from bevel.workflow.explaining import Explanation
from bevel.workflow.fitting import Settings, check_keep_targets, score_fitted
from bevel.workflow.labelled_rows import LabelledRows, read_labelled_rows
from bevel.workflow.model_rows import read_model_rows
from bevel.workflow.predicting import Predictions, predict_file
from bevel.workflow.scores import Estimate
from bevel.workflow.tuning import Tried, best_of, grid

__all__ = ["FitResult", "TuneResult", "explain", "fit", "predict", "tune"]

PathOrText = str | PathLike[str]


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
        What was read from the file; ``rows.notes`` says how it was understood.
    seconds : float
        Time to grow the trees.
    """

    model: Any
    scores: dict[str, Estimate]
    scored_by: str
    rows: LabelledRows
    seconds: float


@dataclass(frozen=True, eq=False)
class TuneResult:
    """A grid of forests.

    Attributes
    ----------
    model : estimator
        The best forest, grown anew.
    best : Tried
        The point of least out-of-bag loss; as the best of many it is optimistic.
    tried : list of Tried
        All points.
    rows : LabelledRows
        What was read from the file.
    """

    model: Any
    best: Tried
    tried: list[Tried]
    rows: LabelledRows


def fit(
    data: PathOrText,
    target: str,
    *,
    task: str = "auto",
    projection: Any = "sparse",
    n_projections: int | float | str = "auto",
    n_estimators: int = 300,
    keep_targets: bool = False,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    header: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
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
    drop, nominal : sequence of str
        Columns to leave out, and columns whose numbers are names.
    header : bool, default=None
        Whether the first line holds names; None looks.
    random_state : int, default=0
    """
    rows = read_labelled_rows(
        Path(data), target, task=task, drop=drop, nominal=nominal, header=header
    )
    if keep_targets:
        check_keep_targets(rows)
    settings = Settings(projection, n_projections, n_estimators, random_state, n_jobs)
    fitted = fitting.fit(rows, settings, keep_targets=keep_targets)
    scored_by, scores = score_fitted(rows, settings, fitted)
    return FitResult(fitted.model, scores, scored_by, rows, fitted.seconds)


def predict(
    model: Any, data: PathOrText, *, proba: bool = False, header: bool | None = None
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
    """
    return predict_file(_opened(model), Path(data), proba=proba, header=header)


def tune(
    data: PathOrText,
    target: str,
    *,
    task: str = "auto",
    n_estimators: int = 300,
    tuning_trees: int = 100,
    all_powers: bool = False,
    drop: Sequence[str] = (),
    nominal: Sequence[str] = (),
    header: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> TuneResult:
    """Choose the number of directions and their density by out-of-bag error (SPORF, section 3.2).

    Parameters
    ----------
    data, target, task, n_estimators, drop, nominal, header, random_state, n_jobs
        As in `fit`.
    tuning_trees : int, default=100
        Trees at each point of the grid.
    all_powers : bool, default=False
        Try p² directions however many that are.
    """
    rows = read_labelled_rows(
        Path(data), target, task=task, drop=drop, nominal=nominal, header=header
    )
    settings = Settings(n_trees=n_estimators, seed=random_state, n_jobs=n_jobs)
    points = grid(rows, all_powers=all_powers)
    tried = tuning.tune(rows, points, replace(settings, n_trees=tuning_trees))
    best = best_of(tried)
    return TuneResult(fitting.fit(rows, best.point.settings(settings)).model, best, tried, rows)


def explain(
    model: Any,
    data: PathOrText,
    *,
    target: str | None = None,
    rows: Sequence[int] = (),
    header: bool | None = None,
    random_state: int = 0,
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
    """
    opened = _opened(model)
    found = read_model_rows(opened, Path(data), target=target, header=header)
    return explaining.explain(
        opened, found.X, found.y, number=found.number, requested=rows, seed=random_state
    )


def _opened(model: Any) -> Any:
    return load(Path(model)) if isinstance(model, str | PathLike) else model
