"""How a text file is laid out: its delimiter, whether it has a header, and whether it can be read.

Only the first rows are looked at here; `text_file` reads the cells.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bevel.errors import join_names

__all__ = ["MISSING", "TextLayout", "find_layout", "is_absent", "is_number", "readable"]

MISSING = ("", "NA", "N/A", "NaN", "null", "?")
# In this order: commas also stand in numbers and text where the cells are cut by something else.
DELIMITERS = ("\t", ";", "|", ",")
SAMPLE_ROWS = 100  # looked at to find delimiter and header

_ABSENT = frozenset(marker.lower() for marker in MISSING)


@dataclass(frozen=True)
class TextLayout:
    """What must be known of a text file to read its cells.

    Attributes
    ----------
    path : Path
    delimiter : str
    names : tuple of str
        Of the columns, all different.
    has_header : bool
        Whether the first row holds the names.
    longest : int
        Characters of the longest row looked at.
    notes : tuple of str
        What the user should know of how the file was understood.
    """

    path: Path
    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    longest: int
    notes: tuple[str, ...]


def find_layout(path: Path, header: bool | None) -> TextLayout:
    """Look at the first rows of a file; `header` says whether it has one, None looks."""
    lines = _first_lines(path)
    delimiter = _find_delimiter(lines)
    rows = _first_rows(path, delimiter)
    if not rows:
        raise ValueError(f"{path} must have at least one row; got an empty file. Check the name.")
    named = _looks_like_header(rows) if header is None else header
    names, notes = _read_header(path, rows[0], named)
    if not named and header is None:
        notes.append(
            f"The first line holds no names, so that columns are called {names[0]}, … "
            f"{names[-1]}; `header=True` says that it does."
        )
    longest = max(sum(map(len, row)) + len(row) for row in rows)
    return TextLayout(path, delimiter, tuple(names), named, longest, tuple(notes))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise ValueError with the remedy where a file is no text, or no CSV."""
    try:
        yield
    except UnicodeDecodeError as error:
        begins = bytes(error.object[:2]) if error.start == 0 else b""
        likely = "UTF-16" if begins in (b"\xff\xfe", b"\xfe\xff") else "WINDOWS-1252"
        raise ValueError(
            f"{path} must be text in UTF-8; got byte {error.object[error.start]:#04x}. Save it as "
            f"UTF-8, for example with: iconv -f {likely} -t UTF-8"
        ) from error
    except (csv.Error, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} must be CSV or TSV; got a line that cannot be read ({error}). Check the "
            "quotes, or save it as CSV again."
        ) from error


def is_absent(cell: str) -> bool:
    """Whether a cell is a marker of missing values."""
    return cell.lower() in _ABSENT


def is_number(cell: str) -> bool:
    """Whether a cell is a number; Python's 1_000 is none."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and not is_absent(cell)


def open_text(path: Path) -> Any:
    """The file as text, unzipped if it ends in .gz."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def split_rows(lines: Any, delimiter: str) -> Iterator[list[str]]:
    """Cells of lines; spaces before a quote do not count."""
    csv.field_size_limit(2**31 - 1)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _first_lines(path: Path) -> list[str]:
    with readable(path), open_text(path) as stream:
        return list(islice((line for line in stream if line.strip()), SAMPLE_ROWS))


def _first_rows(path: Path, delimiter: str) -> list[list[str]]:
    with readable(path), open_text(path) as stream:
        stripped = ([cell.strip() for cell in row] for row in split_rows(stream, delimiter))
        return list(islice((row for row in stripped if any(row) or len(row) > 1), SAMPLE_ROWS))


def _find_delimiter(sample: Sequence[str]) -> str:
    """The first delimiter that cuts all lines alike, or else the one that cuts most of them so."""
    scores = {each: _agreement(sample, each) for each in DELIMITERS}
    return max(DELIMITERS, key=lambda each: scores[each])


def _agreement(sample: Sequence[str], delimiter: str) -> float:
    """Share of lines with the most frequent number of cells; none if that number is one."""
    try:
        lengths = [len(row) for row in split_rows(sample, delimiter) if row]
    except csv.Error:
        return 0.0
    if not lengths:
        return 0.0
    width = max(set(lengths), key=lengths.count)
    return lengths.count(width) / len(lengths) if width > 1 else 0.0


def _looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Names are no numbers; a number is a name only if other names stand above numbers."""
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if not any(is_number(cell) for cell in first):
        return True
    return any(
        not is_number(cell) and not is_absent(cell) and _is_numeric([row[column] for row in rest])
        for column, cell in enumerate(first)
    )


def _is_numeric(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if not is_absent(cell)]
    return bool(present) and all(map(is_number, present))


def _read_header(path: Path, first: Sequence[str], named: bool) -> tuple[list[str], list[str]]:
    """Names of the columns; nameless ones are called by their number."""
    if not named:
        return [f"c{number}" for number in range(1, len(first) + 1)], []
    names = [cell or f"c{number}" for number, cell in enumerate(first, start=1)]
    nameless = [repr(name) for name, cell in zip(names, first, strict=True) if not cell]
    seen: set[str] = set()
    twice = [repr(name) for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if twice:
        raise ValueError(
            f"{path} must have a different name for each column; got {join_names(twice)} more "
            "than once. Rename them in the first line."
        )
    notes = [f"A column without a name is called {name} here." for name in nameless[:1]]
    return names, notes
