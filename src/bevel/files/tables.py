"""The encoding of rows: scaling, levels and medians, in header fields and sections.

"scaler": {"kind": "linear", "clip": false}     and its arrays as sections "scaler.…"
"nominal": [{"feature": 3, "has_missing": false, "labels": …}, …]
"dates": [4]                                    numeric columns that hold dates, if there are any
section "medians"
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Arrays
from bevel.data.encoding import Encoding
from bevel.data.nominal import MOST_LEVELS, Levels
from bevel.data.ranking import RankScaler
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler, Scaler
from bevel.files.faults import damaged
from bevel.files.sections import Sections
from bevel.files.values.fields import Fields, check_kind
from bevel.files.values.labels import decode_labels, encode_labels
from bevel.files.values.scalars import UnstorableError

__all__ = ["decode_table", "encode_table"]


def encode_table(encoding: Encoding, arrays: Arrays) -> dict[str, Any]:
    """Header fields that describe how rows are read; arrays are put into sections."""
    arrays["medians"] = encoding.medians
    fields = {
        "scaler": _encode_scaler(encoding.scaler, arrays),
        "nominal": [_encode_levels(f, each) for f, each in sorted(encoding.nominal.items())],
    }
    return fields | ({"dates": sorted(encoding.dates)} if encoding.dates else {})


def decode_table(header: Fields, sections: Sections, n_features: int) -> Encoding:
    """Read the fields and sections that `encode_table` has written; raises ModelFileError."""
    medians = sections.take("medians", "<f4", n_features)
    if not np.isfinite(medians).all():
        raise damaged("Medians", "finite", "others")
    nominal = _decode_nominal(header.take("nominal", list), n_features, sections)
    levels = np.zeros(n_features, dtype=np.int32)
    for feature, column in nominal.items():
        levels[feature] = column.n_codes
    levels.flags.writeable = False
    scaler = _decode_scaler(header.take("scaler", dict), sections, n_features)
    dates = _decode_dates(header.take_any("dates"), levels) if header.has("dates") else frozenset()
    return Encoding(scaler, nominal, levels, medians, dates)


def _encode_levels(feature: int, levels: Levels) -> dict[str, Any]:
    try:
        labels = encode_labels(levels.labels)
    except UnstorableError as error:
        raise TypeError(
            f"Labels of nominal column {feature} must be numbers, strings, bytes or dates to be "
            f"saved; got {error}. Convert the column to strings before fit, or pickle the "
            "estimator."
        ) from None
    return {"feature": int(feature), "has_missing": bool(levels.has_missing), "labels": labels}


def _decode_nominal(entries: list[Any], n_features: int, sections: Sections) -> dict[int, Levels]:
    nominal: dict[int, Levels] = {}
    for entry in entries:
        fields = Fields(entry, "nominal")
        feature = fields.take_count("feature", most=n_features - 1)
        has_missing = fields.take("has_missing", bool)
        labels = decode_labels(fields.take_any("labels"), "nominal.labels", sections)
        fields.finish()
        if feature in nominal:
            raise damaged("Nominal columns", "described once each", feature)
        nominal[feature] = _checked(Levels(labels, has_missing))
    return nominal


def _decode_dates(value: object, levels: npt.NDArray[np.int32]) -> frozenset[int]:
    columns = check_kind("header.dates", value, list)
    for column in columns:
        feature = check_kind("A column of dates", column, int)
        if not 0 <= feature < len(levels) or levels[feature]:
            raise damaged("A column of dates", "a numeric column", feature)
    if not columns or columns != sorted(set(columns)):
        raise damaged("header.dates", "ascending columns", columns)
    return frozenset(columns)


def _checked(levels: Levels) -> Levels:
    if levels.labels.dtype != object or len(set(levels.labels)) < len(levels.labels):
        raise damaged("Labels of a nominal column", "different objects", "others")
    if not 1 <= levels.n_codes <= MOST_LEVELS:
        raise damaged("Levels of a nominal column", f"from 1 to {MOST_LEVELS}", levels.n_codes)
    return levels


def _encode_scaler(scaler: Scaler, arrays: Arrays) -> dict[str, Any]:
    kept: tuple[str, ...]
    match scaler:
        case IdentityScaler():
            return {"kind": "none"}
        case LinearScaler():
            kept, settings = ("shift", "span"), {"kind": "linear", "clip": bool(scaler.clip)}
        case QuantileScaler():
            kept, settings = ("low", "high"), {"kind": "quantile"}
        case RankScaler():
            kept, settings = _RANK_ARRAYS, {"kind": "rank", "relative": bool(scaler.relative)}
        case _:
            got = type(scaler).__name__
            raise TypeError(f"A scaler must be one of bevel.data.scaling; got {got}.")
    arrays |= {f"scaler.{name}": getattr(scaler, name) for name in kept}
    return settings


_RANK_ARRAYS = ("n_present", "complete", "offset", "knots", "ranks")


def _decode_scaler(value: object, sections: Sections, n_features: int) -> Scaler:
    fields = Fields(value, "scaler")
    kind = fields.take("kind", str)
    scaler: Scaler = IdentityScaler()
    if kind == "linear":
        shift, span = _per_feature(sections, n_features, "shift", "span")
        scaler = LinearScaler(shift, span, fields.take("clip", bool))
        _require(bool((span > 0.0).all()), "spans above zero")
    elif kind == "quantile":
        low, high = _per_feature(sections, n_features, "low", "high")
        scaler = QuantileScaler(low, high)
        _require(bool((low <= high).all()), "lower bounds below upper ones")
    elif kind == "rank":
        scaler = _decode_ranks(sections, n_features, fields.take("relative", bool))
    elif kind != "none":
        raise damaged("scaler.kind", '"none", "linear", "quantile" or "rank"', kind)
    fields.finish()
    return scaler


def _per_feature(
    sections: Sections, n_features: int, *names: str
) -> tuple[npt.NDArray[np.float64], ...]:
    arrays = tuple(sections.take(f"scaler.{name}", "<f8", n_features) for name in names)
    _require(all(bool(np.isfinite(array).all()) for array in arrays), "finite numbers")
    return arrays


def _decode_ranks(sections: Sections, n_features: int, relative: bool) -> RankScaler:
    offset = sections.take("scaler.offset", "<i8", n_features + 1)
    knots, ranks = sections.take("scaler.knots"), sections.take("scaler.ranks")
    n_present = sections.take("scaler.n_present", "<i8", n_features)
    complete = sections.take("scaler.complete", "|b1", n_features)
    rises = bool((offset[1:] >= offset[:-1]).all())
    _require(offset[0] == 0 and rises and offset[-1] == len(knots), "offsets within the knots")
    _require(len(ranks) == len(knots), "one rank for each knot")
    for values in (knots, ranks):
        _require(values.dtype.kind == "f" and bool(np.isfinite(values).all()), "finite numbers")
        # Knots ascend within a column; they may descend where the next column begins.
        falls = np.flatnonzero(values[1:] <= values[:-1]) + 1
        _require(bool(np.isin(falls, offset).all()), "ascending knots and ranks")
    _require(bool((n_present >= 0).all()) and n_present.max() < 2**62, "counts of rows")
    return RankScaler(relative, n_present, complete, offset, knots, ranks)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise damaged("Arrays of the scaler", what, "others")
