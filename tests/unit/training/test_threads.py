"""`bevel.training.threads`: how many threads a call may use."""

from __future__ import annotations

import multiprocessing

import pytest

from bevel.training import threads
from bevel.training.threads import count_threads


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(threads, "_allowed_cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 8), (-1, 8), (-2, 7), (-20, 1), (1, 1), (3, 3), (16, 16)]
)
def test_n_jobs_counts_from_the_cores_of_the_process(n_jobs, expected):
    assert count_threads(n_jobs) == expected


@pytest.mark.parametrize(
    ("limit", "expected"), [("2", 2), ("64", 8), ("4,2", 4), ("", 8), ("x", 8)]
)
def test_omp_num_threads_limits_the_default(monkeypatch, limit, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert count_threads(None) == expected
    assert count_threads(5) == 5


def test_daemonic_worker_uses_one_thread(monkeypatch):
    monkeypatch.setattr(multiprocessing.current_process(), "_config", {"daemon": True})
    assert count_threads(None) == 1


@pytest.mark.parametrize("n_jobs", [33, 20_000, 2**31 - 1, 2**40])
def test_huge_n_jobs_takes_four_threads_for_each_core(n_jobs):
    assert count_threads(n_jobs) == 32


def test_cores_are_those_that_joblib_counts(monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads.joblib, "cpu_count", lambda: 3)
    threads._count_cores.cache_clear()
    assert count_threads(None) == 3
    threads._count_cores.cache_clear()


def test_zero_threads_raises():
    with pytest.raises(ValueError, match=r"n_jobs must be None, a positive number.*got 0"):
        count_threads(0)
