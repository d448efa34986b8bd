"""Layout of a text file: its encoding, delimiter, decimal sign and header.

All bytes are scanned once, the first rows more closely; `text_file` reads the cells.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from bevel.errors import join_names
from bevel.tables.number_parsing import decimal_of
from bevel.tables.options import TableOptions
from bevel.tables.source import Source

__all__ = ["MISSING", "TextLayout", "find_layout", "is_number", "readable"]

MISSING = ("", "NA", "N/A", "NaN", "null", "?", "<NA>", "#N/A", "#NA")
_EXCEL_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#N/A N/A")
# In order of preference: commas also occur in numbers and text with other delimiters.
DELIMITERS = ("\t", ";", "|", ",")
SAMPLE_ROWS = 100  # rows examined to find delimiter and header
CHUNK = 2**20

ABSENT = frozenset(marker.lower() for marker in (*MISSING, *_EXCEL_ERRORS))


@dataclass(frozen=True)
class TextLayout:
    """Properties of a text file that are needed to read its cells.

    Attributes
    ----------
    source : Source
    encoding : str
    delimiter : str
    decimal : {".", ","} or None
        Decimal sign that the first rows imply, or that the user gave.
    names : tuple of str
        Names of the columns, all different.
    has_header : bool
        Whether the first row holds the names.
    names_short : bool
        Whether the first row lacks a name for the first or the last column.
    row_names : str or None
        A first column that names the rows, as R and pandas write it.
    twice : tuple of str
        Names that occur more than once in the header.
    longest : int
        Characters of the longest row that was examined.
    notes : tuple of str
        Notes for the user on how the file was read.
    """

    source: Source
    encoding: str
    delimiter: str
    decimal: str | None
    names: tuple[str, ...]
    has_header: bool
    names_short: bool
    row_names: str | None
    twice: tuple[str, ...]
    longest: int
    notes: tuple[str, ...]


def find_layout(source: Source, options: TableOptions) -> TextLayout:
    """Infer the layout of a file; options take precedence."""
    encoding, notes = _find_encoding(source, options.encoding)
    lines = _first_lines(source, encoding)
    delimiter = options.delimiter or _find_delimiter(lines)
    rows = _first_rows(source, encoding, delimiter)
    if not rows:
        raise ValueError(f"{source} must have at least one row; got an empty file. Check the name.")
    named = _looks_like_header(rows) if options.header is None else options.header
    header = _read_header(rows, named)
    if not named and options.header is None:
        notes.append(
            f"The first line holds no names, so that columns are called {header.names[0]}, … "
            f"{header.names[-1]}; `header=True` says that it does."
        )
    return TextLayout(
        source,
        encoding,
        delimiter,
        options.decimal or decimal_of(cell for row in rows for cell in row),
        tuple(header.names),
        named,
        named and len(header.names) > len(rows[0]),
        header.row_names,
        tuple(header.twice),
        max(sum(map(len, row)) + len(row) for row in rows),
        (*notes, *header.notes),
    )


@contextmanager
def readable(source: Source) -> Iterator[None]:
    """Raise ValueError with a remedy if a file is not text, or not CSV."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{source} must be text in {error.encoding}; got byte "
            f'{error.object[error.start]:#04x}. Name its encoding, such as `encoding="cp1252"`, '
            "or save it as UTF-8."
        ) from error
    except (csv.Error, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{source} must be CSV or TSV; got a line that cannot be read ({error}). Check the "
            "quotes, or save it as CSV again."
        ) from error


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number; Python's 1_000 is not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.lower() not in ABSENT


def open_text(source: Source, encoding: str) -> Any:
    """The file as text, decompressed."""
    return io.TextIOWrapper(source.open_bytes(), encoding=encoding, newline="")


def split_rows(lines: Any, delimiter: str) -> Iterator[list[str]]:
    """Cells of lines; spaces before a quote are ignored."""
    csv.field_size_limit(2**31 - 1)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _find_encoding(source: Source, given: str | None) -> tuple[str, list[str]]:
    """The encoding of all bytes: that of a mark at their beginning, UTF-8, or Windows-1252."""
    with readable(source), source.open_bytes() as stream:
        begins = stream.read(3)
    if given is not None:
        marked = codecs.lookup(given).name == "utf-8" and begins == codecs.BOM_UTF8
        return ("utf-8-sig" if marked else given), []
    if begins[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16", []
    wrong = _first_wrong_byte(source, "utf-8")
    if wrong is None:
        return ("utf-8-sig" if begins == codecs.BOM_UTF8 else "utf-8"), []
    if _first_wrong_byte(source, "cp1252") is not None or _has_zeros(source):
        with readable(source):
            raise wrong
    note = "The file is not UTF-8: it is read as Windows-1252; `encoding` names another."
    return "cp1252", [note]


def _first_wrong_byte(source: Source, encoding: str) -> UnicodeDecodeError | None:
    decoder = codecs.getincrementaldecoder(encoding)()
    with readable(source), source.open_bytes() as stream:
        try:
            while chunk := stream.read(CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            return error
    return None


def _has_zeros(source: Source) -> bool:
    with source.open_bytes() as stream:
        return any(b"\0" in chunk for chunk in iter(lambda: stream.read(CHUNK), b""))


def _first_lines(source: Source, encoding: str) -> list[str]:
    with readable(source), open_text(source, encoding) as stream:
        return list(islice((line for line in stream if line.strip()), SAMPLE_ROWS))


def _first_rows(source: Source, encoding: str, delimiter: str) -> list[list[str]]:
    with readable(source), open_text(source, encoding) as stream:
        stripped = ([cell.strip() for cell in row] for row in split_rows(stream, delimiter))
        return list(islice((row for row in stripped if any(row) or len(row) > 1), SAMPLE_ROWS))


def _find_delimiter(sample: Sequence[str]) -> str:
    """The first delimiter that splits all lines alike, or else the one that does so for most.

    A space is considered only if no other delimiter occurs, as in files of R's `write.table`.
    """
    scores = {each: _agreement(sample, each) for each in DELIMITERS}
    if not any(scores.values()) and _agreement(sample, " ") > 0.9:
        return " "
    return max(DELIMITERS, key=lambda each: scores[each])


def _agreement(sample: Sequence[str], delimiter: str) -> float:
    """Share of lines with the most frequent number of cells; zero if that number is one."""
    try:
        lengths = [len(row) for row in split_rows(sample, delimiter) if row]
    except csv.Error:
        return 0.0
    if not lengths:
        return 0.0
    width = max(set(lengths), key=lengths.count)
    return lengths.count(width) / len(lengths) if width > 1 else 0.0


def _looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a row holds names, which are numbers only if other names stand above numbers."""
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if not any(is_number(cell) for cell in first):
        return True
    return any(
        not is_number(cell)
        and cell.lower() not in ABSENT
        and _is_numeric([row[column] for row in rest])
        for column, cell in enumerate(first)
    )


def _is_numeric(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if cell.lower() not in ABSENT]
    return bool(present) and all(map(is_number, present))


@dataclass(frozen=True)
class _Header:
    names: list[str]
    row_names: str | None
    twice: list[str]
    notes: list[str]


def _read_header(rows: Sequence[Sequence[str]], named: bool) -> _Header:
    """Names of the columns; unnamed ones are numbered, and so are duplicates."""
    first, rest = list(rows[0]), rows[1:]
    if not named:
        return _Header([f"c{number}" for number in range(1, len(first) + 1)], None, [], [])
    row_names, notes = None, []
    if rest and all(len(row) == len(first) + 1 for row in rest):
        if all(row[-1] == "" for row in rest):
            first = [*first, ""]
        else:
            row_names = _unused("row_name", first)
            first = [row_names, *first]
    names = [cell or f"c{number}" for number, cell in enumerate(first, start=1)]
    if row_names is None and not first[0] and len(first) > 1:
        row_names = names[0]
    nameless = [
        name for name, cell in zip(names, first, strict=True) if not cell and name != row_names
    ]
    names, twice = _all_different(names)
    if twice:
        listed = join_names([repr(name) for name in twice])
        notes.append(f"Copies of a name are numbered, as in '{twice[0]}.1': {listed}.")
    if nameless:
        listed = join_names([repr(name) for name in nameless])
        notes.append(f"Columns without a name are called by their number: {listed}.")
    return _Header(names, row_names, twice, notes)


def _all_different(names: list[str]) -> tuple[list[str], list[str]]:
    """Names with duplicates numbered, and the names that had duplicates."""
    taken, seen, different = set(names), Counter[str](), []
    for name in names:
        different.append(_unused(f"{name}.{seen[name]}", taken) if seen[name] else name)
        taken.add(different[-1])
        seen[name] += 1
    return different, [name for name, count in seen.items() if count > 1]


def _unused(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else _unused(f"{name}_", taken)
