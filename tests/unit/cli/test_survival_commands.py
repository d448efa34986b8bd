"""`bevel fit --time --event`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import run

import bevel
from bevel.analysis import importance, strength_and_correlation
from bevel.datasets import weibull
from bevel.workflow import explain
from bevel.workflow.fitting import fit_table
from bevel.workflow.survival import concordance_estimate
from bevel.workflow.targets import SurvivalColumns
from bevel.workflow.tasks import Settings

SMALL = Settings(n_trees=10)
COLUMNS = SurvivalColumns("days", "died")


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
    found = fit_table(table, COLUMNS, SMALL, {})
    assert tuple(found.rows.X.names) == tuple("abcde")
    assert 0.5 < found.scores.concordance < 1.0
    assert found.rows.y.event.sum() == weibull(120, 5, random_state=0)[1]["event"].sum()
    found.model.save(tmp_path / "model.bevel")
    model = bevel.load(tmp_path / "model.bevel")
    assert np.array_equal(model.predict(found.rows.X), found.model.predict(found.rows.X))
    for wrong, message in (
        ({"target": "days"}, "survival forest"),
        ({"time": "days"}, "belong together"),
    ):
        with pytest.raises(ValueError, match=message):
            explain(model, table, **wrong)


def test_explain_recognises_the_rows_of_the_fit(table: Path, tmp_path: Path) -> None:
    found = fit_table(table, COLUMNS, SMALL, {})
    explained = explain(found.model, table, time="days", event="died")
    assert explained.row_kind == "out-of-bag"
    assert explained.survival is not None
    assert explained.survival.scores is not None
    assert explained.survival.scores.concordance == found.scores.concordance
    assert explained.scores["concordance"] == concordance_estimate(found.scores)
    assert [each.kind for each in explained.importances] == ["negation", "permutation"]
    target = found.rows.y
    permuted = importance(found.model, "permutation", found.rows.X, target, random_state=0)
    assert np.array_equal(explained.importances[1].values, permuted.values)
    with pytest.raises(ValueError, match="got a survival forest"):
        strength_and_correlation(found.model, found.rows.X, target)
    assert explained.survival.groups is not None
    assert explained.survival.groups.count.sum() == 120
    other = tmp_path / "other.csv"
    lines = table.read_text().splitlines()
    other.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    assert explain(found.model, other, time="days", event="died").row_kind == "new"
    without = explain(found.model, table)
    assert without.survival is not None
    assert without.survival.scores is None
    assert [each.kind for each in without.importances] == ["Shapley"]


def test_pages_of_a_survival_forest_show_its_parts(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    columns = ("--time", "days", "--event", "died")
    model, page, oob = (tmp_path / name for name in ("m.bevel", "fit.html", "oob.csv"))
    files = ("--out", model, "--report", page, "--oob", oob)
    assert run("fit", table, *columns, "--trees", 10, *files).exit_code == 0
    text = page.read_text()
    parts = ("concordance", "Who is at risk?", "Are the probabilities right?", "log-rank")
    for part in (*parts, "median survival", "--event died", "days until died"):
        assert part in text
    assert "impurity" not in text
    lines = oob.read_text().splitlines()
    assert lines[0] == "days,died,prediction"
    assert len(lines) == 121
    out = tmp_path / "explain.html"
    result = run("explain", model, table, *columns, "--row", 3, "--out", out)
    assert result.exit_code == 0
    assert "concordance" in result.output
    text = out.read_text()
    for part in (*parts, "Row 3, as requested"):
        assert part in text
    first = text.partition("<h2")[0]
    assert first.count('class="lead"') == 3
    assert first.count("<svg") == 1  # the groups of risk, which are not drawn again below
    assert text.count("<figcaption>Rows in three groups") == 1
    found = json.loads(run("explain", model, table, *columns, "--json").stdout)
    assert 0.0 < found["integrated_brier_score"] < 0.3
    assert "event times" in run("inspect", model).output


def test_out_of_bag_rows_leave_out_those_of_weight_zero(table: Path, tmp_path: Path) -> None:
    lines = table.read_text().splitlines()
    weighted = tmp_path / "weighted.csv"
    words = [f"{line},{k % 4}" for k, line in enumerate(lines[1:])]
    weighted.write_text("\n".join([f"{lines[0]},w", *words]))
    found = fit_table(weighted, COLUMNS, SMALL, {"weights": "w"})
    assert found.scores.concordance == pytest.approx(found.model.oob_score_)


def test_events_that_are_neither_seen_nor_not_are_refused(table: Path) -> None:
    with pytest.raises(ValueError, match="must be 1 and 0"):
        fit_table(table, SurvivalColumns("days", "a"), SMALL, {})
    with pytest.raises(ValueError, match="two columns"):
        fit_table(table, SurvivalColumns("days", "days"), SMALL, {})


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


@pytest.fixture
def causes(table: Path, tmp_path: Path) -> Path:
    """The table with entries below the times, and numbers of causes."""
    lines = table.read_text().splitlines()
    out = [f"{lines[0]},start,cause"]
    for k, line in enumerate(lines[1:]):
        *_, days, died = line.split(",")
        start = float(days) / 2 if k % 3 == 0 else 0.0
        out.append(f"{line},{start:.5f},{1 + k % 2 if died == 'yes' else 0}")
    path = tmp_path / "causes.csv"
    path.write_text("\n".join(out))
    return path


def test_late_entries_of_a_file_are_those_of_the_forest(causes: Path, tmp_path: Path) -> None:
    small = {"n_estimators": 10, "random_state": 0}
    columns_of_fit = SurvivalColumns("days", "died", "start")
    found = fit_table(causes, columns_of_fit, SMALL, {"drop": ["cause"]})
    assert found.rows.y.entry is not None
    columns = np.loadtxt(causes, delimiter=",", skiprows=1, usecols=(0, 1, 2, 3, 4, 5, 7))
    event = found.rows.y.event
    expected = bevel.ObliqueSurvivalForest(**small).fit(
        columns[:, :5], (columns[:, 6], columns[:, 5], event)
    )
    assert np.array_equal(expected.predict(columns[:, :5]), found.model.predict(found.rows.X))
    given = ("--time", "days", "--event", "died", "--entry", "start")
    model, page = tmp_path / "m.bevel", tmp_path / "r.html"
    result = run(
        "fit", causes, *given, "--drop", "cause", "--trees", 10, "--out", model, "--report", page
    )
    assert result.exit_code == 0
    assert "40 rows enter late (start)" in result.output
    assert "--entry start" in page.read_text()
    explained = json.loads(run("explain", model, causes, *given, "--json").stdout)
    assert explained["rows_are"] == "out-of-bag"
    assert explained["scores"]["concordance"]["value"] == pytest.approx(found.scores.concordance)


def test_causes_of_a_file_compete(causes: Path, tmp_path: Path) -> None:
    given = ("--time", "days", "--event", "cause", "--drop", "died", "--drop", "start")
    model, page, oob = (tmp_path / name for name in ("m.bevel", "r.html", "o.csv"))
    files = ("--out", model, "--report", page, "--oob", oob)
    result = run("fit", causes, *given, "--competing-risks", "--trees", 10, *files)
    assert result.exit_code == 0
    assert "of cause 2" in result.output
    assert "all causes together" in page.read_text()
    assert bevel.load(model).n_causes_ == 2
    assert {line.split(",")[1] for line in oob.read_text().splitlines()[1:]} == {"0", "1", "2"}
    explained = run("explain", model, causes, *given[:4], "--json")
    assert explained.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--event", "cause"), "set --competing-risks"),
        (("--event", "died", "--entry", "days"), "--entry must be a column of its own"),
        (("--event", "died", "--entry", "a"), "must be 0 or more and below the times"),
        (("--event", "died", "--competing-risks"), "numbers of causes"),
        (("--event", "died", "--entry", "nobody"), "nobody"),
    ],
)
def test_wrong_entries_and_causes_are_refused(
    causes: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run("fit", causes, "--time", "days", *arguments, "--trees", 5)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())


def test_entry_without_times_is_refused(causes: Path) -> None:
    for given in (("--entry", "start"), ("--competing-risks",), ("--target", "a", "--entry", "b")):
        result = run("fit", causes, *given)
        assert result.exit_code != 0
        assert "belong together" in " ".join(result.output.split())
