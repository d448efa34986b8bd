"""Another interpreter to talk to: JSON lines over pipes, so that measurements can be interleaved.

`FarInterpreter` is the near end; a module that calls `serve` when it is run is the far end.
"""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["FarInterpreter", "serve"]

ROOT = Path(__file__).resolve().parent.parent


class FarInterpreter:
    """The interpreter `python`, running `module`, which answers for the library `name`."""

    def __init__(self, python: str, module: str, name: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, "-m", module],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, **request: Any) -> dict[str, Any]:
        """Send the first request; the interpreter is ended if it fails."""
        try:
            return self.ask(do="start", **request)
        except RuntimeError:
            self.close()
            raise

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

    def close(self) -> None:
        """End the other interpreter."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """The far end: answer requests until the pipe closes."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes to stderr, not between the answers
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except ImportError as error:
            found = {"error": f"{error} ({sys.executable}); give an interpreter that has it."}
        except Exception:
            found = {"error": traceback.format_exc()}
        answers.write(json.dumps(found) + "\n")
        answers.flush()
