"""``bevel lab``: the papers' experiments by name, run so that they can be stopped at any time."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from bevel.cli import error_handling, options, output
from bevel.errors import join_names, wrong_value
from bevel.printable import printable
from bevel.training.threads import count_threads
from bevel_lab.cells import OK, Result
from bevel_lab.cli import figure, papers, report
from bevel_lab.protocols import PROTOCOLS, Plan, Protocol
from bevel_lab.protocols.base import FOLDER, SIMULATED
from bevel_lab.running.runner import Outcome, Step, run
from bevel_lab.running.store import ResultStore
from bevel_lab.systems import SYSTEMS, System, find_systems

__all__ = ["app"]

SECONDS_BETWEEN_LINES = 60.0  # of progress in a log, where no bar can be drawn

app = typer.Typer(
    help="The papers' experiments: list them, run them, report them.", no_args_is_help=True
)

LIST_EXAMPLES = output.examples("bevel lab list", "bevel lab list --systems")
RUN_EXAMPLES = output.examples(
    "bevel lab run sparse-parity --quick",
    "bevel lab run sporf-uci --data FOLDER --systems sporf,rf,ccf,sklearn-rf,xgboost --jobs 2",
    "bevel lab run sporf-uci --data FOLDER --only iris,wine --timeout 600 --out my_run",
)


def list_experiments(
    systems: Annotated[
        bool, typer.Option("--systems", help="The systems instead of the experiments.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """List the experiments, or the systems that can take part in them."""
    rows = _system_rows() if systems else _experiment_rows()
    if as_json:
        output.print_json(rows)
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in rows[0] if rows else ("experiment",):
        table.add_column(name, overflow="fold", no_wrap=name not in ("what", "paper"))
    for row in rows:
        table.add_row(*(escape(printable(value)) for value in row.values()))
    output.console().print(table)


def _experiment_rows() -> list[dict[str, str]]:
    return [
        {
            "experiment": protocol.name,
            "what": protocol.sentence,
            "paper": protocol.paper,
            "data": protocol.source,
        }
        for protocol in PROTOCOLS.values()
    ]


def _system_rows() -> list[dict[str, str]]:
    return [
        {"system": each.name, "label": each.label, "kind": each.kind, "what": _about(each)}
        for each in SYSTEMS.values()
    ]


def _about(system: System) -> str:
    tuned = {"oob": "Tuned by out-of-bag error.", "cv": "Tuned by cross-validation."}
    how = tuned[system.tuning.by] if system.tuning is not None else ""
    needs = f"Needs {system.needs}." if system.needs else ""
    return " ".join(filter(None, (system.docs, how, needs)))


def _of_the_paper(what: str, option: str) -> str:
    """Help of an option whose default is the paper's number but in those experiments it names."""
    names: dict[tuple[int, int], list[str]] = {}
    for protocol in PROTOCOLS.values():
        if option in protocol.fewer:
            names.setdefault(protocol.fewer[option], []).append(protocol.name)
    but = [f"{n} for {m} in {join_names(each)}" for (n, m), each in names.items()]
    return f"{what}; the default is the paper's" + (f", but {'; '.join(but)}." if but else ".")


def run_experiment(
    experiment: Annotated[str, typer.Argument(help="Name from `bevel lab list`.")],
    data: Annotated[
        Path | None, typer.Option(help="Folder of CSV files with index.csv, target last.")
    ] = None,
    systems: Annotated[
        str | None, typer.Option(help="Names with commas; the default is the experiment's.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Data sets to keep, with commas; a word of a name will do.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUES to keep of what is varied, e.g. n_features=10,50."),
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(min=1, help="Leave out data sets with more rows.")
    ] = None,
    folds: Annotated[int | None, typer.Option(min=2, help=_of_the_paper("Folds", "folds"))] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help=_of_the_paper("Repeats", "repeats"))
    ] = None,
    trees: Annotated[int | None, typer.Option(min=1, help=_of_the_paper("Trees", "trees"))] = None,
    tuning_trees: Annotated[
        int | None,
        typer.Option(min=1, help=_of_the_paper("Trees while tuning", "tuning_trees")),
    ] = None,
    tune: Annotated[
        bool | None,
        typer.Option("--tune/--no-tune", help="Choose settings from the papers' grids, or not."),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(help="combined: F-RC combines two features or more, for the printed one."),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(help="Preprocessing: sporf, blaser, menze or native.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller experiment.")] = False,
    seed: options.Seed = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Processes on small sets, threads on large ones; default: all cores."
        ),
    ] = None,
    timeout: Annotated[float | None, typer.Option(min=0.1, help="Seconds for one fit.")] = None,
    keep_predictions: Annotated[
        bool, typer.Option("--keep-predictions", help="Store the test predictions.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what has failed.")
    ] = False,
    treeple_python: Annotated[
        str | None, typer.Option(help="Interpreter that has treeple.")
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(help="PACKAGE=INTERPRETER, for a peer that lives elsewhere; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(file_okay=False, help="Run folder; results are added to it.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Run an experiment; stopped or killed, the same command goes on where it ended."""
    protocol = _find_protocol(experiment)
    if protocol.source == SIMULATED:
        _check_absent(protocol, {"--recipe": recipe, "--max-rows": max_rows})
    plan = Plan(
        systems=find_systems(_split(systems) or protocol.default_systems),
        data=_check_data(protocol, data),
        quick=quick,
        only=_split(only),
        settings=_settings(setting),
        folds=folds,
        repeats=repeats,
        trees=trees,
        tuning_trees=tuning_trees,
        max_rows=max_rows,
        seed=seed,
        tune=tune,
        recipe=recipe,
        grid=grid,
    )
    folder = out or Path("bevel_lab") / (experiment + ("-quick" if quick else ""))
    store = ResultStore(folder)
    with _progress(protocol.name) as show:
        try:
            outcome = run(
                protocol,
                plan,
                store,
                jobs=count_threads(jobs),
                timeout=timeout,
                keep_predictions=keep_predictions,
                retry=retry_failed,
                interpreters=_interpreters(python, treeple_python),
                progress=show,
            )
        except KeyboardInterrupt:
            output.note(
                f"{len(store.done_keys())} results are in {folder}; the same command goes on."
            )
            raise
    _print_outcome(outcome, store, as_json)
    if outcome.n_cells and not any(result.status == OK for result in store.results()):
        raise typer.Exit(1)


def _find_protocol(name: str) -> Protocol:
    if name not in PROTOCOLS:
        known = join_names(list(PROTOCOLS), 20)
        raise wrong_value("The experiment", f"one of {known}", name, "See `bevel lab list`.")
    return PROTOCOLS[name]


def _check_data(protocol: Protocol, data: Path | None) -> Path | None:
    if data is None:
        if protocol.source == FOLDER:
            raise ValueError(
                f"{protocol.name} needs data sets; no folder was given. Pass --data FOLDER, with "
                "an index.csv and one <name>.csv.gz per set."
            )
        return None
    if not data.is_dir():
        raise FileNotFoundError(f"--data must be a folder; {data} is none. Check the path.")
    if protocol.source == SIMULATED:
        output.note(f"{protocol.name} is a simulation: --data is not used.")
    return data.resolve()


def _check_absent(protocol: Protocol, options: Mapping[str, object]) -> None:
    """Raise if options of data sets are given to a simulation."""
    for name, value in options.items():
        if value is not None:
            required = f"left out: {protocol.name} is a simulation, without data sets"
            raise wrong_value(name, required, value, "Omit it.")


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def _settings(given: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    pairs = [_pair("--setting", "NAME=VALUES", each, "n_features=10,50") for each in given or ()]
    return {name: _split(values) for name, values in pairs}


def _pair(option: str, required: str, given: str, example: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not (name and sign and value):
        raise wrong_value(option, required, given, f"Write for example {option} {example}.")
    return name, value


def _interpreters(given: Sequence[str] | None, treeple: str | None) -> dict[str, str]:
    interpreters = {"treeple": treeple} if treeple else {}
    for each in given or ():
        package, path = _pair("--python", "PACKAGE=INTERPRETER", each, "aeon=/path/to/python")
        interpreters[package] = path
    return interpreters


@contextmanager
def _progress(name: str) -> Iterator[Any]:
    """A bar on a terminal, a line a minute in a log; yields what takes the steps of a run."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(name, total=None, left="starting")

        def show(step: Step) -> None:
            cell = step.result.cell
            text = escape(f"{cell.data}, {cell.system}")
            bar.update(task, total=step.n_cells, completed=step.n_done, description=text)
            bar.update(task, left=f"{duration(step.seconds_left)} left")

        yield show


class _Lines:
    """Progress for logs."""

    def __init__(self) -> None:
        self.last = monotonic()

    def __call__(self, step: Step) -> None:
        if monotonic() - self.last >= SECONDS_BETWEEN_LINES:
            self.last = monotonic()
            left = duration(step.seconds_left)
            print(f"{step.n_done} of {step.n_cells} fits, {left} left", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Seconds in words: the two largest units."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _print_outcome(outcome: Outcome, store: ResultStore, as_json: bool) -> None:
    for message in (*outcome.left_out, *outcome.absent.values()):
        output.note(f"Left out: {message}")
    systems = store.describe()["systems"]
    rows = _summary(store.results(), systems)
    if as_json:
        output.print_json(
            {
                "folder": str(store.folder),
                "cells": outcome.n_cells,
                "done_before": outcome.n_before,
                "results": dict(outcome.counts),
                "seconds": outcome.seconds,
                "absent": dict(outcome.absent),
                "left_out": list(outcome.left_out),
                "problems": [
                    {"cell": each.cell.key, "status": each.status, "message": each.message}
                    for each in outcome.problems
                ],
                "systems": rows,
            }
        )
        return
    console = output.console()
    console.print(_table(rows))
    for line in problem_lines(outcome.problems):
        console.print(escape(printable(line)), soft_wrap=True)
    fresh = sum(outcome.counts.values())
    before = f", {outcome.n_before} were there before" if outcome.n_before else ""
    console.print(f"{fresh} fits in {duration(outcome.seconds)}{before}.")
    # Not broken into lines: paths and commands are there to be copied.
    console.print(f"Results are in {printable(str(store.folder))}", soft_wrap=True, markup=False)
    console.print(
        f"Page: bevel lab report {printable(str(store.folder))}", soft_wrap=True, markup=False
    )


def _summary(results: Sequence[Result], systems: Sequence[str]) -> list[dict[str, Any]]:
    """A line per system: how many cells, and their means."""
    rows = []
    for name in systems:
        own = [each for each in results if each.cell.system == name]
        fine = [each for each in own if each.status == OK]
        row: dict[str, Any] = {"system": SYSTEMS[name].label, "fits": len(fine)}
        row["not done"] = len(own) - len(fine)
        for title, metric, factor in (("error %", "error", 100.0), ("R²", "r2", 1.0)):
            if any(metric in each.metrics for each in results):
                row[title] = _mean([factor * each.metrics.get(metric, _NAN) for each in fine])
        row["fit s"] = _mean([each.seconds_fit for each in fine])
        rows.append(row)
    return rows


_NAN = float("nan")


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else _NAN


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in rows[0] if rows else ():
        table.add_column(name, justify="left" if name == "system" else "right")
    for row in rows:
        cells = [f"{each:.3g}" if isinstance(each, float) else str(each) for each in row.values()]
        table.add_row(*("–" if cell == "nan" else escape(printable(cell)) for cell in cells))
    return table


def problem_lines(problems: Sequence[Result]) -> list[str]:
    """Failures and skipped cells, those of one kind together."""
    kinds = Counter((each.cell.system, each.status, each.message) for each in problems)
    lines = []
    for (system, status, message), count in kinds.items():
        data = {
            each.cell.data: None
            for each in problems
            if (each.cell.system, each.status, each.message) == (system, status, message)
        }
        lines.append(f"{system}: {count} {status} ({join_names(list(data), 3)}): {message}")
    return lines


app.command("list", epilog=LIST_EXAMPLES)(error_handling.handle_errors(list_experiments))
app.command("run", epilog=RUN_EXAMPLES)(error_handling.handle_errors(run_experiment))
app.command("figure", epilog=figure.EXAMPLES)(error_handling.handle_errors(figure.figure))
app.command("papers", epilog=papers.EXAMPLES)(error_handling.handle_errors(papers.papers))
app.command("report", epilog=report.EXAMPLES)(error_handling.handle_errors(report.report))
