"""Arrays whose numbers lie at multiples of their size, as compiled code requires.

Arrays over a part of a message or a file may lie anywhere. NumPy reads them all; in C++ such
reads are undefined behaviour.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["align"]


def align(value: Any) -> Any:
    """Return the value with aligned copies of the arrays in it that are not aligned.

    Arrays are looked for in lists, tuples, dictionaries and the attributes of this library's
    objects. Other values are returned unchanged.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy(order="K")
    if type(value) is dict:
        return dict(zip(value, _align_all(list(value.values())), strict=True))
    if type(value) is list:
        return _align_all(value)
    if isinstance(value, tuple):
        items = _align_all(list(value))
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if type(value).__module__.startswith("bevel.") and hasattr(value, "__dict__"):
        return _align_attributes(value)
    return value


def _align_all(values: list[Any]) -> list[Any]:
    return [align(each) for each in values]


def _align_attributes(value: Any) -> Any:
    """The object, or one with the same attributes if some had to be copied."""
    attributes = {name: align(each) for name, each in vars(value).items()}
    if all(each is vars(value)[name] for name, each in attributes.items()):
        return value
    aligned = object.__new__(type(value))
    vars(aligned).update(attributes)
    return aligned
