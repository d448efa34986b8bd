"""A run can be stopped anyhow and taken up again; it outlives its cells, and gives the same results
however many processes share them."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from lab_support.trial import LOG, TRIAL, few_trees, large_if_easy

from bevel_lab.cells import Cell
from bevel_lab.protocols import PROTOCOLS, Plan
from bevel_lab.running import runner
from bevel_lab.running.remaining import RemainingTime
from bevel_lab.running.store import ResultStore
from bevel_lab.running.worker_pool import WorkerPool

TESTS = Path(__file__).parents[1]
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals")


def run(folder, systems=("trial-mean",), protocol=TRIAL, jobs=1, **options):
    plan = {name: options.pop(name) for name in ("folds", "repeats", "only") if name in options}
    store = ResultStore(folder)
    return runner.run(protocol, Plan(systems, **plan), store, jobs=jobs, **options), store


def scores(store):
    return {each.cell.key: dict(each.metrics) for each in store.results()}


class PoolOfNone:
    """Runs cells in this process, which is quicker to start."""

    def __init__(self, runner, n_workers, n_jobs, timeout=None):
        self.runner, self.n_workers, self.n_jobs, self.timeout = (
            runner,
            n_workers,
            n_jobs,
            timeout,
        )

    def results(self, cells):
        for cell in cells:
            yield self.runner.run(cell, self.n_jobs), 1.0


@pytest.fixture
def without_processes(monkeypatch):
    monkeypatch.setattr(runner, "WorkerPool", PoolOfNone)


def test_parallel_run_gives_the_results_of_a_serial_one_bit_for_bit(tmp_path, monkeypatch):
    systems = ("trial-mean", "sporf", "sklearn-rf", "hist-gb")
    protocol = replace(TRIAL, parameters=few_trees)
    _, parallel = run(tmp_path / "2", systems, protocol, folds=2, jobs=2)
    monkeypatch.setattr(runner, "WorkerPool", PoolOfNone)
    _, serial = run(tmp_path / "1", systems, protocol, folds=2)
    assert len(scores(serial)) == 2 * 2 * 4
    assert scores(serial) == scores(parallel)
    assert [each.n_jobs for each in parallel.results()] == [1] * 16


@pytest.mark.usefixtures("without_processes")
def test_large_problems_come_last_and_get_the_threads_inside(tmp_path):
    steps = []
    protocol = replace(TRIAL, size=large_if_easy)
    _, store = run(tmp_path, protocol=protocol, jobs=2, folds=2, progress=steps.append)
    order = [(each.cell.data, each.n_jobs) for each in store.results()]
    assert order == [("hard", 1)] * 2 + [("easy", 2)] * 2
    assert [step.n_done for step in steps] == [1, 2, 3, 4]
    assert steps[0].seconds_left > steps[-1].seconds_left == pytest.approx(0.0, abs=1e-6)


@pytest.mark.usefixtures("without_processes")
def test_study_of_time_never_runs_two_cells_at_once(tmp_path):
    _, store = run(tmp_path, protocol=replace(TRIAL, one_at_a_time=True), jobs=2, folds=1)
    assert [each.n_jobs for each in store.results()] == [2, 2]


def test_misbehaving_cells_are_recorded_and_do_not_stop_the_run(tmp_path):
    systems = ("trial-raises", "trial-crashes", "trial-hangs", "trial-absent", "trial-mean")
    outcome, store = run(tmp_path, systems, folds=1, only=("easy",), timeout=2.0)
    messages = {each.cell.system: each.message for each in outcome.problems}
    assert "always raises" in messages["trial-raises"]
    assert "SIGSEGV" in messages["trial-crashes"]
    assert "time limit of 2 s" in messages["trial-hangs"]
    assert outcome.counts == {"ok": 1, "failed": 3, "skipped": 0}
    assert list(outcome.absent) == ["trial-absent"]
    assert "no_such_package, which is not installed" in outcome.absent["trial-absent"]
    assert [each.cell.system for each in store.results() if each.status == "ok"] == ["trial-mean"]
    assert store.describe()["absent"] == outcome.absent


def test_time_limit_does_not_count_a_pause_of_the_whole_machine(monkeypatch):
    clock = iter([0.0, 100.5])
    monkeypatch.setattr("bevel_lab.running.worker_pool.wait", lambda *_: [])
    monkeypatch.setattr("bevel_lab.running.worker_pool.time.monotonic", lambda: next(clock))
    pool = WorkerPool(None, 1, 1, timeout=10.0)
    worker = SimpleNamespace(connection=None, is_busy=True, excused=0.0)
    worker.extend_limit = lambda seconds: setattr(worker, "excused", seconds)
    pool._workers = [worker]
    pool._wait()
    assert worker.excused == pytest.approx(100.0)


@pytest.mark.usefixtures("without_processes")
def test_second_run_does_only_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    run(tmp_path / "run", folds=2, only=("easy",))
    outcome, store = run(tmp_path / "run", ("trial-mean", "trial-raises"), folds=2, only=("easy",))
    assert (outcome.n_cells, outcome.n_before) == (4, 2)
    assert outcome.counts == {"ok": 0, "failed": 2, "skipped": 0}
    assert len((tmp_path / "log").read_text().split()) == 2
    again, _ = run(tmp_path / "run", ("trial-raises",), folds=2, only=("easy",), retry=True)
    assert again.counts["failed"] == 2
    assert store.describe()["starts"][0]["systems"] == ["trial-mean"]


def test_run_with_other_rules_is_refused_and_nothing_changes(tmp_path):
    store = ResultStore(tmp_path)
    store.begin(runner._description(TRIAL, Plan((), folds=3), 1, {}))
    with pytest.raises(ValueError, match=r"begun with \(folds 3\); got folds 5"):
        run(tmp_path, folds=5)
    assert store.results() == []


def test_run_beside_another_one_is_refused_and_nothing_changes(tmp_path):
    store = ResultStore(tmp_path)
    with store.lock(), pytest.raises(BlockingIOError, match="Only one run may write"):
        run(tmp_path)
    assert store.describe()["starts"] == []


def test_unknown_data_set_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(ValueError, match=r"\(easy, hard\); got 'medium'"):
        run(tmp_path, only=("medium",))


def test_settings_that_are_not_asked_for_are_left_out():
    protocol = PROTOCOLS["transforms"]
    asked = {"n_features": ("10", "40"), "transform": ("raw",), "scaling": ("None", "rank")}
    plan = Plan(("random-forest", "forest-rc", "rr-rf"), settings=asked, repeats=1)
    cells = runner._cells(protocol, plan)
    kept = [(cell.data, cell.system, *cell.setting.values()) for cell in cells]
    scalings = (("random-forest", None), ("forest-rc", None), ("rr-rf", None), ("rr-rf", "rank"))
    cases = (("sparse-parity", 10), ("sparse-parity", 40), ("trunk", 10))
    assert kept == [
        (data, system, "raw", p, scaling) for data, p in cases for system, scaling in scalings
    ]


def test_description_has_versions_machine_and_command():
    described = runner._description(TRIAL, Plan(("sporf",)), 2, {})
    assert {"python", "bevel", "numpy", "scikit-learn"} <= set(described["versions"])
    assert described["machine"]["cores"] >= 1
    assert described["labels"] == {"sporf": "SPORF"}
    assert json.loads(json.dumps(described)) == described


def test_remaining_time_weighs_systems_and_sizes():
    cells = [Cell("t", "d", name, {}, 0, fold) for fold in range(4) for name in ("fast", "slow")]
    remaining = RemainingTime(cells, lambda _: 1.0)
    remaining.finished(cells[0], 1.0)
    assert remaining.seconds() == pytest.approx(7.0)  # nothing is known of the slow one
    remaining.finished(cells[1], 10.0)
    assert remaining.seconds() == pytest.approx(33.0)


def test_remaining_time_is_right_where_cells_of_a_kind_cost_the_same():
    seconds = {("small", 10): 1.0, ("small", 500): 7.0, ("large", 10): 30.0, ("large", 500): 400.0}
    cells = [
        Cell("t", data, "rf", {"trees": trees}, repeat)
        for repeat in range(5)
        for data, trees in seconds
    ]
    remaining = RemainingTime(cells, lambda _: 1.0)
    for number, cell in enumerate(cells, 1):
        remaining.finished(cell, seconds[cell.data, cell.setting["trees"]])
        if number >= len(seconds):
            left = sum(seconds[each.data, each.setting["trees"]] for each in cells[number:])
            assert remaining.seconds() == pytest.approx(left)


def test_remaining_time_of_other_kinds_is_in_proportion_to_their_cost():
    cells = [Cell("t", str(size), "rf") for size in (1, 2, 50)]
    remaining = RemainingTime(cells, lambda cell: int(cell.data))
    assert math.isnan(remaining.seconds())
    remaining.finished(cells[0], 3.0)
    assert remaining.seconds() == pytest.approx(3.0 * 52)
    remaining.finished(cells[1], 9.0)
    assert remaining.seconds() == pytest.approx(4.0 * 50)


@pytest.mark.parametrize(("setting", "ratio"), [({"n_trees": 100}, 10.0), ({}, 1.0)])
def test_cost_of_a_cell_rises_with_its_trees_and_rows(tmp_path, setting, ratio):
    def trees(cell, plan):  # noqa: ARG001
        return {"n_trees": 10} if cell.fold == 0 else setting or {"n_trees": 10}

    protocol = replace(TRIAL, parameters=trees, size=lambda cell, _: 10**5 * (1 + cell.repeat))
    made = runner.CellRunner(protocol, Plan(("sporf",)), tmp_path, False, {})
    few, many, larger = (
        runner._cost(made, Cell("trial", "easy", "sporf", {}, *place))
        for place in ((0, 0), (0, 1), (1, 0))
    )
    assert many == pytest.approx(ratio * few)
    assert 1.8 * few < larger < 2.2 * few


def test_data_sets_are_found_by_a_word_of_their_name():
    names = ("simulated twonorm", "conn_bench-sonar-mines-rocks", "wine", "wine_quality-red")
    assert runner._full("twonorm", names) == "simulated twonorm"
    assert runner._full("Sonar", names) == "conn_bench-sonar-mines-rocks"
    assert runner._full("wine", names) == "wine"
    assert runner._full("WINE", names) == "wine"
    assert runner._full("rocks mines", names) == "conn_bench-sonar-mines-rocks"
    assert runner._full("norm", names) == "norm"  # no word: refused as it is
    with pytest.raises(ValueError, match=r"wine_quality-red, wine_quality-white have this in"):
        runner._full("quality", ("wine_quality-red", "wine_quality-white"))


@pytest.mark.parametrize(
    ("name", "only", "full"),
    [
        ("menze-40", "twonorm", "simulated twonorm"),
        ("sporf-uci", "breast", "breast_cancer-wisconsin-diag"),
        ("restricted-budget", "parity", "sparse-parity"),
        ("transforms", "parity", "sparse-parity"),
    ],
)
def test_experiments_take_a_word_of_a_name(name, only, full):
    protocol = PROTOCOLS[name]
    plan = runner.with_full_names(protocol, Plan(protocol.default_systems[:1], only=(only,)))
    assert plan.only == (full,)
    assert {cell.data for cell in runner._cells(protocol, plan)} == {full}


# --- runs in processes of their own, stopped from outside ----------------------------------------

N_CELLS = 2 * 2 * 5 * 4
COMMAND = "import lab_support.trial\nfrom bevel.cli import main\nmain()"


def start(folder, log, *options):
    environment = {**os.environ, LOG: str(log), "PYTHONPATH": str(TESTS)}
    words = ["lab", "run", "trial", "--out", str(folder), "--systems", "trial-slow,trial-mean"]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words, "--folds", "5", "--repeats", "4", *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def n_lines(path):
    return len(path.read_text().split()) if path.exists() else 0


@posix
def test_run_killed_then_interrupted_goes_on_where_it_ended(tmp_path):
    """One story rather than three tests: its processes take seconds to start."""
    folder, log = tmp_path / "run", tmp_path / "log"
    killed = start(folder, log, "--jobs", "2")
    wait_for(lambda: n_lines(log) >= 5)
    killed.kill()
    killed.communicate()
    after_kill = scores(ResultStore(folder))
    assert 1 <= len(after_kill) < N_CELLS

    before = n_lines(log)
    stopped = start(folder, log, "--jobs", "1")
    wait_for(lambda: n_lines(log) >= before + 5)
    workers = children(stopped.pid)
    stopped.send_signal(signal.SIGINT)
    _, messages = stopped.communicate(timeout=120)
    assert stopped.returncode == 130
    assert "the same command goes on" in messages
    assert "Traceback" not in messages
    assert still_alive(workers) == []
    after_interrupt = scores(ResultStore(folder))
    assert after_kill.items() <= after_interrupt.items()

    finished = start(folder, log, "--jobs", "1", "--json")
    out, error = finished.communicate(timeout=120)
    assert finished.returncode == 0, error
    printed = json.loads(out)
    assert (printed["cells"], printed["done_before"]) == (N_CELLS, len(after_interrupt))
    final = scores(ResultStore(folder))
    assert len(final) == N_CELLS
    assert after_interrupt.items() <= final.items()
    # When it was stopped, each worker had a cell under way, or one handed in but not stored yet.
    assert N_CELLS <= n_lines(log) <= N_CELLS + 2 + 1


@posix
@pytest.mark.statistics
def test_run_killed_at_many_random_moments_ends_with_every_result_once(tmp_path):
    chance = random.Random(0)
    folder, log = tmp_path / "run", tmp_path / "log"
    seen: dict[str, dict[str, float]] = {}
    n_kills = 10
    for _ in range(n_kills):
        process = start(folder, log, "--jobs", "2")
        time.sleep(chance.uniform(0.0, 6.0))
        process.kill()
        process.communicate()
        now = scores(ResultStore(folder))
        assert seen.items() <= now.items()
        seen = now
    process = start(folder, log, "--jobs", "2")
    _, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    final = scores(ResultStore(folder))
    assert len(final) == N_CELLS
    assert seen.items() <= final.items()
    assert N_CELLS <= n_lines(log) <= N_CELLS + 2 * n_kills


def still_alive(processes, seconds=20.0):
    """Those that have not ended by themselves after a while."""
    deadline = time.monotonic() + seconds
    while processes and time.monotonic() < deadline:
        time.sleep(0.05)
        processes = [pid for pid in processes if Path(f"/proc/{pid}").exists()]
    return processes


def children(pid):
    """Processes started by another one, where /proc lists them."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return path.read_text().split() if path.exists() else []
