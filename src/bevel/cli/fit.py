"""``bevel fit``: a model from a file of rows, its scores, a model file and a report."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bevel import report as pages
from bevel import workflow
from bevel.cli import options, output
from bevel.cli import options as forest
from bevel.cli.flags import Command, as_flags, flag
from bevel.cli.options import (
    Data,
    Drop,
    Entry,
    Event,
    KeepId,
    Nominal,
    OptionalTarget,
    RowId,
    Task,
    TaskName,
    Time,
    reads_tables,
    source_of,
)
from bevel.errors import shorten
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.tables.options import Source, TableKeywords, TableOptions

__all__ = ["EXAMPLES", "fit"]


class ModelName(StrEnum):
    """Kind of model."""

    combined = "combined"
    forest = "forest"
    boosting = "boosting"
    isolation = "isolation"


EXAMPLES = output.examples(
    "bevel fit iris.csv --target species --out iris.bevel --report iris.html",
    "bevel fit prices.csv --target price --quality 5 --out prices.bevel",
    "bevel fit prices.parquet --target price --model forest --trees 500 --keep-targets",
    "bevel fit cells.tsv --target type --drop plate --nominal batch --class-weight rare=5",
    "bevel fit prices.parquet --target price --model boosting --out prices.bevel",
    "bevel fit patients.csv --time days --event died --out patients.bevel",
    "bevel fit patients.csv --time age_end --event cause --entry age_start --competing-risks",
    "bevel fit machines.csv --model isolation --id serial --out machines.bevel",
    "bevel fit wine.csv --target acidity,sugar --drop name --out wine.bevel",
    "zcat big.csv.gz | bevel fit - --target y --model forest --max-depth 12 --json",
)


@reads_tables
def fit(
    data: Data,
    target: OptionalTarget = None,
    time: Time = None,
    event: Event = None,
    entry: Entry = None,
    competing_risks: Annotated[
        bool,
        typer.Option(
            "--competing-risks",
            help="Survival: the event column holds causes 1, 2, ..., 0 for censored.",
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Model file to write.")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML page to write.")] = None,
    positive: options.Positive = None,
    oob: Annotated[
        Path | None, typer.Option(help="CSV of a forest's out-of-bag predictions to write.")
    ] = None,
    task: Task = TaskName.auto,
    model: Annotated[
        ModelName | None,
        typer.Option(
            help="combined: a forest and gradient boosting, weighted, the default for one target; "
            "forest: the default for several targets and for times; boosting; isolation: a forest "
            "that finds unusual rows without a target."
        ),
    ] = None,
    quality: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=5,
            help="Accuracy of a combined model, at the cost of time; by default 3.",
            rich_help_panel=forest.PANEL,
        ),
    ] = None,
    trees: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Trees of a forest: by default 500 for classes, 300 for numbers, and with 5000 "
            "rows or more as many as are enough. Iterations of boosting: by default the number "
            "that is best on held-out rows.",
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
            help="Isolation: share of unusual rows, such as 0.05; by default, rows with a score "
            "below -0.5 are unusual.",
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
    """Fit a model to a file of rows: by default a forest and gradient boosting together.

    The delimiter, missing values, dates and numbers such as 1,234.50 are detected; notes say what
    was assumed where it is not obvious. Columns that identify rows are left out. Several targets,
    separated by commas, are predicted by one forest.
    """
    given: dict[str, Any] = dict(locals())
    output.check_free([out, report, oob], force=force)
    _check_options(given)
    if report is not None:
        import_optional("matplotlib", needed_by="bevel fit --report", install="bevel[plot]")
    with source_of(data) as source, output.steps() as advance:
        targets = _targets(given, source)
        found = workflow.fitting.fit_table(
            source,
            targets,
            workflow.tasks.Settings(
                forest.read_projection(projection, density),
                forest.read_directions(d),
                trees or 0,
                seed,
                jobs,
                forest.forest_parameters(
                    max_depth, min_samples_leaf, criterion, class_weight, monotonic, contamination
                )
                | ({} if quality is None else {"quality": quality}),
                _kind_of_model(given, targets),
            ),
            {
                "drop": drop or (),
                "nominal": nominal or (),
                "keep_id": keep_id,
                "weights": weights,
                "row_id": row_id or (),
                "options": TableOptions(**table),
            },
            params=params,
            keep_targets=keep_targets,
            curve=report is not None,
            on_note=output.silent if as_json_ else output.note,
            on_progress=advance,
        )
    notes = tuple(map(as_flags, found.rows.notes))
    found = replace(found, rows=replace(found.rows, notes=notes), positive=positive)
    if out is not None:
        found.model.save(out)
    if oob is not None:
        table_of_rows = found.rows.task.out_of_bag_table(found)
        write_whole(oob, [table_of_rows.to_csv().encode("utf-8")])
    if report is not None:
        _write_report(report, data.name, found, str(_command(given, found)), out)
    projection = projection if params is None else _name_of(found.settings.projection)
    if as_json_:
        output.print_json(_as_json(found, projection, density, out, report))
    else:
        label = projection if density is None else f"{projection} of density {density:g}"
        _print(data, found, label, {"model": out, "report": report, "out of bag": oob})


SURVIVAL_OPTIONS = ("time", "event", "entry", "competing_risks")

# Options that some fits do not have, and why.
NOT_WITH_ISOLATION = (
    (
        *("target", *SURVIVAL_OPTIONS, "report", "oob", "params", "max_depth", "min_samples_leaf"),
        *("criterion", "class_weight", "monotonic", "weights", "keep_targets", "task", "d"),
        "quality",
    ),
    "{option} has no meaning with --model isolation, which finds unusual rows without a target; "
    "got both. Leave it out{also}.",
)
NOT_WITH_TIMES = (
    (
        *("target", "params", "class_weight", "monotonic", "contamination", "keep_targets"),
        *("positive", "task", "model", "quality"),
    ),
    "{option} has no meaning with --time and --event, which fit a survival forest; got both. Leave "
    "it out.",
)
NOT_WITH_BOOSTING = (
    ("oob", "criterion"),
    "{option} belongs to --model forest; got --model boosting, whose trees have no bags and lower "
    "a loss. Leave out one of the two.",
)
NOT_WITH_COMBINED = (
    (
        *("oob", "criterion", "trees", "projection", "density", "d", "max_depth"),
        *("min_samples_leaf", "params", "keep_targets"),
    ),
    "{option} belongs to --model forest or boosting; got --model combined, the default, which "
    "chooses it. Leave it out, or add --model forest.",
)
ONLY_WITH_COMBINED = (
    ("quality",),
    "{option} belongs to --model combined; got --model {model}. Leave it out.",
)
ONLY_WITH_ISOLATION = (
    ("contamination",),
    "{option} belongs to --model isolation; got --model {model}. Leave it out.",
)
NOT_WITH_SEVERAL_TARGETS = (
    ("params", "keep_targets"),
    "{option} is for one target; got several columns in --target. Leave it out, or fit one target.",
)
ONLY_ONE_TARGET = (
    ("model",),
    "--model {model} is for one target; got several columns in --target, which a forest learns. "
    "Leave {option} out, or fit one target after the other.",
)


def _check_options(given: Mapping[str, Any]) -> None:
    """Raise for options that contradict each other."""
    if given["positive"] is not None and given["report"] is None:
        raise ValueError(
            "--positive belongs to --report, on whose page the rules are; got it alone. Name a "
            "page, or leave it out."
        )
    if given["model"] == ModelName.isolation:
        return _refuse(given, NOT_WITH_ISOLATION)
    if given["target"] is None or _given(given, SURVIVAL_OPTIONS):
        return _check_times(given)
    return None


def _check_times(given: Mapping[str, Any]) -> None:
    if not _given(given, SURVIVAL_OPTIONS):
        raise typer.BadParameter("Missing option '--target', or '--time' and '--event'.")
    if given["time"] is None or given["event"] is None:
        raise ValueError(
            "--time and --event belong together, also with --entry and --competing-risks: the time "
            "of each row, and whether the event was seen then; got a part of them. Name both "
            "columns."
        )
    _refuse(given, NOT_WITH_TIMES)


def _given(given: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Those of some options that differ from their defaults."""
    parameters = inspect.signature(fit).parameters
    return [name for name in names if given[name] != parameters[name].default]


def _refuse(given: Mapping[str, Any], rule: tuple[Sequence[str], str]) -> None:
    names, message = rule
    for name in _given(given, names):
        also = "; --drop keeps a column out of the features" if name == "target" else ""
        raise ValueError(message.format(option=flag(name), model=given["model"], also=also))


def _targets(given: Mapping[str, Any], source: Source) -> workflow.targets.TargetColumns:
    """The columns to learn."""
    if given["model"] == ModelName.isolation:
        return workflow.targets.NoColumn()
    if given["target"] is None:
        return workflow.targets.SurvivalColumns(*(given[name] for name in SURVIVAL_OPTIONS))
    table = TableOptions(**given["table"])
    return workflow.targets.named_targets(source, given["target"], given["task"], table)


def _kind_of_model(given: Mapping[str, Any], targets: workflow.targets.TargetColumns) -> str:
    """The kind of model of a target, by default that of its kind; raises for other options."""
    kind = given["model"] or ModelName(targets.default_model)
    if given["target"] is None:
        return str(ModelName.forest)
    given = {**given, "model": kind}
    _refuse(given, ONLY_WITH_ISOLATION)
    _refuse(given, NOT_WITH_COMBINED if kind == ModelName.combined else ONLY_WITH_COMBINED)
    if kind == ModelName.boosting:
        _refuse(given, NOT_WITH_BOOSTING)
    if isinstance(targets, workflow.targets.SeveralColumns):
        _refuse(given, NOT_WITH_SEVERAL_TARGETS)
        if kind != ModelName.forest:
            _refuse(given, ONLY_ONE_TARGET)
    return str(kind)


# Options that a repeated fit has as they were given, before and after those that are inferred.
GIVEN_FIRST = SURVIVAL_OPTIONS
GIVEN_LAST = (
    *("quality", "density", "d", "max_depth", "min_samples_leaf", "criterion", "class_weight"),
    *("monotonic", "params", "weights", "drop", "nominal", "row_id", "keep_id", "keep_targets"),
    "positive",
)


def _command(given: Mapping[str, Any], found: workflow.FitResult) -> Command:
    """The command that repeats a fit, with inferred options spelled out."""
    inferred = {
        "trees": found.settings.n_trees or None,
        "seed": found.settings.seed,
        "projection": given["projection"] if given["params"] is None else None,
    }
    if found.settings.model == ModelName.combined:
        del inferred["trees"], inferred["projection"]
    target = {
        "target": ",".join(found.rows.targets),
        "task": found.rows.task.name,
        "model": found.settings.model,
    }
    return Command(
        "fit",
        [given["data"]],
        {
            **({} if given["target"] is None else target),
            **{name: given[name] for name in _given(given, GIVEN_FIRST)},
            **inferred,
            **{name: given[name] for name in _given(given, GIVEN_LAST)},
            **given["table"],
            **{name: given[name] for name in ("out", "report", "oob")},
        },
    )


def _write_report(
    report: Path, name: str, found: workflow.FitResult, command: str, out: Path | None
) -> None:
    with output.progress("writing the report", pages.fit.n_steps(found)) as advance:
        page = pages.fit.fit_report(
            name, found, command, model_file="" if out is None else str(out), on_step=advance
        )
    write_whole(report, [page.encode("utf-8")])


def _name_of(projection: Any) -> str:
    return projection if isinstance(projection, str) else shorten(projection)


def _as_json(
    found: workflow.FitResult,
    projection: str,
    density: float | None,
    out: Path | None,
    report: Path | None,
) -> dict[str, Any]:
    n_rows, n_features = found.rows.X.shape
    return {
        "task": found.rows.task.name,
        "n_rows": n_rows,
        "n_features": n_features,
        "nominal": [found.rows.X.names[index] for index in found.rows.X.nominal],
        "dates": sorted(found.rows.X.dates),
        "model_kind": found.settings.model,
        "n_trees": _n_trees(found.model),
        "projection": projection,
        "density": density,
        "n_projections": found.settings.n_projections,
        "parameters": found.settings.others,
        "seed": found.settings.seed,
        "fit_seconds": found.seconds,
        **pages.fit.result_writer(found).as_dict(found),
        "model": out,
        "report": report,
        "notes": found.rows.notes,
    }


def _n_trees(model: Any) -> int:
    members = getattr(model, "members_", None)
    return model.forest_.n_trees if members is None else int(members.n_trees.sum())


def _print(
    data: Path, found: workflow.FitResult, projection: str, files: dict[str, Path | None]
) -> None:
    writer = pages.fit.result_writer(found)
    lines = {
        "data": "standard input" if str(data) == "-" else str(data),
        "size": found.rows.describe(),
        **writer.lines(found, projection),
        **{name: str(path) for name, path in files.items() if path is not None},
    }
    lines.setdefault("model", "not kept; --out model.bevel keeps it")
    output.print_lines(lines)
    if found.settings.model == str(ModelName.combined):
        output.print_members(found.model.members_.as_dict())
    output.print_families(writer.families(found), has_classes=found.rows.task.has_classes)
