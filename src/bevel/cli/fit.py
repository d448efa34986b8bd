"""``bevel fit``: a forest from a file of rows, its out-of-bag score, a model file and a report."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bevel import workflow
from bevel.cli import options, output
from bevel.cli.flags import as_flags
from bevel.cli.table_options import Data, Drop, Header, Nominal, TargetColumn, Task, TaskName
from bevel.errors import shorten
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.report.score_text import fit_command, score_line
from bevel.workflow import FitResult
from bevel.workflow.scores import as_json

__all__ = ["EXAMPLES", "fit", "read_projection_names"]

EXAMPLES = output.examples(
    "bevel fit iris.csv --target species --out iris.bevel --report iris.html",
    "bevel fit prices.parquet --target price --task regression --trees 500",
    "bevel fit cells.tsv --target type --drop id --nominal batch --json",
)


def fit(
    data: Data,
    target: TargetColumn,
    out: Annotated[Path | None, typer.Option(help="Model file to write.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML page to write.")] = None,
    task: Task = TaskName.auto,
    projection: Annotated[
        str,
        typer.Option(
            help="Where directions come from: axis, sparse, combination, gaussian, rotation, "
            "multirotation, principal, ridge, lda, logistic, pls, cca, or several with commas."
        ),
    ] = "sparse",
    trees: Annotated[int, typer.Option(min=1, help="Number of trees.")] = 300,
    params: Annotated[
        Path | None, typer.Option(help="JSON file of parameters, from bevel tune --out.")
    ] = None,
    keep_targets: Annotated[
        bool,
        typer.Option(
            "--keep-targets",
            help="Keep the training targets in the model, for quantiles (regression only).",
        ),
    ] = False,
    drop: Drop = None,
    nominal: Nominal = None,
    header: Header = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json_: options.Json = False,
    force: options.Force = False,
) -> None:
    """Fit a forest to a file of rows.

    Nominal columns, missing values and the delimiter are found by themselves.
    """
    output.check_free([out, report], force=force)
    if report is not None:
        import_optional("matplotlib", needed_by="bevel fit --report", install="bevel[plot]")
    with output.steps() as advance:
        found = workflow.fit(
            data,
            target,
            task=task,
            projection=read_projection_names(projection),
            n_estimators=trees,
            params=params,
            keep_targets=keep_targets,
            drop=drop or (),
            nominal=nominal or (),
            header=header,
            random_state=seed,
            n_jobs=jobs,
            curve=report is not None,
            on_note=output.silent if as_json_ else output.note,
            on_progress=advance,
        )
    if params is not None:
        projection = shorten(found.settings.projection)
    if out is not None:
        found.model.save(out)
    if report is not None:
        command = fit_command(data, found, out, report, drop, nominal, header, keep_targets)
        _write_report(report, data.name, found, command)
    if as_json_:
        output.print_json(_facts(found, projection, out, report))
    else:
        _print(data, found, projection, out, report)


def read_projection_names(text: str) -> Any:
    """One name, or a list of several with commas between them."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names if len(names) > 1 else text.strip()


def _write_report(report: Path, name: str, found: FitResult, command: str) -> None:
    from bevel.report.fit_report import fit_report, n_steps

    rows = replace(found.rows, notes=tuple(map(as_flags, found.rows.notes)))
    with output.progress("writing the report", n_steps(rows)) as advance:
        page = fit_report(name, replace(found, rows=rows), command, on_step=advance)
    write_whole(report, [page.encode("utf-8")])


def _facts(
    found: FitResult, projection: str, out: Path | None, report: Path | None
) -> dict[str, Any]:
    rows = found.rows
    n_rows, n_features = rows.X.shape
    return {
        "task": rows.task,
        "target": rows.target,
        "n_rows": n_rows,
        "n_features": n_features,
        "nominal": [rows.X.names[index] for index in rows.X.nominal],
        "classes": rows.classes,
        "n_trees": found.settings.n_trees,
        "projection": projection,
        "seed": found.settings.seed,
        "fit_seconds": found.seconds,
        "scored": found.scored_by,
        "scores": as_json(found.scores),
        "model": out,
        "report": report,
        "notes": [as_flags(text) for text in rows.notes],
    }


def _print(
    data: Path, found: FitResult, projection: str, out: Path | None, report: Path | None
) -> None:
    lines = {
        "data": str(data),
        "size": found.rows.describe(),
        "target": found.rows.describe_target(),
        "forest": f"{found.model.n_estimators:,} trees, projection {projection}, "
        f"grown in {found.seconds:.2f} s",
    }
    for name, estimate in found.scores.items():
        lines[f"{found.scored_by} {name}"] = score_line(name, estimate)
    lines["model"] = "not kept; --out model.bevel keeps it" if out is None else str(out)
    if report is not None:
        lines["report"] = str(report)
    output.print_lines(lines)
