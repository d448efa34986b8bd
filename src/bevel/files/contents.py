"""The bytes of a file, read or mapped."""

from __future__ import annotations

import mmap as memory_map
import os
from pathlib import Path

from bevel.files.faults import damaged
from bevel.files.layout import PRELUDE

__all__ = ["read_contents"]


def read_contents(path: Path, mapped: bool) -> bytes | memoryview:
    """The bytes of a file, or a map of them."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < PRELUDE.size:
            raise damaged("The file", f"of {PRELUDE.size} bytes or more", size)
        if mapped:
            # The map stays open as long as a view of it is in use.
            return memoryview(memory_map.mmap(stream.fileno(), 0, access=memory_map.ACCESS_READ))
        return stream.read()
