"""`bevel.forest.importance`: gains credited to features."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.forest.importance import gain_importances


def test_gain_is_shared_by_absolute_coefficients_and_through_rotations(forest):
    # Tree 0: 6 split 1 : 2 between x0 and x1, and 3 for x2. Tree 1: 5 split 0.6 : 0.8.
    first = np.array([2, 4, 3]) / 9
    second = np.array([0.6, 0.8, 0]) / 1.4
    assert gain_importances(forest) == pytest.approx((first + second) / 2)


@pytest.mark.filterwarnings("ignore::bevel.errors.LeakWarning")  # a column is the target
@pytest.mark.parametrize("projection", ["axis", "sparse", "combination", "gaussian", "rotation"])
def test_importances_sum_to_one_and_find_the_signal(projection):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = 3 * X[:, 2] + 0.1 * rng.normal(size=500)
    for estimator, target in ((ObliqueForestRegressor, y), (ObliqueForestClassifier, y > 0)):
        forest = estimator(30, projection=projection, random_state=0).fit(X, target)
        importances = forest.feature_importances_
        assert importances.sum() == pytest.approx(1)
        assert importances.argmax() == 2


def test_forest_of_stumps_without_splits_has_zero_importances():
    forest = ObliqueForestClassifier(5).fit([[1.0, 2.0]] * 4, [0, 1, 0, 1])
    assert forest.feature_importances_.tolist() == [0, 0]


def test_axis_importances_equal_their_definition():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 3, 80)
    fitted = ObliqueForestClassifier(7, projection="axis", random_state=1).fit(X, y)
    total = np.zeros(4)
    for tree in fitted.forest_:
        credit = np.zeros(4)
        for node in np.flatnonzero(tree.children_right >= 0):
            ((feature,), _) = tree.projection(node)
            credit[feature] += tree.gain[node]
        total += credit / credit.sum()
    assert fitted.feature_importances_ == pytest.approx(total / total.sum())
