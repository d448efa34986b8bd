"""The scikit-learn face of the package."""

from bevel.estimators.classifier import ObliqueForestClassifier
from bevel.estimators.regressor import ObliqueForestRegressor

__all__ = ["ObliqueForestClassifier", "ObliqueForestRegressor"]
