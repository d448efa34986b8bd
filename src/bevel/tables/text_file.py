"""Cells of a text file: pyarrow cuts and converts them, block by block.

One pass finds the numeric columns; a second one, if there are others, reads their words, so that no
more text than needed is held in memory.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.errors import shorten
from bevel.extras import import_optional
from bevel.tables.date_parsing import days_of
from bevel.tables.text_layout import ABSENT, TextLayout, open_text, readable
from bevel.tables.text_layout import split_rows as split_with_spaces

__all__ = ["DATE", "EMPTY", "NUMBER", "WORDS", "ParsedColumns", "TextFile"]

EMPTY, NUMBER, DATE, WORDS = "empty", "number", "date", "words"  # types of columns

SMALLEST_BLOCK = 2**22  # bytes read at a time; a row must fit into them
ROWS_PER_BLOCK = 64  # lower bound, by the length of the first rows
LARGEST_BLOCK = 2**31 - 1
CHUNK = 2**20
PLAIN = ("utf-8", "utf-8-sig", "cp1252", "latin-1")  # encodings that pyarrow can split directly


@dataclass(frozen=True, eq=False)
class ParsedColumns:
    """Columns that are numeric throughout, by their position in the file."""

    values: dict[int, Floats]
    dates: set[int] = field(default_factory=set)  # those of the columns that were dates


@dataclass(frozen=True)
class TextFile:
    """Reads chosen columns of a text file."""

    layout: TextLayout
    missing: Sequence[str] = ()  # markers given by the user

    def numbers(self, chosen: Sequence[int]) -> ParsedColumns:
        """Columns of plain numbers and of dates of ISO 8601 among the chosen."""
        pieces: dict[int, list[Floats]] = {index: [] for index in chosen}
        kinds: dict[int, str] = dict.fromkeys(chosen, EMPTY)
        for block in self.blocks(chosen):
            for index in list(pieces):
                floats, kinds[index] = self.convert(block[index], kinds[index])
                if floats is None:
                    del pieces[index]
                else:
                    pieces[index].append(floats)
        values = {index: _joined(each, np.float64) for index, each in pieces.items()}
        return ParsedColumns(values, {index for index in values if kinds[index] == DATE})

    def words(self, chosen: Sequence[int]) -> dict[int, npt.NDArray[np.object_]]:
        """Columns as labels, None where missing."""
        pieces: dict[int, list[Any]] = {index: [] for index in chosen}
        for block in self.blocks(chosen) if chosen else ():
            for index, each in pieces.items():
                each.append(block[index].to_numpy(zero_copy_only=False).astype(object))
        return {index: _joined(each, object) for index, each in pieces.items()}

    def convert(self, cells: Any, kind: str) -> tuple[Floats | None, str]:
        """Cells of a block as numbers or days, and the kind of the column after this block.

        A column holds numbers or dates, never both. The values are None if it holds words.

        Parameters
        ----------
        cells : pyarrow.Array of string
            Cells, null where missing.
        kind : {"empty", "number", "date", "words"}
            Type of the column in the blocks before.
        """
        if kind in (EMPTY, NUMBER):
            floats = self._floats(cells)
            if floats is not None:
                is_empty = kind == EMPTY and bool(np.isnan(floats).all())
                return floats, EMPTY if is_empty else NUMBER
        if kind in (EMPTY, DATE):
            days = days_of(cells.to_pylist())
            if days is not None:
                return days, DATE
        return None, WORDS

    def _floats(self, cells: Any) -> Floats | None:
        """Cells as floats; None if one of them is a word. Nulls are missing values."""
        import pyarrow as pa
        from pyarrow import compute

        if self.layout.decimal == ",":
            if compute.any(compute.match_substring(cells, ".")).as_py():
                return None  # points group digits, or the cells are not numbers
            cells = compute.replace_substring(cells, ",", ".")
        try:
            floats = compute.cast(cells, pa.float64())
        except pa.ArrowInvalid:
            return _python_floats(cells.to_pylist())
        values: Floats = floats.to_numpy(zero_copy_only=False).astype(np.float64)
        return values

    def blocks(self, chosen: Sequence[int]) -> Iterator[dict[int, Any]]:
        """Blocks of the chosen columns as text, null where missing."""
        import_optional("pyarrow", needed_by="Reading a text file", install="bevel[cli]")
        n_rows, last, check = 0, None, _RowCheck(self.layout)
        with readable(self.layout.source), self._opened() as stream, self._checked(check):
            header = int(self.layout.has_header and not self.layout.names_short)
            for batch in self._reader(stream, check):
                table = self._without_blank_rows(batch)
                last = table if len(table) else last
                table, header = table.slice(header), max(0, header - len(table))
                n_rows += len(table)
                yield {index: self._with_nulls(table.column(index)) for index in chosen}
            if last is not None:
                self._check_last_cell(last.columns[-1][-1].as_py(), n_rows)

    def _reader(self, stream: Any, check: _RowCheck) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        keys = [str(index) for index in range(len(self.layout.names))]
        block = max(SMALLEST_BLOCK, ROWS_PER_BLOCK * 4 * self.layout.longest)
        read = arrow_csv.ReadOptions(
            column_names=keys,
            block_size=min(block, LARGEST_BLOCK),
            use_threads=False,
            encoding="utf-8" if self._is_copied else self.layout.encoding.removesuffix("-sig"),
        )
        parse = arrow_csv.ParseOptions(
            delimiter=self.layout.delimiter,
            newlines_in_values=True,
            invalid_row_handler=check,
        )
        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(keys, pa.string()), strings_can_be_null=False
        )
        return arrow_csv.open_csv(stream, read, parse, convert)

    @contextmanager
    def _checked(self, check: _RowCheck) -> Iterator[None]:
        """Translate pyarrow's errors into errors about the file."""
        import pyarrow as pa

        try:
            yield
        except pa.ArrowInvalid as error:
            if "\n" in check.text and check.text.count('"') % 2:
                raise _open_quote(check.text, check.number) from None
            if check.message:
                raise ValueError(check.message) from None
            raise csv.Error(str(error)) from error

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """The bytes of the file; rewritten where spaces stand before quotes, unlike in CSV."""
        import pyarrow as pa

        source, delimiter = self.layout.source, self.layout.delimiter
        if not self._is_copied:
            zipped = "gzip" if source.is_gzipped() else None
            with pa.input_stream(str(source.path), compression=zipped) as stream:
                yield stream
            return
        with TemporaryFile() as copy, open_text(source, self.layout.encoding) as text:
            for row in split_with_spaces(text, delimiter):
                copy.write(_as_csv(row, delimiter).encode())
            copy.seek(0)
            yield pa.PythonFile(copy, mode="r")

    @property
    def _is_copied(self) -> bool:
        layout = self.layout
        return (
            layout.delimiter == " " or layout.encoding not in PLAIN or self._scan.has_spaced_quotes
        )

    @cached_property
    def _scan(self) -> _Scan:
        return _scan(self.layout)

    def _with_nulls(self, column: Any) -> Any:
        """Cells without the spaces around them, null where they mark a missing value."""
        import pyarrow as pa
        from pyarrow import compute

        text = compute.utf8_trim_whitespace(column)
        markers = pa.array(sorted(ABSENT.union(each.strip().lower() for each in self.missing)))
        absent = compute.is_in(compute.utf8_lower(text), value_set=markers)
        return compute.if_else(absent, pa.scalar(None, pa.string()), text)

    def _without_blank_rows(self, batch: Any) -> Any:
        """Drop lines without a cell, which pyarrow takes for rows if there is one column."""
        from pyarrow import compute

        if len(self.layout.names) > 1:
            return batch
        text = compute.utf8_trim_whitespace(batch.column(0))
        return batch.filter(compute.not_equal(text, ""))

    def _check_last_cell(self, cell: str, number: int) -> None:
        """Raise if the last cell of the file spans lines and its quote is not closed.

        Then the number of quotes is odd, and those at the end come in pairs, as part of the text.
        """
        end = self._scan.end
        n_at_end = len(end) - len(end.rstrip('"'))
        is_open = self._scan.n_quotes % 2 == 1 and n_at_end % 2 == 0
        if is_open and ("\n" in cell or "\r" in cell):
            raise _open_quote(cell, number)


class _RowCheck:
    """Raises for rows of another length; skips blank rows, and a header that is too short."""

    def __init__(self, layout: TextLayout) -> None:
        self.layout = layout
        self.n_skipped = 0
        self.header_is_next = layout.names_short
        self.text, self.number, self.message = "", 0, ""  # describe the first invalid row

    def __call__(self, row: Any) -> str:
        is_header, self.header_is_next = self.header_is_next, False
        if row.text.strip() in ("", '""'):
            self.header_is_next = is_header
            self.n_skipped += 1
            return "skip"
        if is_header:
            return "skip"
        self.text = row.text
        # An exception raised here would be lost on its way through pyarrow.
        self.number = row.number - self.n_skipped - int(self.layout.has_header)
        n_names = len(self.layout.names)
        self.message = (
            f"{self.layout.source}: every row must have {n_names} cells, as the first line has; "
            f"got {row.actual_columns} in row {self.number}. Correct the row, or quote cells that "
            f"hold {self.layout.delimiter!r}; `delimiter` names another sign."
        )
        return "error"


@dataclass(frozen=True)
class _Scan:
    """Findings in the text of a file before it is split into cells."""

    n_quotes: int
    end: str  # end of the file, without spaces and empty lines
    has_spaced_quotes: bool


def _scan(layout: TextLayout) -> _Scan:
    gap = "[ \t]" if layout.delimiter not in " \t" else "[ ]"
    spaced = re.compile(rf'(?:^|[\r\n]|{re.escape(layout.delimiter)}){gap}+"')
    n_quotes, found, rest, end = 0, False, "", ""
    with readable(layout.source), open_text(layout.source, layout.encoding) as stream:
        while chunk := stream.read(CHUNK):
            n_quotes += chunk.count('"')
            found = found or spaced.search(rest + chunk) is not None
            rest = chunk[-CHUNK // 16 :]
            end = (end + chunk).rstrip()[-CHUNK:]
    return _Scan(n_quotes, end, found)


def _open_quote(text: str, number: int) -> csv.Error:
    begins = shorten(text.lstrip('"').splitlines()[0])
    return csv.Error(f"a quote is opened in row {number} and never closed: {begins}")


def _as_csv(row: Sequence[str], delimiter: str) -> str:
    quoted = ('"' + cell.replace('"', '""') + '"' for cell in row)
    return delimiter.join(quoted) + "\n"


def _python_floats(cells: Sequence[str | None]) -> Floats | None:
    """Numbers that Python can read and pyarrow cannot, such as those in non-Latin digits."""
    if any("_" in cell for cell in cells if cell is not None):  # Python reads 1_000 as a number
        return None
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    except ValueError:
        return None


def _joined(pieces: Sequence[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=dtype)
