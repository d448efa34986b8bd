"""Workers that die, and fits that are interrupted."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from support.dask_problems import file_of, gather_few_rows, numbers

import bevel
from bevel import ObliqueForestClassifier
from bevel.dask import DaskObliqueForestClassifier

da = pytest.importorskip("dask.array", reason="needs bevel[dask]")


def kill_one(client) -> None:
    """Kill the process of a worker; its nanny starts another one."""
    pids = client.run(os.getpid)
    os.kill(min(pids.values()), signal.SIGKILL)


def test_worker_that_is_killed_changes_nothing(client, tmp_path):
    X, labels, _ = numbers()
    settings = {"n_estimators": 60, "random_state": 2}
    killed = []

    def kill_once(n_done, _):
        if n_done > 5 and not killed:
            killed.append(n_done)
            kill_one(client)

    rows, classes = da.from_array(X, chunks=90), da.from_array(labels, chunks=90)
    grown = DaskObliqueForestClassifier(**settings, client=client, callback=kill_once)
    grown.fit(rows, classes)
    grown.callback = None
    assert killed
    local = ObliqueForestClassifier(**settings).fit(X, labels)
    assert file_of(grown, tmp_path) == file_of(local, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["replicated", "sharded"])
@pytest.mark.parametrize("number", range(10))
def test_worker_that_is_killed_at_any_moment_changes_nothing(
    number, mode, client, tmp_path, monkeypatch
):
    gather_few_rows(monkeypatch, 1000)  # else small tables would have no upper levels
    X, labels, _ = numbers(5_000)
    settings = {"n_estimators": 60, "random_state": number, "projection": "sparse"}
    rows, classes = da.from_array(X, chunks=800), da.from_array(labels, chunks=800)
    grown = DaskObliqueForestClassifier(**settings, client=client, mode=mode)
    started = time.monotonic()
    grown.fit(rows, classes)
    seconds = time.monotonic() - started
    delay = np.random.default_rng(number).uniform(0.0, seconds)
    timer = threading.Timer(delay, kill_one, [client])
    timer.start()
    expected = file_of(grown, tmp_path)
    assert file_of(grown.fit(rows, classes), tmp_path) == expected
    timer.join()
    table = (X, labels) if mode == "replicated" else (bevel.scan(X, target=labels),)
    local = ObliqueForestClassifier(**settings).fit(*table)
    assert file_of(local, tmp_path) == expected


def executing(client) -> list[str]:
    """Keys of Bevel's tasks that a worker is at."""

    def keys(dask_worker):
        return [str(each.key) for each in dask_worker.state.executing]

    return [key for each in client.run(keys).values() for key in each if "bevel" in key]


def test_interrupted_fit_ends_the_tasks_at_hand(client):
    X, labels, _ = numbers(3000)
    rows, classes = da.from_array(X, chunks=900), da.from_array(labels, chunks=900)

    def interrupt():
        deadline = time.monotonic() + 60
        while not any("grow-trees" in key for key in executing(client)):
            if time.monotonic() > deadline:
                return
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    # Minutes of work in each task, if it went on.
    estimator = DaskObliqueForestClassifier(100_000, projection="rotation", client=client)
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(rows, classes)
    thread.join()
    deadline = time.monotonic() + 30
    while executing(client) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not executing(client)
    assert not hasattr(estimator, "_fitted")


def test_cancelled_task_raises(client):
    X, labels, _ = numbers(3000)
    rows, classes = da.from_array(X, chunks=900), da.from_array(labels, chunks=900)

    def cancel_growth(*_):
        growing = [key for key in client.futures if "grow-trees" in str(key)]
        from distributed import Future

        client.cancel([Future(key, client) for key in growing], force=True)

    estimator = DaskObliqueForestClassifier(
        400, projection="rotation", client=client, callback=cancel_growth
    )
    from distributed import CancelledError

    with pytest.raises(CancelledError, match="somebody cancelled it"):
        estimator.fit(rows, classes)
