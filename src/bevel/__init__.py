"""Oblique decision forests: splits compare linear combinations of features with thresholds.

>>> from bevel import ObliqueForestClassifier
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> ObliqueForestClassifier(n_estimators=50, random_state=0).fit(X, y).score(X, y)
1.0
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bevel import presets, projections
from bevel.errors import ModelFileError, NoOutOfBagError, PrecisionWarning
from bevel.estimators import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
    RotatedBoostingClassifier,
    RotatedBoostingRegressor,
    RotatedFeatures,
    StackedRotationClassifier,
)
from bevel.estimators.loading import load
from bevel.forest.flat_forest import FlatForest

if TYPE_CHECKING:
    from bevel import analysis, dask, datasets, plots, workflow
    from bevel.tuning import tune

__all__ = [
    "FlatForest",
    "ModelFileError",
    "NoOutOfBagError",
    "ObliqueBoostingClassifier",
    "ObliqueBoostingRegressor",
    "ObliqueForestClassifier",
    "ObliqueForestRegressor",
    "ObliqueSurvivalForest",
    "PrecisionWarning",
    "RegularizedRotationClassifier",
    "RegularizedRotationRegressor",
    "RotatedBoostingClassifier",
    "RotatedBoostingRegressor",
    "RotatedFeatures",
    "StackedRotationClassifier",
    "__version__",
    "analysis",
    "dask",
    "datasets",
    "load",
    "plots",
    "presets",
    "projections",
    "tune",
    "workflow",
]

__version__ = version("bevel")

# Imported at their first use: a program that only predicts does not pay for them.
_LAZY_MODULES = ("analysis", "dask", "datasets", "plots", "tuning", "workflow")
_LAZY_NAMES = {"tune": "bevel.tuning"}


if not TYPE_CHECKING:  # a type checker would take any name for an attribute

    def __getattr__(name: str) -> Any:
        if name in _LAZY_MODULES:
            return import_module(f"bevel.{name}")
        if name in _LAZY_NAMES:
            return getattr(import_module(_LAZY_NAMES[name]), name)
        raise AttributeError(f"module 'bevel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
