"""The estimators, with the API of scikit-learn."""

from bevel.estimators.boosting import ObliqueBoostingClassifier, ObliqueBoostingRegressor
from bevel.estimators.combined import ObliqueClassifier, ObliqueRegressor
from bevel.estimators.date_features import DateFeatures
from bevel.estimators.forest import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.estimators.isolation import ObliqueIsolationForest
from bevel.estimators.ranking import ObliqueBoostingRanker
from bevel.estimators.rotated.boosting import RotatedBoostingClassifier, RotatedBoostingRegressor
from bevel.estimators.rotated.features import RotatedFeatures
from bevel.estimators.rotated.regularized import (
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel.estimators.rotated.stacking import StackedRotationClassifier, StackedRotationRegressor
from bevel.estimators.survival import ObliqueSurvivalBoosting, ObliqueSurvivalForest

__all__ = [
    "DateFeatures",
    "ObliqueBoostingClassifier",
    "ObliqueBoostingRanker",
    "ObliqueBoostingRegressor",
    "ObliqueClassifier",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "ObliqueIsolationForest",
    "ObliqueRegressor",
    "ObliqueSurvivalBoosting",
    "ObliqueSurvivalForest",
    "RegularizedRotationClassifier",
    "RegularizedRotationRegressor",
    "RotatedBoostingClassifier",
    "RotatedBoostingRegressor",
    "RotatedFeatures",
    "StackedRotationClassifier",
    "StackedRotationRegressor",
]
