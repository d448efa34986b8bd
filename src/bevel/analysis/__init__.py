"""Understand a fitted forest: plain functions that return small results, drawn by `bevel.plots`.

The classes of the results are in `bevel.analysis.results`.
"""

from typing import TYPE_CHECKING, Any

from bevel.analysis import geometry, results
from bevel.analysis.accuracy.bias_variance import bias_and_variance, hellinger_distance
from bevel.analysis.accuracy.conformal import conformal
from bevel.analysis.accuracy.reliability import calibration
from bevel.analysis.accuracy.strength import (
    error_and_correlation,
    out_of_bag_curve,
    strength_and_correlation,
)
from bevel.analysis.accuracy.uncertainty import predict_standard_error, quantiles
from bevel.analysis.effects.accumulated import accumulated_local_effects
from bevel.analysis.effects.direction import effect_along
from bevel.analysis.effects.interaction import interactions
from bevel.analysis.effects.partial_dependence import partial_dependence
from bevel.analysis.importances import importance
from bevel.analysis.importances.perturbation import correlated_groups
from bevel.analysis.importances.significance import importance_test
from bevel.analysis.neighbours.imputation import ProximityImputer
from bevel.analysis.neighbours.principal_coordinates import principal_coordinates
from bevel.analysis.neighbours.prototypes import outlier_scores, prototypes
from bevel.analysis.neighbours.proximity import (
    forest_weights,
    nearest_rows,
    proximity,
    voting_points,
)
from bevel.analysis.neighbours.theory import (
    expected_potential_neighbours,
    mean_squared_error_bound,
    potential_neighbours,
)
from bevel.analysis.neighbours.unsupervised import unsupervised_forest
from bevel.analysis.rotations import refit_best_rotations, tree_complexity
from bevel.analysis.rules.rule_set import rule_set
from bevel.analysis.rules.surrogate import surrogate_tree
from bevel.analysis.rules.top import top_rules
from bevel.analysis.rules.tree import forest_rules, path_rules, single_tree, tree_rules
from bevel.analysis.selection import AllRelevantSelector, forward_selection, group_selections
from bevel.analysis.shapley import shapley_interactions, shapley_values
from bevel.analysis.survival.groups import risk_groups, survival_bands
from bevel.analysis.survival.metrics import (
    brier_score,
    concordance_index,
    dynamic_auc,
    integrated_brier_score,
    kaplan_meier,
)
from bevel.analysis.survival.neighbours import neighbour_survival
from bevel.analysis.survival.scores import survival_calibration, survival_scores

__all__ = [
    "AllRelevantSelector",
    "ProximityImputer",
    "accumulated_local_effects",
    "bias_and_variance",
    "brier_score",
    "calibration",
    "concordance_index",
    "conformal",
    "correlated_groups",
    "dynamic_auc",
    "effect_along",
    "error_and_correlation",
    "expected_potential_neighbours",
    "forest_rules",
    "forest_weights",
    "forward_selection",
    "geometry",
    "group_selections",
    "hellinger_distance",
    "importance",
    "importance_test",
    "integrated_brier_score",
    "interactions",
    "kaplan_meier",
    "mean_squared_error_bound",
    "nearest_rows",
    "neighbour_survival",
    "out_of_bag_curve",
    "outlier_scores",
    "partial_dependence",
    "path_rules",
    "potential_neighbours",
    "predict_standard_error",
    "principal_coordinates",
    "prototypes",
    "proximity",
    "quantiles",
    "refit_best_rotations",
    "results",
    "risk_groups",
    "rule_set",
    "shapley_interactions",
    "shapley_values",
    "single_tree",
    "strength_and_correlation",
    "surrogate_tree",
    "survival_bands",
    "survival_calibration",
    "survival_scores",
    "top_rules",
    "tree_complexity",
    "tree_rules",
    "unsupervised_forest",
    "voting_points",
]

if not TYPE_CHECKING:  # a type checker would otherwise accept any attribute

    def __getattr__(name: str) -> Any:
        if name in results.__all__:
            return getattr(results, name)
        raise AttributeError(f"module 'bevel.analysis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
