"""Worker processes that run cells: several at once, each under a time limit, any of which may die.

Every cell runs in a worker, even when there is one worker only: a cell that takes too long, runs
out of memory or crashes costs its worker, not the run. Workers die with the process that started
them, however it ended.
"""

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from bevel_lab.cells import Cell, Result
from bevel_lab.running.cell_runner import CellRunner, failed

__all__ = ["WorkerPool"]

READY = "ready"
MESSAGES_FILE = "messages.log"
POLL_SECONDS = 0.5  # between looks at the clock, and at signals on systems that need it
LONGEST_HICCUP = 1.0  # of a busy machine; longer is a pause


class WorkerPool:
    """Runs cells in `n_workers` processes.

    Parameters
    ----------
    runner : CellRunner
        Is sent to every worker; what it holds must be importable there.
    n_workers : int
    n_jobs : int
        Threads inside each cell.
    timeout : float, default=None
        Seconds that a cell may take, with the making of its rows.
    """

    def __init__(
        self, runner: CellRunner, n_workers: int, n_jobs: int, timeout: float | None = None
    ) -> None:
        self.runner = runner
        self.n_workers = n_workers
        self.n_jobs = n_jobs
        self.timeout = timeout
        self._workers: list[Worker] = []

    def results(self, cells: Iterable[Cell]) -> Iterator[tuple[Result, float]]:
        """Results as they come, each with the seconds that it took its worker."""
        queue = list(reversed(list(cells)))
        try:
            self._workers = [Worker(self.runner) for _ in range(min(self.n_workers, len(queue)))]
            while queue or any(worker.cell for worker in self._workers):
                for worker in self._workers:
                    if worker.is_idle and queue:
                        worker.begin(queue.pop(), self.n_jobs)
                self._wait()
                for worker in tuple(self._workers):
                    outcome = self._look_at(worker)
                    if not worker.is_alive:
                        self._workers.remove(worker)
                        if queue:
                            self._workers.append(Worker(self.runner))
                    if outcome is not None:
                        yield outcome
        finally:
            self.close()

    def close(self) -> None:
        """End all workers at once, whatever they do."""
        for worker in self._workers:
            worker.kill()
        self._workers = []

    def _wait(self) -> None:
        """Sleep until a worker has sent a message, or for a moment.

        A moment that took much longer was no moment: the machine slept, or Ctrl-Z stopped us all.
        That time is not the cells'.
        """
        start = time.monotonic()
        wait([worker.connection for worker in self._workers if worker.is_busy], POLL_SECONDS)
        pause = time.monotonic() - start - POLL_SECONDS
        if pause > LONGEST_HICCUP:
            for worker in self._workers:
                worker.extend_limit(pause)

    def _look_at(self, worker: "Worker") -> tuple[Result, float] | None:
        cell = worker.cell
        try:
            received = worker.receive()
        except (EOFError, OSError):
            code = worker.kill()
            if not worker.has_started:
                raise RuntimeError(
                    f"Workers must be able to start; one ended with exit code {code}. Its messages "
                    "are above; protocols must be importable, and scripts need a main guard."
                ) from None
            if cell is None:
                return None
            return failed(cell, _crash_message(code), self.n_jobs), worker.seconds
        if isinstance(received, Result):
            return received, worker.seconds
        if cell is not None and self.timeout is not None and worker.seconds > self.timeout:
            worker.kill()
            message = f"Took longer than the time limit of {self.timeout:g} s."
            return failed(cell, message, self.n_jobs), worker.seconds
        return None


@dataclass(eq=False)
class Worker:
    """The near end of a worker process."""

    runner: CellRunner
    cell: Cell | None = field(default=None, init=False)
    is_alive: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # no inherited threads, locks or pipes
        self.connection, far = context.Pipe()
        self._process = context.Process(target=_serve, args=(far, self.runner), daemon=False)
        with _without_interrupts():
            self._process.start()
        far.close()
        self.has_started = False
        self._begun = time.monotonic()
        self._seconds = 0.0

    @property
    def is_idle(self) -> bool:
        return self.has_started and self.cell is None

    @property
    def is_busy(self) -> bool:
        return not self.is_idle

    @property
    def seconds(self) -> float:
        """Since the cell was begun; of the last one when there is none."""
        return self._seconds if self.cell is None else time.monotonic() - self._begun

    def extend_limit(self, seconds: float) -> None:
        """Do not count a pause."""
        self._begun += seconds

    def begin(self, cell: Cell, n_jobs: int) -> None:
        """Hand over a cell."""
        self.cell = cell
        self._begun = time.monotonic()
        with suppress(OSError):  # the worker is gone, as `receive` will find
            self.connection.send((cell, n_jobs))

    def receive(self) -> object:
        """Next message of the worker, None if there is none; EOFError when it is gone."""
        if not self.connection.poll():
            return None
        received: object = self.connection.recv()
        self.has_started = True
        if self.cell is not None:
            self._seconds = time.monotonic() - self._begun
            self.cell = None
        return received

    def kill(self) -> int | None:
        """End the process and its children; returns its exit code."""
        if self.is_alive:
            self._seconds = time.monotonic() - self._begun
            _kill_group(self._process.pid)
            self._process.kill()
            self._process.join()
            self.connection.close()
            self.is_alive = False
            self.cell = None
        return self._process.exitcode


def _serve(connection: Connection, runner: CellRunner) -> None:
    """Main loop of a worker process: run cells until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the starter
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # whatever a cell starts can be ended with it
    threading.Thread(target=_die_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # of constant columns, rare classes: nobody reads them here
    _write_messages_to(runner.folder / MESSAGES_FILE)
    connection.send(READY)
    while True:
        try:
            cell, n_jobs = connection.recv()
            connection.send(runner.run(cell, n_jobs))
        except (EOFError, OSError):
            return


def _write_messages_to(path: Path) -> None:
    """What packages print would tear the progress bar; it may explain a crash."""
    with path.open("ab", buffering=0) as stream:
        for standard in (1, 2):
            os.dup2(stream.fileno(), standard)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back for a moment; a process started meanwhile never sees it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        _kill_group(os.getpid())
        os._exit(1)


def _kill_group(pid: int | None) -> None:
    """End a worker with all it has started, where the system has groups of processes."""
    if pid is not None and hasattr(os, "killpg"):
        # Before it is a group of its own it has no children either.
        with suppress(OSError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)


def _crash_message(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        hint = "It may have run out of memory" if name == "SIGKILL" else f"See {MESSAGES_FILE}"
        return f"The worker process was ended by {name}. {hint}."
    return f"The worker process ended with exit code {code}. See {MESSAGES_FILE}."
