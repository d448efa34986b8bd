"""A worker process as the parent sees it: tasks go in, answers come out, and it is watched."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .board import Board
from .limits import MAX_SECONDS, SECONDS, cpu_seconds

LOG_TAIL = 4000
SECONDS_TO_START = 120.0


class WorkerProcess:
    """One worker, started anew when it has died.

    Parameters
    ----------
    folder : Path
        Where its board and its log are.
    name : str
        Which worker it is.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._board_path, self._log_path = folder / f"{name}.board", folder / f"{name}.log"
        self.board = Board(self._board_path)
        self.task: dict[str, Any] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def start(self, task: dict[str, Any]) -> None:
        """Give the worker a task."""
        self.board.clear()
        self.task, self._given = task, time.monotonic()
        if self._process is None:
            self._launch()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        self._process.stdin.flush()

    def _launch(self) -> None:
        tests = str(Path(__file__).parents[1])
        paths = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        # Malloc returns large blocks at once, so that what a case took is seen in its own peak.
        environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
        environment["MALLOC_ARENA_MAX"] = "2"  # arenas of many threads fill the address space
        environment["TMPDIR"] = str(self._folder)  # what a crash leaves behind goes with the folder
        self._log_path.unlink(missing_ok=True)
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "hostile.worker", str(self._board_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
            )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._unread = b""

    def stream(self) -> Any:
        """What to wait for."""
        return self._process.stdout if self._process is not None else None

    def answers(self) -> tuple[list[dict[str, Any]], bool]:
        """Answers since the last call, and whether the worker has died."""
        assert self._process is not None
        assert self._process.stdout is not None
        chunk = self._process.stdout.read()
        while chunk:
            self._unread += chunk
            chunk = self._process.stdout.read()
        *lines, self._unread = self._unread.split(b"\n")
        return [json.loads(line) for line in lines], chunk == b""

    def is_stuck(self) -> bool:
        """Whether the case that runs has taken more time than it may."""
        state = self.board.read()
        assert self._process is not None
        if not state["wall"]:  # still importing
            return time.monotonic() - self._given > SECONDS_TO_START
        assert self.task is not None
        seconds = self.task.get("seconds", SECONDS)
        wall = time.monotonic() - state["wall"]
        if wall < seconds:
            return False
        cpu = cpu_seconds(self._process.pid)
        return wall > MAX_SECONDS or cpu is None or cpu - state["cpu"] > seconds

    def kill(self, *, ask_where: bool = False) -> None:
        """End the process; its log then says where it was, if asked for."""
        if self._process is None:
            return
        if ask_where and self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)
            time.sleep(0.3)
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        self._process = None

    def exit_code(self) -> int | None:
        """How the process ended."""
        return None if self._process is None else self._process.wait()

    def log(self) -> str:
        """The end of what the worker has written to its standard error."""
        data = self._log_path.read_bytes() if self._log_path.exists() else b""
        return data.partition(b"\nExtension modules")[0][-LOG_TAIL:].decode("utf-8", "replace")


def ready(workers: list[WorkerProcess], seconds: float) -> list[WorkerProcess]:
    """The workers with messages to read, after waiting for them."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.stream(), selectors.EVENT_READ, worker)
        return [key.data for key, _ in selector.select(seconds)]


def run_alone(worker: WorkerProcess, task: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Run one task to its end; the answers, and "crash" or "hang" if it had none."""
    worker.start(task)
    answers: list[dict[str, Any]] = []
    while True:
        ready([worker], 0.2)
        said, died = worker.answers()
        answers += said
        if any("done" in answer for answer in answers):
            return answers, ""
        if died or worker.is_stuck():
            end = "crash" if died else "hang"
            worker.kill(ask_where=not died)
            return answers, end
