"""Plots of results. Matplotlib (the extra ``plot``) is imported when one is drawn."""

from bevel.plots.accuracy import (
    bias_and_variance,
    calibration,
    fan_chart,
    margins,
    out_of_bag_curve,
    strength_against_correlation,
)
from bevel.plots.displays import (
    ImportanceDisplay,
    ProximityDisplay,
    ReliabilityDisplay,
    ShapleyDisplay,
)
from bevel.plots.effects import effect, interaction_bars
from bevel.plots.importance import importance_bars, top_projections
from bevel.plots.planes import decision_boundaries, decision_boundary, posterior_map
from bevel.plots.proximity import proximity_map, proximity_pairs, variation_explained
from bevel.plots.rules import tree
from bevel.plots.selection import forward_selection
from bevel.plots.shapley import shapley_bars, shapley_beeswarm, shapley_waterfall
from bevel.plots.survival import risk_groups, survival_calibration, survival_curves, survival_scores

__all__ = [
    "ImportanceDisplay",
    "ProximityDisplay",
    "ReliabilityDisplay",
    "ShapleyDisplay",
    "bias_and_variance",
    "calibration",
    "decision_boundaries",
    "decision_boundary",
    "effect",
    "fan_chart",
    "forward_selection",
    "importance_bars",
    "interaction_bars",
    "margins",
    "out_of_bag_curve",
    "posterior_map",
    "proximity_map",
    "proximity_pairs",
    "risk_groups",
    "shapley_bars",
    "shapley_beeswarm",
    "shapley_waterfall",
    "strength_against_correlation",
    "survival_calibration",
    "survival_curves",
    "survival_scores",
    "top_projections",
    "tree",
    "variation_explained",
]
