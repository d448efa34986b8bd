"""Sources of tables: a file, or standard input under a name of its own."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Source"]

_GZIP, _PARQUET, _ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"


@dataclass(frozen=True)
class Source:
    """A file and its name in messages."""

    path: Path
    name: str

    def __str__(self) -> str:
        return self.name

    def is_gzipped(self) -> bool:
        return self._begins_with(_GZIP)

    def is_parquet(self) -> bool:
        """Whether the file is Parquet, by its name or else by its first and last bytes."""
        if self.path.suffix.lower() in (".parquet", ".pq"):
            return True
        if self.path.suffix or not self._begins_with(_PARQUET):
            return False
        with self.path.open("rb") as stream:
            stream.seek(-len(_PARQUET), 2)
            return stream.read() == _PARQUET

    def check(self) -> None:
        """Raise if it is not a file of rows."""
        if self.path.is_dir():
            raise IsADirectoryError(
                f"{self} must be a file of rows; got a folder. Name a file in it."
            )
        if self._begins_with(_ZIP):
            raise ValueError(
                f"{self} must be CSV, TSV or Parquet; got an Excel workbook or another zip file. "
                "Save the sheet as CSV (UTF-8) in Excel."
            )

    def open_bytes(self) -> Any:
        """The bytes, decompressed."""
        return gzip.open(self.path, "rb") if self.is_gzipped() else self.path.open("rb")

    def _begins_with(self, magic: bytes) -> bool:
        with self.path.open("rb") as stream:
            return stream.read(len(magic)) == magic
