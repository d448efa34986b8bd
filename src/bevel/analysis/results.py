"""The results that the functions of `bevel.analysis` return."""

from bevel.analysis.accuracy.effects import BiasAndVariance, ClassEffects
from bevel.analysis.accuracy.reliability import Calibration
from bevel.analysis.accuracy.residuals import ErrorAndCorrelation
from bevel.analysis.accuracy.row_quantiles import RowQuantiles
from bevel.analysis.accuracy.standard_errors import StandardErrors
from bevel.analysis.accuracy.strength import StrengthAndCorrelation
from bevel.analysis.accuracy.tree_number import OutOfBagCurve
from bevel.analysis.effects.interaction import Interactions
from bevel.analysis.effects.result import Effect
from bevel.analysis.importances import Directions, ErrorImportance, Importance
from bevel.analysis.importances.significance import ImportanceTest
from bevel.analysis.neighbours.forest_weights import VotingPoints
from bevel.analysis.neighbours.nearest_rows import NearestRows
from bevel.analysis.neighbours.outliers import OutlierScores
from bevel.analysis.neighbours.principal_coordinates import PrincipalCoordinates
from bevel.analysis.neighbours.prototypes import Prototypes
from bevel.analysis.neighbours.proximity import Proximity
from bevel.analysis.rotations.complexity import TreeComplexity
from bevel.analysis.rules.path import PathRules
from bevel.analysis.rules.rule_set_result import RuleSet
from bevel.analysis.rules.surrogate import SurrogateTree
from bevel.analysis.rules.top import TopRules
from bevel.analysis.selection.forward import ForwardSelection, GroupSelections
from bevel.analysis.shapley.interactions import ShapleyInteractions
from bevel.analysis.shapley.result import ShapleyValues
from bevel.analysis.survival.groups import RiskGroups, SurvivalBands
from bevel.analysis.survival.scores import SurvivalCalibration, SurvivalScores
from bevel.text import ForestRules, TreeRules

__all__ = [
    "BiasAndVariance",
    "Calibration",
    "ClassEffects",
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
