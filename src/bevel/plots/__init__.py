"""Plots of results. Matplotlib (the extra ``plot``) is imported when one is drawn."""

from bevel.plots.beeswarm import shapley_beeswarm
from bevel.plots.bias_variance import bias_and_variance
from bevel.plots.boundary import decision_boundaries, decision_boundary, posterior_map
from bevel.plots.displays import (
    ImportanceDisplay,
    ProximityDisplay,
    ReliabilityDisplay,
    ShapleyDisplay,
)
from bevel.plots.effects import effect, interaction_bars
from bevel.plots.importance import importance_bars, top_projections
from bevel.plots.proximity_map import proximity_map
from bevel.plots.proximity_pairs import proximity_pairs, variation_explained
from bevel.plots.quantiles import fan_chart
from bevel.plots.reliability import calibration
from bevel.plots.selection.forward import forward_selection
from bevel.plots.shapley import shapley_bars, shapley_waterfall
from bevel.plots.strength import margins, strength_against_correlation
from bevel.plots.survival.curves import (
    risk_groups,
    survival_calibration,
    survival_curves,
    survival_scores,
)
from bevel.plots.tree import tree
from bevel.plots.tree_number import out_of_bag_curve

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
