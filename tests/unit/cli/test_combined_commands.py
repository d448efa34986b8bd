"""The model that `bevel fit` fits by default, and what the other commands do with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import invoke

import bevel
from bevel import workflow
from bevel.cli.app import app


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(160, 3)).round(4), columns=["a", "b", "c"])
    frame["y"] = (frame.a - frame.b + 0.3 * rng.normal(size=160)).round(4)
    frame["kind"] = np.where(frame.y > 0, "high", "low")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def run(*words: object) -> tuple[int, str]:
    found = invoke(app, [str(word) for word in words])
    return found.exit_code, found.output


QUICK = ("--quality", 1)


def test_fit_predict_inspect_and_explain_of_a_combined_regression(table: Path) -> None:
    model, page = table.with_name("m.bevel"), table.with_name("m.html")
    words = ("fit", table, "--target", "y", "--drop", "kind", *QUICK, "--out", model)
    code, text = run(*words, "--report", page)
    assert code == 0, text
    assert "cross-validated R²" in text
    assert "boosting" in text
    assert "weight" in text
    html = page.read_text(encoding="utf-8")
    assert "The members" in html
    assert "Predictions are the weighted mean of both models (forest" in html
    assert "--model combined" in html
    assert "--quality 1" in html
    assert "projection auto" not in html
    out = table.with_name("p.csv")
    code, text = run("predict", model, table, "--interval", 0.8, "--out", out)
    assert code == 0, text
    found = pd.read_csv(out)
    assert ((found.lower < found.prediction) & (found.prediction < found.upper)).all()
    loaded = bevel.load(model)
    np.testing.assert_allclose(
        found.prediction, loaded.predict(pd.read_csv(table)[["a", "b", "c"]])
    )
    code, text = run("inspect", model, "--verify")
    assert "ObliqueRegressor" in text
    assert "member" in text
    for kind in ("c", "onnx"):
        code, text = run("export", model, "--to", kind)
        assert code == 0, text
    explained = table.with_name("explain.html")
    code, text = run("explain", model, table, "--target", "y", "--out", explained)
    assert code == 0, text
    told = "Short rules, and scores of new rows, describe both"
    assert told in " ".join(text.split())
    assert told in explained.read_text()


def test_explain_scores_new_rows_by_the_weighted_mean(table: Path) -> None:
    frame = pd.read_csv(table).drop(columns="y")
    new = table.with_name("new.csv")
    frame[:100].to_csv(table, index=False)
    frame[100:].to_csv(new, index=False)
    model = table.with_name("m.bevel")
    code, text = run("fit", table, "--target", "kind", *QUICK, "--out", model)
    assert code == 0, text
    found = workflow.explain(model, new, target="kind")
    loaded = bevel.load(model)
    shares = loaded.predict_proba(frame[100:][["a", "b", "c"]])
    right = shares[np.arange(60), (frame.kind[100:] == "low").astype(int)]
    assert found.scores["log loss"].value == pytest.approx(-np.log(right).mean())
    assert found.groups is not None
    assert "a forest and boosting together" in found.groups.origin


def test_facts_of_a_combined_classifier_in_json(table: Path) -> None:
    code, text = run("fit", table, "--target", "kind", "--drop", "y", *QUICK, "--json")
    assert code == 0, text
    facts = json.loads(text)
    assert facts["model_kind"] == "combined"
    assert facts["parameters"] == {"quality": 1}
    assert [each["member"] for each in facts["members"]["members"]] == ["forest", "boosting"]
    assert facts["n_trees"] == sum(each["n_trees"] for each in facts["members"]["members"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*QUICK, "--trees", 5), "--trees belongs to --model forest or boosting"),
        ((*QUICK, "--projection", "axis"), "--projection belongs to --model forest"),
        ((*QUICK, "--oob", "x.csv"), "--oob belongs to"),
        ((*QUICK, "--keep-targets"), "got --model combined, the default, which chooses it"),
        (("--quality", 2, "--model", "forest"), "--quality belongs to --model combined"),
        (("--target", "a,b", "--model", "combined"), "--model combined is for one target"),
        (("--target", "a,b", "--quality", 2), "--quality belongs to --model combined"),
        (("--quality", 2, "--model", "boosting"), "got --model boosting"),
    ],
)
def test_options_of_other_models_are_refused(
    table: Path, words: tuple[object, ...], message: str
) -> None:
    code, text = run("fit", table, "--target", "y", *words)
    assert code != 0
    assert message in " ".join(text.split())


def test_parameters_of_other_models_are_refused_in_python(table: Path) -> None:
    with pytest.raises(ValueError, match="are chosen by a combined model"):
        workflow.fit(table, "y", drop=["kind"], model="combined", projection="axis")
    with pytest.raises(ValueError, match="are chosen by a combined model"):
        workflow.fit(table, "y", drop=["kind"], model="combined", n_estimators=10)


def test_page_where_one_class_is_predicted_for_all_rows(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)).round(4), columns=["a", "b", "c"])
    frame["kind"] = np.where((frame.a > 0.5) & (rng.random(300) < 0.15), "rare", "common")
    table, page = tmp_path / "rows.csv", tmp_path / "page.html"
    frame.to_csv(table, index=False)
    code, text = run("fit", table, "--target", "kind", *QUICK, "--report", page)
    assert code == 0, text
    html = page.read_text()
    assert "The model predicts common for all of these rows" in html
    assert "Predictions change most with a" in html  # no error changes where a is permuted
    assert "Which way do they push?" in html
