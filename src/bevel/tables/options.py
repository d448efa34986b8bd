"""Options of reading a file, which replace what would be inferred from it, and the source of its
bytes.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from bevel.errors import shorten, wrong_value
from bevel.extras import import_optional

__all__ = [
    "TYPES",
    "Source",
    "TableKeywords",
    "TableOptions",
]

TYPES = ("number", "nominal", "date", "dmy", "mdy", "ymd")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}


class TableKeywords(TypedDict, total=False):
    """Keywords of functions that read a table; see `TableOptions`."""

    header: bool | None
    delimiter: str | None
    decimal: str | None
    missing: Sequence[str]
    encoding: str | None
    types: Mapping[str, str]


@dataclass(frozen=True)
class TableOptions:
    """How a table is read.

    Attributes
    ----------
    header : bool, default=None
        Whether the first line holds names; None infers it.
    delimiter : str, default=None
        Delimiter of cells: one character, or "tab", "comma", "semicolon", "space" or "pipe"; None
        infers it.
    decimal : {".", ","}, default=None
        Decimal sign of numbers; None infers it.
    missing : sequence of str
        Cells that mean a missing value, in addition to the usual ones.
    encoding : str, default=None
        Encoding of the text, such as "cp1252"; None is UTF-8 if the file is, else Windows-1252.
    types : mapping of str to str
        Types of columns, by name: "number", "nominal", "date", or a date whose order is "dmy"
        (day, month, year), "mdy" or "ymd". A cell of another type is missing. Other columns are
        inferred.

    Examples
    --------
    >>> from bevel.workflow import TableOptions
    >>> TableOptions(delimiter="semicolon", decimal=",", missing=["n/a"]).delimiter
    ';'
    """

    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    missing: Sequence[str] = ()
    encoding: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            known = _DELIMITERS.get(self.delimiter, self.delimiter)
            if len(known) != 1 or known in '"\r\n':
                remedy = 'Write for example ";", "tab" or "space".'
                raise wrong_value("`delimiter`", "a single character", self.delimiter, remedy)
            object.__setattr__(self, "delimiter", known)
        if self.decimal not in (None, ".", ","):
            raise wrong_value("`decimal`", '"." or ","', self.decimal, "Choose one.")
        missing = (self.missing,) if isinstance(self.missing, str) else tuple(self.missing)
        object.__setattr__(self, "missing", missing)
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                remedy = 'Write for example "utf-8", "cp1252" or "utf-16".'
                raise wrong_value(
                    "`encoding`", "one that Python supports", self.encoding, remedy
                ) from None
        for name, kind in self.types.items():
            if kind not in TYPES:
                raise ValueError(
                    f"`types` must be {', '.join(TYPES[:-1])} or {TYPES[-1]}; got {shorten(kind)} "
                    f"for {name!r}. Choose one."
                )


_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
# Beginnings of compressed files; the block of a bz2 file follows its size.
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BZ2, _BZ2_BLOCK = b"BZh", b"1AY&SY"
_FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), "Arrow"),
    ".orc": "ORC",
    **dict.fromkeys((".jsonl", ".ndjson"), "JSON lines"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), "Excel"),
}


@dataclass(frozen=True)
class Source:
    """A file and its name in messages."""

    path: Path
    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def compression(self) -> str | None:
        """How the bytes are compressed: "gzip", "bz2", "zstd" or not at all."""
        start = self._start(10)
        if start.startswith(_BZ2) and start[4:] == _BZ2_BLOCK:
            return "bz2"
        return next((name for magic, name in _COMPRESSED.items() if start.startswith(magic)), None)

    @property
    def format(self) -> str | None:
        """Format with columns that have types, by the file's name or else its bytes; None: text."""
        known = _FORMATS.get(self.path.suffix.lower())
        if known or self.path.suffix or self._start(len(_PARQUET)) != _PARQUET:
            return known
        with self.path.open("rb") as stream:
            stream.seek(-len(_PARQUET), 2)
            return "Parquet" if stream.read() == _PARQUET else None

    def check(self) -> None:
        """Raise if it is not a file of rows."""
        if self.path.is_dir():
            raise IsADirectoryError(
                f"{self} must be a file of rows; got a folder. Name a file in it."
            )
        if self.path.exists() and not self.path.is_file():
            raise ValueError(
                f"{self} must be an ordinary file, which is read more than once; got a pipe, a "
                "device or the like. Copy it to a file first."
            )
        if self._start(len(_ZIP)) == _ZIP and self.format != "Excel":
            raise ValueError(
                f"{self} must be CSV, TSV or Parquet; got an Excel workbook or another zip file. "
                "Give a workbook its ending .xlsx. Save the sheet as CSV (UTF-8) in Excel."
            )

    def open_bytes(self) -> Any:
        """The bytes, decompressed."""
        if self.compression == "gzip":
            return gzip.open(self.path, "rb")
        if self.compression == "bz2":
            return bz2.open(self.path, "rb")
        if self.compression == "zstd":
            arrow: Any = import_optional("pyarrow", needed_by=f"Reading {self}", install="pyarrow")
            return io.BufferedReader(arrow.input_stream(str(self.path), compression="zstd"))
        return self.path.open("rb")

    def _start(self, length: int) -> bytes:
        with self.path.open("rb") as stream:
            return stream.read(length)
