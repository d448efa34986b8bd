"""Takes verified arrays out of a file, and checks that none is left over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.errors import join_names
from bevel.files.faults import damaged
from bevel.files.layout import Layout

__all__ = ["Sections"]


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
