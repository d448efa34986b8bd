"""Runs an experiment: the cells that have no result yet, durably, several at once.

Small problems run side by side, one thread each; large ones one at a time, with all threads
inside. That changes their times, never their results.
"""

import importlib.util
import math
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bevel.errors import join_names, wrong_value
from bevel.report.page import WITH_PEERS, describe_environment
from bevel.training.threads import count_threads
from bevel_lab.cells import FAILED, OK, SKIPPED, Cell, Result
from bevel_lab.protocols.base import SIMULATED, Plan, Protocol
from bevel_lab.protocols.sets import all_sets
from bevel_lab.running.cell_runner import CellRunner
from bevel_lab.running.remaining import RemainingTime
from bevel_lab.running.steps import Step
from bevel_lab.running.store import ResultStore
from bevel_lab.running.worker_pool import WorkerPool
from bevel_lab.systems import SYSTEMS
from bevel_lab.systems.peers import EXTRA
from bevel_lab.systems.remote import has_package

__all__ = ["Outcome", "Step", "absent_systems", "run"]

# Entries of a table too small to matter: scores and set-up cost as much.
FIXED_ENTRIES = 20_000
# Entries of a training table from which the threads are better used inside the cell: fits then
# take seconds, and two at once would need twice the memory.
LARGE = 2_000_000


@dataclass(frozen=True)
class Outcome:
    """What a run has done."""

    n_cells: int  # of the whole experiment, without absent systems
    n_before: int  # of which had a result already
    counts: Mapping[str, int]  # results of this run by status
    problems: Sequence[Result] = field(default_factory=tuple)  # failed and skipped, of all starts
    absent: Mapping[str, str] = field(default_factory=dict)  # systems left out, and why
    left_out: Sequence[str] = ()  # data sets left out, and why
    seconds: float = 0.0


def run(
    protocol: Protocol,
    plan: Plan,
    store: ResultStore,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    keep_predictions: bool = False,
    retry: bool = False,
    interpreters: Mapping[str, str] | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Outcome:
    """Run all cells of an experiment that have no result in the store.

    Parameters
    ----------
    protocol : Protocol
    plan : Plan
    store : ResultStore
        Each result is in it as soon as it is known: the run can be killed at any time, and the same
        call goes on where it ended.
    jobs : int, default=1
        Processes for small problems, threads for large ones; at most four for each core.
    timeout : float, default=None
        Seconds per cell.
    keep_predictions : bool, default=False
        Write the test predictions to files of the run folder.
    retry : bool, default=False
        Run failed cells again.
    interpreters : mapping of str to str, default=None
        Package to interpreter, for systems whose package is not installed here.
    progress : callable, default=None
        Called with a `Step` after every cell.

    Returns
    -------
    Outcome
    """
    interpreters = dict(interpreters or {})
    jobs = count_threads(jobs)
    plan = with_full_names(protocol, plan)
    start = time.monotonic()
    with store.lock():
        store.check_meaning(protocol.meaning(plan))
        absent = absent_systems(plan.systems, interpreters)
        plan = replace(plan, systems=tuple(name for name in plan.systems if name not in absent))
        cells = _cells(protocol, plan)
        if retry:
            store.delete_failures()
        done = store.done_keys()
        n_cells = len(done | {cell.key for cell in cells})
        store.begin({**_description(protocol, plan, jobs, absent), "n_cells": n_cells})
        missing = [cell for cell in cells if cell.key not in done]
        runner = CellRunner(protocol, plan, store.folder, keep_predictions, interpreters)
        counts = {OK: 0, FAILED: 0, SKIPPED: 0}
        for step in _steps(runner, missing, store, jobs, timeout):
            counts[step.result.status] += 1
            if progress is not None:
                progress(step)
    wanted = {cell.key for cell in cells}
    return Outcome(
        n_cells=len(cells),
        n_before=len(cells) - len(missing),
        counts=counts,
        problems=[
            each for each in store.results() if each.status != OK and each.cell.key in wanted
        ],
        absent=absent,
        left_out=tuple(protocol.left_out(plan)),
        seconds=time.monotonic() - start,
    )


def absent_systems(names: Sequence[str], interpreters: Mapping[str, str]) -> dict[str, str]:
    """Systems whose package cannot be imported, with what to do about it."""
    absent = {}
    for name in names:
        package = SYSTEMS[name].needs
        if package is None:
            continue
        python = interpreters.get(package)
        if python is not None:
            if not has_package(python, package):
                absent[name] = (
                    f"{name} needs {package}, which {python} cannot import. "
                    "Give an interpreter that has it."
                )
        elif importlib.util.find_spec(package) is None:
            absent[name] = f"{name} needs {package}, which is not installed. {_remedy(package)}"
    return absent


def _remedy(package: str) -> str:
    if package == "treeple":
        return "It needs an environment of its own: give its interpreter with --treeple-python."
    if package == "sktime":
        return "Install it with: python -m pip install sktime"
    return f"Install it with: python -m pip install '{EXTRA}'"


def _cells(protocol: Protocol, plan: Plan) -> list[Cell]:
    """The cells of the data sets and chosen settings, in the protocol's order."""
    cells = list(protocol.cells(plan))
    if len({cell.key for cell in cells}) < len(cells):
        raise AssertionError(f"Two cells of {protocol.name} have the same key.")
    if plan.grid is not None and plan.grid not in protocol.other_grids:
        grids = " or ".join(protocol.other_grids)
        required = f"{grids}, or left out" if grids else f"left out: {protocol.name} has no other"
        raise wrong_value("--grid", required, plan.grid, "Omit it for the grid of the paper.")
    if plan.folds is not None and {cell.fold for cell in cells} != set(range(plan.folds)):
        raise wrong_value(
            "--folds", f"left out: {protocol.name} has no folds to choose", plan.folds, "Omit it."
        )
    names = list(dict.fromkeys(cell.data for cell in cells))
    for chosen in plan.only:
        if chosen not in names:
            known = join_names(names)
            remedy = "Correct the name, or see the folder's index.csv."
            raise wrong_value("--only", f"data sets of {protocol.name} ({known})", chosen, remedy)
    cells = [cell for cell in cells if not plan.only or cell.data in plan.only]
    for name, values in plan.settings.items():
        cells = _with_setting(cells, name, values)
    return cells


def with_full_names(protocol: Protocol, plan: Plan) -> Plan:
    """The plan with data sets in full: twonorm for "simulated twonorm", if it is the only one.

    A part of a name is one of its words or some of them. Names of which there is none are kept, and
    refused where the cells are made.
    """
    if not plan.only:
        return plan
    known = set() if protocol.source == SIMULATED else set(all_sets(plan.data))
    if not known.issuperset(plan.only):
        whole = replace(plan, only=(), quick=False, max_rows=None)
        known |= {cell.data for cell in protocol.cells(whole)}
    return replace(plan, only=tuple(dict.fromkeys(_full(name, known) for name in plan.only)))


def _full(name: str, known: Collection[str]) -> str:
    if name in known:
        return name
    words = _words(name)
    same = [each for each in known if _words(each) == words]
    found = sorted(same or [each for each in known if _words(each) >= words])
    if len(found) > 1:
        required = f"the name of one data set; {join_names(found)} have this in theirs"
        raise wrong_value("--only", required, name, "Write it in full.")
    return found[0] if found else name


def _words(name: str) -> frozenset[str]:
    return frozenset(re.split(r"[\s_-]+", name.lower()))


def _with_setting(cells: Sequence[Cell], name: str, values: Sequence[str]) -> list[Cell]:
    """The cells in which a setting has one of the values, and those that do not have it."""
    known = list(dict.fromkeys(str(cell.setting[name]) for cell in cells if name in cell.setting))
    for chosen in values:
        if chosen not in known:
            names = list(dict.fromkeys(each for cell in cells for each in cell.setting))
            required = f"{name}={join_names(known)}" if known else f"one of {join_names(names)}"
            raise wrong_value("--setting", required, f"{name}={chosen}", "Correct it.")
    return [cell for cell in cells if name not in cell.setting or str(cell.setting[name]) in values]


def _steps(
    runner: CellRunner,
    cells: Sequence[Cell],
    store: ResultStore,
    jobs: int,
    timeout: float | None,
) -> Iterator[Step]:
    """Run the cells, small ones first; each result is stored before it is shown."""

    def size(cell: Cell) -> int:
        return runner.protocol.size(cell, runner.plan)

    inside = [cell for cell in cells if runner.protocol.one_at_a_time or size(cell) >= LARGE]
    large = {cell.key for cell in inside}
    beside = [cell for cell in cells if cell.key not in large]
    remaining = RemainingTime(cells, lambda cell: _cost(runner, cell))
    n_done = 0
    for part, n_workers, n_jobs in ((beside, jobs, 1), (inside, 1, jobs)):
        for result, seconds in WorkerPool(runner, n_workers, n_jobs, timeout).results(part):
            store.append(result)
            n_done += 1
            remaining.finished(result.cell, seconds * n_jobs)
            yield Step(result, n_done, len(cells), remaining.seconds() / jobs)


def _cost(runner: CellRunner, cell: Cell) -> float:
    """An estimate of the work of a cell: trees × n p log(n p), where a system has trees."""
    entries = runner.protocol.size(cell, runner.plan) + FIXED_ENTRIES
    n_trees = int(runner.protocol.parameters(cell, runner.plan).get("n_trees", 1))
    return n_trees * entries * math.log2(entries)


def _description(
    protocol: Protocol, plan: Plan, jobs: int, absent: Mapping[str, str]
) -> dict[str, Any]:
    return {
        **describe_environment(WITH_PEERS),
        "experiment": protocol.name,
        "paper": protocol.paper,
        "sentence": protocol.sentence,
        "meaning": protocol.meaning(plan),
        "systems": list(plan.systems),
        "labels": {name: SYSTEMS[name].label for name in plan.systems},
        "absent": dict(absent),
        "seed": plan.seed,
        "repeats": plan.repeats,
        "max_rows": plan.max_rows,
        "only": list(plan.only),
        "settings": {name: list(values) for name, values in plan.settings.items()},
        "data": plan.data.name if plan.data is not None else None,
        "jobs": jobs,
    }
