"""Oblique decision forests: trees that cut on the slant.

>>> from bevel import ObliqueForestClassifier
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> ObliqueForestClassifier(n_estimators=50, random_state=0).fit(X, y).score(X, y)
1.0
"""

from importlib.metadata import version

from bevel import presets, projections
from bevel.errors import ModelFileError, NoOutOfBagError, PrecisionWarning
from bevel.estimators import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    StackedRotationClassifier,
)
from bevel.estimators.loading import load
from bevel.forest.flat_forest import FlatForest

__all__ = [
    "FlatForest",
    "ModelFileError",
    "NoOutOfBagError",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "PrecisionWarning",
    "RegularizedRotationClassifier",
    "RegularizedRotationRegressor",
    "RotatedBoostingClassifier",
    "RotatedBoostingRegressor",
    "StackedRotationClassifier",
    "__version__",
    "load",
    "presets",
    "projections",
]

__version__ = version("bevel")
