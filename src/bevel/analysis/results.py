"""The results that the functions of `bevel.analysis` return."""

from bevel.analysis.accuracy.bias_variance import BiasAndVariance, ClassEffects
from bevel.analysis.accuracy.conformal import ConformalPredictions
from bevel.analysis.accuracy.reliability import Calibration
from bevel.analysis.accuracy.strength import (
    ErrorAndCorrelation,
    OutOfBagCurve,
    StrengthAndCorrelation,
)
from bevel.analysis.accuracy.uncertainty import RowQuantiles, StandardErrors
from bevel.analysis.effects.interaction import Interactions
from bevel.analysis.effects.result import Effect
from bevel.analysis.importances import Directions, ErrorImportance, Importance
from bevel.analysis.importances.significance import ImportanceTest
from bevel.analysis.neighbours.principal_coordinates import PrincipalCoordinates
from bevel.analysis.neighbours.prototypes import OutlierScores, Prototypes
from bevel.analysis.neighbours.proximity import NearestRows, Proximity, VotingPoints
from bevel.analysis.rotations import TreeComplexity
from bevel.analysis.rules.rule_set import RuleSet
from bevel.analysis.rules.surrogate import SurrogateTree
from bevel.analysis.rules.top import TopRules
from bevel.analysis.rules.tree import PathRules
from bevel.analysis.selection import ForwardSelection, GroupSelections
from bevel.analysis.shapley import ShapleyInteractions, ShapleyValues
from bevel.analysis.survival.groups import RiskGroups, SurvivalBands
from bevel.analysis.survival.scores import SurvivalCalibration, SurvivalScores
from bevel.text import ForestRules, TreeRules

__all__ = [
    "BiasAndVariance",
    "Calibration",
    "ClassEffects",
    "ConformalPredictions",
    "Directions",
    "Effect",
    "ErrorAndCorrelation",
    "ErrorImportance",
    "ForestRules",
    "ForwardSelection",
    "GroupSelections",
    "Importance",
    "ImportanceTest",
    "Interactions",
    "NearestRows",
    "OutOfBagCurve",
    "OutlierScores",
    "PathRules",
    "PrincipalCoordinates",
    "Prototypes",
    "Proximity",
    "RiskGroups",
    "RowQuantiles",
    "RuleSet",
    "ShapleyInteractions",
    "ShapleyValues",
    "StandardErrors",
    "StrengthAndCorrelation",
    "SurrogateTree",
    "SurvivalBands",
    "SurvivalCalibration",
    "SurvivalScores",
    "TopRules",
    "TreeComplexity",
    "TreeRules",
    "VotingPoints",
]
