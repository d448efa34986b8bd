"""The worker side of `remote.py`, run in another interpreter: needs NumPy and nothing of ours.

Run as a script it makes and fits an estimator of another package, and predicts with it. Other
scripts import `serve` from it, to serve requests of their own.
"""

import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["read_message", "serve", "write_message"]

Reply = tuple[dict[str, Any], Sequence[Any]]  # what JSON can hold, and arrays


def write_message(pipe: Any, message: dict[str, Any], arrays: Any) -> None:
    """One line of JSON with the sizes of the arrays, then the arrays."""
    blocks: list[bytes] = []
    for array in arrays:
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(array), allow_pickle=False)
        blocks.append(buffer.getvalue())
    pipe.write(json.dumps({**message, "sizes": [len(block) for block in blocks]}).encode() + b"\n")
    for block in blocks:
        pipe.write(block)
    pipe.flush()


def read_message(pipe: Any) -> Any:
    """A message and its arrays; None when the other side is gone."""
    line = pipe.readline()
    if not line:
        return None
    message = json.loads(line)
    blocks = [io.BytesIO(pipe.read(size)) for size in message.pop("sizes")]
    return message, [np.load(block, allow_pickle=False) for block in blocks]


def serve(respond: Callable[[dict[str, Any], list[Any]], Reply]) -> None:
    """Reply to requests until the pipe closes; an exception is sent as the field "error"."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints goes to stderr, not between the replies
    while received := read_message(requests):
        try:
            reply, arrays = respond(*received)
        except ImportError as error:
            text = f"{error} ({sys.executable}); give an interpreter that has it."
            reply, arrays = {"error": text}, []
        except Exception as error:
            reply, arrays = {"error": f"{type(error).__name__}: {error}"}, []
        write_message(replies, reply, arrays)


class EstimatorWorker:
    """Makes an estimator, fits it and predicts; each reply has the seconds it took."""

    model: Any = None

    def respond(self, request: dict[str, Any], arrays: list[Any]) -> Reply:
        start = time.perf_counter()
        result: list[Any] = []
        if request["do"] == "make":
            maker = getattr(importlib.import_module(request["module"]), request["name"])
            self.model = maker(**request["parameters"])
        elif request["do"] == "fit":
            self.model.fit(*arrays)
        else:
            result = [getattr(self.model, request["do"])(*arrays)]
        return {"seconds": time.perf_counter() - start}, result


if __name__ == "__main__":
    serve(EstimatorWorker().respond)
