"""Fits a forest to a scanned table: growth over blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bevel.errors import shorten, wrong_value
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.predictor import PackedPredictor
from bevel.projections.families import Member, TableShape, read_projection
from bevel.scanning import ScannedTable
from bevel.scanning.reading import ReadColumns, ReadTable, read_blocks
from bevel.training.blocks.growing import WorkSpace, grow_over_blocks
from bevel.training.blocks.out_of_bag import predict_blocks_out_of_bag
from bevel.training.criteria import is_regression
from bevel.training.options import draw_seed, resolve_options
from bevel.training.threads import count_threads
from bevel.training.trainer import TrainingTarget, native_options

if TYPE_CHECKING:
    from bevel.estimators._base import ObliqueForest

__all__ = ["fit_over_blocks", "fit_scanned", "refuse_arrays", "remember_columns"]

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
    _check(values)
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
    estimator: ObliqueForest, read: ReadTable, values: Mapping[str, Any], members: Sequence[Member]
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
        classes=getattr(estimator, "classes_", None),
        hard=values.get("voting") == "hard",
        bags=None,
        seed=options.seed,
        class_weight=values.get("class_weight"),
        tuned_out_of_bag="",
        targets=None,
        rotations=None,
        families=None,
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


def _check(values: Mapping[str, Any]) -> None:
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


def _check_members(members: Sequence[Member]) -> None:
    for projection in (member.projection for member in members):
        if not projection.draws_without_rows:
            raise ValueError(
                "projection must draw its directions without looking at rows with a scanned "
                f"table, whose rows are in blocks; got {shorten(projection)}. Use "
                '"sparse", "axis", "combination", "rotation", P.MultiRotation(), P.Patches or '
                "P.Custom with a matrix; or fit rows that are in memory."
            )
