"""A system in another interpreter: JSON lines over pipes, so that its fits can be interleaved.

`Remote` is the near end. Run as ``python -m benchmarks.speed.remote``, this file is the far end: it
makes the task's data itself (the same bits, from the same seeds), fits when told to, and answers
with seconds. Needs NumPy and the library in question, nothing else.
"""

import dataclasses
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks.speed.rows import Work
from benchmarks.speed.systems import Described, make_system
from benchmarks.tasks import Data, make

__all__ = ["Remote"]

ROOT = Path(__file__).resolve().parents[2]


class Remote:
    """A `System` that lives in the interpreter `python`."""

    def __init__(self, python: str, name: str, data: Data, work: Work) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.speed.remote"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            answer = self.ask(
                do="start",
                system=name,
                task=data.name,
                n_rows=len(data.X),
                n_test=len(data.X_test),
                work=dataclasses.asdict(work),
            )
        except RuntimeError:
            self.close()
            raise
        self.version: str = answer["version"]
        self.prepare_seconds: float = answer["prepare_seconds"]

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"The interpreter of {self.name} ended; its messages are above.")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name} in its own interpreter: {answer['error']}")
        return answer

    def fit(self) -> float:
        return float(self.ask(do="fit")["seconds"])

    def describe(self) -> Described:
        return Described(**self.ask(do="describe"))

    def close(self) -> None:
        """End the other interpreter."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


def serve() -> None:
    """The far end: answer requests until the pipe closes."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes to stderr, not between the answers
    system: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "start":
                data = make(request["task"], request["n_rows"], request["n_test"])
                system = make_system(request["system"], data, Work(**request["work"]))
                prepare_seconds = system.prepare_seconds
                answer = {"version": system.version, "prepare_seconds": prepare_seconds}
            elif request["do"] == "fit":
                answer = {"seconds": system.fit()}
            else:
                answer = dataclasses.asdict(system.describe())
        except ImportError as error:
            answer = {"error": f"{error} ({sys.executable}); give an interpreter that has it."}
        except Exception:
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
