"""Text files of rows: layout, cells, and several files as one table."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.data.tables import Columns
from bevel.errors import join_names, shorten
from bevel.extras import import_optional
from bevel.tables.options import Source, TableOptions
from bevel.tables.parsing import Convention, can_be_values, days_of, decimal_of, infer_type

__all__ = [
    "DATE",
    "EMPTY",
    "MISSING",
    "NUMBER",
    "WORDS",
    "ParsedColumns",
    "TextBatches",
    "TextFile",
    "TextLayout",
    "find_layout",
    "is_number",
    "readable",
]

# Layout of a text file: its encoding, delimiter, decimal sign and header.
#
# All bytes are scanned once, the first rows more closely; `TextFile` reads the cells.

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
    except (csv.Error, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk, not of what is on it
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


# Cells of a text file: pyarrow cuts and converts them, block by block.
#
# One pass finds the numeric columns; a second one, if there are others, reads their words, so that
# no more text than needed is held in memory.

EMPTY, NUMBER, DATE, WORDS = "empty", "number", "date", "words"  # types of columns

MIN_BLOCK = 2**22  # bytes read at a time; a row must fit into them
ROWS_PER_BLOCK = 64  # lower bound, by the length of the first rows
MAX_BLOCK = 2**31 - 1
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
        block = max(MIN_BLOCK, ROWS_PER_BLOCK * 4 * self.layout.longest)
        read = arrow_csv.ReadOptions(
            column_names=keys,
            block_size=min(block, MAX_BLOCK),
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
            with pa.input_stream(str(source.path), compression=source.compression) as stream:
                yield stream
            return
        with TemporaryFile() as copy, open_text(source, self.layout.encoding) as text:
            for row in split_rows(text, delimiter):
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


# Text files as one table, read batch by batch.
#
# Types of columns are inferred from the cells of all files before the first batch is yielded, by
# the rules that `table_file` applies to a file that is read whole.

MAX_WHOLE = 2.0**53  # above it not every whole number is a float


@dataclass(frozen=True, eq=False)
class ColumnType:
    """Conversion of the cells of a column to values.

    Attributes
    ----------
    kind : {"empty", "number", "date", "words"}
        Type of the unconverted cells; "date" is ISO 8601.
    meaning : mapping of str to float, or None
        Words that are numbers or dates written in another way; None if the words are labels.
    is_date : bool
        Whether the values are days.
    is_whole : bool
        Whether every cell is present and a whole number.
    """

    kind: str
    meaning: Mapping[str, float] | None = None
    is_date: bool = False
    is_whole: bool = False


class TextBatches:
    """Rows of text files that have the same columns.

    Parameters
    ----------
    sources : sequence of Source
        Files in the order of the rows; may be gzipped.
    options : TableOptions
        Options that apply to all files.
    """

    def __init__(self, sources: Sequence[Source], options: TableOptions) -> None:
        for source in sources:
            source.check()
        layouts = [find_layout(source, options) for source in sources]
        _check_alike(layouts)
        self._files = [TextFile(layout, options.missing) for layout in layouts]
        self._layout, self._options = layouts[0], options
        self.names, self.row_names = layouts[0].names, layouts[0].row_names
        self.check_present([*options.types], sources[0])

    def check_present(self, names: Sequence[str], source: object) -> None:
        """Raise ValueError if one of the names is not a column."""
        absent = [name for name in names if name not in self.names]
        if absent:
            known = join_names([repr(name) for name in self.names], limit=8)
            raise ValueError(f"{source} has no column {absent[0]!r}; its columns are {known}.")

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Blocks of rows of the named columns; labels are None where missing, numbers NaN."""
        chosen = [self.names.index(name) for name in names]
        dates = frozenset(name for name in names if self.types[name].is_date)
        for file in self._files:
            for block in file.blocks(chosen):
                values = tuple(
                    self._values(file, block[index], name)
                    for index, name in zip(chosen, names, strict=True)
                )
                yield Columns(tuple(names), values, dates)

    @cached_property
    def types(self) -> dict[str, ColumnType]:
        """Type of each column, by name."""
        nominal = {name for name, kind in self._options.types.items() if kind == "nominal"}
        plain = [name for name in self.names if name not in self._options.types]
        types = self._plain_types(plain)
        words = [name for name in self.names if types.get(name) is None]
        types |= {name: ColumnType(WORDS) for name in nominal}
        return types | self._word_types([name for name in words if name not in nominal])

    def _plain_types(self, names: Sequence[str]) -> dict[str, ColumnType]:
        """Types of the columns of plain numbers and of dates of ISO 8601."""
        place = {self.names.index(name): name for name in names}
        kinds = dict.fromkeys(place, EMPTY)
        whole = set(place)
        for file in self._files:
            for block in file.blocks(list(place)):
                for index in (index for index in place if kinds[index] != WORDS):
                    values, kinds[index] = file.convert(block[index], kinds[index])
                    if values is not None and not _are_whole(values):
                        whole.discard(index)
        return {
            place[index]: ColumnType(kind, None, kind == DATE, kind == NUMBER and index in whole)
            for index, kind in kinds.items()
            if kind != WORDS
        }

    def _word_types(self, names: Sequence[str]) -> dict[str, ColumnType]:
        """Types of the other columns, inferred from their distinct cells.

        Cells of a column are dropped as soon as some of them cannot be numbers or dates, so that
        names and ids take no memory.
        """
        place = {self.names.index(name): name for name in names}
        cells: dict[int, dict[str, None]] = {index: {} for index in place}
        for file in self._files if names else ():
            for block in file.blocks(list(place)):
                for index in list(cells):
                    new = [c for c in block[index].unique().to_pylist() if c is not None]
                    cells[index].update(dict.fromkeys(new))
                    if not can_be_values(new, self._convention, self._kind_of(place[index])):
                        del cells[index]
        found = {name: ColumnType(WORDS) for name in names}
        for index, different in cells.items():
            found[place[index]] = self._infer(place[index], list(different))
        return found

    def _infer(self, name: str, cells: Sequence[str]) -> ColumnType:
        words = np.empty(len(cells), dtype=object)
        words[:] = cells
        title = f"{self._layout.source}: column {name!r}"
        inferred = infer_type(words, self._convention, self._kind_of(name), title)
        if inferred.values is None:
            return ColumnType(WORDS)
        meaning = dict(zip(cells, inferred.values.tolist(), strict=True))
        return ColumnType(WORDS, meaning, bool(inferred.order))

    def _kind_of(self, name: str) -> str | None:
        return self._options.types.get(name)

    @property
    def _convention(self) -> Convention:
        layout = self._layout
        return Convention(self._options.decimal, layout.decimal, layout.delimiter == ",")

    def _values(self, file: TextFile, cells: Any, name: str) -> npt.NDArray[Any]:
        """Cells of a block converted to the type of their column."""
        known = self.types[name]
        if known.kind != WORDS:
            values, _ = file.convert(cells, known.kind)
            if values is None:
                raise self._changed(file, name)
            return values
        words = cells.to_numpy(zero_copy_only=False).astype(object)
        if known.meaning is None:
            return np.asarray(words)
        try:
            return np.array([np.nan if w is None else known.meaning[w] for w in words], dtype=float)
        except KeyError:
            raise self._changed(file, name) from None

    def _changed(self, file: TextFile, name: str) -> ValueError:
        return ValueError(
            f"{file.layout.source} must stay as it is while it is read; got other cells in column "
            f"{name!r} when it was read again. Write to another file, and read that."
        )


def _check_alike(layouts: Sequence[TextLayout]) -> None:
    """Raise if files differ in their columns, or in the decimal sign that they imply."""
    first = layouts[0]
    for layout in layouts:
        if layout.names != first.names:
            names = [join_names([repr(n) for n in each.names], 8) for each in (first, layout)]
            raise ValueError(
                f"Every file must have the columns of the first, {first.source} ({names[0]}); got "
                f"{names[1]} in {layout.source}. Make the columns the same, in the same order."
            )
        if layout.decimal and first.decimal and layout.decimal != first.decimal:
            raise ValueError(
                f"Every file must have the decimal sign of the first, {first.decimal!r} in "
                f"{first.source}; got {layout.decimal!r} in {layout.source}. Name the sign: "
                '`decimal="."` or `decimal=","`.'
            )


def _are_whole(values: npt.NDArray[np.float64]) -> bool:
    """Whether all values are present, whole and exact."""
    return bool(np.all((values == np.floor(values)) & (np.abs(values) <= MAX_WHOLE)))
