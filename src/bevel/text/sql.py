"""Names and values as SQL writes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bevel.errors import wrong_value

__all__ = ["quoted", "sql_value"]


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + _without_null(name, "A name in SQL").replace('"', '""') + '"'


def sql_value(value: Any) -> str:
    """A label or number as an SQL literal."""
    if isinstance(value, bool | np.bool_):
        return "1" if value else "0"
    if isinstance(value, int | float | np.number):
        number = value.item() if isinstance(value, np.generic) else value
        if not math.isfinite(number):
            raise wrong_value(
                "A number in SQL",
                "finite, for infinities have no literal",
                number,
                "Replace such labels before fit.",
            )
        return repr(number)
    return "'" + _without_null(str(value), "A label in SQL").replace("'", "''") + "'"


def _without_null(text: str, what: str) -> str:
    """Refuse the character that ends a statement in some databases."""
    if "\0" in text:
        raise wrong_value(what, "text without the null character", text, "Remove it before fit.")
    return text
