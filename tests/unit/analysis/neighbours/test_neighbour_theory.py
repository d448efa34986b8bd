"""Theorems 1 to 3 of Lin and Jeon: closed forms, simulation and forests."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bevel import presets
from bevel.analysis import (
    expected_potential_neighbours,
    mean_squared_error_bound,
    potential_neighbours,
)


def test_two_dimensions_have_harmonic_numbers() -> None:
    for n in (1, 2, 10, 1000):
        want = sum(1 / i for i in range(1, n + 1))
        assert expected_potential_neighbours(n, 2) == pytest.approx(want, rel=1e-8)


def test_one_dimension_has_k_and_at_most_all_rows() -> None:
    assert expected_potential_neighbours(50, 1, 7) == 7
    assert expected_potential_neighbours(5, 3, 9) == 5
    assert expected_potential_neighbours(50, 1, 7, corner=False) == pytest.approx(14, rel=1e-3)


def test_leading_term_of_theorem_1_is_approached() -> None:
    """(log n)^(d − 1) / (d − 1)!: the ratio tends to one from above, slowly."""
    for d in (2, 3):
        ratios = [
            expected_potential_neighbours(n, d) / (math.log(n) ** (d - 1) / math.factorial(d - 1))
            for n in (10**3, 10**6, 10**12)
        ]
        assert ratios[0] > ratios[1] > ratios[2] > 1.0
        assert ratios[2] < 1.1


@pytest.mark.parametrize(("n", "d", "k", "corner"), [(60, 3, 2, True), (60, 2, 3, False)])
def test_number_is_the_mean_of_simulated_ones(n: int, d: int, k: int, corner: bool) -> None:
    """Null: the mean over 200 samples is the expectation; five standard errors, 6e-7."""
    rng = np.random.default_rng(0)
    target = np.full((1, d), 0.0 if corner else 0.5)
    forest = presets.random_side(k=k, n_estimators=1, task="regression")
    counts = []
    for _ in range(200):
        X = rng.random((n, d))
        forest.fit(X, X[:, 0])
        counts.append(potential_neighbours(forest, X, target, k=k).nnz)
    error = np.std(counts, ddof=1) / math.sqrt(200)
    want = expected_potential_neighbours(n, d, k, corner=corner)
    assert abs(np.mean(counts) - want) < 5 * error


def test_lemma_1_holds() -> None:
    for d in (2, 3, 5):
        corner = expected_potential_neighbours(200, d, 3)
        centre = expected_potential_neighbours(200, d, 3, corner=False)
        assert corner < centre <= 2**d * corner


def test_error_of_a_purely_random_forest_is_above_the_bound() -> None:
    """Noise alone, σ = 1: the error at the centre of forests without targets in their splits."""
    rng = np.random.default_rng(1)
    squared = []
    for seed in range(40):
        X, y = rng.random((100, 2)), rng.normal(size=100)
        forest = presets.random_side(
            k=2, n_estimators=30, task="regression", random_state=seed, n_jobs=1
        )
        forest.fit(X, rng.permutation(y))  # splits from other targets than the leaves'
        leaves, centre = forest.apply(X), forest.apply([[0.5, 0.5]])
        same = leaves == centre
        weights = (same / same.sum(axis=0)).mean(axis=1)
        squared.append((weights @ y) ** 2)
    assert np.mean(squared) > mean_squared_error_bound(100, 2, 2, noise=1.0)


def test_bound_falls_with_rows_and_node_size() -> None:
    bounds = [mean_squared_error_bound(n, 3, 5, noise=2.0) for n in (100, 1000, 10_000)]
    assert bounds[0] > bounds[1] > bounds[2]
    sizes = [mean_squared_error_bound(10_000, 3, k, noise=2.0) for k in (1, 5, 20)]
    assert sizes[0] > sizes[1] > sizes[2]
    assert mean_squared_error_bound(100, 30, 1, noise=2.0) == 4.0 / 100


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_potential_neighbours(0, 2), "^n_rows must be an integer of at least 1"),
        (lambda: expected_potential_neighbours(9, 2, 0), "^k must be an integer of at least 1"),
        (lambda: expected_potential_neighbours(9, 2, corner=1), "^corner must be True or False"),
        (lambda: mean_squared_error_bound(9, 2, noise=0.0), "^noise must be a standard deviation"),
    ],
)
def test_bad_numbers_are_refused(call, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()
