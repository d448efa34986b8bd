"""The bytes of a file, read or mapped."""

from __future__ import annotations

import errno
import mmap as memory_map
import os
import stat
import weakref
from pathlib import Path
from typing import BinaryIO, Self

from bevel.errors import ModelFileError
from bevel.files.faults import damaged
from bevel.files.layout import MAGIC, PRELUDE
from bevel.printable import printable

__all__ = ["FileMap", "read_contents"]

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
