"""Conversion between the user's table and columns in the user's units and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from bevel._types import Array, Bools
from bevel.data.columns import Columns
from bevel.data.tables import Table, is_missing

__all__ = ["commonest", "missing_in", "put_back", "read_columns"]


def read_columns(table: Table, nominal: Collection[int], names: Sequence[str]) -> Columns:
    """Numeric columns as float64 with NaN for missing, nominal ones as objects with None."""
    values = [
        _labels(table.labels(f)) if f in nominal else _numbers(table, f)
        for f in range(table.n_features)
    ]
    return Columns(tuple(names), tuple(values))


def missing_in(column: Array) -> Bools:
    """Mask of the missing values of a column of `read_columns`."""
    if column.dtype.kind == "O":
        return np.array([value is None for value in column], dtype=bool)
    return np.asarray(np.isnan(column), dtype=bool)


def commonest(labels: Array) -> Any:
    """The most frequent label; ties go to the first."""
    return Counter(labels.tolist()).most_common(1)[0][0]


def put_back(X: Any, filled: Columns, missing: Sequence[Bools]) -> Any:
    """Copy of the user's table, of the same type, with missing values filled."""
    if isinstance(X, Columns):
        return Columns(X.names, filled.values)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    places = [np.flatnonzero(where) for where in missing]
    if isinstance(frame, nw.DataFrame):
        return frame.with_columns(
            _put_in_series(frame[name], values, at)
            for name, values, at in zip(frame.columns, filled.values, places, strict=True)
            if len(at)
        ).to_native()
    copy = np.array(X)
    for feature, (values, at) in enumerate(zip(filled.values, places, strict=True)):
        copy[at, feature] = values[at]
    return copy


def _put_in_series(
    series: nw.Series[Any], values: Array, at: npt.NDArray[np.intp]
) -> nw.Series[Any]:
    kind = series.dtype
    if values.dtype.kind != "O":
        wide = series if kind.is_float() else series.cast(nw.Float64)
        return wide.scatter(at.tolist(), values[at].tolist())
    if isinstance(kind, nw.Categorical | nw.Enum):
        return series.cast(nw.String).scatter(at.tolist(), values[at].tolist()).cast(kind)
    return series.scatter(at.tolist(), values[at].tolist())


def _labels(column: Array) -> npt.NDArray[np.object_]:
    labels = np.empty(len(column), dtype=object)
    labels[:] = [None if is_missing(value) else value for value in column.tolist()]
    return labels


def _numbers(table: Table, feature: int) -> npt.NDArray[np.float64]:
    tile = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
    return tile[:, 0].astype(np.float64)
