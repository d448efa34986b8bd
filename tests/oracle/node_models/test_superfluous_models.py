"""Models that a node need not fit, since one before them separates its rows, change no forest."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.projections import LDA, Logistic, Projection, Ridge


@pytest.mark.filterwarnings("ignore::bevel.errors.LeakWarning")  # rows are repeated
@pytest.mark.parametrize("n_classes", [2, 3, 0])
@pytest.mark.parametrize("projection", [LDA(), Ridge(tune="gcv"), Logistic()], ids=repr)
@pytest.mark.parametrize("missing", [False, True])
def test_forest_is_the_one_of_all_models(
    n_classes: int, projection: Projection, missing: bool
) -> None:
    """A limit on leaves, here too low to matter, has every model fitted."""
    if n_classes == 0 and isinstance(projection, Logistic):
        pytest.skip("Logistic is for classes.")
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 8)).astype(np.float32)
    X[:, 0] = np.round(X[:, 0])
    X[200:230] = X[:30]
    scores = X[:, :3] @ rng.normal(size=(3, max(n_classes, 1))) + rng.normal(size=(400, 1))
    y = scores.argmax(axis=1) if n_classes else scores[:, 0]
    if missing:
        X[rng.random(X.shape) < 0.05] = np.nan
    make = ObliqueForestClassifier if n_classes else ObliqueForestRegressor
    few, all_models = (
        make(10, projection=projection, n_projections=4, random_state=0, **limit).fit(X, y).forest_
        for limit in ({}, {"min_weight_fraction_leaf": 1e-9})
    )
    for name in ("entry_index", "entry_weight", "threshold", "right", "gain"):
        np.testing.assert_array_equal(getattr(few, name), getattr(all_models, name))
