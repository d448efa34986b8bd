"""The families that share the trees of a forest, in a header field and sections.

"families": {"names": ["axis", "sparse"], "left_out": [["lda", "needs ..."]],
             "min_samples_split": 2}
        and sections "families.errors", "families.standard_errors", "families.weights" and
        "families.of_tree"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel._types import Arrays
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.forest.records.family_record import FamilyRecord
from bevel.printable import printable

__all__ = ["FIRST_VERSION", "decode_families", "encode_families"]

FIRST_VERSION = 3  # first version of the format with families
FIRST_WITH_NODE_SIZE = 7  # first version of the format with their min_samples_split
MOST_FAMILIES = 1000
MOST_ROWS = 2**31 - 1


def encode_families(record: FamilyRecord | None, arrays: Arrays) -> dict[str, Any] | None:
    """The header's field "families"; arrays are put into sections."""
    if record is None:
        return None
    arrays["families.errors"] = record.errors
    arrays["families.standard_errors"] = record.standard_errors
    arrays["families.weights"] = record.weights
    arrays["families.of_tree"] = record.of_tree
    return {
        "names": list(record.names),
        "left_out": [list(each) for each in record.left_out],
        "min_samples_split": record.min_samples_split,
    }


def decode_families(
    value: object, sections: Sections, n_trees: int, version: int
) -> FamilyRecord | None:
    """Read the field and sections that `encode_families` has written; raises ModelFileError.

    Parameters
    ----------
    value : object
        The header's field.
    sections : Sections
        Sections to take arrays from.
    n_trees : int
        Trees of the forest.
    version : int
        Version of the format.
    """
    if value is None:
        return None
    fields = Fields(value, "families")
    names = tuple(_text(name) for name in _list(fields.take_any("names")))
    left_out = tuple(_pair(each) for each in _list(fields.take_any("left_out")))
    size = 2
    if version >= FIRST_WITH_NODE_SIZE:
        size = check_kind("families.min_samples_split", fields.take_any("min_samples_split"), int)
        if not 2 <= size <= MOST_ROWS:
            raise damaged("families.min_samples_split", f"from 2 to {MOST_ROWS}", size)
    fields.finish()
    if not names:
        raise damaged("families.names", "one or more names", "none")
    n_families = len(names)
    errors, standard_errors = (
        sections.take(f"families.{name}", "<f8", n_families)
        for name in ("errors", "standard_errors")
    )
    weights = sections.take("families.weights", "<f8", n_families)
    of_tree = sections.take("families.of_tree", "<i4", n_trees)
    for numbers in (errors, standard_errors):
        if np.isinf(numbers).any() or (numbers < 0.0).any():
            raise damaged("Errors of families", "NaN, or finite and not negative", "others")
    if not ((weights >= 0.0) & (weights <= 1.0)).all() or not abs(weights.sum() - 1.0) < 1e-6:
        raise damaged("Weights of families", "from 0 to 1 with the sum 1", "others")
    if n_trees and not (of_tree.min() >= 0 and of_tree.max() < n_families):
        raise damaged("The families of trees", f"from 0 to {n_families - 1}", "others")
    return FamilyRecord(names, errors, standard_errors, weights, of_tree, left_out, size)


def _list(value: object) -> list[Any]:
    items = check_kind("A field of families", value, list)
    if len(items) > MOST_FAMILIES:
        raise damaged("Families", f"at most {MOST_FAMILIES}", len(items))
    return items


def _text(value: object) -> str:
    """Check a name or a reason, both of which may be printed on terminals."""
    text = check_kind("A name or reason of families", value, str)
    if text != printable(text):
        raise damaged("A name or reason of families", "plain text", text)
    return text


def _pair(value: object) -> tuple[str, str]:
    items = check_kind("families.left_out", value, list)
    if len(items) != 2:
        raise damaged("families.left_out", "pairs of name and reason", items)
    return _text(items[0]), _text(items[1])
