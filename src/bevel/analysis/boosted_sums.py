"""Boosted trees under analysis: each output as a regression forest whose mean is the sum."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.output_names import QUANTILES, SCORES
from bevel.estimators.gradient_boosting.base import ObliqueBoosting
from bevel.forest.additive import Additive
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.predictor import PackedPredictor
from bevel.forest.subforest import take_trees
from bevel.text.node_predictions import called
from bevel.training.threads import count_threads

__all__ = ["explains_sums", "output_names", "stack_outputs"]

P = ParamSpec("P")
R = TypeVar("R")


def explains_sums(
    function: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], R]:
    """Decorator that lets a function of averaged forests explain boosted ones, by their sums.

    It is called for each output with a forest whose mean prediction is that output's sum of trees.
    Results of several outputs are stacked like those of classes. They must have the fields
    `values`, `classes` and `output_name`.
    """

    @functools.wraps(function)
    def explain(forest: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if not isinstance(forest, ObliqueBoosting):
            return function(forest, *args, **kwargs)
        check_is_fitted(forest)
        forest.verify()
        fitted = forest.fitted_forest_
        names = output_names(forest)
        found = [
            function(_view(forest, fitted, output, function.__name__), *args, **kwargs)
            for output in range(len(names))
        ]
        if len(found) == 1:
            return replace(found[0], output_name=names[0])  # type: ignore[type-var]
        classes = fitted.classes
        joined: R = (
            stack_outputs(found, names, QUANTILES)
            if classes is None
            else stack_outputs(found, classes, SCORES)
        )
        return joined

    return explain


def output_names(model: ObliqueBoosting) -> list[str]:
    """Names of the sums of each output."""
    fitted = model.fitted_forest_
    additive = fitted.additive
    assert additive is not None
    if additive.link == "exponential":
        return ["logarithm of the prediction"]
    if additive.link == "logistic":
        assert fitted.classes is not None
        return [f"log odds of {called(str(fitted.classes[1]))}"]
    if additive.link == "softmax":
        assert fitted.classes is not None
        return [f"score of {called(str(label))}" for label in fitted.classes]
    if additive.link == "sorted":
        return [f"quantile {level:g}" for level in model._quantiles()]
    return ["prediction"]


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


def _view(model: ObliqueBoosting, fitted: FittedForest, output: int, caller: str) -> AnalysedForest:
    """One output as a regression forest, whose mean over trees is baseline and sum."""
    assert fitted.additive is not None
    additive: Additive = fitted.additive
    trees = np.arange(output, fitted.forest.n_trees, additive.n_outputs)
    forest = take_trees(fitted.forest, trees)
    values: Floats = forest.leaf_value * len(trees) + additive.baseline[output]
    is_leaf = forest.right < 0
    forest = replace(forest, leaf_value=np.where(is_leaf, values, forest.leaf_value))
    view = replace(fitted, predictor=PackedPredictor(forest), classes=None, additive=None)
    return AnalysedForest(model, view, count_threads(model.n_jobs), caller)
