"""Which way features push, beside their importances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.effects.trends import read_trends
from bevel.analysis.importances.projection import Directions
from bevel.analysis.importances.result import Importance
from bevel.errors import wrong_value

__all__ = ["with_effects", "with_hint"]

HINT = "which way each feature pushes: pass effects_on=X"


def with_hint(found: Importance | Directions, analysed: AnalysedForest) -> Importance | Directions:
    """Says how to get the effects where rows are at hand; they take longer than importances."""
    if isinstance(found, Directions) or found.names != analysed.names:
        return found
    return replace(found, hint=HINT)


def with_effects(found: Importance | Directions, analysed: AnalysedForest, X: Any) -> Any:
    """The importances with the effect of each feature over the rows X."""
    if isinstance(found, Directions) or found.names != analysed.names:
        required = "left out where groups, directions or rotations are measured"
        raise wrong_value("effects_on", required, X, "Use effect_along for a direction.")
    trends = read_trends(analysed, X)
    of = None if trends.output is None else np.array(trends.output, dtype=object)
    direction = np.array(trends.direction, dtype=object)
    return replace(found, effect=trends.change, direction=direction, effect_of=of)
