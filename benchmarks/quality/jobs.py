"""The fits of a run: what one is, how it is done, how many are left."""

import multiprocessing
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.quality.data import DataSet, split
from benchmarks.quality.systems import predict

__all__ = ["FIELDS", "KEY", "Job", "Progress", "note", "results"]

KEY = ("dataset", "repeat", "fold", "system", "build", "trees", "folds")
FIELDS = (*KEY, "n", "p", "n_test", "errors", "seconds")


@dataclass(frozen=True)
class Job:
    """One fit: a fold of a data set, a system."""

    data_set: DataSet
    repeat: int
    fold: int
    system: str
    build: str
    trees: int
    folds: int

    @property
    def key(self) -> tuple[str, ...]:
        parts = (self.data_set.name, self.repeat, self.fold, self.system, self.build)
        return tuple(map(str, (*parts, self.trees, self.folds)))


def results(jobs: list[Job], n_jobs: int, threads: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    if n_jobs == 1:
        for job in jobs:
            yield job, execute(job, threads)
        return
    context = multiprocessing.get_context("spawn")  # thread pools do not survive a fork
    with ProcessPoolExecutor(n_jobs, mp_context=context) as pool:
        waiting = {pool.submit(execute, job, threads): job for job in jobs}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def execute(job: Job, threads: int) -> dict[str, Any]:
    """Fit and predict one fold; the fields of its CSV line."""
    fold = split(job.data_set, job.folds, job.repeat, job.fold)
    start = time.perf_counter()
    predicted = predict(job.system, fold, job.trees, threads)
    seconds = time.perf_counter() - start
    return {
        **dict(zip(KEY, job.key, strict=True)),
        "n": job.data_set.n_rows,
        "p": fold.X_train.shape[1],
        "n_test": len(fold.y_test),
        "errors": int(np.sum(np.asarray(predicted) != fold.y_test)),
        "seconds": round(seconds, 4),
    }


class Progress:
    """A line on stderr now and then: how far, and how long still."""

    def __init__(self, jobs: list[Job]) -> None:
        self.cost = {job.key: job.data_set.size for job in jobs}
        self.total = sum(self.cost.values())
        self.n_jobs = len(jobs)
        self.spent = self.n_done = 0
        self.start = self.last = time.monotonic()

    def step(self, job: Job) -> None:
        self.n_done += 1
        self.spent += self.cost[job.key]
        now = time.monotonic()
        if now - self.last < 5 and self.n_done < self.n_jobs:
            return
        self.last = now
        left = (now - self.start) * (self.total - self.spent) / max(self.spent, 1)
        note(
            f"{self.n_done}/{self.n_jobs} fits, {self.spent / self.total:.0%} of the cells, "
            f"about {left / 60:.1f} min left ({job.data_set.name}, {job.system})"
        )


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
