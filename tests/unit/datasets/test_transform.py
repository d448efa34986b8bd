"""Transformations keep what they should keep and draw the rest as the papers say.

Each statistical check fails with probability of about 1e-6 if its null holds.
"""

import math

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import (
    assert_covariance,
    assert_distribution,
    assert_mean,
    assert_share,
    assert_uniform,
)

from bevel import datasets

TRANSFORMATIONS = ["rotate", "scale", "affine", "corrupt", "correlated"]


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 4))


@pytest.fixture(params=TRANSFORMATIONS)
def transform(request: pytest.FixtureRequest):
    return getattr(datasets, request.param)


def test_transformation_of_one_array_is_an_array_that_the_seed_decides(transform, X):
    before = X.copy()
    changed = transform(X, random_state=1)
    assert changed.shape == X.shape
    assert changed.dtype == np.float64
    np.testing.assert_array_equal(changed, transform(X, random_state=1))
    assert not np.array_equal(changed, transform(X, random_state=2))
    assert not np.array_equal(changed, X)
    np.testing.assert_array_equal(X, before)


def test_transformation_of_several_arrays_is_a_tuple_in_their_order(transform, X):
    changed = transform(X, X[:7], X[:1], random_state=1)
    assert isinstance(changed, tuple)
    assert [array.shape[0] for array in changed] == [60, 7, 1]
    np.testing.assert_array_equal(changed[0], transform(X, random_state=1))


def test_transformation_with_a_generator_draws_on_from_where_it_stands(transform, X):
    stream = np.random.default_rng(1)
    first = transform(X, random_state=stream)
    np.testing.assert_array_equal(first, transform(X, random_state=1))
    assert not np.array_equal(first, transform(X, random_state=stream))


def test_transformation_takes_lists_integers_and_column_major_arrays(transform, X):
    whole = np.rint(10 * X).astype(int)
    expected = transform(whole.astype(float), random_state=1)
    np.testing.assert_array_equal(transform(whole, random_state=1), expected)
    np.testing.assert_array_equal(transform(whole.tolist(), random_state=1), expected)
    flipped = transform(np.asfortranarray(whole), random_state=1)
    np.testing.assert_allclose(flipped, expected, rtol=1e-12)


def test_transformation_of_labels_is_refused(transform, X):
    with pytest.raises(ValueError, match=r"X must be of shape \(n_rows, n_features\); got \(60,\)"):
        transform(X, X[:, 0])


def test_transformation_of_arrays_of_other_widths_is_refused(transform, X):
    with pytest.raises(ValueError, match="X must be arrays of one width, 4 as the first; got 3"):
        transform(X, X[:, :3])


@pytest.mark.parametrize("name", ["rotate", "scale", "affine"])
def test_map_treats_training_and_test_rows_alike(name, X):
    train, test = getattr(datasets, name)(X, X[::-2], random_state=1)
    np.testing.assert_allclose(test, train[::-2], rtol=1e-12)


@pytest.mark.parametrize("name", ["corrupt", "correlated"])
def test_noise_is_drawn_anew_for_each_array(name, X):
    train, test = getattr(datasets, name)(X, X, random_state=1)
    assert not np.array_equal(train, test)


@pytest.mark.parametrize("n_features", [1, 2, 3, 10])
def test_rotate_keeps_distances_and_orientation(n_features):
    for seed in range(20):
        R = datasets.rotate(np.eye(n_features), random_state=seed)
        np.testing.assert_allclose(R @ R.T, np.eye(n_features), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1)


def test_rotate_draws_angles_in_space_as_uniform_rotations_have_them():
    # The angle of a uniform rotation of space has the distribution (t - sin t) / pi on (0, pi).
    stream = np.random.default_rng(1)
    traces = [np.trace(datasets.rotate(np.eye(3), random_state=stream)) for _ in range(3000)]
    angles = np.arccos(np.clip((np.array(traces) - 1) / 2, -1, 1))
    assert_distribution((angles - np.sin(angles)) / math.pi, stats.uniform)


def test_rotate_sends_each_axis_to_a_uniform_direction():
    # A coordinate of a uniform direction in p dimensions: (1 + c) / 2 is Beta((p-1)/2, (p-1)/2).
    stream = np.random.default_rng(2)
    R = np.array([datasets.rotate(np.eye(5), random_state=stream) for _ in range(3000)])
    for row in range(5):
        for column in range(5):
            assert_distribution((1 + R[:, row, column]) / 2, stats.beta(2, 2))
    assert_covariance(R.reshape(3000, 25), 0.0, np.eye(25) / 5)


def test_scale_multiplies_features_by_uniform_factors():
    factors = datasets.scale(np.ones((1, 20_000)), random_state=3)[0]
    assert_distribution(factors, stats.uniform(1e-5, 1e5 - 1e-5))
    assert np.log10(factors).min() > -5


def test_scale_on_a_logarithmic_scale_has_uniform_exponents():
    factors = datasets.scale(np.ones((1, 20_000)), logarithmic=True, random_state=4)[0]
    assert_distribution(np.log10(factors), stats.uniform(-5, 10))


def test_scale_keeps_missing_values_where_they_are(X):
    X[3, 1] = math.nan
    np.testing.assert_array_equal(np.argwhere(np.isnan(datasets.scale(X))), [[3, 1]])


@pytest.mark.parametrize("logarithmic", [False, True])
def test_affine_is_a_rotation_followed_by_a_scaling(X, logarithmic):
    stream = np.random.default_rng(5)
    rotated = datasets.rotate(X, random_state=stream)
    expected = datasets.scale(rotated, logarithmic=logarithmic, random_state=stream)
    changed = datasets.affine(X, logarithmic=logarithmic, random_state=5)
    np.testing.assert_allclose(changed, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["rotate", "affine"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_rotation_of_missing_values_names_their_place(name, value, X):
    spoiled = X.copy()
    spoiled[5, 2] = value
    with pytest.raises(
        ValueError, match=r"X must be finite \(row index 5, column index 2\); got .*impute"
    ):
        getattr(datasets, name)(X, spoiled)


def test_corrupt_multiplies_a_fifth_of_the_cells_by_the_four_factors_alike():
    X = datasets.corrupt(np.full((400, 50), -1.5), random_state=6)
    factors = X / -1.5
    hit = factors != 1
    assert np.count_nonzero(hit) == 4000
    exponents = np.log10(factors[hit]).round(9)
    assert set(exponents) == {2.0, 3.0, 4.0, 5.0}
    assert_uniform(np.bincount(exponents.astype(int))[2:])
    in_columns = np.count_nonzero(hit, axis=0)  # drawn without replacement: less spread
    assert_uniform(in_columns, spread=0.8)
    assert_share(hit[:, 0], 0.2)


@pytest.mark.parametrize(("share", "hits"), [(0.0, 0), (0.5, 120), (1.0, 240), (0.001, 0)])
def test_corrupt_rounds_the_number_of_cells(X, share, hits):
    assert np.count_nonzero(datasets.corrupt(X, share=share, random_state=7) != X) == hits


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_corrupt_with_an_impossible_share_is_refused(X, share):
    with pytest.raises(ValueError, match="share must be between 0 and 1; got"):
        datasets.corrupt(X, share=share)


@pytest.mark.parametrize("size", [1.0, 30.0])
def test_correlated_adds_one_normal_number_to_each_row(size):
    X = datasets.correlated(np.arange(3.0) * np.ones((5000, 1)), size=size, random_state=8)
    offset = X - np.arange(3.0)
    np.testing.assert_allclose(offset, offset[:, :1] * np.ones(3), atol=1e-9)
    assert_distribution(offset[:, 0], stats.norm(0, size))


def test_correlated_normals_have_the_documented_correlation():
    X = np.random.default_rng(9).normal(0, 2, (20_000, 3))
    X = datasets.correlated(X, size=3.0, random_state=10)
    assert_mean(X[:, 0] * X[:, 1] / 13, 9 / 13)  # size² / (size² + v), each variance being 13
    assert_covariance(X, 0.0, 9 * np.ones((3, 3)) + 4 * np.eye(3))


def test_correlated_threenorm_keeps_differences_of_features():
    X, _ = datasets.threenorm(100, random_state=11)
    stretched = datasets.correlated(X, size=1e3, random_state=12)
    np.testing.assert_allclose(np.diff(stretched), np.diff(X), atol=1e-9)


@pytest.mark.parametrize("size", [-1.0, math.inf, math.nan])
def test_correlated_with_an_impossible_size_is_refused(X, size):
    with pytest.raises(ValueError, match="size must be finite and not negative; got"):
        datasets.correlated(X, size=size)
