"""The number of threads of a call, and independent Python jobs that run in threads."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import get_ident
from typing import TypeVar

import joblib
from sklearn import config_context, get_config

from bevel import _core
from bevel.training.progress import Progress

__all__ = [
    "count_threads",
    "run_jobs",
]

MAX_PER_CORE = 4  # more threads than that only cost memory


def count_threads(n_jobs: int | None) -> int:
    """Resolve `n_jobs` into a number of threads.

    It is an upper limit: no call starts more threads than it has trees, rows or blocks of work.

    Parameters
    ----------
    n_jobs : int or None
        Positive numbers are limited to four threads for each core. None and -1 stand for all cores
        this process may use, -2 for all but one and so on. A daemonic worker process counts as one
        core, and `OMP_NUM_THREADS`, which joblib sets in its workers, limits the number, so
        that workers do not oversubscribe them.
    """
    if n_jobs is not None and n_jobs > 0:
        few = n_jobs <= MAX_PER_CORE  # allowed on any machine
        return int(n_jobs if few else min(n_jobs, MAX_PER_CORE * _allowed_cores()))
    if n_jobs == 0:
        raise ValueError(
            "n_jobs must be None, a positive number of threads, or a negative one counted back "
            "from all cores; got 0. Use None for all cores."
        )
    return max(1, _usable_cores() + 1 + (-1 if n_jobs is None else int(n_jobs)))


def _usable_cores() -> int:
    if multiprocessing.current_process().daemon:
        return 1
    cores = _allowed_cores()
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores


def _allowed_cores() -> int:
    """Cores that the process is bound to, within the quota of its container."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return _count_cores(bound)


@cache  # joblib reads files, which takes longer than many predictions
def _count_cores(bound: int | None) -> int:  # noqa: ARG001  bound: counted again when it changes
    return int(joblib.cpu_count())


SECONDS_BETWEEN_INTERRUPTS, SECONDS_BETWEEN_LOOKS = 1.0, 0.01

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_jobs(
    work: Callable[[Job], Result], jobs: Sequence[Job], n_threads: int, progress: Progress
) -> list[Result]:
    """Results of `work` on each job, in the order of the jobs.

    Threads suffice, since most of the time of a learner is spent outside the interpreter; they
    share the data, and need nothing to be pickled. An error or Ctrl-C ends the running jobs:
    Bevel's own are cancelled, and the threads of other learners raise KeyboardInterrupt as soon as
    they run Python again.

    Parameters
    ----------
    work : callable
        Function that must not depend on the order of the jobs.
    jobs : sequence
        Arguments of the calls.
    n_threads : int
        Jobs that run at a time; with 1, they run in the calling thread.
    progress : Progress
        Called with the number of jobs done.
    """
    with progress:
        return _run(work, jobs, n_threads, progress)


def _run(
    work: Callable[[Job], Result], jobs: Sequence[Job], n_threads: int, progress: Progress
) -> list[Result]:
    results = []
    if n_threads == 1 or len(jobs) == 1:
        with progress:
            for job in jobs:
                results.append(work(job))
                progress(len(results))
        return results
    settings = get_config()  # scikit-learn keeps its settings for each thread
    cancellation = _core.CancellationToken()  # signals reach the main thread only

    threads: set[int] = set()  # ids of the threads at work

    def work_with_settings(job: Job) -> Result:
        threads.add(get_ident())
        try:
            with config_context(**settings):
                result: Result = cancellation.run(lambda: work(job))
                return result
        finally:
            threads.discard(get_ident())

    executor = ThreadPoolExecutor(min(n_threads, len(jobs)))
    try:
        with progress:
            for future in [executor.submit(work_with_settings, job) for job in jobs]:
                results.append(future.result())
                progress(len(results))
    except BaseException:
        cancellation.cancel()
        executor.shutdown(wait=False, cancel_futures=True)
        _interrupt(threads)
        raise
    finally:
        executor.shutdown(cancel_futures=True)
    return results


def _interrupt(threads: set[int]) -> None:
    """Raise KeyboardInterrupt in threads until they have left their jobs.

    A thread that computes outside the interpreter raises it on its return.
    """
    raised = 0.0
    while threads:
        if time.monotonic() - raised > SECONDS_BETWEEN_INTERRUPTS:
            raised = time.monotonic()
            for thread in tuple(threads):
                if not ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
                ):
                    threads.discard(thread)  # the thread has ended
        time.sleep(SECONDS_BETWEEN_LOOKS)
