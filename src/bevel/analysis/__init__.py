"""Understand a fitted forest: plain functions that return small results, drawn by `bevel.plots`."""

from bevel.analysis import geometry
from bevel.analysis.accuracy.effects import BiasAndVariance, ClassEffects
from bevel.analysis.accuracy.posteriors import hellinger_distance
from bevel.analysis.accuracy.reliability import Calibration, calibration
from bevel.analysis.accuracy.repeats import bias_and_variance
from bevel.analysis.accuracy.residuals import ErrorAndCorrelation, error_and_correlation
from bevel.analysis.accuracy.row_quantiles import RowQuantiles, quantiles
from bevel.analysis.accuracy.standard_errors import StandardErrors, predict_standard_error
from bevel.analysis.accuracy.strength import StrengthAndCorrelation, strength_and_correlation
from bevel.analysis.accuracy.tree_number import OutOfBagCurve, out_of_bag_curve
from bevel.analysis.importances import Directions, ErrorImportance, Importance, importance
from bevel.analysis.neighbours.forest_weights import VotingPoints, forest_weights, voting_points
from bevel.analysis.neighbours.imputation import ProximityImputer
from bevel.analysis.neighbours.nearest_rows import NearestRows, nearest_rows
from bevel.analysis.neighbours.outliers import OutlierScores, outlier_scores
from bevel.analysis.neighbours.potential_neighbours import potential_neighbours
from bevel.analysis.neighbours.principal_coordinates import (
    PrincipalCoordinates,
    principal_coordinates,
)
from bevel.analysis.neighbours.prototypes import Prototypes, prototypes
from bevel.analysis.neighbours.proximity import Proximity, proximity
from bevel.analysis.rotations.best_rotations import refit_best_rotations
from bevel.analysis.rotations.complexity import TreeComplexity, tree_complexity
from bevel.analysis.rules.path import PathRules, path_rules
from bevel.analysis.rules.single_tree import single_tree
from bevel.analysis.rules.top import TopRules, top_rules
from bevel.analysis.rules.tree import forest_rules, tree_rules
from bevel.analysis.shapley.result import ShapleyValues
from bevel.analysis.shapley.values import shapley_values
from bevel.text import ForestRules, TreeRules

__all__ = [
    "BiasAndVariance",
    "Calibration",
    "ClassEffects",
    "Directions",
    "ErrorAndCorrelation",
    "ErrorImportance",
    "ForestRules",
    "Importance",
    "NearestRows",
    "OutOfBagCurve",
    "OutlierScores",
    "PathRules",
    "PrincipalCoordinates",
    "Prototypes",
    "Proximity",
    "ProximityImputer",
    "RowQuantiles",
    "ShapleyValues",
    "StandardErrors",
    "StrengthAndCorrelation",
    "TopRules",
    "TreeComplexity",
    "TreeRules",
    "VotingPoints",
    "bias_and_variance",
    "calibration",
    "error_and_correlation",
    "forest_rules",
    "forest_weights",
    "geometry",
    "hellinger_distance",
    "importance",
    "nearest_rows",
    "out_of_bag_curve",
    "outlier_scores",
    "path_rules",
    "potential_neighbours",
    "predict_standard_error",
    "principal_coordinates",
    "prototypes",
    "proximity",
    "quantiles",
    "refit_best_rotations",
    "shapley_values",
    "single_tree",
    "strength_and_correlation",
    "top_rules",
    "tree_complexity",
    "tree_rules",
    "voting_points",
]
