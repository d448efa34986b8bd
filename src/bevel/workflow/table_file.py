"""Reads a table from a file: CSV, TSV (also gzipped) or Parquet, into named columns.

What a cell is depends on its column: a column whose present cells are all numbers is numeric, any
other is nominal, and its labels stay the words of the file. Text files are read by the standard
library, block by block: one pass finds the numeric columns, a second one, if there are others,
reads their words, so that no more text than that is ever held.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from bevel.columns import Columns
from bevel.errors import join_names, shorten
from bevel.extras import MissingPackageError, import_optional
from bevel.tables import is_missing, read_table
from bevel.workflow import dates

__all__ = ["MISSING", "TableFile", "open_table"]

MISSING = ("", "NA", "N/A", "NaN", "null", "?")
# In this order: commas also stand in numbers and text where the cells are cut by something else.
DELIMITERS = ("\t", ";", "|", ",")
ROWS_PER_BLOCK = 1000
SAMPLE_ROWS = 100  # looked at to find delimiter and header

_ABSENT = frozenset(marker.lower() for marker in MISSING)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Numbers:
    """What was found in columns that may be numeric, by their place in the file."""

    values: Mapping[int, Floats]
    words: Mapping[int, str]  # of columns that are not: the first word, and where
    dates: Collection[int] = ()  # among the values: they were dates


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table whose header is known and whose cells are read when asked for.

    Attributes
    ----------
    path : Path
        The file.
    names : tuple of str
        Names of the columns, all different.
    notes : tuple of str
        What the reader should be told of how the file was understood.
    """

    path: Path
    names: tuple[str, ...]
    notes: tuple[str, ...]
    _read_numbers: Callable[[Sequence[int]], Numbers]
    _read_words: Callable[[Sequence[int]], dict[int, npt.NDArray[np.object_]]]

    def read(
        self, names: Sequence[str], kinds: Mapping[str, str] | None = None
    ) -> tuple[Columns, list[str]]:
        """Read columns by name; also notes on columns that look other than they were read.

        Parameters
        ----------
        names : sequence of str
            Which columns, in the order wanted; raises ValueError for one that is absent.
        kinds : mapping of str to "numeric" or "nominal", default=None
            What columns must be, by name; others become what their cells say. A word in a column
            that must be numeric raises ValueError.
        """
        kinds = kinds or {}
        place = {name: index for index, name in enumerate(self.names)}
        self.check_present(names)
        asked = [place[name] for name in names]
        found = self._read_numbers(
            [index for index in asked if kinds.get(self.names[index]) != "nominal"]
        )
        for index, where in found.words.items():
            if kinds.get(self.names[index]) == "numeric":
                raise ValueError(
                    f"{self.path}: column {self.names[index]!r} must hold numbers; got {where}. "
                    f"Correct the cell, or mark it as missing ({', '.join(MISSING[1:])} or empty)."
                )
        words = self._read_words([index for index in asked if index not in found.values])
        numeric = found.values
        values = tuple(numeric[index] if index in numeric else words[index] for index in asked)
        notes = [
            f"Column {self.names[index]!r} is read as nominal because of {where}."
            for index, where in found.words.items()
            if _is_mostly_numbers(words[index])
        ]
        if found.dates:
            listed = join_names([repr(self.names[index]) for index in sorted(found.dates)])
            notes.append(f"Dates are read as {dates.MEANING}: {listed}.")
        return Columns(tuple(names), values), notes

    def check_present(self, names: Sequence[str]) -> None:
        """Raise ValueError if one of `names` is no column."""
        known_names = set(self.names)
        absent = [name for name in names if name not in known_names]
        if absent:
            known = join_names([repr(name) for name in self.names], limit=8)
            raise ValueError(
                f"{self.path} has no column {join_names([repr(name) for name in absent])}; its "
                f"columns are {known}. Check the spelling and the header."
            )


def open_table(path: Path, *, header: bool | None = None) -> TableFile:
    """Open a table: find its format, delimiter and header.

    Parameters
    ----------
    path : Path
        A file; ".parquet" and ".pq" are Parquet, all others text, gzipped if they end in ".gz".
    header : bool, default=None
        Whether the first line of a text file holds names; None looks.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be a file of rows; got a folder. Name a file in it.")
    if path.suffix.lower() in (".parquet", ".pq"):
        return _open_parquet(path)
    return _open_text(path, header)


def _open_text(path: Path, header: bool | None) -> TableFile:
    with _lines(path, ",", plain=True) as rows:
        sample = [line for (line,) in islice(rows, SAMPLE_ROWS)]
    delimiter = _find_delimiter(sample)
    with _lines(path, delimiter) as rows:
        first = list(islice(rows, SAMPLE_ROWS))
    if not first:
        raise ValueError(f"{path} must have at least one row; got an empty file. Check the name.")
    named = _looks_like_header(first) if header is None else header
    names, notes = _read_header(path, first[0], named)
    if not named and header is None:
        notes.append(
            f"The first line holds no names, so that columns are called {names[0]}, … "
            f"{names[-1]}; --header says that it does."
        )
    source = _TextSource(path, delimiter, named, names)
    return TableFile(path, tuple(names), tuple(notes), source.numbers, source.words)


@contextmanager
def _lines(path: Path, delimiter: str, plain: bool = False) -> Iterator[Iterator[list[str]]]:
    """Rows of a text file as stripped cells, blank lines left out; `plain` keeps lines whole."""
    opened: TextIO
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as opened:
        yield _plain_rows(path, opened) if plain else _rows(path, opened, delimiter)


def _plain_rows(path: Path, stream: TextIO) -> Iterator[list[str]]:
    with _readable(path):
        for line in stream:
            if line.strip():
                yield [line]


def _rows(path: Path, stream: TextIO, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(2**31 - 1)
    with _readable(path):
        quotes = _Quotes(stream)
        row: list[str] = []
        for row in csv.reader(quotes, delimiter=delimiter, skipinitialspace=True):
            cells = [cell.strip() for cell in row]
            if any(cells) or len(cells) > 1:
                yield cells
        if quotes.number % 2 and any("\n" in cell or "\r" in cell for cell in row):
            raise csv.Error(f"a quote is opened in {shorten(max(row, key=len))} and never closed")


class _Quotes:
    """Lines of a file, and how many quotes they hold: the reader takes an open one for text."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in self.stream:
            self.number += line.count('"')
            yield line


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        begins = bytes(error.object[:2]) if error.start == 0 else b""
        likely = "UTF-16" if begins in (b"\xff\xfe", b"\xfe\xff") else "WINDOWS-1252"
        raise ValueError(
            f"{path} must be text in UTF-8; got byte {error.object[error.start]:#04x}. Save it as "
            f"UTF-8, for example with: iconv -f {likely} -t UTF-8"
        ) from error
    except (csv.Error, gzip.BadGzipFile, EOFError) as error:
        raise ValueError(
            f"{path} must be CSV or TSV; got a line that cannot be read ({error}). Check the "
            "quotes, or save it as CSV again."
        ) from error


def _find_delimiter(sample: Sequence[str]) -> str:
    """The first delimiter that cuts all lines alike, or else the one that cuts most of them so."""
    scores = {each: _agreement(sample, each) for each in DELIMITERS}
    return max(DELIMITERS, key=lambda each: scores[each])


def _agreement(sample: Sequence[str], delimiter: str) -> float:
    """Share of lines with the most frequent number of cells; none if that number is one."""
    try:
        rows = csv.reader(sample, delimiter=delimiter, skipinitialspace=True)
        lengths = [len(row) for row in rows if row]
    except csv.Error:
        return 0.0
    if not lengths:
        return 0.0
    width = max(set(lengths), key=lengths.count)
    return lengths.count(width) / len(lengths) if width > 1 else 0.0


def _looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Names are no numbers; a number is a name only if other names stand above numbers."""
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if not any(_is_number(cell) for cell in first):
        return True
    return any(
        not _is_number(cell) and not _is_absent(cell) and _is_numeric([row[column] for row in rest])
        for column, cell in enumerate(first)
    )


def _is_numeric(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if not _is_absent(cell)]
    return bool(present) and all(map(_is_number, present))


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


@dataclass(frozen=True)
class _TextSource:
    """Reads chosen columns of a text file."""

    path: Path
    delimiter: str
    named: bool
    names: Sequence[str]

    def numbers(self, chosen: Sequence[int]) -> Numbers:
        """Columns of numbers and of dates among the chosen, and the first word of the others."""
        pieces: dict[int, list[Floats]] = {index: [] for index in chosen}
        words: dict[int, str] = {}
        of_dates: set[int] = set()
        for start, columns in self._blocks():
            for index in list(pieces):
                cells = columns[index]
                floats = None if index in of_dates else self._floats(cells)
                if floats is None and (index in of_dates or _is_empty(pieces[index])):
                    floats = _days(cells)  # a column holds numbers or dates, never both
                    if floats is not None:
                        of_dates.add(index)
                if floats is None:
                    words[index] = self._first_word(cells, start, index in of_dates)
                    of_dates.discard(index)
                    del pieces[index]
                else:
                    pieces[index].append(floats)
        values = {index: _joined(each, np.float64) for index, each in pieces.items()}
        return Numbers(values, words, of_dates)

    def words(self, chosen: Sequence[int]) -> dict[int, npt.NDArray[np.object_]]:
        """Columns as labels, None where missing."""
        pieces: dict[int, list[Any]] = {index: [] for index in chosen}
        for _, columns in self._blocks() if chosen else ():
            for index, each in pieces.items():
                labels = np.empty(len(columns[index]), dtype=object)
                labels[:] = [None if _is_absent(cell) else cell for cell in columns[index]]
                each.append(labels)
        return {index: _joined(each, object) for index, each in pieces.items()}

    def _blocks(self) -> Iterator[tuple[int, list[tuple[str, ...]]]]:
        """Blocks of rows as columns of text, and the number of the first row of each."""
        with _lines(self.path, self.delimiter) as rows:
            start = 1
            if self.named:
                next(rows)
            while block := list(islice(rows, ROWS_PER_BLOCK)):
                self._check_lengths(block, start)
                yield start, list(zip(*block, strict=True))
                start += len(block)

    def _check_lengths(self, block: Sequence[Sequence[str]], start: int) -> None:
        for number, row in enumerate(block, start):
            if len(row) != len(self.names):
                raise ValueError(
                    f"{self.path}: every row must have {len(self.names)} cells, as the first line "
                    f"has; got {len(row)} in row {number}. Correct the row, or quote cells that "
                    f"hold {self.delimiter!r}."
                )

    def _floats(self, cells: Sequence[str]) -> Floats | None:
        """Cells as floats, None if one of them is a word."""
        if any("_" in cell for cell in cells):  # Python reads 1_000 as a number
            return None
        try:
            return np.array(list(map(float, cells)))
        except ValueError:
            pass
        try:
            return np.array([np.nan if _is_absent(cell) else self._float(cell) for cell in cells])
        except ValueError:
            return None

    def _float(self, cell: str) -> float:
        """A number; with semicolons between cells a comma may be the decimal point."""
        return float(cell.replace(",", ".") if self.delimiter == ";" else cell)

    def _first_word(self, cells: Sequence[str], start: int, of_dates: bool) -> str:
        """The first cell that is no number; that is no date, where the first one is a date."""
        places = [place for place, cell in enumerate(cells) if not _is_absent(cell)]
        are_dates = of_dates or _days([cells[places[0]]]) is not None
        reads = _days if are_dates else self._floats
        wrong = (place for place in places if reads([cells[place]]) is None)
        place = next(wrong, places[0])  # dates throughout are wrong below numbers
        return f"{shorten(cells[place])} in row {start + place}"


def _days(cells: Sequence[str]) -> Floats | None:
    """Dates as days, None if one of the cells is none."""
    try:
        return np.array([np.nan if _is_absent(cell) else dates.as_days(cell) for cell in cells])
    except ValueError:
        return None


def _is_empty(pieces: Sequence[Floats]) -> bool:
    return all(bool(np.isnan(piece).all()) for piece in pieces)


def _joined(pieces: Sequence[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=dtype)


def _is_absent(cell: str) -> bool:
    return cell.lower() in _ABSENT


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and not _is_absent(cell)


def _is_mostly_numbers(labels: npt.NDArray[np.object_]) -> bool:
    """Whether so many labels are numbers, or dates, that the others may be slips."""
    present = [label for label in labels if label is not None]
    return any(
        sum(map(reads, present)) > 0.8 * len(present)
        for reads in (_is_number, lambda label: _days([label]) is not None)
    )


def _open_parquet(path: Path) -> TableFile:
    frame, of_dates = dates.columns_as_days(_read_parquet(path))
    table = read_table(frame)
    names = tuple(str(name) for name in frame.columns) if hasattr(frame, "columns") else ()
    if type(frame).__module__.startswith("pyarrow"):
        names = tuple(frame.column_names)
    nominal = set(table.nominal_by_dtype())

    def numbers(chosen: Collection[int]) -> Numbers:
        found = {}
        for index in chosen:
            if index not in nominal:
                tile = table.numbers(slice(0, table.n_rows), slice(index, index + 1))
                found[index] = np.asarray(tile[:, 0], dtype=np.float64)
        return Numbers(
            found,
            {index: "its type" for index in chosen if index in nominal},
            [index for index in found if names[index] in of_dates],
        )

    def words(chosen: Collection[int]) -> dict[int, npt.NDArray[np.object_]]:
        return {index: _as_words(table.labels(index)) for index in chosen}

    return TableFile(path, names, (), numbers, words)


def _read_parquet(path: Path) -> Any:
    """A frame of whichever library that reads Parquet is installed."""
    path.open("rb").close()  # the same words for an absent file, whoever would read it
    try:
        import_optional("pyarrow", needed_by=f"Reading {path.name}", install="pyarrow")
        from pyarrow import ArrowInvalid, parquet

        try:
            return parquet.read_table(path)
        except ArrowInvalid as error:
            raise ValueError(f"{path} must be Parquet; got {error}. Check the file.") from error
    except MissingPackageError as missing:
        try:
            import polars
        except ModuleNotFoundError:
            raise missing from None
        return polars.read_parquet(path)


def _as_words(labels: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
    words = np.empty(len(labels), dtype=object)
    words[:] = [None if is_missing(label) else str(label) for label in labels.tolist()]
    return words
