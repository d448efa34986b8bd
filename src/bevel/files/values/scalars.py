"""Single values as JSON, the elements of labels and parameters.

None, bools, integers, finite floats and strings are stored as such. Anything else is an object with
one field that names its type:

    {"float": "nan"}          nan, inf or -inf
    {"bytes": "YWI="}         in base64
    {"date": "2024-05-31"}    and {"datetime": "2024-05-31T12:00:00"}, in ISO 8601
    {"numpy": ["<i4", 7]}     a NumPy scalar: its type and its value
"""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from bevel.errors import shorten
from bevel.files.faults import damaged
from bevel.files.values.fields import check_kind
from bevel.files.values.strict_json import MOST_DIGITS

__all__ = [
    "NUMBERS",
    "TIMES",
    "UnstorableError",
    "decode_scalar",
    "encode_scalar",
    "has_many_alike",
    "numpy_array",
    "tag_of",
]

# Types of NumPy numbers, in either byte order, and of its times, which are stored as integers. A
# date without a unit cannot be printed.
NUMBERS = re.compile(r"\|b1|\|[iu]1|[<>](?:[iu][248]|f[248])")
_UNIT = r"\[(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]"
TIMES = re.compile(rf"[<>](?:M8{_UNIT}|m8(?:{_UNIT})?)")
_LARGEST_INTEGER = 10 ** (MOST_DIGITS - 1)
_UNUSUAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


# Most values of equal hash in a table: with many of them lookups are as slow as in a list.
MOST_ALIKE = 256


def has_many_alike(values: Iterable[object]) -> bool:
    """Whether too many values have the same hash; lists, which have none, do not count."""
    times = Counter(hash(value) for value in values if not isinstance(value, list | dict))
    return max(times.values(), default=0) > MOST_ALIKE


class UnstorableError(TypeError):
    """A value of a type that model files cannot hold; the message says which."""

    def __init__(self, value: object) -> None:
        # Only integers that are too long for Python to print are refused.
        shown = "more digits than fit" if type(value) is int else shorten(value)
        super().__init__(f"{shown} of type {type(value).__name__}")


def encode_scalar(value: Any) -> Any:
    """Turn a value into a JSON value; raises UnstorableError."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int and abs(value) < _LARGEST_INTEGER:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if kind is datetime.datetime:
        return {"datetime": value.isoformat()}
    if kind is datetime.date:
        return {"date": value.isoformat()}
    if isinstance(value, np.generic):
        return {"numpy": list(_encode_numpy(value))}
    raise UnstorableError(value)


def _encode_numpy(value: np.generic) -> tuple[str, Any]:
    dtype = value.dtype
    if dtype.kind in "US":
        return dtype.kind, encode_scalar(value.item())
    if NUMBERS.fullmatch(dtype.str):
        return dtype.str, encode_scalar(value.item())
    if TIMES.fullmatch(dtype.str):
        return dtype.str, int(value.astype(np.int64))
    raise UnstorableError(value)


def tag_of(value: object) -> tuple[str, Any]:
    """Name and value of the only field of an object."""
    if not isinstance(value, dict) or len(value) != 1:
        raise damaged("A value of the header", "plain, or an object of one field", value)
    return next(iter(value.items()))


def decode_scalar(value: object) -> Any:
    """Turn a JSON value into the value; raises ModelFileError."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    tag, content = tag_of(value)
    if tag == "numpy":
        return _decode_numpy(content)
    text = check_kind(f'A value of kind "{tag}"', content, str)
    try:
        match tag:
            case "float":
                return _UNUSUAL[text]
            case "bytes":
                return base64.b64decode(text, validate=True)
            case "datetime":
                return datetime.datetime.fromisoformat(text)
            case "date":
                return datetime.date.fromisoformat(text)
    except (KeyError, ValueError, binascii.Error):
        raise damaged("A value of the header", f'of kind "{tag}"', text) from None
    raise damaged("A value of the header", "of a known kind", tag)


def _decode_numpy(content: object) -> np.generic:
    pair = check_kind('A value of kind "numpy"', content, list)
    if len(pair) != 2:
        raise damaged('A value of kind "numpy"', "a type and a value", pair)
    name, value = check_kind("A NumPy type", pair[0], str), decode_scalar(pair[1])
    if name == "U":
        return np.str_(check_kind("A NumPy string", value, str))
    if name == "S":
        if type(value) is not bytes:
            raise damaged("NumPy bytes", 'of kind "bytes"', value)
        return np.bytes_(value)
    return numpy_array(name, [value])[0]  # type: ignore[no-any-return]


def numpy_array(name: str, values: list[Any]) -> np.ndarray[Any, Any]:
    """Numbers or times as an array of a type, each checked for its kind and range."""
    is_time = TIMES.fullmatch(name) is not None
    if not is_time and not NUMBERS.fullmatch(name):
        raise damaged("A NumPy type", "of numbers or times", name)
    kind = {"b": bool, "f": float}.get(name[1], int)
    if any(type(value) is not kind for value in values):
        raise damaged(f'Values of type "{name}"', f"of type {kind.__name__}", "others")
    stored = np.dtype(np.int64 if is_time else name)
    exact = kind is not int or _all_fit(values, stored)  # NumPy 1 would wrap out-of-range values
    if exact:
        with np.errstate(over="ignore"):
            array = np.array(values, stored)
        same = np.array_equal(array, values, equal_nan=True) if kind is float else None
        exact = array.tolist() == values if same is None else same
    if not exact:
        raise damaged(f'Values of type "{name}"', "among those it can hold", "others")
    return array.astype(name) if is_time else array


def _all_fit(values: list[int], stored: np.dtype[Any]) -> bool:
    info = np.iinfo(stored)
    return all(info.min <= value <= info.max for value in values)
