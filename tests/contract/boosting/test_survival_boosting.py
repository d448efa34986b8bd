"""Survival boosting: the API of the survival forest, early stopping, files, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.model_files import estimator_of, file_of

import bevel
from bevel import (
    ModelFileError,
    ObliqueBoostingRanker,
    ObliqueRegressor,
    ObliqueSurvivalBoosting,
    analysis,
)
from bevel.datasets import proportional_hazards, weibull

SETTINGS: dict[str, Any] = {"max_iter": 6, "early_stopping": False, "random_state": 0}
LOSSES = ("cox", "log_logistic", "weibull")


@pytest.mark.parametrize("loss", LOSSES)
def test_survival_boosting_is_the_same_for_all_threads_and_in_a_file(
    tmp_path: Path, loss: str
) -> None:
    X, y = weibull(300, random_state=0)
    one = ObliqueSurvivalBoosting(loss, **SETTINGS, n_jobs=1).fit(X, y)
    two = ObliqueSurvivalBoosting(loss, **SETTINGS, n_jobs=3).fit(X, y)
    one.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel")
    for other in (two, loaded):
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
        curves = [each.predict_survival_function(X, return_array=True) for each in (one, other)]
        np.testing.assert_array_equal(*curves)


@pytest.mark.parametrize("loss", LOSSES)
def test_iterations_added_later_are_those_of_one_fit(loss: str) -> None:
    X, y = weibull(200, random_state=1)
    whole = ObliqueSurvivalBoosting(loss, **SETTINGS).fit(X, y)
    grown = ObliqueSurvivalBoosting(loss, **{**SETTINGS, "max_iter": 3}, warm_start=True)
    grown.fit(X, y).set_params(max_iter=6).fit(X, y)
    np.testing.assert_allclose(grown.predict(X), whole.predict(X), rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_default_orders_new_rows_better_than_chance_and_curves_beat_no_features(loss: str) -> None:
    X, y = proportional_hazards(600, random_state=2)
    model = ObliqueSurvivalBoosting(loss, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.65
    times = np.quantile(y["time"][300:], [0.2, 0.4, 0.6])
    curves = model.predict_survival_function(X[300:], times=times, return_array=True)
    assert (np.diff(curves, axis=1) <= 0.0).all()
    assert ((curves >= 0.0) & (curves <= 1.0)).all()
    alone = np.array([[float((y["time"][300:] > when).mean()) for when in times]] * 300)
    brier = [
        analysis.integrated_brier_score(y[300:], each, times, y[:300]) for each in (curves, alone)
    ]
    assert brier[0] < 0.9 * brier[1]


def test_rows_of_weight_zero_have_no_effect() -> None:
    X, y = weibull(200, random_state=3)
    weights = np.where(np.arange(200) % 3 == 0, 0.0, 2.0)
    one = ObliqueSurvivalBoosting(**SETTINGS).fit(X, y, sample_weight=weights)
    kept = weights > 0.0
    other = ObliqueSurvivalBoosting(**SETTINGS).fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.predict_median(X), other.predict_median(X))


def test_validation_rows_and_groups_stop_a_fit() -> None:
    X, y = weibull(400, random_state=4)
    model = ObliqueSurvivalBoosting(max_iter=60, random_state=0)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert model.n_iter_ == model.best_iteration_ == 1 + int(model.validation_score_.argmax())
    grouped = ObliqueSurvivalBoosting(max_iter=20, early_stopping=True, random_state=0)
    grouped.fit(X, y, groups=np.arange(400) // 4)
    assert len(grouped.validation_score_)


def test_frames_with_late_entries_and_nominal_columns_are_read() -> None:
    X, y = weibull(200, random_state=5)
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["site"] = np.where(X[:, 4] > 0, "one", "two")
    late = pd.DataFrame({"time": y["time"], "event": y["event"], "entry": y["time"] / 3.0})
    model = ObliqueSurvivalBoosting(**SETTINGS).fit(frame, late)
    functions = model.predict_survival_function(frame[:2])
    assert functions[0].domain == (0.0, y["time"].max())
    assert functions[0](0.0) == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: (y["time"], np.zeros(len(y), bool)), "event"),
        (lambda y: (-y["time"], y["event"]), "above 0"),
        (lambda y: (y["time"], y["time"], y["event"]), "below the times"),
        (lambda y: y["time"], "y must be"),
    ],
)
def test_times_that_are_none_are_refused(change: Any, message: str) -> None:
    X, y = weibull(100, random_state=6)
    with pytest.raises(ValueError, match=message):
        ObliqueSurvivalBoosting(**SETTINGS).fit(X, change(y))


def test_iterations_added_later_have_the_loss_of_the_first_ones() -> None:
    X, y = weibull(60, random_state=0)
    model = ObliqueSurvivalBoosting("cox", **SETTINGS, warm_start=True).fit(X, y)
    model.set_params(loss="weibull", max_iter=8)
    with pytest.raises(ValueError, match='loss must be "cox", as in the first fit'):
        model.fit(X, y)


@pytest.mark.parametrize("kind", [ObliqueSurvivalBoosting, ObliqueBoostingRanker, ObliqueRegressor])
def test_scanned_tables_are_refused_by_name_where_rows_must_be_in_memory(kind: Any) -> None:
    X, y = weibull(60, random_state=0)
    with pytest.raises((TypeError, ValueError), match=r"in memory.*; got a scanned table"):
        kind().fit(bevel.scan(X, target=y["time"]))


def test_what_is_not_defined_for_one_risk_is_refused() -> None:
    X, y = weibull(100, random_state=7)
    model = ObliqueSurvivalBoosting(**SETTINGS).fit(X, y)
    with pytest.raises(TypeError, match="survival_scores needs a forest whose trees are averaged"):
        analysis.survival_scores(model, X, y)
    with pytest.raises(ValueError, match="sample_weight must be None"):
        model.score(X, y, np.ones(100))
    with pytest.raises(ValueError, match="q must be a number above 0 and below 1"):
        model.predict_quantile(X, 1.5)
    with pytest.raises(ValueError, match="loss must be"):
        ObliqueSurvivalBoosting("squared_error").fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spread": -1.0}, "survival.spread"),
        ({"distribution": "normal"}, "survival.distribution"),
        ({"last_time": 0.0}, "event times"),
        ({"hazard": np.array([1.0, 0.5])}, "cumulative hazard"),
        ({"hazard": np.array([0.5, np.inf])}, "cumulative hazard"),
        ({"hazard": np.array([0.5])}, "of 2 numbers"),
        ({"event_times": np.array([2.0, 1.0])}, "event times"),
    ],
)
def test_files_with_impossible_curves_are_refused(change: dict[str, Any], message: str) -> None:
    X, _ = weibull(40, random_state=8)
    y = (np.where(np.arange(40) % 2, 1.0, 2.0), np.ones(40, bool))
    model = ObliqueSurvivalBoosting(**SETTINGS).fit(X, y)
    fitted = model._fitted
    assert fitted.task.event_times.tolist() == [1.0, 2.0]
    model._fitted = replace(fitted, task=replace(fitted.task, **change))
    with pytest.raises(ModelFileError, match=message):
        estimator_of(file_of(model))
