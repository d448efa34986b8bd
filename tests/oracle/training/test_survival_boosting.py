"""Survival boosting against gradients by loops over rows and event times, and numerical ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support.plain_boosting import check_leaf_steps

from bevel import ObliqueSurvivalBoosting
from bevel.data.survival import SurvivalTarget
from bevel.forest.survival import fit_baseline

Floats = npt.NDArray[np.float64]
SETTINGS: dict[str, Any] = {
    "max_iter": 4,
    "learning_rate": 0.3,
    "early_stopping": False,
    "random_state": 0,
}


def _problem(seed: int, late: bool) -> tuple[Floats, SurvivalTarget, Floats]:
    """Tied times, censored rows, missing values, weights and perhaps late entries."""
    rng = np.random.default_rng(seed)
    n = 120
    X = np.round(rng.normal(size=(n, 4)), 1)
    X[rng.random(n) < 0.1, 2] = np.nan
    time = np.ceil(8.0 * rng.exponential(size=n) * np.exp(-0.5 * X[:, 0])) / 4.0
    entry = np.where(rng.random(n) < 0.5, time * rng.random(n), 0.0) if late else None
    return X, SurvivalTarget(time, rng.random(n) < 0.7, entry), rng.uniform(0.5, 2.0, n)


def _y(target: SurvivalTarget) -> tuple[Floats, ...]:
    parts = (target.time, target.event)
    return parts if target.entry is None else (target.entry, *parts)


def _cox_loss(raw: Floats, target: SurvivalTarget, weights: Floats) -> Floats:
    """Loss of each row, without its weight."""
    loss = np.zeros(len(raw))
    for row in np.flatnonzero(target.event):
        at_risk = target.at_risk(target.time[row])
        loss[row] = np.log((weights * np.exp(raw))[at_risk].sum()) - raw[row]
    return loss


def _failure_loss(kind: str, spread: float) -> Callable[..., Floats]:
    def loss(raw: Floats, target: SurvivalTarget, weights: Floats) -> Floats:  # noqa: ARG001
        z = (np.log(target.time) + raw) / spread
        survival = np.exp(-np.exp(z)) if kind == "weibull" else 1.0 / (1.0 + np.exp(z))
        hazard = np.exp(z) if kind == "weibull" else np.exp(z) / (1.0 + np.exp(z))
        likelihood = survival * np.where(target.event, hazard / spread / target.time, 1.0)
        if target.entry is not None:
            with np.errstate(divide="ignore"):
                z = (np.log(target.entry) + raw) / spread
            likelihood /= np.exp(-np.exp(z)) if kind == "weibull" else 1.0 / (1.0 + np.exp(z))
        return -np.log(likelihood)

    return loss


def _slopes(loss: Callable[[Floats], float], raw: Floats) -> tuple[Floats, Floats]:
    """First derivatives and second ones, the diagonal, by differences."""
    step = 1e-4
    first, second = np.empty(len(raw)), np.empty(len(raw))
    middle = loss(raw)
    for row in range(len(raw)):
        moved = [raw.copy(), raw.copy()]
        moved[0][row] -= step
        moved[1][row] += step
        low, high = loss(moved[0]), loss(moved[1])
        first[row], second[row] = (high - low) / (2.0 * step), (low + high - 2.0 * middle) / step**2
    return first, second


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_leaves_hold_the_steps_of_the_partial_likelihood(seed: int, late: bool) -> None:
    X, target, weights = _problem(seed, late)
    model = ObliqueSurvivalBoosting(**SETTINGS, l2_regularization=float(seed))
    model.fit(X, _y(target), sample_weight=weights)

    def gradients(raw: Floats) -> tuple[Floats, Floats]:
        share = weights * np.exp(raw)
        gradient, hessian = -weights * target.event, np.zeros(len(raw))
        for time in target.event_times:
            at_risk = target.at_risk(time)
            events = weights[target.event & (target.time == time)].sum()
            own = np.where(at_risk, share / share[at_risk].sum(), 0.0)
            gradient = gradient + events * own
            hazard = events / share[at_risk].sum()
            hessian += hazard * np.where(at_risk, share * (1.0 - own), 0.0)
        return gradient, hessian

    raw = np.random.default_rng(seed).normal(size=len(X))
    by_difference = _slopes(lambda raw: float(weights @ _cox_loss(raw, target, weights)), raw)
    np.testing.assert_allclose(gradients(raw)[0], by_difference[0], atol=1e-5)
    np.testing.assert_allclose(gradients(raw)[1], by_difference[1], atol=1e-4)
    check_leaf_steps(model, X, gradients)
    loss = weights @ _cox_loss(model.predict(X), target, weights) / weights.sum()
    assert -model.train_score_[-1] == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", ["log_logistic", "weibull"])
def test_leaves_hold_the_steps_of_accelerated_failure_times(kind: str, late: bool) -> None:
    X, target, weights = _problem(3, late)
    model = ObliqueSurvivalBoosting(kind, **SETTINGS).fit(X, _y(target), sample_weight=weights)

    def gradients(raw: Floats) -> tuple[Floats, Floats]:
        spread = fit_baseline(target, raw, weights, kind).spread
        loss = _failure_loss(kind, spread)
        first, _ = _slopes(lambda raw: float(weights @ loss(raw, target, weights)), raw)
        alone = SurvivalTarget(target.time, target.event)  # the hessian is without late entry
        _, second = _slopes(lambda raw: float(weights @ loss(raw, alone, weights)), raw)
        return first, second

    check_leaf_steps(model, X, gradients, rtol=1e-3)
    spread = fit_baseline(target, model.predict(X), weights, kind).spread
    loss = weights @ _failure_loss(kind, spread)(model.predict(X), target, weights) / weights.sum()
    assert -model.train_score_[-1] == pytest.approx(loss, rel=1e-6)
    assert model.fitted_forest_.task.spread == pytest.approx(spread, rel=1e-6)


@pytest.mark.parametrize("late", [False, True])
def test_curves_are_those_of_the_baseline_hazard_of_breslow(late: bool) -> None:
    X, target, weights = _problem(1, late)
    model = ObliqueSurvivalBoosting(**SETTINGS).fit(X, _y(target), sample_weight=weights)
    risk = model.predict(X)
    hazard, total = [], 0.0
    for time in target.event_times:
        events = weights[target.event & (target.time == time)].sum()
        total += events / (weights * np.exp(risk))[target.at_risk(time)].sum()
        hazard.append(total)
    expected = np.exp(-np.exp(risk)[:, None] * np.array(hazard))
    found = model.predict_survival_function(X, return_array=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(
        model.predict_cumulative_hazard_function(X, return_array=True), -np.log(expected), rtol=1e-9
    )
    reached = found <= 0.5
    times = target.event_times[reached.argmax(axis=1)]
    expected_median = np.where(reached.any(axis=1), times, np.inf)
    np.testing.assert_array_equal(model.predict_median(X), expected_median)


@pytest.mark.parametrize("kind", ["log_logistic", "weibull"])
def test_quantiles_of_failure_times_are_where_the_curve_falls_to_the_share(kind: str) -> None:
    X, target, _ = _problem(2, False)
    model = ObliqueSurvivalBoosting(kind, **SETTINGS).fit(X, _y(target))
    for row, when in enumerate(model.predict_quantile(X[:5], 0.3)):
        curve = model.predict_survival_function(
            X[row : row + 1], times=[min(when, target.time.max())], return_array=True
        )
        if when <= target.time.max():
            assert curve[0, 0] == pytest.approx(0.7)
