"""`bevel fit --time --event`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import run

import bevel
from bevel.datasets import weibull
from bevel.workflow import explain
from bevel.workflow.survival import fit_survival


@pytest.fixture
def table(tmp_path: Path) -> Path:
    X, y = weibull(120, 5, random_state=0)
    lines = ["a,b,c,d,e,days,died"]
    for row, (event, time) in zip(X, y, strict=True):
        cells = [*(f"{x:.5f}" for x in row), f"{time:.5f}", "yes" if event else "no"]
        lines.append(",".join(cells))
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(lines))
    return path


def test_file_gives_the_forest_of_its_columns(table: Path, tmp_path: Path) -> None:
    found = fit_survival(table, "days", "died", parameters={"n_estimators": 10, "random_state": 0})
    assert tuple(found.rows.X.names) == tuple("abcde")
    assert 0.5 < found.scores.concordance < 1.0
    assert found.event.sum() == weibull(120, 5, random_state=0)[1]["event"].sum()
    found.model.save(tmp_path / "model.bevel")
    model = bevel.load(tmp_path / "model.bevel")
    assert np.array_equal(model.predict(found.rows.X), found.model.predict(found.rows.X))
    with pytest.raises(ValueError, match="survival forest"):
        explain(model, table)


def test_events_that_are_neither_seen_nor_not_are_refused(table: Path) -> None:
    with pytest.raises(ValueError, match="must be 1 and 0"):
        fit_survival(table, "days", "a")
    with pytest.raises(ValueError, match="two columns"):
        fit_survival(table, "days", "days")


def test_command_prints_scores_and_writes_the_model(table: Path, tmp_path: Path) -> None:
    columns = ("--time", "days", "--event", "died", "--trees", 10)
    out = tmp_path / "model.bevel"
    result = run("fit", table, *columns, "--out", out)
    assert result.exit_code == 0
    assert "out-of-bag concordance" in result.output
    assert run("predict", out, table).exit_code == 0
    found = json.loads(run("fit", table, *columns, "--json").stdout)
    assert found["task"] == "survival"
    assert found["n_rows"] == 120


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--time", "days"), "belong together"),
        (("--event", "died"), "belong together"),
        (("--time", "days", "--event", "died", "--target", "a"), "--target has no meaning"),
        (("--time", "days", "--event", "died", "--keep-targets"), "--keep-targets has no"),
        ((), "--target"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(
    table: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run("fit", table, *arguments)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())
