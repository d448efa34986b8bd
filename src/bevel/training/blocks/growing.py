"""Grows a forest over blocks: requests sums, chooses cuts, and has small nodes grown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel.forest.flat_forest import FlatForest
from bevel.training.blocks.block import SmallNode, SubtreeTask
from bevel.training.blocks.table import BlockedTable, rows_to_gather
from bevel.training.options import TrainingOptions
from bevel.training.progress import Progress
from bevel.training.trainer import native_options

__all__ = ["Blocks", "GrownOverBlocks", "Subtree", "WorkSpace", "grow_over_blocks"]


class Subtree(NamedTuple):
    """A node and the arrays of the subtree below it; None for a root without rows."""

    node: SmallNode
    arrays: dict[str, npt.NDArray[Any]] | None


class Blocks(Protocol):
    """All blocks of a table, wherever they are stored."""

    def histograms(self, request: bytes, n_numbers: int) -> npt.NDArray[np.int64]:
        """Sums over the rows of all blocks: the answer to a request, `n_numbers` long."""
        ...

    def subtrees(
        self, request: bytes, nodes: Sequence[SmallNode], task: SubtreeTask
    ) -> Iterator[Subtree]:
        """Subtrees of the nodes of a request, in any order."""
        ...


class GrownOverBlocks(NamedTuple):
    """Trees, and which of them have every row once instead of a bag, which would be empty."""

    forest: FlatForest
    takes_all: npt.NDArray[np.uint8]


class WorkSpace(NamedTuple):
    """Limits on the size of requests; they do not change the forest."""

    numbers: int  # length of an answer
    rows: int  # rows that are gathered


def grow_over_blocks(
    blocks: Blocks,
    table: BlockedTable,
    options: TrainingOptions,
    trees: Sequence[int],
    space: WorkSpace,
    n_threads: int,
    progress: Progress,
) -> GrownOverBlocks:
    """Grow trees on a table in blocks.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    table : BlockedTable
        Encoding, totals and sample of the rows.
    options : TrainingOptions
        How to grow. Families draw directions without looking at rows.
    trees : sequence of int
        Numbers of the trees.
    space : WorkSpace
        Limits on the size of requests.
    n_threads : int
        Threads of the coordinator, which draws candidates and finds edges of bins.
    progress : Progress
        Called with the number of trees that are done.
    """
    grower = _core.BlockGrower(
        native_options(options),
        np.asarray(trees, dtype=np.uint64),
        table.n_rows,
        table.n_classes,
        table.whole_weights,
        table.largest_weight,
        table.low,
        table.high,
        table.sample,
        table.encoding.levels,
        table.encoding.medians,
        rows_to_gather(table.n_rows, table.n_features),
    )
    rest = (native_options(options), grower.gain_unit, options)
    task = SubtreeTask(table.columns, table.n_classes, *rest)
    with progress:
        while grower.n_trees_done < len(trees):  # some trees at a time
            _grow_upper_levels(blocks, grower, space, n_threads)
            _grow_subtrees(blocks, grower, task, space, progress)
        takes_all = np.array([grower.takes_all(tree) for tree in range(len(trees))], dtype=np.uint8)
        arrays = grower.finish()
    forest = FlatForest(
        n_features=table.n_features,
        n_classes=table.n_classes,
        levels=table.encoding.levels,
        medians=table.encoding.medians,
        **arrays,
    )
    return GrownOverBlocks(forest, takes_all)


def _grow_upper_levels(
    blocks: Blocks, grower: _core.BlockGrower, space: WorkSpace, n_threads: int
) -> None:
    while True:
        request, n_numbers = grower.histogram_request(space.numbers, n_threads)
        if not request:
            return
        grower.take_histograms(blocks.histograms(request, n_numbers))


def _grow_subtrees(
    blocks: Blocks,
    grower: _core.BlockGrower,
    task: SubtreeTask,
    space: WorkSpace,
    progress: Progress,
) -> None:
    while True:
        request, described = grower.rows_request(space.rows)
        if not request:
            return
        nodes = [SmallNode(*values) for values in described]
        for node, arrays in blocks.subtrees(request, nodes, task):
            if arrays is None:
                grower.take_all_rows(node.tree)
            else:
                grower.put_subtree(node.tree, node.node, arrays)
            if progress.wanted:
                progress(grower.n_trees_done)
