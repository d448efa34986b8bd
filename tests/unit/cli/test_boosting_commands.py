"""`bevel fit --model boosting` and what the other commands do with its models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import invoke

import bevel
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


def test_fit_predict_and_inspect_of_boosting(table: Path) -> None:
    model, page = table.with_name("m.bevel"), table.with_name("m.html")
    words = ("fit", table, "--target", "y", "--drop", "kind", "--model", "boosting", "--out", model)
    code, text = run(*words, "--report", page)
    assert code == 0, text
    assert "iterations" in text
    assert "cross-validated R²" in text
    html = page.read_text(encoding="utf-8")
    assert "Gradient boosting" in html
    assert "Root mean squared error after each iteration" in html
    assert "--model boosting" in html
    out = table.with_name("p.csv")
    code, text = run("predict", model, table, "--interval", 0.8, "--out", out)
    assert code == 0, text
    found = pd.read_csv(out)
    assert ((found.lower < found.prediction) & (found.prediction < found.upper)).all()
    loaded = bevel.load(model)
    np.testing.assert_allclose(
        found.prediction, loaded.predict(pd.read_csv(table)[["a", "b", "c"]])
    )
    code, text = run("inspect", model)
    assert "ObliqueBoostingRegressor" in text


def test_facts_of_a_classifier_in_json(table: Path) -> None:
    words = ("--target", "kind", "--drop", "y", "--model", "boosting", "--trees", 5, "--json")
    code, text = run("fit", table, *words)
    assert code == 0, text
    facts = json.loads(text)
    assert facts["model_kind"] == "boosting"
    assert facts["n_trees"] == 5
    assert facts["scored"] == "cross-validated"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--oob", "x.csv"), "--oob belongs to --model forest"),
        (("--criterion", "gini"), "--criterion belongs to --model forest"),
        (("--keep-targets", "--task", "regression"), "belongs to forests"),
        (("--params", "x.json"), "for a forest"),
    ],
)
def test_options_of_forests_are_refused(table: Path, words: tuple[str, ...], message: str) -> None:
    code, text = run("fit", table, "--target", "y", "--model", "boosting", *words)
    assert code != 0
    assert message in " ".join(text.split())


@pytest.mark.parametrize(("target", "other"), [("y", "kind"), ("kind", "y")])
def test_explain_of_boosting(table: Path, target: str, other: str) -> None:
    model, page = table.with_name("m.bevel"), table.with_name("explain.html")
    words = ("--target", target, "--drop", other, "--model", "boosting", "--trees", 10)
    code, text = run("fit", table, *words, "--out", model)
    assert code == 0, text
    code, text = run("explain", model, table, "--target", target, "--row", 7, "--out", page)
    assert code == 0, text
    html = page.read_text(encoding="utf-8")
    assert "Row 7, as requested" in html
    assert "trees spread by" not in html
    assert "If these are training rows, it predicts new rows less well.</p>" in html
    code, text = run("explain", model, table, "--target", target, "--row", 7, "--json")
    assert code == 0, text
    facts = json.loads(text)
    loaded, rows = bevel.load(model), pd.read_csv(table)
    predicted = loaded.predict(rows[["a", "b", "c"]])
    if target == "kind":
        wrong = float(np.mean(predicted != rows[target]))
        assert facts["scores"]["error"]["value"] == pytest.approx(wrong)
    else:
        error = np.abs(predicted - rows[target]).mean()
        assert facts["scores"]["mean absolute error"]["value"] == pytest.approx(error)
    assert facts["rows_are"] == "new"
    assert max(facts["importance"]["permutation"], key=facts["importance"]["permutation"].get) in (
        "a",
        "b",
    )
    code, text = run("explain", model, table)
    assert code == 0, text
