"""Both passes over a scanned table: from batches to blocks and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from bevel._types import Float32s, Floats
from bevel.data.dataset import Encoding
from bevel.scanning.budget import Shares, share_out
from bevel.scanning.encoding import BlockWriter, RowEncoder, learn_encoding
from bevel.scanning.scan import ScannedTable
from bevel.scanning.store import BlockFolder, BlockMemory
from bevel.scanning.survey import Survey, SurveyResult
from bevel.scanning.targets import ClassSurvey, NumberSurvey, WeightSurvey
from bevel.training.blocks.block import Block
from bevel.training.blocks.growing import Blocks
from bevel.training.blocks.local import LocalBlocks
from bevel.training.blocks.table import BlockedTable, sample_size

__all__ = ["ReadTable", "TableBlocks", "known_table", "read_blocks"]


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
    target : ClassSurvey or NumberSurvey
        What is known of the targets.
    shares : Shares
        How memory is shared out.
    """

    blocks: TableBlocks
    table: BlockedTable
    names: tuple[str, ...] | None
    target: ClassSurvey | NumberSurvey
    shares: Shares


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
    """Read a scanned table into blocks, which are removed afterwards.

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
    target: ClassSurvey | NumberSurvey = NumberSurvey() if regression else ClassSurvey()
    keeps_sample = scale not in (None, "minmax", "minmax_clip")
    survey = Survey(categorical_features, target, sample_size, keeps_sample, scale is not None)
    for batch in scanned.source.batches():
        survey.add(batch)
    found = survey.finish()
    encoding = learn_encoding(found, scale)
    p = len(encoding.levels)
    on_disk = scanned.folder is not None
    shares = share_out(scanned.memory, found.n_rows, p, on_disk)
    if scanned.block_rows is not None:
        shares = shares._replace(block_rows=scanned.block_rows)
    of_class = None
    if isinstance(target, ClassSurvey):
        of_class = target.weights_of_classes(class_weight)
    store = BlockMemory() if shares.in_memory else BlockFolder(scanned.folder)
    try:
        encoder = RowEncoder(found, encoding, target, survey.weights, of_class)
        writer = BlockWriter(encoder, store, shares.block_rows)
        for batch in scanned.source.batches():
            writer.add(batch, n_threads)
        encoding, sample = writer.finish(n_threads)
        table = known_table(found, encoding, sample, target, survey.weights, of_class)
        blocks = LocalBlocks(store.loaders(), table.columns, n_threads, not shares.in_memory)
        yield ReadTable(blocks, table, found.names, target, shares)
    finally:
        store.close()


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
