"""``bevel lab list`` and ``bevel lab run``: what they print, and how they refuse."""

import json
from dataclasses import replace

import pytest
from lab_support.trial import TRIAL
from lab_support.trial import load as load_rows
from support.command_line import invoke

from bevel.cli.app import app
from bevel_lab.cells import FAILED, Cell, Result
from bevel_lab.cli.app import duration, problem_lines
from bevel_lab.protocols import PROTOCOLS
from bevel_lab.protocols.base import FOLDER
from bevel_lab.running import runner
from bevel_lab.running.store import ResultStore


class InThisProcess:
    """Cells without worker processes, which take seconds to start."""

    def __init__(self, runner, n_workers, n_jobs, timeout=None):  # noqa: ARG002
        self.runner, self.n_jobs = runner, n_jobs

    def results(self, cells):
        for cell in cells:
            yield self.runner.run(cell, self.n_jobs), 0.1


@pytest.fixture(autouse=True)
def trial(monkeypatch):
    monkeypatch.setattr(runner, "WorkerPool", InThisProcess)
    monkeypatch.setitem(PROTOCOLS, "trial", TRIAL)
    monkeypatch.setitem(
        PROTOCOLS, "trial-data", replace(TRIAL, name="trial-data", source=FOLDER, load=load_rows)
    )


def bevel(*words):
    return invoke(app, ["lab", *map(str, words)])


def test_list_names_experiments_and_systems():
    experiments = json.loads(bevel("list", "--json").stdout)
    sources = {each["experiment"]: each["data"] for each in experiments}
    assert sources["trial"] == sources["trunk"] == "simulated"
    assert sources["trial-data"] == "needs --data"
    assert sources["sporf-uci"] == "bundled or --data"
    assert sources["timing"] == "simulated, --data"
    systems = {
        each["system"]: each["what"]
        for each in json.loads(bevel("list", "--systems", "--json").stdout)
    }
    assert "Tuned by out-of-bag error" in systems["sporf"]
    assert "Needs ydf" in systems["ydf-oblique"]
    assert "sporf" in bevel("list", "--systems").stdout


def test_run_prints_a_line_per_system_its_problems_and_the_next_command(tmp_path):
    done = bevel(
        "run", "trial", "--out", tmp_path, "--systems", "trial-mean,trial-raises,trial-absent"
    )
    assert done.exit_code == 0, done.output
    assert "trial-raises: 6 failed (easy, hard): ValueError: This system always" in done.stdout
    assert "12 fits in" in done.stdout
    assert "bevel lab report" in done.stdout
    assert done.stderr.count("no_such_package") == 1
    again = bevel("run", "trial", "--out", tmp_path, "--systems", "trial-mean", "--json")
    assert json.loads(again.stdout)["done_before"] == 6


def test_run_of_which_nothing_came_has_exit_code_1(tmp_path):
    assert bevel("run", "trial", "--out", tmp_path, "--systems", "trial-raises").exit_code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["orthant", "--grid", "wide"], "--grid must be combined, or left out; got 'wide'"),
        (["trunk", "--grid", "combined"], "--grid must be left out: trunk has no other"),
        (["no-such"], "The experiment must be one of"),
        (["trial", "--systems", "sporv"], "Did you mean sporf?"),
        (["trial", "--only", "iris"], "(easy, hard); got 'iris'"),
        (["trial-data"], "Pass --data FOLDER"),
        (["trial", "--data", "/no/such/folder"], "must be a folder"),
        (["trial", "--python", "aeon"], "--python aeon=/path/to/python"),
        (["trunk", "--setting", "10"], "--setting n_features=10,50"),
        (["trunk", "--setting", "n_features=10,11"], "50, 100, 500; got 'n_features=11'"),
        (["trunk", "--setting", "features=10"], "one of n_train, n_features, candidates"),
    ],
)
def test_run_that_cannot_be_is_refused_in_one_line(tmp_path, words, message):
    done = bevel("run", *words, "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_help_says_where_a_default_is_not_the_papers():
    text = " ".join(bevel("run", "--help").stdout.replace("│", " ").split())
    assert "500 for 5000 in blaser-1" in text
    assert "2001 for 5000 in blaser-weights" in text
    assert "100 for 500 in sporf-uci" in text


def test_durations_have_two_units_at_most():
    assert [duration(each) for each in (4.4, 61, 3600 * 2 + 120)] == [
        "4 s",
        "1 min 1 s",
        "2 h 2 min",
    ]


def test_failures_of_one_kind_share_a_line():
    failures = [
        Result(Cell("trial", data, "gp", {}, 0, fold), FAILED, message="Too large.")
        for data in ("a", "b")
        for fold in range(5)
    ]
    assert problem_lines(failures) == ["gp: 10 failed (a, b): Too large."]


def test_folder_that_a_simulation_does_not_use_is_noted(tmp_path):
    done = bevel(
        "run", "trial", "--out", tmp_path / "run", "--data", tmp_path, "--systems", "trial-mean"
    )
    assert done.exit_code == 0, done.output
    assert "trial is a simulation: --data is not used" in done.stderr


def test_what_an_experiment_cannot_do_with_its_folder_is_noted(tmp_path, monkeypatch):
    limited = replace(TRIAL, left_out=lambda _: ["The digits need MNIST."])
    monkeypatch.setitem(PROTOCOLS, "trial", limited)
    done = bevel("run", "trial", "--out", tmp_path, "--systems", "trial-mean")
    assert done.stderr == "Note: Left out: The digits need MNIST.\n"


def test_second_run_in_a_folder_is_turned_away_in_one_line(tmp_path):
    with ResultStore(tmp_path).lock():
        second = bevel("run", "trial", "--out", tmp_path, "--systems", "trial-mean")
    assert second.exit_code == 1
    assert second.stderr == (
        f"Error: Only one run may write to {tmp_path}; another one is writing to it. Wait for it, "
        "stop it, or give another --out.\n"
    )
    assert ResultStore(tmp_path).results() == []


@pytest.mark.parametrize(
    "words", [("--folds", 3), ("--recipe", "sporf"), ("--max-rows", 100)], ids=str
)
def test_options_that_an_experiment_cannot_honour_are_refused(tmp_path, words):
    result = bevel("run", "trunk", "--quick", "--out", tmp_path / "run", *words)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {words[0]} must be left out: trunk ")
    assert ResultStore(tmp_path / "run").describe()["starts"] == []
