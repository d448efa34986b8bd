"""``bevel fit --target a,b``: one forest of several outputs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bevel.cli import output
from bevel.cli.flags import as_flags
from bevel.report.score_text import score_line
from bevel.workflow.scores import as_json
from bevel.workflow.several_targets import OutputFit, fit_outputs

__all__ = ["check_for_outputs", "fit_several"]


def check_for_outputs(given: Mapping[str, object]) -> None:
    """Raise if options were given that several targets cannot have."""
    for option, value in given.items():
        if value:
            raise ValueError(
                f"{option} is for one target; got several columns in --target. Leave it out, or "
                "fit one target."
            )


def fit_several(data: Path, out: Path | None, as_json_: bool, *fit: Any, **settings: Any) -> None:
    """Fit, save and print; further arguments are those of `fit_outputs`."""
    found = fit_outputs(*fit, **settings)
    if out is not None:
        found.model.save(out)
    if as_json_:
        output.print_json(_as_json(found, out))
    else:
        _print(data, found, out)


def _as_json(found: OutputFit, out: Path | None) -> dict[str, Any]:
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
        "model": out,
        "notes": [as_flags(text) for text in found.rows.notes],
    }


def _print(data: Path, found: OutputFit, out: Path | None) -> None:
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
    lines["model"] = "not kept; --out model.bevel keeps it" if out is None else str(out)
    output.print_lines(lines)
