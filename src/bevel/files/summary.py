"""The contents of a model file as a dictionary."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bevel.files.contents import read_contents
from bevel.files.faults import only_file_errors
from bevel.files.layout import Layout, read_layout
from bevel.files.model import StorableKind, read_model
from bevel.forest.fitted_forest import FittedForest

__all__ = ["summarise"]


def summarise(
    path: str | os.PathLike[str], kinds: Mapping[str, StorableKind], verify: bool = False
) -> dict[str, Any]:
    """Facts about a model file that JSON can hold; raises ModelFileError if it is damaged.

    Parameters
    ----------
    path : str or path
        The file.
    kinds : mapping of str to StorableKind
        The estimators, by the names of their classes.
    verify : bool, default=False
        Read and verify the whole file; otherwise its header only.
    """
    with only_file_errors(os.fspath(path)):
        contents = read_contents(Path(path), mapped=not verify)
        stored = read_model(contents, kinds, mapped=not verify)
        families = stored.fitted.families
        return {
            "file": os.fspath(path),
            "verified": verify,
            **_summary(contents, kinds[stored.name]),
            "families": None if families is None else families.as_dict(),
            "calibration_power": stored.fitted.power,
            "survival": _survival(stored.fitted),
        }


def _survival(fitted: FittedForest) -> dict[str, Any] | None:
    """The times of a survival forest."""
    record = fitted.survival
    if record is None:
        return None
    times = record.event_times
    return {
        "n_event_times": record.n_times,
        "first_event": float(times[0]),
        "last_event": float(times[-1]),
        "last_time": float(record.last_time),
    }


def _summary(contents: bytes | memoryview, kind: StorableKind) -> dict[str, Any]:
    layout = read_layout(contents)
    header = layout.header
    columns = header["columns"] | (header.get("targets") or {})
    kept = ("estimator", "n_features", "feature_names", "classes", "scaler", "nominal")
    return {
        "bytes": len(contents),
        "format_version": layout.version,
        "written_by": header["bevel"],
        **{name: header[name] for name in kept},
        "dates": header.get("dates", []),
        "outputs": header.get("outputs"),
        "n_trees": header["columns"]["tree_offset"]["length"] - 1,
        "n_nodes": header["columns"]["left_leaves"]["length"],
        **{name: header[name] for name in ("seed", "bags", "oob_score")},
        "parameters": _changed(header["parameters"], kind),
        "columns": [_column(name, each, layout) for name, each in columns.items()],
        "other_sections": _others(layout, columns),
    }


def _changed(parameters: Mapping[str, Any], kind: StorableKind) -> dict[str, Any]:
    """Parameters that are not at their defaults, as the file has them."""
    defaults = {name: each.default for name, each in kind.parameters.items()}
    return {name: value for name, value in parameters.items() if value != defaults[name]}


def _column(name: str, described: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    n_bytes = sum(layout.section(f"{name}.{part}").nbytes for part in described["parts"])
    kept = {field: described[field] for field in ("encoding", "dtype", "length")}
    return {"name": name, **kept, "bytes": n_bytes}


def _others(layout: Layout, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Sections that are not parts of columns."""
    return [
        {"name": each.name, "dtype": each.dtype.str, "length": each.length, "bytes": each.nbytes}
        for each in layout.sections.values()
        if each.name.split(".")[0] not in columns
    ]
