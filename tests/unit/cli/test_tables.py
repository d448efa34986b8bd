"""The commands that learn from files of rows, and what all commands share."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import typer
from support.command_line import run

import bevel
from bevel.cli import error_handling
from bevel.workflow.advice import advise
from bevel.workflow.fitting import Settings, fit
from bevel.workflow.rows import read_labelled_rows
from bevel.workflow.scores import zero_probability_note

FAST = ("--model", "forest", "--trees", "20", "--jobs", "1")
FEW = ("--budget", "60", "--first-trees", "10", "--jobs", "1")  # of `tune`


def write_rows(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


@pytest.fixture
def mixed(tmp_path):
    """Numbers, words, missing values, and a class that both columns tell."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(80):
        label = "yes" if number % 3 else "no"
        x = f"{rng.normal(2.0 * (label == 'yes')):.3f}" if number % 10 else "NA"
        rows.append([x, "a b" if label == "yes" else "c, d", f"{rng.normal():.3f}", label])
    return write_rows(tmp_path / "mixed.csv", ["x", "my city", "noise", "class"], rows)


@pytest.fixture
def slanted(tmp_path):
    """A class that only the sum of two columns tells."""
    X = np.random.default_rng(1).normal(size=(300, 6))
    rows = [[*(f"{value:.4f}" for value in x), "ab"[int(x[0] + x[1] > 0)]] for x in X]
    return write_rows(tmp_path / "slanted.csv", [*"uvwxyz", "label"], rows)


def test_fit_predict_and_load_agree(mixed, tmp_path):
    model, out = tmp_path / "model.bevel", tmp_path / "predictions.csv"
    fitted = run("fit", mixed, "--target", "class", "--out", model, *FAST)
    assert fitted.exit_code == 0, fitted.output
    assert "80 rows, 3 features (2 numeric, 1 nominal)" in fitted.output
    assert "out-of-bag error" in fitted.output
    predicted = run("predict", model, mixed, "--out", out, "--proba")
    assert predicted.exit_code == 0, predicted.output
    with out.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["prediction", "proba_no", "proba_yes"]
    data = read_labelled_rows(mixed, "class")
    assert [row["prediction"] for row in rows] == bevel.load(model).predict(data.X).tolist()
    assert np.mean(np.array([row["prediction"] for row in rows]) == data.y) > 0.95


def test_predictions_go_to_standard_output_and_notes_do_not(mixed, tmp_path):
    model = tmp_path / "model.bevel"
    run("fit", mixed, "--target", "class", "--out", model, *FAST)
    result = run("predict", model, mixed)
    assert result.stdout.splitlines()[0] == "prediction"
    assert len(result.stdout.splitlines()) == 81
    assert result.stderr == "Note: Columns that the model does not use: 'class'.\n"


def test_labels_in_another_spelling_are_noted(mixed, tmp_path):
    model = tmp_path / "model.bevel"
    run("fit", mixed, "--target", "class", "--out", model, *FAST)
    rows = [["1", "A B", "0"], ["1", "a b", "0"], ["1", "", "0"]]
    new = write_rows(tmp_path / "new.csv", ["x", "my city", "noise"], rows)
    result = run("predict", model, new)
    assert result.stderr == "Note: Labels of 'my city' that fit has not seen: 'A B'.\n"


@pytest.mark.parametrize("option", ["--target", "--nominal"])
def test_column_cannot_be_left_out_and_used(mixed, option):
    options = ("--target", "class") if option == "--nominal" else ()
    result = run("fit", mixed, *options, option, "x", "--drop", "x", *FAST)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: --drop must name columns that no other parameter names")
    assert f"got 'x', which {option} names too" in result.stderr


def test_json_of_every_verb_is_one_document(mixed, tmp_path):
    model = tmp_path / "model.bevel"
    fitted = json.loads(
        run("fit", mixed, "--target", "class", "--out", model, "--json", *FAST).stdout
    )
    assert fitted["classes"] == ["no", "yes"]
    assert fitted["nominal"] == ["my city"]
    error = fitted["scores"]["error"]
    assert error["low"] <= error["value"] <= error["high"]
    predicted = json.loads(run("predict", model, mixed, "--json", "--proba").stdout)
    assert len(predicted["predictions"]) == len(predicted["probabilities"]) == 80
    tuned = json.loads(run("tune", mixed, "--target", "class", *FEW, "--json").stdout)
    assert tuned["best"] == tuned["candidates"][0]
    assert tuned["loss"] == "Brier score"


def test_report_holds_every_part_and_stands_alone(mixed, tmp_path):
    report = tmp_path / "report.html"
    result = run("fit", mixed, "--target", "class", "--report", report, *FAST)
    assert result.exit_code == 0, result.output
    html = report.read_text("utf-8")
    for part in ("Confusion matrix", "ROC", "Calibration", "Number of trees"):
        assert part in html
    for part in ("Cohen&#x27;s kappa", "log loss"):
        assert part in html
    for part in ("Going oblique", "my city", "bevel fit", "a b, c, d"):
        assert part in html
    for question in ("Which features", "Which combinations", "How does", "Why these"):
        assert question in html
    # Four of predictions, two of importance, an effect, directions, a tree and a row: the city
    # tells the class and leaves no row in doubt.
    assert "The same combinations, feature by feature." in html
    assert len(re.findall("<svg", html)) == 10
    assert "src=" not in html  # nothing is fetched; the only addresses are names in the drawings
    assert set(re.findall(r'href="([^#"]*)"', html)) <= {""}


def test_report_says_how_many_rows_make_the_log_loss_large(slanted):
    data = read_labelled_rows(slanted, "label")
    codes = np.searchsorted(data.classes, data.y)
    sure = np.eye(2)[codes]
    wrong = sure.copy()
    wrong[:3] = wrong[:3, ::-1]
    text = zero_probability_note(codes, wrong)
    share = f"{3 * 36.04 / len(codes):.2g}"
    expected = f"3 rows whose true class got no vote cost 36 of log loss each, {share} of the mean."
    assert text == expected
    assert zero_probability_note(codes, sure) == ""


def test_fit_prints_how_many_rows_make_the_log_loss_large(tmp_path):
    rng = np.random.default_rng(1)
    lines = [f"{x:.3f},{'ab'[rng.integers(2)]}" for x in rng.normal(size=60)]
    path = tmp_path / "noise.csv"
    path.write_text("\n".join(["x,label", *lines]))
    result = run(
        "fit",
        path,
        "--target",
        "label",
        "--model",
        "forest",
        "--trees",
        "5",
        "--projection",
        "axis",
    )
    assert result.exit_code == 0, result.output
    assert "rows whose true class got no vote cost 36 of log loss each" in " ".join(
        result.output.split()
    )


def test_report_of_a_regression_shows_residuals(tmp_path):
    x = np.random.default_rng(0).normal(size=(80, 2))
    rows = [[f"{a:.3f}", f"{b:.3f}", f"{a - b:.3f}"] for a, b in x]
    data = write_rows(tmp_path / "r.csv", ["a", "b", "y"], rows)
    report = tmp_path / "r.html"
    result = run("fit", data, "--target", "y", "--report", report, *FAST)
    assert result.exit_code == 0, result.output
    html = report.read_text("utf-8")
    assert "Residuals" in html
    assert "unexplained variance" in html
    assert "Confusion" not in html


def test_advice_distinguishes_a_slanted_boundary_from_a_straight_one(slanted):
    settings = Settings(n_trees=100, n_jobs=1)
    data = read_labelled_rows(slanted, "label")
    oblique = advised(data, settings)
    assert oblique.verdict == "helps"
    assert "Going oblique helps" in oblique.sentence()
    noise = np.random.default_rng(0).permutation(data.y)
    noisy = type(data)(data.X, noise, data.task, data.target, ())
    unclear = advised(noisy, settings)
    assert unclear.verdict == "makes no clear difference"


def advised(data, settings):
    fitted = fit(data, settings)
    return advise(data, settings, fitted.model, fitted.out_of_bag)


@pytest.mark.parametrize("projection", ["auto", "axis"])
@pytest.mark.parametrize("is_regression", [False, True])
def test_advice_compares_forests_of_the_same_size_of_nodes_and_criterion(
    tmp_path, monkeypatch, projection, is_regression
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + 5.0 * rng.normal(size=200)
    cells = [f"{v:.3f}" if is_regression else "ab"[int(v > 0)] for v in y]
    rows = [[f"{a:.3f}", f"{b:.3f}", c] for (a, b), c in zip(X, cells, strict=True)]
    data = read_labelled_rows(write_rows(tmp_path / "d.csv", ["a", "b", "y"], rows), "y")
    rivals = []

    def fit_rival(data, settings):
        rivals.append(fit(data, settings))
        return rivals[-1]

    monkeypatch.setattr("bevel.workflow.advice.fit", fit_rival)
    settings = Settings(projection=projection, n_trees=50, n_jobs=1)
    fitted = fit(data, settings)
    model = fitted.model
    advise(data, settings, model, fitted.out_of_bag)
    rival = rivals[0].model
    size = model.families_.min_samples_split if projection == "auto" else 2
    assert rival.min_samples_split == size
    assert (size > 2) == (projection == "auto")
    if not is_regression:
        assert rival.criterion == ("entropy" if projection == "auto" else "gini")


def test_forest_without_out_of_bag_rows_is_scored_by_cross_validation(mixed):
    result = run("fit", mixed, "--target", "class", "--projection", "cca", *FAST)
    assert result.exit_code == 0, result.output
    assert "cross-validated error" in result.output


def test_two_columns_are_enough_and_ten_thousand_not_too_many(tmp_path):
    two = write_rows(tmp_path / "2.csv", ["x", "y"], [[i, "ab"[i > 20]] for i in range(40)])
    result = run("fit", two, "--target", "y", "--report", tmp_path / "2.html", *FAST)
    assert result.exit_code == 0, result.output
    assert "nothing to combine" in (tmp_path / "2.html").read_text("utf-8")
    rng = np.random.default_rng(0)
    rows = [[*rng.integers(0, 10, 10_000).tolist(), "ab"[i % 2]] for i in range(20)]
    wide = write_rows(tmp_path / "w.csv", [*(f"g{i}" for i in range(10_000)), "y"], rows)
    model = tmp_path / "w.bevel"
    result = run("fit", wide, "--target", "y", "--out", model, *FAST)
    assert result.exit_code == 0, result.output
    assert "10,000 features" in result.output
    assert run("predict", model, wide).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "klass"], r"no column 'klass'; its columns are 'x', 'my city'"),
        (["--target", "class", "--drop", "z"], "no column 'z'"),
        (["--target", "class", "--projection", "obliqe"], "projection must be one of"),
        (["--target", "class", "--out", "none/model.bevel"], "folder none does not exist"),
        (["--target", "class", "--task", "regression"], "must hold numbers"),
    ],
)
def test_mistakes_give_an_error_of_one_line(mixed, arguments, message):
    result = run("fit", mixed, *arguments, *FAST)
    assert result.exit_code == 1
    assert re.search(message, result.stderr)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_constant_target_and_absent_file_give_an_error_of_one_line(tmp_path):
    constant = write_rows(tmp_path / "c.csv", ["x", "y"], [[i, "same"] for i in range(9)])
    result = run("fit", constant, "--target", "y")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "got 'same' in all 9 rows" in result.stderr
    result = run("fit", tmp_path / "none.csv", "--target", "y")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "No such file" in result.stderr


def test_debug_shows_where_an_error_came_from(mixed):
    result = run("fit", mixed, "--target", "klass", "--debug")
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)
    assert result.exception.__traceback__ is not None


def test_wrong_usage_has_its_own_exit_code(mixed):
    assert run("fit", mixed).exit_code == 2
    assert run("fit", mixed, "--target", "class", "--trees", "0").exit_code == 2


@pytest.mark.parametrize("verb", ["fit", "tune"])
def test_nothing_is_overwritten_without_force(mixed, tmp_path, verb):
    out = tmp_path / "model.bevel"
    out.write_text("mine")
    trees, option = (FAST, "--out") if verb == "fit" else ((*FEW, "--trees", "5"), "--model")
    result = run(verb, mixed, "--target", "class", option, out, *trees)
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert out.read_text() == "mine"
    assert run(verb, mixed, "--target", "class", option, out, "--force", *trees).exit_code == 0
    bevel.load(out)


def test_demo_does_not_overwrite_its_report(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    result = run("demo", "--quick", "--trees", "5", "--out", tmp_path)
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert (tmp_path / "report.html").read_text() == "mine"


def test_outputs_need_different_names(mixed, tmp_path):
    same = tmp_path / "same"
    result = run("fit", mixed, "--target", "class", "--out", same, "--report", same)
    assert result.exit_code == 1
    assert "name of its own" in result.stderr


def test_proba_of_a_regressor_is_refused(tmp_path):
    data = write_rows(tmp_path / "r.csv", ["x", "y"], [[i, i / 7] for i in range(40)])
    model = tmp_path / "r.bevel"
    assert run("fit", data, "--target", "y", "--out", model, *FAST).exit_code == 0
    result = run("predict", model, data, "--proba")
    assert result.exit_code == 1
    assert "regressor" in result.stderr


def test_tune_refuses_the_name_of_a_model_for_its_parameters(slanted):
    result = run("tune", slanted, "--target", "label", "--out", "best.bevel", *FEW)
    assert result.exit_code == 1
    assert "--model" in result.stderr


def test_help_of_every_verb_has_examples():
    for verb in ("demo", "fit", "predict", "explain", "tune", "inspect", "export"):
        result = run(verb, "--help")
        assert "Examples" in result.output
        assert f"bevel {verb}" in result.output
        assert "--debug" in result.output


def test_unexpected_errors_request_a_report(capsys):
    def broken():
        raise KeyError("what")

    with pytest.raises(typer.Exit) as stop:
        error_handling.handle_errors(broken)()
    assert stop.value.exit_code == 1
    assert "KeyError: 'what'" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
@pytest.mark.parametrize("model", ["forest", "boosting"])
def test_control_c_ends_with_130_and_leaves_no_file(model, tmp_path):
    data = write_rows(tmp_path / "d.csv", ["x", "y"], [[i, i % 2] for i in range(50)])
    command = [sys.executable, "-m", "bevel.cli", "fit", str(data), "--target", "y", "--jobs", "1"]
    with subprocess.Popen(
        [*command, "--model", model, "--trees", "1000000", "--out", str(tmp_path / "m.bevel")],
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            assert "taken for classification" in process.stderr.readline()  # the fit begins
            time.sleep(1.0)  # some trees are grown
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130, said
    # A signal that arrives while a line is printed may leave its line break to be printed again.
    assert said.endswith("Stopped. Files that were written are whole.\n")
    assert list(tmp_path.iterdir()) == [data]


def test_warning_that_comes_again_is_noted_once(capsys):
    with error_handling._warnings_as_notes():
        for _ in range(3):
            with warnings.catch_warnings():  # as libraries do: what was shown is forgotten
                warnings.warn("Rare classes.", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "Note: Rare classes.\n"
