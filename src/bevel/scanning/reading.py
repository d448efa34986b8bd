"""Both passes over a scanned table, from batches to blocks and metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s, Floats
from bevel.data.encoding import Encoding
from bevel.data.row_weights import MAX_WEIGHT, MIN_WEIGHT
from bevel.scanning.encoding import BlockWriter, RowEncoder, learn_encoding
from bevel.scanning.sources import Batch, RowSource, changed
from bevel.scanning.store import (
    BlockFolder,
    BlockMemory,
    BlockStore,
    ColumnFolder,
    ColumnMemory,
    ColumnStore,
    EncodedTable,
    Layout,
    RowBytes,
    Shares,
    check_memory,
    folder_name,
    load_table,
    save_table,
    share_out,
)
from bevel.scanning.survey import ClassSurvey, NumberSurvey, Survey, SurveyResult, WeightSurvey
from bevel.scanning.table import ScannedTable
from bevel.training.blocks import Block, BlockedTable, LocalBlocks, TableBlocks, sample_size
from bevel.training.progress import Progress

__all__ = [
    "ReadColumns",
    "ReadTable",
    "classes_of",
    "known_table",
    "read_blocks",
    "read_columns",
]


class ReadTable(NamedTuple):
    """A table in blocks, ready for growth.

    Attributes
    ----------
    blocks : TableBlocks
        The rows.
    table : BlockedTable
        Metadata of the rows.
    names : tuple of str or None
        Names of the columns.
    classes : ndarray or None
        Labels of the classes; None in regression.
    shares : Shares
        Division of the memory.
    """

    blocks: TableBlocks
    table: BlockedTable
    names: tuple[str, ...] | None
    classes: npt.NDArray[Any] | None
    shares: Shares


class ReadColumns(NamedTuple):
    """A table in one block.

    Attributes
    ----------
    rows : Block
        All rows; columns may be mapped.
    table, names, classes
        Fields as in `ReadTable`.
    on_disk : bool
        Whether the columns are in a file.
    """

    rows: Block
    table: BlockedTable
    names: tuple[str, ...] | None
    classes: npt.NDArray[Any] | None
    on_disk: bool


class ReadSettings(NamedTuple):
    """Parameters of the estimator that affect the encoding of rows."""

    regression: bool
    categorical_features: Any
    scale: str | None
    class_weight: Any


@contextmanager
def read_blocks(
    scanned: ScannedTable,
    *,
    regression: bool,
    categorical_features: Any,
    scale: str | None,
    class_weight: Any,
    n_threads: int,
    bar: bool = False,
) -> Iterator[ReadTable]:
    """Read a scanned table into blocks, which are removed afterwards unless they are kept.

    Parameters
    ----------
    scanned : ScannedTable
        Table from `scan`.
    regression : bool
        Whether targets are numbers instead of labels.
    categorical_features, scale, class_weight
        Parameters as given to the estimator.
    n_threads : int
        Threads to use.
    bar : bool, default=False
        Whether to show the number of rows read.
    """
    settings = ReadSettings(regression, categorical_features, scale, class_weight)
    name = _name_to_keep(scanned, settings, scanned.block_rows)

    def make_store(layout: Layout, *_: Any) -> tuple[BlockStore, int]:
        shares = _shares(scanned, *layout.shape)
        store = BlockMemory() if shares.in_memory else BlockFolder(scanned.folder)
        return store, shares.block_rows

    store: BlockStore | ColumnStore | None
    store, encoded = _open_kept(scanned, name, BlockFolder)
    if store is None or encoded is None:
        store, encoded = _read_twice(scanned, settings, name, n_threads, make_store, bar)
    try:
        table, names, classes = encoded
        shares = _shares(scanned, table.n_rows, table.n_features)
        read_ahead = isinstance(store, BlockFolder)
        blocks = LocalBlocks(store.loaders(), table.columns, n_threads, read_ahead)
        yield ReadTable(blocks, table, names, classes, shares)
    finally:
        store.close()


@contextmanager
def read_columns(
    scanned: ScannedTable,
    *,
    regression: bool,
    categorical_features: Any,
    scale: str | None,
    class_weight: Any,
    n_threads: int,
    bar: bool,
    row_bytes: Callable[[int, npt.NDArray[np.int32], int], RowBytes],
) -> Iterator[ReadColumns]:
    """Read a scanned table as one block, in memory or in a mapped file.

    Parameters
    ----------
    scanned, regression, categorical_features, scale, class_weight, n_threads, bar
        Parameters as in `read_blocks`.
    row_bytes : callable
        Called with the number of rows, the levels of the columns and the number of classes, 0 in
        regression; returns the bytes of a row in the fit.
    """
    settings = ReadSettings(regression, categorical_features, scale, class_weight)
    name = _name_to_keep(scanned, settings, "columns")

    def make_store(
        layout: Layout, levels: npt.NDArray[np.int32], n_classes: int
    ) -> tuple[ColumnMemory | ColumnFolder, int]:
        n_rows, n_features = layout.shape
        needed = row_bytes(n_rows, levels, n_classes)
        check_memory(scanned.memory, n_rows, needed)
        whole = n_rows * (needed.in_memory + needed.of_columns + 4 * n_features)
        on_disk = scanned.folder is not None or whole > scanned.memory
        store = ColumnFolder(scanned.folder, layout) if on_disk else ColumnMemory(layout)
        return store, _shares(scanned, n_rows, n_features).block_rows

    store: BlockStore | ColumnStore | None
    store, encoded = _open_kept(scanned, name, ColumnFolder)
    if store is None or encoded is None:
        store, encoded = _read_twice(scanned, settings, name, n_threads, make_store, bar)
    try:
        known = encoded.table
        needed = row_bytes(known.n_rows, known.encoding.levels, known.n_classes)
        check_memory(scanned.memory, known.n_rows, needed)
        (load,) = store.loaders()
        read = ReadColumns(load(), *encoded, isinstance(store, ColumnFolder))
        with _without_weightless(read, scanned, n_threads) as counted:
            yield counted
    finally:
        store.close()


@contextmanager
def _without_weightless(
    read: ReadColumns, scanned: ScannedTable, n_threads: int
) -> Iterator[ReadColumns]:
    """Rows whose weight is above zero, copied if there are others."""
    rows = read.rows
    if rows.weights is None or rows.weights.all():
        yield read
        return
    kept = np.flatnonzero(rows.weights)
    layout = Layout(len(kept), rows.X.shape[1], rows.target.dtype, True)
    store = ColumnFolder(scanned.folder, layout) if read.on_disk else ColumnMemory(layout)
    try:
        step = _shares(scanned, *layout.shape).block_rows
        has_nan = np.zeros_like(read.table.has_nan)
        for first in range(0, len(kept), step):
            some = kept[first : first + step]
            X = np.asfortranarray(rows.X[some])
            has_nan |= _core.summarise_columns(X, read.table.encoding.levels, n_threads)[1]
            store.add(Block(X, rows.target[some], rows.weights[some], first))
        store.complete()
        (load,) = store.loaders()
        table = replace(read.table, n_rows=len(kept), has_nan=has_nan)
        yield read._replace(rows=load(), table=table)
    finally:
        store.close()


def _name_to_keep(scanned: ScannedTable, settings: ReadSettings, kind: Any) -> str | None:
    """Name of the folder in which the encoded rows are kept; None if they are not kept."""
    source = scanned.source.fingerprint()
    if scanned.folder is None or source is None:
        return None
    return folder_name(source, *settings, kind)


def _open_kept(
    scanned: ScannedTable, name: str | None, kind: type[BlockFolder]
) -> tuple[BlockFolder | None, EncodedTable | None]:
    if name is None or scanned.folder is None:
        return None, None
    path = Path(scanned.folder) / name
    store = kind.open(path)
    if store is None:
        return None, None
    try:
        return store, load_table(path)
    except (OSError, ValueError, KeyError, TypeError, BadZipFile):
        store.close()  # written by another release
        return None, None
    except BaseException:  # such as too little memory
        store.close()
        raise


def _shares(scanned: ScannedTable, n_rows: int, n_features: int) -> Shares:
    shares = share_out(scanned.memory, n_rows, n_features, scanned.folder is not None)
    if scanned.block_rows is not None:
        shares = shares._replace(block_rows=scanned.block_rows)
    return shares


def _read_twice(
    scanned: ScannedTable,
    settings: ReadSettings,
    name: str | None,
    n_threads: int,
    make_store: Callable[..., tuple[BlockStore | ColumnStore, int]],
    bar: bool,
) -> tuple[BlockStore | ColumnStore, EncodedTable]:
    """Run both passes; make_store returns the store and block size for a layout and levels."""
    before = scanned.source.fingerprint()
    target: ClassSurvey | NumberSurvey = NumberSurvey() if settings.regression else ClassSurvey()
    scale = settings.scale
    keeps_sample, scaled = scale not in (None, "minmax", "minmax_clip"), scale is not None
    survey = Survey(settings.categorical_features, target, sample_size, keeps_sample, scaled)
    for batch in _reported(scanned.source, "looking at rows", scanned.source.n_rows() or 0, bar):
        survey.add(batch)
    found = survey.finish()
    of_class = None
    if isinstance(target, ClassSurvey):
        of_class = target.weights_of_classes(settings.class_weight)
    encoding = learn_encoding(found, scale)
    kind = np.int32 if isinstance(target, ClassSurvey) else np.float64
    has_weights = survey.weights.given or of_class is not None
    layout = Layout(found.n_rows, len(encoding.levels), kind, has_weights)
    store, block_rows = make_store(layout, encoding.levels, target.n_classes)
    try:
        encoder = RowEncoder(found, encoding, target, survey.weights, of_class)
        writer = BlockWriter(encoder, store, block_rows)
        for batch in _reported(scanned.source, "encoding rows", found.n_rows, bar):
            writer.add(batch, n_threads)
        encoding, sample = writer.finish(n_threads)
        if scanned.source.fingerprint() != before:
            raise changed("files of another size or time after the second")
        table = known_table(found, encoding, sample, target, survey.weights, of_class)
        encoded = EncodedTable(table, found.names, classes_of(target))
        if name is not None and isinstance(store, BlockFolder) and save_table(store.path, encoded):
            store.keep(name)
    except BaseException:
        store.close()
        raise
    return store, encoded


def _reported(source: RowSource, label: str, n_rows: int, bar: bool) -> Iterator[Batch]:
    """The batches of a source, with a progress bar of the rows."""
    n_done = 0
    with Progress(0, n_rows, bar, None, label=label) as progress:
        for batch in source.batches():
            yield batch
            n_done += len(batch.y)
            progress(min(n_done, n_rows) if n_rows else n_done)
        if not n_rows:
            progress.finish(n_done)


def classes_of(target: ClassSurvey | NumberSurvey) -> npt.NDArray[Any] | None:
    """Labels of the classes; None in regression."""
    return target.classes if isinstance(target, ClassSurvey) else None


def known_table(
    found: SurveyResult,
    encoding: Encoding,
    sample: Float32s,
    target: ClassSurvey | NumberSurvey,
    weights: WeightSurvey,
    of_class: Floats | None,
) -> BlockedTable:
    """Metadata of a table that has been surveyed and encoded."""
    largest = weights.largest * (1.0 if of_class is None else float(of_class.max()))
    if not MIN_WEIGHT <= largest <= MAX_WEIGHT:
        raise ValueError(
            "Weights of the rows times class_weight must have a largest one from "
            f"{MIN_WEIGHT:g} to {MAX_WEIGHT:g}; got {largest:g}. Divide one of them by "
            "its largest."
        )
    whole = of_class is None or bool((of_class % 1.0 == 0.0).all())
    is_number = isinstance(target, NumberSurvey)
    return BlockedTable(
        found.n_rows,
        encoding,
        found.has_nan,
        sample,
        target.n_classes,
        whole and weights.is_whole(found.n_rows, largest),
        largest,
        target.low if is_number else 0.0,  # type: ignore[union-attr]
        target.high if is_number else 0.0,  # type: ignore[union-attr]
    )
