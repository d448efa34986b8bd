"""What a forest remembers of its training table, and how it reads new rows.

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
    """How rows of numbers become what trees read."""

    scaler: _core.Scaler
    limit: float  # on the size of the numbers


@dataclass(frozen=True, eq=False)
class Encoding:
    """What a forest remembers of its training table to read new rows in the same way.

    Attributes
    ----------
    scaler : Scaler
        Applied to numeric columns.
    nominal : mapping of int to Levels
        Levels of each nominal column.
    levels : ndarray of int32, shape (p,)
        Number of levels of each column, 0 for numeric ones.
    medians : ndarray of float32, shape (p,)
        Of the stored training values, missing ones ignored; 0 for nominal columns and for columns
        without values. Missing values count as the median where features are combined.
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
        """The scaler as the core applies it, by which the codes of nominal columns pass."""
        return self.scaler.native(len(self.levels)).with_codes(self.levels)

    @cached_property
    def reading(self) -> Reading:
        """How a plain array of floats is read."""
        unscaled = isinstance(self.scaler, IdentityScaler)
        return Reading(self.native_scaler, LARGEST_STORED if unscaled else LARGEST_READ)

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: without the native scaler, which is made when it is needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def encode(
    table: Table, encoding: Encoding, order: Literal["C", "F"] = "C", n_threads: int = 1
) -> Float32s:
    """Read rows as the training rows were read.

    Parameters
    ----------
    table : Table
        As many columns as the training table had.
    encoding : Encoding
        From training.
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
    """Refuse dates where fit saw numbers, and the reverse; columns without a value are neither.

    Columns that were read by ourselves are days already.
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
