"""Classes of a model file, of one output or of several with their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.files.columns.column import Column, decode_column
from bevel.files.columns.forest_columns import check_claims
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.labels import decode_labels, encode_labels
from bevel.files.values.scalars import UnstorableError
from bevel.forest.outputs import Outputs

__all__ = [
    "FIRST_VERSION",
    "check_outputs",
    "decode_classes",
    "decode_outputs",
    "encode_classes",
    "encode_outputs",
]

FIRST_VERSION = 6


def encode_classes(classes: npt.NDArray[Any] | None) -> dict[str, Any] | None:
    """Labels of the classes as JSON; raises TypeError for labels that it cannot hold."""
    if classes is None:
        return None
    try:
        return encode_labels(classes)
    except UnstorableError as error:
        raise TypeError(
            f"Class labels must be numbers, strings, bytes or dates to be saved; got {error}. "
            "Convert y to strings before fit, or pickle the estimator."
        ) from None


def decode_classes(value: object, sections: Sections, path: str = "header.classes") -> Any:
    """Read the labels of the classes; raises ModelFileError unless they are distinct."""
    classes = decode_labels(value, path, sections)
    if len(classes) == 0 or len(set(classes.tolist())) < len(classes):
        raise damaged(path, "one or more different labels", len(classes))
    return classes


def encode_outputs(outputs: Outputs | None) -> dict[str, Any] | None:
    """Names and classes of several outputs; null for one output."""
    if outputs is None:
        return None
    classes = None if outputs.classes is None else [encode_classes(c) for c in outputs.classes]
    return {"names": list(outputs.names), "classes": classes}


def decode_outputs(
    header: Fields, sections: Sections, version: int, is_classifier: bool
) -> Outputs | None:
    """Read names and classes of several outputs; raises ModelFileError if they are invalid."""
    value = header.take_any("outputs") if version >= FIRST_VERSION else None
    if value is None:
        return None
    fields = Fields(value, "header.outputs")
    names, classes = fields.take("names", list), fields.take_any("classes")
    fields.finish()
    for name in names:
        check_kind("A name of an output", name, str)
    if len(names) < 2 or len(set(names)) < len(names):
        raise damaged("header.outputs.names", "two or more different names", len(names))
    if is_classifier != (classes is not None):
        raise damaged("header.outputs.classes", "there for a classifier only", "others")
    if classes is None:
        return Outputs(tuple(names), None)
    path = "header.outputs.classes"
    each = check_kind(path, classes, list)
    if len(each) != len(names):
        raise damaged(path, f"a list for each of {len(names)} outputs", len(each))
    return Outputs(tuple(names), tuple(decode_classes(c, sections, path) for c in each))


def check_outputs(outputs: Outputs | None, columns: Mapping[str, Column]) -> None:
    """Raise ModelFileError unless the trees have the outputs of the header."""
    column = columns["output_classes"]
    n_outputs = 0 if outputs is None else len(outputs)
    if column.length != n_outputs:
        raise damaged("output_classes", f"of {n_outputs} outputs", column.length)
    if outputs is None:
        return
    if not np.array_equal(decode_column(column, check_claims(columns)), outputs.n_classes):
        raise damaged("output_classes", "as many classes as in the header", "others")
