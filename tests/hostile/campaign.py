"""Shares cases out among workers, and turns crashes and hangs into findings."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .limits import SECONDS
from .shrink import shrink
from .store import Store
from .verdicts import Finding, signature_of_log
from .worker_process import WorkerProcess, ready, run_alone

BATCH = {"files": 500, "inputs": 100, "tables": 100, "planted": 10}
SECONDS_BETWEEN_SAVES = 10.0

Report = Callable[[Store], None]


class Campaign:
    """Runs cases up to given numbers, from where the store says.

    Parameters
    ----------
    store : Store
        What was done before, and where results go.
    totals : mapping of str to int
        How many cases of each kind there are to be in all.
    n_jobs : int
        Workers at a time.
    report : callable, default=None
        Called every few seconds with the store.
    seconds : float, default=SECONDS
        How long a case may take.
    """

    def __init__(
        self,
        store: Store,
        totals: Mapping[str, int],
        n_jobs: int,
        report: Report | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._seconds = seconds
        self._store, self._totals, self._report = store, totals, report or (lambda _: None)
        self._folder = tempfile.TemporaryDirectory(prefix="bevel-hostile-")
        self._workers = [WorkerProcess(self._path, f"worker{i}") for i in range(n_jobs)]
        self._asker = WorkerProcess(self._path, "asker")

    @property
    def _path(self) -> Path:
        return Path(self._folder.name)

    def run(self) -> None:
        """Run until all cases are done; what was begun is remembered if this is interrupted."""
        tasks = self._tasks()
        saved = time.monotonic()
        try:
            busy = [worker for worker in self._workers if self._begin(worker, tasks)]
            while busy:
                for worker in ready(busy, 0.2):
                    if self._listen(worker) and not self._begin(worker, tasks):
                        busy.remove(worker)
                # A worker may have ended its task while this process kept an example.
                heard = ready(busy, 0.0) if busy else []
                for worker in [w for w in busy if w not in heard and w.is_stuck()]:
                    self._lose(worker, "hang")
                    self._begin(worker, tasks)
                if time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                    self._save()
                    saved = time.monotonic()
        finally:
            self._save()
            for worker in (*self._workers, self._asker):
                worker.kill()
            self._folder.cleanup()

    def _tasks(self) -> Iterator[dict[str, Any]]:
        """Ranges of cases, kinds in turn, those first that were begun before."""
        for cases in self._totals:
            tally = self._store.tally(cases)
            self._left = {**getattr(self, "_left", {}), cases: tally.pending}
            tally.pending = []
        waiting = dict(self._totals)
        while waiting:
            for cases in list(waiting):
                tally, left = self._store.tally(cases), self._left[cases]
                if left:
                    first, last = left.pop(0)
                elif tally.next < waiting[cases]:
                    first, last = tally.next, min(tally.next + BATCH[cases], waiting[cases])
                    tally.next = last
                else:
                    del waiting[cases]
                    continue
                yield {"cases": cases, "first": first, "last": last, "seconds": self._seconds}

    def _begin(self, worker: WorkerProcess, tasks: Iterator[dict[str, Any]]) -> bool:
        task = next(tasks, None)
        if task is None:
            worker.task = None
            return False
        worker.start(task)
        return True

    def _listen(self, worker: WorkerProcess) -> bool:
        """Take a worker's answers; whether it is free for another task."""
        said, died = worker.answers()
        for answer in said:
            if answer.get("finding"):
                self._found(Finding(**answer["finding"]))
            if "done" in answer:
                assert worker.task is not None
                self._store.tally(worker.task["cases"]).add(worker.board.read())
                return True
        if died:
            self._lose(worker, "crash")
        return died

    def _lose(self, worker: WorkerProcess, kind: str) -> None:
        """A worker crashed or hangs: a finding, and the rest of its task for another."""
        task, board = worker.task, worker.board.read()
        assert task is not None
        code = worker.exit_code() if kind == "crash" else None
        worker.kill(ask_where=kind == "hang")
        number = int(board["number"])
        if number < 0:
            raise RuntimeError(f"A worker did not start:\n{worker.log()}")
        tally = self._store.tally(task["cases"])
        tally.add({**board, "done": board["done"] + 1})
        log = worker.log()
        what = f"exit code {code}\n{log}" if kind == "crash" else log
        self._found(Finding(task["cases"], number, kind, signature_of_log(kind, log), what))
        if number + 1 < task["last"]:
            self._left[task["cases"]].append([number + 1, task["last"]])
        worker.task = None

    def _found(self, finding: Finding) -> None:
        if not self._store.count(finding):
            return
        task: dict[str, Any] = {"cases": finding.cases, "describe": finding.number}
        if finding.cases in ("inputs", "tables") and finding.kind != "hang":
            task["describe"] = shrink(self._made_of(finding), lambda spec: self._is(finding, spec))
        answers, _ = run_alone(self._asker, task)
        for answer in answers:
            for name, value in answer.get("described", {}).items():
                setattr(finding, name, value)
        self._store.keep(finding)

    def _made_of(self, finding: Finding) -> dict[str, Any]:
        answers, _ = run_alone(self._asker, {"cases": finding.cases, "describe": finding.number})
        return answers[0]["described"]["case"]

    def _is(self, finding: Finding, spec: dict[str, Any]) -> bool:
        """Whether a case is the same finding as another."""
        answers, end = run_alone(self._asker, {"cases": finding.cases, "check": spec})
        if end:
            return signature_of_log(end, self._asker.log()) == finding.signature
        found = next(answer["finding"] for answer in answers if "finding" in answer)
        return found is not None and found["signature"] == finding.signature

    def _save(self) -> None:
        for cases in self._totals:
            tally = self._store.tally(cases)
            tally.pending = [list(each) for each in self._left.get(cases, [])]
            tally.pending += [
                [worker.task["first"], worker.task["last"]]
                for worker in self._workers
                if worker.task is not None and worker.task["cases"] == cases
            ]
        self._store.save()
        self._report(self._store)
