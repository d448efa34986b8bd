"""The forest of a file: columns described in the header, their parts in sections.

    "columns": {"threshold": {"encoding": "raw", "dtype": "<f4", "length": 31, "meta": {},
                              "parts": ["raw.values"]}, …}

Part P of column C is section "C.P".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Arrays
from bevel.files.columns.column import Column, decode_column, encode_column, largest_decoded
from bevel.files.columns.forest_columns import (
    COLUMN_TYPES,
    check_claims,
    decode_forest,
    encode_forest,
)
from bevel.files.columns.mapped import MappedPredictor
from bevel.files.faults import damaged, only_file_errors
from bevel.files.layout import Layout
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor

OF_OUTPUTS = ("output_classes", "output_value")  # columns of format 6 and later
FIRST_WITH_OUTPUTS = 6

__all__ = [
    "FileColumns",
    "FileForest",
    "MappedFile",
    "decode_columns",
    "decode_trees",
    "encode_trees",
    "store_columns",
]


def encode_trees(forest: FlatForest, arrays: Arrays) -> dict[str, Any]:
    """The header's field "columns"; parts are put into sections."""
    return store_columns(encode_forest(forest), arrays)


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
        for name, column in self._stored().items():
            for part in column.parts:
                self.layout.verify(f"{name}.{part}")

    def _stored(self) -> Mapping[str, Column]:
        """The columns that files of this version hold; others are empty."""
        has_outputs = self.layout.version >= FIRST_WITH_OUTPUTS
        return {n: c for n, c in self.columns.items() if has_outputs or n not in OF_OUTPUTS}

    def in_memory(self) -> Self:
        """Return these columns on a copy of the file in memory, which cannot change."""
        self.layout.check_unchanged()
        layout = replace(self.layout, buffer=memoryview(bytes(self.layout.buffer)))
        columns = {
            name: replace(column, parts={p: layout.view(f"{name}.{p}") for p in column.parts})
            for name, column in self._stored().items()
        }
        return replace(self, layout=layout, columns={**self.columns, **columns})


@dataclass(frozen=True, eq=False)
class FileForest(FileColumns):
    """A forest in a file, of which only the description has been read.

    Attributes
    ----------
    n_features, n_classes, levels, medians
        Fields as in `bevel.FlatForest`.
    n_times : int
        Event times that leaves may refer to; 0 except in survival forests.
    n_causes : int
        Causes of events.
    has_lengths : bool
        Whether the values of leaves are path lengths, which are not negative.
    """

    n_features: int
    n_classes: int
    levels: npt.NDArray[np.int32]
    medians: npt.NDArray[np.float32]
    n_times: int = 0
    n_causes: int = 1
    has_lengths: bool = False

    def read(self) -> FlatForest:
        """Read the whole forest; raises ModelFileError unless it is valid."""
        with only_file_errors():
            self.verify()
            about = (self.n_features, self.n_classes, self.levels, self.medians)
            forest = decode_forest(
                self.columns, *about, n_times=self.n_times, n_causes=self.n_causes
            )
            if self.has_lengths and (forest.leaf_value < 0.0).any():
                least = float(forest.leaf_value.min())
                raise damaged("The path length of a leaf", "zero or more", least)
            return forest


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


def decode_trees(header: Fields, sections: Sections, version: int) -> dict[str, Column]:
    """Read the description of the forest's columns; raises ModelFileError."""
    types = dict(COLUMN_TYPES)
    absent = {} if version >= FIRST_WITH_OUTPUTS else {name: types.pop(name) for name in OF_OUTPUTS}
    columns = decode_columns(header.take("columns", dict), "columns", types, sections)
    return columns | {name: encode_column(np.empty(0, dtype)) for name, dtype in absent.items()}


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
    for each in meta.values():
        if type(each) is not int or not -(2**63) <= each < 2**63:
            raise damaged(f"{path}.meta", "integers of 64 bits", each)
    names = fields.take("parts", list)
    parts = {
        part: sections.view(f"{name}.{part}")
        for part in (check_kind(f"{path}.parts", each, str) for each in names)
    }
    fields.finish()
    if len(parts) < len(names):
        raise damaged(f"{path}.parts", "named once each", names)
    return Column(encoding, dtype, length, meta, parts)
