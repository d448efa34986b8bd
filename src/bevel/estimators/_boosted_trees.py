"""The validation rows of a boosting fit, and what its stages pass to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from bevel._types import Float32s, Floats
from bevel.data.dataset import Dataset
from bevel.data.row_groups import RowGroups
from bevel.data.sparse_columns import SparseColumns
from bevel.data.survival import SurvivalTarget
from bevel.errors import wrong_type, wrong_value
from bevel.forest.aggregation import SumOfTrees
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.records import BoostingRecord
from bevel.scanning.survey import hash_rows
from bevel.training.boosting import (
    BoostingFit,
    BoostingOptions,
    BoostingTarget,
    ValidationScorer,
)
from bevel.training.options import FeatureConstraints

__all__ = [
    "FIRST_STAGE",
    "LINEAR_STAGE",
    "OUTPUT_STATE",
    "ROW_STATE",
    "BoostingWork",
    "ColumnNames",
    "GivenRows",
    "append_rows",
    "check_classes_stay",
    "check_rows",
    "check_validation",
    "hold_out",
    "hold_out_by_number",
    "hold_out_groups",
    "read_eval_set",
    "validation_rows",
]


def _additive(fitted: FittedForest) -> SumOfTrees:
    assert isinstance(fitted.aggregation, SumOfTrees)
    return fitted.aggregation


def _record(fitted: FittedForest) -> BoostingRecord:
    record = _additive(fitted).record
    if record is None:
        raise AttributeError(
            "The learning curve needs a model that was saved by Bevel 0.2 or later, or fitted "
            "here; got one from an older file. Fit it again."
        )
    return record


# The rows that boosting does not train on: given by the user, or held out.


def read_eval_set(
    eval_set: Any, training: tuple[Any, Any], validation: tuple[Any, Any]
) -> tuple[Any, Any]:
    """The validation rows of `eval_set`, or those that are given otherwise.

    Parameters
    ----------
    eval_set : pair or list of pairs, or None
        As given to fit; the training rows may be one of the pairs.
    training, validation : tuple
        X and y, X_val and y_val, as given to fit.
    """
    if eval_set is None:
        return validation
    required = (
        "a pair (X_val, y_val), or a list with one such pair beside that of the training rows"
    )
    if any(each is not None for each in validation):
        raise ValueError(
            "eval_set must be None with X_val and y_val, which are the validation rows too; got "
            "both. Leave out one of them."
        )
    pairs = list(eval_set) if isinstance(eval_set, list) else [eval_set]
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise wrong_type("eval_set", required, eval_set, "Pass eval_set=[(X_val, y_val)].")
    new = [pair for pair in pairs if pair[0] is not training[0]]
    if len(new) != 1:
        remedy = "Pass the rows that decide when to stop; score others afterwards."
        raise wrong_value("eval_set", required, f"{len(new)} pairs of other rows", remedy)
    return tuple(new[0])


class GivenRows(NamedTuple):
    """Rows as they are given to fit."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None
    groups: Any = None

    def named(self) -> list[tuple[str, Any]]:
        """The arrays of validation rows with the names of their arguments."""
        return [("X_val", self.X), ("y_val", self.y), ("sample_weight_val", self.sample_weight)]


def check_validation(
    given: GivenRows, early_stopping: bool | str, refit: bool | str, warm_start: bool
) -> None:
    """Raise if validation rows, early stopping and refit contradict each other.

    Parameters
    ----------
    given : GivenRows
        Validation rows.
    early_stopping, refit, warm_start : bool or str
        Parameters as given to the estimator.
    """
    X_val, y_val, sample_weight_val, _ = given
    if (X_val is None) != (y_val is None):
        present, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise ValueError(
            f"X_val and y_val must be given together; got {present} without {absent}. Pass both, "
            "or none to hold out a share of the training rows."
        )
    if sample_weight_val is not None and X_val is None:
        raise ValueError(
            "sample_weight_val needs X_val and y_val, whose rows it weighs; got it alone. "
            "Pass all three, or leave it out."
        )
    if refit is True and (X_val is not None or early_stopping is False):
        got = "X_val" if X_val is not None else "early_stopping=False"
        raise ValueError(
            "refit=True needs rows that fit has held out itself; got it with "
            f'{got}. Leave {got.split("=")[0]} out, or set refit="auto".'
        )
    if refit is True and warm_start:
        raise ValueError(
            "refit=True must not be used with warm_start=True, which adds to the trees that "
            "exist; got both. Set one of them to False."
        )
    if X_val is not None and early_stopping is False:
        raise ValueError(
            'early_stopping must be True or "auto" with X_val; got False, which has no use for '
            "validation rows. Leave X_val out, or set early_stopping=True."
        )


def validation_rows(
    X: Any, X_val: Any, target: BoostingTarget
) -> tuple[Any, npt.NDArray[Any], Floats | None]:
    """Validation rows with a weight as the user has given them, their targets and weights.

    Parameters
    ----------
    X, X_val : array, data frame or sparse matrix
        Rows as given to fit; X_val may be None.
    target : BoostingTarget
        Targets of the training rows, with validation rows appended or among them.
    """
    assert target.validates is not None
    weights = target.weights
    kept = target.validates if weights is None else target.validates & (weights > 0.0)
    places = np.flatnonzero(kept)
    given, first = X, 0
    if X_val is not None:
        given, first = X_val, len(kept) - int(np.count_nonzero(target.validates))
    given = given if hasattr(given, "shape") else np.asarray(given)
    rows = _safe_indexing(given, places - first)
    return rows, target.values[kept], None if weights is None else weights[kept]


def append_rows(
    dataset: Dataset,
    target: BoostingTarget,
    rows: Float32s | SparseColumns,
    validation: BoostingTarget,
) -> tuple[Dataset, BoostingTarget]:
    """Dataset and target with validation rows appended to the training rows.

    Parameters
    ----------
    dataset : Dataset
        Training rows.
    target : BoostingTarget
        Targets of the training rows.
    rows : ndarray of float32 or SparseColumns
        Validation rows, encoded and stored as the training rows are.
    validation : BoostingTarget
        Targets of the validation rows.
    """
    n_before, n = dataset.shape[0], dataset.shape[0] + len(rows)
    X: Float32s | SparseColumns
    if isinstance(rows, SparseColumns):
        assert dataset.sparse is not None
        X = dataset.sparse.append(rows)
        has_nan = X.native.summarise(1)[1]
    else:
        X = np.empty((n, rows.shape[1]), dtype=np.float32, order="F")
        X[:n_before], X[n_before:] = dataset.X, rows
        numeric = dataset.encoding.levels == 0
        has_nan = (dataset.has_nan != 0) | (np.isnan(rows).any(axis=0) & numeric)
    joined = BoostingTarget(
        np.concatenate([target.values, validation.values]),
        _join_weights(target, validation),
        np.arange(n) >= n_before,
        _join_groups(target, validation),
        _join_times(target, validation),
    )
    terms = dataset.level_terms
    return Dataset(X, has_nan.astype(np.uint8), dataset.encoding, level_terms=terms), joined


def hold_out(
    target: BoostingTarget, by_class: bool, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Choose the training rows that validate.

    Parameters
    ----------
    target : BoostingTarget
        Targets of the training rows.
    by_class : bool
        Whether targets are classes, each of which is held out in its share.
    fraction : float
        Share of the rows to hold out.
    seed : int
        Seed of the choice.
    """
    n_rows = len(target.values)
    try:
        _, held_out = train_test_split(
            np.arange(n_rows),
            test_size=fraction,
            random_state=seed % 2**32,
            stratify=target.strata if by_class else None,
        )
    except ValueError as error:
        raise ValueError(
            f"early_stopping needs rows of every class to hold out; got {n_rows} rows and "
            f"validation_fraction={fraction} ({error}). Pass X_val and y_val, or set "
            "early_stopping=False."
        ) from error
    validates = np.zeros(n_rows, dtype=np.bool_)
    validates[held_out] = True
    return validates


def hold_out_groups(
    groups: RowGroups, target: BoostingTarget, by_class: bool, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Choose groups whose rows validate, by the most frequent class of each where that is possible.

    Parameters
    ----------
    groups : RowGroups
        Groups of the training rows.
    target, by_class, seed
        As in `hold_out`.
    fraction : float
        Share of the groups to hold out.
    """
    codes, values = groups.codes, target.strata
    chosen = np.zeros(groups.n_groups)
    if by_class:
        n_classes = int(values.max()) + 1
        cells = codes.astype(np.intp) * n_classes + values.astype(np.intp)
        counts = np.bincount(cells, minlength=groups.n_groups * n_classes)
        chosen = counts.reshape(groups.n_groups, n_classes).argmax(axis=1).astype(np.float64)
    of_groups = BoostingTarget(chosen, None, None)
    try:
        held_out = hold_out(of_groups, by_class, fraction, seed)
    except ValueError:  # such as a class with a single group
        held_out = hold_out(of_groups, False, fraction, seed)
    return check_classes_stay(held_out[codes], target, by_class, fraction)


def check_classes_stay(
    validates: npt.NDArray[np.bool_], target: BoostingTarget, by_class: bool, fraction: float
) -> npt.NDArray[np.bool_]:
    """Return rows to hold out; raises without any, or unless others are of every class."""
    classes = target.strata if by_class else np.zeros(len(target.values))
    missing = len(np.unique(classes)) - len(np.unique(classes[~validates]))
    if missing or not validates.any():
        raise ValueError(
            "early_stopping needs rows to hold out, and others of every class; got "
            f"{len(classes)} rows and validation_fraction={fraction}. Set early_stopping=False."
        )
    return validates


def hold_out_by_number(
    target: BoostingTarget, by_class: bool, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Choose the training rows that validate by a hash of their number.

    Parameters
    ----------
    target : BoostingTarget
        Targets of the training rows.
    by_class : bool
        Whether targets are classes, each of which must stay among the other rows.
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
    return check_classes_stay(validates, target, by_class, fraction)


def _join_weights(first: BoostingTarget, second: BoostingTarget) -> Floats | None:
    if first.weights is None and second.weights is None:
        return None
    both = [
        np.ones(len(part.values)) if part.weights is None else part.weights
        for part in (first, second)
    ]
    return np.concatenate(both)


def _join_groups(first: BoostingTarget, second: BoostingTarget) -> npt.NDArray[np.uint32] | None:
    """Groups of both, those of the second after those of the first."""
    if first.groups is None or second.groups is None:
        return None
    return np.concatenate([first.groups, second.groups + first.groups.max() + np.uint32(1)])


def _join_times(first: BoostingTarget, second: BoostingTarget) -> SurvivalTarget | None:
    one, other = first.survival, second.survival
    if one is None or other is None:
        return None
    entry: Floats | None = None
    if one.entry is not None or other.entry is not None:
        entry = np.concatenate(
            [np.zeros(len(each)) if each.entry is None else each.entry for each in (one, other)]
        )
    return SurvivalTarget(
        np.concatenate([one.time, other.time]), np.concatenate([one.event, other.event]), entry
    )


# What boosting needs of a scanned table.

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


def check_rows(n_rows: int) -> None:
    if n_rows >= MAX_ROWS:
        raise ValueError(
            f"Boosting takes tables of less than {MAX_ROWS:,} rows; got {n_rows:,}. Fit an "
            "ObliqueForest, or a part of the rows."
        )


# The stages of a boosting fit: choice of directions, number of iterations, fit of all rows.

# Names of the stages in progress bars.
FIRST_STAGE = "boosting"
FEATURES_STAGE = "boosting, single features"
LINEAR_STAGE = "boosting, linear leaves"
REFIT_STAGE = "boosting all rows"


@dataclass(frozen=True, eq=False)
class BoostingWork:
    """Rows, targets and options that a stage grows trees with."""

    dataset: Dataset
    target: BoostingTarget
    constraints: FeatureConstraints
    options: BoostingOptions
    seed: int
    before: FittedForest | None = None
    scorer: ValidationScorer | None = None


def _unless_interrupted(grow: Callable[[], BoostingFit]) -> BoostingFit | None:
    """Grow a later stage; None after Ctrl-C, so that the earlier stages are used."""
    try:
        fitted = grow()
    except KeyboardInterrupt:
        return None
    return None if fitted.interrupted else fitted
