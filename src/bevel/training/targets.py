"""Targets of forests: how y is read for training, and how out-of-bag predictions of it are scored.

A kind of target is an object that a fit asks. It has no state besides its settings, so that it can
be sent to where the rows are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bevel.data.row_weights import read_weights, weights_of_classes
from bevel.data.survival import SurvivalTarget, read_survival, survival_array
from bevel.data.target import (
    OutputColumns,
    read_labels,
    read_numbers,
    read_output_labels,
    read_output_numbers,
    read_output_weights,
    refused_with_outputs,
    split_outputs,
)
from bevel.errors import shorten
from bevel.forest.calibration import power_losses, power_of_least_loss
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.survival import concordance
from bevel.forest.task import Classification, Regression, SeveralOutputs, Survival, Task
from bevel.forest.training_rows import OutOfBag
from bevel.training.options import check_counts
from bevel.training.trainer import TrainingTarget

__all__ = ["ClassTargets", "NumberTargets", "SurvivalTargets", "TargetKind"]

Metric = Callable[..., float]


class TargetKind(ABC):
    """A kind of target that forests learn.

    Attributes
    ----------
    several_outputs : bool
        Whether y may have several columns.
    most_trees : int
        Trees of a forest that chooses their number, at most.
    """

    several_outputs: bool = True
    most_trees: ClassVar[int] = 300

    @abstractmethod
    def read(
        self,
        y: Any,
        sample_weight: Any,
        n_rows: int,
        values: Mapping[str, Any],
        before: FittedForest | None,
    ) -> TrainingTarget:
        """Check y and the weights.

        Parameters
        ----------
        y, sample_weight
            Targets and weights as given to fit.
        n_rows : int
            Number of training rows.
        values : mapping
            Parameters of the estimator by name.
        before : FittedForest or None
            Forest of an earlier fit that this one adds trees to.
        """

    def score(self, estimates: OutOfBag, target: TrainingTarget, metric: Metric | None) -> float:
        """Score of out-of-bag predictions; the metric of None is that of the task."""
        task = target.task
        truth = task.labels_of(target.values_by_output)
        return estimates.score(metric or task.score, truth, task.decode)

    def power(
        self,
        blocks: Iterable[tuple[slice, OutOfBag]],  # noqa: ARG002
        target: TrainingTarget,  # noqa: ARG002
    ) -> float:
        """Power that suits the probabilities best; 1 for targets without probabilities.

        Parameters
        ----------
        blocks : iterable of (rows, OutOfBag)
            Out-of-bag predictions of consecutive rows.
        target : TrainingTarget
            Targets of the training rows.
        """
        return 1.0


@dataclass(frozen=True)
class ClassTargets(TargetKind):
    """Labels of classes; with `several_outputs`, also several columns of them."""

    several_outputs: bool = True
    most_trees: ClassVar[int] = 500

    def read(
        self,
        y: Any,
        sample_weight: Any,
        n_rows: int,
        values: Mapping[str, Any],
        before: FittedForest | None,
    ) -> TrainingTarget:
        """Check labels, and weigh rows by their classes."""
        class_weight = weights_of_classes(values["class_weight"], values["bootstrap"])
        given = split_outputs(y) if self.several_outputs else None
        if given is not None:
            return _read_outputs(given, sample_weight, n_rows, values, class_weight, before)
        classes, codes = read_labels(y, n_rows)
        task = Classification(classes)
        if before is not None:
            task.check_same(before.task)
        weights = read_weights(sample_weight, class_weight, classes[codes], n_rows)
        return TrainingTarget(codes, len(classes), weights, task)

    def power(self, blocks: Iterable[tuple[slice, OutOfBag]], target: TrainingTarget) -> float:
        """Power of least logarithmic loss of the known rows."""
        losses, knowns = [], []
        for rows, estimates in blocks:
            known = estimates.known
            losses.append(power_losses(estimates.predictions[known], target.values[rows][known]))
            knowns.append(known)
        weights = None if target.weights is None else target.weights[np.concatenate(knowns)]
        return power_of_least_loss(np.concatenate(losses, axis=1), weights)


def _read_outputs(
    given: OutputColumns,
    sample_weight: Any,
    n_rows: int,
    values: Mapping[str, Any],
    class_weight: Any,
    before: FittedForest | None,
) -> TrainingTarget:
    """Check the labels of several outputs."""
    if values.get("calibration") == "power":
        remedy = "Leave it out, or calibrate single outputs with scikit-learn."
        raise refused_with_outputs("calibration", "power", '"auto" or None', remedy)
    classes, codes = read_output_labels(given, n_rows)
    task = SeveralOutputs(given.names, tuple(classes))
    if before is not None:
        task.check_same(before.task)
    weights = read_output_weights(sample_weight, class_weight, classes, codes)
    return TrainingTarget(codes, task.n_classes, weights, task)


@dataclass(frozen=True)
class NumberTargets(TargetKind):
    """Numbers; with `several_outputs`, also several columns of them."""

    several_outputs: bool = True

    def read(
        self,
        y: Any,
        sample_weight: Any,
        n_rows: int,
        values: Mapping[str, Any],
        before: FittedForest | None,
    ) -> TrainingTarget:
        """Check numbers, and whether the criterion can take them."""
        keeps, criterion = values.get("keep_targets", False), values["criterion"]
        if keeps and before is not None and before.targets is None:
            raise ValueError(
                "keep_targets=True with warm_start needs the targets of the trees there are; got "
                "trees grown without it, or slimmed. Set keep_targets=False, or warm_start=False."
            )
        weights = read_weights(sample_weight, None, None, n_rows)
        given = split_outputs(y) if self.several_outputs else None
        task = Regression() if given is None else SeveralOutputs(given.names, None)
        if before is not None:
            task.check_same(before.task)
        if given is None:
            numbers = read_numbers(y, n_rows)
            if criterion == "poisson":
                check_counts(numbers, weights)
            return TrainingTarget(numbers, 0, weights, task)
        if keeps:
            remedy = "Pass X_train and y_train to predict_quantiles instead."
            raise refused_with_outputs("keep_targets", True, "False", remedy)
        if criterion != "squared_error":
            required, remedy = '"squared_error"', "Fit one forest per output."
            raise refused_with_outputs("criterion", criterion, required, remedy)
        numbers = read_output_numbers(given, n_rows)
        return TrainingTarget(numbers, 0, weights, task)


@dataclass(frozen=True)
class SurvivalTargets(TargetKind):
    """Right-censored times."""

    def read(
        self,
        y: Any,
        sample_weight: Any,
        n_rows: int,
        values: Mapping[str, Any],
        before: FittedForest | None,
    ) -> TrainingTarget:
        """Check times and events."""
        truth = read_survival(y, n_rows, needs_event=True, competing=values["competing_risks"])
        weights = read_weights(sample_weight, None, None, n_rows)
        counted = truth if weights is None else truth.where_seen(weights > 0.0)
        if not counted.event.any():
            raise ValueError(
                "y must have a row of weight above 0 whose event was seen; got events of weight 0 "
                "only. Check sample_weight."
            )
        if before is not None:
            _check_same_times(before.task, counted)
        return TrainingTarget(truth.time, 0, weights, _survival_task(counted, weights), truth)

    def score(self, estimates: OutOfBag, target: TrainingTarget, metric: Metric | None) -> float:
        """Concordance of the risks of the known rows."""
        truth = target.survival
        assert truth is not None
        if metric is None:
            default: Metric = concordance
            y: Any = truth
            return estimates.score(default, y, np.ravel)
        event = truth.event if truth.cause is None else truth.cause
        return estimates.score(metric, survival_array(truth.time, event, truth.entry), np.ravel)


def _survival_task(counted: SurvivalTarget, weights: npt.NDArray[np.float64] | None) -> Survival:
    with_weight = slice(None) if weights is None else weights > 0.0
    return Survival(counted.event_times, float(counted.time[with_weight].max()), counted.n_causes)


def _check_same_times(earlier: Task, counted: SurvivalTarget) -> None:
    """Raise unless the event times are those of the earlier trees, whose leaves refer to them."""
    known = isinstance(earlier, Survival) and np.array_equal(
        earlier.event_times, counted.event_times
    )
    if not known:
        raise ValueError(
            "warm_start needs the event times of the earlier fit, which leaves refer to; got "
            f"others ({shorten(counted.event_times[:3].tolist())}, ...). Pass the same y, or set "
            "warm_start=False."
        )
