"""Options of commands that read tables, standard input, and terminals without our characters."""

import html
import inspect
import io
import json
import os
import re
import shlex
import threading

import numpy as np
import pytest
import typer
from support.command_line import run

import bevel
from bevel.cli import output
from bevel.cli.flags import Command, as_flags
from bevel.cli.output import write_any_text
from bevel.data.tables import Columns
from bevel.projections import SparseSigns
from bevel.tables.table_file import open_table

FAST = ("--model", "forest", "--trees", "10", "--jobs", "1")
RNG = np.random.default_rng(0)
ROWS = [
    f"s{row},{row % 4},{x:.3f},{z:.3f},{w:.2f},{'yes' if x > 0 else 'no'},{3 * x + z:.3f}"
    for row, (x, z, w) in enumerate(RNG.normal(size=(60, 3)) ** [1, 1, 2])
]
TEXT = "\n".join(["sample,batch,x,z,weight,y,price", *ROWS]) + "\n"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def price_model(data, tmp_path):
    model = tmp_path / "price.bevel"
    options = ("--drop", "y", "--keep-targets", "--out", model)
    assert run("fit", data, "--target", "price", *options, *FAST).exit_code == 0
    return model


def test_forest_is_grown_with_the_options(data, tmp_path):
    model = tmp_path / "m.bevel"
    options = ["--density", "1.5", "--d", "p**0.5", "--max-depth", "3", "--min-samples-leaf", "2"]
    options += ["--criterion", "entropy", "--class-weight", "yes=3", "--weights", "weight"]
    options += ["--nominal", "batch", "--drop", "price", "--seed", "7", "--out", model, "--json"]
    result = run("fit", data, "--target", "y", *options, *FAST)
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["n_features"] == 3
    assert facts["nominal"] == ["batch"]
    assert facts["parameters"]["class_weight"] == {"no": 1.0, "yes": 3.0}
    forest = bevel.load(model)
    expected = {
        "projection": SparseSigns(1.5),
        "n_projections": "p**0.5",
        "max_depth": 3,
        "min_samples_leaf": 2,
        "criterion": "entropy",
        "class_weight": {"no": 1.0, "yes": 3.0},
        "random_state": 7,
    }
    assert {name: getattr(forest, name) for name in expected} == expected


def test_weights_of_rows_reach_the_forest(data, tmp_path):
    models = tmp_path / "with.bevel", tmp_path / "without.bevel"
    for model, option in zip(models, (("--weights", "weight"), ("--drop", "weight")), strict=True):
        arguments = ("--drop", "price", *option, "--out", model, *FAST)
        assert run("fit", data, "--target", "y", *arguments).exit_code == 0
    with_, without = (bevel.load(model).forest_.threshold for model in models)
    assert not np.array_equal(with_, without)


def test_monotone_columns_and_criteria_reach_the_forest(data, tmp_path):
    model = tmp_path / "m.bevel"
    options = ["--monotonic", "x=1", "--monotonic", "z=-1", "--criterion", "absolute_error"]
    options += ["--drop", "y", "--out", model]
    result = run("fit", data, "--target", "price", *options, *FAST)
    assert result.exit_code == 0, result.output
    forest = bevel.load(model)
    assert forest.monotonic_cst == {"x": 1, "z": -1}
    assert forest.criterion == "absolute_error"


def test_command_of_a_page_repeats_the_fit(data, tmp_path):
    pytest.importorskip("matplotlib")
    model, page = tmp_path / "m.bevel", tmp_path / "m.html"
    options = ("--monotonic", "x=1", "--max-depth", 1, "--drop", "y", "--types", "batch=nominal")
    files = ("--out", model, "--report", page)
    assert run("fit", data, "--target", "price", *options, *files, *FAST).exit_code == 0
    first = bevel.load(model)
    model.unlink()
    written = re.search("<pre>bevel (fit .*?)</pre>", page.read_text(encoding="utf-8"))
    assert run(*shlex.split(html.unescape(written.group(1))), "--force").exit_code == 0
    again = bevel.load(model)
    assert again.monotonic_cst == first.monotonic_cst == {"x": 1}
    np.testing.assert_array_equal(again.forest_.threshold, first.forest_.threshold)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--density", "2", "--projection", "axis"], "--density belongs to --projection sparse"),
        (["--projection", "spars"], 'Did you mean "sparse"?'),
        (["--monotonic", "x"], "--monotonic must be COLUMN=1 or COLUMN=-1; got 'x'"),
        (["--monotonic", "xx=1"], "monotonic_cst must name columns of X"),
        (["--class-weight", "yess=2"], "got 'yess'. Did you mean 'yes'?"),
        (["--class-weight", "yes"], "--class-weight must be balanced or CLASS=WEIGHT; got 'yes'"),
        (["--types", "x"], "--types must be COLUMN=TYPE; got 'x'"),
        (["--types", "x=float"], "--types must be number, nominal"),
        (["--drop", "prize"], "Did you mean 'price'?"),
        (["--drop", "x", "--id", "x"], "--drop must name columns that no other parameter names"),
        (["--weights", "sample"], "column 'sample' must hold numbers; got 's0' in row 1"),
        (
            ["--criterion", "squared_error"],
            'criterion must be "auto", "gini", "entropy" or "log_loss"',
        ),
    ],
)
def test_wrong_options_are_refused_with_the_remedy(data, options, message):
    result = run("fit", data, "--target", "y", *options, *FAST)
    assert result.exit_code == 1
    assert message in result.stderr


def test_misspelt_commands_and_columns_get_a_proposal(data):
    if "suggest_commands" in inspect.signature(typer.Typer).parameters:  # typer's own, since 0.20
        assert "Did you mean 'fit'?" in run("ft").output
    assert "Did you mean 'price'?" in run("fit", data, "--target", "Price").stderr


def test_keys_are_left_out_with_a_note_unless_they_are_wanted(data):
    result = run("fit", data, "--target", "y", "--drop", "price", *FAST)
    assert "Left out, because they name rows: 'sample'" in result.stderr
    assert "--keep-id keeps them" in result.stderr
    assert "4 features" in " ".join(result.stdout.split())
    kept = run("fit", data, "--target", "y", "--drop", "price", "--keep-id", *FAST)
    assert "5 features" in " ".join(kept.stdout.split())
    tuned = run("tune", data, "--target", "y", "--budget", "40", "--first-trees", "10")
    assert "'sample'" in tuned.stderr


def test_predictions_carry_names_and_intervals(data, price_model):
    result = run("predict", price_model, data, "--interval", "0.8", "--id", "sample", "--id", "y")
    lines = result.stdout.splitlines()
    assert lines[0] == "sample,y,prediction,lower,upper"
    assert lines[1].startswith(("s0,yes,", "s0,no,"))
    values = np.array([line.split(",")[2:] for line in lines[1:]], dtype=float)
    assert len(values) == 60
    assert (values[:, 1] <= values[:, 2]).all()
    forest = bevel.load(price_model)
    frame = np.array([row.split(",")[1:5] for row in ROWS], dtype=float)
    columns = Columns(("batch", "x", "z", "weight"), tuple(frame.T))
    np.testing.assert_allclose(values[:, 1:], forest.predict_interval(columns, 0.8), rtol=1e-9)


def test_interval_that_cannot_be_given_is_refused(data, price_model, tmp_path):
    assert (
        "--proba must be used with a classifier"
        in run("predict", price_model, data, "--proba").stderr
    )
    model = tmp_path / "plain.bevel"
    run("fit", data, "--target", "price", "--drop", "y", "--out", model, *FAST)
    result = run("predict", model, data, "--interval", "0.9")
    assert "Fit it again with --keep-targets" in result.stderr


def test_standard_input_is_read_and_standard_output_written(data, price_model, tmp_path):
    from_file = run("predict", price_model, data).stdout
    assert run("predict", price_model, "-", "--out", "-", input=TEXT).stdout == from_file
    piped = run("fit", "-", "--target", "y", "--out", tmp_path / "m.bevel", *FAST, input=TEXT)
    assert piped.exit_code == 0, piped.output
    assert "standard input" in piped.stdout
    wrong = run("fit", "-", "--target", "q", input=TEXT)
    assert "Standard input has no column 'q'" in wrong.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes there")
def test_a_pipe_is_read_once_and_a_device_is_refused(data, price_model, tmp_path):
    from_file = run("predict", price_model, data).stdout
    os.mkfifo(tmp_path / "rows.csv")
    writer = threading.Thread(target=(tmp_path / "rows.csv").write_text, args=[TEXT], daemon=True)
    writer.start()
    assert run("predict", price_model, tmp_path / "rows.csv").stdout == from_file
    writer.join(10.0)
    assert not writer.is_alive()
    refused = run("predict", price_model, os.devnull)
    assert refused.exit_code == 1
    assert "must be an ordinary file" in " ".join(refused.output.split())
    with pytest.raises(ValueError, match="must be an ordinary file"):
        open_table(tmp_path / "rows.csv")


def test_out_of_bag_predictions_are_written_beside_names_and_targets(data, tmp_path):
    oob = tmp_path / "oob.csv"
    arguments = ("--id", "sample", "--oob", oob, "--json", "--drop", "price", *FAST)
    result = run("fit", data, "--target", "y", *arguments)
    lines = [line.split(",") for line in oob.read_text("utf-8").splitlines()]
    assert lines[0] == ["sample", "y", "prediction", "proba_no", "proba_yes"]
    known = [line for line in lines[1:] if line[2]]
    wrong = np.mean([line[1] != line[2] for line in known])
    assert wrong == pytest.approx(json.loads(result.stdout)["scores"]["error"]["value"])


def test_command_of_a_report_repeats_all_options(data, tmp_path):
    pytest.importorskip("matplotlib")
    report = tmp_path / "r.html"
    options = ["--density", "2", "--d", "3", "--max-depth", "4", "--id", "sample", "--keep-id"]
    options += ["--types", "batch=nominal", "--missing", "none", "--decimal", "."]
    run("fit", data, "--target", "y", *options, "--report", report, *FAST)
    page = report.read_text("utf-8")
    for words in ("--density 2 --d 3 --max-depth 4", "--id sample --keep-id", "--decimal ."):
        assert words in page
    assert "--missing none --types batch=nominal" in page


def test_words_of_table_options_say_the_same():
    table = {"header": False, "delimiter": ";", "missing": ["a", "b"], "types": {"x y": "date"}}
    expected = ["--no-header", "--delimiter", ";", "--missing", "a", "--missing", "b"]
    expected += ["--types", "x y=date"]
    assert shlex.split(str(Command("fit", [], table)))[2:] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'Pass `decimal=","` or `types={\'a b\': "dmy"}`.',
            "Pass --decimal , or --types 'a b=dmy'.",
        ),
        ("`types={'when': \"mdy\"}`", "--types when=mdy"),
        ("`keep_id` and `row_id`", "--keep-id and --id"),
        ("`header=False`", "--no-header"),
    ],
)
def test_parameters_in_messages_become_flags(text, expected):
    assert as_flags(text) == expected


def test_terminal_without_our_characters_gets_plain_ones(monkeypatch):
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="cp1252", write_through=True)
    write_any_text(stream)
    print("λp ≤ −0.5 │ R² ü \u4e2d", file=stream)
    assert written.getvalue().decode("cp1252").rstrip() == "lambdap <= -0.5 | R² ü \\u4e2d"
    monkeypatch.setattr("sys.stdout", stream)
    written.truncate(0)
    written.seek(0)
    output.print_json({"name": "−\u4e2d"})
    assert json.loads(written.getvalue().decode("cp1252")) == {"name": "−\u4e2d"}
    written.truncate(0)
    written.seek(0)
    output.print_data("−1,\u4e2d")
    assert written.getvalue().decode("cp1252").rstrip() == "\\u22121,\\u4e2d"
