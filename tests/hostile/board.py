"""What a worker and the parent share: the case that runs, and counts that survive a crash."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

_FORM = struct.Struct("<qddqqqdqdq")


class Board:
    """A small file that both sides have mapped.

    Parameters
    ----------
    path : Path
        The file; made if it is not there.
    """

    FIELDS = ("number", "wall", "cpu", "done", "refused", "accepted", "slowest", "slowest_number")
    FIELDS += ("largest", "largest_number")

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_FORM.size))
        with path.open("r+b") as stream:
            self._map = mmap.mmap(stream.fileno(), _FORM.size)

    def read(self) -> dict[str, float]:
        """All fields."""
        return dict(zip(self.FIELDS, _FORM.unpack_from(self._map), strict=True))

    def write(self, fields: dict[str, float]) -> None:
        """Write all fields at once: the parent may read while this process has to wait."""
        self._map[:] = _FORM.pack(*(fields[name] for name in self.FIELDS))

    def clear(self) -> None:
        """Begin a task: no case runs, nothing is counted."""
        self.write(dict.fromkeys(self.FIELDS, 0) | {"number": -1})
