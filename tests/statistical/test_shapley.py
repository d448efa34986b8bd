"""Sampled Shapley values: right on average, with standard errors that tell the truth."""

import numpy as np
import pytest
from support.false_alarms import assert_mean
from support.random_forests import random_forest, random_rows

from bevel import _core
from bevel.analysis.shapley import draw_rows
from bevel.forest.predictor import PackedPredictor

N_DRAWS = 20_000


@pytest.fixture(scope="module")
def draws():
    """Exact values of a row, and independent estimates with their variances: one row, many times.

    Few samples, trees and background rows, so that nothing hides behind an average.
    """
    rng = np.random.default_rng(2)
    forest = random_forest(rng, 6, 0, n_trees=2, depth=7, n_axes=2)
    x, background = random_rows(rng, forest, 1, 0.1), random_rows(rng, forest, 3, 0.1)
    view = PackedPredictor(forest).view
    exact = _core.shapley_values(view, x, background, None, None, False, 12, 2, 0, 1, None)[0][
        0, :, 0
    ]
    X = np.repeat(x, N_DRAWS, axis=0)
    values, variances, n_sampled, _ = _core.shapley_values(
        view, X, background, None, None, False, 0, 2, 7, 1, None
    )
    assert n_sampled.min() == 6
    values, variances = values[:, :, 0], variances[:, :, 0]
    uncertain = values.std(axis=0) > 1e-9
    assert uncertain.sum() >= 4
    np.testing.assert_allclose(values[0, ~uncertain], exact[~uncertain], atol=1e-9)
    return exact[uncertain], values[:, uncertain], variances[:, uncertain]


def test_sampled_shapley_values_are_unbiased(draws):
    """Null: the mean of 20 000 draws is the exact value; z-tests, one false alarm in a million."""
    exact, values, _ = draws
    assert_mean(values, exact)


def test_variances_of_sampled_shapley_values_are_unbiased(draws):
    """Null: squared deviations from the exact value and reported variances have equal means.

    Their differences over 20 000 draws are tested by z-tests, one false alarm in a million.
    """
    exact, values, variances = draws
    assert_mean((values - exact) ** 2 - variances, 0.0)


def test_sampled_values_of_orders_of_more_features_than_bits_are_unbiased_and_add_up():
    """A hundred features: an order is walked in two parts.

    Null: the mean of 4000 draws is the exact value; z-tests, one false alarm in a million.
    """
    rng = np.random.default_rng(4)
    forest = random_forest(rng, 100, 0, n_trees=3, depth=6, kinds=("signs", "single"))
    x, background = random_rows(rng, forest, 1, 0.1), random_rows(rng, forest, 2, 0.1)
    view = PackedPredictor(forest).view
    play = lambda X, exact: _core.shapley_values(  # noqa: E731
        view, X, background, None, None, False, exact, 2, 3, 1, None
    )
    exact, _, n_sampled, _ = play(x, 20)
    assert not n_sampled.any()
    values, _, n_sampled, _ = play(np.repeat(x, 4000, axis=0), 0)
    assert n_sampled.min() >= 4
    values = values[:, :, 0]
    np.testing.assert_allclose(values.sum(axis=1), exact.sum(), atol=1e-12)
    uncertain = values.std(axis=0) > 1e-9
    assert uncertain.sum() >= 10
    np.testing.assert_allclose(values[0, ~uncertain], exact[0, ~uncertain, 0], atol=1e-9)
    assert_mean(values[:, uncertain], exact[0, uncertain, 0])


N_BACKGROUNDS = 4000


def test_values_and_variances_of_drawn_backgrounds_are_unbiased():
    """Null: over draws, values have the mean of all rows, and variances that of squared errors.

    z-tests of 4000 draws, one false alarm in a million. Rows of a tree are drawn without
    replacement: 2 of 40, so the true variance is smaller by 1 - 2/40 and a little more for the
    balance between trees; the reported one may not be smaller, nor larger by a fifth.
    """
    rng = np.random.default_rng(1)
    forest = random_forest(rng, 5, 0, n_trees=4, depth=6)
    x, background = random_rows(rng, forest, 1, 0.1), random_rows(rng, forest, 40, 0.1)
    view = PackedPredictor(forest).view
    play = lambda drawn: _core.shapley_values(  # noqa: E731
        view, x, background, None, drawn, False, 12, 2, 0, 1, None
    )
    exact = play(None)[0][0, :, 0]
    draws = [play(draw_rows(np.ones(40), 4, 2, rng)) for _ in range(N_BACKGROUNDS)]
    values = np.array([draw[0][0, :, 0] for draw in draws])
    variances = np.array([draw[1][0, :, 0] for draw in draws])
    used = values.std(axis=0) > 1e-9
    assert used.sum() >= 3
    assert_mean(values[:, used], exact[used])
    ratio = variances[:, used].mean(axis=0) / values[:, used].var(axis=0)
    assert ratio.min() > 0.9
    assert ratio.max() < 1.4
