"""A system in another interpreter, which makes the same data itself and fits on request.

`Remote` is this side. Run as ``python -m benchmarks.speed.remote``, this file is the worker: it
makes the task's data (the same bits, from the same seeds), fits on request, and replies with
seconds. Needs NumPy and the library in question, nothing else.
"""

import dataclasses
from typing import Any

from benchmarks.remote import RemoteSystem, run_worker
from benchmarks.speed.rows import Work
from benchmarks.speed.systems import Described, make_system
from benchmarks.tasks import Data, make

__all__ = ["Remote", "start_request"]


def start_request(name: str, data: Data, work: Work) -> dict[str, Any]:
    """What the worker must know to make the same system on the same data."""
    return {
        "system": name,
        "task": data.name,
        "n_rows": len(data.X),
        "n_test": len(data.X_test),
        "work": dataclasses.asdict(work),
    }


class Remote(RemoteSystem):
    """A `System` that runs in the interpreter `python`."""

    def __init__(self, python: str, name: str, data: Data, work: Work) -> None:
        super().__init__(python, "benchmarks.speed.remote", name)
        answer = self.start(**start_request(name, data, work))
        self.version: str = answer["version"]
        self.prepare_seconds: float = answer["prepare_seconds"]

    def fit(self) -> float:
        return float(self.request(do="fit")["seconds"])

    def describe(self) -> Described:
        return Described(**self.request(do="describe"))


class Worker:
    """Makes a system at the first request, and then fits and describes it."""

    system: Any = None

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "start":
            data = make(request["task"], request["n_rows"], request["n_test"])
            self.system = make_system(request["system"], data, Work(**request["work"]))
            prepare_seconds = self.system.prepare_seconds
            return {"version": self.system.version, "prepare_seconds": prepare_seconds}
        if request["do"] == "fit":
            return {"seconds": self.system.fit()}
        return dataclasses.asdict(self.system.describe())


if __name__ == "__main__":
    run_worker(Worker().respond)
