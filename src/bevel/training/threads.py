"""Resolves the number of threads of a call."""

from __future__ import annotations

import multiprocessing
import os
from functools import cache

import joblib

__all__ = ["count_threads"]

MOST_PER_CORE = 4  # more threads than that only cost memory


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
        few = n_jobs <= MOST_PER_CORE  # allowed on any machine
        return int(n_jobs if few else min(n_jobs, MOST_PER_CORE * _allowed_cores()))
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
