"""Understand a fitted forest: plain functions that return small results, drawn by `bevel.plots`."""

from bevel.analysis import geometry
from bevel.analysis.best_rotations import refit_best_rotations
from bevel.analysis.complexity import TreeComplexity, tree_complexity
from bevel.analysis.effects import BiasAndVariance, ClassEffects
from bevel.analysis.importance import importance
from bevel.analysis.posteriors import hellinger_distance
from bevel.analysis.reliability import Calibration, calibration
from bevel.analysis.repeats import bias_and_variance
from bevel.analysis.strength import StrengthAndCorrelation, strength_and_correlation
from bevel.analysis.tree_number import OutOfBagCurve, out_of_bag_curve

__all__ = [
    "BiasAndVariance",
    "Calibration",
    "ClassEffects",
    "OutOfBagCurve",
    "StrengthAndCorrelation",
    "TreeComplexity",
    "bias_and_variance",
    "calibration",
    "geometry",
    "hellinger_distance",
    "importance",
    "out_of_bag_curve",
    "refit_best_rotations",
    "strength_and_correlation",
    "tree_complexity",
]
