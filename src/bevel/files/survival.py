"""The event times of a survival forest, in a header field and a section.

"survival": {"last_time": 4.5, "n_causes": 1}
        and section "survival.event_times"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel._types import Arrays
from bevel.data.survival import LARGEST_TIME, MOST_CAUSES
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.scalars import decode_scalar, encode_scalar
from bevel.forest.records.survival_record import SurvivalRecord

__all__ = ["decode_survival", "encode_survival"]

FIRST_WITH_CAUSES = 7  # first version of the format with causes


def encode_survival(record: SurvivalRecord, arrays: Arrays) -> dict[str, Any]:
    """The header's field "survival"; the times are put into a section."""
    arrays["survival.event_times"] = record.event_times
    return {
        "last_time": encode_scalar(float(record.last_time)),
        "n_causes": int(record.n_causes),
    }


def decode_survival(header: Fields, sections: Sections, version: int) -> SurvivalRecord:
    """Read the field and section that `encode_survival` has written; raises ModelFileError."""
    fields = Fields(header.take("survival", dict), "header.survival")
    last_time = check_kind("survival.last_time", decode_scalar(fields.take_any("last_time")), float)
    n_causes = fields.take_count("n_causes") if version >= FIRST_WITH_CAUSES else 1
    fields.finish()
    if not 1 <= n_causes <= MOST_CAUSES:
        raise damaged("survival.n_causes", f"from 1 to {MOST_CAUSES}", n_causes)
    times = sections.take("survival.event_times", "<f8")
    good = len(times) > 0 and bool((times > 0.0).all()) and bool((np.diff(times) > 0.0).all())
    if not good or not times[-1] <= last_time <= LARGEST_TIME:
        required = "above 0, ascending, and at most the last time"
        raise damaged("The event times", required, "others")
    return SurvivalRecord(times, float(last_time), n_causes)
