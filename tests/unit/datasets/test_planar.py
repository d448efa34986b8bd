"""The problems of the plane have the boundaries and distributions of their definitions.

Each statistical check fails with probability of about 1e-6 if its null holds.
"""

import math

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import (
    assert_covariance,
    assert_distribution,
    assert_share,
    assert_uniform,
)

from bevel import datasets


def test_mixture_means_are_normal_around_the_centres_of_their_classes():
    means = datasets.esl_mixture_means(4000, random_state=1)
    assert means.shape == (2, 4000, 2)
    assert_covariance(means[0], np.array([1.0, 0.0]), np.eye(2))
    assert_covariance(means[1], np.array([0.0, 1.0]), np.eye(2))
    assert_distribution(means - np.array([[[1, 0]], [[0, 1]]]), stats.norm)


class Mixture:
    """Distribution of a feature of one class: equally many rows around each of the centres."""

    def __init__(self, centres: np.ndarray):
        self.centres = centres

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return stats.norm.cdf(x[:, None], self.centres, math.sqrt(1 / 5)).mean(axis=1)


def test_mixture_rows_surround_the_means_of_their_class():
    means = datasets.esl_mixture_means(random_state=2)
    X, y = datasets.esl_mixture(30_000, means=means, random_state=3)
    assert_share(y == 1, 0.5)
    for label in (0, 1):
        rows = X[y == label]
        spread = np.cov(means[label].T, ddof=0) + np.eye(2) / 5
        assert_covariance(rows, means[label].mean(axis=0), spread)
        for feature, centres in zip(rows.T, means[label].T, strict=True):
            assert_distribution(feature, Mixture(centres))


def test_mixture_with_far_means_has_components_of_variance_a_fifth_and_equal_weight():
    means = 100.0 * np.arange(20).reshape(2, 10, 1) * np.ones(2)
    X, y = datasets.esl_mixture(20_000, means=means, random_state=4)
    component = np.rint(X[:, 0] / 100).astype(int)
    np.testing.assert_array_equal(component // 10, y)
    assert_uniform(np.bincount(component))
    deviation = X - 100 * component[:, None]
    assert_covariance(deviation, 0.0, np.eye(2) / 5)
    assert_distribution(deviation, stats.norm(0, math.sqrt(0.2)))


def test_mixture_without_means_draws_its_own():
    X, y = datasets.esl_mixture(50, random_state=5)
    stream = np.random.default_rng(5)
    means = datasets.esl_mixture_means(random_state=stream)
    X_same, y_same = datasets.esl_mixture(50, means=means, random_state=stream)
    np.testing.assert_array_equal(X, X_same)
    np.testing.assert_array_equal(y, y_same)


@pytest.mark.parametrize("shape", [(10, 2), (3, 10, 2), (2, 0, 2), (2, 10, 3)])
def test_mixture_with_means_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"means must be of shape \(2, n_means, 2\); got"):
        datasets.esl_mixture(10, means=np.zeros(shape))


def test_mixture_without_any_mean_is_refused():
    with pytest.raises(ValueError, match="n_means must be 1 or more; got 0"):
        datasets.esl_mixture_means(0)


def test_lin_jeon_classes_are_unit_normals_at_the_origin_and_at_1_1():
    X, y = datasets.lin_jeon_classification(50_000, random_state=6)
    assert_share(y == 1, 0.5)
    assert_covariance(X[y == 0], 0.0, np.eye(2))
    assert_covariance(X[y == 1], 1.0, np.eye(2))
    assert_distribution(X - y[:, None], stats.norm)
    assert_share((X.sum(axis=1) > 1) != y, stats.norm.cdf(-math.sqrt(0.5)))


@pytest.mark.parametrize(("n_features", "radius"), [(2, 0.79788), (3, 0.98475)])
def test_circles_are_balls_that_hold_half_of_a_uniform_cube(n_features, radius):
    X, y = datasets.circles(20_000, n_features, random_state=7)
    distance = np.linalg.norm(X, axis=1)
    assert distance[y == 0].max() < radius + 1e-5
    assert distance[y == 1].min() > radius - 1e-5
    assert_share(y == 1, 0.5)
    assert_covariance(X, 0.0, np.eye(n_features) / 3)
    assert_distribution(X, stats.uniform(-1, 2))


@pytest.mark.parametrize("n_features", [1, 4])
def test_circles_that_do_not_fit_in_the_cube_are_refused(n_features):
    with pytest.raises(ValueError, match="n_features must be 2 or 3; got"):
        datasets.circles(10, n_features)


def spiral_at(turns: float, label: int) -> tuple[float, float]:
    radius = (1 + 2 * turns) / 3
    angle = 2 * math.pi * turns + (math.pi if label else 0)
    return radius * math.cos(angle), radius * math.sin(angle)


def test_spirals_without_noise_lie_on_the_curves_uniformly_in_turns():
    X, y = datasets.spirals(5000, n_turns=2.5, noise=0.0, random_state=8)
    turns = (3 * np.hypot(X[:, 0], X[:, 1]) - 1) / 2
    curve = [spiral_at(*place) for place in zip(turns, y, strict=True)]
    np.testing.assert_allclose(X, curve, atol=1e-12)
    assert_distribution(turns, stats.uniform(0, 2.5))
    assert_share(y == 1, 0.5)


def test_spirals_noise_is_normal_around_the_curves():
    # The seed gives turns before noise, so both samples have the same ones.
    X, y = datasets.spirals(5000, noise=0.3, random_state=9)
    curve, y_same = datasets.spirals(5000, noise=0.0, random_state=9)
    np.testing.assert_array_equal(y, y_same)
    assert_covariance(X - curve, 0.0, 0.09 * np.eye(2))
    assert_distribution(X - curve, stats.norm(0, 0.3))


@pytest.mark.parametrize("n_turns", [0.0, -1.0, math.inf, math.nan])
def test_spirals_without_length_are_refused(n_turns):
    with pytest.raises(ValueError, match="n_turns must be finite and above 0; got"):
        datasets.spirals(10, n_turns)


BOUNDARIES = {
    "triangle": (lambda x: x, 1 / 2),
    "short_ramp": (lambda x: 0.5 if x < 0.75 else x - 0.25, 15 / 32),
    "long_ramp": (lambda x: max(x, 0.5), 3 / 8),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_boundary_problem_is_uniform_and_labelled_by_its_side(name):
    boundary, share = BOUNDARIES[name]
    X, y = getattr(datasets, name)(10_000, n_noise=3, random_state=10)
    labels = [int(row[1] > boundary(row[0])) for row in X]
    np.testing.assert_array_equal(y, labels)
    assert_share(y == 1, share)
    assert_distribution(X, stats.uniform)
    assert_covariance(X, 0.5, np.eye(5) / 12)


@pytest.mark.parametrize("name", BOUNDARIES)
def test_boundary_problem_noise_says_nothing(name):
    X, y = getattr(datasets, name)(10_000, n_noise=2, random_state=11)
    for label in (0, 1):
        assert_distribution(X[y == label, 2:], stats.uniform)
