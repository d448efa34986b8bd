"""Another interpreter, and an estimator in it, for packages that cannot be installed beside Bevel.

This side sends requests to `remote_worker.py`, which runs there. Messages are lines of JSON, each
followed by the arrays it announces, in NumPy's own format. Times are taken by the worker: the
transfer is not part of them.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel_lab.systems.remote_worker import read_message, write_message

__all__ = ["RemoteEstimator", "RemoteInterpreter", "has_package"]

WORKER = Path(__file__).with_name("remote_worker.py")


def has_package(python: str, package: str) -> bool:
    """Whether an interpreter can import a package; False when there is no such interpreter."""
    try:
        done = subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


class RemoteInterpreter:
    """The interpreter `python`, running a script or module that calls ``remote_worker.serve``.

    Parameters
    ----------
    python : str
        Path of the interpreter.
    command : sequence of str
        What it runs: a script, or ``-m`` and a module.
    name : str
        What messages call it.
    folder : path, default=None
        Where it runs.
    """

    def __init__(
        self, python: str, command: Sequence[str], name: str, folder: Path | None = None
    ) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, *command],
            cwd=folder,
            env={**os.environ, "BEVEL_REMOTE_WORKER": str(WORKER)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def request(
        self, request: Mapping[str, Any], arrays: Sequence[NDArray[Any]] = ()
    ) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """Send a request and wait for the reply; what goes wrong there is raised here."""
        try:
            write_message(self.process.stdin, dict(request), arrays)
            received = read_message(self.process.stdout)
        except BrokenPipeError:
            received = None
        if received is None:
            raise RuntimeError(f"{self.name}: its interpreter ended before it replied.")
        reply, results = received
        if "error" in reply:
            raise RuntimeError(f"{self.name} in its own interpreter: {reply['error']}")
        return reply, results

    def close(self) -> None:
        """End the other interpreter."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()

    def __del__(self) -> None:
        if hasattr(self, "process"):
            self.close()


class RemoteEstimator:
    """An estimator that lives in the interpreter `python`."""

    def __init__(self, python: str, module: str, name: str, parameters: Mapping[str, Any]) -> None:
        self.fit_seconds_ = self.predict_seconds_ = float("nan")
        self.interpreter = RemoteInterpreter(python, [str(WORKER)], name)
        made = {"module": module, "name": name, "parameters": dict(parameters)}
        self.interpreter.request({"do": "make", **made})

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "RemoteEstimator":
        """Send the rows and wait."""
        reply, _ = self.interpreter.request({"do": "fit"}, [X, y])
        self.fit_seconds_ = reply["seconds"]
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Labels or values that the worker predicts."""
        reply, arrays = self.interpreter.request({"do": "predict"}, [X])
        self.predict_seconds_ = reply["seconds"]
        return arrays[0]

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Class probabilities that the worker predicts."""
        return self.interpreter.request({"do": "predict_proba"}, [X])[1][0]

    def close(self) -> None:
        """End the other interpreter."""
        self.interpreter.close()
