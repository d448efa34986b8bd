"""Both passes over a scanned table: from batches to blocks and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bevel._types import Floats
from bevel.scanning.budget import Shares, share_out
from bevel.scanning.encoding import BlockWriter, learn_encoding
from bevel.scanning.kept import EncodedTable, folder_name, load_table, save_table
from bevel.scanning.scan import ScannedTable
from bevel.scanning.store import BlockFolder, BlockMemory, BlockStore
from bevel.scanning.survey import Survey, SurveyResult
from bevel.scanning.targets import ClassSurvey, NumberSurvey, TargetSurvey
from bevel.training.blocks.local import LocalBlocks
from bevel.training.blocks.table import BlockedTable, sample_size

__all__ = ["ReadSettings", "ReadTable", "read_blocks"]


class ReadSettings(NamedTuple):
    """How a table is read.

    Attributes
    ----------
    regression : bool
        Whether targets are numbers, else labels.
    categorical_features, scale, class_weight
        As given to the estimator.
    """

    regression: bool
    categorical_features: Any
    scale: str | None
    class_weight: Any


class ReadTable(NamedTuple):
    """A table in blocks, ready for growth.

    Attributes
    ----------
    blocks : LocalBlocks
        The rows.
    encoded : EncodedTable
        What is known of them.
    shares : Shares
        How memory is shared out.
    """

    blocks: LocalBlocks
    encoded: EncodedTable
    shares: Shares


@contextmanager
def read_blocks(
    scanned: ScannedTable, settings: ReadSettings, n_threads: int
) -> Iterator[ReadTable]:
    """Read a scanned table into blocks, which are removed afterwards unless they are kept.

    Parameters
    ----------
    scanned : ScannedTable
        From `scan`.
    settings : ReadSettings
        How it is read.
    n_threads : int
        Threads to use.
    """
    name = _name_to_keep(scanned, settings)
    store, encoded = _open_kept(scanned, name)
    if store is None or encoded is None:
        store, encoded = _read_twice(scanned, settings, name, n_threads)
    try:
        shares = _shares(scanned, encoded.table.n_rows, encoded.table.n_features)
        read_ahead = isinstance(store, BlockFolder)
        blocks = LocalBlocks(store.loaders(), encoded.table.columns, n_threads, read_ahead)
        yield ReadTable(blocks, encoded, shares)
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
    keeps_sample = scale not in (None, "minmax", "minmax_clip")
    scaled = scale is not None
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
        rest = (target, survey.weights, of_class, store, shares.block_rows)
        writer = BlockWriter(found, encoding, *rest)
        for batch in scanned.source.batches():
            writer.add(batch, n_threads)
        encoding, sample = writer.finish(n_threads)
        whole, largest = _weights(survey, of_class, found)
        low, high = _range(target)
        totals = (target.n_classes, whole, largest, low, high)
        table = BlockedTable(found.n_rows, encoding, found.has_nan, sample, *totals)
        classes = target.classes if isinstance(target, ClassSurvey) else None
        encoded = EncodedTable(table, found.names, classes)
        if name is not None and isinstance(store, BlockFolder) and save_table(store.path, encoded):
            store.keep(name)
    except BaseException:
        store.close()
        raise
    return store, encoded


def _weights(survey: Survey, of_class: Floats | None, found: SurveyResult) -> tuple[bool, float]:
    """Whether all weights are small whole numbers, and a bound of the largest."""
    largest = survey.weights.largest * (1.0 if of_class is None else float(of_class.max()))
    whole = of_class is None or bool((of_class % 1.0 == 0.0).all())
    return whole and survey.weights.is_whole(found.n_rows, largest), largest


def _range(target: TargetSurvey) -> tuple[float, float]:
    if isinstance(target, NumberSurvey):
        return target.low, target.high
    return 0.0, 0.0
