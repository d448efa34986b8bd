"""How a forest reads new rows: what it stores of its training table.

Numeric columns are scaled in float64 and stored in float32, which the core does in one pass;
nominal columns hold level codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s
from bevel.data.nominal import Levels
from bevel.data.scaling import IdentityScaler, Scaler
from bevel.data.tables import ColumnsTable, Table
from bevel.data.tiles import (
    LARGEST_READ,
    LARGEST_STORED,
    allocate,
    frozen,
    is_stored,
    numeric_tiles,
    read_tile,
    scale_tile,
)

__all__ = ["Encoding", "Reading", "encode"]


class Reading(NamedTuple):
    """Scaling and checks by which arrays of numbers become the input of trees."""

    scaler: _core.Scaler
    limit: float  # largest absolute value


@dataclass(frozen=True, eq=False)
class Encoding:
    """What a forest stores of its training table to read new rows in the same way.

    Attributes
    ----------
    scaler : Scaler
        Applied to numeric columns.
    nominal : mapping of int to Levels
        Levels of each nominal column.
    levels : ndarray of int32, shape (p,)
        Number of levels of each column, 0 for numeric ones.
    medians : ndarray of float32, shape (p,)
        Medians of the stored training values, missing ones ignored; 0 for nominal columns and
        columns without values. Missing values count as the median where features are combined.
    dates : frozenset of int
        Numeric columns that hold dates: their numbers are days since 1970-01-01.
    """

    scaler: Scaler
    nominal: Mapping[int, Levels]
    levels: npt.NDArray[np.int32]
    medians: Float32s
    dates: frozenset[int] = frozenset()

    @cached_property
    def native_scaler(self) -> _core.Scaler:
        """The scaler as the core applies it; it leaves the codes of nominal columns unchanged."""
        return self.scaler.native(len(self.levels)).with_codes(self.levels)

    @cached_property
    def reading(self) -> Reading:
        """Reading of a plain array of floats."""
        unscaled = isinstance(self.scaler, IdentityScaler)
        return Reading(self.native_scaler, LARGEST_STORED if unscaled else LARGEST_READ)

    def __getstate__(self) -> dict[str, Any]:
        """State to save, without the native scaler, which is made again on demand."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def encode(
    table: Table, encoding: Encoding, order: Literal["C", "F"] = "C", n_threads: int = 1
) -> Float32s:
    """Read rows as the training rows were read.

    Parameters
    ----------
    table : Table
        Rows with as many columns as the training table.
    encoding : Encoding
        Encoding of the training table.
    order : {"C", "F"}, default="C"
        Memory order of the result: C to predict, F to train.
    n_threads : int, default=1
        Threads that scale.
    """
    _check_dates(table, encoding)
    unscaled = isinstance(encoding.scaler, IdentityScaler)
    ready = unscaled and is_stored(table, encoding.levels, order)
    X = table.native if ready else allocate(table, order)
    for rows, features in numeric_tiles(table, encoding.levels, order):
        tile = read_tile(table, rows, features, unscaled)
        if not ready:
            scale_tile(encoding.native_scaler, tile, features.start, n_threads, X[rows, features])
    for feature, column in encoding.nominal.items():
        X[:, feature] = column.encode(table.labels(feature), table.describe(feature))
    return frozen(X)


def _check_dates(table: Table, encoding: Encoding) -> None:
    """Refuse dates where fit saw numbers, and the reverse; empty columns are accepted.

    Columns that Bevel itself has read are days already.
    """
    if isinstance(table, ColumnsTable):
        return
    given = frozenset(table.dates()) - encoding.nominal.keys()
    for feature in sorted(given ^ encoding.dates):
        tile = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
        if not np.isnan(tile).all():
            seen, got = ("numbers", "dates") if feature in given else ("dates", "numbers")
            raise ValueError(
                f"X must hold {seen} in column {table.describe(feature)}, as in fit; got {got}. "
                "Pass the column as it was in fit."
            )
