"""How a forest reads new rows: what it stores of its training table.

Numeric columns are scaled in float64 and stored in float32, which the core does in one pass;
nominal columns hold level codes.
"""

from __future__ import annotations

import itertools
import numbers
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import AnyFloats, Float32s, Floats, Ints64
from bevel.data.level_statistics import LevelMeans, NumberedTable
from bevel.data.scaling import IdentityScaler, Scaler
from bevel.data.tables import ArrayTable, ColumnsTable, FrameLayout, Table, is_missing
from bevel.data.values import Kind
from bevel.errors import join_names, shorten, wrong_type, wrong_value

__all__ = [
    "COLUMN_LISTS",
    "MAX_LABELS",
    "MAX_LEVELS",
    "MAX_READ",
    "MAX_STORED",
    "Encoding",
    "Levels",
    "Reading",
    "allocate",
    "choose_nominal",
    "column_tiles",
    "encode",
    "frozen",
    "is_stored",
    "is_within",
    "learn_codes",
    "learn_levels",
    "numeric_tiles",
    "read_tile",
    "scale_tile",
]

# Nominal columns: which they are, and how their labels become level codes.
#
# A column's labels seen in training get the codes 0, 1, ... in sorted order; missing, if it was
# seen, is one level more. A label never seen in training gets the first unused code, which every
# split sends to its heavier child.

MAX_LEVELS = 65_535
MAX_LABELS = 2**24 - 2  # of columns read as means: codes are whole numbers in float32
MAX_OBJECT_ROWS = 256  # of a frame that is read as one array of objects
_REQUIRED = '"from_dtype", None, or a list of column indices or names, or a boolean mask'


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of one nominal column.

    Attributes
    ----------
    labels : ndarray of object
        Labels seen in training, sorted; the code of a label is its position.
    has_missing : bool
        Whether training rows missed the value; the last code then stands for missing.
    is_text : bool, default=False
        Whether the column holds free text, which is left out: whatever it holds counts as missing.
    n_too_many : int, default=0
        Number of labels of a column that has too many to be levels and is left out likewise.
    """

    labels: npt.NDArray[np.object_]
    has_missing: bool
    is_text: bool = False
    n_too_many: int = 0

    @classmethod
    def left_out(cls, *, is_text: bool = False, n_too_many: int = 0) -> Levels:
        """Levels of a column that is left out: missing is the only one."""
        return cls(np.empty(0, dtype=object), True, is_text, n_too_many)

    @property
    def is_left_out(self) -> bool:
        """Whether whatever the column holds counts as missing."""
        return self.is_text or self.n_too_many > 0

    @property
    def n_codes(self) -> int:
        """Number of levels, missing included."""
        return len(self.labels) + self.has_missing

    def encode(self, values: npt.NDArray[Any], name: str) -> npt.NDArray[np.float32]:
        """Codes of a column's labels; `name` is the column's, for messages."""
        if self.is_left_out:
            return np.zeros(len(values), dtype=np.float32)
        distinct, position = _distinct(values, name)
        self._check_same_kind(distinct, name)
        return self.codes(distinct)[position]

    def codes(self, distinct: Sequence[Any]) -> Float32s:
        """Codes of distinct labels."""
        code_of = {label: code for code, label in enumerate(self.labels)}
        missing = len(self.labels)  # one past the labels: a level of its own, or an unseen one
        codes = [missing if is_missing(d) else code_of.get(d, self.n_codes) for d in distinct]
        return np.array(codes, dtype=np.float32)

    def _check_same_kind(self, distinct: Sequence[object], name: str) -> None:
        """Refuse numbers where training saw text, and the reverse: every label would be unseen."""
        before, now = _kind(self.labels), _kind(distinct)
        if before and now and before != now:
            raise ValueError(
                f"X must hold {before} in nominal column {name}, as in fit; got {now}. Pass the "
                "column as it was in fit."
            )


def learn_levels(values: npt.NDArray[Any], name: str, most: int = MAX_LEVELS) -> Levels:
    """Learn the levels of a nominal column from its training rows; one of too many is left out."""
    return learn_codes(values, name, most)[0]


def learn_codes(
    values: npt.NDArray[Any], name: str, most: int = MAX_LEVELS
) -> tuple[Levels, Float32s]:
    """`learn_levels`, and the codes of the rows, as `Levels.encode` gives them."""
    distinct, position = _distinct(values, name)
    present = [label for label in distinct if not is_missing(label)]
    has_missing = len(present) < len(distinct)
    if len(present) + has_missing > most:
        return Levels.left_out(n_too_many=len(present)), np.zeros(len(values), np.float32)
    labels = np.empty(len(present), dtype=object)
    labels[:] = _sorted(present)
    levels = Levels(labels, has_missing)
    return levels, levels.codes(distinct)[position]


def choose_nominal(categorical_features: Any, table: Table) -> list[int]:
    """Indices of the nominal columns of a table, ascending.

    Parameters
    ----------
    categorical_features : "from_dtype", None or sequence
        Choice as given to the estimator.
    table : Table
        The training table.
    """
    if categorical_features is None:
        return []
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return table.nominal_by_dtype()
        raise wrong_value("categorical_features", _REQUIRED, categorical_features, _REMEDY)
    chosen = np.asarray(categorical_features)
    if chosen.ndim != 1:
        raise wrong_type("categorical_features", _REQUIRED, categorical_features, _REMEDY)
    if chosen.dtype.kind == "b":
        return _from_mask(chosen, table)
    labels = chosen.tolist()
    if all(isinstance(label, numbers.Integral) and not isinstance(label, bool) for label in labels):
        return _from_indices(labels, table)
    if all(isinstance(label, str) for label in labels):
        return _from_names(labels, table)
    raise wrong_type("categorical_features", _REQUIRED, categorical_features, _REMEDY)


_REMEDY = "Write for example categorical_features=[0, 3] or categorical_features=['city']."


def _from_mask(mask: npt.NDArray[np.bool_], table: Table) -> list[int]:
    if len(mask) != table.n_features:
        required = f"a mask of one entry per column ({table.n_features})"
        raise wrong_value("categorical_features", required, f"{len(mask)} entries", _REMEDY)
    return [int(feature) for feature in np.flatnonzero(mask)]


def _from_indices(indices: Sequence[int], table: Table) -> list[int]:
    outside = [index for index in indices if not 0 <= index < table.n_features]
    if outside:
        required = f"indices from 0 to {table.n_features - 1}"
        raise wrong_value("categorical_features", required, outside[0], "Check the indices.")
    return sorted(set(indices))


def _from_names(names: Sequence[str], table: Table) -> list[int]:
    position = {table.describe(feature): feature for feature in range(table.n_features)}
    unknown = [repr(name) for name in names if repr(name) not in position]
    if unknown:
        known = join_names(list(position))
        raise ValueError(
            f"categorical_features must name columns of X ({known}); got {join_names(unknown)}. "
            "Check the spelling, and pass a data frame: arrays have no names."
        )
    return sorted({position[repr(name)] for name in names})


def _distinct(values: npt.NDArray[Any], name: str) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Distinct labels of a column, and the position of each row's label among them."""
    if values.dtype.kind in "fiub":
        labels, inverse = np.unique(values, return_inverse=True)
        return labels.tolist(), inverse
    first: dict[Any, int] = {}
    try:
        rows = (first.setdefault(label, len(first)) for label in values.tolist())
        position = np.fromiter(rows, dtype=np.intp, count=len(values))
    except TypeError as error:
        raise TypeError(
            f"Nominal column {name} must hold labels such as strings or numbers; got values that "
            f"cannot be compared ({error}). Convert them to strings."
        ) from error
    return list(first), position


def _sorted(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # labels of several types: any order that does not depend on the rows
        return sorted(labels, key=lambda label: (type(label).__name__, shorten(label, 1000)))


def _kind(labels: Sequence[object] | npt.NDArray[np.object_]) -> str | None:
    present = [label for label in labels if not is_missing(label)]
    if present and all(isinstance(label, str) for label in present):
        return "text"
    if present and all(isinstance(label, numbers.Number) for label in present):
        return "numbers"
    return None


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
    table: Table, levels: npt.NDArray[np.int32], order: Literal["C", "F"], some: slice
) -> Iterator[tuple[slice, slice]]:
    """Tiles (rows, features) of the numeric columns, along the result's memory if possible.

    some: the rows.
    """
    by_rows = order == "C" and table.by_rows
    height = max(1, TILE_SIZE // table.n_features) if by_rows else table.n_rows
    for start in range(some.start, some.stop, height):
        rows = slice(start, min(start + height, some.stop))
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


def allocate(table: Table, order: Literal["C", "F"], n_rows: int | None = None) -> Float32s:
    shape = (table.n_rows if n_rows is None else n_rows, table.n_features)
    size = shape[0] * shape[1] * 4
    try:
        if size > _physical_memory():
            raise MemoryError
        return np.empty(shape, dtype=np.float32, order=order)
    except MemoryError:
        raise MemoryError(
            f"X must fit in memory as a dense float32 table; got {shape[0]} x {shape[1]}, which "
            f"needs {size / 2**30:.1f} GiB. Use fewer rows, or select or reduce columns. A sparse "
            'table is not made dense by forests and boosting with projection="axis", "sparse", '
            '"combination" or "auto".'
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


# Fields of an encoding that list numeric columns by what their numbers stand for.
COLUMN_LISTS = ("dates", "days", "truths", "idle")


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
        Number of levels of each column that trees read as codes, 0 for those they read as numbers.
    medians : ndarray of float32, shape (p,)
        Medians of the stored training values, missing ones ignored; 0 for nominal columns and
        columns without values. Missing values count as the median where features are combined.
    dates : frozenset of int
        Numeric columns that hold dates: their numbers are days since 1970-01-01.
    means : mapping of int to LevelMeans
        Means of the target, of the nominal columns that trees read as numbers.
    days : frozenset of int
        Those of `dates` that had no time of day in the training rows.
    truths : frozenset of int
        Numeric columns that hold truth values: 1 for yes, 0 for no.
    idle : frozenset of int
        Numeric columns that are left aside, because they number the rows.
    """

    scaler: Scaler
    nominal: Mapping[int, Levels]
    levels: npt.NDArray[np.int32]
    medians: Float32s
    dates: frozenset[int] = frozenset()
    means: Mapping[int, LevelMeans] = field(default_factory=dict)
    days: frozenset[int] = frozenset()
    truths: frozenset[int] = frozenset()
    idle: frozenset[int] = frozenset()

    @property
    def unused(self) -> tuple[int, ...]:
        """Columns that no split uses: row numbers, and labels that say nothing beyond chance."""
        constant = {f for f, means in self.means.items() if means.are_equal}
        unused = sorted(constant | self.idle)
        return tuple(unused) if len(unused) < len(self.levels) else ()

    def read_as(self, feature: int, combined: bool) -> str:
        """What a column is to the trees; combined: whether directions combine its levels."""
        if feature in self.idle:
            return "left out: numbers the rows"
        if feature not in self.nominal:
            words = {"number": "number", "day": "date", "time": "date and time"}
            return words.get(self.kind(feature), "yes or no")
        levels = self.nominal[feature]
        if levels.is_text:
            return "left out: free text"
        if levels.is_left_out:
            return f"left out: {levels.n_too_many:,} labels, too many to be levels"
        if levels.n_codes == 1:
            return f"left out: {'one level' if len(levels.labels) else 'no values'}"
        n_levels = f"{len(levels.labels):,} level{'' if len(levels.labels) == 1 else 's'}"
        if feature not in self.means:
            return f"{n_levels}, in subsets" + (" and directions" if combined else "")
        if feature in self.unused:
            return f"left out: its {n_levels} say nothing beyond chance"
        return f"{self.means[feature].meaning} in each of {n_levels}"

    def kind(self, feature: int) -> Kind:
        """What the numbers of a column stand for."""
        if feature in self.dates:
            return "day" if feature in self.days else "time"
        return "truth" if feature in self.truths else "number"

    @cached_property
    def native_scaler(self) -> _core.Scaler:
        """The scaler as the core applies it; it leaves the codes of nominal columns unchanged."""
        return self.scaler.native(len(self.levels)).with_codes(self.levels)

    @cached_property
    def reading(self) -> Reading:
        """Reading of a plain array of floats."""
        unscaled = isinstance(self.scaler, IdentityScaler)
        return Reading(self.native_scaler, MAX_STORED if unscaled else MAX_READ)

    @property
    def texts(self) -> frozenset[int]:
        """Columns of free text, which are left out."""
        return frozenset(feature for feature, each in self.nominal.items() if each.is_text)

    @property
    def left_out(self) -> frozenset[int]:
        """Nominal columns of which nothing is read: free text, and labels that are too many."""
        return frozenset(feature for feature, each in self.nominal.items() if each.is_left_out)

    @property
    def n_labels(self) -> npt.NDArray[np.int32]:
        """Number of levels of each column of the table, 0 for numeric ones."""
        n_labels = self.levels.copy()
        for feature in self.means:
            n_labels[feature] = self.nominal[feature].n_codes
        return n_labels

    @cached_property
    def last_frame(self) -> FrameLayout:
        """Layout of the frame that was read last; not saved."""
        return FrameLayout()

    def remember(self, X: Any, names: npt.NDArray[np.object_] | None) -> None:
        """Remember the layout of a frame that was read, so that `of_frame` can read rows like it.

        Parameters
        ----------
        X : object
            What `encode` has read.
        names : ndarray of str, or None
            Names of the columns of fit, if it saw any.
        """
        if names is None or self.dates:
            return
        layout = FrameLayout.of(X)
        if layout is not None and layout.names == names.tolist() and layout.is_plain(self.nominal):
            vars(self)["last_frame"] = layout  # in one step, as other threads may read it

    def of_frame(self, X: Any, names: npt.NDArray[np.object_] | None) -> Floats | None:
        """Few rows of a frame as an array for `reading`, or None if a check is open.

        Nothing is open for a frame of the layout of the last one. Others are read by `encode`,
        which raises the errors.
        """
        layout = self.last_frame
        if names is None or not layout.is_that_of(X) or len(X) > MAX_OBJECT_ROWS:
            return None
        cells = X.to_numpy()  # objects if there are labels
        if not self.nominal:
            return np.asarray(cells, dtype=np.float64)
        numbers = np.empty(cells.shape)
        numeric = [f for f in range(cells.shape[1]) if f not in self.nominal]
        numbers[:, numeric] = cells[:, numeric]
        for feature, levels in self.nominal.items():
            codes = levels.encode(cells[:, feature], repr(layout.names[feature]))
            means = self.means.get(feature)
            numbers[:, feature] = (
                codes if means is None else means.of_new_rows(codes.astype(np.intp))
            )
        return numbers

    def __getstate__(self) -> dict[str, Any]:
        """State to save, without the native scaler, which is made again on demand."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def check_plain(self, caller: str) -> None:
        """Raise unless rows of plain numbers, with codes for labels, are all that trees need."""
        if self.means:
            columns = join_names([str(feature) for feature in sorted(self.means)])
            raise AttributeError(
                f"{caller} reads plain numbers; got a model that reads labels as means of the "
                f"target (column {columns}). Use predict, or fit with a projection of its own, "
                'such as projection="sparse", which reads all labels as levels.'
            )

    def of_labels(self, feature: int, labels: npt.NDArray[Any], name: str) -> Float32s:
        """Labels of a nominal column as trees read them, for new rows."""
        codes = self.nominal[feature].encode(labels, name)
        if feature not in self.means:
            return codes
        numbers = self.means[feature].of_new_rows(codes.astype(np.intp))[:, None]
        scaled = np.empty(numbers.shape, np.float32)
        scale_tile(self.native_scaler, numbers, feature, 1, scaled)
        return scaled[:, 0]

    def numbered(self, table: Table, places: Ints64 | None) -> Table:
        """The table with the nominal columns that trees read as numbers in numbers.

        places: those of training rows among all rows of the fit; None: new rows.
        """
        if not self.means:
            return table
        columns = {}
        for feature, means in self.means.items():
            levels, name = self.nominal[feature], table.describe(feature)
            codes = levels.encode(table.labels(feature), name).astype(np.intp)
            columns[feature] = (
                means.of_new_rows(codes)
                if places is None
                else means.of_training_rows(codes, places)
            )
        return NumberedTable(table, columns)


def encode(
    table: Table,
    encoding: Encoding,
    order: Literal["C", "F"] = "C",
    n_threads: int = 1,
    training: bool = False,
    rows: slice | None = None,
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
    training : bool, default=False
        Whether these are all training rows in their order, which must not see their own targets in
        the means of levels.
    rows : slice or None, default=None
        The rows to read, from a start to a stop; None reads all.
    """
    _check_dates(table, encoding)
    table = encoding.numbered(table, np.arange(table.n_rows) if training else None)
    unscaled = isinstance(encoding.scaler, IdentityScaler)
    ready = unscaled and is_stored(table, encoding.levels, order) and rows is None
    some = rows or slice(0, table.n_rows)
    X = table.native if ready else allocate(table, order, some.stop - some.start)
    for tile_rows, features in numeric_tiles(table, encoding.levels, order, some):
        tile = read_tile(table, tile_rows, features, unscaled)
        if not ready:
            place = slice(tile_rows.start - some.start, tile_rows.stop - some.start)
            scale_tile(encoding.native_scaler, tile, features.start, n_threads, X[place, features])
    for feature in np.flatnonzero(encoding.levels).tolist():
        column = encoding.nominal[feature]
        X[:, feature] = column.encode(table.labels(feature)[some], table.describe(feature))
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
