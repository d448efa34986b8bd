"""Gain of splits, credited to features: `feature_importances_` with its spread over trees."""

from __future__ import annotations

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.forest.importance import gain_importances, gain_shares

__all__ = ["gini"]


def gini(analysed: AnalysedForest) -> Importance:
    """Mean share of a feature in the gain of a tree.

    A split's gain is divided among the features of its direction in proportion to their absolute
    weights, which are weights of scaled features where the forest scales.
    """
    forest = analysed.forest
    forest.check_not_slim(analysed.caller)
    adds_up = analysed.fitted.additive is not None
    _, spread = mean_and_spread(gain_shares(forest), forest.n_features)
    return Importance(
        "gini",
        analysed.names,
        gain_importances(forest, normalised=not adds_up),
        "share of the loss that splits remove, over all trees"
        if adds_up
        else "share of the impurity that splits remove; std over trees",
        std=None if adds_up else spread,
        title="Gain importance" if adds_up else "",
    )
