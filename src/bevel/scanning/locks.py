"""Locks of files, which show whether a folder is still in use.

The operating system tracks the holders of a lock, across containers, and releases it when the
process ends for any reason. Locks belong to an open file: two threads of one process exclude
each other too.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

__all__ = ["FileLock"]

_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
# In a folder that everybody may write to, a name may be another user's link or pipe.
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class FileLock:
    """A lock that is held until it is released, or the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def make(cls, path: Path) -> Self | None:
        """Make a lock in a new file; None if a cleanup by another process was faster.

        On systems without file locks no lock can be taken, and the file alone suffices.
        """
        descriptor = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _lock(descriptor, shared=False)
        except OSError as error:
            if error.errno in _HELD:
                os.close(descriptor)
                return None
        if not _is_at(descriptor, path):
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    @classmethod
    def take(cls, path: Path, *, shared: bool = False) -> Self | None:
        """Take a lock in a file, which is made if absent; None if the lock is held elsewhere."""
        try:
            descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o600)
        except OSError:
            return None
        try:
            _lock(descriptor, shared)
        except OSError:
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    def share(self) -> None:
        """Make the lock shared, on systems that have shared locks."""
        assert self._descriptor is not None
        if os.name != "nt":
            _lock(self._descriptor, shared=True)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def remove(self) -> None:
        """Remove the file and release the lock.

        In this order, so that no other process takes it in between. Windows does not remove open
        files and needs the other order.
        """
        if os.name == "nt":
            self.release()
        with suppress(OSError):
            self._path.unlink()
        self.release()


def _lock(descriptor: int, shared: bool) -> None:
    """Take the lock of an open file, or raise OSError at once."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether a path names the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
