"""Training tables as the core reads them: anything array-like in, one float32 matrix out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s, Floats
from bevel.data.encoding import (
    MAX_LABELS,
    MAX_LEVELS,
    MAX_READ,
    MAX_STORED,
    Encoding,
    Levels,
    allocate,
    choose_nominal,
    column_tiles,
    encode,
    frozen,
    is_stored,
    is_within,
    learn_codes,
    read_tile,
    scale_tile,
)
from bevel.data.level_statistics import (
    MOST_LEVELS,
    LevelMeans,
    LevelTarget,
    NumberedTable,
    learn_means,
)
from bevel.data.row_numbers import (
    idle_row_numbers,
    warn_of_index,
    warn_of_row_names,
    warn_of_too_many,
)
from bevel.data.scaling import (
    IdentityScaler,
    Scaler,
    extremes,
    learn_scaler,
    merge_scalers,
    safe_span,
)
from bevel.data.sparse_columns import SparseColumns, exceptions_of, read_sparse
from bevel.data.tables import ArrayTable, SparseTable, Table, is_missing
from bevel.data.text_columns import find_texts, warn_of_texts
from bevel.errors import PrecisionWarning, join_names, shorten

__all__ = [
    "Dataset",
    "encode_dataset",
    "encode_like",
    "has_no_times",
    "learn_dataset",
    "view_dataset",
]

# Rows examined to find columns that float32 cannot resolve, and the share of values they may lose.
PRECISION_ROWS = 1000
PRECISION_LOSS = 0.1
# Directions combine levels of nominal columns of at most so many levels, each of so many rows.
MOST_COMBINED_LEVELS = 20
FEWEST_ROWS_OF_LEVEL = 5


NO_TERMS = np.empty((0, 2), np.int32)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Training rows as the core reads them.

    Attributes
    ----------
    columns : ndarray of float32, shape (n, p), or SparseColumns
        Training rows, read-only, in Fortran order, or in the user's order (`view_dataset`).
    has_nan : ndarray of uint8, shape (p,)
        1 for numeric columns with missing values.
    encoding : Encoding
        How new rows must be read.
    scratch : callable or None, default=None
        Allocates bytes on disk for values that a fit derives from all rows; None: memory.
    scaler : Scaler or None, default=None
        Scales `columns` while they are read; None if they are scaled already.
    level_terms : ndarray of int32, shape (n_terms, 2)
        Nominal columns and those of their levels that directions may combine, ascending.
    """

    columns: Float32s | SparseColumns
    has_nan: npt.NDArray[np.uint8]
    encoding: Encoding
    scratch: Callable[[int], npt.NDArray[np.uint8]] | None = None
    scaler: _core.Scaler | None = None
    level_terms: npt.NDArray[np.int32] = field(default_factory=lambda: NO_TERMS)

    @property
    def idle(self) -> tuple[int, ...]:
        """Numeric columns that no split uses."""
        return self.encoding.unused

    @property
    def n_with_terms(self) -> int:
        """Number of nominal columns whose levels directions may combine."""
        return len(np.unique(self.level_terms[:, 0]))

    @cached_property
    def native(self) -> dict[str, Any]:
        """The columns as the core takes them, and one of 0 and 1 for each level term."""
        encoding, terms = self.encoding, self.level_terms
        columns: dict[str, npt.NDArray[Any]] = {
            "levels": encoding.levels,
            "medians": encoding.medians,
            "has_nan": self.has_nan,
        }
        if self.idle:
            columns["is_idle"] = np.zeros_like(self.has_nan)
            columns["is_idle"][list(self.idle)] = 1
        if self.sparse is not None:
            return {"X": None, "sparse": self.sparse.native, **columns}
        if not len(terms):
            return {"X": self.X, **columns}
        (n, p), n_terms = self.X.shape, len(terms)
        X = np.empty((n, p + n_terms), np.float32, order="F")
        X[:, :p] = self.X
        for place, (feature, level) in enumerate(terms):
            np.equal(self.X[:, feature], level, out=X[:, p + place], casting="unsafe")
        for name, array in columns.items():
            columns[name] = np.concatenate((array, np.zeros(n_terms, array.dtype)))
        return {"X": X, **columns, "level_terms": terms}

    @property
    def X(self) -> Float32s:
        """Dense training rows."""
        assert not isinstance(self.columns, SparseColumns)
        return self.columns

    @property
    def sparse(self) -> SparseColumns | None:
        """Training rows that are kept sparse, if they are."""
        return self.columns if isinstance(self.columns, SparseColumns) else None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n_rows, n_features = self.columns.shape
        return n_rows, n_features

    def blocks(self, kept: npt.NDArray[np.bool_] | None = None) -> Iterator[Float32s]:
        """All rows, or some, as the trees read them, in C order.

        Rows of sparse columns come in blocks, each of which is made dense; other rows in one.
        """
        if self.sparse is not None:
            yield from self.sparse.blocks(kept)
            return
        some = np.ascontiguousarray(self.X if kept is None else self.X[kept])
        if self.scaler is not None:
            read, some = some, np.empty_like(some)
            self.scaler.transform(read, 0, 1, some)
        yield some


def learn_dataset(
    table: Table,
    categorical_features: Any,
    scale: str | None,
    n_threads: int = 1,
    weights: Floats | None = None,
    level_target: LevelTarget | None = None,
    combines_levels: bool = False,
    keeps_sparse: bool = False,
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
    weights : ndarray of float64, shape (n,), default=None
        Weights of the rows; rows of weight zero are not learned from. None if all are one.
    level_target : LevelTarget or None, default=None
        Numbers whose means stand for the levels of columns with very many of them; None: no column
        is read as such means.
    combines_levels : bool, default=False
        Whether directions may combine levels of nominal columns.
    keeps_sparse : bool, default=False
        Whether a sparse table is read as `SparseColumns`.
    """
    counted = None if weights is None or weights.all() else weights > 0.0
    if keeps_sparse and isinstance(table, SparseTable):
        return _learn_sparse(table, categorical_features, scale, n_threads, counted)
    chosen = choose_nominal(categorical_features, table)
    texts = find_texts(table, chosen, chosen=not isinstance(categorical_features, str))
    most = MAX_LEVELS if level_target is None else MAX_LABELS
    nominal: dict[int, Levels] = {}
    codes: dict[int, Float32s] = {}  # of the rows; those of free text are all zero
    for f in sorted({*chosen, *texts}):
        if f in texts:
            nominal[f] = Levels.left_out(is_text=True)
            codes[f] = np.zeros(table.n_rows, np.float32)
        else:
            nominal[f], codes[f] = learn_codes(table.labels(f), table.describe(f), most)
    warn_of_texts([table.describe(feature) for feature in texts])
    warn_of_too_many(
        [table.describe(feature) for feature in range(table.n_features)], nominal, False
    )
    warn_of_index(table)
    means: dict[int, LevelMeans] = {}
    if level_target is not None:
        table, means = _with_means(table, nominal, codes, level_target, weights)
    warn_of_row_names(table, nominal, {f for f, each in means.items() if each.are_equal})
    coded = nominal.keys() - means.keys()
    levels = np.zeros(table.n_features, dtype=np.int32)
    for feature in coded:
        levels[feature] = nominal[feature].n_codes
    ready = scale is None and is_stored(table, levels, "F")
    X = table.native if ready else allocate(table, "F")
    stored = None if scale or ready else _store_whole(table, levels, X, n_threads)
    if stored is not None:
        scaler: Scaler = IdentityScaler()
    else:
        scaler = _learn_numeric(table, levels, scale, None if ready else X, n_threads, counted)
    for feature in coded:
        X[:, feature] = codes[feature]
    if scale is None:
        _warn_of_collapse(table, levels, X)
    medians, has_nan = stored or _core.summarise_columns(X, levels, n_threads)
    if counted is not None:
        medians, _ = _core.summarise_columns(np.asfortranarray(X[counted]), levels, n_threads)
    dates, truths = (frozenset(found) - nominal.keys() for found in (table.dates(), table.truths()))
    days = frozenset(feature for feature in dates if has_no_times(table, feature))
    idle = [] if level_target is None else idle_row_numbers(table, levels, level_target)
    read_as = (dates, means, days, truths, frozenset(idle))
    encoding = Encoding(scaler, nominal, frozen(levels), frozen(medians), *read_as)
    terms = _level_terms(X, levels, counted) if combines_levels else NO_TERMS
    return Dataset(frozen(X), frozen(has_nan), encoding, level_terms=terms)


def _level_terms(
    X: Float32s, levels: npt.NDArray[np.int32], counted: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.int32]:
    """Levels that directions may combine; of two levels one, since the other says the same."""
    terms = []
    for feature in np.flatnonzero((levels >= 2) & (levels <= MOST_COMBINED_LEVELS)):
        codes = X[:, feature] if counted is None else X[counted, feature]
        n_rows = np.bincount(codes.astype(np.intp), minlength=levels[feature])
        level = np.flatnonzero(n_rows >= FEWEST_ROWS_OF_LEVEL)
        if np.count_nonzero(n_rows) == 2:
            level = level[-1:]
        terms += [(feature, each) for each in level]
    return np.array(terms, np.int32).reshape(-1, 2)


def has_no_times(table: Table, feature: int) -> bool:
    """Whether the dates of a column are whole days."""
    days = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
    return bool(np.all(np.isnan(days) | (days == np.floor(days))))


def _learn_sparse(
    table: SparseTable,
    categorical_features: Any,
    scale: str | None,
    n_threads: int,
    counted: npt.NDArray[np.bool_] | None,
) -> Dataset:
    """`learn_dataset` of a sparse table, in memory in proportion to its stored entries."""
    for feature in choose_nominal(categorical_features, table):
        table.labels(feature)  # raises
    warn_of_index(table)
    levels = np.zeros(table.n_features, dtype=np.int32)
    scaler: Scaler = IdentityScaler()
    if scale is not None:
        scaler = _learn_numeric(table, levels, scale, None, n_threads, counted)
    else:
        check_sparse(table, MAX_STORED, unscaled=True)
        # Around zeros float32 is precise enough: only columns of hardly any are looked at.
        many = 2 * np.diff(table.columns.indptr) > table.n_rows
        _warn_of_collapse(table, np.where(many, levels, -1), None)
    X = read_sparse(table, scaler.native(table.n_features))
    medians, has_nan = X.native.summarise(n_threads)
    if counted is not None:
        medians, _ = X.take(counted).native.summarise(n_threads)
    encoding = Encoding(scaler, {}, frozen(levels), frozen(medians))
    return Dataset(X, frozen(has_nan), encoding)


def _with_means(
    table: Table,
    nominal: Mapping[int, Levels],
    codes: Mapping[int, Float32s],
    target: LevelTarget,
    weights: Floats | None,
) -> tuple[Table, dict[int, LevelMeans]]:
    """The table with columns of very many levels as means of the target, and these means.

    codes: the levels of the rows, by column.
    """
    means, numbers = {}, {}
    for feature, levels in nominal.items():
        if levels.n_codes > MOST_LEVELS:
            own = codes[feature].astype(np.intp)
            means[feature] = learn_means(own, levels.n_codes, target, weights)
            numbers[feature] = means[feature].of_training_rows(own, np.arange(len(own)))
    return (NumberedTable(table, numbers) if means else table), means


def view_dataset(
    table: Table, categorical_features: Any, scale: str | None, n_threads: int = 1
) -> Dataset | None:
    """A training table in the user's memory; None if it must be copied.

    Only an array of float32 without nominal columns can be viewed. The core scales it on reading.

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
    in_place = is_stored(table, levels, "C") or is_stored(table, levels, "F")
    if not in_place or choose_nominal(categorical_features, table):
        return None
    medians, has_nan = np.empty_like(levels, np.float32), np.empty_like(levels, np.uint8)
    parts: list[Scaler] = []
    for features, _ in column_tiles(levels, table.n_rows):
        columns = np.asfortranarray(table.numbers(slice(0, table.n_rows), features))
        if not is_within(columns, MAX_STORED):  # checked as a copy, which is faster
            read_tile(table, slice(0, table.n_rows), features, scale is None)
        if scale is not None:
            parts.append(learn_scaler(scale, columns.astype(np.float64)))
            tile, columns = columns, np.empty_like(columns)
            scale_tile(parts[-1].native(tile.shape[1]), tile, 0, n_threads, columns)
        some = _core.summarise_columns(columns, levels[features], n_threads)
        medians[features], has_nan[features] = some
    scaler = merge_scalers(parts) if parts else IdentityScaler()
    encoding = Encoding(scaler, {}, frozen(levels), frozen(medians))
    native = encoding.native_scaler if parts else None
    return Dataset(frozen(table.native), frozen(has_nan), encoding, scaler=native)


def encode_dataset(
    table: Table,
    encoding: Encoding,
    n_threads: int = 1,
    combines_levels: bool = False,
    keeps_sparse: bool = False,
) -> Dataset:
    """Read further training rows, of a warm start, as the first ones were read.

    They may not have levels that the first rows lack: the trees have no codes for them.

    Parameters
    ----------
    table : Table
        Rows with as many columns as the training table.
    encoding : Encoding
        Encoding of the first fit.
    n_threads : int, default=1
        Threads that scale columns and look for missing values.
    combines_levels : bool, default=False
        Whether directions may combine levels of nominal columns.
    keeps_sparse : bool, default=False
        Whether a sparse table is read as `SparseColumns`.
    """
    if keeps_sparse and isinstance(table, SparseTable):
        sparse = encode_sparse(table, encoding)
        return Dataset(sparse, frozen(sparse.native.summarise(n_threads)[1]), encoding)
    X = encode(table, encoding, "F", n_threads, training=True)
    _check_seen(table, encoding, X)
    _, has_nan = _core.summarise_columns(X, encoding.levels, n_threads)
    terms = _level_terms(X, encoding.levels, None) if combines_levels else NO_TERMS
    return Dataset(X, frozen(has_nan), encoding, level_terms=terms)


def encode_like(dataset: Dataset, table: Table, n_threads: int) -> Float32s | SparseColumns:
    """Further rows, stored and read as those of a dataset."""
    known = dataset.sparse
    if known is None:
        return encode(table, dataset.encoding, "F", n_threads)
    if isinstance(table, SparseTable):
        rows = encode_sparse(table, dataset.encoding)
        if np.array_equal(rows.common, known.common, equal_nan=True):
            return rows
    return exceptions_of(encode(table, dataset.encoding, "F", n_threads), known.common)


def encode_sparse(table: SparseTable, encoding: Encoding) -> SparseColumns:
    """Rows of a sparse table as the training rows were read."""
    unscaled = isinstance(encoding.scaler, IdentityScaler)
    check_sparse(table, MAX_STORED if unscaled else MAX_READ, unscaled)
    return read_sparse(table, encoding.native_scaler)


def check_sparse(table: SparseTable, limit: float, unscaled: bool) -> None:
    """Raise on infinities and numbers too large, as `read_tile` does."""
    stored = table.columns.data
    if len(stored) and not is_within(stored, limit):
        for features, _ in column_tiles(np.zeros(table.n_features, np.int32), table.n_rows):
            read_tile(table, slice(0, table.n_rows), features, unscaled)


def _check_seen(table: Table, encoding: Encoding, X: Float32s) -> None:
    """Raise on a level that the first fit has not seen."""
    for feature in np.flatnonzero(encoding.levels).tolist():
        column = encoding.nominal[feature]
        unseen = np.flatnonzero(X[:, feature] >= column.n_codes)
        if len(unseen):
            row = int(unseen[0])
            label = table.labels(feature)[row]
            got = "a missing value" if is_missing(label) else shorten(label)
            raise ValueError(
                f"X must have the levels of the first fit in nominal column "
                f"{table.describe(feature)} when warm_start=True; got {got} in row index {row}. "
                "Leave such rows out, or set warm_start=False."
            )


def _store_whole(
    table: Table, levels: npt.NDArray[np.int32], X: Float32s, n_threads: int
) -> tuple[Float32s, npt.NDArray[np.uint8]] | None:
    """Fill X in one go from an array of floats; None if it must be done tile by tile.

    Arrays with a number that is too large also give None, and `_read` raises for them. Returns the
    medians of the columns and which columns have missing values.
    """
    if not isinstance(table, ArrayTable) or levels.any():
        return None
    source = table.native
    if source.dtype not in (np.float32, np.float64) or not source.flags.aligned:
        return None
    _, summary = _core.store_columns(source, MAX_STORED, n_threads, X)
    return summary


def _learn_numeric(
    table: Table,
    levels: npt.NDArray[np.int32],
    scale: str | None,
    X: Float32s | None,
    n_threads: int,
    counted: npt.NDArray[np.bool_] | None,
) -> Scaler:
    """Learn the scaler column tile by column tile, and fill X on the way if it needs filling."""
    parts = []
    for features, numeric in column_tiles(levels, table.n_rows):
        width = features.stop - features.start
        if not numeric:  # a scaler that nothing uses keeps the columns in step
            parts.append(learn_scaler(scale, np.empty((0, width))))
            continue
        tile = read_tile(table, slice(0, table.n_rows), features, scale is None)
        if scale is None:
            part: Scaler = IdentityScaler()
        else:
            tile = wide = np.asfortranarray(tile, dtype=np.float64)
            part = learn_scaler(scale, wide if counted is None else wide[counted])
        if X is not None:
            scale_tile(part.native(width), tile, 0, n_threads, X[:, features])
        parts.append(part)
    return merge_scalers(parts)


def _warn_of_collapse(table: Table, levels: npt.NDArray[np.int32], X: Float32s | None) -> None:
    """Warn of columns, such as those of large offset, that a scale would store more precisely.

    X: the numbers as they are stored; None: those of the table in float32.
    """
    rows = slice(0, table.n_rows, max(1, table.n_rows // PRECISION_ROWS))
    collapsed = []
    for features, numeric in column_tiles(levels, PRECISION_ROWS):
        source = table.numbers(rows, features) if numeric else None
        if source is None or source.dtype == np.float32:
            continue
        wide = source.astype(np.float64, copy=False)
        # In [1, 2] float32 resolves 1e-7 of the column's spread, and no finer near its minimum.
        low, high = extremes(wide)
        unit = 1.0 + (wide - low) / safe_span(low, high)
        stored = wide.astype(np.float32) if X is None else X[rows, features]
        kept = _n_distinct(stored) / _n_distinct(unit.astype(np.float32))
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
