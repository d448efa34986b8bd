"""Writes a file whole or not at all.

The bytes go to a new file in the same folder, which takes the place of the old one only when all of
them are on the disk. A failure before that leaves the old file unchanged and removes the new one,
unless the process is killed: then a hidden file `.NAME.….tmp` stays, which may be removed.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file in one atomic step.

    Parameters
    ----------
    path : str or path
        Path of the file; a link is followed. An existing file keeps its permissions, a new one
        gets those of any new file.
    pieces : iterable of bytes
        Contents of the file.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    # Shortened to leave room for the rest: names are limited to 255 bytes.
    new = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    except OSError as error:
        error.filename = os.fspath(path)  # the caller's name, not that of the temporary file
        raise
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            if mode is not None:
                new.chmod(mode)
            os.fsync(descriptor)
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _mode_of(target: Path) -> int | None:
    """Permissions of an existing file, None if there is none; raises for other kinds of file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(
            f"A model is saved to a file; got the folder {str(target)!r}. Add a name, such as "
            "model.bevel."
        )
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(
            f"A model is saved to an ordinary file; got {str(target)!r}, which is a device or the "
            "like. Save to a file first."
        )
    return stat.S_IMODE(status.st_mode)


def _flush_folder(folder: Path) -> None:
    """Flush the folder, so that the new name survives a crash."""
    if os.name == "nt":  # folders cannot be opened on Windows
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
