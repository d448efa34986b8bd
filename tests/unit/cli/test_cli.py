"""The command line: what it prints, writes and returns, also where an extra is missing."""

import csv
import json
import sys

import pytest
from sklearn.datasets import load_iris
from support.command_line import invoke
from support.model_files import small_models
from support.mutations import seal, split

from bevel import ObliqueForestClassifier
from bevel.cli import main
from bevel.cli.app import app

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def quick_demo(tmp_path_factory):
    """One run of the demo, shared by the tests that read what it left behind."""
    out = tmp_path_factory.mktemp("demo") / "made" / "on_demand"
    arguments = ["demo", "--quick", "--trees", "8", "--jobs", "1", "--seed", "3"]
    return invoke(app, [*arguments, "--out", str(out)]), out


def run_main(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["bevel", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


def test_demo_prints_a_table_that_fits_in_100_columns(quick_demo):
    result, _ = quick_demo
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 100
    assert not any("…" in line for line in lines)
    for name in ("iris", "wine", "trunk"):
        assert any(line.split()[:1] == [name] for line in lines)
    assert "8 trees, 1 thread, seed 3" in result.output


def test_demo_names_the_command_that_makes_its_example_again(quick_demo):
    _, out = quick_demo
    command = "bevel fit breast_cancer.csv --target diagnosis --model forest --trees 8 --seed 3"
    for name in ("report.html", "breast_cancer.html"):
        assert command in (out / name).read_text(encoding="utf-8")


def test_demo_writes_picture_numbers_and_page(quick_demo):
    _, out = quick_demo
    assert {path.name for path in out.iterdir()} == {
        "breast_cancer.bevel",
        "breast_cancer.csv",
        "breast_cancer.html",
        "decision_boundaries.png",
        "results.csv",
        "report.html",
    }
    assert (out / "decision_boundaries.png").read_bytes().startswith(PNG_SIGNATURE)


def test_demo_numbers_are_consistent_with_each_other(quick_demo):
    _, out = quick_demo
    with (out / "results.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["dataset"] for row in rows] == ["iris", "wine", "trunk"]
    assert [int(row["n"]) for row in rows] == [150, 178, 100]
    for row in rows:
        ratio = float(row["fit_seconds_scikit_learn"]) / float(row["fit_seconds_bevel_axis"])
        assert float(row["speed_ratio_bevel_axis"]) == pytest.approx(ratio, rel=0.05)
        for contender in ("bevel", "bevel_axis", "scikit_learn"):
            assert 0 <= float(row[f"error_{contender}"]) <= 0.5


def test_demo_page_stands_alone(quick_demo):
    _, out = quick_demo
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "data:image/png;base64,iVBORw0KGgo" in page
    assert "$" not in page  # every placeholder was filled
    assert "http" not in page  # nothing is fetched
    assert "scikit-learn " in page
    assert 'href="breast_cancer.html"' in page


def test_demo_page_begins_with_sentences_that_follow_its_numbers(quick_demo):
    result, out = quick_demo
    with (out / "results.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    mean = 100 * sum(float(row["error_bevel"]) for row in rows) / len(rows)
    said = f"Bevel, as it is without any settings, has a mean error of {mean:.1f} %"
    page = (out / "report.html").read_text(encoding="utf-8").replace("&nbsp;", " ")
    assert said in page
    assert said in " ".join(result.output.split())
    assert page.index(said) < page.index("<img")


def test_demo_trains_the_default_and_keeps_a_model_that_predicts(quick_demo):
    import bevel

    _, out = quick_demo
    model = bevel.load(out / "breast_cancer.bevel")
    assert model.projection == "auto"
    assert model.n_estimators == 8
    predicted = invoke(
        app, ["predict", str(out / "breast_cancer.bevel"), str(out / "breast_cancer.csv")]
    )
    assert predicted.exit_code == 0, predicted.output
    assert predicted.output.count("malignant") > 150
    page = (out / "breast_cancer.html").read_text(encoding="utf-8")
    assert "The model predicts diagnosis (2 classes)" in page


@pytest.mark.parametrize("option", [("--trees", "0"), ("--jobs", "0"), ("--seed", "-1")])
def test_demo_with_impossible_numbers_is_refused(option):
    assert invoke(app, ["demo", *option]).exit_code == 2


def test_version_is_printed():
    result = invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith("bevel ")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_command_without_the_cli_extra_says_how_to_install_it(monkeypatch, capsys, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert run_main(monkeypatch, "demo") == 1
    assert "python -m pip install 'bevel[cli]'" in capsys.readouterr().err


def test_demo_without_the_plot_extra_says_how_to_install_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "out"
    assert run_main(monkeypatch, "demo", "--out", str(out)) == 1
    assert "python -m pip install 'bevel[plot]'" in capsys.readouterr().err
    assert not out.exists()  # it stops before a minute of work


def test_main_prints_help_for_people_who_ask(monkeypatch, capsys):
    for words in (["--help"], ["-h"], ["fit", "-h"]):
        assert run_main(monkeypatch, *words) == 0
        assert "--help" in capsys.readouterr().out


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model.bevel"
    small_models()["nominal"][0].save(path)
    return path


def test_inspect_prints_what_a_model_file_holds(model_file):
    result = invoke(app, ["inspect", str(model_file), "--verify"])
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["estimator", "ObliqueForestClassifier"] in lines
    assert ["features", "3,", "2", "nominal:", "city,", "floor,", "x"] in lines
    assert ["voting", "'hard'"] in lines
    assert ["checked", "everything"] in lines
    assert any(line[:1] == ["left_leaves"] for line in lines)
    assert max(map(len, result.output.splitlines())) <= 100


def test_inspect_and_json_name_the_families_that_share_the_trees(tmp_path):
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(100, random_state=0, n_jobs=1).fit(X, y)
    path = tmp_path / "auto.bevel"
    forest.save(path)
    lines = invoke(app, ["inspect", str(path)]).output.splitlines()
    for name, error, _, _, n_trees in forest.families_.rows():
        cells = next(line.split() for line in lines if line.split()[:1] == [name])
        assert cells[1] == f"{100 * error:.1f}"
        assert cells[-1] == str(n_trees)
    facts = json.loads(invoke(app, ["inspect", str(path), "--json"]).output)
    assert [each["family"] for each in facts["families"]["families"]] == [*forest.families_.names]


def test_inspect_prints_nothing_that_a_terminal_would_execute(model_file):
    header, data = split(model_file.read_bytes())
    header["bevel"] = header["feature_names"][0] = "\x1b[2Jgone"
    model_file.write_bytes(seal(header, bytes(data)))
    result = invoke(app, ["inspect", str(model_file)])
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert r"\x1b[2Jgone" in result.output
    header["sections"][0]["name"] = "\x1b[2Jgone"
    model_file.write_bytes(seal(header, bytes(data)))
    assert "\x1b" not in invoke(app, ["inspect", str(model_file)]).output


def test_inspect_as_json_is_json(model_file):
    result = invoke(app, ["inspect", str(model_file), "--json"])
    facts = json.loads(result.output)
    forest = small_models()["nominal"][0].forest_
    assert (facts["n_trees"], facts["n_nodes"]) == (forest.n_trees, forest.n_nodes)
    assert facts["bytes"] == model_file.stat().st_size
    assert facts["verified"] is False
    assert facts["parameters"]["scale"] == "standard"
    assert "criterion" not in facts["parameters"]  # at its default


def test_inspect_of_a_damaged_or_missing_file_says_what_is_wrong(model_file):
    model_file.write_bytes(model_file.read_bytes()[:-1])
    for path, message in (
        (model_file, "the length in its header"),
        (model_file.with_name("none"), "No such"),
    ):
        result = invoke(app, ["inspect", str(path)])
        assert result.exit_code == 1
        assert message in result.stderr
        assert result.stdout == ""
