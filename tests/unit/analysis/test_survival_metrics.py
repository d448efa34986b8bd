"""Scores of survival predictions: against plain definitions and against scikit-survival."""

from __future__ import annotations

import numpy as np
import pytest
from support.naive import survival as plain

from bevel import ObliqueSurvivalForest
from bevel.analysis import (
    brier_score,
    concordance_index,
    dynamic_auc,
    importance,
    integrated_brier_score,
    kaplan_meier,
    neighbour_survival,
    survival_calibration,
    survival_scores,
)
from bevel.data.survival import SurvivalTarget
from bevel.datasets import weibull
from bevel.forest.survival import concordance_and_error


def rows(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tied times, events and tied risks."""
    rng = np.random.default_rng(seed)
    time = np.maximum(1.0, rng.exponential(10, n).round())
    return time, rng.random(n) < 0.6, rng.normal(size=n).round(1)


def structured(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    return np.array(list(zip(event, time, strict=True)), dtype=[("e", "?"), ("t", "f8")])


@pytest.mark.parametrize("seed", range(6))
def test_concordance_is_that_of_all_pairs(seed: int) -> None:
    time, event, risk = rows(seed)
    assert concordance_index((time, event), risk) == pytest.approx(
        plain.concordance(time, event, risk)
    )


def risks_that_nearly_tie(rng: np.random.Generator, n: int) -> np.ndarray:
    """Differences of zero, below, at and just above the tolerance of 1e-8, and far above it."""
    steps = rng.integers(-3, 4, n) * 0.5e-8 * (1 + rng.integers(0, 2, n) * 2.0**-50)
    return steps + rng.integers(0, 3, n) * rng.choice([0.0, 1.0, 1000.0])


@pytest.mark.parametrize("seed", range(40))
def test_concordance_and_its_error_are_those_of_all_pairs_that_nearly_tie(seed: int) -> None:
    """Tied times, late entries at event times, risks about the tolerance, few rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 35))
    time = np.maximum(1.0, rng.exponential(5, n).round(seed % 3))
    event, risk = rng.random(n) < rng.random(), risks_that_nearly_tie(rng, n)
    entry = np.minimum(np.floor(rng.random(n) * time), time - 0.5) if seed % 2 else None
    found, error = concordance_and_error(SurvivalTarget(time, event, entry), risk)
    expected, expected_error = plain.concordance_and_error(time, event, risk, entry)
    np.testing.assert_array_equal(found, expected)  # sums of halves are exact
    np.testing.assert_allclose(error, expected_error, rtol=1e-12)


def test_concordance_without_a_comparable_pair_is_not_a_number() -> None:
    assert np.isnan(concordance_index((np.ones(3), np.zeros(3, bool)), np.arange(3.0)))


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_scikit_survival(seed: int) -> None:
    metrics = pytest.importorskip("sksurv.metrics")
    time, event, risk = rows(seed, 150)
    y, train = structured(time, event), structured(*rows(seed + 10, 200)[:2])
    train["t"][0], train["e"][0] = time.max() + 1, False
    times = np.quantile(time, np.linspace(0.1, 0.8, 7)) + 0.25
    survival = np.random.default_rng(seed).random((150, len(times)))
    survival = np.sort(survival, axis=1)[:, ::-1]
    _, expected = metrics.brier_score(train, y, survival, times)
    np.testing.assert_allclose(brier_score(y, survival, times, train), expected, rtol=1e-12)
    assert integrated_brier_score(y, survival, times, train) == pytest.approx(
        metrics.integrated_brier_score(train, y, survival, times)
    )
    expected, _ = metrics.cumulative_dynamic_auc(train, y, risk, times)
    np.testing.assert_allclose(dynamic_auc(y, risk, times, train), expected, rtol=1e-9)
    found = metrics.concordance_index_censored(event, time, risk)[0]
    assert concordance_index(y, risk) == pytest.approx(found)


@pytest.mark.parametrize("seed", range(3))
def test_kaplan_meier_is_the_product_of_the_plain_shares(seed: int) -> None:
    time, event, _ = rows(seed)
    curve = kaplan_meier((time, event))
    for t in np.unique(time):
        jumps = plain.hazard_jumps(time, event, np.ones(len(time)))
        expected = np.prod([1.0 - jump for at, jump in jumps.items() if at <= t])
        assert curve(t) == pytest.approx(expected)
    assert curve(0.0) == 1.0


@pytest.fixture(scope="module")
def fitted() -> tuple[ObliqueSurvivalForest, np.ndarray, np.ndarray]:
    X, y = weibull(300, random_state=0)
    forest = ObliqueSurvivalForest(60, random_state=0, oob_score=True).fit(X, y)
    return forest, X, y


def test_out_of_bag_scores_agree_with_those_of_the_fit(fitted: tuple) -> None:
    forest, X, y = fitted
    scores = survival_scores(forest, X, y, out_of_bag=True)
    assert scores.concordance == pytest.approx(forest.oob_score_)
    assert scores.integrated_brier_score < scores.reference
    assert scores.mean_auc > 0.5
    assert "concordance" in repr(scores)
    assert scores.concordance < survival_scores(forest, X, y, out_of_bag=False).concordance


def test_calibration_groups_hold_all_rows(fitted: tuple) -> None:
    forest, X, y = fitted
    found = survival_calibration(forest, X, y, 1.0, n_groups=5, out_of_bag=True)
    assert found.count.sum() == len(X)
    assert (np.diff(found.predicted) > 0).all()
    assert found.expected_calibration_error < 0.2


@pytest.mark.parametrize("kind", ["permutation", "negation"])
@pytest.mark.parametrize("out_of_bag", [True, False])
def test_importance_names_the_features_that_matter(
    fitted: tuple, kind: str, out_of_bag: bool
) -> None:
    forest, X, y = fitted
    found = importance(forest, kind, X, y, out_of_bag=out_of_bag)
    assert set(found.top(2).names) == {"x0", "x1"}


def test_neighbour_curves_with_one_leaf_are_kaplan_meier(fitted: tuple) -> None:
    _, X, y = fitted
    forest = ObliqueSurvivalForest(3, max_depth=1, min_samples_leaf=200, bootstrap=False)
    forest.fit(X, y)
    curve = kaplan_meier(y)(forest.event_times_)
    np.testing.assert_allclose(neighbour_survival(forest, X, y, X[:2])[1], curve)
    found = forest.predict_survival_function(X[:2], return_array=True)
    np.testing.assert_allclose(found[0], curve, rtol=1e-5, atol=1e-6)


def test_neighbour_curves_are_near_those_of_the_forest(fitted: tuple) -> None:
    forest, X, y = fitted
    times = np.quantile(y["time"], [0.2, 0.5])
    found = neighbour_survival(forest, X, y, X, times=times)
    other = forest.predict_survival_function(X, times, return_array=True)
    assert np.abs(found - other).mean() < 0.05
    with pytest.raises(ValueError, match="rows of the fit"):
        neighbour_survival(forest, X, y[::-1], X)
