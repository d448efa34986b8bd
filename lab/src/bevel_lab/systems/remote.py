"""An estimator in another interpreter, for packages that cannot live beside ours.

This side sends requests to `remote_worker.py`, which runs there. Messages are lines of JSON, each
followed by the arrays it announces, in NumPy's own format. Times are taken by the worker: the
transfer is not part of them.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel_lab.systems.remote_worker import read_message, write_message

__all__ = ["RemoteEstimator", "has_package"]

WORKER = Path(__file__).with_name("remote_worker.py")


def has_package(python: str, package: str) -> bool:
    """Whether an interpreter can import a package; False when there is no such interpreter."""
    try:
        done = subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


class RemoteEstimator:
    """An estimator that lives in the interpreter `python`."""

    def __init__(self, python: str, module: str, name: str, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self.fit_seconds_ = self.predict_seconds_ = float("nan")
        self.process = subprocess.Popen(
            [python, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._ask({"do": "make", "module": module, "name": name, "parameters": dict(parameters)})

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "RemoteEstimator":
        """Send the rows and wait."""
        answer, _ = self._ask({"do": "fit"}, [X, y])
        self.fit_seconds_ = answer["seconds"]
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Labels or values that the worker predicts."""
        answer, arrays = self._ask({"do": "predict"}, [X])
        self.predict_seconds_ = answer["seconds"]
        return arrays[0]

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Class probabilities that the worker predicts."""
        return self._ask({"do": "predict_proba"}, [X])[1][0]

    def close(self) -> None:
        """End the other interpreter."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()

    def __del__(self) -> None:
        if hasattr(self, "process"):
            self.close()

    def _ask(
        self, request: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()
    ) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        try:
            write_message(self.process.stdin, request, arrays)
            answered = read_message(self.process.stdout)
        except BrokenPipeError:
            answered = None
        if answered is None:
            raise RuntimeError(f"{self.name}: its interpreter ended before it answered.")
        answer, results = answered
        if "error" in answer:
            raise RuntimeError(f"{self.name} in its own interpreter: {answer['error']}")
        return answer, results
