"""``bevel tune``: a search for better parameters than the defaults, by out-of-bag loss."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from bevel import workflow
from bevel.cli import options, output
from bevel.cli.flags import Command, as_flags
from bevel.cli.options import (
    Data,
    Drop,
    KeepId,
    Nominal,
    TargetColumn,
    Task,
    TaskName,
    reads_tables,
    source_of,
)
from bevel.printable import printable
from bevel.tables.options import TableKeywords

if TYPE_CHECKING:
    from bevel.tuning.search import Candidate

COLUMNS = ("parameters", "trees", "loss ± std. error", "difference", "seconds")
MAX_SHOWN = 10  # candidates in the printed table

__all__ = ["EXAMPLES", "tune"]

EXAMPLES = output.examples(
    "bevel tune iris.csv --target species --out tuned.json",
    "bevel fit iris.csv --target species --model forest --params tuned.json --out iris.bevel",
    "bevel tune iris.csv --target species --seconds 60 --store run.jsonl",
)


class Grid(StrEnum):
    """Kind of candidates."""

    auto = "auto"
    sporf = "sporf"


@reads_tables
def tune(
    data: Data,
    target: TargetColumn,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="JSON file of the best parameters, for fit --params."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Model file for a forest with the best parameters.")
    ] = None,
    task: Task = TaskName.auto,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Largest number of trees to grow; by default 6000.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Time limit of the search.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="File of results, from which a search that was stopped resumes."),
    ] = None,
    grid: Annotated[
        Grid,
        typer.Option(
            help="Candidates: those for general use, or the SPORF paper's grid of d and λ."
        ),
    ] = Grid.auto,
    all_powers: Annotated[
        bool,
        typer.Option("--all-powers", help="With --grid sporf: try d = p², however large it is."),
    ] = False,
    first_trees: Annotated[
        int, typer.Option(min=10, help="Trees of each candidate in the first round.")
    ] = 100,
    trees: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Trees of --model, by default 500 for classes and 300 for numbers, or as many as "
            "are enough with 5000 rows or more.",
        ),
    ] = None,
    drop: Drop = None,
    nominal: Nominal = None,
    keep_id: KeepId = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    force: options.Force = False,
    *,
    table: TableKeywords,
) -> None:
    """Search for better parameters than the defaults, without cross-validation.

    Forests with other parameters are compared on the same out-of-bag rows. The better half goes on
    with twice as many trees, until three are left.
    """
    _check_out(out)
    output.check_free([out, model], force=force)
    with source_of(data) as source, output.steps() as advance:
        found = workflow.tune(
            source,
            target,
            task=task,
            budget=budget,
            seconds=seconds,
            grid=grid,
            all_powers=all_powers,
            first_trees=first_trees,
            n_estimators=trees,
            store=store,
            drop=drop or (),
            nominal=nominal or (),
            keep_id=keep_id,
            random_state=seed,
            n_jobs=jobs,
            refit=model is not None,
            on_note=output.silent if as_json else output.note,
            on_progress=advance,
            **table,
        )
    if out is not None:
        from bevel.tuning.parameter_file import write_parameter_file

        write_parameter_file(out, found.found.best_params_, found.model, found.rows.target)
    if model is not None:
        found.model.save(model)
    if as_json:
        output.print_json(_as_json(found, out, model))
    else:
        _print(data, found, out, model)


def _check_out(out: Path | None) -> None:
    if out is not None and out.suffix == ".bevel":
        raise ValueError(
            f"--out is the JSON file of the best parameters; got {out}, the name of a model. Use "
            "--model for the model file."
        )


def _print(data: Path, found: workflow.TuneResult, out: Path | None, model: Path | None) -> None:
    result = found.found
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in COLUMNS:
        made.add_column(name, justify="left" if name == COLUMNS[0] else "right", overflow="fold")
    shown = list(zip(result.candidates_, result.table(), strict=True))
    for candidate, cells in shown[:MAX_SHOWN]:
        style = "bold" if candidate is result.best_ else None
        made.add_row(*(Text(printable(cell)) for cell in _joined(cells)), style=style)
    if len(shown) > MAX_SHOWN:
        made.caption = f"and {len(shown) - MAX_SHOWN} that did worse; --json lists all"
        made.caption_justify = "left"
    output.console().print(made)
    lines = {
        "data": str(data),
        "size": found.rows.describe(),
        "target": found.rows.describe_target(),
        "compared": f"out-of-bag {result.loss_}, {result.n_trees_:,} trees",
        "parameters": "not kept; --out tuned.json keeps them" if out is None else str(out),
    }
    if model is not None:
        lines["model"] = str(model)
    output.print_lines(lines)
    for note in result.notes_:
        print(printable(as_flags(_of_defaults(note))))
    if out is not None:
        kind = workflow.tasks.FOREST
        given = {"target": found.rows.target, "model": kind, "params": out}
        command = Command("fit", [data], given)
        print(f"\n{printable(str(command))}")  # in one line, for copying


def _joined(cells: Sequence[str]) -> list[str]:
    """The cells of a candidate with standard errors beside their values, to save width."""
    name, trees, loss, error, change, its_error, seconds = cells
    return [
        _of_defaults(name),
        trees,
        f"{loss} ± {error}" if error else loss,
        f"{change} ± {its_error}" if its_error else change,
        seconds,
    ]


def _of_defaults(text: str) -> str:
    """Replace "as passed" by "the defaults", which the command line tunes."""
    text = text.replace("the estimator as it was passed", "the defaults")
    return "the defaults" if text == "as passed" else text


def _as_json(found: workflow.TuneResult, out: Path | None, model: Path | None) -> dict[str, Any]:
    from bevel.tuning.candidates import write_parameters

    def described(each: Candidate) -> dict[str, Any]:
        rounds = [vars(evaluation) for evaluation in each.rounds]
        return {"parameters": write_parameters(each.parameters), "rounds": rounds}

    result = found.found
    return {
        "task": found.rows.task.name,
        "target": found.rows.target,
        "loss": result.loss_,
        "candidates": [described(each) for each in result.candidates_],
        "best": described(result.best_),
        "n_trees": result.n_trees_,
        "parameters": out,
        "model": model,
        "notes": [as_flags(text) for text in (*found.rows.notes, *result.notes_)],
    }
