"""Aggregations: how the numbers of the trees of a fitted model come together.

Trees of a forest are averaged, or vote; those of boosting add up to a baseline, and a link function
turns the sums into predictions. Several models of one table are added up with weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import AnyFloats, Floats
from bevel.data.encoding import Reading
from bevel.forest.calibration import least_probability, raise_to_least, raise_to_power
from bevel.forest.predictor import NumberTooLargeError, PackedPredictor
from bevel.forest.records import BoostingRecord, Calibration
from bevel.forest.task import Task, called

__all__ = [
    "LINKS",
    "MAX_BASELINE",
    "MAX_EXPONENT",
    "AdditiveRowPredictor",
    "Aggregation",
    "MeanOfTrees",
    "SumOfTrees",
    "WeightedSum",
    "add_trees",
]

# Positive means are between 1e-100 and 1e100, in training too (kMaxExponent in losses.h).
MAX_EXPONENT = 230.0
MAX_BASELINE = 1e65  # the limit of leaf values in files

LINKS = ("identity", "exponential", "sorted", "logistic", "softmax")


class Aggregation:
    """How the numbers of the trees come together.

    Attributes
    ----------
    adds_up : bool
        Whether trees add up to the prediction, so that no single tree predicts the target and no
        tree has a bag.
    has_bags : bool
        Whether each tree is grown on a bag, so that other trees can predict a row of the fit.
    hard : bool
        Whether trees vote for a class.
    power : float
        Power that mean class shares are raised to (`bevel.forest.calibration`).
    least : float
        The least probability of a class.
    """

    adds_up: ClassVar[bool]
    has_bags: ClassVar[bool] = False
    hard: bool = False
    power: float = 1.0
    least: float = 0.0

    def of_some_trees(self, n_trees: int, n_classes: int) -> Self:
        """The same for a number of the trees."""
        if not self.least:
            return self
        return replace(self, least=least_probability(n_trees, n_classes))  # type: ignore[type-var]

    def calibrate(self, shares: Floats) -> Floats:
        """Turn mean class shares into probabilities, in place."""
        return raise_to_least(raise_to_power(shares, self.power), self.least)

    def check_trees_predict(self, caller: str) -> None:
        """Raise TypeError if `caller` needs trees that each predict the target, and they do not."""

    def leaf_classes(self, task: Task) -> int:
        """Number of classes that leaves have shares of; 0 if they have values."""
        return task.n_classes

    def probabilities_of(self, sums: Floats) -> Floats:
        """Class probabilities from what the trees of each output give, which may be overwritten."""
        raise NotImplementedError

    def columns(
        self,
        predictor: PackedPredictor,
        X: AnyFloats,
        n_threads: int,
        reading: Reading | None = None,
    ) -> Floats:
        """Predictions of rows: calibrated class probabilities, or one column of values.

        Parameters
        ----------
        predictor : PackedPredictor
            The trees.
        X : ndarray of shape (n_rows, n_features)
            Encoded rows, or plain ones with a `reading`.
        n_threads : int
            Threads to use; does not change the predictions.
        reading : Reading or None, default=None
            How plain rows are scaled.
        """
        raise NotImplementedError

    @property
    def n_outputs(self) -> int:
        """Number of sums; tree t belongs to sum t modulo this number."""
        return 1

    @property
    def sorts(self) -> bool:
        """Whether the sums are quantiles, which are sorted in each row."""
        return False

    def names(self, task: Task, levels: Sequence[float] = ()) -> tuple[str, ...]:  # noqa: ARG002
        """Names of the sums that trees add to, tree t to sum t modulo their number; else empty.

        levels: those of several quantiles, if they are known.
        """
        return ()


@dataclass(frozen=True)
class MeanOfTrees(Aggregation):
    """The mean of the leaf values or class shares of the trees, or of their votes.

    Attributes
    ----------
    hard : bool
        Whether each tree votes for the largest share of its leaf. Such votes are shares of zero
        and one, so that one aggregation serves both.
    power : float
        Power that mean class shares are raised to (`bevel.forest.calibration`); 1 leaves them as
        they are.
    least : float
        The least probability of a class, to which lower ones are then raised.
    """

    adds_up = False
    has_bags = True

    hard: bool = False
    power: float = 1.0
    least: float = 0.0

    def columns(
        self,
        predictor: PackedPredictor,
        X: AnyFloats,
        n_threads: int,
        reading: Reading | None = None,
    ) -> Floats:
        return self.calibrate(predictor.means(X, n_threads, self.hard, reading))

    def probabilities_of(self, sums: Floats) -> Floats:
        return self.calibrate(sums)


@dataclass(frozen=True)
class SumOfTrees(Aggregation):
    """Baseline and sum of the trees of each output, and a link, as in boosting.

    Attributes
    ----------
    baseline : tuple of float
        What each output starts from; tree t is added to output t % n_outputs.
    link : {"identity", "exponential", "sorted", "logistic", "softmax"}
        What turns the sums into predictions: values, quantiles in ascending order, or
        probabilities of classes.
    record : BoostingRecord or None
        Learning curve, and residuals of the validation rows; None in files that have none.
    """

    adds_up = True

    baseline: tuple[float, ...]
    link: str
    record: BoostingRecord | None = None

    @property
    def n_outputs(self) -> int:
        return len(self.baseline)

    def check_trees_predict(self, caller: str) -> None:
        raise TypeError(
            f"{caller} needs a forest whose trees are averaged or vote, each grown on a bag; got "
            "boosting, whose trees add up. Use an ObliqueForest, or importance, shapley_values, "
            "partial_dependence, interactions, calibration or rule_set."
        )

    def leaf_classes(self, task: Task) -> int:  # noqa: ARG002
        return 0

    @property
    def sorts(self) -> bool:
        return self.link == "sorted"

    @property
    def has_classes(self) -> bool:
        """Whether the link gives probabilities of classes."""
        return self.link in ("logistic", "softmax")

    def names(self, task: Task, levels: Sequence[float] = ()) -> tuple[str, ...]:
        if task.classes is not None:
            labels = [called(str(label)) for label in task.classes]
            if self.link == "logistic":
                return (f"log odds of {labels[1]}",)
            return tuple(f"score of {label}" for label in labels)
        if self.link == "sorted" and len(levels):
            return tuple(f"quantile {level:g}" for level in levels)
        if self.n_outputs > 1:
            n = self.n_outputs
            return tuple(f"quantile number {k + 1} of {n}" for k in range(n))
        return ("logarithm of the prediction" if self.link == "exponential" else "prediction",)

    def columns(
        self,
        predictor: PackedPredictor,
        X: AnyFloats,
        n_threads: int,
        reading: Reading | None = None,
    ) -> Floats:
        return self.as_columns(add_trees(predictor, self, X, n_threads, reading))

    def as_columns(self, raw: Floats) -> Floats:
        """Class probabilities from the sums of the outputs, or values with a column for each."""
        return (
            self.probabilities(raw) if self.has_classes else self.values(raw).reshape(len(raw), -1)
        )

    def probabilities_of(self, sums: Floats) -> Floats:
        return self.probabilities(sums)

    def predict(self, raw: Floats) -> npt.NDArray[Any]:
        """Positions of the most probable classes, or values, from the sums of the outputs."""
        return self.classes(raw) if self.has_classes else self.values(raw)

    def values(self, raw: Floats) -> Floats:
        """Predictions of a regression: one for each row, or quantiles of shape (n_rows, k).

        Quantiles that cross are sorted, which never raises their loss (Chernozhukov,
        Fernández-Val, Galichon 2010).
        """
        if self.link == "sorted":
            return np.sort(raw, axis=1)
        if self.link == "exponential":
            return exponentials(np.clip(raw[:, 0], -MAX_EXPONENT, MAX_EXPONENT))
        return raw[:, 0]

    def probabilities(self, raw: Floats) -> Floats:
        """Class probabilities from the sums of the outputs."""
        if self.link == "logistic":
            return _softmax(np.column_stack([np.zeros(len(raw)), raw[:, 0]]))
        return _softmax(raw)

    def classes(self, raw: Floats) -> npt.NDArray[np.intp]:
        """Position of the most probable class."""
        if self.link == "logistic":
            return (raw[:, 0] > 0.0).astype(np.intp)
        return np.asarray(np.argmax(raw, axis=1))


@dataclass(frozen=True)
class WeightedSum(Aggregation):
    """The weighted sum of the predictions of several models of one table.

    Attributes
    ----------
    weights : tuple of float
        Weight of each model, above zero and summing to one.
    calibration : Calibration or None
        Residuals of a regression on rows that no model has seen, from which intervals follow; None
        of classes, and if there were no such rows.
    """

    adds_up = False

    weights: tuple[float, ...]
    calibration: Calibration | None = None

    def check_trees_predict(self, caller: str) -> None:
        raise TypeError(
            f"{caller} needs trees on one scale; got a forest, whose trees hold means or shares, "
            "and boosting, whose trees add up. Ask the models of `estimators_`, such as "
            "model.estimators_[0]."
        )

    def combine(self, predictions: Iterable[Floats]) -> Floats:
        """Weighted sum of the predictions of the models, in their order."""
        parts = [weight * each for weight, each in zip(self.weights, predictions, strict=True)]
        total = parts[0]
        for part in parts[1:]:
            total += part
        return total


def exponentials(values: Floats) -> Floats:
    """Exponentials of the core, which are the same on every machine and in exported C."""
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    return _core.exponentials(flat).reshape(values.shape)


def _softmax(raw: Floats) -> Floats:
    shares = exponentials(raw - raw.max(axis=1, keepdims=True))
    total = shares[:, 0].copy()  # from first to last, as C adds them
    for column in shares.T[1:]:
        total += column
    return np.asarray(shares / total[:, np.newaxis])


def add_trees(
    predictor: PackedPredictor,
    additive: SumOfTrees,
    X: AnyFloats,
    n_threads: int,
    reading: Reading | None = None,
    n_trees: int | None = None,
) -> Floats:
    """Baseline and sum of the first trees (None: all) of each row and output, in their order."""
    out = np.tile(np.asarray(additive.baseline), (len(X), 1))
    trees = range(predictor.forest.n_trees if n_trees is None else n_trees)
    add_some_trees(predictor, X, trees, n_threads, out, reading)
    return out


def add_some_trees(
    predictor: PackedPredictor,
    X: AnyFloats,
    trees: range,
    n_threads: int,
    out: Floats,
    reading: Reading | None = None,
) -> None:
    """Add neighbouring trees to the sums in `out`, of shape (n_rows, n_outputs)."""
    reading = reading or predictor.as_encoded
    packed = predictor.packed
    if not packed.add_values(X, *reading, trees.start, trees.stop, out.shape[1], n_threads, out):
        raise NumberTooLargeError


class AdditiveRowPredictor:
    """A boosted forest for servers: nothing is checked, arrays go in and come out.

    Parameters
    ----------
    predictor : PackedPredictor
        The trees.
    reading : Reading
        How rows are scaled.
    additive : SumOfTrees
        How trees become predictions.

    Notes
    -----
    Rows are as `RowPredictor` takes them.
    """

    __slots__ = ("_additive", "_predictor", "_reading")

    def __init__(self, predictor: PackedPredictor, reading: Reading, additive: SumOfTrees) -> None:
        predictor.packed  # noqa: B018  # built here, not by the first row
        self._predictor = predictor
        self._reading = Reading(reading.scaler, np.inf)
        self._additive = additive

    def predict_proba(self, X: AnyFloats, n_threads: int = 1) -> Floats:
        """Class probabilities of each row, in the order of `classes_`."""
        if not self._additive.has_classes:
            raise AttributeError(
                "predict_proba needs the forest of a classifier; got that of a regressor, which "
                "has no classes. Use predict."
            )
        return self._additive.probabilities(self._sums(X, n_threads))

    def predict(self, X: AnyFloats, n_threads: int = 1) -> npt.NDArray[Any]:
        """Position in `classes_` of each row's most probable class, or its value in regression."""
        return self._additive.predict(self._sums(X, n_threads))

    def _sums(self, X: AnyFloats, n_threads: int) -> Floats:
        return add_trees(self._predictor, self._additive, X, n_threads, self._reading)
