"""A model file taken apart, so that a change needs no care for lengths, offsets and checksums."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from support.mutations import PRELUDE, seal

from bevel.files.columns import Column, decode_column, encode_column

from .models import Source

Arrays = dict[str, np.ndarray]


@dataclass
class ModelFile:
    """Header without its table, and the arrays of the sections."""

    header: dict[str, Any]
    arrays: Arrays
    source: Source

    def seal(self) -> bytes:
        """The file, with all lengths, offsets and checksums as they should be."""
        table, pieces, offset = [], [], 0
        for name, array in self.arrays.items():
            data = array.tobytes()
            entry = {"name": name, "dtype": array.dtype.str, "length": len(array)}
            table.append({**entry, "offset": offset})
            padded = data + bytes(-len(data) % 8)
            pieces.append(padded)
            offset += len(padded)
        header = {**self.header, "sections": table}
        return seal(header, b"".join(pieces))

    def described(self, column: str) -> dict[str, Any] | None:
        """What the header says of a column of the forest or of the kept targets."""
        for owner in ("columns", "targets"):
            columns = self.header.get(owner)
            if isinstance(columns, dict) and isinstance(columns.get(column), dict):
                return columns[column]
        return None

    def values(self, column: str) -> np.ndarray:
        """The decoded array of a column, as it was in the sound file."""
        return _decoded(self.source)[column].copy()

    def put_values(self, column: str, values: np.ndarray) -> None:
        """Encode a column anew."""
        self.put_column(column, encode_column(values))

    def put_column(self, column: str, encoded: Column) -> None:
        """Replace a column: its parts, and what the header says of them."""
        for part in [name for name in self.arrays if name.startswith(f"{column}.")]:
            del self.arrays[part]
        self.arrays |= {f"{column}.{part}": array for part, array in encoded.parts.items()}
        owner = "targets" if column.startswith("target_") else "columns"
        self.header[owner][column] = {
            "encoding": encoded.encoding,
            "dtype": encoded.dtype,
            "length": encoded.length,
            "meta": dict(encoded.meta),
            "parts": list(encoded.parts),
        }

    def columns(self) -> list[str]:
        """Names of all columns of the sound file."""
        return list(_decoded(self.source))


def parse(source: Source) -> ModelFile:
    """A sound file taken apart, anew at every call."""
    text, arrays = _parts(source)
    return ModelFile(json.loads(text), dict(arrays), source)


@cache
def _parts(source: Source) -> tuple[str, Arrays]:
    *_, length, _ = PRELUDE.unpack_from(source.data)
    header = json.loads(source.data[PRELUDE.size : PRELUDE.size + length])
    start = -(-(PRELUDE.size + length) // 8) * 8
    arrays = {
        each["name"]: np.frombuffer(
            source.data, each["dtype"], each["length"], start + each["offset"]
        )
        for each in header.pop("sections")
    }
    return json.dumps(header), arrays


@cache
def _decoded(source: Source) -> Arrays:
    file = parse(source)
    described = {**file.header["columns"], **(file.header["targets"] or {})}
    return {name: _decode(file, name, each) for name, each in described.items()}


def _decode(file: ModelFile, name: str, each: dict[str, Any]) -> np.ndarray:
    parts = {part: file.arrays[f"{name}.{part}"] for part in each["parts"]}
    return decode_column(
        Column(each["encoding"], each["dtype"], each["length"], each["meta"], parts)
    )


def bits_of(number: float, dtype: np.dtype[Any]) -> Any:
    """A number as a value of a type, wrapped around where it does not fit."""
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            try:
                return np.float64(number).astype(dtype)
            except OverflowError:
                return dtype.type(np.inf)
    size = dtype.itemsize
    whole = int(number) % 2 ** (8 * size) if number == number and abs(number) != np.inf else 0
    return np.frombuffer(struct.pack("<Q", whole)[:size], dtype.newbyteorder("<"))[0]
