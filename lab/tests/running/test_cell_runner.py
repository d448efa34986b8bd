"""One cell: the same rows for all systems, honest scores, and errors that are results."""

import math
from dataclasses import replace

import numpy as np
import pytest
from lab_support.trial import TRIAL, load
from sklearn.metrics import cohen_kappa_score, log_loss, roc_auc_score

from bevel_lab.cells import Cell
from bevel_lab.protocols import Plan, Problem
from bevel_lab.running.cell_runner import CellRunner
from bevel_lab.systems import SYSTEMS, Grid, Task

CELL = Cell("trial", "hard", "trial-mean")


def runner(tmp_path, protocol=TRIAL, **plan):
    return CellRunner(protocol, Plan(systems=("trial-mean",), **plan), tmp_path)


def with_rows(problem):
    return replace(TRIAL, load=lambda *_: problem, measure=None)


def test_metrics_are_those_of_scikit_learn(tmp_path):
    at = runner(tmp_path)
    at.keep_predictions = True
    result = at.run(CELL, 1)
    with np.load(tmp_path / result.predictions) as kept:
        truth, predicted, shares = kept["truth"], kept["predicted"], kept["probabilities"]
        assert kept["classes"].tolist() == ["a", "b", "c"]
    assert result.metrics["error"] == np.mean(truth != predicted)
    assert result.metrics["kappa"] == pytest.approx(cohen_kappa_score(truth, predicted))
    auc = roc_auc_score(truth, shares, multi_class="ovr", average="macro")
    assert result.metrics["auc"] == pytest.approx(auc)
    assert result.metrics["log_loss"] == pytest.approx(log_loss(truth, shares))
    assert 0.0 < result.metrics["train_error"] < 1.0


def test_result_has_sizes_times_and_threads(tmp_path):
    result = runner(tmp_path).run(replace(CELL, system="trial-slow"), 1)
    sizes = (result.n_train, result.n_test, result.n_features, result.n_classes)
    assert sizes == (80, 40, 4, 3)
    assert result.seconds_fit >= 0.05 > result.seconds_predict > 0.0
    assert result.n_jobs == 1


def test_all_systems_learn_from_the_same_rows_made_once(tmp_path):
    calls = []

    def counted(cell, plan):
        calls.append(cell.key)
        return load(cell, plan)

    at = runner(tmp_path, replace(TRIAL, load=counted))
    marks = [
        at.run(replace(CELL, system=name), 1).metrics["fingerprint"]
        for name in ("trial-mean", "trial-slow", "trial-allocates")
    ]
    assert len(set(marks)) == 1
    assert len(calls) == 1
    at.run(replace(CELL, fold=1), 1)
    assert len(calls) == 2


def test_same_cell_gives_the_same_metrics_and_another_seed_others(tmp_path):
    first, again = (runner(tmp_path).run(CELL, 1).metrics for _ in range(2))
    other = runner(tmp_path).run(replace(CELL, experiment_seed=1), 1).metrics
    assert first == again
    assert first != other


def test_error_in_a_system_is_a_failed_result_of_one_line(tmp_path):
    result = runner(tmp_path).run(replace(CELL, system="trial-raises"), 1)
    assert result.status == "failed"
    assert result.message == "ValueError: This system always raises."


def test_error_in_the_rows_is_a_failed_result(tmp_path):
    def broken(*_):
        raise OSError("no such file")

    assert runner(tmp_path, replace(TRIAL, load=broken)).run(CELL, 1).message.startswith("OSError")


@pytest.mark.parametrize(
    "changes",
    [
        {"categorical_features": np.array([True, False, False, False])},
        {"X_test": np.full((40, 4), np.nan)},
    ],
)
def test_nominal_columns_and_missing_values_are_encoded_for_systems_that_need_it(tmp_path, changes):
    problem = replace(load(CELL.problem, Plan(())), **changes)
    result = runner(tmp_path, with_rows(problem)).run(replace(CELL, system="svm"), 1)
    assert result.status == "ok", result.message


@pytest.mark.parametrize(
    ("system", "changes", "reason"),
    [
        ("trial-few", {}, "at most 10 rows; got 80"),
        ("lda", {"task": "regression", "y_train": np.arange(80.0)}, "no regression"),
    ],
)
def test_task_that_a_system_does_not_do_is_skipped_with_the_reason(
    tmp_path, system, changes, reason
):
    problem = replace(load(CELL.problem, Plan(())), **changes)
    result = runner(tmp_path, with_rows(problem)).run(replace(CELL, system=system), 1)
    assert result.status == "skipped"
    assert reason in result.message


def test_label_that_training_lacks_counts_as_wrong(tmp_path):
    X = np.repeat([[0.0], [9.0]], 10, axis=0)
    y = np.repeat(["a", "c"], 10)
    problem = Problem(X, y, np.array([[0.0], [4.0], [9.0]]), np.array(["a", "b", "d"]))
    result = runner(tmp_path, with_rows(problem)).run(replace(CELL, system="trial-mean"), 1)
    assert result.status == "ok", result.message
    assert result.metrics["error"] == pytest.approx(2 / 3)
    assert result.n_classes == 4


def test_regression_has_squared_error_and_r2(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    problem = Problem(X[:80], X[:80, 0], X[80:], X[80:, 0], task="regression")
    result = runner(tmp_path, with_rows(problem)).run(replace(CELL, system="logistic"), 1)
    assert set(result.metrics) == {"mse", "rmse", "r2", "train_mse"}
    assert result.metrics["rmse"] == pytest.approx(result.metrics["mse"] ** 0.5)
    assert result.metrics["r2"] == pytest.approx(1 - result.metrics["mse"] / np.var(X[80:, 0]))
    assert result.metrics["r2"] > 0.99


def test_system_without_probabilities_has_auc_but_no_log_loss(tmp_path):
    metrics = runner(tmp_path).run(replace(CELL, system="svm"), 1).metrics
    assert 0.5 < metrics["auc"] <= 1.0
    assert math.isnan(metrics["log_loss"])


def test_memory_of_a_cell_is_its_own_not_that_of_an_earlier_one(tmp_path):
    at = runner(tmp_path)
    large = at.run(replace(CELL, system="trial-allocates"), 1).memory_mb
    if math.isnan(large):
        pytest.skip("this system only knows the peak of a whole process")
    small = at.run(replace(CELL, system="trial-mean"), 1).memory_mb
    again = at.run(replace(CELL, system="trial-allocates"), 1).memory_mb
    assert large == pytest.approx(100, abs=10)
    assert again == pytest.approx(100, abs=10)
    assert small < 20


def test_trees_of_the_plan_reach_systems_with_trees_only(tmp_path):
    seen = []
    spy = replace(TRIAL, measure=lambda model, *_: seen.append(model) or {})
    for name in ("sporf", "sklearn-rf", "trial-mean"):
        assert runner(tmp_path, spy, trees=7).run(replace(CELL, system=name), 1).status == "ok"
    assert [seen[0].n_estimators, seen[1].n_estimators] == [7, 7]
    assert seen[0].random_state == seen[1].random_state == CELL.seed


def test_parameters_of_the_protocol_reach_the_system_and_may_set_threads(tmp_path):
    seen = []
    protocol = replace(
        TRIAL,
        parameters=lambda *_: {"n_trees": 3, "n_projections": 2, "n_jobs": 2},
        measure=lambda model, *_: seen.append(model) or {},
    )
    result = runner(tmp_path, protocol).run(replace(CELL, system="sporf"), 1)
    assert result.n_jobs == 2
    assert (seen[0].n_estimators, seen[0].n_projections, seen[0].n_jobs) == (3, 2, 2)


@pytest.mark.parametrize("by", ["oob", "cv"])
def test_tuning_chooses_the_setting_of_least_error_and_says_so(tmp_path, by):
    # One split per tree cannot tell three classes apart; unlimited trees can.
    grid = Grid(lambda _: [{"max_depth": 1, "max_leaf_nodes": 2}, {"max_depth": None}], by=by)
    protocol = replace(TRIAL, grids={"sporf": grid}, tuned=True, tuning_trees=20)
    easy = replace(CELL, system="sporf", data="easy")
    result = runner(tmp_path, protocol, trees=10).run(easy, 1)
    assert result.status == "ok", result.message
    assert result.details["chosen"] == {"max_depth": None}
    errors = [each["error"] for each in result.details["tried"]]
    assert errors[1] < errors[0]
    untuned = runner(tmp_path, protocol, trees=10, tune=False).run(easy, 1)
    assert untuned.details == {}


@pytest.mark.parametrize(("asked", "expected"), [(None, 20), (5, 5)])
def test_trees_while_tuning_are_the_users_or_the_protocols(tmp_path, asked, expected):
    protocol = replace(TRIAL, tuned=True, tuning_trees=20)
    task = Task("classification", 100, 10, 2)
    tuned = runner(tmp_path, protocol, tuning_trees=asked)._estimator(SYSTEMS["sporf"], task, {})
    assert tuned.tuning_setting == {"n_trees": expected}


def test_cells_are_tuned_over_the_grid_that_the_plan_asks_for(tmp_path):
    own, other = (Grid(lambda _, d=d: [{"n_projections": d}]) for d in (1, 2))
    protocol = replace(
        TRIAL, tuned=True, grids={"sporf": own}, other_grids={"other": {"sporf": other}}
    )
    cell = replace(CELL, system="sporf")
    for asked, chosen in ((None, 1), ("other", 2)):
        result = runner(tmp_path, protocol, trees=20, grid=asked).run(cell, 1)
        assert result.status == "ok", result.message
        assert result.details["chosen"] == {"n_projections": chosen}


def test_grid_of_sporf_is_the_papers():
    tuning = SYSTEMS["sporf"].tuning
    assert tuning is not None
    tried = tuning.settings(Task("classification", 100, 10, 2))
    assert {each["n_projections"] for each in tried} == {
        "p**0.25", "p**0.5", "p**0.75", "p", "p**2"
    }  # fmt: skip
    assert {each["density"] for each in tried} == {1, 2, 3, 4, 5}
    assert len(tried) == 25
    assert len(tuning.settings(Task("classification", 100, 2, 2))) == 10
