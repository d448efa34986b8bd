"""A system in another interpreter, asked for one measurement at a time so that sides can alternate.

The worker's interpreter has NumPy and the library in question but neither Bevel nor its lab, so it
loads the lab's transport from the file that `RemoteInterpreter` names.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["RemoteSystem", "run_worker"]

ROOT = Path(__file__).resolve().parent.parent


class RemoteSystem:
    """The library `name` in the interpreter `python`, which runs `module`."""

    def __init__(self, python: str, module: str, name: str) -> None:
        from bevel_lab.systems.remote import RemoteInterpreter

        self.interpreter = RemoteInterpreter(python, ["-m", module], name, ROOT)

    def start(self, **request: Any) -> dict[str, Any]:
        """Send the first request; the interpreter is ended if it fails."""
        try:
            return self.request(do="start", **request)
        except RuntimeError:
            self.close()
            raise

    def request(self, **request: Any) -> dict[str, Any]:
        """Send one request and wait for its reply."""
        return self.interpreter.request(request)[0]

    def close(self) -> None:
        """End the other interpreter."""
        self.interpreter.close()


def run_worker(respond: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Reply to requests until the pipe closes."""
    transport = runpy.run_path(os.environ["BEVEL_REMOTE_WORKER"])
    transport["serve"](lambda request, _arrays: (respond(request), []))
