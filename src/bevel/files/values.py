"""Values in the header of a file: scalars, labels, matrices, parameters, as strict JSON."""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import projections
from bevel._types import Arrays
from bevel.errors import ModelFileError, shorten
from bevel.files.layout import (
    MAX_DIGITS,
    ROOM,
    ROOM_FACTOR,
    SECTION_TYPES,
    Fields,
    Sections,
    check_kind,
    damaged,
)
from bevel.projections.base import Projection
from bevel.projections.custom import MissingFunction, lose_function

__all__ = [
    "NUMBERS",
    "TIMES",
    "UnstorableError",
    "decode_array",
    "decode_labels",
    "decode_scalar",
    "decode_sparse",
    "decode_value",
    "encode_array",
    "encode_labels",
    "encode_scalar",
    "encode_sparse",
    "encode_value",
    "has_many_alike",
    "numpy_array",
    "tag_of",
]

# Single values as JSON, the elements of labels and parameters.
#
# None, bools, integers, finite floats and strings are stored as such. Anything else is an object
# with one field that names its type:
#
#     {"float": "nan"}          nan, inf or -inf
#     {"bytes": "YWI="}         in base64
#     {"date": "2024-05-31"}    and {"datetime": "2024-05-31T12:00:00"}, in ISO 8601
#     {"numpy": ["<i4", 7]}     a NumPy scalar: its type and its value

# Types of NumPy numbers, in either byte order, and of its times, which are stored as integers. A
# date without a unit cannot be printed.
NUMBERS = re.compile(r"\|b1|\|[iu]1|[<>](?:[iu][248]|f[248])")
_UNIT = r"\[(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]"
TIMES = re.compile(rf"[<>](?:M8{_UNIT}|m8(?:{_UNIT})?)")
_MAX_INTEGER = 10 ** (MAX_DIGITS - 1)
_UNUSUAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


# Most values of equal hash in a table: with many of them lookups are as slow as in a list.
MAX_ALIKE = 256


def has_many_alike(values: Iterable[object]) -> bool:
    """Whether too many values have the same hash; lists, which have none, do not count."""
    times = Counter(hash(value) for value in values if not isinstance(value, list | dict))
    return max(times.values(), default=0) > MAX_ALIKE


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
    if kind is int and abs(value) < _MAX_INTEGER:
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


# Arrays of labels as JSON: classes, and levels of nominal columns.
#
#     {"dtype": "<i8", "values": [1, 2, 3]}
#
# The type is that of a NumPy array of numbers or times (stored as integers), "U" or "S" for strings
# and bytes as wide as the longest, "T" for strings of any width, or "object" for values of any
# kind.

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


# Arrays and sparse matrices among the parameters: numbers in sections, shapes in the header.
#
# {"array": {"shape": [3, 2], "numbers": "parameter.0"}}
# {"sparse": {"format": "csc", "class": "array", "shape": [3, 2], "numbers": "parameter.0",
#             "rows": "parameter.1", "columns": "parameter.2"}}

# A few bytes may describe a matrix of any size without entries, whose shape costs memory.
MAX_SIDE = 2**22
MAX_AXES = 32
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
    if matrix.ndim != 2 or max(matrix.shape) > MAX_SIDE:
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
    if len(shape) != 2 or max(shape) > MAX_SIDE:
        raise damaged("The shape of a sparse matrix", f"two sides up to {MAX_SIDE}", str(shape))
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
    if len(sides) > MAX_AXES or any(not 0 <= side < 2**63 for side in sides):
        raise damaged("The shape of an array", f"at most {MAX_AXES} sides from 0", shape)
    return sides


# Values of parameters as JSON: scalars, containers of them, arrays and projections.
#
# Beside scalars and JSON's own arrays, which are lists:
#
#     {"tuple": [...]}  {"set": [...]}  {"dict": [[key, value], ...]}
#     {"array": ...}  {"sparse": ...}      see above
#     {"labels": ...}                      an array of strings or objects, see above
#     {"projection": {"class": "Ridge", "arguments": {"tune": "gcv", ...}}}
#     {"function": "name"}                 what is left of the function of a Custom projection
#
# Projections are found by name in a fixed table; nothing is ever imported or called by name.

# A list of pairs of a projection and its settings needs six.
MAX_LEVELS = 12

_PROJECTIONS: dict[str, type[Projection]] = {
    name: getattr(projections, name) for name in projections.__all__ if name != "Projection"
}


def encode_value(value: Any, arrays: Arrays, level: int = 0) -> Any:
    """Turn a value into a JSON value, and its arrays into sections.

    Parameters
    ----------
    value : object
        Value of a parameter; raises UnstorableError if files cannot hold it.
    arrays : dict
        Receives arrays of numbers, by the names of their sections.
    level : int, default=0
        Number of containers around the value.
    """
    if level > MAX_LEVELS:
        raise UnstorableError(value)

    def inner(part: Any) -> Any:
        return encode_value(part, arrays, level + 1)

    if type(value) is list:
        return [inner(part) for part in value]
    if type(value) is tuple:
        return {"tuple": [inner(part) for part in value]}
    if isinstance(value, set | frozenset):
        return {"set": [inner(part) for part in sorted(value, key=repr)]}
    if isinstance(value, Mapping):
        return {"dict": [[inner(key), inner(part)] for key, part in value.items()]}
    if isinstance(value, Projection):
        return {"projection": _encode_projection(value, arrays, level)}
    if isinstance(value, MissingFunction):
        return {"function": value.name}
    if sp.issparse(value):
        return {"sparse": encode_sparse(value, arrays)}
    if isinstance(value, np.ndarray):
        is_numeric = value.dtype.kind in "biuf"
        return (
            {"array": encode_array(value, arrays)}
            if is_numeric
            else {"labels": encode_labels(value)}
        )
    return encode_scalar(value)


def _encode_projection(projection: Projection, arrays: Arrays, level: int) -> dict[str, Any]:
    name = type(projection).__name__
    if _PROJECTIONS.get(name) is not type(projection):
        raise UnstorableError(projection)
    arguments = {f.name: getattr(projection, f.name) for f in dataclass_fields(projection)}
    if callable(arguments.get("sampler")):
        arguments["sampler"] = lose_function(arguments["sampler"])
    encoded = {key: encode_value(part, arrays, level + 2) for key, part in arguments.items()}
    return {"class": name, "arguments": encoded}


def decode_value(value: object, sections: Sections, level: int = 0) -> Any:
    """Turn a JSON value into the value; raises ModelFileError.

    Parameters
    ----------
    value : object
        Value from the header.
    sections : Sections
        Sections to take arrays from.
    level : int, default=0
        Number of containers around the value.
    """
    if level > MAX_LEVELS:
        raise damaged("A value of the header", f"of at most {MAX_LEVELS} levels", "a deeper one")

    def inner(part: object) -> Any:
        return decode_value(part, sections, level + 1)

    if isinstance(value, list):
        return [inner(part) for part in value]
    if not isinstance(value, dict):
        return decode_scalar(value)
    tag, content = tag_of(value)
    match tag:
        case "tuple":
            return tuple(inner(part) for part in check_kind("A tuple", content, list))
        case "set":
            return _decode_set([inner(part) for part in check_kind("A set", content, list)])
        case "dict":
            return _decode_dict([inner(pair) for pair in check_kind("A dict", content, list)])
        case "array":
            return decode_array(content, sections)
        case "sparse":
            return decode_sparse(content, sections)
        case "labels":
            return decode_labels(content, "labels", sections)
        case "projection":
            return _decode_projection(content, sections, level)
        case "function":
            return MissingFunction(check_kind("The name of a function", content, str))
    return decode_scalar(value)


def _decode_dict(pairs: list[Any]) -> dict[Any, Any]:
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise damaged("A dict", "made of pairs", pairs)
    try:
        if has_many_alike(key for key, _ in pairs):
            raise damaged("The keys of a dict", "of distinct hashes", "too many equal ones")
        entries = dict(pairs)
    except TypeError:
        raise damaged("The keys of a dict", "scalars", "others") from None
    if len(entries) < len(pairs):
        raise damaged("The keys of a dict", "different", "equal ones")
    return entries


def _decode_set(parts: list[Any]) -> set[Any]:
    try:
        if has_many_alike(parts):
            raise damaged("The members of a set", "of distinct hashes", "too many equal ones")
        return set(parts)
    except TypeError:
        raise damaged("The members of a set", "scalars", "others") from None


def _decode_projection(value: object, sections: Sections, level: int) -> Projection:
    fields = Fields(value, "projection")
    name = fields.take("class", str)
    arguments = fields.take("arguments", dict)
    fields.finish()
    if name not in _PROJECTIONS:
        raise damaged("The class of a projection", "one of " + ", ".join(_PROJECTIONS), name)
    decoded = {key: decode_value(part, sections, level + 2) for key, part in arguments.items()}
    try:
        return _PROJECTIONS[name](**decoded)
    except ModelFileError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise damaged(f"Arguments of {name}", "such as it takes", str(error)) from None
