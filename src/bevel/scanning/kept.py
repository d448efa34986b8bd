"""Metadata kept beside the blocks of a folder, so that a later fit need not read the table again.

Arrays are in `table.npz`, which holds no Python objects, labels as JSON. A folder is used again if
the files of the table, by name, size and time, and the parameters that decide how rows are encoded
are the same, and all its files have the checksums that they were written with.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel.data.encoding import Encoding
from bevel.data.nominal import Levels
from bevel.data.ranking import RankScaler
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler
from bevel.scanning.store import private
from bevel.training.blocks.table import BlockedTable

__all__ = ["EncodedTable", "folder_name", "load_table", "save_table"]

VERSION = 1
ARRAYS, LABELS = "table.npz", "table.json"
SCALERS = {
    kind.__name__: kind for kind in (IdentityScaler, LinearScaler, QuantileScaler, RankScaler)
}
NUMBERS = ("n_rows", "n_classes", "whole_weights", "largest_weight", "low", "high")


class EncodedTable(NamedTuple):
    """Metadata of a table in blocks.

    Attributes
    ----------
    table : BlockedTable
        Properties of the table for growth.
    names : tuple of str or None
        Names of the columns.
    classes : ndarray or None
        Labels of the classes; None in regression.
    """

    table: BlockedTable
    names: tuple[str, ...] | None
    classes: npt.NDArray[Any] | None


def folder_name(source: str, *parameters: Any) -> str:
    """Name of the folder for a table and the parameters that affect its encoding."""
    text = repr((VERSION, source, *parameters))
    return f"bevel-blocks-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def save_table(folder: Path, encoded: EncodedTable) -> bool:
    """Write the metadata of a table; False if labels are of types that JSON does not have."""
    table, encoding = encoded.table, encoded.table.encoding
    nominal = {str(f): (c.labels.tolist(), c.has_missing) for f, c in encoding.nominal.items()}
    classes = encoded.classes
    listed = classes.tolist() if classes is not None and classes.dtype.kind == "O" else None
    if not all(_is_plain(v) for labels, _ in nominal.values() for v in labels):
        return False
    if listed is not None and not all(_is_plain(label) for label in listed):
        return False
    arrays: dict[str, Any] = {
        "levels": encoding.levels,
        "medians": encoding.medians,
        "has_nan": table.has_nan,
        "sample": table.sample,
        "dates": np.array(sorted(encoding.dates), dtype=np.int64),
    }
    for field in fields(encoding.scaler):  # type: ignore[arg-type]
        arrays[f"scaler_{field.name}"] = np.asarray(getattr(encoding.scaler, field.name))
    if classes is not None and listed is None:
        arrays["classes"] = classes
    np.savez(private(folder / ARRAYS), allow_pickle=False, **arrays)
    text = {
        "nominal": nominal,
        "classes": listed,
        "names": encoded.names,
        "scaler": type(encoding.scaler).__name__,
        **{name: getattr(table, name) for name in NUMBERS},
    }
    private(folder / LABELS).write_text(json.dumps(text))
    return True


def load_table(folder: Path) -> EncodedTable:
    """Read the metadata that `save_table` has written."""
    text = json.loads((folder / LABELS).read_text())
    with np.load(folder / ARRAYS, allow_pickle=False) as stored:
        arrays = dict(stored)
    kind = SCALERS[text["scaler"]]
    settings = {field.name: _plain(arrays[f"scaler_{field.name}"]) for field in fields(kind)}
    nominal = {}
    for feature, (labels, has_missing) in text["nominal"].items():
        nominal[int(feature)] = Levels(_objects(labels), has_missing)
    encoding = Encoding(
        kind(**settings),
        nominal,
        arrays["levels"],
        arrays["medians"],
        frozenset(int(f) for f in arrays["dates"]),
    )
    sample = np.asfortranarray(arrays["sample"])
    numbers = {name: text[name] for name in NUMBERS}
    table = BlockedTable(encoding=encoding, has_nan=arrays["has_nan"], sample=sample, **numbers)
    names = None if text["names"] is None else tuple(text["names"])
    listed = text["classes"]
    classes = arrays.get("classes") if listed is None else _objects(listed)
    return EncodedTable(table, names, classes)


def _objects(values: list[Any]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bool | int | float)


def _plain(array: npt.NDArray[Any]) -> Any:
    """A zero-dimensional array as a bool, other arrays unchanged."""
    return array.item() if array.ndim == 0 else array
