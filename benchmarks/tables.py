"""Markdown tables that also read well in a terminal, and CSV files that grow by appending."""

import csv
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["append_csv", "bound", "markdown", "number", "read_csv", "verdict"]


def number(value: float | None, digits: int = 3) -> str:
    """A number with about `digits` significant figures and no exponent; None: a dash."""
    if value is None or value != value:
        return "–"
    if value == 0:
        return "0"
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    places = max(0, digits - whole)
    if abs(value) < 1:
        leading = 0
        while abs(value) * 10 ** (leading + 1) < 1 and leading < 6:
            leading += 1
        places = digits + leading
    return f"{value:,.{places}f}".replace(",", " ")


def bound(ratio: float) -> str:
    """A ratio that is asked or hoped for; NaN: none."""
    return "–" if ratio != ratio else f"{ratio:g}"


def verdict(ratio: float, at_least: float, aim: float) -> str:
    """A ratio against what is asked and hoped for; nothing if nothing is."""
    if at_least != at_least:
        return ""
    return "aim" if ratio >= aim else "enough" if ratio >= at_least else "SHORT"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A pipe table with aligned columns; the first column flush left, the others flush right."""
    cells = [list(header), *(list(row) for row in rows)]
    widths = [max(3, *(_width(row[i]) for row in cells)) for i in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [_line(cells[0], widths), "| " + " | ".join(rule) + " |"]
    lines += [_line(row, widths) for row in cells[1:]]
    return "\n".join(lines)


def append_csv(path: Path, fields: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows to a CSV file, with a header line if it is new. Other columns are an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists() or path.stat().st_size == 0
    if not is_new:
        with path.open(newline="", encoding="utf-8") as stream:
            found = next(csv.reader(stream), [])
        if found != list(fields):
            raise ValueError(
                f"{path} has the columns {', '.join(found)}, and this run writes "
                f"{', '.join(fields)}. Move the file away or give another with --out."
            )
    with path.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(fields), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file as text; none if there is no file. A line cut short is left out."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return [row for row in csv.DictReader(stream) if None not in row.values()]


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(letter) else 1 for letter in text)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first = row[0] + " " * (widths[0] - _width(row[0]))
    others = [" " * (w - _width(cell)) + cell for cell, w in zip(row[1:], widths[1:], strict=True)]
    return "| " + " | ".join([first, *others]) + " |"
