"""``bevel fit``: a forest from a file of rows, its out-of-bag score, a model file and a report."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bevel import workflow
from bevel.cli import options, output
from bevel.cli import options as forest
from bevel.cli.isolation import fit_rows
from bevel.cli.options import (
    Data,
    Drop,
    KeepId,
    Nominal,
    OptionalTarget,
    RowId,
    Task,
    TaskName,
    reads_tables,
    source_of,
    table_arguments,
)
from bevel.cli.output import as_flags
from bevel.cli.several_targets import check_for_outputs, finish_several
from bevel.cli.survival import fit_times
from bevel.errors import shorten
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.report.headline import score_line
from bevel.tables.options import TableKeywords, TableOptions
from bevel.workflow import FitResult
from bevel.workflow.fitting import BOOSTING, FOREST, Settings, coded
from bevel.workflow.predicting import out_of_bag_predictions
from bevel.workflow.rows import CLASSIFICATION
from bevel.workflow.scores import as_json, zero_probability_note
from bevel.workflow.several_targets import OutputFit, fit_outputs, split_targets

__all__ = ["EXAMPLES", "fit"]


class ModelName(StrEnum):
    """Kind of model."""

    forest = FOREST
    boosting = BOOSTING
    isolation = "isolation"


EXAMPLES = output.examples(
    "bevel fit iris.csv --target species --out iris.bevel --report iris.html",
    "bevel fit prices.parquet --target price --task regression --trees 500 --keep-targets",
    "bevel fit cells.tsv --target type --drop plate --nominal batch --class-weight rare=5",
    "bevel fit prices.parquet --target price --model boosting --out prices.bevel",
    "bevel fit patients.csv --time days --event died --out patients.bevel",
    "bevel fit patients.csv --time age_end --event cause --entry age_start --competing-risks",
    "bevel fit machines.csv --model isolation --id serial --out machines.bevel",
    "bevel fit wine.csv --target acidity,sugar --drop name --out wine.bevel",
    "zcat big.csv.gz | bevel fit - --target y --d 0.5 --max-depth 12 --json",
)


@reads_tables
def fit(
    data: Data,
    target: OptionalTarget = None,
    time: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Survival: column of the times.")
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Survival: column of seen events, 1 or 0."),
    ] = None,
    entry: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Survival: column of late entries, before the times."),
    ] = None,
    competing_risks: Annotated[
        bool,
        typer.Option(
            "--competing-risks", help="Survival: events are numbers of causes, 0 for none."
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Model file to write.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML page to write.")] = None,
    oob: Annotated[
        Path | None, typer.Option(help="CSV of the out-of-bag predictions to write.")
    ] = None,
    task: Task = TaskName.auto,
    model: Annotated[
        ModelName,
        typer.Option(help="Averaged trees, gradient boosting, or unusual rows without a target."),
    ] = ModelName.forest,
    trees: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of trees, by default 500 for classes and 300 for numbers; of boosting the "
            "iterations, by default as many as held-out rows find best.",
            rich_help_panel=forest.PANEL,
        ),
    ] = None,
    projection: forest.ProjectionNames = "auto",
    density: forest.Density = None,
    d: forest.Directions = "auto",
    max_depth: forest.MaxDepth = None,
    min_samples_leaf: forest.MinLeaf = None,
    criterion: forest.Criterion = None,
    class_weight: forest.ClassWeight = None,
    monotonic: forest.Monotonic = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the rows' weights. Scores count all rows alike.",
            rich_help_panel=forest.PANEL,
        ),
    ] = None,
    params: Annotated[
        Path | None, typer.Option(help="JSON file of parameters, from bevel tune --out.")
    ] = None,
    keep_targets: Annotated[
        bool,
        typer.Option(
            "--keep-targets",
            help="Keep the training targets in the model, for intervals (regression only).",
            rich_help_panel=forest.PANEL,
        ),
    ] = False,
    contamination: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Isolation: share of unusual rows, such as 0.05; the default is a score of -0.5.",
            rich_help_panel=forest.PANEL,
        ),
    ] = None,
    drop: Drop = None,
    nominal: Nominal = None,
    row_id: RowId = None,
    keep_id: KeepId = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json_: options.Json = False,
    force: options.Force = False,
    *,
    table: TableKeywords,
) -> None:
    """Fit a forest to a file of rows.

    The delimiter, missing values, numbers such as 1,234.50 and dates are found out, with notes
    where that is no matter of course. Columns that name rows are left out. Several targets,
    separated by commas, are predicted by one forest.
    """
    output.check_free([out, report, oob], force=force)
    of_times = not time is event is entry is None or competing_risks
    if model == ModelName.isolation or target is None or of_times:
        return _fit_others(locals())  # all options by name
    _check_model(model, oob, criterion, contamination)
    if report is not None:
        import_optional("matplotlib", needed_by="bevel fit --report", install="bevel[plot]")
    parameters = forest.forest_parameters(
        max_depth, min_samples_leaf, criterion, class_weight, monotonic
    )
    rows: dict[str, Any] = {"task": task, "drop": drop or (), "nominal": nominal or ()}
    rows |= {"keep_id": keep_id, "weights": weights, "row_id": row_id or ()}
    drawn = (forest.read_projection(projection, density), forest.read_directions(d))
    with source_of(data) as source, output.steps() as advance:
        targets, several = split_targets(source, target, TableOptions(**table)), None
        if len(targets) > 1:
            given = {"--params": params, "--keep-targets": keep_targets}
            check_for_outputs(given | {"--model": model != FOREST})
            settings = Settings(*drawn, trees or 0, seed, jobs, parameters)
            how: dict[str, Any] = {"options": TableOptions(**table), "on_progress": advance}
            several = fit_outputs(source, targets, settings, **rows, **how)
        found = several or workflow.fit(
            source,
            target,
            model=str(model),
            projection=drawn[0],
            n_projections=drawn[1],
            n_estimators=trees,
            params=params,
            keep_targets=keep_targets,
            parameters=parameters,
            **rows,
            random_state=seed,
            n_jobs=jobs,
            curve=report is not None,
            on_note=output.silent if as_json_ else output.note,
            on_progress=advance,
            **table,
        )
    if params is not None:
        projection = _name_of(found.settings.projection)
    words = forest.forest_arguments(projection, density, d, parameters)
    words += _words({"--weights": weights}, {"--drop": drop, "--nominal": nominal, "--id": row_id})
    words += ["--keep-id"] * keep_id + ["--keep-targets"] * keep_targets + table_arguments(table)
    words += _words({"--out": out, "--report": report, "--oob": oob}, {})
    files = {"model": out, "report": report, "out of bag": oob}
    if isinstance(found, OutputFit):
        return finish_several(found, data, files, _command(data, found, words), as_json_)
    if out is not None:
        found.model.save(out)
    if oob is not None:
        write_whole(oob, [out_of_bag_predictions(found).to_csv().encode("utf-8")])
    if report is not None:
        _write_report(report, data.name, found, _command(data, found, words), out)
    if as_json_:
        output.print_json(_as_json(found, projection, density, out, report))
    else:
        label = projection if density is None else f"{projection} of density {density:g}"
        _print(data, found, label, files)
    return None


def _fit_others(given: dict[str, Any]) -> None:
    """Fit models without a single target."""
    if given["model"] == ModelName.isolation:
        fit_rows(given)
    else:
        fit_times(given)


def _check_model(
    model: ModelName, oob: Path | None, criterion: str | None, contamination: float | None
) -> None:
    if contamination is not None:
        raise ValueError(
            f"--contamination belongs to --model isolation; got --model {model}. Leave it out."
        )
    if model != ModelName.boosting:
        return
    for option, given in (("--oob", oob), ("--criterion", criterion)):
        if given is not None:
            raise ValueError(
                f"{option} belongs to --model forest; got --model boosting, whose trees have no "
                "bags and lower a loss. Leave out one of the two."
            )


def _words(
    single: dict[str, Path | str | None], repeated: dict[str, Sequence[str] | None]
) -> list[str]:
    """Options that were given, as words of a command line."""
    words = [str(word) for pair in single.items() if pair[1] is not None for word in pair]
    return words + [
        word
        for option, values in repeated.items()
        for each in values or ()
        for word in (option, each)
    ]


def _command(data: Path, found: FitResult | OutputFit, words: Sequence[str]) -> str:
    """The command line that repeats a fit, with inferred options spelled out."""
    rows, settings = found.rows, found.settings
    target = ",".join(found.targets) if isinstance(found, OutputFit) else rows.target
    begin = ["bevel", "fit", str(data), "--target", target, "--task", rows.task]
    begin += [] if settings.model == FOREST else ["--model", settings.model]
    begin += ["--trees", str(settings.n_trees)] if settings.n_trees else []
    begin += ["--seed", str(settings.seed)]
    return shlex.join([*begin, *words])


def _write_report(
    report: Path, name: str, found: FitResult, command: str, out: Path | None
) -> None:
    from bevel.report.fit import fit_report, n_steps

    rows = replace(found.rows, notes=tuple(map(as_flags, found.rows.notes)))
    found, model_file = replace(found, rows=rows), "" if out is None else str(out)
    with output.progress("writing the report", n_steps(found)) as advance:
        page = fit_report(name, found, command, model_file=model_file, on_step=advance)
    write_whole(report, [page.encode("utf-8")])


def _as_json(
    found: FitResult,
    projection: str,
    density: float | None,
    out: Path | None,
    report: Path | None,
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
        "model_kind": found.settings.model,
        "n_trees": found.model.forest_.n_trees,
        "projection": projection,
        "density": density,
        "n_projections": found.settings.n_projections,
        "parameters": found.settings.others,
        "dates": sorted(rows.X.dates),
        "seed": found.settings.seed,
        "fit_seconds": found.seconds,
        "scored": found.scored_by,
        "scores": as_json(found.scores),
        "families": _families(found),
        "model": out,
        "report": report,
        "notes": [as_flags(text) for text in rows.notes],
    }


def _name_of(projection: Any) -> str:
    return projection if isinstance(projection, str) else shorten(projection)


def _grown(found: FitResult, projection: str) -> dict[str, str]:
    """Description of the model, in a line under its name."""
    rest = f"projection {projection}, grown in {found.seconds:.2f} s"
    if found.settings.model == FOREST:
        return {"forest": f"{found.model.n_estimators:,} trees, {rest}"}
    return {"boosting": f"{found.model.n_iter_:,} iterations, {rest}"}


def _families(found: FitResult) -> dict[str, Any] | None:
    record = getattr(found.model, "families_", None)
    return None if record is None else record.as_dict()


def _print(data: Path, found: FitResult, projection: str, files: dict[str, Path | None]) -> None:
    lines = {
        "data": "standard input" if str(data) == "-" else str(data),
        "size": found.rows.describe(),
        "target": found.rows.describe_target(),
        **_grown(found, projection),
    }
    for name, estimate in found.scores.items():
        lines[f"{found.scored_by} {name}"] = score_line(name, estimate)
    if found.out_of_bag is not None and found.rows.task == CLASSIFICATION:
        known = ~np.isnan(found.out_of_bag).any(axis=1)
        note = zero_probability_note(coded(found.rows)[known], found.out_of_bag[known])
        lines |= {"": note} if note else {}
    lines |= {name: str(path) for name, path in files.items() if path is not None}
    lines.setdefault("model", "not kept; --out model.bevel keeps it")
    output.print_lines(lines)
    output.print_families(_families(found), is_classifier=hasattr(found.model, "classes_"))
