"""JSON without its ambiguities: no NaN or infinities, no repeated keys, no endless numbers."""

from __future__ import annotations

import json
from typing import Any, Never

from bevel.files.faults import damaged

__all__ = ["MOST_DIGITS", "read_json", "write_json"]

# Reading an integer takes time that grows with the square of its digits.
MOST_DIGITS = 4000


def write_json(value: Any) -> bytes:
    """Compact ASCII text, which can hold even strings that UTF-8 cannot."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def read_json(text: bytes) -> Any:
    """Read a text; raises ModelFileError unless it is plain JSON."""
    try:
        return json.loads(
            text.decode("utf-8"),
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_integer,
            object_pairs_hook=_without_repeats,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise damaged("The header", "JSON in UTF-8", str(error)) from None
    except RecursionError:
        raise damaged("The header", "JSON of a few levels", "a deeply nested one") from None


def _refuse(word: str) -> Never:
    raise damaged("A number of the header", "finite", word)


def _finite(text: str) -> float:
    number = float(text)
    return number if number - number == 0.0 else _refuse(text)


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise damaged("An integer of the header", f"of at most {MOST_DIGITS} digits", len(text))
    return int(text)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise damaged("Fields of the header", "named once each", f"{len(pairs)} with repeats")
    return fields
