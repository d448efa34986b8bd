"""A peer that predicts in another interpreter (see `benchmarks.remote`), on rows it makes itself.

Run as ``python -m benchmarks.predict.remote``, this file is the worker.
"""

from typing import Any

import numpy as np

from benchmarks.predict.systems import (
    PredictionSystem,
    batch_seconds,
    make_prediction_system,
    one_seconds,
)
from benchmarks.remote import RemoteSystem, run_worker
from benchmarks.speed.remote import start_request
from benchmarks.speed.rows import Work
from benchmarks.tasks import Data, make

__all__ = ["Remote"]


class Remote(RemoteSystem):
    """Measures in the interpreter that has the library."""

    def __init__(self, python: str, name: str, data: Data, work: Work) -> None:
        super().__init__(python, "benchmarks.predict.remote", name)
        self.version: str = self.start(**start_request(name, data, work))["version"]

    def batch(self, n_threads: int) -> float:
        return float(self.request(do="batch", n_threads=n_threads)["seconds"])

    def one(self, n_threads: int) -> float:
        return float(self.request(do="one", n_threads=n_threads)["seconds"])

    def visits(self, _X: np.ndarray) -> float:
        return float("nan")


class Worker:
    """Grows a forest on the request to start, and then measures its predictions."""

    data: Data
    side: PredictionSystem

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "start":
            self.data = make(request["task"], request["n_rows"], request["n_test"])
            self.side = make_prediction_system(
                request["system"], self.data, Work(**request["work"])
            )
            return {"version": self.side.version}
        measure = batch_seconds if request["do"] == "batch" else one_seconds
        return {"seconds": measure(self.side, self.data.X_test, request["n_threads"])}


if __name__ == "__main__":
    run_worker(Worker().respond)
