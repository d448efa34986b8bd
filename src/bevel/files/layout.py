"""The file as bytes: a prelude, a header in JSON, and sections of numbers, all checksummed.

    0   8 bytes  magic
    8   uint32   version of the format
    12  uint32   CRC-32 of all bytes before and after it up to the end of the header
    16  uint64   length of the header in bytes
    24  uint64   length of the file in bytes
    32  header, then zeros up to a multiple of 8, then sections, each followed by such zeros

Integers are little-endian. Offsets of sections count from the end of the header's zeros, so that
they do not depend on its length. Sections follow one another in the order of the header's table
without gaps: their positions follow from the lengths, and the table's offsets are only compared.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Array
from bevel.errors import ModelFileError
from bevel.files.faults import damaged
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.strict_json import read_json, write_json

__all__ = [
    "MAGIC",
    "PRELUDE",
    "SECTION_TYPES",
    "VERSION",
    "Layout",
    "Section",
    "aligned",
    "read_layout",
    "write_layout",
]

Buffer = bytes | memoryview

# The first byte is not ASCII and the last two change when a file is sent as text, as in PNG.
MAGIC = b"\x89BEVEL\r\n"
VERSION = 7
PRELUDE = struct.Struct("<8sIIQQ")
_BEFORE_CHECKSUM = struct.Struct("<8sI")
_AFTER_CHECKSUM = struct.Struct("<QQ")
ALIGNMENT = 8

SECTION_TYPES = {
    name: np.dtype(name)
    for name in ("|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8")
}


@dataclass(frozen=True)
class Section:
    """An entry of the table: type, length and position of some numbers."""

    name: str
    dtype: np.dtype[Any]
    length: int  # in numbers, not bytes
    offset: int  # bytes from the first section
    crc32: int

    @property
    def nbytes(self) -> int:
        return self.length * self.dtype.itemsize


@dataclass(frozen=True, eq=False)
class Layout:
    """A file whose header is verified, and whose sections are within its bounds."""

    buffer: memoryview
    version: int
    header: Mapping[str, Any]  # without the table of sections
    sections: Mapping[str, Section]
    start: int  # offset of the first section

    def view(self, name: str) -> Array:
        """Numbers of a section in place, unverified and read-only."""
        section = self.section(name)
        first = self.start + section.offset
        array = np.frombuffer(self.buffer, section.dtype, section.length, first)
        array.flags.writeable = False
        return array

    def section(self, name: str) -> Section:
        if name not in self.sections:
            raise damaged("The table", f'a list with the section "{name}"', "none of that name")
        return self.sections[name]

    def check_unchanged(self) -> None:
        """Raise ModelFileError if the file is mapped and was written to; see `FileMap`."""
        check = getattr(self.buffer.obj, "check", None)
        if check is not None:
            check()

    def verify(self, name: str) -> None:
        """Compare a section, and the zeros behind it, with its checksum."""
        section = self.section(name)
        first = self.start + section.offset
        last = first + section.nbytes
        if zlib.crc32(self.buffer[first:last]) != section.crc32:
            raise damaged(f'Section "{name}"', "the bytes of its checksum", "others")
        if any(self.buffer[last : first + aligned(section.nbytes)]):
            raise damaged(f'Section "{name}"', "followed by zeros", "other bytes")


def write_layout(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[Buffer]:
    """The bytes of a file, piece by piece.

    Parameters
    ----------
    header : mapping
        Values that JSON can hold; the table of sections is added here.
    arrays : mapping of str to ndarray
        One-dimensional arrays of numbers, by the names of their sections.
    """
    table, offset = [], 0
    pieces: list[Buffer] = []
    for name, array in arrays.items():
        section, data = _section(name, array, offset)
        table.append(_entry(section))
        pieces += [data, bytes(aligned(section.nbytes) - section.nbytes)]
        offset += aligned(section.nbytes)
    text = write_json({**header, "sections": table})
    start = aligned(PRELUDE.size + len(text))
    after = _AFTER_CHECKSUM.pack(len(text), start + offset)
    before = _BEFORE_CHECKSUM.pack(MAGIC, VERSION)
    checksum = zlib.crc32(text, zlib.crc32(after, zlib.crc32(before)))
    yield before + checksum.to_bytes(4, "little") + after + text
    yield bytes(start - PRELUDE.size - len(text))
    yield from pieces


def _section(name: str, array: Array, offset: int) -> tuple[Section, memoryview]:
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    dtype = SECTION_TYPES[plain.dtype.str]
    data = memoryview(plain.view(np.uint8).data) if plain.size else memoryview(b"")
    return Section(name, dtype, plain.size, offset, zlib.crc32(data)), data


def _entry(section: Section) -> dict[str, Any]:
    return {**vars(section), "dtype": section.dtype.str}


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def read_layout(source: Buffer) -> Layout:
    """Verify the header and the sizes of a file; sections are verified when they are taken.

    Parameters
    ----------
    source : bytes or memoryview
        The whole file.
    """
    buffer = memoryview(source)
    version, header_length = _read_prelude(buffer)
    text = bytes(buffer[PRELUDE.size : PRELUDE.size + header_length])
    before = buffer[: _BEFORE_CHECKSUM.size]
    after = buffer[PRELUDE.size - _AFTER_CHECKSUM.size : PRELUDE.size]
    _, _, checksum, _, _ = PRELUDE.unpack_from(buffer)
    if zlib.crc32(text, zlib.crc32(after, zlib.crc32(before))) != checksum:
        raise damaged("The header", "the bytes of its checksum", "others")
    start = aligned(PRELUDE.size + header_length)
    if any(buffer[PRELUDE.size + header_length : start]):
        raise damaged("The header", "followed by zeros", "other bytes")
    header = check_kind("The header", read_json(text), dict)
    sections = _read_table(header.pop("sections", None), len(buffer) - start)
    return Layout(buffer, version, header, sections, start)


def _read_prelude(buffer: memoryview) -> tuple[int, int]:
    """Version of the format and length of the header, which is inside the file."""
    if bytes(buffer[: len(MAGIC)]) != MAGIC:
        raise damaged("The file", "a Bevel model file", bytes(buffer[: len(MAGIC)]))
    if len(buffer) < PRELUDE.size:
        raise damaged("The file", f"of {PRELUDE.size} bytes or more", len(buffer))
    _, version, _, header_length, file_length = PRELUDE.unpack_from(buffer)
    if version > VERSION:
        raise ModelFileError(
            f"The file must be of format version {VERSION} or older for this version of Bevel; got "
            f"version {version}. Upgrade Bevel: python -m pip install --upgrade bevel."
        )
    if version < 1:
        raise damaged("The version of the format", "1 or more", version)
    if file_length != len(buffer):
        raise damaged("The file", f"of {file_length} bytes, the length in its header", len(buffer))
    if PRELUDE.size + header_length > len(buffer):
        raise damaged("The header", "inside the file", f"{header_length} bytes")
    return version, header_length


def _read_table(table: object, available: int) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    offset = 0
    for entry in check_kind("The table of sections", table, list):
        section = _read_entry(entry, offset)
        if section.name in sections:
            raise damaged("Sections", "named once each", section.name)
        sections[section.name] = section
        offset += aligned(section.nbytes)
        if offset > available:
            raise damaged(f'Section "{section.name}"', "inside the file", f"{section.nbytes} bytes")
    if offset != available:
        raise damaged("The sections", f"{available} bytes, the rest of the file", offset)
    return sections


def _read_entry(entry: object, offset: int) -> Section:
    fields = Fields(entry, "section")
    section = Section(
        name=fields.take("name", str),
        dtype=_read_dtype(fields.take("dtype", str)),
        length=fields.take_count("length"),
        offset=fields.take_count("offset"),
        crc32=fields.take_count("crc32", most=2**32 - 1),
    )
    fields.finish()
    if section.offset != offset:
        raise damaged(f'The offset of section "{section.name}"', str(offset), section.offset)
    return section


def _read_dtype(name: str) -> np.dtype[Any]:
    if name not in SECTION_TYPES:
        raise damaged("The type of a section", "one of " + ", ".join(SECTION_TYPES), name)
    return SECTION_TYPES[name]
