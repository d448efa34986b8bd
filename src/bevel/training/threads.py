"""How many threads a call may use."""

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
        A positive number is taken as it is, up to four threads for each core. None is all cores
        this process may use, -1 too, -2 all but one and so on, where in a daemonic worker process
        there is one core, and `OMP_NUM_THREADS`, which joblib sets in its workers, limits their
        number: workers do not oversubscribe the cores.
    """
    if n_jobs is not None and n_jobs > 0:
        few = n_jobs <= MOST_PER_CORE  # on any machine
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


@cache  # joblib reads files, which takes longer than many a prediction
def _count_cores(bound: int | None) -> int:  # noqa: ARG001  bound: counted again when it changes
    return int(joblib.cpu_count())
