"""Locks of files, which tell whether somebody still uses a folder.

The system knows who holds a lock, whatever numbers processes have in their containers, and lets go
of it when the process ends, however it ends. Locks belong to an open file: two threads of one
process exclude each other too.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

__all__ = ["FileLock"]

_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
# A name in a folder that all may write to may be a link or a pipe of somebody else.
_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class FileLock:
    """A lock that is held until it is released, or the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def make(cls, path: Path) -> Self | None:
        """A lock in a new file; None if somebody who removes leftovers was faster.

        Where the system has no locks of files, nobody can take one, and the file alone will do.
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
        """A lock in a file, which is made if it is absent; None if it cannot be had now."""
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
        """Let others share the lock, where the system has locks that are shared."""
        assert self._descriptor is not None
        if os.name != "nt":
            _lock(self._descriptor, shared=True)

    def release(self) -> None:
        """Let go of the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def remove(self) -> None:
        """Remove the file and let go of the lock.

        In this order, lest somebody takes it in between. Windows removes no file that is open, by
        whomever, and needs the other order.
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
    """Whether an open file is the one that has a name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
