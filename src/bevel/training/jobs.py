"""Runs independent pieces of Python work side by side, in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sklearn import config_context, get_config

from bevel import _core
from bevel.training.progress import Progress

__all__ = ["run_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_jobs(
    work: Callable[[Job], Result], jobs: Sequence[Job], n_threads: int, progress: Progress
) -> list[Result]:
    """Results of `work` on each job, in the order of the jobs.

    Threads suffice, since learners that are worth waiting for compute outside the interpreter; they
    share the data, and need nothing to be pickled. An error or Ctrl-C cancels the jobs at hand if
    they are Bevel's, and else ends the run once they are done.

    Parameters
    ----------
    work : callable
        Must not depend on the order of the jobs.
    jobs : sequence
        What it is called with.
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
    settings = get_config()  # scikit-learn keeps them for each thread
    cancellation = _core.CancellationToken()  # signals reach the main thread only

    def work_with_settings(job: Job) -> Result:
        with config_context(**settings):
            result: Result = cancellation.run(lambda: work(job))
            return result

    executor = ThreadPoolExecutor(min(n_threads, len(jobs)))
    try:
        with progress:
            for future in [executor.submit(work_with_settings, job) for job in jobs]:
                results.append(future.result())
                progress(len(results))
    except BaseException:
        cancellation.cancel()
        raise
    finally:
        executor.shutdown(cancel_futures=True)
    return results
