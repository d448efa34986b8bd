"""`bevel.forest.calibration` beside plain NumPy, and the choice of the power beside slow loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bevel.forest.calibration import (
    MIN_PROBABILITY,
    POWERS,
    TOLERANCE,
    choose_power,
    raise_to_power,
)

RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet([0.4, 0.4, 0.4], size=300)


def naive_power(shares, truth, weights):
    """The power of least loss, or the first towards it whose excess is within its noise."""
    total = sum(weights)
    losses = {}
    for power in POWERS:
        raised = [[share**power for share in row] for row in shares]
        losses[power] = [
            -math.log(max(row[k] / sum(row), MIN_PROBABILITY))
            for row, k in zip(raised, truth, strict=True)
        ]

    def mean(values):
        return sum(w * v for w, v in zip(weights, values, strict=True)) / total

    best = min(POWERS, key=lambda power: mean(losses[power]))
    between = [power for power in POWERS if min(1, best) <= power <= max(1, best)]
    for power in sorted(between, key=lambda power: abs(power - 1)):
        excess = [a - b for a, b in zip(losses[power], losses[best], strict=True)]
        m = mean(excess)
        squares = [(w / total * (e - m)) ** 2 for w, e in zip(weights, excess, strict=True)]
        if m <= TOLERANCE * math.sqrt(sum(squares)):
            return power
    raise AssertionError


@pytest.mark.parametrize("power", POWERS)
def test_shares_are_powers_divided_by_their_sum(power):
    expected = SHARES**power / (SHARES**power).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(raise_to_power(SHARES.copy(), power), expected, rtol=1e-14)


def test_power_one_keeps_every_bit():
    np.testing.assert_array_equal(raise_to_power(SHARES.copy(), 1.0), SHARES)


@pytest.mark.parametrize("power", POWERS)
def test_zeros_ones_and_unknown_rows_stay(power):
    rows = np.array([[0.0, 1.0, 0.0], [np.nan] * 3, [0.5, 0.5, 0.0]])
    np.testing.assert_array_equal(raise_to_power(rows.copy(), power), rows)
    assert raise_to_power(np.ones((2, 1)), power).tolist() == [[1.0], [1.0]]
    assert raise_to_power(np.empty((0, 3)), power).shape == (0, 3)


@pytest.mark.parametrize("power", POWERS)
def test_order_of_classes_stays(power):
    raised = raise_to_power(SHARES.copy(), power)
    np.testing.assert_array_equal(raised.argmax(axis=1), SHARES.argmax(axis=1))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("true_power", [0.4, 1.0, 1.6, 3.2, 8.0])
@pytest.mark.parametrize("n_rows", [3, 30, 300])
def test_choice_is_that_of_slow_loops(true_power, n_rows, weighted):
    rng = np.random.default_rng(n_rows)
    shares = SHARES[:n_rows]
    true = shares**true_power / (shares**true_power).sum(axis=1, keepdims=True)
    truth = np.array([rng.choice(3, p=row) for row in true])
    weights = rng.integers(0, 3, n_rows).astype(float) if weighted else np.ones(n_rows)
    weights[0] = 1.0
    expected = naive_power(shares, truth, weights)
    assert choose_power(shares, truth, weights if weighted else None) == expected


def test_choice_finds_the_true_power_of_many_rows():
    shares = np.tile(SHARES, (20, 1))
    true = shares**2 / (shares**2).sum(axis=1, keepdims=True)
    draws = np.random.default_rng(1).random((len(true), 1))
    assert choose_power(shares, (draws > true.cumsum(axis=1)).sum(axis=1)) == 2.0


def test_weak_evidence_changes_nothing():
    assert choose_power(np.empty((0, 2)), np.empty(0, int)) == 1.0
    assert choose_power(np.eye(2), np.array([0, 1])) == 1.0  # every power has the same loss
    assert choose_power(np.array([[0.6, 0.4], [0.4, 0.6]]), np.array([0, 0])) == 1.0
