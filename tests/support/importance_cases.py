"""Small tables and forests for tests of permutation and negation importance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import importance as importance_of
from bevel.analysis.importances import ErrorImportance


def permutation_importance(forest: object, X: object, y: object, **how: object) -> ErrorImportance:
    return importance_of(forest, "permutation", X, y, **how)


def negation_importance(forest: object, X: object, y: object, **how: object) -> ErrorImportance:
    return importance_of(forest, "negation", X, y, **how)


BOTH = pytest.mark.parametrize(
    "importance", [permutation_importance, negation_importance], ids=["permutation", "negation"]
)


def classes(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    X[:, 4] = 1.0
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])]


def numbers(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    X, _ = classes(n)
    return X, X[:, 0] - 2 * X[:, 1]


def small_classifier(**parameters: object) -> ObliqueForestClassifier:
    return ObliqueForestClassifier(**{"n_estimators": 25, "random_state": 0, **parameters})


def small_regressor(**parameters: object) -> ObliqueForestRegressor:
    return ObliqueForestRegressor(**{"n_estimators": 25, "random_state": 0, **parameters})


def mixed_table() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers of which some are missing, and a nominal column, which all matter."""
    rng = np.random.default_rng(0)
    n = 150
    size = rng.normal(10, 3, n)
    colour = rng.choice(["red", "green", "blue"], n)
    y = (size > 10) ^ (colour == "red")
    noise = rng.normal(size=n)
    size[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({"size": size, "colour": pd.Categorical(colour), "noise": noise}), y
