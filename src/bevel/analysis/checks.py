"""Checks of common arguments: counts and flags."""

from __future__ import annotations

import numpy as np

from bevel.errors import wrong_type, wrong_value
from bevel.parameters.constraints import Flag

__all__ = ["check_count", "check_flag", "check_out_of_bag", "check_place"]


def check_count(name: str, value: object, low: int = 1) -> int:
    """A whole number of at least `low` as an int; raises for other values."""
    required = f"an integer of at least {low}"
    remedy = f"Write for example {name}={max(low, 10)}."
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise wrong_type(name, required, value, remedy)
    if value < low:
        raise wrong_value(name, required, value, remedy)
    return int(value)


def check_flag(name: str, value: object) -> bool:
    """True or False; raises for other values, as a text such as "no" would count as True."""
    if not Flag().describes(value):
        raise wrong_type(name, str(Flag()), value, f"Write for example {name}=False.")
    return bool(value)


def check_out_of_bag(value: object) -> bool | None:
    """True or False; None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if not Flag().describes(value):
        required = f'{Flag()} or "auto"'
        raise wrong_type("out_of_bag", required, value, "Write for example out_of_bag=True.")
    return bool(value)


def check_place(name: str, value: object, size: int) -> None:
    """Raise unless it is an index into a sequence of length `size`, from either end."""
    required, remedy = f"an integer from 0 to {size - 1}", f"There are {size}."
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise wrong_type(name, required, value, remedy)
    if not -size <= value < size:
        raise wrong_value(name, required, value, remedy)
