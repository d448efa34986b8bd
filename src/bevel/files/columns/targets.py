"""The training targets that a forest has kept, as columns of a file.

    "targets": {"target_value": {…}, "target_weight": {…}, "target_offset": {…}, "target_row": {…}}

or null. Part P of column C is section "C.P", as with the columns of the forest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Arrays
from bevel.data.row_weights import LARGEST_WEIGHT
from bevel.data.target import LARGEST_TARGET
from bevel.files.columns.column import decode_column, encode_column
from bevel.files.columns.forest_columns import check_claims
from bevel.files.columns.trees import FileColumns, FileForest, decode_columns, store_columns
from bevel.files.faults import damaged, only_file_errors
from bevel.files.layout import Layout
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields
from bevel.forest.flat_forest import FlatForest
from bevel.forest.kept_targets import KeptTargets

__all__ = ["FileTargets", "decode_targets", "encode_targets"]


TARGET_TYPES: Mapping[str, str] = {
    "target_value": "<f8",
    "target_weight": "<f8",
    "target_offset": "<i8",
    "target_row": "<i4",
}


def encode_targets(targets: KeptTargets | None, arrays: Arrays) -> dict[str, Any] | None:
    """The header's field "targets"; parts are put into sections."""
    if targets is None:
        return None
    named: Arrays = {name: getattr(targets, name.split("_")[1]) for name in TARGET_TYPES}
    return store_columns({name: encode_column(each) for name, each in named.items()}, arrays)


def decode_targets(
    header: Fields, sections: Sections, layout: Layout, forest: FileForest
) -> FileTargets | None:
    """Read the description of the kept targets of a forest; raises ModelFileError."""
    described = header.take_any("targets") if layout.version >= FIRST_VERSION else None
    if described is None:
        return None
    if forest.n_classes:
        raise damaged("header.targets", "null for a classifier", "an object")
    columns = decode_columns(described, "targets", TARGET_TYPES, sections)
    return FileTargets(layout, columns, forest)


# First version of the format with targets.
FIRST_VERSION = 2


@dataclass(frozen=True, eq=False)
class FileTargets(FileColumns):
    """Kept targets in a file, of which only the description has been read.

    Attributes
    ----------
    forest : FileForest
        Forest that the targets belong to.
    """

    forest: FileForest

    def read(self, forest: FlatForest) -> KeptTargets:
        """Read the targets; raises ModelFileError unless all of them are valid."""
        with only_file_errors():
            return self._read(forest)

    def _read(self, forest: FlatForest) -> KeptTargets:
        self.verify()
        limit = check_claims(self.columns)
        value, weight, offset, row = (
            decode_column(self.columns[name], limit) for name in TARGET_TYPES
        )
        _check_rows(value, weight)
        _check_members(forest, offset, row, len(value))
        if len(weight) and not (weight[row] > 0).all():
            raise damaged("target_weight", "above 0 for rows in leaves", "0")
        return KeptTargets(value, weight, offset, row)

    def load(self, forest: FlatForest) -> KeptTargets:
        """Read the targets from a copy of the file in memory, which cannot change."""
        return self.in_memory().read(forest)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy as targets in memory: the file may be elsewhere, or gone."""
        return self.in_memory().read(self.forest.in_memory().read()).__reduce__()


def _check_rows(value: npt.NDArray[np.float64], weight: npt.NDArray[np.float64]) -> None:
    if not ((np.abs(value) <= LARGEST_TARGET).all() and (value[1:] >= value[:-1]).all()):
        required = f"finite numbers that ascend, up to {LARGEST_TARGET:g} in size"
        raise damaged("target_value", required, "others")
    if len(weight) not in (0, len(value)):
        raise damaged("target_weight", f"none or {len(value)} numbers", len(weight))
    if not ((weight >= 0) & (weight <= LARGEST_WEIGHT)).all():
        raise damaged("target_weight", f"finite numbers from 0 to {LARGEST_WEIGHT:g}", "others")


def _check_members(
    forest: FlatForest, offset: npt.NDArray[np.int64], row: npt.NDArray[np.int32], n_rows: int
) -> None:
    n_nodes = forest.n_nodes
    if len(offset) != n_nodes + 1 or offset[0] != 0 or offset[-1] != len(row):
        required = f"{n_nodes + 1} numbers from 0 to {len(row)}"
        raise damaged("target_offset", required, f"{len(offset)} numbers")
    # Bounds are checked first: differences of invalid numbers could wrap around.
    within = ((offset >= 0) & (offset <= len(row))).all()
    if not within or not (np.sign(np.diff(offset)) == (forest.right < 0)).all():
        raise damaged("target_offset", "such that leaves have rows and splits have none", "another")
    if not ((row >= 0) & (row < n_rows)).all():
        raise damaged("target_row", f"from 0 to {n_rows - 1}", "others")
