"""Fits forests and boosting to scanned tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel.data.dataset import Dataset
from bevel.errors import shorten, wrong_value
from bevel.estimators._boosted_trees import BoostingWork
from bevel.forest.aggregation import MeanOfTrees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.predictor import PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.task import Classification, Regression
from bevel.projections.families import ProjectionDraws, TableShape, read_projection
from bevel.scanning import ScannedTable
from bevel.scanning.reading import ReadColumns, ReadTable, read_blocks, read_columns
from bevel.scanning.store import RowBytes, scratch_bytes
from bevel.scanning.survey import hash_rows
from bevel.training.blocks import WorkSpace, grow_over_blocks, predict_blocks_out_of_bag
from bevel.training.boosting import BoostingTarget, code_bytes, resolve_directions
from bevel.training.options import FeatureConstraints, draw_seed, is_regression, resolve_options
from bevel.training.threads import count_threads
from bevel.training.trainer import TrainingTarget, native_options

if TYPE_CHECKING:
    from bevel.estimators.boosting import ObliqueBoosting
    from bevel.estimators.forest import ObliqueForest

__all__ = [
    "fit_boosting",
    "fit_over_blocks",
    "fit_scanned",
    "refuse_arrays",
    "remember_columns",
]

# Fits a forest to a scanned table: growth over blocks of rows.

# Projection that "auto" stands for, whose directions do not depend on rows.
AUTOMATIC = "sparse"
CRITERIA = ("auto", "gini", "entropy", "log_loss", "squared_error")


def fit_scanned(estimator: ObliqueForest, scanned: ScannedTable, y: Any, weight: Any) -> None:
    """Fit an estimator to a scanned table."""
    refuse_arrays(y, weight)
    fit_over_blocks(estimator, partial(read_blocks, scanned, bar=bool(estimator.verbose)))


def refuse_arrays(y: Any, weight: Any) -> None:
    """Raise if targets or weights are given in addition to a scanned table."""
    for name, value in (("y", y), ("sample_weight", weight)):
        if value is not None:
            raise ValueError(
                f"{name} must be None with a scanned table, which has its own; got "
                f"{shorten(value)}. Pass it to scan, as target= or weight=."
            )


def remember_columns(estimator: Any, read: ReadTable | ReadColumns) -> None:
    """Set the attributes that describe the columns and classes of the table."""
    estimator.n_features_in_ = read.table.n_features
    if read.names is not None:
        estimator.feature_names_in_ = np.array(read.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    if read.classes is not None:
        estimator.classes_, estimator.n_classes_ = read.classes, len(read.classes)


def fit_over_blocks(
    estimator: ObliqueForest, read_table: Callable[..., AbstractContextManager[ReadTable]]
) -> None:
    """Fit an estimator to a table in blocks.

    Parameters
    ----------
    estimator : ObliqueForest
        Estimator to fit.
    read_table : callable
        Reads the table; see `read_blocks` for its arguments.
    """
    values, members = estimator._checked_parameters()
    if not members:
        members = read_projection(AUTOMATIC, "auto")
    _check_forest(values)
    _check_members(members)
    with read_table(
        regression=is_regression(values["criterion"]),
        categorical_features=estimator.categorical_features,
        scale=estimator._scale_for(members),
        class_weight=values.get("class_weight"),
        n_threads=count_threads(estimator.n_jobs),
    ) as read:
        _fit_blocks(estimator, read, values, members)


def _fit_blocks(
    estimator: ObliqueForest,
    read: ReadTable,
    values: Mapping[str, Any],
    members: Sequence[ProjectionDraws],
) -> None:
    table, levels = read.table, read.table.encoding.levels
    n_nominal = int(np.count_nonzero(levels))
    shape = TableShape(table.n_rows, table.n_features - n_nominal, n_nominal)
    options = resolve_options(values, members, shape, draw_seed(estimator.random_state))
    remember_columns(estimator, read)
    estimator.n_outputs_ = 1
    space = WorkSpace(read.shares.numbers, read.shares.rows)
    trees = range(estimator.n_estimators)
    progress = estimator._progress(trees)
    n_threads = count_threads(estimator.n_jobs)
    grown = grow_over_blocks(read.blocks, table, options, trees, space, n_threads, progress)
    predictor = PackedPredictor(grown.forest)
    estimator._fitted = FittedForest(
        predictor=predictor,
        encoding=table.encoding,
        feature_names=estimator._names_of_columns(),
        task=Classification(estimator.classes_) if table.n_classes else Regression(),
        aggregation=MeanOfTrees(hard=values.get("voting") == "hard"),
        provenance=Provenance(options.seed, class_weight=values.get("class_weight")),
    )
    if estimator.oob_score:
        rest = (
            native_options(options),
            table.n_rows,
            grown.takes_all,
            values.get("voting") == "hard",
        )
        blocks = read.blocks.blocks()
        estimates, targets = predict_blocks_out_of_bag(predictor, blocks, *rest, n_threads)
        estimates.warn_of_unknown()
        estimator._set_out_of_bag(estimates, TrainingTarget(targets, table.n_classes, None))


def _check_forest(values: Mapping[str, Any]) -> None:
    """Raise for a parameter that is not supported over blocks."""
    where = "with a scanned table"
    for name, allowed, remedy in (
        ("threshold", ("best",), "Leave it out, or fit rows that are in memory."),
        ("split_pure_nodes", (False,), "Leave it out, or fit rows that are in memory."),
        ("split_search", ("auto", "histogram"), "Leave it out: large nodes are cut at bins."),
        ("max_leaf_nodes", (None,), "Limit max_depth or min_samples_leaf."),
        ("warm_start", (False,), "Grow all trees in one fit."),
        ("keep_targets", (False,), "Fit rows that are in memory."),
        ("calibration", ("auto", None), "Leave it out."),
        ("criterion", CRITERIA, "Fit rows that are in memory."),
        ("monotonic_cst", (None,), "Fit rows that are in memory."),
        ("interaction_cst", (None,), "Fit rows that are in memory."),
    ):
        got = values.get(name, allowed[0])
        if not any(got is each or got == each for each in allowed):
            required = " or ".join(repr(each) for each in allowed) + f" {where}"
            raise wrong_value(name, required, got, remedy)
    weights = values.get("class_weight")
    if isinstance(weights, str) and weights == "balanced_subsample":
        remedy = 'Use class_weight="balanced".'
        raise wrong_value("class_weight", f'None, "balanced" or a mapping {where}', weights, remedy)


def _check_members(members: Sequence[ProjectionDraws]) -> None:
    for projection in (member.projection for member in members):
        if not projection.draws_without_rows:
            raise ValueError(
                "projection must draw its directions without looking at rows with a scanned "
                f"table, whose rows are in blocks; got {shorten(projection)}. Use "
                '"sparse", "axis", "combination", "rotation", P.MultiRotation(), P.Patches or '
                "P.Custom with a matrix; or fit rows that are in memory."
            )


MAX_ROWS = 2**30
# Bytes of a row: target twice, weight, gradients, whole numbers and row numbers with their buffers;
# for each output the prediction, and what the loss stores for it.
ROW_STATE, OUTPUT_STATE = 90, 16


class ColumnNames(NamedTuple):
    """The columns of a scanned table, as messages and constraints name them."""

    names: tuple[str, ...] | None
    n_features: int

    def describe(self, feature: int) -> str:
        """Name a column: its quoted name, or its index."""
        return str(feature) if self.names is None else repr(self.names[feature])


def fit_boosting(
    estimator: ObliqueBoosting,
    scanned: ScannedTable,
    targets: tuple[Any, Any],
    validation: tuple[Any, Any, Any],
) -> None:
    """Fit an estimator to a scanned table.

    Parameters
    ----------
    estimator : ObliqueBoosting
        Estimator to fit.
    scanned : ScannedTable
        Table from `scan`.
    targets : tuple
        y and sample_weight as given to fit: None.
    validation : tuple
        X_val, y_val and sample_weight_val as given to fit: None.
    """
    refuse_arrays(*targets)
    _check_boosting(estimator, validation)
    estimator._check_parameters(None, None, None)
    with read_columns(
        scanned,
        regression=not _is_classifier(estimator),
        categorical_features=estimator.categorical_features,
        scale=estimator._chosen_scale(),
        class_weight=getattr(estimator, "class_weight", None),
        n_threads=count_threads(estimator.n_jobs),
        bar=bool(estimator.verbose),
        row_bytes=partial(_row_bytes, estimator),
    ) as read:
        _fit(estimator, scanned, read)


def _fit(estimator: ObliqueBoosting, scanned: ScannedTable, read: ReadColumns) -> None:
    table = read.table
    _check_rows(table.n_rows)
    remember_columns(estimator, read)
    values = np.asarray(read.rows.target, dtype=np.float64)
    target = BoostingTarget(estimator._checked_target(values), read.rows.weights, None)
    scratch = partial(scratch_bytes, scanned.folder) if read.on_disk else None
    dataset = Dataset(read.rows.X, table.has_nan, table.encoding, scratch)
    seed = draw_seed(estimator.random_state)
    target, refits = estimator._hold_out(target, seed, hold_out_by_number)
    columns = ColumnNames(read.names, table.n_features)
    constraints = estimator._constraints(columns, table.encoding.levels)
    options = estimator._options(table.n_rows, target.validates is not None, None, refits)
    work = BoostingWork(dataset, target, constraints, options, seed)
    estimator._fit_in_stages(work, refits)


def hold_out_by_number(
    target: BoostingTarget, is_classifier: bool, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Choose the training rows that validate by a hash of their number.

    Parameters
    ----------
    target : BoostingTarget
        Targets of the training rows.
    is_classifier : bool
        Whether targets are classes.
    fraction : float
        Approximate share of the rows to hold out.
    seed : int
        Seed of the choice.
    """
    n_rows = len(target.values)
    key = hash_rows(np.array([seed % 2**62], dtype=np.int64))[0]
    validates = np.empty(n_rows, dtype=np.bool_)
    for first in range(0, n_rows, 2**20):
        rows = np.arange(first, min(first + 2**20, n_rows), dtype=np.int64)
        hashes = hash_rows((rows.astype(np.uint64) ^ key).astype(np.int64))
        validates[rows] = hashes < np.uint64(fraction * 2.0**64)
    classes = target.values if is_classifier else np.zeros(n_rows)
    missing = len(np.unique(classes)) - len(np.unique(classes[~validates]))
    if missing or not validates.any():
        raise ValueError(
            f"early_stopping needs rows to hold out, and others of every class; got {n_rows} rows "
            f"and validation_fraction={fraction}. Set early_stopping=False."
        )
    return validates


def _is_classifier(estimator: ObliqueBoosting) -> bool:
    return hasattr(estimator, "predict_proba")


def _row_bytes(
    estimator: ObliqueBoosting, n_rows: int, levels: npt.NDArray[np.int32], n_classes: int
) -> RowBytes:
    free = FeatureConstraints((), ())
    families = resolve_directions(estimator._members(), n_rows, levels, free)
    n_outputs = max(len(estimator._quantiles()), n_classes if n_classes > 2 else 1)
    return RowBytes(ROW_STATE + OUTPUT_STATE * n_outputs, sum(code_bytes(families, len(levels))))


def _check_boosting(estimator: ObliqueBoosting, validation: tuple[Any, Any, Any]) -> None:
    """Raise for parameters that are not supported with a scanned table."""
    for name, given in zip(("X_val", "y_val", "sample_weight_val"), validation, strict=True):
        if given is not None:
            raise ValueError(
                f"{name} must be None with a scanned table, of whose rows a share is held out; got "
                "a value. Leave it out, or fit rows that are in memory."
            )
    where = "with a scanned table"
    if estimator.warm_start:
        remedy = "Grow all iterations in one fit."
        raise wrong_value("warm_start", f"False {where}", estimator.warm_start, remedy)
    if estimator._scores():
        remedy = "Leave it out: the loss decides when to stop."
        raise wrong_value("scoring", f'"loss" {where}', estimator.scoring, remedy)
    if callable(estimator.loss):
        remedy = "Fit rows that are in memory."
        raise wrong_value("loss", f"the name of a loss {where}", estimator.loss, remedy)


def _check_rows(n_rows: int) -> None:
    if n_rows >= MAX_ROWS:
        raise ValueError(
            f"Boosting takes tables of less than {MAX_ROWS:,} rows; got {n_rows:,}. Fit an "
            "ObliqueForest, or a part of the rows."
        )
