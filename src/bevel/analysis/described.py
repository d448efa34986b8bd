"""How results print: a title and a few aligned lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["Lines", "described"]

Lines = Sequence[tuple[str, float | str]]


def described(title: str, lines: Lines) -> str:
    """Text of a result: what it is, then names and values below each other."""
    width = max(_width(name) for name, _ in lines)
    return "\n".join(
        [title, *(f"  {name}{' ' * (width - _width(name))}  {_text(v)}" for name, v in lines)]
    )


def _width(text: str) -> int:
    """Columns on a screen: the bar of ρ̄ takes none."""
    return sum(unicodedata.combining(letter) == 0 for letter in text)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
