"""``bevel inspect``: the contents of a model file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from bevel.cli import options, output
from bevel.errors import join_names, shorten

__all__ = ["EXAMPLES", "inspect"]

EXAMPLES = output.examples(
    "bevel inspect model.bevel --verify",
    "bevel inspect model.bevel --json",
)


def inspect(
    file: Annotated[Path, typer.Argument(help="A file that save has written.")],
    as_json: options.Json = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all of the file and check everything.")
    ] = False,
) -> None:
    """Print what is inside a model file."""
    from bevel.estimators.registry import KINDS
    from bevel.files.model import summarise

    summary = summarise(file, KINDS, verify)
    if as_json:
        output.print_json(summary)
        return
    output.print_lines(_lines(summary))
    if summary["members"] is not None:
        output.print_members(summary["members"])
    output.print_families(summary["families"], has_classes=_has_classes(summary))
    output.console().print(_columns(summary))


def _lines(summary: Mapping[str, Any]) -> dict[str, str]:
    """The summary as text."""
    checked = "everything" if summary["verified"] else "the header (--verify checks the rest)"
    lines = {
        "file": summary["file"],
        "size": f"{summary['bytes']:,} bytes",
        "format": f"version {summary['format_version']}, written by Bevel {summary['written_by']}",
        "checked": checked,
        "estimator": summary["estimator"],
        "trees": f"{summary['n_trees']:,} with {summary['n_nodes']:,} nodes",
        "features": _features(summary),
        "scaling": _settings(summary["scaler"]),
        "seed": str(summary["seed"]),
    }
    if summary["classes"] is not None:
        labels = [shorten(label, 30) for label in summary["classes"]["values"]]
        lines["classes"] = f"{len(labels):,} of type {summary['classes']['dtype']}: " + join_names(
            labels
        )
    outputs = summary["outputs"]
    if outputs is not None:
        lines["outputs"] = f"{len(outputs['names']):,}: " + join_names(
            [shorten(name, 30) for name in outputs["names"]]
        )
    survival = summary["survival"]
    if survival is not None:
        first, last = (f"{survival[name]:.4g}" for name in ("first_event", "last_event"))
        lines["event times"] = f"{survival['n_event_times']:,} from {first} to {last}"
    if summary["oob_score"] is not None:
        lines["out-of-bag score"] = _rounded(summary["oob_score"])
    for name, value in summary["parameters"].items():
        lines[name] = shorten(value, output.WIDTH)
    return lines


def _has_classes(summary: Mapping[str, Any]) -> bool:
    outputs = summary["outputs"] or {}
    return summary["classes"] is not None or outputs.get("classes") is not None


def _rounded(score: Any) -> str:
    return f"{score:.4g}" if isinstance(score, float) else shorten(score)


def _features(summary: Mapping[str, Any]) -> str:
    names = summary["feature_names"]
    nominal = len(summary["nominal"])
    text = f"{summary['n_features']:,}" + (f", {nominal:,} nominal" if nominal else "")
    return text if names is None else f"{text}: {join_names(names)}"


def _settings(described: Mapping[str, Any]) -> str:
    switched_on = [name for name, value in described.items() if value is True]
    return " ".join([described["kind"], *switched_on])


def _columns(summary: Mapping[str, Any]) -> Table:
    head = ("column", "encoding", "type", "values", "bytes", "bits each")
    columns = (*summary["columns"], *summary["other_sections"])
    return output.table(head, map(_cells, columns), left=range(3))


def _cells(column: Mapping[str, Any]) -> Sequence[str]:
    length, n_bytes = column["length"], column["bytes"]
    bits = 8 * n_bytes / length if length else 0.0
    words = (column["name"], column.get("encoding", ""), column["dtype"])
    return (*words, f"{length:,}", f"{n_bytes:,}", f"{bits:.1f}")
