"""The worker of `remote.py`, run as a script: needs only NumPy and the package in question."""

import importlib
import io
import json
import os
import sys
import time
from typing import Any

import numpy as np

__all__ = ["read_message", "write_message"]


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
    """A message and its arrays; None when the other end is gone."""
    line = pipe.readline()
    if not line:
        return None
    message = json.loads(line)
    blocks = [io.BytesIO(pipe.read(size)) for size in message.pop("sizes")]
    return message, [np.load(block, allow_pickle=False) for block in blocks]


def serve() -> None:
    """Answer requests until the pipe closes."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints goes to stderr, not between the answers
    model: Any = None
    while received := read_message(requests):
        request, arrays = received
        result: list[Any] = []
        answer: dict[str, Any] = {}
        start = time.perf_counter()
        try:
            if request["do"] == "make":
                maker = getattr(importlib.import_module(request["module"]), request["name"])
                model = maker(**request["parameters"])
            elif request["do"] == "fit":
                model.fit(*arrays)
            else:
                result = [getattr(model, request["do"])(*arrays)]
            answer["seconds"] = time.perf_counter() - start
        except Exception as error:
            answer, result = {"error": f"{type(error).__name__}: {error}"}, []
        write_message(answers, answer, result)


if __name__ == "__main__":
    serve()
