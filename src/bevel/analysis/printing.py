"""Printing of results: a title and a few aligned lines, or a small table; in notebooks as HTML."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bevel.extras import import_optional
from bevel.html_table import html_table, html_text
from bevel.printable import printable, rounded

__all__ = [
    "Lines",
    "PrintedResult",
    "PrintedTable",
    "PrintedText",
    "data_frame",
    "described",
    "write_table",
]

Lines = Sequence[tuple[str, float | str]]


@dataclass(frozen=True)
class PrintedTable:
    """A table that represents a result in print.

    Attributes
    ----------
    title : str
        Title of the result; may be empty.
    header : sequence of str
        Names of the columns; empty: each row is a name and a value.
    rows : sequence of sequences
        Cells: text, or numbers that are written with four digits.
    notes : sequence of str
        Lines below the table.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[float | str]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        """Lines for a terminal."""
        title = [printable(self.title)] if self.title else []
        if self.header:
            body = [write_table(self.header, self._cells())]
        else:
            body = described("", [(str(name), value) for name, value in self.rows]).split("\n")[1:]
        return "\n".join([*title, *body, *map(printable, self.notes)])

    def html(self) -> str:
        """A table for the cell of a notebook."""
        return html_table(self.title, self.header, self._cells(), self.notes)

    def _cells(self) -> list[tuple[str, ...]]:
        return [tuple(_text(cell) for cell in row) for row in self.rows]


class PrintedResult(ABC):
    """A result that is printed as text, and as a table by a notebook."""

    @abstractmethod
    def _printed(self) -> PrintedTable:
        """The table to print."""

    def __repr__(self) -> str:
        return self._printed().text()

    def _repr_html_(self) -> str:
        return self._printed().html()


class PrintedText:
    """A result whose text a notebook shows verbatim."""

    def _repr_html_(self) -> str:
        return html_text(repr(self))


def data_frame(columns: Mapping[Any, Any], index: str | None = None) -> Any:
    """Data frame of pandas; `index` names its index, which counts rows from 0."""
    pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
    frame = pandas.DataFrame(dict(columns))
    frame.index.name = index
    return frame


def described(title: str, lines: Lines) -> str:
    """Text of a result: its title, then a line for each name and value."""
    shown = [(printable(name), printable(_text(value))) for name, value in lines]
    width = max(_width(name) for name, _ in shown)
    return "\n".join([printable(title), *(f"  {_to_left(n, width)}  {v}" for n, v in shown)])


def write_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of a table: the first column left-aligned, numbers right-aligned."""
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
    """Width on a screen: combining characters, such as the bar of ρ̄, take no column."""
    return sum(unicodedata.combining(letter) == 0 for letter in text)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else rounded(value, 4)
