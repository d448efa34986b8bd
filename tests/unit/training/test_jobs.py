"""`bevel.training.threads`: pieces of work side by side."""

from __future__ import annotations

import threading
import time

import pytest
from sklearn import config_context, get_config

from bevel.training.progress import Progress
from bevel.training.threads import run_jobs


def quiet() -> Progress:
    return Progress(0, 1, False, None)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_are_in_the_order_of_the_jobs(n_threads):
    def work(job: int) -> int:
        time.sleep(0.02 if job == 0 else 0.0)
        return job * job

    assert run_jobs(work, range(5), n_threads, quiet()) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_progress_counts_jobs(n_threads):
    seen = []
    progress = Progress(0, 3, False, lambda *counts: seen.append(counts))
    run_jobs(str, range(3), n_threads, progress)
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_error_ends_the_run_before_jobs_that_wait(n_threads):
    begun = []

    def work(job: int) -> None:
        begun.append(job)
        time.sleep(0.01)
        if job == 0:
            raise KeyError("first")

    with pytest.raises(KeyError, match="first"):
        run_jobs(work, range(200), n_threads, quiet())
    assert len(begun) < 100


def test_threads_have_the_settings_of_scikit_learn():
    with config_context(assume_finite=True):
        found = run_jobs(lambda _: get_config()["assume_finite"], range(4), 2, quiet())
    assert found == [True] * 4


def test_one_job_runs_in_the_calling_thread():
    assert run_jobs(lambda _: threading.current_thread(), [0], 4, quiet()) == [
        threading.current_thread()
    ]


def test_error_interrupts_jobs_that_run_python_code():
    begun, ended = threading.Event(), threading.Event()

    def work(job: int) -> None:
        if job == 0:
            begun.wait()
            raise KeyError("first")
        begun.set()
        try:
            while True:  # for ever, unless it is interrupted
                time.sleep(0.001)
        finally:
            ended.set()

    with pytest.raises(KeyError, match="first"):
        run_jobs(work, range(2), 2, quiet())
    assert ended.is_set()
