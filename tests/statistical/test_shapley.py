"""Sampled Shapley values: right on average, with standard errors that tell the truth."""

import numpy as np
import pytest
from support.false_alarms import assert_mean
from support.random_forests import random_forest, random_rows

from bevel import _core
from bevel.predictor import PackedPredictor

N_SEEDS = 400


@pytest.fixture(scope="module")
def draws():
    """Exact values, and estimates with their variances by independent seeds."""
    rng = np.random.default_rng(0)
    forest = random_forest(rng, 7, 0, n_trees=4, depth=7, n_axes=2)
    X, background = random_rows(rng, forest, 2, 0.1), random_rows(rng, forest, 3, 0.1)
    view = PackedPredictor(forest).view
    exact = _core.shapley_values(view, X, background, False, 12, 2, 0, 1, None)[0]
    sampled = [
        _core.shapley_values(view, X, background, False, 0, 3, seed, 1, None)
        for seed in range(N_SEEDS)
    ]
    values, variances = (np.array([s[part] for s in sampled]) for part in (0, 1))
    uncertain = values.std(axis=0) > 1e-9
    assert uncertain.sum() > 8
    np.testing.assert_allclose(values[:, ~uncertain].mean(axis=0), exact[~uncertain], atol=1e-9)
    return exact[uncertain], values[:, uncertain], variances[:, uncertain]


def test_sampled_shapley_values_are_unbiased(draws):
    """Null: the mean over 400 seeds is the exact value; z-tests, one false alarm in a million."""
    exact, values, _ = draws
    assert_mean(values, exact)


def test_variances_of_sampled_shapley_values_are_unbiased(draws):
    """Null: squared deviations from the exact value and reported variances have equal means.

    Their differences over 400 seeds are tested by z-tests, one false alarm in a million.
    """
    exact, values, variances = draws
    assert_mean((values - exact) ** 2 - variances, 0.0)
