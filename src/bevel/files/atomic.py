"""Writes a file whole or not at all.

The bytes go to a new file in the same folder, which takes the place of the old one only when all of
them are on the disk. Whatever fails before leaves the old file as it was, and no new one behind,
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
    """Write a file in one step, as far as anybody can see.

    Parameters
    ----------
    path : str or path
        Where to; a link is followed. A file that exists keeps its permissions, a new one gets those
        of any new file.
    pieces : iterable of bytes
        What to write.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    # As much of the name as leaves room for the rest: names end at 255 bytes.
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
    _settle(target.parent)


_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _mode_of(target: Path) -> int | None:
    """Permissions of the file that exists, None if there is none; raises for what is no file."""
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


def _settle(folder: Path) -> None:
    """Make the new name last: it is an entry of the folder, which is written by itself."""
    if os.name == "nt":  # folders cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
