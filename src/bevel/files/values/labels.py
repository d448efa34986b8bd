"""Arrays of labels as JSON: classes, and levels of nominal columns.

    {"dtype": "<i8", "values": [1, 2, 3]}

The type is that of a NumPy array of numbers or times (stored as integers), "U" or "S" for strings
and bytes as wide as the longest, "T" for strings of any width, or "object" for values of any kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.files.faults import damaged
from bevel.files.sections import ROOM, ROOM_FACTOR, Sections
from bevel.files.values.fields import Fields
from bevel.files.values.scalars import (
    NUMBERS,
    TIMES,
    UnstorableError,
    decode_scalar,
    encode_scalar,
    has_many_alike,
    numpy_array,
)

__all__ = ["decode_labels", "encode_labels"]

BYTES_PER_CHARACTER = {"U": 4, "S": 1}


def encode_labels(labels: npt.NDArray[Any]) -> dict[str, Any]:
    """Turn a one-dimensional array of labels into a JSON value; raises UnstorableError."""
    dtype = labels.dtype
    if dtype.kind == "O":
        values = [encode_scalar(label) for label in labels]
        if has_many_alike(labels):
            raise UnstorableError(labels)
        return {"dtype": "object", "values": values}
    if TIMES.fullmatch(dtype.str):
        return {"dtype": dtype.str, "values": labels.astype(np.int64).tolist()}
    is_text = dtype.kind in "UST"
    if labels.ndim != 1 or not (is_text or NUMBERS.fullmatch(dtype.str)):
        raise UnstorableError(labels)
    if dtype.kind in "US" and labels.nbytes > ROOM + ROOM_FACTOR * sum(map(len, labels.tolist())):
        raise UnstorableError(labels)
    name = dtype.kind if is_text else dtype.str
    return {"dtype": name, "values": [encode_scalar(label) for label in labels.tolist()]}


def decode_labels(value: object, name: str, sections: Sections) -> npt.NDArray[Any]:
    """Turn a JSON value into the array; raises ModelFileError."""
    fields = Fields(value, name)
    dtype = fields.take("dtype", str)
    values = [decode_scalar(each) for each in fields.take("values", list)]
    fields.finish()
    if dtype == "object":
        if has_many_alike(values):
            raise damaged(f"Labels of {name}", "of distinct hashes", "too many equal ones")
        labels = np.empty(len(values), dtype=object)
        for position, label in enumerate(values):
            labels[position] = label
        return labels
    if dtype in ("U", "S", "T"):
        return _text(dtype, values, name, sections)
    return numpy_array(dtype, values)


def _text(dtype: str, values: list[Any], name: str, sections: Sections) -> npt.NDArray[Any]:
    kind = bytes if dtype == "S" else str
    if any(type(value) is not kind for value in values):
        raise damaged(f"Labels of {name}", f'of kind "{kind.__name__}"', "others")
    if dtype == "T":
        any_width = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else object
        return np.array(values, dtype=any_width)
    # All strings of an array are as wide as the longest.
    width = max(map(len, values), default=0)
    sections.claim(f"Labels of {name}", BYTES_PER_CHARACTER[dtype] * len(values) * width)
    return np.array(values, dtype=dtype)
