"""Oblique decision forests: splits compare linear combinations of features with thresholds.

>>> from bevel import ObliqueForestClassifier
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> ObliqueForestClassifier(random_state=0).fit(X, y).score(X, y)
1.0
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bevel import analysis, plots, presets, projections, scoring, workflow
    from bevel import dask as dask
    from bevel import datasets as datasets
    from bevel import mlflow as mlflow
    from bevel.errors import ModelFileError, NoOutOfBagError, PrecisionWarning
    from bevel.estimators import (
        DateFeatures,
        ObliqueBoostingClassifier,
        ObliqueBoostingRanker,
        ObliqueBoostingRegressor,
        ObliqueClassifier,
        ObliqueForestClassifier,
        ObliqueForestRegressor,
        ObliqueIsolationForest,
        ObliqueRegressor,
        ObliqueSurvivalBoosting,
        ObliqueSurvivalForest,
        RegularizedRotationClassifier,
        RegularizedRotationRegressor,
        RotatedBoostingClassifier,
        RotatedBoostingRegressor,
        RotatedFeatures,
        StackedRotationClassifier,
        StackedRotationRegressor,
    )
    from bevel.estimators.loading import load
    from bevel.forest.flat_forest import FlatForest
    from bevel.scanning import scan
    from bevel.tables.table_file import read_table
    from bevel.tuning import tune

    __version__: str

# Not bevel.dask, bevel.datasets and bevel.mlflow: `import *` would replace packages of these names.
__all__ = [
    "DateFeatures",
    "FlatForest",
    "ModelFileError",
    "NoOutOfBagError",
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
    "PrecisionWarning",
    "RegularizedRotationClassifier",
    "RegularizedRotationRegressor",
    "RotatedBoostingClassifier",
    "RotatedBoostingRegressor",
    "RotatedFeatures",
    "StackedRotationClassifier",
    "StackedRotationRegressor",
    "__version__",
    "analysis",
    "load",
    "plots",
    "presets",
    "projections",
    "read_table",
    "scan",
    "scoring",
    "tune",
    "workflow",
]

# Imported at their first use: a program that only predicts does not pay for the others, and the
# command line can be stopped while they are read.
_MODULES = (
    *("analysis", "dask", "datasets", "mlflow", "plots", "presets", "projections", "scoring"),
    *("tuning", "workflow"),
)
_PLACES = {
    "FlatForest": "bevel.forest.flat_forest",
    "ModelFileError": "bevel.errors",
    "NoOutOfBagError": "bevel.errors",
    "PrecisionWarning": "bevel.errors",
    "load": "bevel.estimators.loading",
    "read_table": "bevel.tables.table_file",
    "scan": "bevel.scanning",
    "tune": "bevel.tuning",
}


if not TYPE_CHECKING:  # a type checker would take any name for an attribute

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"bevel.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'bevel' has no attribute {name!r}")
        if name == "__version__":
            value = import_module("importlib.metadata").version("bevel")
        else:
            value = getattr(import_module(_PLACES.get(name, "bevel.estimators")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
