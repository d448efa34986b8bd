"""The scikit-learn face of the package."""

from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.estimators.regressor import ObliqueForestRegressor
from bevel.estimators.regularized import (
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)

__all__ = [
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "RegularizedRotationClassifier",
    "RegularizedRotationRegressor",
]
