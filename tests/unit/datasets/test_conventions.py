"""All simulations take and return the same things: seeds, sizes, types."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bevel import datasets

CLASSIFICATIONS: dict[str, tuple[int, int]] = {  # shape of X at the defaults
    "bars": (100, 400),
    "circles": (300, 2),
    "consistency": (5000, 2),
    "esl_mixture": (200, 2),
    "lin_jeon_classification": (1000, 2),
    "long_ramp": (1000, 2),
    "orthant": (400, 6),
    "parallel_hyperplanes": (2000, 20),
    "ringnorm": (300, 20),
    "short_ramp": (1000, 2),
    "sparse_parity": (5000, 20),
    "spirals": (300, 2),
    "threenorm": (300, 20),
    "triangle": (1000, 2),
    "trunk": (100, 10),
    "twonorm": (300, 20),
    "waveform": (300, 21),
}
REGRESSIONS: dict[str, tuple[int, int]] = {
    "friedman1": (200, 10),
    "friedman2": (200, 4),
    "friedman3": (200, 4),
    "lin_jeon_regression": (1000, 10),
}
SHAPES = CLASSIFICATIONS | REGRESSIONS
Simulation = Callable[..., tuple[Any, Any]]


@pytest.fixture(params=SHAPES)
def simulate(request: pytest.FixtureRequest) -> Simulation:
    return getattr(datasets, request.param)


def test_simulation_with_equal_seeds_is_equal_and_with_others_differs(simulate):
    X, y = simulate(random_state=7)
    X_again, y_again = simulate(random_state=7)
    X_other, _ = simulate(random_state=8)
    np.testing.assert_array_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, X_other)


def test_simulation_with_a_generator_draws_on_from_where_it_stands(simulate):
    stream = np.random.default_rng(7)
    first, _ = simulate(50, random_state=stream)
    second, _ = simulate(50, random_state=stream)
    np.testing.assert_array_equal(first, simulate(50, random_state=7)[0])
    assert not np.array_equal(first, second)


def test_simulation_without_seed_differs_each_time(simulate):
    assert not np.array_equal(simulate()[0], simulate()[0])


def test_simulation_returns_one_value_to_predict_for_each_row(simulate):
    X, y = simulate(33, random_state=0)
    assert X.dtype == np.float64
    assert X.shape[0] == 33
    assert y.shape == (33,)


def test_simulation_without_rows_is_refused(simulate):
    with pytest.raises(ValueError, match="n_samples must be 1 or more; got 0"):
        simulate(0)


@pytest.mark.parametrize(("name", "shape"), SHAPES.items(), ids=SHAPES)
def test_simulation_defaults_are_those_of_the_papers(name, shape):
    assert getattr(datasets, name)(random_state=0)[0].shape == shape


@pytest.mark.parametrize("name", CLASSIFICATIONS)
def test_classification_has_labels_counted_from_0_that_all_occur(name):
    _, y = getattr(datasets, name)(20_000 if name == "orthant" else 500, random_state=0)
    assert y.dtype == np.int64
    np.testing.assert_array_equal(np.unique(y), np.arange(y.max() + 1))


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regression_has_real_values_to_predict(name):
    assert getattr(datasets, name)(random_state=0)[1].dtype == np.float64


@pytest.mark.parametrize(
    "name", ["triangle", "short_ramp", "long_ramp", "waveform", "lin_jeon_regression"]
)
def test_simulation_puts_as_many_noise_features_as_asked_after_the_others(name):
    simulate = getattr(datasets, name)
    plain = simulate(20, 0, random_state=0)[0].shape[1]
    assert simulate(20, 7, random_state=0)[0].shape[1] == plain + 7
    with pytest.raises(ValueError, match="n_noise must be 0 or more; got -1"):
        simulate(20, -1)


@pytest.mark.parametrize("name", ["twonorm", "threenorm", "ringnorm"])
def test_normals_without_features_are_refused(name):
    with pytest.raises(ValueError, match="n_features must be 1 or more; got 0"):
        getattr(datasets, name)(10, 0)


@pytest.mark.parametrize("name", ["friedman1", "friedman2", "friedman3", "spirals"])
@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf])
def test_simulation_with_impossible_noise_is_refused(name, noise):
    with pytest.raises(ValueError, match="noise must be finite and not negative; got"):
        getattr(datasets, name)(10, noise=noise)
