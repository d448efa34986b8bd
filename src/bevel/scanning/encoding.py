"""The second pass over a scanned table: rows are encoded and cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s, Floats
from bevel.data.encoding import Encoding, encode
from bevel.data.scaling import LinearScaler, Scaler, learn_scaler, safe_span
from bevel.data.tables import Table
from bevel.scanning.sources import Batch, changed
from bevel.scanning.store import BlockStore, ColumnStore
from bevel.scanning.survey import (
    SurveyResult,
    TableReader,
    TargetSurvey,
    WeightSurvey,
    column_tiles,
    extremes_of,
)
from bevel.training.blocks import Block

__all__ = ["BlockWriter", "RowEncoder", "finish_encoding", "learn_encoding"]


def learn_encoding(found: SurveyResult, scale: str | None) -> Encoding:
    """Encoding of rows, without the medians.

    Scales by extremes use those of all rows; the others are learned from the sample.
    """
    levels = np.zeros(len(found.low), dtype=np.int32)
    for feature, column in found.nominal.items():
        levels[feature] = column.n_codes
    medians = np.zeros(len(levels), dtype=np.float32)
    return Encoding(
        _scaler(found, scale),
        found.nominal,
        levels,
        medians,
        found.dates,
        days=found.days,
        truths=found.truths,
    )


def _scaler(found: SurveyResult, scale: str | None) -> Scaler:
    if scale in ("minmax", "minmax_clip"):
        span = safe_span(found.counted_low, found.counted_high)
        return LinearScaler(found.counted_low, span, clip=scale == "minmax_clip")
    tile = np.empty((0, len(found.low))) if found.sample is None else found.sample
    return learn_scaler(scale, np.asfortranarray(tile))


@dataclass(frozen=True, eq=False)
class RowEncoder:
    """Encodes batches of a surveyed table, each by itself.

    Attributes
    ----------
    found : SurveyResult
        Result of the first pass; needs no sample.
    encoding : Encoding
        How rows are encoded.
    target, weights
        Surveys of targets and weights from the first pass.
    class_weights : ndarray or None
        Weight of each class.
    """

    found: SurveyResult
    encoding: Encoding
    target: TargetSurvey
    weights: WeightSurvey
    class_weights: Floats | None

    def encode(
        self, batch: Batch, first_row: int, n_threads: int, reader: TableReader | None = None
    ) -> Block:
        """Encode the rows of a batch, of which the first has the number `first_row`."""
        reader = reader or TableReader()
        table = reader.read(batch.X, first_row)
        self._check_shape(table, reader.names, first_row)
        self._check_ranges(table, first_row)
        X = encode(table, self.encoding, "F", n_threads)
        self._check_codes(X, table, first_row)
        codes = self.target.encode(batch.y, table.n_rows, first_row)
        weights = self.weights.encode(batch.weights, table.n_rows, first_row)
        if self.class_weights is not None:
            of_class = self.class_weights[codes]
            weights = of_class if weights is None else weights * of_class
        return Block(X, codes, weights, first_row)

    def _check_shape(self, table: Table, names: tuple[str, ...] | None, first_row: int) -> None:
        if first_row + table.n_rows > self.found.n_rows:
            raise changed(f"{self.found.n_rows} rows in the first and more in the second")
        if table.n_features != len(self.encoding.levels):
            before = len(self.encoding.levels)
            raise changed(f"{before} columns in the first and {table.n_features} in the second")
        if names != self.found.names:
            raise changed(f"other names of columns in the second (from row {first_row} on)")

    def _check_ranges(self, table: Table, first_row: int) -> None:
        """Raise if a number is outside the range of the first pass."""
        for features in column_tiles(self.encoding.levels == 0, table.n_rows):
            low, high = extremes_of(table.numbers(slice(0, table.n_rows), features))
            outside = (low < self.found.low[features]) | (high > self.found.high[features])
            if outside.any():
                column = table.describe(features.start + int(np.argmax(outside)))
                raise changed(
                    f"a number beyond the range of column {column} in the second "
                    f"(from row {first_row} on)"
                )

    def _check_codes(self, X: Float32s, table: Table, first_row: int) -> None:
        """Raise if encoded rows contradict what the core assumes of the columns.

        The core reads out of bounds for missing values in a column that has none, and for codes
        beyond the levels. The encoded rows themselves are checked.
        """
        where = f"in the second (from row {first_row} on)"
        for feature, n_codes in enumerate(self.encoding.levels):
            largest = X[:, feature].max()  # NaN if there are missing values
            if n_codes and not largest < n_codes:
                raise changed(f"a new level in column {table.describe(feature)} {where}")
            if not n_codes and np.isnan(largest) and not self.found.has_nan[feature]:
                column = table.describe(feature)
                raise changed(f"the first missing value of column {column} {where}")


def finish_encoding(encoding: Encoding, sample: Float32s, n_threads: int) -> Encoding:
    """Complete the encoding with the medians of the encoded sample."""
    medians, _ = _core.summarise_columns(sample, encoding.levels, n_threads)
    return replace(encoding, medians=medians)


class BlockWriter:
    """Fills a store with blocks of encoded rows.

    Parameters
    ----------
    encoder : RowEncoder
        Encodes rows.
    store : BlockStore or ColumnStore
        Store of the blocks.
    block_rows : int
        Rows of a block.
    """

    def __init__(
        self, encoder: RowEncoder, store: BlockStore | ColumnStore, block_rows: int
    ) -> None:
        self._encoder = encoder
        self._store, self._block_rows = store, block_rows
        self._reader = TableReader()
        shape = (len(encoder.found.sample_rows), len(encoder.encoding.levels))
        self._sample = np.empty(shape, dtype=np.float32, order="F")
        self._pending: list[Block] = []
        self._n_pending = 0
        self._n_rows = 0

    def add(self, batch: Batch, n_threads: int) -> None:
        """Encode the rows of the next batch."""
        first_row = self._n_rows
        rows = self._encoder.encode(batch, first_row, n_threads, self._reader)
        n_rows = len(rows.target)
        self._take_sample(rows.X, first_row)
        for start, stop in self._pieces(n_rows):
            part = None if rows.weights is None else rows.weights[start:stop]
            target = rows.target[start:stop]
            self._keep(Block(rows.X[start:stop], target, part, first_row + start))
        self._n_rows += n_rows

    def _pieces(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Slices of the batch that belong to one block each."""
        start = 0
        while start < n_rows:
            stop = min(n_rows, start + self._block_rows - self._n_pending)
            yield start, stop
            start = stop

    def _keep(self, piece: Block) -> None:
        self._pending.append(piece)
        self._n_pending += len(piece.target)
        if self._n_pending == self._block_rows:
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        pieces, self._pending, self._n_pending = self._pending, [], 0
        X = np.empty((sum(len(b.target) for b in pieces), pieces[0].X.shape[1]), np.float32, "F")
        np.concatenate([piece.X for piece in pieces], out=X)
        weights = [piece.weights for piece in pieces if piece.weights is not None]
        self._store.add(
            Block(
                X,
                np.concatenate([piece.target for piece in pieces]),
                np.concatenate(weights) if weights else None,
                pieces[0].first_row,
            )
        )

    def _take_sample(self, X: Float32s, first_row: int) -> None:
        rows: npt.NDArray[Any] = self._encoder.found.sample_rows
        start, stop = np.searchsorted(rows, [first_row, first_row + len(X)])
        self._sample[start:stop] = X[rows[start:stop] - first_row]

    def finish(self, n_threads: int) -> tuple[Encoding, Float32s]:
        """Complete the store; returns the encoding with its medians, and the sample."""
        if self._n_rows != self._encoder.found.n_rows:
            before = self._encoder.found.n_rows
            raise changed(f"{before} rows in the first and {self._n_rows} in the second")
        self._flush()
        self._store.complete()
        return finish_encoding(self._encoder.encoding, self._sample, n_threads), self._sample
