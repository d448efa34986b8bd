"""``bevel tune``: SPORF's grid over d and λ by out-of-bag error."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from bevel import workflow
from bevel.cli import options, output
from bevel.cli.flags import as_flags
from bevel.cli.table_options import (
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
from bevel.report.score_text import interval, score, score_line
from bevel.workflow import TuneResult
from bevel.workflow.labelled_rows import CLASSIFICATION
from bevel.workflow.scores import Estimate
from bevel.workflow.tables.options import TableKeywords
from bevel.workflow.tuning import Tried, python_line

__all__ = ["EXAMPLES", "tune"]

EXAMPLES = output.examples(
    "bevel tune iris.csv --target species",
    "bevel tune iris.csv --target species --trees 500 --out best.bevel",
)


@reads_tables
def tune(
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
    keep_id: KeepId = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    force: options.Force = False,
    *,
    table: TableKeywords,
) -> None:
    """Choose d and λ by out-of-bag error, without cross-validation.

    The grid is that of the SPORF paper (section 3.2): d = p^¼, p^½, p^¾, p and p² directions at
    each node, which combine 1 to 5 features on average.
    """
    output.check_free([out], force=force)
    with source_of(data) as source, output.steps() as advance:
        found = workflow.tune(
            source,
            target,
            task=task,
            n_estimators=trees,
            tuning_trees=tuning_trees,
            all_powers=all_powers,
            drop=drop or (),
            nominal=nominal or (),
            keep_id=keep_id,
            random_state=seed,
            n_jobs=jobs,
            refit=out is not None,
            on_note=output.silent if as_json else output.note,
            on_progress=advance,
            **table,
        )
    if out is not None:
        found.model.save(out)
    if as_json:
        output.print_json(_facts(found, out))
        return
    console = output.console()
    console.print(_table(found))
    output.print_lines(_lines(data, found, out))
    print(f"\n{printable(_python_line(found))}")  # as one line, to be copied


def _python_line(found: TuneResult) -> str:
    return python_line(found.rows, found.best, found.settings)


def _loss_name(found: TuneResult) -> str:
    return "error" if found.rows.task == CLASSIFICATION else "mean squared error"


def _table(found: TuneResult) -> Table:
    name = _loss_name(found)
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("d", "directions", "λp", f"out-of-bag {name}", "95 % interval", "seconds"):
        made.add_column(head, justify="left" if head == "d" else "right")
    for each in found.tried:
        point = each.point
        made.add_row(
            point.d,
            f"{point.n_projections:,}",
            str(point.density),
            score(name, each.loss),
            interval(name, each.loss),
            f"{each.seconds:.2f}",
            style="bold" if each is found.best else None,
        )
    return made


def _lines(data: Path, found: TuneResult, out: Path | None) -> dict[str, str]:
    point = found.best.point
    return {
        "data": str(data),
        "size": found.rows.describe(),
        "target": found.rows.describe_target(),
        "best": f"d = {point.d} ({point.n_projections:,} directions), λp = {point.density}",
        f"out-of-bag {_loss_name(found)}": score_line(_loss_name(found), found.best.loss)
        + ", optimistic: the best of many",
        "model": "not kept; --out model.bevel keeps it" if out is None else str(out),
    }


def _facts(found: TuneResult, out: Path | None) -> dict[str, Any]:
    def described(each: Tried) -> dict[str, Any]:
        loss: Estimate = each.loss
        return vars(each.point) | {"loss": loss.as_dict(), "seconds": each.seconds}

    return {
        "task": found.rows.task,
        "target": found.rows.target,
        "loss": _loss_name(found),
        "grid": [described(each) for each in found.tried],
        "best": described(found.best),
        "python": _python_line(found),
        "model": out,
        "notes": [as_flags(text) for text in found.rows.notes],
    }
