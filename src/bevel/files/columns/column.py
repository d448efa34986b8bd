"""One array as a compact column of which any value can be read without reading the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Array
from bevel.errors import ModelFileError, join_names, wrong_type
from bevel.files.columns.encodings import LINKS, PART_TYPES, best_plan
from bevel.files.faults import damaged

__all__ = ["Column", "decode_column", "encode_column", "largest_decoded", "open_column"]


TYPES = ("|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8")


@dataclass(frozen=True, eq=False)
class Column:
    """An encoded array of numbers.

    Attributes
    ----------
    encoding : str
        How the values are written, such as "raw" or "filled.packed"; see `encodings.py`.
    dtype : str
        Type of the decoded array, one of TYPES.
    length : int
        Length of the decoded array.
    meta : mapping of str to int
        Numbers that the encoding needs, from -2^63 to 2^63 - 1.
    parts : mapping of str to ndarray
        One-dimensional little-endian arrays that hold the values; they may lie in a mapped file.
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

    @property
    def decoded_nbytes(self) -> int:
        """Bytes of the decoded array, as the column claims."""
        return self.length * np.dtype(self.dtype).itemsize


def encode_column(array: Array) -> Column:
    """Write an array in the smallest encoding; decoding gives the same bits."""
    dtype = array.dtype.newbyteorder("<")
    if array.ndim != 1 or dtype.str not in TYPES:
        required = "an array of one dimension of integers or of float32 or float64"
        raise wrong_type("array", required, array, "Convert it first.")
    values = np.ascontiguousarray(array, dtype=dtype)
    best = best_plan(values).build()
    return Column(best.chain, dtype.str, len(values), best.meta, best.parts)


def largest_decoded(nbytes: int) -> int:
    """Bytes that columns of `nbytes` bytes may decode to; a file that claims more is hostile.

    Forests grow by a factor of 2 to 20 when they are read; `store_columns` in `trees.py` writes
    those that would grow more with fewer columns encoded. Time and memory of operations on a forest
    are proportional to its decoded size, so this limits the cost of a small file.
    """
    return 2**22 + 32 * nbytes


def decode_column(column: Column, limit: int | None = None) -> Array:
    """Read a whole column; raises ModelFileError if it contradicts itself.

    Parameters
    ----------
    column : Column
        Column of a file that may be damaged.
    limit : int, default=None
        Bytes that it may decode to; None: bounded by the size of the column alone.
    """
    reader = open_column(column)
    limit = largest_decoded(column.nbytes) if limit is None else limit
    if column.decoded_nbytes > limit:
        raise ModelFileError(
            f"A column of {column.nbytes} bytes must decode to at most {limit} bytes; "
            f"got {column.length} values of type {column.dtype}. The file is damaged."
        )
    if column.encoding == "raw":
        values = column.parts["raw.values"]
        return values if values.flags.aligned else values.copy()
    return reader.decode().view(column.dtype)


def open_column(column: Column) -> _core.ColumnReader:
    """Reader of single values; checks the sizes of the parts in constant time."""
    _check_names(column)
    if column.dtype not in TYPES:
        raise _damaged("The type of a column", f"one of {', '.join(TYPES)}", column.dtype)
    if type(column.length) is not int or not 0 <= column.length < 2**48:
        raise _damaged("The length of a column", "an integer from 0 to 2^48", column.length)
    parts = {name: _bytes(name, part, column.dtype) for name, part in column.parts.items()}
    meta = {name: _integer(name, number) for name, number in column.meta.items()}
    return _core.ColumnReader(column.encoding, column.dtype, column.length, meta, parts)


def _check_names(column: Column) -> None:
    """Raise for numbers and parts that the encoding does not need, and for missing ones."""
    links = column.encoding.split(".") if isinstance(column.encoding, str) else [""]
    if not set(links) <= LINKS.keys():
        raise damaged("The encoding of a column", f"made of {', '.join(LINKS)}", column.encoding)
    for what, names, place in (("numbers", column.meta, 0), ("parts", column.parts, 1)):
        needed = {f"{link}.{name}" for link in links for name in LINKS[link][place]}
        if names.keys() != needed:
            odd = join_names(sorted(map(repr, names.keys() ^ needed)))
            required = f"those of {column.encoding}"
            raise damaged(f"The {what} of a column", required, f"{odd} too much or missing")


def _integer(name: str, number: object) -> int:
    if type(number) is not int or not -(2**63) <= number < 2**63:
        raise _damaged(f"Number {name} of a column", "an integer of 64 bits", number)
    return number


def _bytes(name: str, part: Array, dtype: str) -> npt.NDArray[np.uint8]:
    required = PART_TYPES.get(name, dtype) or dtype
    if part.dtype.str != required or part.ndim != 1:
        raise _damaged(f"Part {name} of a column", f"a list of type {required}", part.dtype.str)
    return np.ascontiguousarray(part).view(np.uint8)


def _damaged(what: str, required: str, got: object) -> ModelFileError:
    return ModelFileError(f"{what} must be {required}; got {got}. The file is damaged.")
