"""The first pass over a scanned table: statistics of all rows, needed before any is encoded.

The results do not depend on the batches: counts, extremes, sets of labels, and rows chosen by
their number.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import AnyFloats, Floats
from bevel.data.nominal import Levels, choose_nominal, learn_levels
from bevel.data.tables import Table, read_table
from bevel.data.tiles import LARGEST_READ, LARGEST_STORED
from bevel.errors import join_names
from bevel.scanning.batches import Batch
from bevel.scanning.sample import RowSample
from bevel.scanning.targets import TargetSurvey, WeightSurvey

__all__ = ["Survey", "SurveyResult", "TableReader", "column_tiles", "extremes_of"]

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
    low, high : ndarray of shape (p,)
        Extremes of the numeric columns, NaN ignored; 0 without values.
    counted_low, counted_high : ndarray of shape (p,)
        Extremes over the rows whose weight is above zero, from which scales are learnt.
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
        self._limit = LARGEST_READ if scaled else LARGEST_STORED
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
        for features in column_tiles(self._numeric, table.n_rows):
            tile = table.numbers(slice(0, table.n_rows), features)
            low, high = extremes_of(tile)
            if float(np.nanmax(np.maximum(-low, high), initial=0.0)) > self._limit:
                raise self._too_large(table, tile, features)
            _widen(self._extremes, features, low, high)
            if counted is not None:
                low, high = extremes_of(tile[counted])
            _widen(self._counted_extremes, features, low, high)
            self._has_nan[features] |= np.isnan(tile).any(axis=0)
            if kept is not None:
                self._pieces[-1][1][:, features] = tile[kept]
        self._dates |= frozenset(table.dates())
        self.n_rows += table.n_rows

    def _begin(self, table: Table) -> None:
        p = table.n_features
        self._nominal: dict[int, set[Any]] = {
            feature: set() for feature in choose_nominal(self._categorical, table)
        }
        self._missing_levels: set[int] = set()
        self._numeric = np.array([f not in self._nominal for f in range(p)])
        self._extremes = np.full((2, p), np.nan)
        self._counted_extremes = self._extremes.copy()
        self._has_nan = np.zeros(p, dtype=np.uint8)
        self._sample = RowSample(self._sample_size(p))
        self._pieces: list[tuple[npt.NDArray[np.int64], Floats]] = []
        self._dates: frozenset[int] = frozenset()
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

    def _add_labels(self, table: Table, feature: int) -> None:
        levels = learn_levels(table.labels(feature), table.describe(feature))
        known = self._nominal[feature]
        known.update(levels.labels.tolist())
        if levels.has_missing:
            self._missing_levels.add(feature)

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
        for feature, labels in self._nominal.items():
            values = np.empty(len(labels) + (feature in self._missing_levels), dtype=object)
            values[: len(labels)] = list(labels)
            nominal[feature] = learn_levels(values, self._described[feature])
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
