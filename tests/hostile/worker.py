"""Runs cases in this process: `python -m hostile.worker BOARD`, tasks in, findings out.

A task is a line of JSON on standard input:

    {"cases": "files", "first": 0, "last": 500}     run these
    {"cases": "files", "describe": 17}              say what case 17, or one given, is made of
    {"cases": "inputs", "check": {...}}             run one case, given by what it is made of

Answers are lines of JSON: {"finding": ...}, {"described": ...}, {"outcome": ...} and, at the end of
each task, {"done": true}. A task may have other limits than usual: "seconds".
"""

from __future__ import annotations

import base64
import faulthandler
import gc
import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from .board import Board
from .kinds import kind_of
from .limits import SECONDS, PeakMemory, allowed_growth, limit_process
from .verdicts import REFUSED, Finding, finding_of

CASES_BETWEEN_COLLECTIONS = 200


def judge(
    cases: str, number: int, check: Any, case: Any, peak: PeakMemory, seconds: float = SECONDS
) -> tuple[str, Any]:
    """Run a case; the outcome, and the finding if it is one."""
    start, cpu = time.perf_counter(), time.process_time()
    peak.reset()
    outcome, finding = "", None
    try:
        outcome = check(case)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        finding = finding_of(cases, number, error)
        error.__traceback__ = None
    growth, took = peak.growth(), time.perf_counter() - start
    if finding is None and growth > allowed_growth(len(getattr(case, "data", b""))):
        what = f"the peak of memory rose by {growth >> 20} MB"
        finding = Finding(cases, number, "memory", f"memory: {case.how}", what)
    if finding is None and took > seconds and time.process_time() - cpu > seconds:
        finding = Finding(cases, number, "hang", f"hang: {case.how}", f"took {took:.1f} s")
    return "" if finding else outcome, finding


class Worker:
    """Runs tasks, and keeps the board.

    Parameters
    ----------
    board : Board
        Shared with the parent.
    out : stream
        Where answers go.
    """

    def __init__(self, board: Board, out: Any) -> None:
        self._board, self._out = board, out
        self._peak = PeakMemory()

    def run(self, task: dict[str, Any]) -> None:
        kind = kind_of(task["cases"])
        self._seconds = task.get("seconds", SECONDS)
        if "describe" in task:
            told = task["describe"]
            case = kind.make(told) if isinstance(told, int) else kind.given(told)
            self._say(described=_described(case))
        elif "check" in task:
            self._run_given(task["cases"], kind, kind.given(task["check"]))
        else:
            self._run_range(task["cases"], kind, task["first"], task["last"])
        self._say(done=True)

    def _run_given(self, cases: str, kind: Any, case: Any) -> None:
        self._mark({**self._board.read(), "number": -1})
        outcome, finding = judge(cases, -1, kind.check, case, self._peak, self._seconds)
        self._say(outcome=outcome, finding=None if finding is None else finding.to_dict())

    def _run_range(self, cases: str, kind: Any, first: int, last: int) -> None:
        self._board.clear()
        tally = self._board.read()
        for number in range(first, last):
            tally["number"] = number
            self._mark(tally)
            case = kind.make(number)
            self._mark(tally)  # the time of making it does not count
            start = time.perf_counter()
            outcome, finding = judge(cases, number, kind.check, case, self._peak, self._seconds)
            _count(tally, number, outcome, time.perf_counter() - start, self._peak.growth())
            if finding is not None:
                self._say(finding=finding.to_dict())
            if number % CASES_BETWEEN_COLLECTIONS == 0:
                gc.collect()
        self._board.write(tally)

    def _mark(self, tally: dict[str, float]) -> None:
        tally["wall"], tally["cpu"] = time.monotonic(), time.process_time()
        self._board.write(tally)

    def _say(self, **answer: Any) -> None:
        self._out.write(json.dumps(answer) + "\n")
        self._out.flush()


def _count(tally: dict[str, float], number: int, outcome: str, seconds: float, growth: int) -> None:
    tally["done"] += 1
    if outcome:
        tally["refused" if outcome == REFUSED else "accepted"] += 1
    if seconds > tally["slowest"]:
        tally["slowest"], tally["slowest_number"] = seconds, number
    if growth > tally["largest"]:
        tally["largest"], tally["largest_number"] = growth, number


def _described(case: Any) -> dict[str, Any]:
    data = base64.b64encode(getattr(case, "data", b"")).decode("ascii")
    return {"description": case.how, "case": getattr(case, "spec", None), "data": data}


def main() -> None:
    """Run tasks until standard input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing that a case prints is an answer
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    limit_process()
    warnings.simplefilter("ignore")
    worker = Worker(Board(Path(sys.argv[1])), out)
    for line in sys.stdin:
        if not os.isatty(2):
            os.ftruncate(2, 0)  # keep the log of this task only
        worker.run(json.loads(line))


if __name__ == "__main__":
    main()
