"""An experiment for tests of the lab: quick systems, some of which misbehave on purpose.

Imported in worker processes, too: importing it registers everything under names with "trial".
"""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bevel_lab.cells import Cell
from bevel_lab.protocols import PROTOCOLS, Plan, Problem, Protocol
from bevel_lab.systems import SYSTEMS, System, Task

LOG = "BEVEL_TRIAL_LOG"  # a file to which every fit adds a line
DATA = ("easy", "hard")


class NearestMean:
    """Class means with a little noise of the seed, so that the seed shows in the results."""

    def __init__(self, task: Task, pause: float = 0.0) -> None:
        self.task = task
        self.pause = pause

    def fit(self, X: np.ndarray, y: np.ndarray) -> "NearestMean":
        if LOG in os.environ:
            with Path(os.environ[LOG]).open("a") as log:
                log.write(f"{self.task.random_state}\n")
        time.sleep(self.pause)
        noise = np.random.default_rng(self.task.random_state).normal(size=(len(set(y)), X.shape[1]))
        self.means = np.array([X[y == k].mean(axis=0) for k in np.unique(y)]) + 0.3 * noise
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        near = np.exp(-((X[:, None] - self.means) ** 2).sum(axis=2))
        return near / near.sum(axis=1, keepdims=True)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.predict_proba(X).argmax(axis=1)


class Misbehaving(NearestMean):
    """Does what its name says instead of fitting."""

    def __init__(self, task: Task, how: str) -> None:
        super().__init__(task)
        self.how = how

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Misbehaving":
        if self.how == "raises":
            raise ValueError("This system\nalways raises.")
        if self.how == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.how == "hangs":
            time.sleep(600)
        if self.how == "allocates":
            self.block = np.ones(100_000_000 // 8)  # 100 MB
        super().fit(X, y)
        return self


def _misbehaving(name: str) -> System:
    def make(task: Task) -> Misbehaving:
        return Misbehaving(task, name)

    return System(f"trial-{name}", name, "baseline", "For tests.", make)


for system in (
    System("trial-mean", "mean", "baseline", "For tests.", NearestMean),
    System(
        "trial-slow", "slow", "baseline", "For tests.", lambda task: NearestMean(task, pause=0.05)
    ),
    System("trial-absent", "absent", "peer", "For tests.", NearestMean, needs="no_such_package"),
    System("trial-few", "few", "baseline", "For tests.", NearestMean, max_rows=10),
    *map(_misbehaving, ("raises", "crashes", "hangs", "allocates")),
):
    SYSTEMS[system.name] = system


def cells(plan: Plan) -> Iterator[Cell]:
    for data in DATA:
        for repeat in range(plan.repeats or 1):
            for fold in range(plan.folds or 3):
                for name in plan.systems:
                    yield Cell("trial", data, name, {}, repeat, fold, plan.seed)


def load(cell: Cell, plan: Plan) -> Problem:  # noqa: ARG001
    assert cell.system == "", "rows must not depend on the system"
    rng = np.random.default_rng(cell.seed)
    y = rng.integers(3, size=120)
    X = rng.normal(size=(120, 4)) + (2.0 if cell.data == "easy" else 0.5) * y[:, None]
    labels = np.array(["a", "b", "c"])[y]
    return Problem(X[:80], labels[:80], X[80:], labels[80:])


def first_column(estimator: Any, problem: Problem, cell: Cell) -> Mapping[str, float]:  # noqa: ARG001
    """A metric that shows which rows a system was tested on."""
    return {"fingerprint": float(problem.X_test[:, 0].sum())}


TRIAL = Protocol(
    "trial", "No paper.", "An experiment for tests.", ("trial-mean",), cells, load,
    measure=first_column,
)  # fmt: skip
PROTOCOLS["trial"] = TRIAL


def few_trees(cell: Cell, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG001
    if cell.system == "hist-gb":
        return {"max_iter": 5}
    return {"n_trees": 5}


def large_if_easy(cell: Cell, plan: Plan) -> int:  # noqa: ARG001
    return 10**9 if cell.data == "easy" else 100
