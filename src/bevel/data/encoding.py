"""How a forest reads new rows: what it stores of its training table.

Numeric columns are scaled in float64 and stored in float32, which the core does in one pass;
nominal columns hold level codes.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import AnyFloats, Float32s
from bevel.data.nominal import Levels
from bevel.data.scaling import IdentityScaler, Scaler
from bevel.data.tables import ArrayTable, ColumnsTable, Table

__all__ = [
    "MAX_READ",
    "MAX_STORED",
    "Encoding",
    "Reading",
    "allocate",
    "column_tiles",
    "encode",
    "frozen",
    "is_stored",
    "is_within",
    "numeric_tiles",
    "read_tile",
    "scale_tile",
]

# Tables in tiles: numbers are checked and scaled piece by piece into one float32 matrix.
#
# No float64 copy of the whole table is ever made, and a float32 table in the right memory order
# that needs no scaling is used as it is, without a copy.

# Sums of some ten thousand stored values stay finite in float32.
MAX_STORED = _core.Scaler.MAX_STORED
# Squares stay finite in float64.
MAX_READ = 1e150
# Entries of a tile, 8 MB of float64: small against the data, large against the cost of a call.
TILE_SIZE = 2**20


def scale_tile(
    scaler: _core.Scaler, tile: AnyFloats, first_feature: int, n_threads: int, target: Float32s
) -> None:
    """Scale a tile into its place; values far outside the training range stop at MAX_STORED."""
    source = tile if tile.flags.aligned else tile.copy()
    scaler.transform(source, first_feature, n_threads, target)


def read_tile(table: Table, rows: slice, features: slice, unscaled: bool) -> AnyFloats:
    """Read a tile of numbers, NaN allowed; raises on infinities and numbers too large."""
    tile = table.numbers(rows, features)
    limit = MAX_STORED if unscaled else MAX_READ
    if not is_within(tile, limit):
        row, column = np.argwhere(np.abs(tile, dtype=np.float64) > limit)[0]
        got = tile[row, column]
        where = f"column {table.describe(features.start + column)}, row index {rows.start + row}"
        if np.isinf(got):
            remedy = "Replace infinities by NaN, which means missing."
        else:
            remedy = (
                'Rescale the column, or pass scale="standard".'
                if unscaled
                else "Rescale the column."
            )
        raise ValueError(
            f"X must hold finite numbers up to {limit:g} in size, or NaN; got {got:g} in {where}. "
            f"{remedy}"
        )
    return tile


def is_within(tile: AnyFloats, limit: float) -> bool:
    low, high = np.fmin.reduce(tile, axis=None), np.fmax.reduce(tile, axis=None)
    return not (float(low) < -limit or float(high) > limit)


def numeric_tiles(
    table: Table, levels: npt.NDArray[np.int32], order: Literal["C", "F"]
) -> Iterator[tuple[slice, slice]]:
    """Tiles (rows, features) of the numeric columns, along the result's memory if possible."""
    by_rows = order == "C" and table.by_rows
    height = max(1, TILE_SIZE // table.n_features) if by_rows else table.n_rows
    for start in range(0, table.n_rows, height):
        rows = slice(start, min(start + height, table.n_rows))
        for features, numeric in column_tiles(levels, rows.stop - rows.start):
            if numeric:
                yield rows, features


def column_tiles(levels: npt.NDArray[np.int32], n_rows: int) -> Iterator[tuple[slice, bool]]:
    """Cut the columns into tiles that are all numeric or all nominal, with a flag for numeric."""
    width = max(1, TILE_SIZE // n_rows)
    numeric = levels == 0
    bounds = [0, *(np.flatnonzero(np.diff(numeric)) + 1), len(levels)]
    for first, last in itertools.pairwise(bounds):
        for start in range(first, last, width):
            yield slice(start, min(start + width, int(last))), bool(numeric[first])


def is_stored(table: Table, levels: npt.NDArray[np.int32], order: Literal["C", "F"]) -> bool:
    """Whether the user's array already has the form that the core reads."""
    if not isinstance(table, ArrayTable) or table.native.dtype != np.float32 or levels.any():
        return False
    flags = table.native.flags
    return bool(flags.aligned and (flags.c_contiguous if order == "C" else flags.f_contiguous))


def allocate(table: Table, order: Literal["C", "F"]) -> Float32s:
    shape = (table.n_rows, table.n_features)
    size = shape[0] * shape[1] * 4
    try:
        if size > _physical_memory():
            raise MemoryError
        return np.empty(shape, dtype=np.float32, order=order)
    except MemoryError:
        raise MemoryError(
            f"X must fit in memory as a dense float32 table; got {shape[0]} x {shape[1]}, which "
            f"needs {size / 2**30:.1f} GiB. Use fewer rows, or select or reduce columns; sparse "
            "input is made dense."
        ) from None


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (
        AttributeError,
        ValueError,
        OSError,
    ):  # not known on this system: let the allocation decide
        return float("inf")


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view, which leaves the user's own array writeable."""
    view = array.view()
    view.flags.writeable = False
    return view


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
        return Reading(self.native_scaler, MAX_STORED if unscaled else MAX_READ)

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
