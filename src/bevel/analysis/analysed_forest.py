"""A fitted forest under analysis: its trees, names and training rows, which are given again.

The module also has the checks of arguments common to analyses, the names of the outputs of results,
and boosted trees as forests whose mean is their sum.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from bevel._types import Array, Float32s, Floats, Target
from bevel.errors import NoOutOfBagError, join_names, wrong_type, wrong_value
from bevel.estimators._base import TreeEstimator, encode_rows, with_feature_names
from bevel.estimators.boosting import ObliqueBoosting
from bevel.estimators.combined import ObliqueCombination
from bevel.estimators.forest import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)
from bevel.forest.aggregation import MeanOfTrees, SumOfTrees
from bevel.forest.bags import Bags
from bevel.forest.fitted_forest import FittedCombination, FittedForest
from bevel.forest.flat_forest import FlatForest, join_forests, scale_leaves, take_trees
from bevel.forest.leaf_rows import LeafRows
from bevel.forest.predictor import PackedPredictor
from bevel.forest.provenance import Provenance
from bevel.forest.quantiles import LeafTargets
from bevel.forest.task import Regression, Task
from bevel.forest.training_rows import (
    TrainingRows,
    Weighting,
    bags_that_leave_rows_out,
    known_bags,
    leaf_rows_of,
    out_of_bag_rows,
    training_rows_of,
)
from bevel.parameters.parameter import Flag
from bevel.text.predictions import called
from bevel.training.threads import count_threads

__all__ = [
    "PREDICTIONS",
    "QUANTILES",
    "SCORES",
    "AnalysedForest",
    "check_count",
    "check_flag",
    "check_out_of_bag",
    "check_place",
    "column_of_class",
    "explains_sums",
    "forest_of",
    "measured",
    "name_of_output",
    "noun_of_outputs",
    "read_forest",
    "stack_outputs",
    "views_of",
]

# Checks of common arguments: counts and flags.


def check_count(name: str, value: object, low: int = 1) -> int:
    """A whole number of at least `low` as an int; raises for other values."""
    required = f"an integer of at least {low}"
    remedy = f"Write for example {name}={max(low, 10)}."
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise wrong_type(name, required, value, remedy)
    if value < low:
        raise wrong_value(name, required, value, remedy)
    return int(value)


def check_flag(name: str, value: object) -> bool:
    """True or False; raises for other values, as a text such as "no" would count as True."""
    if not Flag().describes(value):
        raise wrong_type(name, str(Flag()), value, f"Write for example {name}=False.")
    return bool(value)


def check_out_of_bag(value: object) -> bool | None:
    """True or False; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if not Flag().describes(value):
        required = f'{Flag()} or "auto"'
        raise wrong_type("out_of_bag", required, value, "Write for example out_of_bag=True.")
    return bool(value)


def check_place(name: str, value: object, size: int) -> None:
    """Raise unless it is an index into a sequence of length `size`, from either end."""
    required, remedy = f"an integer from 0 to {size - 1}", f"There are {size}."
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise wrong_type(name, required, value, remedy)
    if not -size <= value < size:
        raise wrong_value(name, required, value, remedy)


# Names of the outputs of a result: classes, or quantiles of boosting.

# `output_name` of a result with several outputs: shares of classes, sums of the trees of each
# class, or quantiles.
PREDICTIONS, SCORES, QUANTILES = "prediction", "score", "quantile"


def name_of_output(of_all: str, label: Any) -> str:
    """Name of one of several outputs, in the middle of a sentence."""
    if of_all == QUANTILES:
        return str(label)  # such as "quantile 0.9"
    return f"{'score' if of_all == SCORES else 'probability'} of {called(str(label))}"


def column_of_class(classes: Array | None, label: Any) -> int:
    """Position of a class among those of a classifier."""
    if classes is None:
        raise wrong_value(
            "The class of an output",
            "asked of a classifier",
            label,
            "These values have one output; use them as they are.",
        )
    found = np.flatnonzero(classes == label)
    if len(found) != 1:
        remedy = f"The classes are {join_names([str(c) for c in classes])}."
        raise wrong_value("The class of an output", "one of the fit", label, remedy)
    return int(found[0])


def noun_of_outputs(of_all: str) -> str:
    """Noun for one of the outputs, as in the title of a legend."""
    return "quantile" if of_all == QUANTILES else "class"


def measured(of_all: str) -> str:
    """Name of the values of all outputs."""
    return {QUANTILES: "prediction", SCORES: "score"}.get(of_all, "probability")


# A fitted forest under analysis: its trees, names, and training rows given again.


@dataclass(frozen=True, eq=False)
class AnalysedForest:
    """A fitted forest under analysis.

    Attributes
    ----------
    estimator : TreeEstimator or ObliqueCombination
        The fitted estimator.
    fitted : FittedForest
        Forest of the estimator, in memory.
    n_threads : int
        Threads to use.
    caller : str
        Name of the calling function, for messages.
    steps : Pipeline or None
        Steps of a pipeline before the estimator, which are applied to rows first.
    """

    estimator: TreeEstimator | ObliqueCombination
    fitted: FittedForest
    n_threads: int
    caller: str
    steps: Pipeline | None = None

    def table(self, X: Any) -> Any:
        """Rows as the estimator takes them: after the steps before it, if it ends a pipeline."""
        return X if self.steps is None else self.steps.transform(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predictions of the estimator: labels of classes, or values."""
        estimator: Any = self.estimator
        return np.asarray(estimator.predict(self.table(X)))

    @property
    def predictor(self) -> PackedPredictor:
        """Predictions of the forest."""
        return self.fitted.packed_predictor

    @property
    def forest(self) -> FlatForest:
        """The trees."""
        return self.fitted.forest

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; x0, x1, ... if the fit saw none."""
        return self.fitted.names

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """Labels of the classes; None in regression."""
        return self.fitted.classes

    @property
    def output_name(self) -> str:
        """Name of the prediction, in the middle of a sentence."""
        return self.task.output_name

    @property
    def task(self) -> Task:
        """What the forest predicts."""
        return self.fitted.task

    @property
    def hard(self) -> bool:
        """Whether trees vote."""
        return self.fitted.aggregation.hard

    def check_classes(self, need: str, instead: Mapping[str, str]) -> Array:
        """Labels of the classes; raises for a forest without them.

        Parameters
        ----------
        need : str
            What the caller needs, such as "votes for classes".
        instead : mapping of str to str
            What to do with a forest of another task, by the task's name.
        """
        if self.classes is None:
            advice = instead.get(self.task.name, instead["regression"])
            raise ValueError(f"{self.caller} needs {need}; got {self.task.model}. {advice}")
        return self.classes

    def columns(self, X: Float32s) -> Floats:
        """Predictions of encoded rows: calibrated probabilities of classes, or a value."""
        return self.fitted.columns(np.ascontiguousarray(X), self.n_threads)

    def means(self, X: Float32s) -> Floats:
        """Mean values or class shares of encoded rows over the trees, rows x columns."""
        return self.predictor.means(X, self.n_threads, self.hard)

    def encode(self, X: Any, training: bool = False) -> npt.NDArray[np.float32]:
        """Rows as the trees read them: new ones, or the training rows given again."""
        return encode_rows(self.estimator, self.table(X), training)

    def target(self, y: Any, n_rows: int) -> Target:
        """Positions in `classes`, or numbers; the classes must be those of the fit."""
        return self.fitted.task.read_again(y, n_rows)

    def training_rows(self, X: Any, y: Any) -> TrainingRows:
        """The rows of the fit with their bags; raises if they are other rows."""
        known_bags(self.fitted, self.caller)  # raises before rows are read
        return training_rows_of(self.fitted, self.encode(X, training=True), y, self.caller)

    def leaf_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[LeafRows, TrainingRows, Weighting]:
        """The rows of the fit in their leaves; raises if they contradict the leaf predictions."""
        known_bags(self.fitted, self.caller)
        rows = self.encode(X, training=True)
        return leaf_rows_of(self.fitted, rows, y, sample_weight, self.caller, self.n_threads)

    def kept_targets(self) -> LeafTargets | None:
        """Training targets of the leaves of a regressor, if they were kept."""
        return self.fitted.kept_targets

    def bags_with_rows_out(self) -> Bags:
        """How the bags were drawn; raises unless each tree has rows it has not seen."""
        if isinstance(self.fitted, FittedCombination):
            raise NoOutOfBagError(
                f"{self.caller} of out-of-bag rows needs a forest; got a forest and boosting, "
                "whose trees have all seen the training rows. Pass rows that were not in the fit, "
                "and out_of_bag=False; `members_` has the losses of rows that neither has seen."
            )
        return bags_that_leave_rows_out(self.fitted, self.caller)

    def out_of_bag_rows(self, X: Any, y: Any) -> TrainingRows:
        """The rows of the fit with their bags; raises unless each tree has rows it has not seen."""
        self.bags_with_rows_out()
        encoded = self.encode(X, training=True)
        rows = out_of_bag_rows(self.fitted, encoded, y, self.caller)
        self.check_some_row_is_out(rows)
        return rows

    def recognised_rows(self, X: Any, y: Any) -> TrainingRows | None:
        """The rows of the fit; None for other rows, and if bags are not known."""
        fitted: Any = self.fitted
        if isinstance(fitted, FittedCombination):
            fitted = fitted.members[0]  # a forest, if it is kept, recognises them
        try:
            encoded = self.encode(X, training=True)
            return training_rows_of(fitted, encoded, y, self.caller)
        except ValueError:  # other rows, or bags that cannot be drawn again
            return None

    def groups_of(self, n_rows: int) -> dict[str, Any]:
        """Argument of `fit` that draws the groups of the training rows again, if there are any."""
        bags = self.fitted.provenance.bags
        if bags is None or bags.groups is None:
            return {}
        if n_rows != bags.n_rows:
            raise ValueError(
                f"{self.caller} needs the {bags.n_rows} training rows of a forest of groups; got "
                f"{n_rows} rows, whose groups are not known. Pass the X and y of the fit."
            )
        return {"groups": bags.groups.codes}

    def leaves_rows_out(self) -> bool:
        """Whether each tree has rows it has not seen."""
        if not self.fitted.aggregation.has_bags:
            return False
        try:
            self.bags_with_rows_out()
        except NoOutOfBagError:
            return False
        return True

    def check_some_row_is_out(self, rows: TrainingRows) -> None:
        """Raise if every row happens to be in every bag."""
        if not rows.out.any():
            raise NoOutOfBagError(
                f"{self.caller} needs a row that is out of a bag; got a forest of "
                f"{self.forest.n_trees} trees with every row in every bag. Grow more trees."
            )


def read_forest(
    estimator: object,
    caller: str,
    *,
    trees_only: bool = False,
    leaves_only: bool = False,
    several_outputs: bool = False,
    predictions_only: bool = False,
) -> AnalysedForest:
    """Read a fitted forest for the function `caller`; raises if it is not one.

    Parameters
    ----------
    estimator : object
        A fitted estimator, a pipeline that ends with one, or an `AnalysedForest`.
    caller : str
        Name of the function, for messages.
    trees_only : bool, default=False
        Whether the function only reads single trees and their splits, so that boosted trees are
        allowed; others need trees that each predict the target.
    leaves_only : bool, default=False
        Whether the function only reads the leaves of rows, so that an isolation forest is
        allowed.
    several_outputs : bool, default=False
        Whether the function reads no predictions, so that several outputs are allowed.
    predictions_only : bool, default=False
        Whether the function reads nothing but predictions of new rows, by `columns`, so that
        boosting, and a forest and boosting together, are allowed.
    """
    if isinstance(estimator, AnalysedForest):
        return estimator
    model, steps = _model_of(estimator)
    if not isinstance(model, TreeEstimator | ObliqueCombination):
        remedy = (
            "Pass an ObliqueForestClassifier or ObliqueForestRegressor, a preset, or a pipeline "
            "that ends with one."
        )
        raise wrong_type(f"The forest of {caller}", "a fitted forest of Bevel", estimator, remedy)
    fitted: Any = model.fitted_forest_
    if not (predictions_only or (trees_only and isinstance(model, TreeEstimator))):
        fitted.aggregation.check_trees_predict(caller)
    if not leaves_only:
        fitted.task.check_has_target(caller)
    if not several_outputs:
        fitted.task.check_one_output(caller)
    model.verify()  # analysis walks the forest without the checks of a mapped file
    fitted = model.fitted_forest_
    return AnalysedForest(model, fitted, count_threads(model.n_jobs), caller, steps)


def _model_of(estimator: object) -> tuple[Any, Pipeline | None]:
    """The last step of a pipeline, and the steps before it; an estimator itself, and None.

    A model that was fitted without names gets those of the columns that the steps make.
    """
    if not isinstance(estimator, Pipeline):
        return estimator, None
    model = estimator.steps[-1][1]
    if len(estimator.steps) == 1:
        return _model_of(model)
    steps = estimator[:-1]
    if not isinstance(model, TreeEstimator | ObliqueCombination):
        return model, steps
    if model.fitted_forest_.feature_names is None:
        try:
            names = tuple(map(str, steps.get_feature_names_out()))
        except (AttributeError, ValueError):  # a step that does not know the names of its columns
            return model, steps
        model = with_feature_names(model, names)
    return model, steps


def forest_of(task: Task) -> type[ObliqueForestClassifier | ObliqueForestRegressor]:
    """Class of the forests that imitate predictions of a task."""
    return ObliqueForestRegressor if task.classes is None else ObliqueForestClassifier


# Boosted trees under analysis: each output as a regression forest whose mean is the sum.

P = ParamSpec("P")
R = TypeVar("R")


def explains_sums(
    function: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], R]:
    """Decorator that lets a function of averaged forests explain boosted ones, by their sums.

    It is called for each output with a forest whose mean prediction is that output's sum of trees.
    Results of several outputs are stacked like those of classes. They must have the fields
    `values`, `classes` and `output_name`. The regression of a forest and boosting together is one
    such sum of all of their trees; their classifier is passed on as it is.
    """

    @functools.wraps(function)
    def explain(forest: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        views = views_of(forest, function.__name__)
        if not isinstance(views[0].estimator, ObliqueBoosting):
            return function(views[0], *args, **kwargs)
        model = views[0].estimator
        fitted = model.fitted_forest_
        names = fitted.aggregation.names(fitted.task, model._quantiles())
        found = [function(view, *args, **kwargs) for view in views]
        if len(found) == 1:
            return replace(found[0], output_name=names[0])  # type: ignore[type-var]
        if fitted.classes is None:
            return cast("R", stack_outputs(found, names, QUANTILES))
        return cast("R", stack_outputs(found, fitted.classes, SCORES))

    return explain


def views_of(forest: Any, caller: str) -> list[AnalysedForest]:
    """Forests whose means of trees are the outputs of a model: one for each output of boosting,
    otherwise one; of a classifier by a forest and boosting the model itself.
    """
    if isinstance(forest, AnalysedForest):
        return [forest]
    model, steps = _model_of(forest)
    if isinstance(model, ObliqueBoosting):
        check_is_fitted(model)
        model.verify()
        fitted = model.fitted_forest_
        outputs = range(fitted.aggregation.n_outputs)
        return [_view(model, fitted, output, caller, steps) for output in outputs]
    if isinstance(model, ObliqueCombination) and model.fitted_forest_.classes is None:
        return [_sum_of_members(model, caller, steps)]
    return [read_forest(forest, caller, predictions_only=isinstance(model, ObliqueCombination))]


def _sum_of_members(
    model: ObliqueCombination, caller: str, steps: Pipeline | None
) -> AnalysedForest:
    """A regression by a forest and boosting as one forest, whose mean is their weighted mean."""
    fitted = model.verify().fitted_forest_
    n_trees = sum(each.forest.n_trees for each in fitted.members)
    constant, parts = 0.0, []
    for weight, each in zip(fitted.aggregation.weights, fitted.members, strict=True):
        additive, forest = each.aggregation, each.forest
        factor = weight * n_trees
        if isinstance(additive, SumOfTrees):
            constant += weight * additive.baseline[0]
        else:
            factor /= forest.n_trees
        parts.append(scale_leaves(forest, factor))
    joined = functools.reduce(join_forests, parts)
    values = np.where(joined.right < 0, joined.leaf_value + constant, joined.leaf_value)
    view = replace(
        fitted.members[0],
        predictor=PackedPredictor(replace(joined, leaf_value=values)),
        aggregation=MeanOfTrees(),
        provenance=Provenance(seed=None),
        targets=None,
    )
    return AnalysedForest(model, view, count_threads(model.n_jobs), caller, steps)


def stack_outputs(
    found: Sequence[Any], classes: Sequence[str] | npt.NDArray[Any], output_name: str
) -> Any:
    """One result from those of the outputs: arrays get a last axis, as with classes."""
    changes: dict[str, Any] = {"classes": np.asarray(classes), "output_name": output_name}
    for name in ("values", "base_values", "std", "standard_error", "individual"):
        parts = [getattr(each, name, None) for each in found]
        if parts[0] is not None:
            changes[name] = np.stack([np.asarray(part) for part in parts], axis=-1)
    return replace(found[0], **changes)


def _view(
    model: ObliqueBoosting,
    fitted: FittedForest,
    output: int,
    caller: str,
    steps: Pipeline | None = None,
) -> AnalysedForest:
    """One output as a regression forest, whose mean over trees is baseline and sum."""
    additive = fitted.aggregation
    assert isinstance(additive, SumOfTrees)
    trees = np.arange(output, fitted.forest.n_trees, additive.n_outputs)
    forest = scale_leaves(take_trees(fitted.forest, trees), len(trees))
    values: Floats = forest.leaf_value + additive.baseline[output]
    is_leaf = forest.right < 0
    forest = replace(forest, leaf_value=np.where(is_leaf, values, forest.leaf_value))
    view = replace(
        fitted, predictor=PackedPredictor(forest), task=Regression(), aggregation=MeanOfTrees()
    )
    return AnalysedForest(model, view, count_threads(model.n_jobs), caller, steps)
