"""One array as a compact column of which any value can be read without reading the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.errors import ModelFileError

__all__ = ["Column", "decode_column", "encode_column"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Column:
    """An encoded array of numbers.

    Attributes
    ----------
    encoding : str
        How the values are written, such as "raw" or, outermost first, "filled.packed".
    dtype : str
        Type of the decoded array, little-endian, such as "<i4".
    length : int
        Of the decoded array.
    meta : mapping of str to int
        Numbers that the encoding needs.
    parts : mapping of str to ndarray
        One-dimensional little-endian arrays that hold the values.
    """

    encoding: str
    dtype: str
    length: int
    meta: Mapping[str, int | float]
    parts: Mapping[str, Array]

    @property
    def nbytes(self) -> int:
        """Bytes of the parts."""
        return sum(part.nbytes for part in self.parts.values())


def encode_column(array: Array) -> Column:
    """Write an array in the smallest encoding; decoding gives the same bits."""
    values = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return Column("raw", values.dtype.str, len(values), {}, {"raw.values": values})


def decode_column(column: Column) -> Array:
    """Read a whole column; raises ModelFileError if it contradicts itself."""
    values = column.parts.get("raw.values")
    if column.encoding != "raw" or values is None or values.dtype.str != column.dtype:
        raise ModelFileError(f"Unknown column encoding {column.encoding!r}.")
    if len(values) != column.length:
        raise ModelFileError(
            f"A column must have {column.length} values; got {len(values)}. The file is damaged."
        )
    return values
