"""Runs independent pieces of Python work side by side, in threads."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from typing import TypeVar

from sklearn import config_context, get_config

from bevel import _core
from bevel.training.progress import Progress

__all__ = ["run_jobs"]

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
