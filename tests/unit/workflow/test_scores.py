"""Scores and their intervals against definitions, other libraries and simulation."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, cohen_kappa_score, log_loss, r2_score, roc_auc_score

from bevel.workflow.scores import (
    auc_with_influence,
    classification_scores,
    kappa_estimate,
    paired_share_estimate,
    regression_scores,
    share_estimate,
)
from bevel.workflow.tasks import CLASSIFICATION


def test_wilson_interval_has_its_published_values():
    # Newcombe 1998, Table I: 81 of 263, and 0 of 20.
    some, none = share_estimate(81, 263), share_estimate(0, 20)
    assert (some.low, some.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert (none.low, none.high) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_area_is_scikit_learns_with_ties_too():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 5, 200).astype(float)
    positive = rng.random(200) < 0.2 + 0.1 * score
    area, influence = auc_with_influence(positive, score)
    assert area == pytest.approx(roc_auc_score(positive, score))
    assert influence.mean() == pytest.approx(0.0, abs=1e-12)


def test_mean_of_one_against_the_rest_is_scikit_learns():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(3), 150)
    codes = rng.integers(0, 3, 150)
    scores = classification_scores(codes, shares)
    assert scores["AUC"].value == pytest.approx(roc_auc_score(codes, shares, multi_class="ovr"))
    assert scores["error"].value == np.mean(shares.argmax(axis=1) != codes)


def test_kappa_and_log_loss_are_scikit_learns():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, 150)
    shares = rng.dirichlet(np.ones(3), 150) + 0.5 * np.eye(3)[codes]
    shares /= shares.sum(axis=1, keepdims=True)
    scores = classification_scores(codes, shares)
    kappa = cohen_kappa_score(codes, shares.argmax(axis=1))
    assert scores["Cohen's kappa"].value == pytest.approx(kappa)
    assert scores["log loss"].value == pytest.approx(log_loss(codes, shares))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_brier_score_is_scikit_learns(n_classes):
    """Of two classes their definition counts one, of more it sums over all."""
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(n_classes), 80)
    codes = rng.integers(0, n_classes, 80)
    score = classification_scores(codes, shares)["Brier score"].value
    if n_classes == 2:
        assert score == pytest.approx(brier_score_loss(codes, shares[:, 1]))
    else:
        assert score == pytest.approx(np.mean(np.sum((shares - np.eye(3)[codes]) ** 2, axis=1)))


def test_kappa_of_constant_predictions_is_zero():
    rng = np.random.default_rng(6)
    for n_rows in range(3, 60):
        codes = rng.integers(0, 3, n_rows)
        constant = np.full(n_rows, 1)
        estimate = kappa_estimate(codes, constant, 3)
        assert estimate is None or estimate.value == 0.0


def test_kappa_has_the_interval_of_fleiss_cohen_and_everitt():
    """Their formula of 1969, summed over the cells of the table of counts."""
    counts = np.array([[53, 5, 2], [11, 14, 5], [1, 6, 3]])
    codes, answer = (np.repeat(each.ravel(), counts.ravel()) for each in np.indices((3, 3)))
    estimate = kappa_estimate(codes, answer, 3)
    shares = counts / counts.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    p_o, p_e = np.trace(shares), float(rows @ columns)
    first = sum(
        shares[i, i] * ((1 - p_e) - (rows[i] + columns[i]) * (1 - p_o)) ** 2 for i in range(3)
    )
    second = sum(
        shares[i, j] * (columns[i] + rows[j]) ** 2 * (1 - p_o) ** 2
        for i in range(3)
        for j in range(3)
        if i != j
    )
    variance = (first + second - (p_o * p_e - 2 * p_e + p_o) ** 2) / (1 - p_e) ** 4 / counts.sum()
    assert estimate.value == pytest.approx((p_o - p_e) / (1 - p_e))
    half = (estimate.high - estimate.low) / 2
    assert half == pytest.approx(1.959964 * np.sqrt(variance))


def test_perfect_kappa_is_not_certain_and_that_of_one_label_is_none():
    codes = np.repeat([0, 1], 20)
    perfect = kappa_estimate(codes, codes, 2)
    assert (perfect.value, perfect.high) == (1.0, 1.0)
    assert perfect.low == pytest.approx(1.0 - 2.0 * share_estimate(0, 40).high)
    same = np.zeros(9, dtype=np.int64)
    assert kappa_estimate(same, same, 2) is None
    assert "Cohen's kappa" not in classification_scores(same, np.tile([0.9, 0.1], (9, 1)))


def test_perfect_area_is_not_certain():
    codes = np.repeat([0, 1], [30, 10])
    estimate = classification_scores(codes, np.eye(2)[codes])["AUC"]
    assert (estimate.value, estimate.high) == pytest.approx((1.0, 1.0))
    assert 0.6 < estimate.low < 0.8  # ten rows of the rarer class


def draw_scores(rng):
    y = rng.normal(size=200)
    regression = regression_scores(y, y + rng.normal(size=200))
    codes = rng.integers(0, 2, 200)
    up = 1.0 / (1.0 + np.exp(-(2.0 * codes - 1.0 + rng.normal(size=200))))
    return regression | classification_scores(codes, np.column_stack([1.0 - up, up]))


def test_intervals_hold_the_value_of_many_rows_in_19_of_20_draws():
    rng = np.random.default_rng(2)
    draws = [draw_scores(rng) for _ in range(400)]
    for name in draws[0]:
        truth = np.mean([draw[name].value for draw in draws])
        inside = sum(draw[name].low <= truth <= draw[name].high for draw in draws)
        # Binomial(400, 0.95): 380 ± 4.4; five standard deviations below.
        assert 358 <= inside <= 400, name


def test_r2_is_scikit_learns():
    rng = np.random.default_rng(3)
    y, predicted = rng.normal(size=(2, 50))
    assert regression_scores(y, predicted)["R²"].value == pytest.approx(r2_score(y, predicted))


def test_equal_pairs_leave_doubt():
    none = paired_share_estimate(np.zeros(100))
    assert none.value == 0.0
    assert none.low == -none.high < -0.02


def test_rows_without_predictions_have_no_loss():
    shares = np.array([[0.9, 0.1], [np.nan, np.nan], [0.2, 0.8]])
    loss = CLASSIFICATION.row_losses(np.array([0, 0, 0]), shares)
    np.testing.assert_array_equal(loss, [0.0, np.nan, 1.0])
