"""``bevel fit --target a,b``: one forest of several outputs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bevel.cli import output
from bevel.cli.output import as_flags
from bevel.files.atomic import write_whole
from bevel.report.headline import score_line
from bevel.workflow.scores import as_json
from bevel.workflow.several_targets import OutputFit, out_of_bag_outputs

__all__ = ["check_for_outputs", "finish_several"]


def check_for_outputs(given: Mapping[str, object]) -> None:
    """Raise for options that are not supported with several targets."""
    for option, value in given.items():
        if value:
            raise ValueError(
                f"{option} is for one target; got several columns in --target. Leave it out, or "
                "fit one target."
            )


def finish_several(
    found: OutputFit,
    data: Path,
    files: Mapping[str, Path | None],
    command: str,
    as_json_: bool,
) -> None:
    """Save, write predictions and report, and print; `command` repeats the fit."""
    out, oob, report = files["model"], files["out of bag"], files["report"]
    if out is not None:
        found.model.save(out)
    if oob is not None:
        write_whole(oob, [out_of_bag_outputs(found).to_csv().encode("utf-8")])
    if report is not None:
        _write_report(found, data.name, report, command, out)
    if as_json_:
        output.print_json(_as_json(found, files))
    else:
        _print(data, found, files)


def _write_report(
    found: OutputFit, name: str, report: Path, command: str, out: Path | None
) -> None:
    from bevel.report.fit import n_steps_of_outputs, outputs_report

    rows = replace(found.rows, notes=tuple(map(as_flags, found.rows.notes)))
    found, file = replace(found, rows=rows), "" if out is None else str(out)
    with output.progress("writing the report", n_steps_of_outputs(found)) as advance:
        page = outputs_report(name, found, command, model_file=file, on_step=advance)
    write_whole(report, [page.encode("utf-8")])


def _as_json(found: OutputFit, files: Mapping[str, Path | None]) -> dict[str, Any]:
    n_rows, n_features = found.rows.X.shape
    return {
        "task": found.rows.task,
        "targets": list(found.targets),
        "n_rows": n_rows,
        "n_features": n_features,
        "n_trees": found.model.forest_.n_trees,
        "seed": found.settings.seed,
        "fit_seconds": found.seconds,
        "scored": "out-of-bag",
        "scores": {name: as_json(scores) for name, scores in found.scores.items()},
        "model": files["model"],
        "report": files["report"],
        "notes": [as_flags(text) for text in found.rows.notes],
    }


def _print(data: Path, found: OutputFit, files: Mapping[str, Path | None]) -> None:
    for note in found.rows.notes:
        output.note(note)
    lines = {
        "data": "standard input" if str(data) == "-" else str(data),
        "size": found.rows.describe(),
        "targets": f"{', '.join(found.targets)} ({found.rows.task})",
        "forest": f"{found.model.n_estimators:,} trees, grown in {found.seconds:.2f} s",
    }
    for target, scores in found.scores.items():
        name, estimate = next(iter(scores.items()))
        lines[f"{target}: out-of-bag {name}"] = score_line(name, estimate)
    lines |= {name: str(path) for name, path in files.items() if path is not None}
    lines.setdefault("model", "not kept; --out model.bevel keeps it")
    output.print_lines(lines)
