"""`bevel fit --model isolation`, and `bevel predict` of its model."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import run

import bevel
from bevel import ObliqueIsolationForest
from bevel.report.fit import result_writer
from bevel.workflow.fitting import fit_table
from bevel.workflow.targets import NoColumn
from bevel.workflow.tasks import Settings


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X[41] = 9.0  # far from all others
    lines = ["serial,a,b,c,kind,nothing"]
    for number, row in enumerate(X):
        lines.append(f"m{number:02},{row[0]:.4f},{row[1]:.4f},{row[2]:.4f},{'xy'[number % 2]},")
    path = tmp_path / "machines.csv"
    path.write_text("\n".join(lines))
    return path


def test_file_gives_the_forest_of_its_columns(table: Path) -> None:
    found = fit_table(table, NoColumn(), Settings(n_trees=0), {"row_id": ["serial"]})
    rows = found.rows
    assert tuple(rows.X.names) == ("a", "b", "c", "kind")
    assert any("without any value" in note for note in rows.notes)
    assert np.argmin(found.scores) == 41
    expected = ObliqueIsolationForest(random_state=0).fit(rows.X)
    np.testing.assert_array_equal(found.scores, expected.score_samples(rows.X))
    told = result_writer(found).as_dict(found)
    assert told["n_outliers"] == np.count_nonzero(expected.predict(rows.X) == -1)


def test_command_names_the_unusual_rows_and_predictions_have_scores(table, tmp_path):
    out = tmp_path / "m.bevel"
    how = ("--model", "isolation", "--id", "serial", "--contamination", "0.1")
    shown = run("fit", table, *how, "--out", out)
    assert "8 of 80 rows score below" in shown.output
    assert "m41 (-0." in shown.output
    assert "\\" not in shown.output  # nothing had to be escaped
    model = bevel.load(out)
    assert isinstance(model, ObliqueIsolationForest)
    predicted = tmp_path / "p.csv"
    run("predict", out, table, "--id", "serial", "--out", predicted)
    rows = list(csv.DictReader(predicted.read_text().splitlines()))
    lowest = min(rows, key=lambda row: float(row["score"]))
    assert (lowest["serial"], lowest["prediction"]) == ("m41", "-1")
    assert sum(row["prediction"] == "-1" for row in rows) == 8
    told = json.loads(run("fit", table, *how, "--json").output)
    assert (told["n_outliers"], told["most_unusual"][0]) == (8, 42)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "isolation", "--target", "a"), "--target has no meaning"),
        (("--model", "isolation", "--report", "page.html"), "--report has no meaning"),
        (("--model", "isolation", "--contamination", "0.9"), "contamination must be"),
        (("--target", "kind", "--contamination", "0.1"), "belongs to --model isolation"),
        (("--model", "isolation", "--drop", "sertial"), "sertial"),
    ],
)
def test_options_without_meaning_are_refused(table, options, message):
    shown = run("fit", table, *options)
    assert shown.exit_code != 0
    assert message in shown.output
