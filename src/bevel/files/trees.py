"""The forest of a file: columns described in the header, their parts in sections.

    "columns": {"threshold": {"encoding": "raw", "dtype": "<f4", "length": 31, "meta": {},
                              "parts": ["raw.values"]}, …}

Part P of column C is section "C.P". The training targets that a forest has kept are such columns
too, or null:

    "targets": {"target_value": {…}, "target_weight": {…}, "target_offset": {…}, "target_row": {…}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel._types import Array, Arrays, Float32s, Floats
from bevel.data.row_weights import MAX_WEIGHT
from bevel.data.target import MAX_TARGET
from bevel.errors import ModelFileError
from bevel.files.columns import Column, decode_column, encode_column, largest_decoded, open_column
from bevel.files.layout import Fields, Layout, Sections, check_kind, damaged, only_file_errors
from bevel.forest.flat_forest import FOREST_FIELDS, FlatForest, check_forest
from bevel.forest.predictor import PackedPredictor, most_probable_classes
from bevel.forest.quantiles import LeafTargets
from bevel.forest.task import Regression, Task

__all__ = [
    "COLUMN_TYPES",
    "FileColumns",
    "FileForest",
    "FileTargets",
    "MappedFile",
    "MappedPredictor",
    "check_claims",
    "decode_columns",
    "decode_forest",
    "decode_targets",
    "decode_trees",
    "encode_forest",
    "encode_targets",
    "encode_trees",
    "map_forest",
    "store_columns",
]

# A flat forest as named columns, and back.
#
# Each array of `bevel.FlatForest` is a column of its name, except `right`. In preorder the right
# child follows the left subtree, which has an odd number of nodes: one less than twice its leaves.
# So column `left_leaves` holds the leaves under the left child, 0 for a leaf, and the right child
# of node i is i + 2 left_leaves[i]. Most of these numbers are tiny, even in large trees.

COLUMN_TYPES: Mapping[str, str] = {
    "left_leaves" if name == "right" else name: field.dtype for name, field in FOREST_FIELDS.items()
}

# Columns that are not written if they are empty.
ABSENT_IF_EMPTY = ("entry_level", "entry_low", "entry_high")


def encode_forest(forest: FlatForest) -> dict[str, Column]:
    """Columns of a forest, in the order of COLUMN_TYPES; raises ValueError if it is invalid."""
    check_forest(forest)
    arrays = forest.arrays()
    arrays["left_leaves"] = _left_leaves(arrays.pop("right"), forest.tree_offset)
    return {name: encode_column(arrays[name]) for name in COLUMN_TYPES}


def decode_forest(
    columns: Mapping[str, Column],
    n_features: int,
    n_classes: int,
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
    task: Task | None = None,
) -> FlatForest:
    """Decode the forest of some columns; raises ModelFileError unless it is valid."""
    _check_types(columns)
    limit = check_claims({name: columns[name] for name in COLUMN_TYPES})
    arrays = {name: decode_column(columns[name], limit) for name in COLUMN_TYPES}
    arrays["right"] = _right(arrays.pop("left_leaves"), arrays["tree_offset"])
    forest = FlatForest(n_features, n_classes, levels, medians, **arrays)
    try:
        check_forest(forest)
        (task or Regression()).check_leaves(forest)
    except ValueError as error:
        raise ModelFileError(f"{error} The file is damaged.") from None
    return forest


def map_forest(
    columns: Mapping[str, Column],
    n_features: int,
    n_classes: int,
    levels: npt.NDArray[np.int32],
    medians: npt.NDArray[np.float32],
) -> _core.MappedForest:
    """Native forest that reads columns in place, checking what it reads."""
    _check_types(columns)
    readers = {name: open_column(columns[name]) for name in COLUMN_TYPES}
    return _core.MappedForest(readers, n_features, n_classes, levels, medians)


def _check_types(columns: Mapping[str, Column]) -> None:
    for name, kind in COLUMN_TYPES.items():
        if name not in columns or columns[name].dtype != kind:
            got = columns[name].dtype if name in columns else "no such column"
            raise ModelFileError(
                f"Column {name} must hold values of type {kind}; got {got}. The file is damaged."
            )


def check_claims(columns: Mapping[str, Column]) -> int:
    """Raise for columns that would fill the memory; returns the bytes that each may decode to."""
    limit = largest_decoded(sum(column.nbytes for column in columns.values()))
    claimed = sum(column.decoded_nbytes for column in columns.values())
    if claimed > limit:
        raise ModelFileError(
            f"The columns of a forest must decode to at most {limit} bytes for their size; "
            f"they claim {claimed}. The file is damaged."
        )
    return limit


def _left_leaves(right: Array, tree_offset: Array) -> npt.NDArray[np.int32]:
    jump = right - _node_of_tree(tree_offset)
    return np.where(right < 0, 0, jump // 2).astype(np.int32)


def _right(left_leaves: Array, tree_offset: Array) -> npt.NDArray[np.int32]:
    n_nodes = len(left_leaves)
    sound = len(tree_offset) > 1 and tree_offset[0] == 0 and tree_offset[-1] == n_nodes
    if not sound or (tree_offset[1:] <= tree_offset[:-1]).any():
        raise ModelFileError(
            f"tree_offset must rise from 0 to {n_nodes}, the number of nodes; it does not. "
            "The file is damaged."
        )
    right = _node_of_tree(tree_offset) + 2 * left_leaves.astype(np.int64)
    # Checked before the conversion to a narrower type, in which it could wrap into the tree.
    outside = (left_leaves < 0) | (right >= n_nodes)
    return np.where(left_leaves == 0, -1, np.where(outside, -2, right)).astype(np.int32)


def _node_of_tree(tree_offset: Array) -> npt.NDArray[np.int64]:
    """Number of each node within its tree."""
    n_nodes = int(tree_offset[-1])
    first: npt.NDArray[np.int64] = np.repeat(tree_offset[:-1], np.diff(tree_offset))
    return np.arange(n_nodes, dtype=np.int64) - first


class MappedPredictor:
    """A forest in a file, ready to predict; immutable, and safe to share between threads.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns of `encode_forest`; their parts may be in a mapped file.
    n_features, n_classes, levels, medians
        Fields as in `bevel.FlatForest`.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        n_features: int,
        n_classes: int,
        levels: npt.NDArray[np.int32],
        medians: Float32s,
    ) -> None:
        self._forest_of = partial(decode_forest, columns, n_features, n_classes, levels, medians)
        self._mapped = map_forest(columns, n_features, n_classes, levels, medians)
        limit = check_claims(columns)
        self._output_classes = decode_column(columns["output_classes"], limit)

    @property
    def _native(self) -> _core.MappedForest:
        """Native predictor on the columns."""
        return self._mapped

    @cached_property
    def forest(self) -> FlatForest:
        """The whole forest, read and checked on first use."""
        return self._forest_of()

    @cached_property
    def whole(self) -> PackedPredictor:
        """The predictor of the whole forest in memory, read and checked on first use."""
        return PackedPredictor(self.forest)

    @property
    def packed(self) -> _core.PackedForest:
        """The forest laid out for speed; reads the whole forest."""
        return self.whole.packed

    def probabilities(self, X: Float32s, n_threads: int, hard: bool) -> Floats:
        """Class probabilities of each row, by mean shares or (hard) by votes."""
        return self._native.predict_proba(X, n_threads, hard)

    def classes(self, X: Float32s, n_threads: int, hard: bool) -> npt.NDArray[np.int32]:
        """Most probable class of each row; ties go to the first."""
        probabilities = self.probabilities(X, n_threads, hard)
        if len(self._output_classes):
            return most_probable_classes(probabilities, self._output_classes)
        best: npt.NDArray[np.intp] = probabilities.argmax(axis=1)
        return best.astype(np.int32)

    def values(self, X: Float32s, n_threads: int) -> Floats:
        """Mean over trees of the leaf values of each row."""
        return self._native.predict_value(X, n_threads)

    def leaves(self, X: Float32s, n_threads: int) -> npt.NDArray[np.int32]:
        """Leaf of each row in each tree, counted from the tree's root."""
        return self._native.apply(X, n_threads)

    def paths(self, X: Float32s, n_threads: int) -> tuple[sp.csr_matrix, npt.NDArray[np.int64]]:
        """Nodes that each row passes, as an indicator matrix, and where each tree's nodes begin.

        Reads the whole forest.
        """
        return self.whole.paths(X, n_threads)


def encode_trees(forest: FlatForest, arrays: Arrays) -> dict[str, Any]:
    """The header's field "columns"; parts are put into sections."""
    columns = encode_forest(forest)
    for name in ABSENT_IF_EMPTY:
        if columns[name].length == 0:
            del columns[name]
    return store_columns(columns, arrays)


def store_columns(columns: Mapping[str, Column], arrays: Arrays) -> dict[str, Any]:
    """The header's entry of columns; their parts are put into sections."""
    columns = _within_limit(columns)
    described = {}
    for name, column in columns.items():
        arrays |= {f"{name}.{part}": array for part, array in column.parts.items()}
        described[name] = {
            "encoding": column.encoding,
            "dtype": column.dtype,
            "length": column.length,
            "meta": dict(column.meta),
            "parts": list(column.parts),
        }
    return described


def _within_limit(columns: Mapping[str, Column]) -> Mapping[str, Column]:
    """Columns whose decoded size is within the limit, which many trees without splits exceed.

    The most compact columns are stored decoded until the limit is met.
    """
    kept = dict(columns)
    claimed = sum(column.decoded_nbytes for column in kept.values())
    for name in sorted(kept, key=lambda name: kept[name].nbytes / (kept[name].decoded_nbytes or 1)):
        if claimed <= largest_decoded(sum(column.nbytes for column in kept.values())):
            break
        kept[name] = _written_out(kept[name])
    return kept


def _written_out(column: Column) -> Column:
    values = {"raw.values": decode_column(column, column.decoded_nbytes)}
    return Column("raw", column.dtype, column.length, {}, values)


@dataclass(frozen=True, eq=False)
class FileColumns:
    """Columns in a file, of which only the description has been read.

    Attributes
    ----------
    layout : Layout
        The file.
    columns : mapping of str to Column
        Columns whose parts are views of the file, not verified.
    """

    layout: Layout
    columns: Mapping[str, Column]

    def verify(self) -> None:
        """Raise ModelFileError unless the parts match their checksums."""
        self.layout.check_unchanged()
        for name, column in self.columns.items():
            for part in column.parts:
                self.layout.verify(f"{name}.{part}")

    def in_memory(self) -> Self:
        """Return these columns on a copy of the file in memory, which cannot change."""
        self.layout.check_unchanged()
        layout = replace(self.layout, buffer=memoryview(bytes(self.layout.buffer)))
        columns = {
            name: replace(column, parts={p: layout.view(f"{name}.{p}") for p in column.parts})
            for name, column in self.columns.items()
        }
        return replace(self, layout=layout, columns=columns)


@dataclass(frozen=True, eq=False)
class FileForest(FileColumns):
    """A forest in a file, of which only the description has been read.

    Attributes
    ----------
    n_features, n_classes, levels, medians
        Fields as in `bevel.FlatForest`.
    task : Task
        What the forest predicts, which its leaves must allow.
    """

    n_features: int
    n_classes: int
    levels: npt.NDArray[np.int32]
    medians: npt.NDArray[np.float32]
    task: Task

    def read(self) -> FlatForest:
        """Read the whole forest; raises ModelFileError unless it is valid."""
        with only_file_errors():
            self.verify()
            about = (self.n_features, self.n_classes, self.levels, self.medians)
            return decode_forest(self.columns, *about, self.task)


class MappedFile(MappedPredictor):
    """A forest in a mapped file, ready to predict at once; verified when all of it is read.

    Parameters
    ----------
    source : FileForest
        The file.
    """

    def __init__(self, source: FileForest) -> None:
        self._source = source
        about = (source.n_features, source.n_classes, source.levels, source.medians)
        super().__init__(source.columns, *about)

    @property
    def _native(self) -> _core.MappedForest:
        """Native predictor on the file; raises if the file has changed."""
        self._source.layout.check_unchanged()
        return self._mapped

    @cached_property
    def forest(self) -> FlatForest:
        """The whole forest, read and verified on first use."""
        return self._source.in_memory().read()

    def __reduce__(self) -> tuple[type[PackedPredictor], tuple[FlatForest]]:
        """Pickle and copy as a forest in memory: the file may be elsewhere, or gone."""
        return PackedPredictor, (self.forest,)


def decode_trees(header: Fields, sections: Sections) -> dict[str, Column]:
    """Read the description of the forest's columns; raises ModelFileError."""
    described = header.take("columns", dict)
    absent = [name for name in ABSENT_IF_EMPTY if name not in described]
    types = {name: kind for name, kind in COLUMN_TYPES.items() if name not in absent}
    columns = decode_columns(described, "columns", types, sections)
    # One value, none times: a column without parts in the file.
    empty = {
        name: Column("constant", COLUMN_TYPES[name], 0, {"constant.word": 0}, {}) for name in absent
    }
    return columns | empty


def decode_columns(
    value: object, owner: str, types: Mapping[str, str], sections: Sections
) -> dict[str, Column]:
    """Read the description of columns, all of them and no others; raises ModelFileError.

    Parameters
    ----------
    value : object
        Description from the header.
    owner : str
        Name of the description in messages.
    types : mapping of str to str
        Names of the columns, and the type of each.
    sections : Sections
        Sections of the parts.
    """
    described = Fields(value, owner)
    columns = {
        name: _decode_column(f"{owner}.{name}", name, dtype, described.take(name, dict), sections)
        for name, dtype in types.items()
    }
    described.finish()
    check_claims(columns)
    return columns


def _decode_column(path: str, name: str, dtype: str, value: object, sections: Sections) -> Column:
    fields = Fields(value, path)
    encoding, length = fields.take("encoding", str), fields.take_count("length")
    if fields.take("dtype", str) != dtype:
        raise damaged(f"{path}.dtype", f'"{dtype}"', "another")
    meta = fields.take("meta", dict)
    names = fields.take("parts", list)
    parts = {
        part: sections.view(f"{name}.{part}")
        for part in (check_kind(f"{path}.parts", each, str) for each in names)
    }
    fields.finish()
    if len(parts) < len(names):
        raise damaged(f"{path}.parts", "named once each", names)
    return Column(encoding, dtype, length, meta, parts)


TARGET_TYPES: Mapping[str, str] = {
    "target_value": "<f8",
    "target_weight": "<f8",
    "target_offset": "<i8",
    "target_row": "<i4",
}


def encode_targets(targets: LeafTargets | None, arrays: Arrays) -> dict[str, Any] | None:
    """The header's field "targets"; parts are put into sections."""
    if targets is None:
        return None
    named: Arrays = {name: getattr(targets, name.split("_")[1]) for name in TARGET_TYPES}
    return store_columns({name: encode_column(each) for name, each in named.items()}, arrays)


def decode_targets(
    header: Fields, sections: Sections, layout: Layout, forest: FileForest
) -> FileTargets | None:
    """Read the description of the kept targets of a forest; raises ModelFileError."""
    described = header.take_any("targets")
    if described is None:
        return None
    if forest.n_classes:
        raise damaged("header.targets", "null for a classifier", "an object")
    columns = decode_columns(described, "targets", TARGET_TYPES, sections)
    return FileTargets(layout, columns, forest)


@dataclass(frozen=True, eq=False)
class FileTargets(FileColumns):
    """Kept targets in a file, of which only the description has been read.

    Attributes
    ----------
    forest : FileForest
        Forest that the targets belong to.
    """

    forest: FileForest

    def read(self, forest: FlatForest) -> LeafTargets:
        """Read the targets; raises ModelFileError unless all of them are valid."""
        with only_file_errors():
            return self._read(forest)

    def _read(self, forest: FlatForest) -> LeafTargets:
        self.verify()
        limit = check_claims(self.columns)
        value, weight, offset, row = (
            decode_column(self.columns[name], limit) for name in TARGET_TYPES
        )
        _check_rows(value, weight)
        _check_members(forest, offset, row, len(value))
        if len(weight) and not (weight[row] > 0).all():
            raise damaged("target_weight", "above 0 for rows in leaves", "0")
        return LeafTargets(value, weight, offset, row)

    def load(self, forest: FlatForest) -> LeafTargets:
        """Read the targets from a copy of the file in memory, which cannot change."""
        return self.in_memory().read(forest)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy as targets in memory: the file may be elsewhere, or gone."""
        return self.in_memory().read(self.forest.in_memory().read()).__reduce__()


def _check_rows(value: npt.NDArray[np.float64], weight: npt.NDArray[np.float64]) -> None:
    if not ((np.abs(value) <= MAX_TARGET).all() and (value[1:] >= value[:-1]).all()):
        required = f"finite numbers that ascend, up to {MAX_TARGET:g} in size"
        raise damaged("target_value", required, "others")
    if len(weight) not in (0, len(value)):
        raise damaged("target_weight", f"none or {len(value)} numbers", len(weight))
    if not ((weight >= 0) & (weight <= MAX_WEIGHT)).all():
        raise damaged("target_weight", f"finite numbers from 0 to {MAX_WEIGHT:g}", "others")


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
