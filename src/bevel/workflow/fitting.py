"""Fits forests to a table for the commands: with out-of-bag predictions, their course over
the trees, and cross-validation.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis import out_of_bag_curve
from bevel.analysis.results import OutOfBagCurve
from bevel.errors import NoOutOfBagError, wrong_value
from bevel.estimators import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)
from bevel.projections.families import TableShape
from bevel.tuning import TuningResult, tune
from bevel.tuning.candidates import sporf_grid
from bevel.tuning.parameter_file import read_parameter_file
from bevel.workflow.rows import CLASSIFICATION, LabelledRows
from bevel.workflow.scores import Estimate, classification_scores, regression_scores

__all__ = [
    "BOOSTING",
    "FOREST",
    "GRIDS",
    "MODELS",
    "FitResult",
    "Fitted",
    "Settings",
    "TuneResult",
    "check_keep_targets",
    "cross_validate",
    "default_trees",
    "fit",
    "make",
    "score_fitted",
    "scores_of",
    "tune_rows",
    "with_parameter_file",
]

Forest = ObliqueForestClassifier | ObliqueForestRegressor
Boosting = ObliqueBoostingClassifier | ObliqueBoostingRegressor
FOREST, BOOSTING = "forest", "boosting"
MODELS = (FOREST, BOOSTING)
OnTree = Callable[[int, int], object]
OnFold = Callable[[int, int], object]


def _do_nothing(_done: int, _total: int) -> None:
    """Do nothing; a callback lets Ctrl-C interrupt the growth of trees."""


@dataclass(frozen=True)
class Settings:
    """Parameters of a forest."""

    projection: Any = "auto"
    n_projections: int | float | str = "auto"
    n_trees: int = 300  # iterations of boosting; 0: chosen by early stopping
    seed: int = 0
    n_jobs: int | None = None
    others: Mapping[str, Any] = field(default_factory=dict)  # further parameters by name
    model: str = FOREST


@dataclass(frozen=True, eq=False)
class Fitted:
    """A forest and its out-of-bag estimates.

    Attributes
    ----------
    model : estimator
        The forest.
    out_of_bag : ndarray or None
        Probabilities (n_rows, n_classes) or values (n_rows,), NaN for rows in every bag; None if
        the projection leaves no rows out.
    seconds : float
        Time to grow the trees.
    curve : OutOfBagCurve or None
        Out-of-bag loss against the number of trees, if requested and known.
    """

    model: Forest | Boosting
    out_of_bag: Floats | None
    seconds: float
    curve: OutOfBagCurve | None = None


def default_trees(task: str) -> int:
    """Default number of trees: that of the estimator."""
    kind = ObliqueForestClassifier if task == CLASSIFICATION else ObliqueForestRegressor
    return int(kind().n_estimators)


def make(data: LabelledRows, settings: Settings, **parameters: Any) -> Any:
    """An unfitted forest for the task of the data, or an unfitted boosting."""
    if settings.model == BOOSTING:
        boosting = (
            ObliqueBoostingClassifier if data.task == CLASSIFICATION else ObliqueBoostingRegressor
        )
        return boosting(
            max_iter=settings.n_trees or "auto",
            projection=settings.projection,
            n_projections=settings.n_projections,
            random_state=settings.seed,
            n_jobs=settings.n_jobs,
            **settings.others,
            **parameters,
        )
    kind = ObliqueForestClassifier if data.task == CLASSIFICATION else ObliqueForestRegressor
    return kind(
        n_estimators=settings.n_trees,
        projection=settings.projection,
        n_projections=settings.n_projections,
        random_state=settings.seed,
        n_jobs=settings.n_jobs,
        **settings.others,
        **parameters,
    )


def fit(
    data: LabelledRows,
    settings: Settings,
    *,
    keep_targets: bool = False,
    curve: bool = False,
    on_tree: OnTree | None = None,
) -> Fitted:
    """Grow a forest, with its out-of-bag loss against the number of trees if requested.

    `keep_targets` keeps the training targets in a regressor, for quantiles.
    """
    if settings.model == BOOSTING:
        return _boost(data, settings, on_tree)
    kept = {"keep_targets": True} if keep_targets else {}
    model = make(data, settings, oob_score=True, callback=on_tree or _do_nothing, **kept)
    start = time.perf_counter()
    try:
        _fit_quietly(model, data)
        predictions = out_of_bag(model)
    except NoOutOfBagError:
        model.set_params(oob_score=False)
        _fit_quietly(model, data)
        predictions = None
    seconds = time.perf_counter() - start
    model.set_params(callback=None)
    course = None
    if curve and predictions is not None and not np.isnan(predictions).all():
        course = out_of_bag_curve(model, data.X, data.y)
    return Fitted(model, predictions, seconds, course)


def _boost(data: LabelledRows, settings: Settings, on_tree: OnTree | None) -> Fitted:
    model = make(data, settings, callback=on_tree or _do_nothing)
    start = time.perf_counter()
    model.fit(data.X, data.y, data.weights)
    seconds = time.perf_counter() - start
    return Fitted(model.set_params(callback=None), None, seconds)


def _fit_quietly(model: Forest, data: LabelledRows) -> None:
    """Fit without the warning that some rows have been in every bag so far."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
        model.fit(data.X, data.y, data.weights)


def out_of_bag(model: Forest) -> Floats:
    """Out-of-bag probabilities or values of a fitted forest."""
    name = "oob_decision_function_" if hasattr(model, "classes_") else "oob_prediction_"
    predictions: Floats = getattr(model, name)
    return predictions


def coded(data: LabelledRows) -> npt.NDArray[Any]:
    """The target as numbers: positions among the classes, or the values."""
    return np.searchsorted(data.classes, data.y) if data.task == CLASSIFICATION else data.y


def scores_of(data: LabelledRows, predictions: Floats) -> dict[str, Estimate]:
    """Scores of predictions of the data's rows; rows without a prediction are left out."""
    known = ~np.isnan(predictions).reshape(len(data.y), -1).any(axis=1)
    if not known.any():
        return {}
    y, seen = coded(data)[known], predictions[known]
    return (
        classification_scores(y, seen)
        if data.task == CLASSIFICATION
        else regression_scores(y, seen)
    )


def check_keep_targets(data: LabelledRows) -> None:
    """Raise if targets are to be kept in classification."""
    if data.task == CLASSIFICATION:
        raise ValueError(
            f"`keep_targets` needs a target of numbers; got {len(data.classes)} classes. Leave it "
            'out, or ask for `task="regression"`.'
        )


def score_fitted(
    data: LabelledRows,
    settings: Settings,
    fitted: Fitted,
    *,
    on_fold: OnFold = lambda *_: None,
) -> tuple[str, dict[str, Estimate]]:
    """Out-of-bag scores, or cross-validated ones if no row is out of a bag."""
    if fitted.out_of_bag is not None:
        found = scores_of(data, fitted.out_of_bag)
        if found:
            return "out-of-bag", found
    predictions = cross_validate(data, settings, on_fold=on_fold)
    return "cross-validated", scores_of(data, predictions)


def cross_validate(
    data: LabelledRows,
    settings: Settings,
    *,
    n_folds: int = 5,
    on_fold: OnFold = lambda *_: None,
) -> Floats:
    """Predictions of every row by a forest that has not seen it.

    Folds are drawn by the seed and stratified by class. A class with fewer rows than
    folds is absent from some training sets; its probability is zero there.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    is_classification = data.task == CLASSIFICATION
    n_folds = min(n_folds, len(data.y))
    codes = coded(data)
    rarest = int(np.bincount(codes).min()) if is_classification else 0
    kind = StratifiedKFold if rarest >= n_folds else KFold
    folds = kind(n_folds, shuffle=True, random_state=settings.seed)
    shape = (len(data.y), len(data.classes)) if is_classification else (len(data.y),)
    predictions = np.zeros(shape)
    for number, (train, test) in enumerate(folds.split(codes, codes)):
        model = make(data, settings, callback=_do_nothing).fit(
            data.X.rows(train), data.y[train], None if data.weights is None else data.weights[train]
        )
        rows = data.X.rows(test)
        if is_classification:
            seen = np.searchsorted(data.classes, model.classes_)
            predictions[np.ix_(test, seen)] = model.predict_proba(rows)
        else:
            predictions[test] = model.predict(rows)
        on_fold(number + 1, n_folds)
    return predictions


# Results of fitting and tuning on a file of rows.


@dataclass(frozen=True, eq=False)
class FitResult:
    """A forest fitted to a file of rows.

    Attributes
    ----------
    model : estimator
    scores : dict of str to Estimate
        Scores, each with its 95 % interval.
    scored_by : {"out-of-bag", "cross-validated"}
    rows : LabelledRows
        Rows of the file; ``rows.notes`` has notes on how it was read.
    settings : Settings
        Settings of the forest.
    seconds : float
        Time to grow the trees.
    out_of_bag : ndarray or None
        Probabilities (n_rows, n_classes) or values (n_rows,), NaN for rows in every bag; None if
        the projection leaves no rows out.
    curve : OutOfBagCurve or None
        Out-of-bag loss against the number of trees, with ``curve=True``.

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
    >>> result.model.n_classes_
    3
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
    return tune(make(data, settings), data.X, data.y, candidates=candidates, **options)


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
    read = read_parameter_file(path, type(make(data, settings)), data.target)
    return replace(
        settings,
        projection=read.pop("projection", "auto"),
        n_projections=read.pop("n_projections", "auto"),
        others={**read, **settings.others},
    )
