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

import errno
import json
import mmap as memory_map
import os
import stat
import struct
import weakref
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Never, Self, TypeVar

import numpy as np
import numpy.typing as npt

from bevel._types import Array
from bevel.errors import ModelFileError, join_names, shorten
from bevel.printable import printable

__all__ = [
    "MAGIC",
    "MAX_DIGITS",
    "PRELUDE",
    "SECTION_TYPES",
    "VERSION",
    "Fields",
    "FileMap",
    "Layout",
    "Section",
    "Sections",
    "aligned",
    "check_kind",
    "damaged",
    "member_layout",
    "only_file_errors",
    "read_contents",
    "read_json",
    "read_layout",
    "write_json",
    "write_layout",
]

# Errors of damaged model files, in a common form.

LONGEST_NAME = 100

_REMEDY = "The file is damaged or was not written by Bevel: copy it again, or save the model again."


def damaged(name: str, required: str, got: object) -> ModelFileError:
    """Make the error for a part of a file that is invalid."""
    shown = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."
    return ModelFileError(printable(f"{shown} must be {required}; got {_describe(got)}. {_REMEDY}"))


@contextmanager
def only_file_errors(path: object = None) -> Iterator[None]:
    """Turn any error while a file is read into ModelFileError, with the file's name.

    The checks have precise messages; this catches what they miss. Errors of the operating
    system, such as an absent file, and MemoryError are passed on unchanged.
    """
    where = "" if path is None else f"{printable(str(path))}: "
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{where}{error}") from None
    except OSError:
        raise
    except MemoryError as error:
        raise MemoryError(
            f"{where}Reading the file takes more memory than there is. Free memory, or load the "
            "file with mmap=True."
        ) from error
    except Exception as error:
        got = f"{type(error).__name__}: {shorten(str(error))}"
        raise ModelFileError(f"{where}{damaged('The file', 'readable', got)}") from error


def _describe(got: object) -> str:
    """Describe a value, containers by their size only: a hostile one may be too deep to print."""
    if isinstance(got, list | tuple | dict):
        return f"a {type(got).__name__} of {len(got)}"
    return shorten(got)


# JSON without its ambiguities: no NaN or infinities, no repeated keys, no endless numbers.

# Reading an integer takes time that grows with the square of its digits.
MAX_DIGITS = 4000


def write_json(value: Any) -> bytes:
    """Compact ASCII text, which can hold even strings that UTF-8 cannot."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def read_json(text: bytes) -> Any:
    """Read a text; raises ModelFileError unless it is plain JSON."""
    try:
        return json.loads(
            text.decode("utf-8"),
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_integer,
            object_pairs_hook=_without_repeats,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise damaged("The header", "JSON in UTF-8", str(error)) from None
    except RecursionError:
        raise damaged("The header", "JSON of a few levels", "a deeply nested one") from None


def _refuse(word: str) -> Never:
    raise damaged("A number of the header", "finite", word)


def _finite(text: str) -> float:
    number = float(text)
    return number if number - number == 0.0 else _refuse(text)


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise damaged("An integer of the header", f"of at most {MAX_DIGITS} digits", len(text))
    return int(text)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise damaged("Fields of the header", "named once each", f"{len(pairs)} with repeats")
    return fields


# Reads JSON objects field by field: everything of the right kind, and nothing left over.

Kind = TypeVar("Kind")

_WORDS: dict[type, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number with a fraction",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def check_kind(name: str, value: object, kind: type[Kind]) -> Kind:
    """Return the value if it is of the kind; a bool does not count as an integer."""
    if type(value) is not kind:
        raise damaged(name, _WORDS[kind], value)
    return value


class Fields:
    """A JSON object of which every field is taken once.

    Parameters
    ----------
    value : object
        Decoded value; raises ModelFileError unless it is an object.
    name : str
        Name of the object in messages.
    """

    def __init__(self, value: object, name: str) -> None:
        self._left = dict(check_kind(name, value, dict))
        self.name = name

    def take(self, field: str, kind: type[Kind]) -> Kind:
        """Take a required field of the kind."""
        return check_kind(f"{self.name}.{field}", self.take_any(field), kind)

    def take_count(self, field: str, least: int = 0, most: int = 2**63 - 1) -> int:
        """Take a required integer within bounds."""
        count = self.take(field, int)
        if not least <= count <= most:
            raise damaged(f"{self.name}.{field}", f"from {least} to {most}", count)
        return count

    def take_count_or_null(self, field: str, least: int = 0, most: int = 2**63 - 1) -> int | None:
        """Take a required field that is an integer within bounds, or null."""
        if self._left.get(field, 0) is not None:
            return self.take_count(field, least, most)
        self._left.pop(field)
        return None

    def has(self, field: str) -> bool:
        """Whether an optional field is present."""
        return field in self._left

    def take_any(self, field: str) -> Any:
        """Take a required field of any kind."""
        if field not in self._left:
            raise damaged(self.name, f'an object with the field "{field}"', "none of that name")
        return self._left.pop(field)

    def finish(self) -> None:
        """Raise if there are fields that were not taken."""
        if self._left:
            unknown = join_names([repr(name) for name in self._left])
            raise damaged(f"Fields of {self.name}", "those of the format's version", unknown)


Buffer = bytes | memoryview

# The first byte is not ASCII and the last two change when a file is sent as text, as in PNG.
MAGIC = b"\x89BEVEL\r\n"
VERSION = 1
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
    header_length = _read_prelude(buffer)
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
    return Layout(buffer, header, sections, start)


def _read_prelude(buffer: memoryview) -> int:
    """Length of the header, which is inside the file, whose format is of this version."""
    if bytes(buffer[: len(MAGIC)]) != MAGIC:
        raise damaged("The file", "a Bevel model file", bytes(buffer[: len(MAGIC)]))
    if len(buffer) < PRELUDE.size:
        raise damaged("The file", f"of {PRELUDE.size} bytes or more", len(buffer))
    _, version, _, header_length, file_length = PRELUDE.unpack_from(buffer)
    if version != VERSION:
        raise ModelFileError(
            f"The file must be of format version {VERSION} for this version of Bevel; got version "
            f"{version}. Upgrade Bevel, if the file was written by a later one: python -m pip "
            "install --upgrade bevel. Otherwise save the model again."
        )
    if file_length != len(buffer):
        raise damaged("The file", f"of {file_length} bytes, the length in its header", len(buffer))
    if PRELUDE.size + header_length > len(buffer):
        raise damaged("The header", "inside the file", f"{header_length} bytes")
    return int(header_length)


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


# The bytes of a file, read or mapped.

# A pipe is opened without waiting for a writer.
_FLAGS = os.O_RDONLY
for _name in ("O_BINARY", "O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK"):
    _FLAGS |= getattr(os, _name, 0)


class FileMap(memory_map.mmap):
    """A map of a whole file, which detects writes to the file.

    Parameters
    ----------
    stream : file
        The file, open for reading.
    path : Path
        Name of the file in messages.
    """

    def __new__(cls, stream: BinaryIO, path: Path) -> Self:
        new = super().__new__(cls, stream.fileno(), 0, access=memory_map.ACCESS_READ)
        new._path = path
        # The name may refer to another file later; the descriptor refers to the mapped file.
        new._descriptor = os.dup(stream.fileno())
        weakref.finalize(new, os.close, new._descriptor)
        new._state = new._read_state()
        return new

    _path: Path
    _descriptor: int
    _state: tuple[int, int]

    def _read_state(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def check(self) -> None:
        """Raise ModelFileError if the file was written to since it was mapped."""
        if self._read_state() != self._state:
            raise ModelFileError(
                f"{printable(str(self._path))}: A mapped file must stay as it is while its model "
                "is in use; got a file that was written to after it was loaded. Load it again, and "
                "replace it by `save` or by renaming another file to its name, never in place."
            )


def read_contents(path: Path, mapped: bool) -> bytes | memoryview:
    """The bytes of a file, or a map of them; raises ModelFileError unless it has the magic number.

    Parameters
    ----------
    path : Path
        The file.
    mapped : bool
        Whether to map it as a `FileMap`, which stays open as long as a view of it is in use.
    """
    with _open(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < PRELUDE.size:
            raise damaged("The file", f"of {PRELUDE.size} bytes or more", size)
        first = stream.read(len(MAGIC))
        if first != MAGIC:
            raise damaged("The file", "a Bevel model file", first)
        if mapped:
            return memoryview(FileMap(stream, path))
        stream.seek(0)
        return stream.read()


def _open(path: Path) -> BinaryIO:
    """Open a regular file; raises for pipes and devices, whose reading may never end."""
    descriptor = os.open(path, _FLAGS)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise ModelFileError(
        "A model is read from an ordinary file; got a pipe, a device or the like. Copy it to a "
        "file first."
    )


# Bytes that short header fields may claim in addition to those in proportion to the file.
ROOM = 2**25
ROOM_FACTOR = 8


class Sections:
    """The sections of a file, each of which is used once, and a limit on the memory it may claim.

    Parameters
    ----------
    layout : Layout
        The file.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._left = dict.fromkeys(layout.sections)
        self._room = ROOM + ROOM_FACTOR * len(layout.buffer)

    def take(
        self, name: str, dtype: str | None = None, length: int | None = None
    ) -> npt.NDArray[Any]:
        """A verified copy of a section, of the given type and length."""
        view = self.view(name)
        if dtype is not None and view.dtype.str != dtype:
            raise damaged(f'Section "{name}"', f'of type "{dtype}"', view.dtype.str)
        if length is not None and len(view) != length:
            raise damaged(f'Section "{name}"', f"of {length} numbers", len(view))
        self._layout.verify(name)
        if view.dtype == np.bool_ and view.view(np.uint8).max(initial=0) > 1:
            raise damaged(f'Section "{name}"', "bytes of 0 and 1", "others")
        copy = view.copy()
        copy.flags.writeable = False
        return copy

    def view(self, name: str) -> npt.NDArray[Any]:
        """The numbers of a section in place, not verified."""
        self._layout.section(name)
        if name not in self._left:
            raise damaged(f'Section "{name}"', "used once", "a second use")
        del self._left[name]
        return self._layout.view(name)

    def claim(self, what: str, n_bytes: int) -> None:
        """Raise if the claims of a file together exceed its limit of memory."""
        self._room -= n_bytes
        if self._room < 0:
            raise damaged(what, "within the memory that a file of this size may take", "more")

    def finish(self) -> None:
        """Raise if there are unused sections."""
        if self._left:
            unknown = join_names([repr(name) for name in self._left])
            raise damaged("Sections", "those that the header lists", unknown)


def member_layout(layout: Layout, sections: Sections, place: int, verify: bool) -> Layout:
    """The file of a member, which is a section of the whole file.

    Parameters
    ----------
    layout, sections : Layout, Sections
        The whole file.
    place : int
        Number of the member.
    verify : bool
        Whether to compare all of it with its checksum.
    """
    name = f"member.{place}"
    if sections.view(name).dtype != np.uint8:
        raise damaged(f'Section "{name}"', 'of type "|u1"', layout.section(name).dtype.str)
    if verify:
        layout.verify(name)
    section = layout.section(name)
    first = layout.start + section.offset
    return read_layout(layout.buffer[first : first + section.nbytes])
