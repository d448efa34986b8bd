"""Fits boosting to a scanned table, on columns that may be in a mapped file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel.data.dataset import Dataset
from bevel.errors import wrong_value
from bevel.estimators.gradient_boosting.stages import BoostingWork
from bevel.estimators.scanned.fitting import refuse_arrays, remember_columns
from bevel.scanning import ScannedTable
from bevel.scanning.budget import RowBytes
from bevel.scanning.columns import scratch_bytes
from bevel.scanning.reading import ReadColumns, read_columns
from bevel.scanning.sample import hash_rows
from bevel.training.boosting import BoostingTarget, code_bytes, resolve_directions
from bevel.training.feature_constraints import FeatureConstraints
from bevel.training.options import draw_seed
from bevel.training.threads import count_threads

if TYPE_CHECKING:
    from bevel.estimators.gradient_boosting.base import ObliqueBoosting

__all__ = ["fit_boosting"]

MOST_ROWS = 2**30
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
    _check(estimator, validation)
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


def _check(estimator: ObliqueBoosting, validation: tuple[Any, Any, Any]) -> None:
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
    if n_rows >= MOST_ROWS:
        raise ValueError(
            f"Boosting takes tables of less than {MOST_ROWS:,} rows; got {n_rows:,}. Fit an "
            "ObliqueForest, or a part of the rows."
        )
