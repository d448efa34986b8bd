"""``bevel fit --model isolation``: an isolation forest from a file of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bevel.cli import options as forest
from bevel.cli import output
from bevel.cli.options import source_of
from bevel.cli.output import as_flags
from bevel.workflow.isolation import IsolationFit, fit_isolation

__all__ = ["fit_rows"]

N_SHOWN = 5  # most unusual rows to print

# Options of `bevel fit` that do not apply without a target, and how to leave them out.
OTHERS = {
    "target": None,
    "time": None,
    "event": None,
    "entry": None,
    "competing_risks": False,
    "report": None,
    "oob": None,
    "params": None,
    "max_depth": None,
    "min_samples_leaf": None,
    "criterion": None,
    "class_weight": None,
    "monotonic": None,
    "weights": None,
    "keep_targets": False,
    "task": "auto",
    "d": "auto",
}


def fit_rows(given: dict[str, Any]) -> None:
    """Fit an isolation forest; `given` has the options of `bevel fit` by name."""
    _check(given)
    projection = forest.read_projection(given["projection"], given["density"])
    parameters = {
        "n_estimators": given["trees"] or 100,
        "projection": projection,
        "contamination": "auto" if given["contamination"] is None else given["contamination"],
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
    }
    lists: dict[str, Any] = {name: given[name] or () for name in ("drop", "nominal", "row_id")}
    with source_of(given["data"]) as source:
        found = fit_isolation(
            source,
            parameters=parameters,
            keep_id=given["keep_id"],
            on_note=output.silent if given["as_json_"] else output.note,
            **lists,
            **given["table"],
        )
    if given["out"] is not None:
        found.model.save(given["out"])
    if given["as_json_"]:
        output.print_json(_as_json(found, given["out"]))
        return
    _print(given["data"], found, given["out"])


def _check(given: dict[str, Any]) -> None:
    """Raise for options that are not supported."""
    others = [name for name, left_out in OTHERS.items() if given[name] != left_out]
    if others:
        flag = "--" + others[0].replace("_", "-")
        also = "; --drop keeps a column out of the features" if flag == "--target" else ""
        raise ValueError(
            f"{flag} has no meaning with --model isolation, which finds unusual rows without a "
            f"target; got both. Leave it out{also}."
        )


def _print(data: Path, found: IsolationFit, out: Path | None) -> None:
    model, n_rows = found.model, len(found.scores)
    lines = {
        "data": "standard input" if str(data) == "-" else str(data),
        "size": found.describe(),
        "isolation": f"{model.n_estimators:,} trees, grown in {found.seconds:.2f} s",
        "outliers": f"{found.n_outliers:,} of {n_rows:,} rows score below {model.offset_:.3f}",
        "most unusual": ", ".join(_names(found)),
        "model": "not kept; --out model.bevel keeps it" if out is None else str(out),
    }
    output.print_lines(lines)


def _names(found: IsolationFit) -> list[str]:
    """The most unusual rows by their names, or by their numbers, with their scores."""
    words = next(iter(found.ids.values()), None)
    names = []
    for row in found.most_unusual(N_SHOWN):
        name = f"row {row + 1}" if words is None else str(words[row])
        names.append(f"{name} ({found.scores[row]:.3f})")
    return names


def _as_json(found: IsolationFit, out: Path | None) -> dict[str, Any]:
    n_rows, n_features = found.X.shape
    return {
        "task": "isolation",
        "n_rows": n_rows,
        "n_features": n_features,
        "n_trees": found.model.n_estimators,
        "offset": found.model.offset_,
        "n_outliers": found.n_outliers,
        "most_unusual": (found.most_unusual(N_SHOWN) + 1).tolist(),
        "fit_seconds": found.seconds,
        "model": out,
        "notes": [as_flags(text) for text in found.notes],
    }
