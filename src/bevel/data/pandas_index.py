"""The index of a pandas data frame, which Parquet and Arrow files store as one more column."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

__all__ = ["index_columns"]

_NAMELESS = re.compile(r"__index_level_\d+__")


def index_columns(names: Sequence[str], metadata: Mapping[bytes, bytes] | None) -> tuple[str, ...]:
    """Columns of a file that were the index of the data frame that was written.

    Parameters
    ----------
    names : sequence of str
        Columns of the file.
    metadata : mapping of bytes to bytes, or None
        Metadata of its Arrow schema, in which pandas names these columns; None: not known, and an
        index without a name is recognised all the same.
    """
    try:
        described = json.loads((metadata or {}).get(b"pandas", b"{}"))["index_columns"]
        # An index that only counts the rows is stored as a dictionary, not as a column name.
        listed = {each for each in described if isinstance(each, str)}
    except (ValueError, KeyError, TypeError):
        listed = set()
    return tuple(name for name in names if name in listed or _NAMELESS.fullmatch(name))
