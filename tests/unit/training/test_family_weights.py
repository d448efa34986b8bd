"""Weights of families by hand: losses in units of noise; numbers of trees sum to all trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_poisson_deviance

from bevel.forest.calibration import POWERS
from bevel.training.automatic import (
    DECAY,
    Evidence,
    FamilyPlan,
    count_trees,
    measure,
    weigh_families,
)


def evidence(losses, noise):
    losses = np.array(losses)
    return Evidence(losses, losses, losses, noise)


def test_weights_fall_with_the_loss_in_units_of_its_noise():
    weights = weigh_families(evidence([0.10, 0.12, 0.10], noise=0.02))
    assert weights.sum() == pytest.approx(1.0)
    assert weights[1] / weights[0] == pytest.approx(np.exp(-DECAY))
    assert weights[2] == weights[0]


def test_weights_are_nearly_equal_where_noise_is_large():
    np.testing.assert_allclose(weigh_families(evidence([0.1, 0.2], noise=1e6)), 0.5, atol=1e-6)


def test_weights_without_noise_leave_the_best_families():
    np.testing.assert_array_equal(weigh_families(evidence([0.0, 0.1, 0.0], 0.0)), [0.5, 0, 0.5])


def test_weights_without_evidence_are_equal():
    np.testing.assert_array_equal(weigh_families(evidence([np.nan] * 4, np.nan)), [0.25] * 4)


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9).filter(lambda w: sum(w) > 0),
    st.integers(1, 500),
)
def test_trees_are_shared_out_to_the_last(raw, n_trees):
    weights = np.array(raw) / sum(raw)
    counts = count_trees(weights, n_trees)
    assert counts.sum() == n_trees
    assert (np.abs(counts - weights * n_trees) < 1.0 + 1e-6).all()


def test_evidence_of_classes_is_error_and_brier_score_of_the_known_rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 40)
    predictions = [rng.dirichlet(np.ones(3), 40) for _ in range(2)]
    known = rng.random(40) < 0.8
    weights = rng.random(40)
    result = measure(predictions, known, truth, 3, weights)
    for family, p in enumerate(predictions):
        rows = np.flatnonzero(known)
        wrong = np.array([p[row].argmax() != truth[row] for row in rows], dtype=float)
        brier = np.array([((p[row] - np.eye(3)[truth[row]]) ** 2).sum() / 2 for row in rows])
        share = weights[rows] / weights[rows].sum()
        assert result.errors[family] == pytest.approx(np.average(wrong, weights=share))
        assert result.losses[family] == pytest.approx(np.average(brier, weights=share))
    # Without weights the standard error is that of a mean.
    plain = measure(predictions, known, truth, 3, None)
    for family, p in enumerate(predictions):
        wrong = (p[known].argmax(axis=1) != truth[known]).astype(float)
        assert plain.standard_errors[family] == pytest.approx(wrong.std() / np.sqrt(len(wrong)))
    best = plain.losses.argmin()
    brier = ((predictions[best][known] - np.eye(3)[truth[known]]) ** 2).sum(axis=1) / 2
    assert plain.noise == pytest.approx(brier.std() / np.sqrt(len(brier)))


def test_evidence_of_numbers_is_the_squared_error():
    truth = np.array([0.0, 1.0, 2.0])
    result = measure([np.array([[0.0], [2.0], [5.0]])], np.array([1, 1, 0], bool), truth, 0, None)
    assert result.errors[0] == result.losses[0] == 0.5


def test_evidence_of_numbers_is_the_loss_of_the_criterion():
    truth, known = np.array([0.0, 1.0, 2.0]), np.ones(3, bool)
    predictions = [np.array([[0.0], [2.0], [5.0]])]
    absolute = measure(predictions, known, truth, 0, None, criterion="absolute_error")
    assert absolute.losses[0] == pytest.approx(4 / 3)
    poisson = measure(predictions, known, truth, 0, None, criterion="poisson")
    deviance = mean_poisson_deviance(truth, [1e-12, 2.0, 5.0])
    assert poisson.losses[0] == pytest.approx(deviance / 2)


def test_evidence_without_known_rows_is_unknown():
    result = measure([np.zeros((3, 1))] * 2, np.zeros(3, bool), np.zeros(3), 0, None)
    assert np.isnan(result.errors).all()
    assert np.isnan(result.noise)


def test_calibrated_losses_are_brier_scores_with_the_best_power_of_each_family():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 60)
    sharp = 0.2 * rng.dirichlet(np.ones(3), 60) + 0.8 * np.eye(3)[truth]
    spread = np.sqrt(sharp) / np.sqrt(sharp).sum(axis=1, keepdims=True)
    known, weights = rng.random(60) < 0.8, rng.random(60)
    result = measure([sharp, spread], known, truth, 3, weights, calibrated=True)
    plain = measure([sharp, spread], known, truth, 3, weights)
    for family, shares in enumerate((sharp, spread)):
        scores = []
        for power in POWERS:
            raised = shares**power / (shares**power).sum(axis=1, keepdims=True)
            brier = 0.5 * ((raised - np.eye(3)[truth]) ** 2).sum(axis=1)
            scores.append(np.average(brier[known], weights=weights[known]))
        assert result.losses[family] == pytest.approx(min(scores))
        assert result.errors[family] == plain.errors[family]
    # Votes that are spread lose Brier score, and nothing once they are raised to a power.
    assert plain.losses[1] > 2 * plain.losses[0]
    assert result.losses[1] < 0.01 * plain.losses[1]


class _Bags:
    """Options of which only the bags matter."""

    def leaves_rows_out(self, n_rows):
        return n_rows > 0


@pytest.mark.parametrize(
    ("n_trees", "n_families", "n_rows", "expected"),
    [
        (500, 4, 999, 50),  # a tenth
        (500, 4, 1000, 25),  # a twentieth
        (1000, 4, 1000, 50),
        (300, 4, 1000, 25),  # enough, and more than a twentieth
        (200, 4, 1000, 20),  # a tenth, for there are not enough
        (500, 10, 999, 25),  # half of the trees in all micro-forests together
        (40, 4, 1000, 0),  # too few to compare
    ],
)
def test_sizes_of_micro_forests(n_trees, n_families, n_rows, expected):
    names = tuple("abcdefghij"[:n_families])
    plan = FamilyPlan(names, (_Bags(),) * n_families, n_trees, False, (), (2,))
    assert plan.micro_trees(n_rows) == expected
    assert len(plan.of_micro_trees(n_rows)) == expected * n_families


@pytest.mark.parametrize(
    ("n_trees", "sizes", "n_rows", "expected"),
    [
        (500, (2, 5), 999, 100),  # a fifth
        (100, (2, 5), 1000, 25),  # enough, and more than a fifth
        (30, (2, 5), 999, 15),  # half
        (19, (2, 5), 999, 0),  # too few
        (500, (2,), 999, 0),  # the size is given
        (500, (2, 5), 0, 0),  # no rows out of bag
    ],
)
def test_trees_of_a_single_family_that_choose_the_size_of_nodes(n_trees, sizes, n_rows, expected):
    plan = FamilyPlan(("axis",), (_Bags(),), n_trees, False, (), sizes)
    assert plan.micro_trees(n_rows) == expected
    assert len(plan.of_micro_trees(n_rows)) == expected
