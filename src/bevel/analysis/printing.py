"""How results print: a title and a few aligned lines, or a small table."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from bevel.printable import printable

__all__ = ["Lines", "described", "write_table"]

Lines = Sequence[tuple[str, float | str]]


def described(title: str, lines: Lines) -> str:
    """Text of a result: what it is, then names and values below each other."""
    shown = [(printable(name), printable(_text(value))) for name, value in lines]
    width = max(_width(name) for name, _ in shown)
    return "\n".join([printable(title), *(f"  {_to_left(n, width)}  {v}" for n, v in shown)])


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of a table: the first column to the left, numbers to the right."""
    lines = [tuple(map(printable, row)) for row in (header, *rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    text = []
    for first, *others in lines:
        cells = [cell.rjust(w) for cell, w in zip(others, widths[1:], strict=True)]
        text.append("  ".join((_to_left(first, widths[0]), *cells)).rstrip())
    return "\n".join(text)


def _to_left(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    """Columns on a screen: the bar of ρ̄, and accents of their own, take none."""
    return sum(unicodedata.combining(letter) == 0 for letter in text)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
