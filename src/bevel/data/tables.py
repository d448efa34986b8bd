"""Reads whatever the user has (arrays, frames, sparse matrices) through one small interface.

A table gives tiles of numbers and columns of labels; it does not decide which columns are nominal,
nor scale anything. Frames of pandas, polars and pyarrow are read through narwhals, so none of these
is imported here. SciPy sparse matrices, and pandas frames all of whose columns are sparse, are one
kind of table: columns with a common value and exceptions.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from narwhals.exceptions import DuplicateError
from sklearn.utils import check_array

from bevel._types import AnyFloats, Array, Floats
from bevel.data.values import are_truths, truths_of
from bevel.errors import join_names, shorten
from bevel.extras import import_optional

__all__ = [
    "MEANING",
    "Columns",
    "FrameLayout",
    "SparseTable",
    "Table",
    "align",
    "are_dates",
    "array_as_days",
    "as_floats",
    "fill_masked",
    "index_columns",
    "is_missing",
    "objects_as_days",
    "read_table",
    "select_rows",
    "series_as_days",
    "take_rows",
]

# Arrays whose numbers lie at multiples of their size, as compiled code requires.
#
# Arrays over a part of a message or a file may lie anywhere. NumPy reads them all; in C++ such
# reads are undefined behaviour.


def align(value: Any) -> Any:
    """Return the value with aligned copies of the arrays in it that are not aligned.

    Arrays are looked for in lists, tuples, dictionaries and the attributes of this library's
    objects. Other values are returned unchanged.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy(order="K")
    if type(value) is dict:
        return dict(zip(value, _align_all(list(value.values())), strict=True))
    if type(value) is list:
        return _align_all(value)
    if isinstance(value, tuple):
        items = _align_all(list(value))
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if type(value).__module__.startswith("bevel.") and hasattr(value, "__dict__"):
        return _align_attributes(value)
    return value


def _align_all(values: list[Any]) -> list[Any]:
    return [align(each) for each in values]


def _align_attributes(value: Any) -> Any:
    """The object, or one with the same attributes if some had to be copied."""
    attributes = {name: align(each) for name, each in vars(value).items()}
    if all(each is vars(value)[name] for name, each in attributes.items()):
        return value
    aligned = object.__new__(type(value))
    vars(aligned).update(attributes)
    return aligned


# Missing value of each kind of dtype; None in arrays of objects.
_MISSING = {"f": np.nan, "c": np.nan, "M": "NaT", "m": "NaT"}


def fill_masked(value: Any) -> Any:
    """Replace the masked entries of an array by missing values; other objects are returned as is.

    Whole numbers and truth values become floats, in which NaN stands for a missing value.
    """
    if not isinstance(value, np.ma.MaskedArray) or value.dtype.names is not None:
        return value
    hidden = np.ma.getmaskarray(value)
    if not hidden.any():
        return value.data
    kind: Any = value.dtype if value.dtype.kind in _MISSING else object
    filled: npt.NDArray[Any] = value.data.astype(float if value.dtype.kind in "iub" else kind)
    filled[hidden] = _MISSING.get(filled.dtype.kind)
    return filled


_NAMELESS = re.compile(r"__index_level_\d+__")


def index_columns(names: Sequence[str], metadata: Mapping[bytes, bytes] | None) -> tuple[str, ...]:
    """Columns of a file that were the index of the data frame that was written.

    Parameters
    ----------
    names : sequence of str
        Columns of the file.
    metadata : mapping of bytes to bytes, or None
        Metadata of its Arrow schema, in which pandas names these columns; None: not known, and an
        index without a name is recognised all the same.
    """
    try:
        described = json.loads((metadata or {}).get(b"pandas", b"{}"))["index_columns"]
        # An index that only counts the rows is stored as a dictionary, not as a column name.
        listed = {each for each in described if isinstance(each, str)}
    except (ValueError, KeyError, TypeError):
        listed = set()
    return tuple(name for name in names if name in listed or _NAMELESS.fullmatch(name))


# Dates as numbers: days since 1970-01-01 in UTC, so that a forest can cut before and after a day.
#
# A time without a zone is taken for UTC.

MEANING = "days since 1970-01-01"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_PER_DAY = 86_400.0
UNITS_PER_DAY = {
    "h": 24,
    "m": 1440,
    **{unit: 86_400 * 1000**k for k, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs", "as"))},
}
MAX_DIVISOR = np.iinfo(np.int64).max


def array_as_days(values: npt.NDArray[Any]) -> Floats:
    """Days of an array of datetime64 of any unit; NaN where it has NaT."""
    unit, count = np.datetime_data(values.dtype)
    per_day = UNITS_PER_DAY.get(unit)
    if per_day is None:
        days = _whole_days(values)
    elif count == 1 and per_day <= MAX_DIVISOR:
        # Whole days and the rest apart: nanoseconds since 1970 have more digits than a float.
        whole, rest = np.divmod(values.astype(np.int64), per_day)
        days = whole + rest / float(per_day)
    else:
        days = values.astype(np.int64) * (count / per_day)
    return np.where(np.isnat(values), np.nan, days)


def _whole_days(values: npt.NDArray[Any]) -> Floats:
    """Days of years, months, weeks or days."""
    days = values.astype("datetime64[D]")
    wrong = values[(days.astype(values.dtype) != values) & ~np.isnat(values)]
    if len(wrong):
        raise ValueError(
            f"X must hold dates whose {MEANING} are numbers of 64 bits; got {shorten(wrong[0])}. "
            "Replace dates that cannot be by NaT, which means missing."
        )
    return days.astype(np.float64)


def series_as_days(column: nw.Series[Any]) -> Floats:
    """Days of a column of dates or times of any data frame library; NaN where missing."""
    values = column.to_numpy()  # in UTC if it has a zone
    return array_as_days(values) if values.dtype.kind == "M" else objects_as_days(values)


def objects_as_days(values: Iterable[Any]) -> Floats:
    """Days of Python's and pandas' dates and times; NaN for other objects."""
    return np.array([_as_days(value) for value in values], dtype=np.float64)


def are_dates(values: Sequence[Any], is_missing: Any) -> bool:
    """Whether all objects are dates or times or missing, and not all of them missing."""
    present = False
    for value in values:
        if isinstance(value, date | np.datetime64):
            present = present or not is_missing(value)
        elif not is_missing(value):
            return False
    return present


def _as_days(value: Any) -> float:
    if hasattr(value, "to_datetime64"):  # pandas times reach beyond Python's years
        value = value.to_datetime64()
    if isinstance(value, np.datetime64):
        return float(array_as_days(np.array([value]))[0])
    if not isinstance(value, date) or value != value:  # NaT does not equal itself
        return float("nan")
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return float((aware - EPOCH).total_seconds() / SECONDS_PER_DAY)


@dataclass(frozen=True, eq=False)
class Columns:
    """Named columns of equal length; the estimators read it as they read a data frame.

    Parameters
    ----------
    names : tuple of str
        Name of each column, all different.
    values : tuple of ndarray of shape (n_rows,)
        Numbers (missing: NaN), or objects for nominal columns (missing: None).
    dates : frozenset of str
        Names of columns whose numbers are days since 1970-01-01.
    truths : frozenset of str
        Names of columns whose numbers are 1 for yes and 0 for no.
    """

    names: tuple[str, ...]
    values: tuple[Array, ...]
    dates: frozenset[str] = frozenset()
    truths: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.values}
        if len(self.names) != len(self.values) or len(lengths) > 1:
            raise ValueError(
                "Columns must have one name for each column, all of one length; got "
                f"{len(self.names)} names and {len(self.values)} columns of lengths "
                f"{sorted(lengths)}. Pass them in pairs."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self.values[0]) if self.values else 0), len(self.values)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nominal(self) -> list[int]:
        """Columns of objects."""
        return [index for index, column in enumerate(self.values) if column.dtype.kind == "O"]

    def rows(self, chosen: npt.NDArray[Any]) -> Columns:
        """Return these columns with the rows that an index or a mask chooses."""
        values = tuple(column[chosen] for column in self.values)
        return Columns(self.names, values, self.dates, self.truths)

    def select(self, names: Sequence[str]) -> Columns:
        """Columns by name, in the order of `names`; raises KeyError for one that is absent."""
        place = {name: index for index, name in enumerate(self.names)}
        values = tuple(self.values[place[name]] for name in names)
        dates, truths = self.dates.intersection(names), self.truths.intersection(names)
        return Columns(tuple(names), values, dates, truths)

    def with_truths(self, names: Iterable[str]) -> Columns:
        """Columns of the words true and false, of these names, as 1 and 0; others stay."""
        values, truths = list(self.values), set(self.truths)
        for index, name in enumerate(self.names):
            if name in names and values[index].dtype.kind == "O":
                numbers = truths_of(values[index])
                if numbers is not None:
                    values[index] = numbers
                    truths.add(name)
        return Columns(self.names, tuple(values), self.dates, frozenset(truths))

    def __getitem__(self, name: str) -> Array:
        """The values of a column."""
        if name not in self.names:
            known = join_names([repr(each) for each in self.names], limit=8)
            raise KeyError(f"The table has no column {name!r}; its columns are {known}.")
        return self.values[self.names.index(name)]

    def drop(self, *names: str) -> Columns:
        """Return the columns without those of these names; raises KeyError for an absent one."""
        for name in names:
            self[name]
        return self.select([name for name in self.names if name not in names])

    def to_pandas(self) -> Any:
        """A data frame: nominal columns are categories, dates are time stamps, truth is boolean."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        made = {}
        for name, column in zip(self.names, self.values, strict=True):
            if name in self.dates:
                made[name] = pandas.to_datetime(column, unit="D")
            elif name in self.truths:
                made[name] = pandas.array(column, dtype="boolean")
            else:
                made[name] = pandas.Categorical(column) if column.dtype.kind == "O" else column
        return pandas.DataFrame(made)

    def __repr__(self) -> str:
        n_rows, n_columns = self.shape
        n_nominal = len(self.nominal)
        kinds = f"{n_columns - n_nominal} numeric, {n_nominal} nominal"
        return f"Columns: {n_rows:,} rows, {n_columns:,} columns ({kinds})"

    def missing(self, index: int) -> npt.NDArray[np.bool_]:
        """Mask of the missing values of a column."""
        column = self.values[index]
        if column.dtype.kind == "O":
            return np.array([value is None for value in column], dtype=bool)
        return np.asarray(np.isnan(column), dtype=bool)


MAX_FLOAT = int(np.finfo(np.float64).max)
_NOMINAL = (nw.String, nw.Categorical, nw.Enum)
_DATES = (nw.Datetime, nw.Date)
_UNREADABLE = (nw.Time, nw.Duration, nw.List, nw.Array, nw.Struct, nw.Binary)


class Table(Protocol):
    """Interface of every kind of input."""

    @property
    def native(self) -> Any:
        """The user's object, or the array read from it."""
        ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def by_rows(self) -> bool:
        """Whether a few rows of all columns are as quick to read as all rows of a few columns."""
        ...

    def describe(self, feature: int) -> str:
        """Name a column for a message: its quoted name, or its index."""
        ...

    def nominal_by_dtype(self) -> list[int]:
        """Columns whose dtype says that they are nominal."""
        ...

    def dates(self) -> list[int]:
        """Columns of dates or times, whose numbers are days since 1970-01-01."""
        ...

    def truths(self) -> list[int]:
        """Columns of truth values, whose numbers are 1 for yes and 0 for no."""
        ...

    def numbers(self, rows: slice, features: slice) -> AnyFloats:
        """A tile as floats, float32 only where nothing is lost; missing values are NaN."""
        ...

    def labels(self, feature: int) -> npt.NDArray[Any]:
        """A whole column with its own types."""
        ...


class TableOutOfMemory:
    """Base of tables that are read batch by batch, which only some estimators can fit."""


@dataclass(frozen=True, eq=False)
class FrameLayout:
    """Type, names and dtypes of the columns of a data frame of pandas or polars.

    Attributes
    ----------
    kind : type, or None
        Class of the frame; None for no layout, which no frame has.
    columns : object
        The names as the frame has them.
    names : list of str
        The names.
    dtypes : list
        The dtypes.
    """

    kind: type | None = None
    columns: Any = None
    names: list[str] = field(default_factory=list)
    dtypes: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, X: Any) -> FrameLayout | None:
        """The layout of a data frame; None for other objects."""
        kind = type(X)
        if kind.__name__ != "DataFrame" or kind.__module__.partition(".")[0] not in _LIBRARIES:
            return None
        return cls(kind, X.columns, list(X.columns), list(X.dtypes))

    def is_that_of(self, X: Any) -> bool:
        """Whether an object is a frame with this layout; takes some 25 microseconds."""
        if type(X) is not self.kind:
            return False
        frame: Any = X
        same_names = frame.columns is self.columns or list(frame.columns) == self.names
        return same_names and list(frame.dtypes) == self.dtypes

    def is_plain(self, nominal: Collection[int]) -> bool:
        """Whether the columns are numbers and text, which need no looking at their values."""
        return all(
            _is_text(dtype) if feature in nominal else _is_number(dtype)
            for feature, dtype in enumerate(self.dtypes)
        )


_LIBRARIES = ("pandas", "polars")
_POLARS_NUMBERS = {"Boolean", "Float32", "Float64"} | {
    f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)
}


def _is_number(dtype: Any) -> bool:
    """Whether a column of a dtype of pandas or polars becomes floats without a look at it."""
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiub"
    return _is_of_polars(dtype) and str(dtype) in _POLARS_NUMBERS


def _is_text(dtype: Any) -> bool:
    """Whether a column of a dtype of pandas or polars holds text and missing values only."""
    if _is_of_polars(dtype):
        return str(dtype).startswith(("String", "Categorical", "Enum"))
    categories = getattr(dtype, "categories", None)
    if categories is not None:
        return str(categories.dtype) in ("str", "string", "object")
    return str(dtype) in ("str", "string")


def _is_of_polars(dtype: Any) -> bool:
    module = dtype.__module__ if isinstance(dtype, type) else type(dtype).__module__
    return module.startswith("polars.")


def read_table(X: Any) -> Table:
    """Wrap the user's X; raises when it is not a non-empty table of two dimensions."""
    if isinstance(X, TableOutOfMemory):
        raise TypeError(
            "X must be a table in memory here; got a table from bevel.scan, whose rows are read "
            "batch by batch. Fit ObliqueForestClassifier, ObliqueForestRegressor or a boosting "
            "estimator on it, or pass an array or a data frame."
        )
    if isinstance(X, Columns):
        return ColumnsTable(X)
    frame = _as_frame(X)
    if frame is not None:
        return _sparse_frame(X) or FrameTable(X, frame)
    if hasattr(X, "collect") and hasattr(X, "lazy"):
        raise TypeError(
            f"X must be an array or an eager data frame; got a lazy {type(X).__name__}, which has "
            "no rows yet. Pass X.collect()."
        )
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US":
        X = np.array(X, dtype=object)  # else one label would turn all numbers into text
    X = fill_masked(X)
    array = check_array(X, dtype=None, accept_sparse=True, ensure_all_finite=False)
    return SparseTable(array) if sp.issparse(array) else ArrayTable(align(array))


def _as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """X as a narwhals data frame; None if it is not a data frame."""
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError:
        names = [str(name) for name in X.columns]
        twice = sorted({repr(name) for name in names if names.count(name) > 1})
        raise ValueError(
            f"X must have a different name for each column; got {join_names(twice)} more than "
            "once. Rename the columns, or drop the copies: X.loc[:, ~X.columns.duplicated()]."
        ) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def is_missing(value: object) -> bool:
    """Whether a Python value stands for a missing one: None, NaN, NaT, NA, a masked entry."""
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)
    if isinstance(value, Decimal):
        return value.is_nan()
    return value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant")


@dataclass(frozen=True, eq=False)
class MatrixTable:
    """Base of dense and sparse matrices, whose columns have no names or dtypes of their own."""

    native: Any
    by_rows = True

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.native.shape[1])

    def describe(self, feature: int) -> str:
        return str(feature)

    def nominal_by_dtype(self) -> list[int]:
        return []

    def dates(self) -> list[int]:
        return []

    def truths(self) -> list[int]:
        return list(range(self.n_features)) if self.native.dtype.kind == "b" else []


@dataclass(frozen=True, eq=False)
class ArrayTable(MatrixTable):
    """A two-dimensional NumPy array, of numbers, of dates or of objects."""

    def __post_init__(self) -> None:
        if self.native.dtype.kind not in "fiubOUSTM":
            raise TypeError(
                f"X must hold numbers, labels or dates; got an array of dtype {self.native.dtype}. "
                "Convert it to numbers first, for example to seconds."
            )

    def dates(self) -> list[int]:
        if self.native.dtype.kind == "O":
            columns = range(self.n_features)
            return [f for f in columns if are_dates(self.native[:, f].tolist(), is_missing)]
        return list(range(self.n_features)) if self.native.dtype.kind == "M" else []

    def truths(self) -> list[int]:
        if self.native.dtype.kind == "O":
            columns = range(self.n_features)
            return [f for f in columns if are_truths(self.native[:, f].tolist(), is_missing)]
        return super().truths()

    def numbers(self, rows: slice, features: slice) -> AnyFloats:
        tile = self.native[rows, features]
        if tile.dtype.kind in "fiub":
            return as_floats(tile)
        if tile.dtype.kind == "M":
            return array_as_days(tile)
        columns = zip(range(features.start, features.stop), tile.T, strict=True)
        return np.column_stack([as_numbers(c, self.describe(feature)) for feature, c in columns])

    def labels(self, feature: int) -> npt.NDArray[Any]:
        column: npt.NDArray[Any] = self.native[:, feature]
        return column


@dataclass(frozen=True, eq=False)
class SparseTable(MatrixTable):
    """A SciPy sparse matrix or array, or a pandas frame all of whose columns are sparse.

    Attributes
    ----------
    frame : tuple or None, default=None
        Of a frame: its numbers as a sparse matrix, in which the entries that equal the fill value
        of their column are implicit, the fill values, and the names of the columns.
    """

    frame: tuple[Any, Floats, tuple[str, ...]] | None = None

    def describe(self, feature: int) -> str:
        return str(feature) if self.frame is None else repr(self.frame[2][feature])

    @cached_property
    def common(self) -> Floats:
        """What the implicit entries of each column are."""
        return np.zeros(self.n_features) if self.frame is None else self.frame[1]

    @property
    def share_stored(self) -> float:
        """Share of the entries that are stored."""
        return float(self._matrix.nnz / (self.n_rows * self.n_features))

    @property
    def _matrix(self) -> Any:
        return self.native if self.frame is None else self.frame[0]

    def numbers(self, rows: slice, features: slice) -> AnyFloats:
        whole = rows == slice(0, self.n_rows)
        tile = self.columns[:, features] if whole else self._rows[rows, features]
        if not self.common[features].any():
            return as_floats(tile.toarray(order="F"))
        dense = np.empty(tile.shape, tile.dtype, order="F")
        dense[:] = self.common[features]
        stored = tile.tocoo()
        dense[stored.row, stored.col] = stored.data
        return as_floats(dense)

    @cached_property
    def columns(self) -> Any:
        """The numbers by column, each row of a column at most once and in ascending order."""
        matrix = self._matrix.tocsc()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix

    def forget_columns(self) -> None:
        """Free the memory of `columns`, which are made again on demand."""
        vars(self).pop("columns", None)

    @cached_property
    def _rows(self) -> Any:
        return self._matrix.tocsr()

    def labels(self, feature: int) -> npt.NDArray[Any]:
        raise TypeError(
            f"categorical_features must name columns of a dense table; got column "
            f"{self.describe(feature)} of a sparse one. Pass categorical_features=None, or a dense "
            "table: X.toarray() of a matrix, X.sparse.to_dense() of a frame."
        )


def _sparse_frame(X: Any) -> SparseTable | None:
    """A pandas frame of sparse columns of numbers; None for any other frame."""
    n_rows, n_features = X.shape
    if getattr(X, "sparse", None) is None or not n_rows or not n_features:
        return None  # pandas has the attribute only where all columns are sparse
    columns = [X.iloc[:, feature].array for feature in range(n_features)]
    if not all(column.dtype.subtype.kind in "fiub" for column in columns):
        return None
    rows = [column.sp_index.indices for column in columns]
    offset = np.concatenate(([0], np.cumsum([len(each) for each in rows])))
    values = np.concatenate([column.sp_values for column in columns])
    matrix = sp.csc_array((values, np.concatenate(rows), offset), shape=(n_rows, n_features))
    common = np.array([column.fill_value for column in columns], dtype=np.float64)
    return SparseTable(X, (matrix, common, tuple(str(name) for name in X.columns)))


class FrameTable:
    """A data frame of any library that narwhals supports."""

    by_rows = False

    def __init__(self, native: Any, frame: nw.DataFrame[Any]) -> None:
        self.native = native
        self.n_rows, self.n_features = frame.shape
        self._columns = list(frame.iter_columns())
        _check_not_empty(self.n_rows, self.n_features)

    def describe(self, feature: int) -> str:
        return repr(self._columns[feature].name)

    def nominal_by_dtype(self) -> list[int]:
        return [f for f, column in enumerate(self._columns) if _is_nominal(column)]

    def dates(self) -> list[int]:
        return [f for f, column in enumerate(self._columns) if _holds_dates(column)]

    def truths(self) -> list[int]:
        return [f for f, column in enumerate(self._columns) if _holds_truths(column)]

    def numbers(self, rows: slice, features: slice) -> AnyFloats:
        return _side_by_side([self._numbers(f)[rows] for f in range(features.start, features.stop)])

    def _numbers(self, feature: int) -> AnyFloats:
        column = self._columns[feature]
        if isinstance(column.dtype, _DATES):
            return series_as_days(column)
        if isinstance(column.dtype, _UNREADABLE):
            raise TypeError(
                f"X must hold numbers, labels or dates; got dtype {column.dtype} in column "
                f"{self.describe(feature)}. Convert it to numbers first, or drop it."
            )
        return as_numbers(_values(column), self.describe(feature))

    def labels(self, feature: int) -> npt.NDArray[Any]:
        return _values(self._columns[feature])


class ColumnsTable:
    """Named columns of NumPy arrays."""

    by_rows = False

    def __init__(self, columns: Columns) -> None:
        self.native = columns
        self.n_rows, self.n_features = columns.shape
        _check_not_empty(self.n_rows, self.n_features)

    def describe(self, feature: int) -> str:
        return repr(self.native.names[feature])

    def nominal_by_dtype(self) -> list[int]:
        return self.native.nominal

    def dates(self) -> list[int]:
        return [f for f, name in enumerate(self.native.names) if name in self.native.dates]

    def truths(self) -> list[int]:
        columns = zip(self.native.names, self.native.values, strict=True)
        return [
            f
            for f, (name, column) in enumerate(columns)
            if name in self.native.truths or column.dtype.kind == "b"
        ]

    def numbers(self, rows: slice, features: slice) -> AnyFloats:
        chosen = range(features.start, features.stop)
        columns = self.native.values
        return _side_by_side([as_numbers(columns[f][rows], self.describe(f)) for f in chosen])

    def labels(self, feature: int) -> npt.NDArray[Any]:
        return self.native.values[feature]


def _side_by_side(columns: list[AnyFloats]) -> AnyFloats:
    dtype = np.result_type(*columns)
    tile: AnyFloats = np.empty((len(columns[0]), len(columns)), dtype, order="F")
    for position, column in enumerate(columns):
        tile[:, position] = column
    return tile


def _check_not_empty(n_rows: int, n_features: int) -> None:
    if n_rows and n_features:
        return
    part, kind = (n_features, "feature") if n_rows else (n_rows, "sample")
    raise ValueError(
        f"Found a data frame with {part} {kind}(s) (shape={(n_rows, n_features)}) while a minimum "
        "of 1 is required. Pass at least one row and one column."
    )


def _holds_dates(column: nw.Series[Any]) -> bool:
    if isinstance(column.dtype, nw.Object):
        return are_dates(column.to_list(), is_missing)
    if isinstance(column.dtype, nw.Unknown):  # such as Arrow's date64
        return bool(column.to_numpy().dtype.kind == "M")
    return isinstance(column.dtype, _DATES)


def _holds_truths(column: nw.Series[Any]) -> bool:
    if isinstance(column.dtype, nw.Object):
        return are_truths(column.to_list(), is_missing)
    return isinstance(column.dtype, nw.Boolean)


def take_rows(X: Any, rows: npt.NDArray[np.integer[Any]]) -> Any:
    """Some rows of an array, a sparse matrix or a data frame, as an object of the same kind."""
    frame = _as_frame(X)
    return X[rows] if frame is None else frame[rows].to_native()


def select_rows(table: Table, rows: npt.NDArray[np.integer[Any]]) -> Table:
    """Some rows of a table as a table."""
    native = table.native
    if isinstance(native, Columns):
        return ColumnsTable(native.rows(rows))
    return read_table(native.tocsr()[rows] if sp.issparse(native) else take_rows(native, rows))


def as_numbers(values: npt.NDArray[Any], name: str) -> AnyFloats:
    """Read a column as floats; text is refused even where it spells a number."""
    if values.dtype.kind in "fiub":
        return as_floats(values)
    if values.dtype.kind == "M":
        return array_as_days(values)
    objects = values.tolist() if values.dtype.kind != "O" else list(values)
    if are_dates(objects, is_missing):
        return objects_as_days(objects)
    for row, value in enumerate(objects):
        if isinstance(value, str | bytes):
            raise ValueError(
                f"X must hold numbers in column {name}; could not convert string to float: "
                f"{shorten(value)} (row index {row}). Convert the column, or name it in "
                "categorical_features."
            )
    try:
        return np.array([np.nan if is_missing(value) else float(value) for value in objects])
    except TypeError as error:
        raise TypeError(
            f"X must hold numbers in column {name}; {error}. Convert the column, or drop it."
        ) from error
    except OverflowError:
        raise _beyond_floats(objects, name) from None


def _beyond_floats(values: list[Any], name: str) -> ValueError:
    row = next(i for i, v in enumerate(values) if not is_missing(v) and abs(v) > MAX_FLOAT)
    return ValueError(
        f"X must hold numbers within the range of floats in column {name}; got "
        f"{shorten(values[row])} (row index {row}). Rescale the column."
    )


def as_floats(values: npt.NDArray[Any]) -> AnyFloats:
    """Numbers as float32 where nothing is lost, else as float64."""
    exact = np.can_cast(values.dtype, np.float32)
    return values.astype(np.float32 if exact else np.float64, copy=False)


def _values(column: nw.Series[Any]) -> npt.NDArray[Any]:
    """A column as an array; all-missing columns skip lookups, which some types cannot do.

    Python objects are taken as they are: pandas cannot count missing ones among decimals with sNaN.
    """
    if not isinstance(column.dtype, nw.Object) and column.null_count() == len(column):
        return np.full(len(column), None, dtype=object)
    return column.to_numpy()


def _is_nominal(column: nw.Series[Any]) -> bool:
    """Whether a column is nominal by dtype; objects are unless all are numbers, or dates."""
    if isinstance(column.dtype, nw.Object):
        values = column.to_list()
        are_numbers = all(isinstance(v, numbers.Number) or is_missing(v) for v in values)
        return not are_numbers and not are_dates(values, is_missing)
    return isinstance(column.dtype, _NOMINAL)
