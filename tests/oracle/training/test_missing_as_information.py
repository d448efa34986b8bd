"""That a value is missing is learned by every criterion, where trees split single features."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
X[RNG.random(300) < 0.4, 2] = np.nan
MISSING = np.isnan(X[:, 2])
HALVES = np.arange(300) < 150


def accuracy(estimator: object, y: np.ndarray) -> float:
    """R² or accuracy on rows that the forest has not seen."""
    return float(estimator.fit(X[HALVES], y[HALVES]).score(X[~HALVES], y[~HALVES]))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize(
    "projection", ["auto", [(P.Axis(), "p")], [(P.Axis(), "p"), "sparse"]], ids=str
)
def test_regression_of_missingness_is_nearly_exact(criterion: str, projection: object) -> None:
    forest = ObliqueForestRegressor(50, projection=projection, criterion=criterion, random_state=0)
    assert accuracy(forest, 1.0 + 2.0 * MISSING) > 0.9


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classes_of_missingness_are_nearly_exact(criterion: str) -> None:
    forest = ObliqueForestClassifier(50, projection="axis", criterion=criterion, random_state=0)
    assert accuracy(forest, MISSING) > 0.95


def test_combinations_alone_do_not_see_that_a_value_is_missing() -> None:
    """What the guide says of them: they see the median, which other rows have nearly as well."""
    forest = ObliqueForestRegressor(
        50, projection="gaussian", criterion="squared_error", random_state=0
    )
    with_axis = ObliqueForestRegressor(50, projection=["axis", "gaussian"], random_state=0)
    y = 1.0 + 2.0 * MISSING
    assert accuracy(with_axis, y) > accuracy(forest, y)
