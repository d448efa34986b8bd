"""The estimators, with the API of scikit-learn."""

from bevel.estimators.boosting import RotatedBoostingClassifier, RotatedBoostingRegressor
from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.estimators.gradient_boosting.classifier import ObliqueBoostingClassifier
from bevel.estimators.gradient_boosting.regressor import ObliqueBoostingRegressor
from bevel.estimators.outliers.isolation import ObliqueIsolationForest
from bevel.estimators.regressor import ObliqueForestRegressor
from bevel.estimators.regularized import (
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel.estimators.rotated_features import RotatedFeatures
from bevel.estimators.stacked import StackedRotationClassifier, StackedRotationRegressor
from bevel.estimators.survival.forest import ObliqueSurvivalForest

__all__ = [
    "ObliqueBoostingClassifier",
    "ObliqueBoostingRegressor",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "ObliqueIsolationForest",
    "ObliqueSurvivalForest",
    "RegularizedRotationClassifier",
    "RegularizedRotationRegressor",
    "RotatedBoostingClassifier",
    "RotatedBoostingRegressor",
    "RotatedFeatures",
    "StackedRotationClassifier",
    "StackedRotationRegressor",
]
