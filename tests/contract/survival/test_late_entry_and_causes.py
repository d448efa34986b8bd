"""Late entry and competing risks: forms of y, files, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bevel
from bevel import ObliqueSurvivalForest, analysis
from bevel.data.survival import survival_array
from bevel.datasets import weibull
from bevel.forest.task import check_curves

SMALL: dict[str, Any] = {"n_estimators": 8, "random_state": 0}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, times, causes and entries."""
    X, y = weibull(150, 5, random_state=0)
    rng = np.random.default_rng(0)
    cause = np.where(y["event"], rng.integers(1, 3, len(y)), 0)
    entry = np.where(rng.random(len(y)) < 0.5, 0.0, y["time"] * rng.random(len(y)))
    return X, y["time"], cause, entry


def same(one: ObliqueSurvivalForest, other: ObliqueSurvivalForest) -> bool:
    arrays = other.forest_.arrays()
    return all(np.array_equal(array, arrays[n]) for n, array in one.forest_.arrays().items())


def test_all_forms_of_late_entries_give_the_same_forest(data: tuple) -> None:
    pandas = pytest.importorskip("pandas")
    X, time, cause, entry = data
    event = cause > 0
    one = ObliqueSurvivalForest(**SMALL).fit(X, (entry, time, event))
    frame = pandas.DataFrame({"entry": entry, "time": time, "event": event})
    for form in (survival_array(time, event, entry), frame):
        assert same(one, ObliqueSurvivalForest(**SMALL).fit(X, form))
    assert not same(one, ObliqueSurvivalForest(**SMALL).fit(X, (time, event)))
    assert 0.5 < one.score(X, (entry, time, event)) <= 1.0


def test_all_forms_of_causes_give_the_same_forest(data: tuple) -> None:
    pandas = pytest.importorskip("pandas")
    X, time, cause, entry = data
    given = {**SMALL, "competing_risks": True}
    one = ObliqueSurvivalForest(**given).fit(X, (entry, time, cause))
    frame = pandas.DataFrame({"entry": entry, "time": time, "event": cause})
    for form in (survival_array(time, cause, entry), frame):
        assert same(one, ObliqueSurvivalForest(**given).fit(X, form))
    assert one.n_causes_ == 2


def test_one_cause_is_an_ordinary_survival_forest(data: tuple) -> None:
    X, time, cause, _ = data
    plain = ObliqueSurvivalForest(**SMALL).fit(X, (time, cause > 0))
    other = ObliqueSurvivalForest(**SMALL, competing_risks=True).fit(X, (time, cause > 0))
    assert same(plain, other)
    incidence = other.predict_cumulative_incidence_function(X, 1, return_array=True)
    survival = other.predict_survival_function(X, return_array=True)
    np.testing.assert_allclose(incidence, 1.0 - survival, atol=1e-9)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (([0.5, 2.0], [1.0, 2.0], [True, False]), "below the times; got 2 at time 2"),
        (([-0.5, 1.0], [1.0, 2.0], [True, False]), "0 or more"),
        (([np.nan, 1.0], [1.0, 2.0], [True, False]), "0 or more"),
        ((["a", "b"], [1.0, 2.0], [True, False]), "entries of y must be numbers"),
        (([0.5], [1.0, 2.0], [True, False]), "one entry for each time"),
    ],
)
def test_bad_entry_says_what_to_do(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ObliqueSurvivalForest(2).fit([[1.0], [2.0]], y)


@pytest.mark.parametrize("event", [[-1, 1], [0.5, 1.0], [300, 1], ["a", "b"]])
def test_bad_cause_says_what_to_do(event: Any) -> None:
    with pytest.raises(ValueError, match="competing risks must be whole numbers"):
        ObliqueSurvivalForest(2, competing_risks=True).fit([[1.0], [2.0]], ([1.0, 2.0], event))


def test_numbered_events_need_the_parameter(data: tuple) -> None:
    X, time, cause, _ = data
    with pytest.raises(ValueError, match="competing_risks=True"):
        ObliqueSurvivalForest(2).fit(X, (time, cause))
    forest = ObliqueSurvivalForest(2, competing_risks=True, criterion="log_rank_score")
    with pytest.raises(ValueError, match='competing_risks=True needs criterion="log_rank"'):
        forest.fit(X, (time, cause))


@pytest.mark.parametrize("cause", [0, 3, True, 1.0, "a"])
def test_cause_that_there_is_not_is_refused(data: tuple, cause: Any) -> None:
    X, time, causes, _ = data
    forest = ObliqueSurvivalForest(2, competing_risks=True).fit(X, (time, causes))
    with pytest.raises(ValueError, match="whole number from 1 to 2"):
        forest.predict_cumulative_incidence_function(X, cause)


def test_files_keep_the_causes(data: tuple, tmp_path: Path) -> None:
    X, time, cause, entry = data
    forest = ObliqueSurvivalForest(**SMALL, competing_risks=True).fit(X, (entry, time, cause))
    forest.save(tmp_path / "model.bevel")
    expected = forest.predict_cumulative_incidence_function(X, 2, [0.5, 1.0], return_array=True)
    for other in (
        bevel.load(tmp_path / "model.bevel"),
        bevel.load(tmp_path / "model.bevel", mmap=True),
        pickle.loads(pickle.dumps(forest)),
    ):
        found = other.predict_cumulative_incidence_function(X, 2, [0.5, 1.0], return_array=True)
        assert np.array_equal(found, expected)
        assert other.n_causes_ == 2
    text = str(forest.forest_.tree(0))
    assert "median survival" in text


def test_hazards_that_jump_by_more_than_one_in_all_are_refused(data: tuple) -> None:
    X, time, cause, _ = data
    forest = ObliqueSurvivalForest(**SMALL, competing_risks=True)
    flat = forest.fit(X, (np.ceil(time), cause)).forest_
    n_times = len(forest.event_times_)
    check_curves(flat, n_times, 2)
    with pytest.raises(ValueError, match="event times from 0"):
        check_curves(flat, n_times // 2, 2)
    jumps = np.where(np.repeat(flat.right < 0, np.diff(flat.entry_offset)), 0.9, flat.entry_weight)
    with pytest.raises(ValueError, match="at most 1 at a time"):
        check_curves(replace(flat, entry_weight=jumps.astype(np.float32)), n_times, 2)


def test_analysis_takes_causes_and_late_entries(data: tuple) -> None:
    X, time, cause, entry = data
    forest = ObliqueSurvivalForest(30, competing_risks=True, random_state=0)
    forest.fit(X, (entry, time, cause))
    y = (entry, time, cause)
    assert analysis.importance(forest, "permutation", X, y).values.shape == (5,)
    assert analysis.risk_groups(forest, X, y, out_of_bag=True).count.sum() == len(X)
    assert analysis.survival_calibration(forest, X, y, 1.0).count.sum() == len(X)
    assert analysis.neighbour_survival(forest, X, y).shape[0] == len(X)
    assert analysis.survival_scores(forest, X, y).n_rows == len(X)
    assert analysis.survival_scores(forest, X, (time, cause)).n_rows == len(X)


def test_causes_are_told_apart_where_one_feature_drives_each() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    times = rng.exponential(size=(600, 2)) * np.exp(-1.5 * X[:, :2])
    cause, time = times.argmin(axis=1) + 1, times.min(axis=1)
    forest = ObliqueSurvivalForest(50, competing_risks=True, random_state=0).fit(X, (time, cause))
    rows = np.array([[1.5, -1.5, 0.0], [-1.5, 1.5, 0.0]])
    end = [float(np.quantile(time, 0.9))]
    first = forest.predict_cumulative_incidence_function(rows, 1, end, return_array=True)[:, 0]
    second = forest.predict_cumulative_incidence_function(rows, 2, end, return_array=True)[:, 0]
    assert first[0] > 0.6 > 0.4 > first[1]
    assert second[1] > 0.6 > 0.4 > second[0]
