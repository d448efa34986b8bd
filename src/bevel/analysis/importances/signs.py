"""Adds the signs of the effects of features to their importances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.effects.accumulated import read_trends
from bevel.analysis.importances.projection import Directions
from bevel.analysis.importances.result import Importance
from bevel.errors import wrong_value
from bevel.forest.importance import split_signs

__all__ = ["with_directions", "with_effects"]

Found = TypeVar("Found", bound=Importance | Directions)

# Two thirds of the variance that the splits remove has one sign.
CLEAR = 1.0 / 3.0


def with_directions(found: Found, analysed: AnalysedForest) -> Found:
    """Add the signs of the splits on each feature to the importances; no rows are needed.

    Not available for groups, directions, rotations and forests without weights of nodes.
    """
    if not isinstance(found, Importance) or found.names != analysed.names:
        return found
    forest, aggregation = analysed.forest, analysed.fitted.aggregation
    if forest.is_slim or not (forest.n_classes or len(forest.leaf_value)):
        return found
    net, total = split_signs(forest, aggregation.n_outputs)
    if aggregation.sorts:  # several quantiles have no common sign
        net, total = net.sum(axis=0, keepdims=True), total.sum(axis=0, keepdims=True)
    if forest.n_classes == 2:
        net, total = net[1:], total[1:]
    largest = np.argmax(np.abs(net), axis=0)
    columns = np.arange(len(found.names))
    net, total = net[largest, columns], total[largest, columns]
    share = net / np.where(total > 0.0, total, 1.0)
    words = np.where(share > CLEAR, "rises", np.where(share < -CLEAR, "falls", "mixed"))
    is_nominal = analysed.fitted.encoding.n_labels > 0  # whatever numbers stand for the labels
    words[(total == 0.0) | is_nominal] = ""
    of, named = analysed.task.common_output, analysed.task.labels_of
    return replace(
        found,
        direction=words.astype(object),
        effect_of=None if of else np.array([str(label) for label in named(largest)], object),
        output_name=of or "",
        hint=f"direction: of the {of or 'probability of a class'} over the splits that use the "
        "feature; effects_on=X adds the size",
    )


def with_effects(found: Importance | Directions, analysed: AnalysedForest, X: Any) -> Any:
    """Add the effect of each feature over the rows X to the importances."""
    if isinstance(found, Directions) or found.names != analysed.names:
        required = "left out where groups, directions or rotations are measured"
        raise wrong_value("effects_on", required, X, "Use effect_along for a direction.")
    trends = read_trends(analysed, X)
    of = None if trends.output is None else np.array(trends.output, dtype=object)
    direction = np.array(trends.direction, dtype=object)
    hint = f"effect: change of the {trends.what} from the 5 % to the 95 % quantile of the feature"
    return replace(
        found,
        effect=trends.change,
        direction=direction,
        effect_of=of,
        output_name=trends.what if of is None else "",
        hint=hint,
    )
