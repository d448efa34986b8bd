"""The scikit-learn face of the package."""

from bevel.estimators.boosting import RotatedBoostingClassifier, RotatedBoostingRegressor
from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.estimators.regressor import ObliqueForestRegressor
from bevel.estimators.regularized import (
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel.estimators.stacked import StackedRotationClassifier

__all__ = [
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "RegularizedRotationClassifier",
    "RegularizedRotationRegressor",
    "RotatedBoostingClassifier",
    "RotatedBoostingRegressor",
    "StackedRotationClassifier",
]
