"""What ``bevel fit --time --event`` does: a survival forest from a file of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from bevel.cli import forest_options as forest
from bevel.cli import output
from bevel.cli.flags import as_flags
from bevel.cli.table_options import source_of
from bevel.workflow.survival import SurvivalFit, fit_survival

__all__ = ["fit_times"]


# Options of `bevel fit` that have no meaning for survival forests, and what leaves them out.
OTHERS = {
    "target": None,
    "report": None,
    "oob": None,
    "params": None,
    "class_weight": None,
    "monotonic": None,
    "keep_targets": False,
    "task": "auto",
    "model": "forest",
}


def fit_times(given: dict[str, Any]) -> None:
    """Fit a survival forest; `given` has the options of `bevel fit` by name."""
    if given["time"] is None and given["event"] is None:
        raise typer.BadParameter("Missing option '--target', or '--time' and '--event'.")
    _check(given)
    own = {
        "n_estimators": given["trees"] or 300,
        "projection": forest.read_projection(given["projection"], given["density"]),
        "n_projections": forest.read_directions(given["d"]),
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
        **forest.forest_parameters(
            given["max_depth"], given["min_samples_leaf"], given["criterion"], None
        ),
    }
    lists = {name: given[name] or () for name in ("drop", "nominal", "row_id")}
    reading = {**lists, "keep_id": given["keep_id"], "weights": given["weights"], **given["table"]}
    columns = (given["time"], given["event"])
    _fit(given["data"], columns, own, reading, given["out"], as_json=given["as_json_"])


def _check(given: dict[str, Any]) -> None:
    """Raise for options that cannot be honoured."""
    if given["time"] is None or given["event"] is None:
        raise ValueError(
            "--time and --event belong together: the time of each row, and whether the event was "
            "seen then; got one of them. Name both columns."
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
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Fit, save and print."""
    with source_of(data) as source, output.steps() as advance:
        found = fit_survival(
            source,
            *columns,
            parameters=parameters,
            on_note=output.silent if as_json else output.note,
            on_progress=advance,
            **reading,
        )
    if out is not None:
        found.model.save(out)
    if as_json:
        output.print_json(_as_json(found, out))
        return
    scores, events = found.scores, int(found.event.sum())
    lines = {
        "data": "standard input" if str(data) == "-" else str(data),
        "size": found.rows.describe(),
        "target": f"time {found.rows.target}, event {found.event_column}: {events:,} events",
        "forest": f"{found.model.n_estimators:,} trees, grown in {found.seconds:.2f} s",
        "out-of-bag concordance": f"{scores.concordance:.4f}",
        "out-of-bag Brier score": f"{scores.integrated_brier_score:.4f}, integrated; "
        f"{scores.reference:.4f} without features",
        "model": "not kept; --out model.bevel keeps it" if out is None else str(out),
    }
    output.print_lines(lines)


def _as_json(found: SurvivalFit, out: Path | None) -> dict[str, Any]:
    n_rows, n_features = found.rows.X.shape
    return {
        "task": "survival",
        "time": found.rows.target,
        "event": found.event_column,
        "n_rows": n_rows,
        "n_features": n_features,
        "n_events": int(found.event.sum()),
        "n_trees": found.model.forest_.n_trees,
        "fit_seconds": found.seconds,
        "scored": "out of bag",
        "scores": {
            "concordance": found.scores.concordance,
            "integrated_brier_score": found.scores.integrated_brier_score,
            "mean_auc": found.scores.mean_auc,
        },
        "model": out,
        "notes": [as_flags(text) for text in found.rows.notes],
    }
