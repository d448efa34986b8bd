"""Both passes over a scanned table: from batches to blocks and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from bevel._types import Float32s, Floats
from bevel.data.dataset import Encoding
from bevel.data.row_weights import LARGEST_WEIGHT, SMALLEST_WEIGHT
from bevel.scanning.budget import Shares, share_out
from bevel.scanning.encoding import BlockWriter, RowEncoder, learn_encoding
from bevel.scanning.kept import EncodedTable, folder_name, load_table, save_table
from bevel.scanning.scan import ScannedTable
from bevel.scanning.store import BlockFolder, BlockMemory, BlockStore
from bevel.scanning.survey import Survey, SurveyResult
from bevel.scanning.targets import ClassSurvey, NumberSurvey, WeightSurvey
from bevel.training.blocks.block import Block
from bevel.training.blocks.growing import Blocks
from bevel.training.blocks.local import LocalBlocks
from bevel.training.blocks.table import BlockedTable, sample_size

__all__ = ["ReadTable", "TableBlocks", "classes_of", "known_table", "read_blocks"]


class TableBlocks(Blocks, Protocol):
    """The blocks of a table, which can also be looked at one by one."""

    def blocks(self) -> Iterator[Block]:
        """All blocks, in the order of the rows."""
        ...


class ReadTable(NamedTuple):
    """A table in blocks, ready for growth.

    Attributes
    ----------
    blocks : TableBlocks
        The rows.
    table : BlockedTable
        What is known of them.
    names : tuple of str or None
        Names of the columns.
    classes : ndarray or None
        Labels of the classes; None in regression.
    shares : Shares
        How memory is shared out.
    """

    blocks: TableBlocks
    table: BlockedTable
    names: tuple[str, ...] | None
    classes: npt.NDArray[Any] | None
    shares: Shares


class ReadSettings(NamedTuple):
    """What decides how rows are encoded, as given to the estimator."""

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
) -> Iterator[ReadTable]:
    """Read a scanned table into blocks, which are removed afterwards unless they are kept.

    Parameters
    ----------
    scanned : ScannedTable
        From `scan`.
    regression : bool
        Whether targets are numbers, else labels.
    categorical_features, scale, class_weight
        As given to the estimator.
    n_threads : int
        Threads to use.
    """
    settings = ReadSettings(regression, categorical_features, scale, class_weight)
    name = _name_to_keep(scanned, settings)
    store, encoded = _open_kept(scanned, name)
    if store is None or encoded is None:
        store, encoded = _read_twice(scanned, settings, name, n_threads)
    try:
        table, names, classes = encoded
        shares = _shares(scanned, table.n_rows, table.n_features)
        read_ahead = isinstance(store, BlockFolder)
        blocks = LocalBlocks(store.loaders(), table.columns, n_threads, read_ahead)
        yield ReadTable(blocks, table, names, classes, shares)
    finally:
        store.close()


def _name_to_keep(scanned: ScannedTable, settings: ReadSettings) -> str | None:
    """Name of the folder in which the encoded rows are kept; None: they are not."""
    source = scanned.source.fingerprint()
    if scanned.folder is None or source is None:
        return None
    return folder_name(source, *settings, scanned.block_rows)


def _open_kept(
    scanned: ScannedTable, name: str | None
) -> tuple[BlockStore | None, EncodedTable | None]:
    if name is None or scanned.folder is None:
        return None, None
    path = Path(scanned.folder) / name
    store = BlockFolder.open(path)
    if store is None:
        return None, None
    try:
        return store, load_table(path)
    except (OSError, ValueError, KeyError, TypeError):
        return None, None


def _shares(scanned: ScannedTable, n_rows: int, n_features: int) -> Shares:
    shares = share_out(scanned.memory, n_rows, n_features, scanned.folder is not None)
    if scanned.block_rows is not None:
        shares = shares._replace(block_rows=scanned.block_rows)
    return shares


def _read_twice(
    scanned: ScannedTable, settings: ReadSettings, name: str | None, n_threads: int
) -> tuple[BlockStore, EncodedTable]:
    target: ClassSurvey | NumberSurvey = NumberSurvey() if settings.regression else ClassSurvey()
    scale = settings.scale
    keeps_sample, scaled = scale not in (None, "minmax", "minmax_clip"), scale is not None
    survey = Survey(settings.categorical_features, target, sample_size, keeps_sample, scaled)
    for batch in scanned.source.batches():
        survey.add(batch)
    found = survey.finish()
    of_class = None
    if isinstance(target, ClassSurvey):
        of_class = target.weights_of_classes(settings.class_weight)
    encoding = learn_encoding(found, scale)
    shares = _shares(scanned, found.n_rows, len(encoding.levels))
    store = BlockMemory() if shares.in_memory else BlockFolder(scanned.folder)
    try:
        encoder = RowEncoder(found, encoding, target, survey.weights, of_class)
        writer = BlockWriter(encoder, store, shares.block_rows)
        for batch in scanned.source.batches():
            writer.add(batch, n_threads)
        encoding, sample = writer.finish(n_threads)
        table = known_table(found, encoding, sample, target, survey.weights, of_class)
        encoded = EncodedTable(table, found.names, classes_of(target))
        if name is not None and isinstance(store, BlockFolder) and save_table(store.path, encoded):
            store.keep(name)
    except BaseException:
        store.close()
        raise
    return store, encoded


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
    """What the coordinator knows of a table that has been surveyed and encoded."""
    largest = weights.largest * (1.0 if of_class is None else float(of_class.max()))
    if not SMALLEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise ValueError(
            "Weights of the rows times class_weight must have a largest one from "
            f"{SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}; got {largest:g}. Divide one of them by "
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
