"""A small table and forest for tests of importances."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bevel import ObliqueForestClassifier, ObliqueForestRegressor


def table(n=120, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"f{j}" for j in range(p)])
    return X, (X["f1"] - X["f2"] + 0.3 * rng.normal(size=n)).to_numpy()


def grown(projection="sparse", *, n_trees=20, classes=True, **parameters):
    X, y = table()
    kind = ObliqueForestClassifier if classes else ObliqueForestRegressor
    forest = kind(n_trees, projection=projection, random_state=0, n_jobs=1, **parameters)
    return forest.fit(X, y > 0 if classes else y), X, (y > 0 if classes else y)
