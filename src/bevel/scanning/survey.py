"""The first pass over a scanned table: statistics of all rows, needed before any is encoded.

The results do not depend on the batches: counts, extremes, sets of labels, and rows chosen by
their number.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bevel._types import AnyFloats, Floats
from bevel.data.dataset import has_no_times
from bevel.data.encoding import (
    MAX_LEVELS,
    MAX_READ,
    MAX_STORED,
    Levels,
    choose_nominal,
    learn_levels,
)
from bevel.data.row_numbers import FEW_ROWS, warn_of_too_many
from bevel.data.row_weights import (
    MAX_WEIGHT,
    MIN_SHARE,
    MIN_WEIGHT,
    bounded_weights,
    check_class_weight,
)
from bevel.data.tables import Table, fill_masked, is_missing, read_table
from bevel.data.target import MAX_CLASSES, read_labels, read_numbers
from bevel.data.text_columns import are_texts, warn_of_texts
from bevel.errors import join_names, shorten
from bevel.scanning.sources import Batch, changed

__all__ = [
    "ClassSurvey",
    "NumberSurvey",
    "RowSample",
    "Survey",
    "SurveyResult",
    "TableReader",
    "TargetSurvey",
    "WeightSurvey",
    "column_tiles",
    "extremes_of",
    "rows_from",
]


class RowSample:
    """The rows with the smallest hashes.

    Parameters
    ----------
    size : int
        Rows to choose; all if there are fewer.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._hashes = np.empty(0, dtype=np.uint64)
        self._rows = np.empty(0, dtype=np.int64)
        self._bound = np.uint64(2**64 - 1)

    def add(
        self, first_row: int, n_rows: int, counted: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Consider the next rows; `counted` marks those that may be chosen."""
        rows = np.arange(first_row, first_row + n_rows, dtype=np.int64)
        if counted is not None:
            rows = rows[counted]
        hashes = hash_rows(rows)
        chosen = hashes <= self._bound
        self._hashes = np.concatenate([self._hashes, hashes[chosen]])
        self._rows = np.concatenate([self._rows, rows[chosen]])
        if len(self._rows) >= 2 * self._size:
            self._cut()

    def _cut(self) -> None:
        if len(self._rows) > self._size:
            kept = np.argpartition(self._hashes, self._size - 1)[: self._size]
            self._hashes, self._rows = self._hashes[kept], self._rows[kept]
            self._bound = self._hashes.max()

    def rows(self) -> npt.NDArray[np.int64]:
        """Numbers of the chosen rows, ascending."""
        self._cut()
        return np.sort(self._rows)


def hash_rows(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """A bijection of 64-bit numbers that scrambles them (the last steps of SplitMix64)."""
    z = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


# Surveys targets and weights in the first pass, and encodes them in the second.

MAX_WHOLE_WEIGHT = 255.0  # larger weights are rounded to a grid, like real ones


def rows_from(error: ValueError, first_row: int) -> ValueError:
    """Error of a batch, with the row at which the batch begins."""
    return ValueError(f"{error} Rows are counted from row {first_row} of the table.")


class TargetSurvey(Protocol):
    """Survey of targets of one kind."""

    n_classes: int

    def add(self, y: Any, n_rows: int, first_row: int) -> None:
        """Add the targets of a batch."""
        ...

    def check(self) -> None:
        """Raise if the targets of all batches are invalid."""
        ...

    def encode(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[Any]:
        """Targets of a batch as the core reads them."""
        ...


class ClassSurvey:
    """Classes and how many rows have each."""

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}
        self._dtypes: list[np.dtype[Any]] = []
        self.classes: npt.NDArray[Any] = np.empty(0)
        self.n_classes = 0

    def add(self, y: Any, n_rows: int, first_row: int) -> None:
        """Collect the labels of a batch."""
        labels, codes = self._read(y, n_rows, first_row)
        kinds = {_kind(dtype) for dtype in (*self._dtypes, labels.dtype)}
        if len(kinds) > 1:
            raise ValueError(
                f"y must hold labels of one type in all batches; got {' and '.join(sorted(kinds))} "
                f"(from row {first_row} on). Convert the labels."
            )
        if labels.dtype not in self._dtypes:
            self._dtypes.append(labels.dtype)
        counts = np.bincount(codes, minlength=len(labels))
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
            self._counts[label] = self._counts.get(label, 0) + count
        if len(self._counts) > MAX_CLASSES:
            raise ValueError(
                f"y must have at most {MAX_CLASSES:,} classes; got more in {first_row + n_rows:,} "
                "rows. If y is a quantity, use ObliqueForestRegressor; else join rare classes."
            )

    def _read(
        self, y: Any, n_rows: int, first_row: int
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        try:
            return read_labels(y, n_rows)
        except ValueError as error:
            raise rows_from(error, first_row) from error

    def check(self) -> None:
        """Sort the classes."""
        dtype = np.result_type(*self._dtypes) if _kind(self._dtypes[0]) != "objects" else object
        labels = np.empty(len(self._counts), dtype=dtype)
        labels[:] = list(self._counts)
        self.classes = np.unique(labels)
        self.n_classes = len(self.classes)

    def counts(self) -> npt.NDArray[np.int64]:
        """Rows of each class."""
        return np.array([self._counts[label] for label in self.classes.tolist()])

    def encode(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[np.int32]:
        """Positions of the labels among the classes."""
        labels, codes = self._read(y, n_rows, first_row)
        place = np.searchsorted(self.classes, labels)
        known = place < len(self.classes)
        known[known] = self.classes[place[known]] == labels[known]
        if not known.all():
            new = shorten(labels[~known].tolist()[0])
            raise changed(f"the new label {new} in the second (from row {first_row} on)")
        return place.astype(np.int32)[codes]

    def weights_of_classes(self, class_weight: Any) -> Floats | None:
        """Weight of each class by the parameter `class_weight`; None when all are one."""
        if class_weight is None:
            return None
        if isinstance(class_weight, Mapping):
            labels = self.classes.tolist()
            check_class_weight(class_weight, set(labels))
            given = {label: float(weight) for label, weight in class_weight.items()}
            weights = np.array([given.get(label, 1.0) for label in labels])
            return bounded_weights(weights, "class_weight")
        counts = self.counts()
        return np.asarray(counts.sum() / (len(counts) * counts))


class NumberSurvey:
    """The range of the targets of a regression."""

    n_classes = 0

    def __init__(self) -> None:
        self.low, self.high = np.inf, -np.inf

    def add(self, y: Any, n_rows: int, first_row: int) -> None:
        """Widen the range."""
        numbers = self._read(y, n_rows, first_row)
        self.low = min(self.low, float(numbers.min()))
        self.high = max(self.high, float(numbers.max()))

    def check(self) -> None:
        """Do nothing: every range is valid."""

    def encode(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[np.float64]:
        """Targets as floats."""
        numbers = self._read(y, n_rows, first_row)
        if not (numbers.min() >= self.low and numbers.max() <= self.high):
            raise changed(f"a target beyond their range in the second (from row {first_row} on)")
        return numbers

    def _read(self, y: Any, n_rows: int, first_row: int) -> npt.NDArray[np.float64]:
        try:
            return read_numbers(y, n_rows)
        except ValueError as error:
            raise rows_from(error, first_row) from error


class WeightSurvey:
    """The largest weight, and whether all are whole numbers."""

    def __init__(self) -> None:
        self.given = False
        self.whole = True
        self.largest = 1.0

    def add(self, weights: Any, n_rows: int, first_row: int) -> npt.NDArray[np.bool_] | None:
        """Add the weights of a batch; returns which rows have positive weight, None if all do."""
        if weights is None and self.given:
            raise ValueError(
                f"Every batch must have weights if one has; got none from row {first_row} on. "
                "Yield (X, y, weights) for all."
            )
        if weights is None:
            return None
        if not self.given and first_row > 0:
            raise ValueError(
                f"Every batch must have weights if one has; got the first from row {first_row} on. "
                "Yield (X, y, weights) for all."
            )
        values = self._read(weights, n_rows, first_row)
        self.largest = max(self.largest if self.given else 0.0, float(values.max()))
        self.given = True
        self.whole &= _are_whole(values)
        return None if values.all() else values > 0.0

    def _read(self, weights: Any, n_rows: int, first_row: int) -> Floats:
        values = np.asarray(fill_masked(weights))
        if values.shape != (n_rows,) or values.dtype.kind not in "fiubO":
            raise ValueError(
                f"Weights must be numbers, one for each of the {n_rows} rows of a batch; got shape "
                f"{values.shape} of {values.dtype} from row {first_row} on. Pass the weights that "
                "belong to the rows."
            )
        numbers = values.astype(np.float64)
        wrong = np.flatnonzero(~((numbers >= 0.0) & np.isfinite(numbers)))
        if len(wrong):
            raise ValueError(
                f"Weights must be finite numbers of at least 0; got {numbers[wrong[0]]:g} (row "
                f"{first_row + wrong[0]}). Drop these rows, or give them weight 0."
            )
        return numbers

    def check(self) -> None:
        """Raise if no row has positive weight, or sums would overflow."""
        if not MIN_WEIGHT <= self.largest <= MAX_WEIGHT:
            raise ValueError(
                f"Weights must have a largest one from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}; "
                f"got {self.largest:g}. Divide all weights by the largest, or leave them out."
            )

    def encode(self, weights: Any, n_rows: int, first_row: int) -> Floats | None:
        """Weights of a batch; tiny ones are raised to the smallest that count."""
        where = f"in the second (from row {first_row} on)"
        if (weights is not None) != self.given:
            raise changed(f"rows {'without' if self.given else 'with'} weights {where}")
        if not self.given:
            return None
        values = self._read(weights, n_rows, first_row)
        if values.max() > self.largest:
            raise changed(f"a weight above the largest {where}")
        if self.whole and not _are_whole(values):
            raise changed(f"the first weight that is no whole number {where}")
        return np.where(values > 0.0, np.maximum(values, MIN_SHARE * self.largest), 0.0)

    def is_whole(self, n_rows: int, largest: float) -> bool:
        """Whether sums of the weights are exact whole numbers."""
        return self.whole and largest <= MAX_WHOLE_WEIGHT and 4.0 * n_rows * largest < 2.0**52


def _are_whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def _kind(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "US":
        return "text"
    return "objects" if dtype.kind == "O" else "numbers"


TILE_SIZE = 2**21  # entries of a tile


@dataclass(frozen=True)
class SurveyResult:
    """Results of the first pass.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    names : tuple of str or None
        Names of the columns.
    nominal : dict of int to Levels
        Levels of the nominal columns.
    dates : frozenset of int
        Numeric columns that hold dates.
    days : frozenset of int
        Those of them without times of day.
    truths : frozenset of int
        Numeric columns that hold truth values.
    low, high : ndarray of shape (p,)
        Extremes of the numeric columns, NaN ignored; 0 without values.
    counted_low, counted_high : ndarray of shape (p,)
        Extremes over the rows whose weight is above zero, from which scales are learned.
    has_nan : ndarray of uint8, shape (p,)
        1 for numeric columns with missing values.
    sample_rows : ndarray of int64
        Numbers of the rows of the sample, ascending. Rows of weight zero are not among them.
    sample : ndarray of float64, shape (n_sample, p), or None
        Numbers of these rows; 0 in nominal columns. None if they are not needed.
    """

    n_rows: int
    names: tuple[str, ...] | None
    nominal: dict[int, Levels]
    dates: frozenset[int]
    days: frozenset[int]
    truths: frozenset[int]
    low: Floats
    high: Floats
    counted_low: Floats
    counted_high: Floats
    has_nan: npt.NDArray[np.uint8]
    sample_rows: npt.NDArray[np.int64]
    sample: Floats | None


class TableReader:
    """Reads batches as tables, and raises unless all have the columns of the first."""

    def __init__(self) -> None:
        self._columns: tuple[str, ...] | None = None
        self._nominal: list[int] = []
        self.names: tuple[str, ...] | None = None

    def read(self, X: Any, first_row: int) -> Table:
        """A batch as a table."""
        table = read_table(X)
        columns = tuple(table.describe(feature) for feature in range(table.n_features))
        if self._columns is None:
            self._columns, self._nominal = columns, table.nominal_by_dtype()
            self.names = _names(columns)
            return table
        if columns != self._columns:
            raise ValueError(
                f"Every batch must have the columns of the first ({join_names(self._columns)}); "
                f"got {join_names(columns)} from row {first_row} on. Make the columns the same, in "
                "the same order."
            )
        if (nominal := table.nominal_by_dtype()) != self._nominal:
            other = min(set(nominal) ^ set(self._nominal))
            raise ValueError(
                "Every batch must have columns of the same types as the first; got another type "
                f"in column {columns[other]} from row {first_row} on: text in one of them, numbers "
                "in the other. Write the column in one type."
            )
        return table


def _names(columns: Sequence[str]) -> tuple[str, ...] | None:
    """Names of columns from their quoted descriptions; None if they have no names."""
    quoted = all(column[:1] in ("'", '"') for column in columns)
    return tuple(str(literal_eval(column)) for column in columns) if quoted else None


class Survey:
    """Collects statistics of a table, batch by batch.

    Parameters
    ----------
    categorical_features : "from_dtype", None or sequence
        Which columns are nominal.
    target : TargetSurvey
        Survey of the targets.
    sample_size : function of int
        Size of the sample as a function of the number of columns.
    keeps_sample : bool
        Whether the numbers of the sample are kept.
    scaled : bool
        Whether numbers are scaled before they are stored, which allows larger ones.
    """

    def __init__(
        self,
        categorical_features: Any,
        target: TargetSurvey,
        sample_size: Any,
        keeps_sample: bool,
        scaled: bool,
    ) -> None:
        self._categorical = categorical_features
        self.target = target
        self.weights = WeightSurvey()
        self._sample_size = sample_size
        self._keeps_sample = keeps_sample
        self._limit = MAX_READ if scaled else MAX_STORED
        self._reader = TableReader()
        self.n_rows = 0

    def add(self, batch: Batch) -> None:
        """Add the rows of the next batch."""
        table = self._reader.read(batch.X, self.n_rows)
        if self.n_rows == 0:
            self._begin(table)
        self.target.add(batch.y, table.n_rows, self.n_rows)
        counted = self.weights.add(batch.weights, table.n_rows, self.n_rows)
        self._sample.add(self.n_rows, table.n_rows, counted)
        for feature in self._nominal:
            self._add_labels(table, feature)
        kept = self._kept_rows()
        truths = set(table.truths())
        for features in column_tiles(self._numeric, table.n_rows):
            tile = table.numbers(slice(0, table.n_rows), features)
            low, high = extremes_of(tile)
            if float(np.nanmax(np.maximum(-low, high), initial=0.0)) > self._limit:
                raise self._too_large(table, tile, features)
            _widen(self._extremes, features, low, high)
            present = features.start + np.flatnonzero(~np.isnan(low))
            self._numbers.update(set(present.tolist()) - truths)
            if counted is not None:
                low, high = extremes_of(tile[counted])
            _widen(self._counted_extremes, features, low, high)
            self._has_nan[features] |= np.isnan(tile).any(axis=0)
            if kept is not None:
                self._pieces[-1][1][:, features] = tile[kept]
        self._add_kinds(table)
        self.n_rows += table.n_rows

    def _begin(self, table: Table) -> None:
        p = table.n_features
        self._nominal: dict[int, set[Any]] = {
            feature: set() for feature in choose_nominal(self._categorical, table)
        }
        self._n_missing = dict.fromkeys(self._nominal, 0)
        self._may_be_text = set(self._nominal) if isinstance(self._categorical, str) else set()
        self._numeric = np.array([f not in self._nominal for f in range(p)])
        self._extremes = np.full((2, p), np.nan)
        self._counted_extremes = self._extremes.copy()
        self._has_nan = np.zeros(p, dtype=np.uint8)
        self._sample = RowSample(self._sample_size(p))
        self._pieces: list[tuple[npt.NDArray[np.int64], Floats]] = []
        self._dates: frozenset[int] = frozenset()
        self._times: frozenset[int] = frozenset()
        self._truths: frozenset[int] = frozenset()
        self._numbers: set[int] = set()  # columns with values that are no truth values
        self._described = [table.describe(feature) for feature in range(p)]

    def _kept_rows(self) -> npt.NDArray[np.int64] | None:
        """Rows of the batch that are in the sample so far; makes room for their numbers."""
        if not self._keeps_sample:
            return None
        rows = self._sample.rows()
        new = rows[rows >= self.n_rows]
        if sum(len(rows) for rows, _ in self._pieces) > 4 * len(rows):
            self._pieces = [_only(piece, rows) for piece in self._pieces]
        self._pieces.append((new, np.zeros((len(new), len(self._numeric)))))
        return new - self.n_rows

    def _add_kinds(self, table: Table) -> None:
        """Which columns hold dates, times of day and truth values in a batch."""
        dates = frozenset(table.dates())
        self._dates |= dates
        self._times |= frozenset(feature for feature in dates if not has_no_times(table, feature))
        self._truths |= frozenset(table.truths())

    def _add_labels(self, table: Table, feature: int) -> None:
        labels = table.labels(feature)
        levels = learn_levels(labels, table.describe(feature), len(labels) + 1)
        known = self._nominal[feature]
        known.update(levels.labels.tolist())
        self._n_missing[feature] += (
            sum(map(is_missing, labels.tolist())) if levels.has_missing else 0
        )

    def _holds_text(self, feature: int) -> bool:
        labels = self._nominal[feature]
        strings = all(isinstance(label, str) for label in labels)
        return strings and are_texts(labels, self.n_rows - self._n_missing[feature])

    def _too_large(self, table: Table, tile: AnyFloats, features: slice) -> ValueError:
        row, column = np.argwhere(np.abs(tile, dtype=np.float64) > self._limit)[0]
        got = tile[row, column]
        remedy = (
            "Replace infinities by NaN, which means missing."
            if np.isinf(got)
            else "Rescale the column."
        )
        return ValueError(
            f"X must hold finite numbers up to {self._limit:g} in size, or NaN; got {got:g} in "
            f"column {table.describe(features.start + int(column))}, row {self.n_rows + row}. "
            f"{remedy}"
        )

    def finish(self) -> SurveyResult:
        """Results over all rows."""
        if self.n_rows == 0:
            raise ValueError(
                "A scanned table must have at least one row; got none. Check the files or the "
                "function that yields batches."
            )
        self.target.check()
        self.weights.check()
        nominal = {}
        texts = [f for f in sorted(self._may_be_text) if self._holds_text(f)]
        warn_of_texts([self._described[feature] for feature in texts])
        for feature, labels in self._nominal.items():
            if feature in texts:
                nominal[feature] = Levels.left_out(is_text=True)
                continue
            values = np.empty(len(labels) + (self._n_missing[feature] > 0), dtype=object)
            values[: len(labels)] = list(labels)
            # Blocks do not subtract what levels gain by chance: nearly unique ones would win.
            names_rows = len(self._described) > 1 and self.n_rows > FEW_ROWS
            most = self.n_rows // 2 if names_rows else MAX_LEVELS
            each = learn_levels(values, self._described[feature], min(most, MAX_LEVELS))
            nominal[feature] = each
        warn_of_too_many(self._described, nominal, scanned=True)
        rows = self._sample.rows()
        sample = None
        if self._keeps_sample:
            sample = np.concatenate([_only(piece, rows)[1] for piece in self._pieces])
        low, high = np.nan_to_num(self._extremes)
        counted_low, counted_high = np.nan_to_num(self._counted_extremes)
        return SurveyResult(
            self.n_rows,
            self._reader.names,
            nominal,
            self._dates - nominal.keys(),
            self._dates - nominal.keys() - self._times,
            self._truths - nominal.keys() - self._numbers,
            low,
            high,
            counted_low,
            counted_high,
            self._has_nan,
            rows,
            sample,
        )


def _only(
    piece: tuple[npt.NDArray[np.int64], Floats], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], Floats]:
    kept = np.isin(piece[0], rows, assume_unique=True)
    return piece[0][kept], piece[1][kept]


def _widen(extremes: Floats, features: slice, low: AnyFloats, high: AnyFloats) -> None:
    """Widen the ranges of some columns; NaN means no value."""
    extremes[0, features] = np.fmin(extremes[0, features], low)
    extremes[1, features] = np.fmax(extremes[1, features], high)


def extremes_of(tile: AnyFloats) -> tuple[AnyFloats, AnyFloats]:
    """Lowest and highest number of each column, NaN for a column without any."""
    if len(tile) == 0:
        nothing = np.full(tile.shape[1], np.nan)
        return nothing, nothing
    return np.fmin.reduce(tile, axis=0), np.fmax.reduce(tile, axis=0)


def column_tiles(numeric: npt.NDArray[np.bool_], n_rows: int) -> Iterator[slice]:
    """Runs of numeric columns, narrow enough for a tile of them to be small."""
    width = max(1, TILE_SIZE // n_rows)
    start = 0
    for feature in range(len(numeric) + 1):
        ends = feature == len(numeric) or not numeric[feature]
        if feature > start and (ends or feature - start == width):
            yield slice(start, feature)
            start = feature
        if ends:
            start = feature + 1
