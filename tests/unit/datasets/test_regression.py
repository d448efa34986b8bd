"""Regressions follow their formulas, with noise of the size asked for.

Each statistical check fails with probability of about 1e-6 if its null holds.
"""

import math

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import assert_covariance, assert_distribution, assert_mean

from bevel import datasets

CIRCUIT = [stats.uniform(0, 100), stats.uniform(40 * math.pi, 520 * math.pi)]
CIRCUIT += [stats.uniform(0, 1), stats.uniform(1, 10)]


def friedman1(x: np.ndarray) -> float:
    return 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]


def friedman2(x: np.ndarray) -> float:
    return math.hypot(x[0], x[1] * x[2] - 1 / (x[1] * x[3]))


def friedman3(x: np.ndarray) -> float:
    return math.atan((x[1] * x[2] - 1 / (x[1] * x[3])) / x[0])


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("friedman1", friedman1),
        ("friedman2", friedman2),
        ("friedman3", friedman3),
    ],
)
def test_friedman_without_noise_is_its_formula(name, signal):
    X, y = getattr(datasets, name)(500, noise=0.0, random_state=1)
    np.testing.assert_allclose(y, [signal(row) for row in X])


@pytest.mark.parametrize(
    ("name", "signal", "noise"),
    [
        ("friedman1", friedman1, 1.0),
        ("friedman2", friedman2, 125.0),
        ("friedman3", friedman3, 0.1),
        ("lin_jeon_regression", friedman2, 125.0),
    ],
)
def test_noise_is_normal_and_of_the_size_in_the_papers(name, signal, noise):
    X, y = getattr(datasets, name)(5000, random_state=2)
    error = y - [signal(row) for row in X]
    assert_distribution(error, stats.norm(0, noise))
    assert_mean(error[:, None] * (X - X.mean(axis=0)), 0.0)


@pytest.mark.parametrize("name", ["friedman2", "friedman3", "lin_jeon_regression"])
def test_circuit_features_are_uniform_on_their_ranges(name):
    X, _ = getattr(datasets, name)(5000, random_state=3)
    nulls = CIRCUIT + [stats.uniform(0, 1)] * (X.shape[1] - 4)
    for column, null in zip(X.T, nulls, strict=True):
        assert_distribution(column, null)
    means = np.array([null.mean() for null in nulls])
    assert_covariance(X, means, np.diag([null.var() for null in nulls]))


def test_friedman1_features_are_uniform_and_as_many_as_asked():
    X, _ = datasets.friedman1(5000, n_features=7, random_state=4)
    assert X.shape == (5000, 7)
    assert_distribution(X, stats.uniform)
    assert_covariance(X, 0.5, np.eye(7) / 12)


@pytest.mark.parametrize(("name", "noise"), [("friedman2", 125.0), ("friedman3", 0.1)])
def test_friedman_default_noise_is_a_third_of_the_signal(name, noise):
    _, y = getattr(datasets, name)(50_000, noise=0.0, random_state=5)
    assert y.std() / noise == pytest.approx(3, abs=0.25)


def test_friedman1_without_its_five_features_is_refused():
    with pytest.raises(ValueError, match="n_features must be 5 or more; got 4"):
        datasets.friedman1(10, n_features=4)
