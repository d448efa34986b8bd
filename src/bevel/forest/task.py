"""Tasks: what a fitted model predicts.

A fitted model is trees, an encoding of columns, a task, an aggregation (`bevel.forest.aggregation`)
and its provenance (`bevel.forest.provenance`). The task says what the target is, what a leaf holds,
how means over trees become predictions, and what all of these are called. Whatever depends on the
kind of a model asks its task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import digamma
from sklearn.metrics import accuracy_score, r2_score

from bevel._types import Array, Floats, Ints32, Ints64, Target
from bevel.data.level_statistics import LevelTarget
from bevel.data.survival import SurvivalTarget, read_survival
from bevel.data.target import read_labels, read_numbers, split_outputs
from bevel.errors import (
    ModelFileError,
    SeveralOutputsError,
    join_names,
    shorten,
    wrong_type,
    wrong_value,
)
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import most_probable_classes

__all__ = [
    "Classification",
    "Isolation",
    "Ranking",
    "Regression",
    "SeveralOutputs",
    "Survival",
    "SurvivalByRisk",
    "Task",
    "average_path_length",
    "called",
    "check_curves",
    "task_of",
]


LEAST_PROBABILITY = 1e-15  # lower ones count as this in logarithmic losses


def task_of(classes: Array | None) -> Task:
    """The task of one target: of these classes, or of numbers."""
    return Regression() if classes is None else Classification(classes)


def called(label: str) -> str:
    """Name of a class in a sentence: numeric labels are preceded by a word."""
    try:
        float(label)
    except ValueError:
        return label
    return f"class {label}"


class Task:
    """What a fitted model predicts; by itself, of a model whose target is a number.

    Attributes
    ----------
    name : str
        Name of the kind of task.
    noun : str
        What one number of a prediction is: a probability, a value, a risk or a score.
    model : str
        A forest of this task, with its article.
    output_name : str
        Name of what `predict` returns, in the middle of a sentence.
    error_name : str
        Name of the mean loss of predictions.
    loss_name : str
        Short name of the mean loss, as on an axis of a figure.
    mean_of_leaves : str
        Description of the mean of the leaf values of a row.
    row_loss_name : str
        Name of the mean of `row_losses`.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    model: ClassVar[str]
    output_name: ClassVar[str] = "prediction"
    error_name: ClassVar[str] = "mean squared error"
    loss_name: ClassVar[str] = "mean squared error"
    mean_of_leaves: ClassVar[str] = "the predicted value"
    row_loss_name: ClassVar[str] = "squared error"

    @property
    def classes(self) -> Array | None:
        """Labels of the classes of the target; None if it has none, or several outputs."""
        return None

    @property
    def n_classes(self) -> int:
        """Number of classes, of all outputs together; 0 if there are none."""
        return 0

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return 1

    @property
    def output_classes(self) -> Ints32 | None:
        """Number of classes of each of several outputs, 0 in regression; None of one output."""
        return None

    @property
    def common_output(self) -> str | None:
        """Name of the one number that all effects refer to; None with three classes or more."""
        return self.output_name

    @property
    def attributes(self) -> dict[str, Any]:
        """Fitted attributes of an estimator that tell its classes."""
        return {}

    def check_has_target(self, caller: str) -> None:
        """Raise TypeError if there is no target, which `caller` needs."""

    # Targets: of the training rows, given again, and of other rows.

    def read_again(self, y: Any, n_rows: int) -> Target:
        """Target of an earlier fit, given again: class numbers, or values."""
        return read_numbers(y, n_rows)

    def read_new(self, y: Any, n_rows: int) -> Target:
        """Target of rows that were not in the fit: some classes may be absent, none may be new."""
        return self.read_again(y, n_rows)

    def level_target(self, target: Target) -> LevelTarget | None:  # noqa: ARG002
        """Numbers whose means tell the levels of a nominal column apart; None if there are none."""
        return None

    def within_outputs(self, target: Array) -> Array:
        """Targets of training, with the classes of each output numbered by themselves."""
        return target

    def labels_of(self, target: Array) -> Array:
        """Targets as the user gives them."""
        return target

    def as_columns(self, target: Target) -> Floats:
        """Targets as the numbers whose means are predicted, rows x columns: values, or ones."""
        return np.asarray(target, dtype=np.float64)[:, None]

    def typical(self, target: Target) -> Any:
        """The mean, or the position of the class of most rows."""
        return target.mean()

    def check_same(self, earlier: Task) -> None:
        """Raise unless trees of this task can be added to those of an earlier fit."""
        if earlier.n_outputs != self.n_outputs:
            raise ValueError(
                f"y must have as many outputs as in the first fit when warm_start=True "
                f"({earlier.n_outputs}); got {self.n_outputs}. Set warm_start=False."
            )

    def check_one_output(self, caller: str) -> None:
        """Raise SeveralOutputsError if there are several outputs, which `caller` cannot take."""

    # Leaves and their means.

    def agrees(self, tree: FlatForest, leaf: Ints32, target: Array) -> bool:
        """Whether every leaf of a tree can be one of these rows, by their leaves and targets.

        Every leaf must hold rows on both sides of its value.
        """
        low, high = np.full(tree.n_nodes, np.inf), np.full(tree.n_nodes, -np.inf)
        np.minimum.at(low, leaf, target)
        np.maximum.at(high, leaf, target)
        slack = 1e-9 * float(np.abs(target).max())  # a mean may round past equal values
        value, is_leaf = tree.leaf_value, tree.right < 0
        return bool(((low - slack <= value) & (value <= high + slack))[is_leaf].all())

    def check_leaves(self, forest: FlatForest) -> None:
        """Raise ValueError unless leaves, such as those of a file, hold what this task needs."""
        if not forest.has_leaf_models:  # whose entries check_forest has checked
            check_curves(forest, 0)

    def split(self, columns: Floats) -> Any:
        """Mean values or class shares of the trees, rows x columns, as a user expects them."""
        return columns[:, 0]

    def decide(self, columns: Floats) -> Array:
        """Values, or positions of the largest shares, from rows x columns; of ties the first."""
        return columns[:, 0]

    def decode(self, columns: Floats) -> Array:
        """What `predict` returns, from mean values or class shares, rows x columns."""
        return self.labels_of(self.decide(columns))

    def of_result(self, array: Floats) -> Floats:
        """An array of a result without its last axis, that of the classes, if there are none."""
        return np.asarray(array[..., 0])

    # Scores and losses.

    def row_losses(self, columns: Floats, target: Target) -> Floats:
        """Squared error of each row's value, or logarithmic loss of its class probabilities.

        Both are convex in the weight of a weighted mean of predictions.
        """
        return np.asarray((target - columns[:, 0]) ** 2)

    def likelihood_of_loss(self, lowest: float) -> float:
        """Minus the logarithm of the likelihood of a row, for each unit of its loss.

        lowest: the mean loss of the best model, which in regression is the variance of errors.
        """
        return 0.5 / lowest

    def score(self, y: Any, predicted: Array, sample_weight: Any = None) -> float:
        """Default score of predictions: R squared, or the share of rows that are right."""
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def losses(self, target: Target, decided: Array) -> Floats:
        """Loss of each row by its value or position of its class: squared error, or 1 if wrong."""
        return np.asarray((target - decided) ** 2)

    def agreement(self, one: Array, other: Array) -> float:
        """Share of equal labels of two predictions, or share of the variance of one explained."""
        spread: Floats = one - one.mean()
        total = float((spread**2).sum())
        error = float(((one - other.astype(float)) ** 2).sum())
        return 1.0 - error / total if total > 0.0 else float(error == 0.0)


@dataclass(frozen=True, eq=False)
class Classification(Task):
    """One of several classes.

    Attributes
    ----------
    labels : ndarray
        Labels of the classes, ascending.
    """

    name = "classification"
    noun = "probability"
    model = "a classifier"
    error_name = "classification error"
    loss_name = "error"
    row_loss_name = "log loss"

    labels: Array

    @property
    def classes(self) -> Array:
        """Labels of the classes."""
        return self.labels

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def common_output(self) -> str | None:
        if len(self.labels) != 2:
            return None
        return f"probability of {called(str(self.labels[1]))}"

    @property
    def attributes(self) -> dict[str, Any]:
        return {"classes_": self.labels, "n_classes_": len(self.labels)}

    def read_again(self, y: Any, n_rows: int) -> Target:
        classes, codes = read_labels(y, n_rows)
        if not np.array_equal(classes, self.labels):
            raise ValueError(
                f"y must have the classes of the fit ({shorten(self.labels.tolist())}); got "
                f"{shorten(classes.tolist())}. Pass the y that the forest was fitted on."
            )
        return codes

    def read_new(self, y: Any, n_rows: int) -> Target:
        classes, codes = read_labels(y, n_rows)
        strange = classes[~np.isin(classes, self.labels)]
        if len(strange):
            raise ValueError(
                f"y must hold classes of the fit ({join_names([str(c) for c in self.labels])}); "
                f"got {join_names([str(c) for c in strange])}. Leave rows of other classes out."
            )
        return np.searchsorted(self.labels, classes).astype(np.int32)[codes]

    def level_target(self, target: Target) -> LevelTarget | None:
        values, n_classes = target.astype(np.float64), len(self.labels)
        if n_classes == 2:
            return LevelTarget(values, f"share of {called(str(self.labels[1]))}")
        return LevelTarget(values, "class score", n_classes)

    def labels_of(self, target: Array) -> Array:
        return np.asarray(self.labels.take(target.astype(np.intp, copy=False)))

    def as_columns(self, target: Target) -> Floats:
        return np.asarray(np.eye(len(self.labels))[target])

    def typical(self, target: Target) -> Any:
        return np.bincount(target).argmax()

    def check_same(self, earlier: Task) -> None:
        if earlier.n_outputs != 1:
            raise ValueError(
                f"y must have the {earlier.n_outputs} outputs of the first fit when "
                "warm_start=True; got one. Set warm_start=False."
            )
        known = np.asarray(earlier.classes)
        if not np.array_equal(self.labels, known):
            raise ValueError(
                f"y must have the classes of the first fit when warm_start=True "
                f"({known.tolist()}); got {self.labels.tolist()}. Set warm_start=False."
            )

    def agrees(self, tree: FlatForest, leaf: Ints32, target: Array) -> bool:
        """Whether every leaf holds a row of each class that it has a share of."""
        is_leaf = np.repeat(tree.right < 0, np.diff(tree.entry_offset))
        node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.entry_offset))
        claimed = (node * tree.n_classes + tree.entry_index)[is_leaf & (tree.entry_weight > 0)]
        return bool(np.isin(claimed, leaf.astype(np.int64) * tree.n_classes + target).all())

    def split(self, columns: Floats) -> Floats:
        return columns

    def decide(self, columns: Floats) -> Array:
        return np.asarray(columns.argmax(axis=1))

    def of_result(self, array: Floats) -> Floats:
        return array

    def score(self, y: Any, predicted: Array, sample_weight: Any = None) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def row_losses(self, columns: Floats, target: Target) -> Floats:
        own = columns[np.arange(len(target)), target.astype(np.intp, copy=False)]
        return np.asarray(-np.log(np.maximum(own, LEAST_PROBABILITY)))

    def likelihood_of_loss(self, lowest: float) -> float:  # noqa: ARG002
        return 1.0

    def losses(self, target: Target, decided: Array) -> Floats:
        return np.asarray(decided != target, dtype=np.float64)

    def agreement(self, one: Array, other: Array) -> float:
        return float(np.mean(one == other))


@dataclass(frozen=True)
class Regression(Task):
    """A number."""

    name = "regression"
    noun = "value"
    model = "a regression forest"

    def level_target(self, target: Target) -> LevelTarget | None:
        return LevelTarget(target.astype(np.float64), "mean target")


@dataclass(frozen=True)
class Ranking(Task):
    """The order of the rows of a query, by scores whose differences alone mean something."""

    name = "ranking"
    noun = "score"
    model = "a ranking model"
    output_name = "score"
    mean_of_leaves = "the score: higher for rows that come first"

    def read_again(self, y: Any, n_rows: int) -> Target:  # noqa: ARG002
        """Raise: errors of single rows are not defined."""
        raise ValueError(
            "y must be classes or numbers here; got the relevances of a ranking model, of which "
            "rows have no errors by themselves. Use score with the queries of the rows, or "
            'functions without y such as shapley_values and importance(kind="gini").'
        )

    def level_target(self, target: Target) -> LevelTarget | None:
        return LevelTarget(target.astype(np.float64), "mean relevance")


@dataclass(frozen=True, eq=False)
class SeveralOutputs(Task):
    """Several targets of the same rows, all of them classes or all of them numbers.

    Attributes
    ----------
    names : tuple of str
        Name of each output.
    labels : tuple of ndarray or None
        Labels of the classes of each output; None in regression.
    """

    name = "several outputs"
    noun = "value"
    model = "a forest of several outputs"

    names: tuple[str, ...]
    labels: tuple[Array, ...] | None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_outputs(self) -> int:
        return len(self.names)

    @property
    def attributes(self) -> dict[str, Any]:
        if self.labels is None:
            return {}
        return {
            "classes_": list(self.labels),
            "n_classes_": [len(each) for each in self.labels],
        }

    @property
    def n_classes(self) -> int:
        return 0 if self.labels is None else int(self.bounds[-1])

    @property
    def output_classes(self) -> Ints32:
        """Number of classes of each output, 0 in regression."""
        labels = self.labels or ((),) * len(self.names)
        return np.array([len(each) for each in labels], dtype=np.int32)

    @property
    def bounds(self) -> npt.NDArray[np.int64]:
        """Where the classes of each output begin, and where the last ones end."""
        if self.labels is None:
            return np.arange(len(self.names) + 1)
        return np.concatenate(([0], np.cumsum(self.output_classes, dtype=np.int64)))

    def of(self, k: int) -> Task:
        """The task of one of the outputs."""
        return Regression() if self.labels is None else Classification(self.labels[k])

    def position(self, which: object) -> int:
        """Position of an output given by position or name."""
        if isinstance(which, str):
            if which not in self.names:
                required = f"one of {join_names([repr(name) for name in self.names])}"
                raise wrong_value("output", required, which, "Check the spelling, or its position.")
            return self.names.index(which)
        if isinstance(which, bool) or not isinstance(which, int | np.integer):
            raise wrong_type("output", "a position or a name", which, "See output_names_.")
        if not -len(self) <= which < len(self):
            required = f"from 0 to {len(self) - 1}"
            raise wrong_value("output", required, int(which), "See output_names_.")
        return int(which) % len(self)

    def within_outputs(self, target: Array) -> Array:
        return target if self.labels is None else np.asarray(target - self.bounds[:-1])

    def labels_of(self, target: Array) -> Array:
        """Targets of all outputs; classes are given by position, counted within the output.

        Labels of different types become objects.
        """
        if self.labels is None:
            return target
        columns = [labels.take(target[:, k]) for k, labels in enumerate(self.labels)]
        kinds = {column.dtype.kind for column in columns}
        alike = len(kinds) == 1 or kinds <= {"i", "u", "f"}
        dtype = np.result_type(*(column.dtype for column in columns)) if alike else np.dtype(object)
        found = np.empty(target.shape, dtype=dtype)
        for k, column in enumerate(columns):
            found[:, k] = column
        return found

    def split(self, columns: Floats) -> Any:
        """Columns of all classes as one array for each output; values as they are."""
        if self.labels is None:
            return columns
        return [np.ascontiguousarray(part) for part in np.split(columns, self.bounds[1:-1], axis=1)]

    def decide(self, columns: Floats) -> Array:
        if self.labels is None:
            return columns
        return most_probable_classes(columns, self.output_classes)

    def score(self, y: Any, predicted: Array, sample_weight: Any = None) -> float:
        """R squared, or the share of rows for which every output is predicted correctly."""
        if self.labels is None:
            return super().score(y, predicted, sample_weight)
        given = split_outputs(y)
        n_outputs = 1 if given is None else len(given.columns)
        if given is None or predicted.shape != (len(given.columns[0]), n_outputs):
            raise ValueError(
                f"y must have shape {predicted.shape}, a label for each row and output; got "
                f"{n_outputs} output(s). Pass the y that belongs to X."
            )
        right = np.ones(len(predicted), dtype=bool)
        for k, column in enumerate(given.columns):
            right &= np.asarray(column == predicted[:, k], dtype=bool)
        return float(np.average(right, weights=sample_weight))

    def check_same(self, earlier: Task) -> None:
        if self.labels is None:
            super().check_same(earlier)
            return
        known = earlier.labels if isinstance(earlier, SeveralOutputs) else None
        pairs = zip(known or (), self.labels, strict=False)
        alike = known is not None and len(known) == len(self.labels)
        if not alike or not all(np.array_equal(one, other) for one, other in pairs):
            raise ValueError(
                "y must have the outputs and classes of the first fit when warm_start=True; got "
                "others. Set warm_start=False."
            )

    def check_one_output(self, caller: str) -> None:
        """Raise SeveralOutputsError, as `caller` takes one output only."""
        names = join_names([repr(name) for name in self.names], limit=3)
        raise SeveralOutputsError(
            f"{caller} needs a forest of one target; got a forest of {len(self)} "
            f"outputs ({names}). Ask for one of them: forest.output({self.names[0]!r})."
        )


@dataclass(frozen=True, eq=False)
class Survival(Task):
    """The time to an event, right-censored; leaves have a curve beside their value, the mortality.

    Attributes
    ----------
    event_times : ndarray of float64
        Distinct times at which events were seen in training, ascending. Entries of leaves are
        numbers of these.
    last_time : float
        The largest time in training, of an event or of a censored row; nothing is known beyond.
    n_causes : int
        Kinds of events, which compete. An entry of a leaf has number event time * n_causes + cause.
    """

    name = "survival"
    noun = "risk"
    model = "a survival forest"
    output_name = "risk"
    mean_of_leaves = "the risk: higher for earlier events"

    event_times: Floats
    last_time: float
    n_causes: int = 1

    @property
    def n_times(self) -> int:
        """Number of event times."""
        return len(self.event_times)

    @property
    def n_numbers(self) -> int:
        """Exclusive upper bound on the numbers of the entries of leaves."""
        return self.n_times * self.n_causes

    def read_again(self, y: Any, n_rows: int) -> Target:  # noqa: ARG002
        """Raise: the rows of times have functions of their own."""
        raise ValueError(
            "y must be classes or numbers here; got a survival forest, whose y is right-censored "
            "times. Use the functions of bevel.analysis for survival forests, such as "
            'survival_scores and importance(kind="permutation").'
        )

    def read_times(self, y: Any, n_rows: int, needs_event: bool = False) -> SurvivalTarget:
        """Right-censored times, with the causes of events if they compete."""
        return read_survival(y, n_rows, needs_event=needs_event, competing=self.n_causes > 1)

    def check_leaves(self, forest: FlatForest) -> None:
        check_curves(forest, self.n_times, self.n_causes)

    def numbers_of(self, target: SurvivalTarget) -> Ints64:
        """Number of the entry of leaves that is the event of each row; -1 if there is none."""
        place = self.event_times.searchsorted(target.time).astype(np.int64)
        last = np.minimum(place, self.n_times - 1)
        known = target.event & (self.event_times[last] == target.time)
        cause = 0 if target.cause is None else target.cause.astype(np.int64) - 1
        return np.where(known, place * self.n_causes + cause, -1)

    def agrees(self, tree: FlatForest, leaf: Ints32, target: Array) -> bool:
        """Whether every leaf holds a row with each of its events; target: their numbers."""
        is_leaf = np.repeat(tree.right < 0, np.diff(tree.entry_offset))
        node = np.repeat(np.arange(tree.n_nodes), np.diff(tree.entry_offset))
        claimed = (node * self.n_numbers + tree.entry_index)[is_leaf]
        seen = (leaf.astype(np.int64) * self.n_numbers + target)[target >= 0]
        return bool(np.isin(claimed, seen).all())


@dataclass(frozen=True, eq=False)
class SurvivalByRisk(Task):
    """The time to an event, right-censored, whose curve follows from one risk of each row.

    Attributes
    ----------
    event_times : ndarray of float64
        Distinct times at which events were seen in training, ascending.
    last_time : float
        The largest time in training.
    hazard : ndarray of float64
        Cumulative hazard of a row of risk 0 at each event time (Breslow 1974); empty with a
        distribution.
    distribution : {"cox", "log_logistic", "weibull"}
        "cox": the risk is the logarithm of what multiplies the hazard. Else (log time + risk) /
        `spread` has the distribution.
    spread : float
        Spread of the logarithms of times; 1 with "cox".
    """

    name = "survival by risk"
    noun = "risk"
    model = "survival boosting"
    output_name = "risk"
    mean_of_leaves = "the risk: higher for earlier events"

    event_times: Floats
    last_time: float
    hazard: Floats
    distribution: str = "cox"
    spread: float = 1.0

    def read_again(self, y: Any, n_rows: int) -> Target:  # noqa: ARG002
        """Raise: the rows of times have functions of their own."""
        raise ValueError(
            "y must be classes or numbers here; got survival boosting, whose y is right-censored "
            'times. Use score, brier_score, shapley_values or importance(kind="gini").'
        )

    def read_times(self, y: Any, n_rows: int, needs_event: bool = False) -> SurvivalTarget:
        """Right-censored times."""
        return read_survival(y, n_rows, needs_event=needs_event)

    def cumulative_hazard(self, risk: Floats, times: Floats) -> Floats:
        """Cumulative hazard of rows of some risks at ascending times, rows x times."""
        if self.distribution == "cox":
            place = np.searchsorted(self.event_times, times, side="right")
            baseline = np.concatenate([[0.0], self.hazard])[place]
            return np.asarray(np.exp(np.clip(risk, -230.0, 230.0))[:, None] * baseline)
        with np.errstate(divide="ignore"):
            z = (np.log(times) + risk[:, None]) / self.spread
        if self.distribution == "log_logistic":
            return np.asarray(np.logaddexp(0.0, z))
        return np.asarray(np.exp(np.minimum(z, 230.0)))

    def quantile(self, risk: Floats, share: float) -> Floats:
        """Time at which the survival curve of each risk falls to a share; infinite if never."""
        needed = -np.log(share)  # cumulative hazard
        if self.distribution == "cox":
            with np.errstate(over="ignore"):
                place = np.searchsorted(self.hazard, needed * np.exp(-risk) * (1.0 - 1e-12))
            return np.asarray(np.append(self.event_times, np.inf)[place])
        at = np.log(needed) if self.distribution == "weibull" else np.log(np.expm1(needed))
        return np.asarray(np.exp(np.clip(self.spread * at - risk, -230.0, 230.0)))


ROUNDING = 1e-5  # rounding error of sums of jumps in float32


def check_curves(forest: FlatForest, n_times: int, n_causes: int = 1) -> None:
    """Raise ValueError unless leaves have valid entries for these numbers of times and causes."""
    if forest.n_classes:
        return
    is_leaf = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    numbers = forest.entry_index[is_leaf]
    most = n_times * n_causes
    if len(numbers) and numbers.max() >= most:
        required = f"event times from 0 to {most - 1}" if most else "no entries"
        raise ValueError(f"The leaves of the forest must have {required}; got {numbers.max()}.")
    if n_causes == 1 or not len(numbers):
        return
    node = np.repeat(np.arange(forest.n_nodes), np.diff(forest.entry_offset))[is_leaf]
    first = np.flatnonzero(np.diff(node * n_times + numbers // n_causes, prepend=-1))
    total = np.add.reduceat(forest.entry_weight[is_leaf].astype(np.float64), first).max()
    if not total <= 1.0 + ROUNDING:
        raise ValueError(
            f"The hazards of all causes must jump by at most 1 at a time; got {total:g}."
        )


RATIO_DIGITS = 12  # digits to which scores distinguish path lengths


@dataclass(frozen=True)
class Isolation(Task):
    """How unusual a row is: leaves hold path lengths, whose mean becomes a score.

    Attributes
    ----------
    n_samples : int
        Rows that each tree was grown on.
    offset : float
        Scores below it are those of outliers.
    """

    name = "isolation"
    noun = "score"
    model = "an isolation forest"
    mean_of_leaves = "the mean path length: shorter for outliers"

    n_samples: int
    offset: float

    def check_has_target(self, caller: str) -> None:
        raise TypeError(
            f"{caller} needs a forest that was fitted to a target; got ObliqueIsolationForest, "
            "whose splits are random. Use score_samples, proximity, principal_coordinates or "
            "nearest_rows, or fit an ObliqueForestClassifier to its predict(X)."
        )

    def check_leaves(self, forest: FlatForest) -> None:
        """Raise ValueError for path lengths below zero."""
        super().check_leaves(forest)
        if (forest.leaf_value < 0.0).any():
            least = float(forest.leaf_value.min())
            raise ValueError(f"The path length of a leaf must be zero or more; got {least}.")

    def scores(self, lengths: Floats) -> Floats:
        """Scores of rows from -1 (isolated at once) to 0; about -0.5 for ordinary ones.

        Raises ModelFileError for negative lengths, which only a mapped file that was not verified
        can have.
        """
        if (lengths < 0.0).any():
            raise ModelFileError(
                f"The path length of a leaf must be zero or more; got {lengths.min():.3g} as the "
                "mean of a row. The file is damaged: copy it again, or save the model again."
            )
        usual = float(average_path_length(np.array(float(self.n_samples))))
        ratios = lengths / usual if usual > 0 else np.ones_like(lengths)
        # Rounded, since means over trees differ in the last digits.
        return np.asarray(-(2.0 ** -np.round(ratios, RATIO_DIGITS)))


def average_path_length(n_rows: Floats) -> Floats:
    """Mean depth at which a random binary tree of `n_rows` rows isolates one of them.

    2 H(n - 1) - 2 (n - 1) / n with harmonic numbers H (Liu, Ting and Zhou 2008), here for weights
    too, which need not be whole.
    """
    n = np.maximum(np.asarray(n_rows, dtype=np.float64), 1.0)
    return np.asarray(2.0 * (digamma(n) + np.euler_gamma) - 2.0 * (n - 1.0) / n)
