"""The record of a boosting fit, in a header field and sections.

"record": {"n_training": 100, "n_validation": 100, "calibration": {"n_rows": 50, "n_ends": 1,
        "is_weighted": false, "power": 0.0}}
        and sections "additive.training_score", "additive.validation_score",
        "additive.residuals" and "additive.residual_weights"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bevel._types import Arrays, Floats
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.scalars import decode_scalar, encode_scalar
from bevel.forest.records.boosting_record import BoostingRecord, Calibration

__all__ = ["FIRST_WITH_RECORD", "decode_record", "encode_record"]

FIRST_WITH_RECORD = 4  # version of the format
MOST_SCORES = 10**9
POWERS = (0.0, 0.5, 1.0)


def encode_record(record: BoostingRecord | None, arrays: Arrays) -> dict[str, Any] | None:
    """The field "record"; arrays are put into sections."""
    if record is None:
        return None
    arrays["additive.training_score"] = record.training_score
    arrays["additive.validation_score"] = record.validation_score
    return {
        "n_training": len(record.training_score),
        "n_validation": len(record.validation_score),
        "calibration": _encode_calibration(record.calibration, arrays),
    }


def _encode_calibration(given: Calibration | None, arrays: Arrays) -> dict[str, Any] | None:
    if given is None:
        return None
    n_rows, n_ends = given.residuals.shape
    arrays["additive.residuals"] = np.ascontiguousarray(given.residuals).ravel()
    if given.weights is not None:
        arrays["additive.residual_weights"] = given.weights
    return {
        "n_rows": n_rows,
        "n_ends": n_ends,
        "is_weighted": given.weights is not None,
        "power": encode_scalar(given.power),
    }


def decode_record(value: object, sections: Sections, is_classifier: bool) -> BoostingRecord | None:
    """Read the field and sections that `encode_record` has written; raises ModelFileError.

    Parameters
    ----------
    value : object
        Value of the field.
    sections : Sections
        Sections to take arrays from.
    is_classifier : bool
        Whether the model is a classifier, which has no intervals.
    """
    if value is None:
        return None
    fields = Fields(value, "header.additive.record")
    lengths = [fields.take_count(name, 0, MOST_SCORES) for name in ("n_training", "n_validation")]
    calibration = _decode_calibration(fields.take_any("calibration"), sections)
    fields.finish()
    if is_classifier and calibration is not None:
        raise damaged("additive.calibration", "none of a classifier", "one")
    scores = [
        sections.take(f"additive.{name}", "<f8", length)
        for name, length in zip(("training_score", "validation_score"), lengths, strict=True)
    ]
    if any(np.isinf(each).any() for each in scores):
        raise damaged("Scores of iterations", "finite numbers or NaN", "infinite ones")
    return BoostingRecord(scores[0], scores[1], calibration)


def _decode_calibration(value: object, sections: Sections) -> Calibration | None:
    if value is None:
        return None
    fields = Fields(value, "header.additive.record.calibration")
    n_rows = fields.take_count("n_rows", 1, MOST_SCORES)
    n_ends = fields.take_count("n_ends", 1, 2)
    is_weighted = fields.take("is_weighted", bool)
    power = float(check_kind("calibration.power", decode_scalar(fields.take_any("power")), float))
    fields.finish()
    residuals = sections.take("additive.residuals", "<f8", n_rows * n_ends)
    weights: Floats | None = None
    if is_weighted:
        weights = sections.take("additive.residual_weights", "<f8", n_rows)
        if not (np.isfinite(weights) & (weights > 0.0)).all():
            raise damaged("Weights of residuals", "finite and positive", "others")
    if not (np.abs(residuals) < 1e300).all():
        raise damaged("Residuals", "finite numbers", "others")
    if power not in POWERS:
        raise damaged("calibration.power", "0, 0.5 or 1", power)
    return Calibration(residuals.reshape(n_rows, n_ends), weights, power)
