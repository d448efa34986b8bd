"""The workflow from Python does what the command line does."""

import numpy as np
import pytest

from bevel import workflow
from bevel.report.fit import fit_report


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    labels = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    lines = [f"{a:.4f},{b:.4f},{c},{a + b:.4f}" for (a, b), c in zip(X, labels, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,side,total", *lines]) + "\n")
    return path


def test_fit_predict_and_explain_agree(path, tmp_path):
    result = workflow.fit(path, "side", drop=["total"], model="forest", n_estimators=30, n_jobs=1)
    assert result.scored_by == "out-of-bag"
    assert result.scores["error"].value < 0.3
    saved = tmp_path / "model.bevel"
    result.model.save(saved)
    of_model = workflow.predict(result.model, path, proba=True)
    of_file = workflow.predict(saved, str(path), proba=True)
    assert of_model.values.tolist() == of_file.values.tolist()
    found = workflow.explain(saved, path, target="side", rows=[7])
    assert found.row_kind == "out-of-bag"
    assert 7 in [row.number for row in found.rows]
    assert found.scores["error"].value == result.scores["error"].value


def test_fit_without_bags_is_cross_validated(path):
    result = workflow.fit(
        path, "side", drop=["total"], model="forest", projection="cca", n_estimators=5, n_jobs=1
    )
    assert result.scored_by == "cross-validated"
    assert set(result.scores) >= {"error", "AUC"}


def test_tune_returns_the_best_forest_and_all_that_were_tried(path):
    few = {"drop": ["total"], "budget": 60, "first_trees": 10, "n_estimators": 20, "n_jobs": 1}
    result = workflow.tune(path, "side", **few)
    assert result.model.forest_.n_trees == 20
    assert result.found.best_ is result.found.candidates_[0]
    assert not hasattr(workflow.tune(path, "side", **few, refit=False).model, "classes_")


def test_grid_of_sporf_is_tried_whole(path):
    few = {"drop": ["total"], "first_trees": 10, "n_jobs": 1, "refit": False}
    found = workflow.tune(path, "side", grid="sporf", **few).found
    grid = [each.parameters for each in found.candidates_ if each.parameters]
    densities = {each["projection"].density for each in grid}
    assert {1, 2} <= densities
    with pytest.raises(ValueError, match="all_powers"):
        workflow.tune(path, "side", all_powers=True, **few)


def test_notes_and_progress_are_reported_to_callbacks(path):
    notes, steps = [], []
    reporting = {"on_note": notes.append, "on_progress": lambda *step: steps.append(step)}
    with path.open("a") as file:
        file.write("0.1,0.2,,0.3\n")
    result = workflow.fit(
        path,
        "side",
        drop=["total"],
        model="forest",
        n_estimators=8,
        n_jobs=1,
        curve=True,
        **reporting,
    )
    assert notes == list(result.rows.notes) == ["1 rows without a target are left out."]
    assert steps[-1] == ("growing trees", 8, 8)
    assert result.curve is not None
    notes.clear()
    found = workflow.explain(result.model, path, target="side", **reporting)
    assert notes == list(found.notes)
    assert any("rows without a target" in note for note in notes)
    assert steps[-1] == ("", 6, 6)
    steps.clear()
    workflow.fit(
        path,
        "side",
        drop=["total"],
        model="forest",
        projection="cca",
        n_estimators=3,
        n_jobs=1,
        **reporting,
    )
    assert steps[-1] == ("cross-validating", 5, 5)


def test_threads_of_a_call_leave_the_estimator_of_the_caller_alone(path):
    model = workflow.fit(
        path, "side", drop=["total"], model="forest", n_estimators=5, n_jobs=1
    ).model
    assert len(workflow.predict(model, path, n_jobs=2).values) == 80
    assert model.n_jobs == 1


def test_messages_speak_of_parameters(path):
    with pytest.raises(ValueError, match=r"`drop` must name columns .* which `target` names too"):
        workflow.fit(path, "side", drop=["side"])
    with pytest.raises(ValueError, match=r'`keep_targets` needs .* `task="regression"`'):
        workflow.fit(path, "side", model="forest", keep_targets=True)
    model = workflow.fit(
        path, "total", drop=["side"], model="forest", n_estimators=5, n_jobs=1
    ).model
    with pytest.raises(ValueError, match="`proba` must be used with a classifier"):
        workflow.predict(model, path, proba=True)


@pytest.mark.parametrize("model", ["forest", "boosting"])
def test_leaks_and_copies_are_noted_once(tmp_path, model):
    rng = np.random.default_rng(0)
    died = rng.integers(0, 2, 400)
    cause = np.where(died == 1, rng.choice(["stroke", "fall"], 400), "")
    lines = [
        ",".join([*(f"{x:.4f}" for x in row), word, str(label)])
        for row, word, label in zip(rng.normal(size=(400, 4)), cause, died, strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,c,d,cause,died", *lines, *lines[:30]]) + "\n")
    notes = []
    result = workflow.fit(
        path, "died", model=model, n_estimators=30, n_jobs=1, on_note=notes.append
    )
    (alarm,) = (note for note in notes if "alone predicts" in note)
    assert alarm.startswith("Column 'cause' alone predicts the target almost without error")
    assert "30 of 430 rows repeat the features of an earlier row" in alarm
    assert alarm in result.rows.notes
    assert "alone predicts the target almost without error" in fit_report("rows", result, "")
