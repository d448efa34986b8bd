"""``bevel fit --time --event``: a survival forest from a file of rows."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from bevel.cli import options as forest
from bevel.cli import output
from bevel.cli.options import source_of, table_arguments
from bevel.cli.output import as_flags
from bevel.extras import import_optional
from bevel.files.atomic import write_whole
from bevel.report.headline import score_line
from bevel.workflow.explaining import N_STEPS
from bevel.workflow.survival import SurvivalFit, fit_survival, out_of_bag_risks

__all__ = ["fit_times"]


# Options of `bevel fit` that do not apply to survival forests, and how to leave them out.
OTHERS = {
    "target": None,
    "params": None,
    "class_weight": None,
    "monotonic": None,
    "contamination": None,
    "keep_targets": False,
    "task": "auto",
    "model": "forest",
}


def fit_times(given: dict[str, Any]) -> None:
    """Fit a survival forest; `given` has the options of `bevel fit` by name."""
    others = given["entry"] is not None or given["competing_risks"]
    if given["time"] is None and given["event"] is None and not others:
        raise typer.BadParameter("Missing option '--target', or '--time' and '--event'.")
    _check(given)
    own = {
        "n_estimators": given["trees"] or 300,
        "projection": forest.read_projection(given["projection"], given["density"]),
        "n_projections": forest.read_directions(given["d"]),
        "competing_risks": given["competing_risks"],
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
        **forest.forest_parameters(
            given["max_depth"], given["min_samples_leaf"], given["criterion"], None
        ),
    }
    lists = {name: given[name] or () for name in ("drop", "nominal", "row_id")}
    reading = {**lists, "keep_id": given["keep_id"], "weights": given["weights"], **given["table"]}
    reading["entry"] = given["entry"]
    columns = (given["time"], given["event"])
    files = {name: given[name] for name in ("out", "report", "oob")}
    _fit(given["data"], columns, own, reading, files, given)


def _check(given: dict[str, Any]) -> None:
    """Raise for options that are not supported."""
    if given["time"] is None or given["event"] is None:
        raise ValueError(
            "--time and --event belong together, also with --entry and --competing-risks: the time "
            "of each row, and whether the event was seen then; got a part of them. Name both "
            "columns."
        )
    others = [name for name, left_out in OTHERS.items() if given[name] != left_out]
    if others:
        flag = "--" + others[0].replace("_", "-")
        raise ValueError(
            f"{flag} has no meaning with --time and --event, which fit a survival forest; got "
            "both. Leave it out."
        )


def _fit(
    data: Path,
    columns: tuple[str, str],
    parameters: dict[str, Any],
    reading: dict[str, Any],
    files: dict[str, Path | None],
    given: dict[str, Any],
) -> None:
    """Fit, save, write the report and print."""
    as_json = given["as_json_"]
    if files["report"] is not None:
        import_optional("matplotlib", needed_by="bevel fit --report", install="bevel[plot]")
    with source_of(data) as source, output.steps() as advance:
        found = fit_survival(
            source,
            *columns,
            parameters=parameters,
            on_note=output.silent if as_json else output.note,
            on_progress=advance,
            **reading,
        )
    if files["out"] is not None:
        found.model.save(files["out"])
    if files["oob"] is not None:
        write_whole(files["oob"], [out_of_bag_risks(found).to_csv().encode("utf-8")])
    if files["report"] is not None:
        _write_report(files["report"], data, found, _command(data, found, given), files["out"])
    if as_json:
        output.print_json(_as_json(found, files["out"], files["report"]))
        return
    _print(data, found, files)


def _print(data: Path, found: SurvivalFit, files: dict[str, Path | None]) -> None:
    scores, events = found.scores, int(found.target.event.sum())
    concordance = found.estimates["concordance"]
    lines = {
        "data": "standard input" if str(data) == "-" else str(data),
        "size": found.rows.describe(),
        "target": f"time {found.rows.target}, event {found.event_column}: {events:,} events"
        + _causes(found),
        "forest": f"{found.model.n_estimators:,} trees, grown in {found.seconds:.2f} s",
        "out-of-bag concordance": score_line("concordance", concordance),
        "out-of-bag Brier score": f"{scores.integrated_brier_score:.4f}, integrated; "
        f"{scores.reference:.4f} without features",
    }
    names = {"out": "model", "report": "report", "oob": "out of bag"}
    lines |= {names[name]: str(path) for name, path in files.items() if path is not None}
    lines.setdefault("model", "not kept; --out model.bevel keeps it")
    output.print_lines(lines)


def _causes(found: SurvivalFit) -> str:
    """Number of events of each cause, and of rows that enter late, in words."""
    words, target = "", found.target
    if target.cause is not None:
        counts = np.bincount(target.cause, minlength=target.n_causes + 1)[1:]
        each = [f"{n:,} of cause {k}" for k, n in enumerate(counts, 1)]
        words = f" ({', '.join(each)})"
    if target.entry is not None:
        n_late = int((target.entry > 0.0).sum())
        words += f"; {n_late:,} rows enter late ({found.entry_column})"
    return words


def _write_report(
    report: Path, data: Path, found: SurvivalFit, command: str, out: Path | None
) -> None:
    from bevel.report.fit import survival_report

    rows = replace(found.rows, notes=tuple(map(as_flags, found.rows.notes)))
    found, file = replace(found, rows=rows), "" if out is None else str(out)
    with output.progress("writing the report", N_STEPS) as advance:
        page = survival_report(data.name, found, command, model_file=file, on_step=advance)
    write_whole(report, [page.encode("utf-8")])


def _command(data: Path, found: SurvivalFit, given: dict[str, Any]) -> str:
    """The command line that repeats a fit."""
    words = ["bevel", "fit", str(data), "--time", given["time"], "--event", given["event"]]
    words += [] if given["entry"] is None else ["--entry", given["entry"]]
    words += ["--competing-risks"] * given["competing_risks"]
    words += ["--trees", str(found.model.n_estimators), "--seed", str(given["seed"])]
    parameters = forest.forest_parameters(
        given["max_depth"], given["min_samples_leaf"], given["criterion"], None
    )
    words += forest.forest_arguments(given["projection"], given["density"], given["d"], parameters)
    words += ["--keep-id"] * given["keep_id"] + table_arguments(given["table"])
    options = ("weights", "drop", "nominal", "row_id", "out", "report", "oob")
    for option in options:
        each = given[option]
        flag = "--id" if option == "row_id" else f"--{option}"
        for value in each if isinstance(each, list) else [each]:
            words += [] if value is None else [flag, str(value)]
    return shlex.join(words)


def _as_json(found: SurvivalFit, out: Path | None, report: Path | None) -> dict[str, Any]:
    n_rows, n_features = found.rows.X.shape
    return {
        "task": "survival",
        "time": found.rows.target,
        "event": found.event_column,
        "entry": found.entry_column,
        "n_causes": found.model.n_causes_,
        "n_rows": n_rows,
        "n_features": n_features,
        "n_events": int(found.target.event.sum()),
        "n_trees": found.model.forest_.n_trees,
        "fit_seconds": found.seconds,
        "scored": "out of bag",
        "scores": {
            "concordance": found.scores.concordance,
            "concordance_error": found.scores.concordance_error,
            "integrated_brier_score": found.scores.integrated_brier_score,
            "mean_auc": found.scores.mean_auc,
        },
        "model": out,
        "report": report,
        "notes": [as_flags(text) for text in found.rows.notes],
    }
