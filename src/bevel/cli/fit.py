"""``bevel fit``: a forest from a file of rows, its out-of-bag score, a model file and a report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bevel.cli import options, output
from bevel.cli.flags import as_flags
from bevel.cli.table_options import Data, Drop, Header, Nominal, TargetColumn, Task, TaskName
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.report.score_text import fit_command, score_line
from bevel.workflow.fitting import (
    Fitted,
    Settings,
    check_keep_targets,
    cross_validate,
    fit,
    score_fitted,
)
from bevel.workflow.labelled_rows import LabelledRows, read_labelled_rows
from bevel.workflow.scores import Estimate, as_json

__all__ = ["EXAMPLES", "fit_verb", "read_projection_names"]

EXAMPLES = output.examples(
    "bevel fit iris.csv --target species --out iris.bevel --report iris.html",
    "bevel fit prices.parquet --target price --task regression --trees 500",
    "bevel fit cells.tsv --target type --drop id --nominal batch --json",
)


def fit_verb(
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
    read = read_labelled_rows(
        data, target, task=task, drop=drop or (), nominal=nominal or (), header=header
    )
    table = replace(read, notes=tuple(map(as_flags, read.notes)))
    if not as_json_:
        for text in table.notes:
            output.note(text)
    if keep_targets:
        check_keep_targets(table)
    settings = Settings(read_projection_names(projection), "auto", trees, seed, jobs)
    with output.progress("growing trees", trees) as advance:
        fitted = fit(
            table,
            settings,
            keep_targets=keep_targets,
            curve=report is not None,
            on_tree=lambda done, _: advance(done, ""),
        )
    method, scores = _scores(table, settings, fitted)
    if out is not None:
        fitted.model.save(out)
    if report is not None:
        command = fit_command(
            data, table, settings, out, report, drop, nominal, header, keep_targets
        )
        _write_report(report, data.name, table, settings, fitted, command)
    facts = _facts(table, settings, projection, fitted, method, scores, out, report)
    if as_json_:
        output.print_json(facts)
    else:
        _print(data, table, projection, fitted, method, scores, out, report)


def read_projection_names(text: str) -> Any:
    """One name, or a list of several with commas between them."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names if len(names) > 1 else text.strip()


def _scores(
    table: LabelledRows, settings: Settings, fitted: Fitted
) -> tuple[str, dict[str, Estimate]]:
    """Scores, with a bar while they are cross-validated."""

    def cross_validated() -> Any:
        with output.progress("cross-validating", 5) as advance:
            return cross_validate(table, settings, on_fold=lambda done: advance(done, ""))

    return score_fitted(table, settings, fitted, cross_validated)


def _write_report(
    report: Path,
    name: str,
    table: LabelledRows,
    settings: Settings,
    fitted: Fitted,
    command: str,
) -> None:
    from bevel.report.fit_report import fit_report, n_steps

    with output.progress("writing the report", n_steps(table)) as advance:
        page = fit_report(name, table, settings, fitted, command, on_step=advance)
    write_whole(report, [page.encode("utf-8")])


def _facts(
    table: LabelledRows,
    settings: Settings,
    projection: str,
    fitted: Fitted,
    method: str,
    scores: Mapping[str, Estimate],
    out: Path | None,
    report: Path | None,
) -> dict[str, Any]:
    n_rows, n_features = table.X.shape
    return {
        "task": table.task,
        "target": table.target,
        "n_rows": n_rows,
        "n_features": n_features,
        "nominal": [table.X.names[index] for index in table.X.nominal],
        "classes": table.classes,
        "n_trees": settings.n_trees,
        "projection": projection,
        "seed": settings.seed,
        "fit_seconds": fitted.seconds,
        "scored": method,
        "scores": as_json(scores),
        "model": out,
        "report": report,
        "notes": table.notes,
    }


def _print(
    data: Path,
    table: LabelledRows,
    projection: str,
    fitted: Fitted,
    method: str,
    scores: Mapping[str, Estimate],
    out: Path | None,
    report: Path | None,
) -> None:
    lines = {
        "data": str(data),
        "size": table.describe(),
        "target": table.describe_target(),
        "forest": f"{fitted.model.n_estimators:,} trees, projection {projection}, "
        f"grown in {fitted.seconds:.2f} s",
    }
    for name, estimate in scores.items():
        lines[f"{method} {name}"] = score_line(name, estimate)
    lines["model"] = "not kept; --out model.bevel keeps it" if out is None else str(out)
    if report is not None:
        lines["report"] = str(report)
    output.print_lines(lines)
