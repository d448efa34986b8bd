"""Checks and encodes tables: anything array-like in, one float32 matrix out.

Numeric columns are scaled in float64 and stored in float32, which the core does in one pass;
nominal columns hold level codes. Work goes tile by tile, so that no float64 copy of the whole table
is ever made; a float32 table in the right memory order that needs no scaling is used as it is,
without a copy.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import AnyFloats, Float32s
from bevel.data.nominal import Levels, choose_nominal, learn_levels
from bevel.data.scaling import (
    IdentityScaler,
    Scaler,
    extremes,
    learn_scaler,
    merge_scalers,
    safe_span,
)
from bevel.data.tables import ArrayTable, ColumnsTable, Table
from bevel.errors import PrecisionWarning, join_names

__all__ = [
    "Dataset",
    "Encoding",
    "Reading",
    "encode",
    "encode_dataset",
    "learn_dataset",
    "view_dataset",
]


# Sums of some ten thousand stored values stay finite in float32.
LARGEST_STORED = _core.Scaler.LARGEST_STORED
# Squares stay finite in float64.
LARGEST_READ = 1e150
# Entries of a tile, 8 MB of float64: small against the data, large against the cost of a call.
TILE_SIZE = 2**20
# Rows looked at to find columns that float32 cannot resolve, and the share of values they may lose.
PRECISION_ROWS = 1000
PRECISION_LOSS = 0.1


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


@dataclass(frozen=True, eq=False)
class Dataset:
    """Training rows as the core reads them.

    Attributes
    ----------
    X : ndarray of float32, shape (n, p)
        Read-only, in Fortran order, or as the user has it (`view_dataset`).
    has_nan : ndarray of uint8, shape (p,)
        One for numeric columns with missing values.
    encoding : Encoding
        How new rows must be read.
    scratch : callable or None, default=None
        Gives room of so many bytes on disk, for what a fit derives of all rows; None: memory.
    scaler : Scaler or None, default=None
        Scales `X` while it is read; None where it is scaled.
    """

    X: Float32s
    has_nan: npt.NDArray[np.uint8]
    encoding: Encoding
    scratch: Callable[[int], npt.NDArray[np.uint8]] | None = None
    scaler: _core.Scaler | None = None

    def rows(self, kept: npt.NDArray[np.bool_]) -> Float32s:
        """Some rows as trees read them, in C order."""
        some = np.ascontiguousarray(self.X[kept])
        scaled = np.empty_like(some)
        (self.scaler or _core.Scaler.identity(some.shape[1])).transform(some, 0, 1, scaled)
        return scaled


def learn_dataset(
    table: Table, categorical_features: Any, scale: str | None, n_threads: int = 1
) -> Dataset:
    """Read a training table and learn how new rows must be read.

    Parameters
    ----------
    table : Table
        The user's data.
    categorical_features : "from_dtype", None or sequence
        Which columns are nominal.
    scale : str or None
        One of `bevel.data.scaling.SCALES`.
    n_threads : int, default=1
        Threads that scale columns and look for their medians.
    """
    labels = {f: table.labels(f) for f in choose_nominal(categorical_features, table)}
    nominal = {f: learn_levels(column, table.describe(f)) for f, column in labels.items()}
    levels = np.zeros(table.n_features, dtype=np.int32)
    for feature, column in nominal.items():
        levels[feature] = column.n_codes
    ready = scale is None and _is_stored(table, levels, "F")
    X = table.native if ready else _allocate(table, "F")
    stored = None if scale or ready else _store_whole(table, levels, X, n_threads)
    if stored is not None:
        scaler: Scaler = IdentityScaler()
    else:
        scaler = _learn_numeric(table, levels, scale, None if ready else X, n_threads)
    for feature, column in nominal.items():
        X[:, feature] = column.encode(labels[feature], table.describe(feature))
    if scale is None:
        _warn_of_collapse(table, levels, X)
    medians, has_nan = stored or _core.summarise_columns(X, levels, n_threads)
    dates = frozenset(table.dates()) - nominal.keys()
    encoding = Encoding(scaler, nominal, _frozen(levels), _frozen(medians), dates)
    return Dataset(_frozen(X), _frozen(has_nan), encoding)


def view_dataset(
    table: Table, categorical_features: Any, scale: str | None, n_threads: int = 1
) -> Dataset | None:
    """A training table in the user's memory; None if it must be copied.

    That goes for an array of float32 without nominal columns. The core scales it as it reads it.

    Parameters
    ----------
    table : Table
        The user's data.
    categorical_features : "from_dtype", None or sequence
        Which columns are nominal.
    scale : str or None
        One of `bevel.data.scaling.SCALES`.
    n_threads : int, default=1
        Threads that scale columns and look for medians.
    """
    levels = np.zeros(table.n_features, dtype=np.int32)
    is_stored = _is_stored(table, levels, "C") or _is_stored(table, levels, "F")
    if not is_stored or choose_nominal(categorical_features, table):
        return None
    medians, has_nan = np.empty_like(levels, np.float32), np.empty_like(levels, np.uint8)
    parts: list[Scaler] = []
    for features, _ in _column_tiles(levels, table.n_rows):
        columns = np.asfortranarray(table.numbers(slice(0, table.n_rows), features))
        if not _within(columns, LARGEST_STORED):  # checked as a copy, which is faster
            _read(table, slice(0, table.n_rows), features, scale is None)
        if scale is not None:
            parts.append(learn_scaler(scale, columns.astype(np.float64)))
            tile, columns = columns, np.empty_like(columns)
            _scale(parts[-1].native(tile.shape[1]), tile, 0, n_threads, columns)
        some = _core.summarise_columns(columns, levels[features], n_threads)
        medians[features], has_nan[features] = some
    scaler = merge_scalers(parts) if parts else IdentityScaler()
    encoding = Encoding(scaler, {}, _frozen(levels), _frozen(medians))
    native = encoding.native_scaler if parts else None
    return Dataset(_frozen(table.native), _frozen(has_nan), encoding, scaler=native)


def encode_dataset(table: Table, encoding: Encoding, n_threads: int = 1) -> Dataset:
    """Read further training rows as the first ones were read.

    Parameters
    ----------
    table : Table
        As many columns as the training table had.
    encoding : Encoding
        From the first training.
    n_threads : int, default=1
        Threads that scale columns and look for missing values.
    """
    X = encode(table, encoding, "F", n_threads)
    _, has_nan = _core.summarise_columns(X, encoding.levels, n_threads)
    return Dataset(X, _frozen(has_nan), encoding)


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
    ready = unscaled and _is_stored(table, encoding.levels, order)
    X = table.native if ready else _allocate(table, order)
    for rows, features in _tiles(table, encoding.levels, order):
        tile = _read(table, rows, features, unscaled)
        if not ready:
            _scale(encoding.native_scaler, tile, features.start, n_threads, X[rows, features])
    for feature, column in encoding.nominal.items():
        X[:, feature] = column.encode(table.labels(feature), table.describe(feature))
    return _frozen(X)


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


def _store_whole(
    table: Table, levels: npt.NDArray[np.int32], X: Float32s, n_threads: int
) -> tuple[Float32s, npt.NDArray[np.uint8]] | None:
    """Fill X in one go from an array of floats; None if it must be done tile by tile.

    That includes arrays with a number that is too large, for which `_read` raises. Else the
    medians of the columns and which have missing values.
    """
    if not isinstance(table, ArrayTable) or levels.any():
        return None
    source = table.native
    if source.dtype not in (np.float32, np.float64) or not source.flags.aligned:
        return None
    _, summary = _core.store_columns(source, LARGEST_STORED, n_threads, X)
    return summary


def _learn_numeric(
    table: Table,
    levels: npt.NDArray[np.int32],
    scale: str | None,
    X: Float32s | None,
    n_threads: int,
) -> Scaler:
    """Learn the scaler column tile by column tile, and fill X on the way if it needs filling."""
    parts = []
    for features, numeric in _column_tiles(levels, table.n_rows):
        width = features.stop - features.start
        if not numeric:  # a scaler that nothing uses keeps the columns in step
            parts.append(learn_scaler(scale, np.empty((0, width))))
            continue
        tile = _read(table, slice(0, table.n_rows), features, scale is None)
        if scale is None:
            part: Scaler = IdentityScaler()
        else:
            tile = wide = np.asfortranarray(tile, dtype=np.float64)
            part = learn_scaler(scale, wide)
        if X is not None:
            _scale(part.native(width), tile, 0, n_threads, X[:, features])
        parts.append(part)
    return merge_scalers(parts)


def _scale(
    scaler: _core.Scaler, tile: AnyFloats, first_feature: int, n_threads: int, target: Float32s
) -> None:
    """Scale a tile into its place; values far outside the training range stop at LARGEST_STORED."""
    source = tile if tile.flags.aligned else tile.copy()
    scaler.transform(source, first_feature, n_threads, target)


def _read(table: Table, rows: slice, features: slice, unscaled: bool) -> AnyFloats:
    """Read a tile of numbers, NaN allowed; raises on infinities and numbers too large."""
    tile = table.numbers(rows, features)
    limit = LARGEST_STORED if unscaled else LARGEST_READ
    if not _within(tile, limit):
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


def _within(tile: AnyFloats, limit: float) -> bool:
    low, high = np.fmin.reduce(tile, axis=None), np.fmax.reduce(tile, axis=None)
    return not (float(low) < -limit or float(high) > limit)


def _tiles(
    table: Table, levels: npt.NDArray[np.int32], order: Literal["C", "F"]
) -> Iterator[tuple[slice, slice]]:
    """Tiles (rows, features) of the numeric columns, along the result's memory if possible."""
    by_rows = order == "C" and table.by_rows
    height = max(1, TILE_SIZE // table.n_features) if by_rows else table.n_rows
    for start in range(0, table.n_rows, height):
        rows = slice(start, min(start + height, table.n_rows))
        for features, numeric in _column_tiles(levels, rows.stop - rows.start):
            if numeric:
                yield rows, features


def _column_tiles(levels: npt.NDArray[np.int32], n_rows: int) -> Iterator[tuple[slice, bool]]:
    """Cut the columns into tiles that are all numeric or all nominal; whether they are numeric."""
    width = max(1, TILE_SIZE // n_rows)
    numeric = levels == 0
    bounds = [0, *(np.flatnonzero(np.diff(numeric)) + 1), len(levels)]
    for first, last in itertools.pairwise(bounds):
        for start in range(first, last, width):
            yield slice(start, min(start + width, int(last))), bool(numeric[first])


def _is_stored(table: Table, levels: npt.NDArray[np.int32], order: Literal["C", "F"]) -> bool:
    """Whether the user's array is already what the core reads."""
    if not isinstance(table, ArrayTable) or table.native.dtype != np.float32 or levels.any():
        return False
    flags = table.native.flags
    return bool(flags.aligned and (flags.c_contiguous if order == "C" else flags.f_contiguous))


def _allocate(table: Table, order: Literal["C", "F"]) -> Float32s:
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


def _warn_of_collapse(table: Table, levels: npt.NDArray[np.int32], X: Float32s) -> None:
    """Warn of columns, such as those of large offset, that a scale would store more precisely."""
    rows = slice(0, table.n_rows, max(1, table.n_rows // PRECISION_ROWS))
    collapsed = []
    for features, numeric in _column_tiles(levels, PRECISION_ROWS):
        source = table.numbers(rows, features) if numeric else None
        if source is None or source.dtype == np.float32:
            continue
        wide = source.astype(np.float64, copy=False)
        # In [1, 2] float32 resolves 1e-7 of the column's spread, and no finer near its minimum.
        low, high = extremes(wide)
        unit = 1.0 + (wide - low) / safe_span(low, high)
        kept = _n_distinct(X[rows, features]) / _n_distinct(unit.astype(np.float32))
        collapsed += [features.start + int(f) for f in np.flatnonzero(kept < 1.0 - PRECISION_LOSS)]
    if collapsed:
        names = join_names([table.describe(feature) for feature in collapsed])
        warnings.warn(
            f"Distinct values of column {names} become equal in float32, in which features are "
            'stored: their offset is large against their spread. Pass scale="standard" or '
            "subtract the offset.",
            PrecisionWarning,
            stacklevel=2,
        )


def _n_distinct(values: Float32s) -> npt.NDArray[np.intp]:
    steps = np.diff(np.sort(values, axis=0), axis=0)
    return np.asarray(1 + np.count_nonzero(steps > 0, axis=0), dtype=np.intp)


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view, which leaves the user's own array writeable."""
    view = array.view()
    view.flags.writeable = False
    return view
