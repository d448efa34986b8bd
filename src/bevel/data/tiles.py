"""Tables in tiles: numbers are checked and scaled piece by piece into one float32 matrix.

No float64 copy of the whole table is ever made, and a float32 table in the right memory order that
needs no scaling is used as it is, without a copy.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import AnyFloats, Float32s
from bevel.data.tables import ArrayTable, Table

__all__ = [
    "LARGEST_READ",
    "LARGEST_STORED",
    "allocate",
    "column_tiles",
    "frozen",
    "is_stored",
    "is_within",
    "numeric_tiles",
    "read_tile",
    "scale_tile",
]

# Sums of some ten thousand stored values stay finite in float32.
LARGEST_STORED = _core.Scaler.LARGEST_STORED
# Squares stay finite in float64.
LARGEST_READ = 1e150
# Entries of a tile, 8 MB of float64: small against the data, large against the cost of a call.
TILE_SIZE = 2**20


def scale_tile(
    scaler: _core.Scaler, tile: AnyFloats, first_feature: int, n_threads: int, target: Float32s
) -> None:
    """Scale a tile into its place; values far outside the training range stop at LARGEST_STORED."""
    source = tile if tile.flags.aligned else tile.copy()
    scaler.transform(source, first_feature, n_threads, target)


def read_tile(table: Table, rows: slice, features: slice, unscaled: bool) -> AnyFloats:
    """Read a tile of numbers, NaN allowed; raises on infinities and numbers too large."""
    tile = table.numbers(rows, features)
    limit = LARGEST_STORED if unscaled else LARGEST_READ
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
