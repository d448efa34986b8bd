"""Results are on the disk when append returns, whole or not at all."""

import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from bevel_lab.cells import FAILED, OK, Cell, Result
from bevel_lab.running.store import RESULTS_FILE, ResultStore


def result(fold=0, status=OK, **fields):
    cell = Cell("trial", "easy", "sporf", {"noise_dims": 10}, 0, fold, 7)
    metrics = {"error": 0.25, "auc": math.nan} if status == OK else {}
    return Result(cell, status, metrics=metrics, seconds_fit=1.5, n_train=80, **fields)


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "run")


def test_appended_result_comes_back_as_it_was(store):
    given = result(details={"chosen": {"d": "p**2"}}, message="ä", predictions="x.npz", n_jobs=2)
    store.append(given)
    [back] = ResultStore(store.folder, read_only=True).results()
    assert back.cell == given.cell
    assert math.isnan(back.metrics["auc"])
    assert back.metrics["error"] == 0.25
    assert math.isnan(back.memory_mb)
    assert (back.details, back.message) == (given.details, given.message)
    assert (back.predictions, back.n_jobs, back.n_train) == ("x.npz", 2, 80)


def test_copy_of_the_file_after_append_has_the_result(store, tmp_path):
    store.append(result())
    (tmp_path / "copy").mkdir()
    shutil.copy(store.path, tmp_path / "copy" / RESULTS_FILE)
    assert len(ResultStore(tmp_path / "copy", read_only=True).results()) == 1


def test_second_result_of_a_cell_raises_and_changes_nothing(store):
    store.append(result())
    with pytest.raises(sqlite3.IntegrityError):
        store.append(result(message="again"))
    assert [each.message for each in store.results()] == [""]


def test_result_whose_metrics_cannot_be_stored_leaves_no_half(store):
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON metrics BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(sqlite3.IntegrityError, match="full"):
        store.append(result())
    assert store.done_keys() == set()


def test_frame_is_flat_with_metrics_by_name(store):
    store.append(result())
    [row] = store.frame()
    assert row["error"] == 0.25
    assert row["setting"] == {"noise_dims": 10}
    assert (row["data"], row["experiment_seed"], row["seconds_fit"]) == ("easy", 7, 1.5)


def test_failures_are_done_until_they_are_forgotten(store):
    store.append(result(0))
    store.append(result(1, FAILED))
    assert len(store.done_keys()) == 2
    assert store.delete_failures() == 1
    assert store.done_keys() == {result(0).cell.key}
    store.append(result(1))  # nothing of the failure is left in its way
    assert [row["status"] for row in store.frame()] == [OK, OK]


def test_describe_gives_the_last_start_and_all_of_them(store):
    store.begin({"jobs": 1})
    store.begin({"jobs": 2})
    assert store.describe() == {"jobs": 2, "starts": [{"jobs": 1}, {"jobs": 2}]}


def test_second_run_is_kept_out_of_a_folder_in_use(store):
    with store.lock(), pytest.raises(BlockingIOError, match="Only one run"), store.lock():
        pass
    with store.lock():
        pass


def test_reading_a_folder_without_results_says_what_to_give(tmp_path):
    with pytest.raises(FileNotFoundError, match="bevel lab run"):
        ResultStore(tmp_path, read_only=True)
    assert list(tmp_path.iterdir()) == []


WRITER = """
import sys
from bevel_lab.cells import OK, Cell, Result
from bevel_lab.running.store import ResultStore
store = ResultStore(sys.argv[1])
for fold in range(100_000):
    store.append(Result(Cell("trial", "easy", "sporf", {}, 0, fold), OK, metrics={"error": 0.5}))
    print(fold, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_results_survive_a_killed_writer(tmp_path):
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    said = 20 + len(writer.stdout.read().split())
    writer.wait()
    writer.stdout.close()
    results = ResultStore(tmp_path).results()
    assert said <= len(results) <= said + 1
    assert all(each.metrics == {"error": 0.5} for each in results)
