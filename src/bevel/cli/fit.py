"""``bevel fit``: a forest from a file of rows, its out-of-bag score, a model file and a report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from bevel.cli import manners
from bevel.cli.table_options import Data, Drop, Header, Nominal, Target, Task, TaskName
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.report.score_text import fit_command, score_line
from bevel.workflow.fitting import Fitted, Settings, cross_validate, fit, scores_of
from bevel.workflow.labelled_table import CLASSIFICATION, Supervised, read_supervised
from bevel.workflow.scores import Estimate, as_json

__all__ = ["EXAMPLES", "fit_verb", "read_projection_names"]

EXAMPLES = manners.examples(
    "bevel fit iris.csv --target species --out iris.bevel --report iris.html",
    "bevel fit prices.parquet --target price --task regression --trees 500",
    "bevel fit cells.tsv --target type --drop id --nominal batch --json",
)


def fit_verb(
    data: Data,
    target: Target,
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
    seed: manners.Seed = 0,
    jobs: manners.Jobs = None,
    as_json_: manners.Json = False,
    force: manners.Force = False,
) -> None:
    """Fit a forest to a file of rows.

    Nominal columns, missing values and the delimiter are found by themselves.
    """
    manners.check_free([out, report], force=force)
    if report is not None:
        import_optional("matplotlib", needed_by="bevel fit --report", install="bevel[plot]")
    table = read_supervised(
        data, target, task=task, drop=drop or (), nominal=nominal or (), header=header
    )
    if not as_json_:
        for text in table.notes:
            manners.note(text)
    if keep_targets and table.task == CLASSIFICATION:
        raise ValueError(
            f"--keep-targets needs a target of numbers; got {len(table.classes)} classes. Leave it "
            "out, or ask for --task regression."
        )
    settings = Settings(read_projection_names(projection), "auto", trees, seed, jobs)
    with manners.progress("growing trees", trees) as advance:
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
        manners.print_json(facts)
    else:
        _print(data, table, projection, fitted, method, scores, out, report)


def read_projection_names(text: str) -> Any:
    """One name, or a list of several with commas between them."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names if len(names) > 1 else text.strip()


def _scores(
    table: Supervised, settings: Settings, fitted: Fitted
) -> tuple[str, dict[str, Estimate]]:
    """Out-of-bag scores; cross-validated ones where no row is out of a bag."""
    if fitted.out_of_bag is not None:
        found = scores_of(table, fitted.out_of_bag)
        if found:
            return "out-of-bag", found
    with manners.progress("cross-validating", 5) as advance:
        predictions = cross_validate(table, settings, on_fold=lambda done: advance(done, ""))
    return "cross-validated", scores_of(table, predictions)


def _write_report(
    report: Path,
    name: str,
    table: Supervised,
    settings: Settings,
    fitted: Fitted,
    command: str,
) -> None:
    from bevel.report.fit_report import fit_report, n_steps

    with manners.progress("writing the report", n_steps(table)) as advance:
        page = fit_report(name, table, settings, fitted, command, on_step=advance)
    write_whole(report, [page.encode("utf-8")])


def _facts(
    table: Supervised,
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
    table: Supervised,
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
    manners.print_lines(lines)
