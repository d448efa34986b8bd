"""Small fits of both estimators, for tests of bad input."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.projections import NAMED

BOTH = pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])


EVERY_PROJECTION = pytest.mark.parametrize(
    ("estimator", "projection"),
    [
        (estimator, name)
        for estimator in (ObliqueForestClassifier, ObliqueForestRegressor)
        for name in NAMED
        if name != "cox"  # of survival forests only
        if (estimator, name) != (ObliqueForestRegressor, "logistic")
    ],
)


X = np.random.default_rng(0).normal(size=(30, 4))


y = (X[:, 0] > 0).astype(int)


def fit(estimator, X=X, y=y, sample_weight=None, **parameters):
    return estimator(**{"n_estimators": 5, **parameters}).fit(X, y, sample_weight)
