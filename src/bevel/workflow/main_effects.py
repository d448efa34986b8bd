"""Effects of the most important features on predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bevel.analysis import partial_dependence
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.results import Effect, Importance
from bevel.data.columns import Columns

__all__ = ["N_EFFECTS", "find_main_effects"]

N_EFFECTS = 6
N_POINTS = 30  # points of a curve
MOST_CLASSES = 5  # classes that a figure can distinguish


def find_main_effects(
    analysed: AnalysedForest, X: Columns, importance: Importance
) -> tuple[Effect, ...]:
    """Partial dependence of the most important features, with standard errors where bags are known.

    Features without values, with a single value or without importance are left out. If there are
    many classes, those are kept whose probabilities change most.
    """
    if not analysed.forest.n_trees or not len(X):
        return ()
    chosen = [
        int(place)
        for place in importance.order
        if importance.values[place] > 0.0 and _varies(X, int(place))
    ]
    return tuple(_effect(analysed, X, feature) for feature in chosen[:N_EFFECTS])


def _varies(X: Columns, feature: int) -> bool:
    present = X.values[feature][~X.missing(feature)]
    return len(present) > 1 and bool(np.any(present != present[0]))


def _effect(analysed: AnalysedForest, X: Columns, feature: int) -> Effect:
    options: dict[str, Any] = {"grid_resolution": N_POINTS}
    try:
        found = partial_dependence(analysed.estimator, X, feature, standard_error=True, **options)
    except ValueError:  # trees without bags, or a single tree
        found = partial_dependence(analysed.estimator, X, feature, **options)
    return _of_few_classes(found)


def _of_few_classes(found: Effect) -> Effect:
    """The effect on the classes whose probabilities change most, in their order."""
    if found.classes is None or len(found.classes) <= MOST_CLASSES:
        return found
    kept = np.sort(np.argsort(-np.ptp(found.values, axis=0), kind="stable")[:MOST_CLASSES])
    error = found.standard_error
    return replace(
        found,
        classes=found.classes[kept],
        values=found.values[:, kept],
        standard_error=None if error is None else error[:, kept],
    )
