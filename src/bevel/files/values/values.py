"""Values of parameters as JSON: scalars, containers of them, arrays and projections.

Beside scalars (`bevel.files.values.scalars`) and JSON's own arrays, which are lists:

    {"tuple": [...]}  {"set": [...]}  {"dict": [[key, value], ...]}
    {"array": ...}  {"sparse": ...}      see `matrices.py`
    {"labels": ...}                      an array of strings or objects, see `labels.py`
    {"projection": {"class": "Ridge", "arguments": {"tune": "gcv", ...}}}
    {"function": "name"}                 what is left of the function of a Custom projection

Projections are found by name in a fixed table; nothing is ever imported or called by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from bevel import projections
from bevel._types import Arrays
from bevel.errors import ModelFileError
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.labels import decode_labels, encode_labels
from bevel.files.values.matrices import decode_array, decode_sparse, encode_array, encode_sparse
from bevel.files.values.scalars import (
    UnstorableError,
    decode_scalar,
    encode_scalar,
    has_many_alike,
    tag_of,
)
from bevel.projections.base import Projection
from bevel.projections.custom import LostFunction, lose_function

__all__ = ["decode_value", "encode_value"]


# A list of pairs of a projection and its settings needs six.
MOST_LEVELS = 12

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
    if level > MOST_LEVELS:
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
    if isinstance(value, LostFunction):
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
    if level > MOST_LEVELS:
        raise damaged("A value of the header", f"of at most {MOST_LEVELS} levels", "a deeper one")

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
            return LostFunction(check_kind("The name of a function", content, str))
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
