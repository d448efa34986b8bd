"""`bevel fit --target a,b` and what the other commands do with its models."""

from __future__ import annotations

import io
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
    frame = pd.DataFrame(rng.normal(size=(120, 3)).round(4), columns=["a", "b", "c"])
    frame["sum"] = (frame.a + frame.b).round(4)
    frame["wide"] = (50 * frame.c).round(4)
    frame["sign"] = np.where(frame.a > 0, "up", "down")
    frame["size"] = np.where(frame.b > 0.5, "large", np.where(frame.b < -0.5, "small", "middle"))
    frame.loc[3, "sum"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def run(*words: object) -> tuple[int, str]:
    found = invoke(app, [str(word) for word in words])
    return found.exit_code, found.output


NUMBERS = ("--target", "sum,wide", "--drop", "sign", "--drop", "size", "--trees", 30)
LABELS = ("--target", "sign, size", "--drop", "sum", "--drop", "wide", "--trees", 30)


def test_numbers_are_fitted_and_predicted(table: Path) -> None:
    model = table.with_name("m.bevel")
    code, text = run("fit", table, *NUMBERS, "--out", model, "--json")
    assert code == 0, text
    found = json.loads(text)
    assert found["targets"] == ["sum", "wide"]
    assert found["n_rows"] == 119  # one misses a target
    assert found["scores"]["wide"]["R²"]["value"] > 0.5
    code, text = run("predict", model, table)
    assert code == 0, text
    lines = text[text.index("prediction_sum") :].splitlines()[:121]
    predicted = pd.read_csv(io.StringIO("\n".join(lines)))
    assert list(predicted.columns) == ["prediction_sum", "prediction_wide"]
    forest = bevel.load(model)
    rows = pd.read_csv(table)[["a", "b", "c"]]
    np.testing.assert_allclose(predicted.to_numpy(), forest.predict(rows), atol=1e-6)


def test_labels_are_fitted_predicted_and_explained(table: Path) -> None:
    model, page = table.with_name("m.bevel"), table.with_name("m.html")
    code, text = run("fit", table, *LABELS, "--out", model)
    assert code == 0, text
    assert "sign: out-of-bag error" in text
    assert "size: out-of-bag error" in text
    code, text = run("predict", model, table, "--proba")
    assert code == 0, text
    assert "prediction_sign,prediction_size,proba_sign_down,proba_sign_up,proba_size_large" in text
    code, text = run("inspect", model)
    assert "2: 'sign', 'size'" in text
    code, text = run("explain", model, table, "--target", "size", "--out", page)
    assert code == 0, text
    assert "large" in page.read_text(encoding="utf-8")


def test_page_and_out_of_bag_predictions_are_of_all_outputs(table: Path) -> None:
    pytest.importorskip("matplotlib")
    page, oob = table.with_name("m.html"), table.with_name("oob.csv")
    code, text = run("fit", table, *NUMBERS, "--report", page, "--oob", oob)
    assert code == 0, text
    written = page.read_text(encoding="utf-8")
    for part in ("Output sum", "Output wide", "--target sum,wide", "to all outputs"):
        assert part in written
    found = pd.read_csv(oob)
    assert list(found.columns) == ["sum", "wide", "prediction_sum", "prediction_wide"]
    known = found.dropna()
    assert len(found) == 119
    assert np.corrcoef(known["wide"], known["prediction_wide"])[0, 1] > 0.7
    code, text = run("fit", table, *LABELS, "--oob", oob, "--force")
    assert code == 0, text
    found = pd.read_csv(oob).dropna()
    names = ["proba_size_large", "proba_size_middle", "proba_size_small"]
    best = found[names].idxmax(axis=1).str.removeprefix("proba_size_")
    assert (best == found["prediction_size"]).all()
    assert (found["size"] == found["prediction_size"]).mean() > 0.7


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "sum,sign"), "all classes or all numbers"),
        (("--target", "sum,"), "different columns between commas"),
        (("--target", "sum,nowhere"), "nowhere"),
        ((*NUMBERS, "--keep-targets"), "--keep-targets is for one target"),
        ((*NUMBERS, "--model", "boosting"), "--model boosting is for one target"),
    ],
)
def test_what_cannot_be_is_refused(table: Path, words: tuple[object, ...], message: str) -> None:
    code, text = run("fit", table, *words)
    assert code != 0
    assert message in " ".join(text.split())


def test_a_column_whose_name_has_a_comma_is_one_target(table: Path) -> None:
    frame = pd.read_csv(table)[["a", "b", "sum"]].dropna().rename(columns={"sum": "a,b sum"})
    frame.to_csv(table, index=False)
    code, text = run("fit", table, "--target", "a,b sum", "--quality", 1, "--json")
    assert code == 0, text
    assert json.loads(text)["target"] == "a,b sum"
