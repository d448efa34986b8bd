"""The scores of an isolation forest, in the header of a file.

"isolation": {"n_samples": 256, "offset": -0.5}
"""

from __future__ import annotations

from typing import Any

from bevel.files.faults import damaged
from bevel.files.values.fields import Fields
from bevel.forest.records.isolation import Isolation

__all__ = ["decode_isolation", "encode_isolation"]

MOST_ROWS = 2**31 - 1


def encode_isolation(isolation: Isolation) -> dict[str, Any]:
    """Header field of an isolation forest."""
    return {"n_samples": int(isolation.n_samples), "offset": float(isolation.offset)}


def decode_isolation(header: Fields) -> Isolation:
    """Read and check the field; raises ModelFileError."""
    fields = Fields(header.take("isolation", dict), "header.isolation")
    n_samples = fields.take_count("n_samples", 1, MOST_ROWS)
    offset = fields.take("offset", float)
    fields.finish()
    if not -1.0 <= offset <= 0.0:
        raise damaged("header.isolation.offset", "from -1 to 0", offset)
    return Isolation(n_samples, float(offset))
