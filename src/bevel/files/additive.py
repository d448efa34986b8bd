"""Baseline, link and record of an additive forest, in the header of a file."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from bevel._types import Arrays
from bevel.files.boosting_record import FIRST_WITH_RECORD, decode_record, encode_record
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.scalars import decode_scalar, encode_scalar
from bevel.forest.additive import LARGEST_BASELINE, LINKS, Additive
from bevel.forest.records.boosting_record import BoostingRecord

__all__ = ["decode_additive", "encode_additive"]


def encode_additive(additive: Additive, arrays: Arrays) -> dict[str, Any]:
    """Header field of an additive forest; arrays are put into sections."""
    return {
        "baseline": [encode_scalar(float(value)) for value in additive.baseline],
        "link": additive.link,
        "record": encode_record(additive.record, arrays),
    }


def decode_additive(
    header: Fields,
    sections: Sections,
    version: int,
    classes: npt.NDArray[Any] | None,
    n_trees: int,
) -> Additive:
    """Read and check the field; raises ModelFileError unless it fits the classes and the trees."""
    fields = Fields(header.take("additive", dict), "header.additive")
    record = None
    if version >= FIRST_WITH_RECORD:
        record = decode_record(fields.take_any("record"), sections, classes is not None)
    link = fields.take("link", str)
    baseline = tuple(_number(decode_scalar(value)) for value in fields.take("baseline", list))
    fields.finish()
    if link not in LINKS:
        raise damaged("header.additive.link", " or ".join(LINKS), link)
    if (link in ("logistic", "softmax")) != (classes is not None):
        raise damaged("header.additive.link", "one of classes for a classifier only", link)
    n_classes = 0 if classes is None else len(classes)
    n_outputs = n_classes if link == "softmax" else max(1, len(baseline) if link == "sorted" else 1)
    if len(baseline) != n_outputs or (link == "logistic" and n_classes != 2):
        raise damaged("header.additive.baseline", f"{n_outputs} numbers", len(baseline))
    if n_trees % n_outputs:
        raise damaged("The number of trees", f"a multiple of {n_outputs}", n_trees)
    _check_intervals(record, link)
    return Additive(baseline, link, record)


def _check_intervals(record: BoostingRecord | None, link: str) -> None:
    if record is None or record.calibration is None:
        return
    n_ends = 2 if link == "sorted" else 1
    if record.calibration.residuals.shape[1] != n_ends:
        raise damaged("additive.residuals", f"{n_ends} for each row", "another number")


def _number(value: object) -> float:
    number = float(check_kind("header.additive.baseline", value, float))
    if not abs(number) <= LARGEST_BASELINE:
        raise damaged("header.additive.baseline", f"at most {LARGEST_BASELINE:g} in size", number)
    return number
