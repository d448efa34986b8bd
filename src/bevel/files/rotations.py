"""The rotations of a regularised rotation ensemble, in a header field and sections.

"rotations": {"seed": 17, "max_rotated": 500, "h": 2.0}
        and sections "rotations.complexities", "rotations.errors", "rotations.weights" and
        "rotations.of_tree"

The rotations themselves are drawn again from the seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel._types import Arrays
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.scalars import decode_scalar
from bevel.forest.records.rotation_record import RotationRecord

__all__ = ["decode_rotations", "encode_rotations"]


def encode_rotations(record: RotationRecord, arrays: Arrays) -> dict[str, Any]:
    """The header's field "rotations"; arrays are put into sections."""
    arrays["rotations.complexities"] = record.complexities
    arrays["rotations.errors"] = record.errors
    arrays["rotations.weights"] = record.weights
    arrays["rotations.of_tree"] = record.of_tree
    return {"seed": int(record.seed), "max_rotated": record.max_rotated, "h": record.h}


def decode_rotations(header: Fields, sections: Sections, n_trees: int) -> RotationRecord:
    """Read the field and sections that `encode_rotations` has written; raises ModelFileError.

    Parameters
    ----------
    header : Fields
        Header of the file.
    sections : Sections
        Sections to take arrays from.
    n_trees : int
        Trees of the forest.
    """
    fields = Fields(header.take_any("rotations"), "rotations")
    seed = fields.take_count("seed", most=2**64 - 1)
    max_rotated = fields.take_count("max_rotated", least=1)
    h = decode_scalar(fields.take_any("h"))
    fields.finish()
    if h is not None and not check_kind("rotations.h", h, float) > 0.0:
        raise damaged("rotations.h", "above zero", h)
    complexities = sections.take("rotations.complexities", "<f8")
    n_rotations = len(complexities)
    errors = sections.take("rotations.errors", "<f8", n_rotations)
    weights = sections.take("rotations.weights", "<f8", n_rotations)
    of_tree = sections.take("rotations.of_tree", "<i4", n_trees)
    for name, numbers in (("Complexities", complexities), ("Weights", weights)):
        if not bool((np.isfinite(numbers) & (numbers >= 0.0)).all()):
            raise damaged(f"{name} of rotations", "finite and not negative", "others")
    # NaN for a micro-forest without out-of-bag rows.
    if not bool((np.isnan(errors) | (np.isfinite(errors) & (errors >= 0.0))).all()):
        raise damaged("Errors of rotations", "finite and not negative, or NaN", "others")
    if n_trees and not (of_tree.min() >= 0 and of_tree.max() < n_rotations):
        raise damaged("The rotations of trees", f"from 0 to {n_rotations - 1}", "others")
    return RotationRecord(seed, max_rotated, complexities, errors, weights, h, of_tree)
