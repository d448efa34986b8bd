"""`bevel tune` and `bevel fit --params`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.command_line import run

import bevel
from bevel import projections as P
from bevel.tuning.parameter_file import read_parameter_file, write_parameter_file
from bevel.workflow.rows import read_labelled_rows

FEW = ("--budget", "60", "--first-trees", "10", "--jobs", "1")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["a,b,c,kind"]
    for a, b, c in rng.normal(size=(60, 3)):
        lines.append(f"{a:.3f},{b:.3f},{c:.3f},{'yes' if a + b > 0 else 'no'}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    return path


def test_result_can_be_passed_to_fit(table, tmp_path):
    tuned, model, fitted = (tmp_path / name for name in ("t.json", "t.bevel", "f.bevel"))
    kept = ("--out", tuned, "--model", model, "--trees", 12)
    result = run("tune", table, "--target", "kind", *FEW, *kept)
    assert result.exit_code == 0, result.output
    assert "optimistic" in result.output
    command = result.output.splitlines()[-1].split()[1:]
    assert command == [
        "fit",
        str(table),
        "--target",
        "kind",
        "--model",
        "forest",
        "--params",
        str(tuned),
    ]
    result = run(*command, "--trees", 12, "-o", fitted, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "projection '" not in result.output  # a name without quotes, as without --params
    rows = read_labelled_rows(table, "kind")
    one, other = bevel.load(model), bevel.load(fitted)
    np.testing.assert_array_equal(one.predict_proba(rows.X), other.predict_proba(rows.X))


def test_model_has_as_many_trees_as_that_of_fit(table, tmp_path):
    model = tmp_path / "t.bevel"
    assert run("tune", table, "--target", "kind", *FEW, "--model", model).exit_code == 0
    assert bevel.load(model).n_estimators == "auto"


def test_stopped_search_goes_on_from_its_store(table, tmp_path):
    store = tmp_path / "run.jsonl"
    arguments = ("tune", table, "--target", "kind", *FEW, "--store", store)
    assert run(*arguments).exit_code == 0
    lines = store.read_bytes().splitlines(keepends=True)
    store.write_bytes(b"".join(lines[:3]))
    assert run(*arguments).exit_code == 0
    assert len(store.read_bytes().splitlines()) == len(lines)
    result = run(*arguments, "--seed", 1)
    assert result.exit_code == 1
    assert "same search" in result.stderr


def test_parameters_come_back_as_they_were(tmp_path):
    path, kind = tmp_path / "p.json", bevel.ObliqueForestClassifier
    parameters = {
        "projection": [(P.Axis(), "p"), (P.SparseSigns(2), "p**1.5"), P.Ridge(tune="gcv")],
        "criterion": "entropy",
        "max_samples": 0.5,
    }
    write_parameter_file(path, parameters, kind(), "y")
    assert read_parameter_file(path, kind, "y") == parameters


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("not JSON", "JSON"),
        ([1], "format"),
        ({"format": "other"}, "format"),
        ({"estimator": "ObliqueForestRegressor"}, "for the estimator"),
        ({"target": "other"}, "for the target 'kind'"),
        ({"parameters": 3}, "parameters"),
        ({"parameters": {"depth": 3}}, "'depth'"),
        ({"parameters": {"n_jobs": 3}}, "'n_jobs'"),
        ({"parameters": {"max_depth": "deep"}}, "max_depth must be"),
        ({"parameters": {"max_depth": 0}}, "max_depth must be"),
        ({"parameters": {"projection": "slanted"}}, "projection must be"),
        ({"parameters": {"projection": {"projection": {"class": "os"}}}}, "values of parameters"),
        ({"parameters": {"projection": {"array": "x"}}}, "values of parameters"),
        ({"parameters": {"projection": "axis", "n_projections": 9}}, "n_projections must be"),
    ],
)
def test_bad_parameter_file_is_refused_with_the_reason(table, tmp_path, change, text):
    path = tmp_path / "p.json"
    write_parameter_file(path, {}, bevel.ObliqueForestClassifier(), "kind")
    content = json.loads(path.read_text())
    content = {**content, **change} if isinstance(change, dict) else change
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    result = run(
        "fit", table, "--target", "kind", "--model", "forest", "--params", path, "--trees", 5
    )
    assert result.exit_code == 1
    assert text in " ".join(result.stderr.split())
    assert "should not happen" not in result.stderr


def test_projection_beside_a_parameter_file_is_refused(table, tmp_path):
    path = tmp_path / "p.json"
    write_parameter_file(path, {}, bevel.ObliqueForestClassifier(), "kind")
    result = run(
        "fit",
        table,
        "--target",
        "kind",
        "--model",
        "forest",
        "--params",
        path,
        "--projection",
        "lda",
    )
    assert result.exit_code == 1
    assert "--params" in result.stderr
