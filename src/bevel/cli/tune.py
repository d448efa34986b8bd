"""``bevel tune``: SPORF's grid over d and λ by out-of-bag error."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from bevel.cli import options, output
from bevel.cli.flags import as_flags
from bevel.cli.table_options import Data, Drop, Header, Nominal, TargetColumn, Task, TaskName
from bevel.printable import printable
from bevel.report.score_text import interval, score, score_line
from bevel.workflow.fitting import Settings, fit
from bevel.workflow.labelled_rows import CLASSIFICATION, LabelledRows, read_labelled_rows
from bevel.workflow.scores import Estimate
from bevel.workflow.tuning import Point, Tried, best_of, grid, python_line, tune

__all__ = ["EXAMPLES", "tune_verb"]

EXAMPLES = output.examples(
    "bevel tune iris.csv --target species",
    "bevel tune iris.csv --target species --trees 500 --out best.bevel",
)


def tune_verb(
    data: Data,
    target: TargetColumn,
    out: Annotated[
        Path | None, typer.Option(help="Model file for the best forest, grown anew.")
    ] = None,
    task: Task = TaskName.auto,
    tuning_trees: Annotated[int, typer.Option(min=1, help="Trees at each point.")] = 100,
    trees: Annotated[int, typer.Option(min=1, help="Trees of the best forest.")] = 300,
    all_powers: Annotated[
        bool, typer.Option("--all-powers", help="Try d = p² however many that are.")
    ] = False,
    drop: Drop = None,
    nominal: Nominal = None,
    header: Header = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Choose d and λ by out-of-bag error, without cross-validation.

    The grid is that of the SPORF paper (section 3.2): d = p^¼, p^½, p^¾, p and p² directions at
    each node, which combine 1 to 5 features on average.
    """
    output.check_free([out], force=force)
    read = read_labelled_rows(
        data, target, task=task, drop=drop or (), nominal=nominal or (), header=header
    )
    table = replace(read, notes=tuple(map(as_flags, read.notes)))
    if not as_json:
        for text in table.notes:
            output.note(text)
    points = grid(table, all_powers=all_powers)
    settings = Settings(n_trees=trees, seed=seed, n_jobs=jobs)
    tried = _try(table, points, replace(settings, n_trees=tuning_trees))
    best = best_of(tried)
    if out is not None:
        with output.progress("growing the best forest", trees) as advance:
            chosen = best.point.settings(settings)
            fit(table, chosen, on_tree=lambda done, _: advance(done, "")).model.save(out)
    if as_json:
        output.print_json(_facts(table, tried, best, settings, out))
        return
    console = output.console()
    console.print(_table(table, tried, best))
    output.print_lines(_lines(data, table, best, out))
    print(f"\n{printable(python_line(table, best, settings))}")  # as one line, to be copied


def _try(table: LabelledRows, points: Sequence[Point], settings: Settings) -> list[Tried]:
    with output.progress("points of the grid", len(points)) as advance:
        return tune(table, points, settings, on_point=lambda done: advance(done, ""))


def _loss_name(table: LabelledRows) -> str:
    return "error" if table.task == CLASSIFICATION else "mean squared error"


def _table(table: LabelledRows, tried: Sequence[Tried], best: Tried) -> Table:
    name = _loss_name(table)
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("d", "directions", "λp", f"out-of-bag {name}", "95 % interval", "seconds"):
        made.add_column(head, justify="left" if head == "d" else "right")
    for each in tried:
        point = each.point
        made.add_row(
            point.d,
            f"{point.n_projections:,}",
            str(point.density),
            score(name, each.loss),
            interval(name, each.loss),
            f"{each.seconds:.2f}",
            style="bold" if each is best else None,
        )
    return made


def _lines(data: Path, table: LabelledRows, best: Tried, out: Path | None) -> dict[str, str]:
    point = best.point
    return {
        "data": str(data),
        "size": table.describe(),
        "target": table.describe_target(),
        "best": f"d = {point.d} ({point.n_projections:,} directions), λp = {point.density}",
        f"out-of-bag {_loss_name(table)}": score_line(_loss_name(table), best.loss)
        + ", optimistic: the best of many",
        "model": "not kept; --out model.bevel keeps it" if out is None else str(out),
    }


def _facts(
    table: LabelledRows, tried: Sequence[Tried], best: Tried, settings: Settings, out: Path | None
) -> dict[str, Any]:
    def described(each: Tried) -> dict[str, Any]:
        loss: Estimate = each.loss
        return vars(each.point) | {"loss": loss.as_dict(), "seconds": each.seconds}

    return {
        "task": table.task,
        "target": table.target,
        "loss": _loss_name(table),
        "grid": [described(each) for each in tried],
        "best": described(best),
        "python": python_line(table, best, settings),
        "model": out,
        "notes": table.notes,
    }
