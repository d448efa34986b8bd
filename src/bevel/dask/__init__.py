"""Forests grown by the workers of a Dask cluster; needs `bevel[dask]`.

The estimators have the parameters of `ObliqueForestClassifier` and `ObliqueForestRegressor`, take
Dask arrays and data frames, and give the same forest as a local fit of the same rows.
"""

from bevel.dask.estimator import DaskObliqueForestClassifier, DaskObliqueForestRegressor

__all__ = ["DaskObliqueForestClassifier", "DaskObliqueForestRegressor"]
