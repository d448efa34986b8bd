"""Arrays and sparse matrices among the parameters: numbers in sections, shapes in the header.

{"array": {"shape": [3, 2], "numbers": "parameter.0"}}
{"sparse": {"format": "csc", "class": "array", "shape": [3, 2], "numbers": "parameter.0",
            "rows": "parameter.1", "columns": "parameter.2"}}
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel._types import Arrays
from bevel.files.faults import damaged
from bevel.files.layout import SECTION_TYPES
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.scalars import UnstorableError

__all__ = ["decode_array", "decode_sparse", "encode_array", "encode_sparse"]


# A few bytes may describe a matrix of any size without entries, whose shape costs memory.
LARGEST_SIDE = 2**22
MOST_AXES = 32
_FORMATS = ("csr", "csc", "coo")
_CLASSES = {"array": sp.coo_array, "matrix": sp.coo_matrix}


def encode_array(array: npt.NDArray[Any], arrays: Arrays) -> dict[str, Any]:
    """Put the numbers of a dense array into a section of their own."""
    return {"shape": list(array.shape), "numbers": _put(array.ravel(), arrays)}


def decode_array(value: object, sections: Sections) -> npt.NDArray[Any]:
    """Read a dense array, which is writeable like a user's."""
    fields = Fields(value, "array")
    shape = _read_shape(fields.take("shape", list))
    numbers = sections.take(fields.take("numbers", str))
    fields.finish()
    if math.prod(shape) != len(numbers):
        raise damaged("The shape of an array", f"of {len(numbers)} numbers", str(shape))
    return numbers.reshape(shape).copy()


def encode_sparse(matrix: Any, arrays: Arrays) -> dict[str, Any]:
    """Put the entries of a sparse matrix into sections; other formats become columns (csc)."""
    if matrix.ndim != 2 or max(matrix.shape) > LARGEST_SIDE:
        raise UnstorableError(matrix)
    entries = matrix.tocoo()
    return {
        "format": matrix.format if matrix.format in _FORMATS else "csc",
        "class": "array" if isinstance(matrix, sp.sparray) else "matrix",
        "shape": [int(side) for side in matrix.shape],
        "numbers": _put(entries.data, arrays),
        "rows": _put(entries.row.astype(np.int32), arrays),
        "columns": _put(entries.col.astype(np.int32), arrays),
    }


def decode_sparse(value: object, sections: Sections) -> Any:
    """Read a sparse matrix."""
    fields = Fields(value, "sparse")
    form, family = fields.take("format", str), fields.take("class", str)
    shape = _read_shape(fields.take("shape", list))
    numbers = sections.take(fields.take("numbers", str))
    rows = sections.take(fields.take("rows", str), "<i4", len(numbers))
    columns = sections.take(fields.take("columns", str), "<i4", len(numbers))
    fields.finish()
    if form not in _FORMATS or family not in _CLASSES:
        raise damaged("A sparse matrix", "an array or matrix in csr, csc or coo", form)
    if len(shape) != 2 or max(shape) > LARGEST_SIDE:
        raise damaged("The shape of a sparse matrix", f"two sides up to {LARGEST_SIDE}", str(shape))
    sections.claim("The shape of a sparse matrix", 8 * (2 + shape[0] + shape[1]))
    for name, places, side in (("row", rows, shape[0]), ("column", columns, shape[1])):
        if len(places) and not (places.min() >= 0 and places.max() < side):
            raise damaged(f"The {name}s of a sparse matrix", f"from 0 to {side - 1}", "others")
    entries = (numbers.copy(), (rows.copy(), columns.copy()))
    return _CLASSES[family](entries, shape=tuple(shape)).asformat(form)


def _put(numbers: npt.NDArray[Any], arrays: Arrays) -> str:
    if numbers.dtype.newbyteorder("<").str not in SECTION_TYPES:
        raise UnstorableError(numbers)
    name = f"parameter.{len(arrays)}"
    arrays[name] = numbers
    return name


def _read_shape(shape: list[Any]) -> list[int]:
    sides = [check_kind("A side of an array", side, int) for side in shape]
    if len(sides) > MOST_AXES or any(not 0 <= side < 2**63 for side in sides):
        raise damaged("The shape of an array", f"at most {MOST_AXES} sides from 0", shape)
    return sides
