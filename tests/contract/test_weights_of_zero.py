"""Nothing is learnt from rows whose weight is zero."""

import numpy as np
import pytest

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    scan,
)

N = 200
FORESTS = [
    ObliqueForestRegressor(20, random_state=0),
    ObliqueForestRegressor(10, projection="sparse", scale="quantile", random_state=0),
    ObliqueForestRegressor(10, projection="axis", scale=None, random_state=0),
    ObliqueForestClassifier(20, random_state=0),
    ObliqueForestClassifier(10, projection="sparse", scale="standard", random_state=0),
]
BOOSTING = [
    ObliqueBoostingRegressor(max_iter=10, random_state=0),
    ObliqueBoostingClassifier(max_iter=10, random_state=0),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] - X[:, 1]) + 0.1 * rng.normal(size=N)
    weight = rng.integers(0, 3, N).astype(float)
    return X, y, weight


def target_of(model, y):
    return (y > 0).astype(int) if hasattr(model, "predict_proba") else y


def predictions(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def with_other_values(X, weight):
    """The same rows with far-away values and missing ones where the weight is zero."""
    other = X.copy()
    other[weight == 0.0] = 1e6 * np.arange(1.0, 5.0)
    other[np.flatnonzero(weight == 0.0)[0]] = np.nan
    return other


@pytest.mark.parametrize("model", [*FORESTS, *BOOSTING], ids=str)
def test_values_of_rows_of_weight_zero_change_no_prediction(model, rows):
    X, y, weight = rows
    y = target_of(model, y)
    expected = predictions(model.fit(X, y, weight), X)
    other = with_other_values(X, weight)
    np.testing.assert_array_equal(predictions(model.fit(other, y, weight), X), expected)


@pytest.mark.parametrize("model", [*BOOSTING, ObliqueIsolationForest(20, random_state=0)], ids=str)
def test_models_without_bags_of_all_rows_are_those_of_the_other_rows(model, rows):
    X, y, weight = rows
    y, kept = target_of(model, y), weight > 0.0
    whole = model.fit(X, y, sample_weight=weight).predict(X)
    assert (
        whole.tolist()
        == model.fit(X[kept], y[kept], sample_weight=weight[kept]).predict(X).tolist()
    )


@pytest.mark.parametrize("folder", [False, True], ids=["memory", "folder"])
@pytest.mark.parametrize(
    "model",
    [
        ObliqueForestRegressor(10, projection="sparse", scale="quantile", random_state=0),
        ObliqueForestClassifier(10, projection="sparse", scale="minmax", random_state=0),
        *BOOSTING,
    ],
    ids=str,
)
def test_values_of_scanned_rows_of_weight_zero_change_no_prediction(model, folder, rows, tmp_path):
    X, y, weight = rows
    y = target_of(model, y)

    def fit(X):
        place = tmp_path if folder else None
        return model.fit(scan(X, target=y, weight=weight, block_rows=64, folder=place))

    expected = predictions(fit(X), X)
    np.testing.assert_array_equal(predictions(fit(with_other_values(X, weight)), X), expected)
