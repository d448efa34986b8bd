"""Blocks of one machine: in memory, or read one after the other from files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from bevel.training.blocks.block import (
    Block,
    Columns,
    NodeRows,
    SmallNode,
    SubtreeTask,
    add_histograms,
    grow_subtree,
    join_rows,
    rows_of_nodes,
)
from bevel.training.blocks.growing import Subtree
from bevel.training.jobs import run_jobs
from bevel.training.progress import Progress

__all__ = ["LocalBlocks"]


class LocalBlocks:
    """Blocks that this process loads when it needs them.

    Parameters
    ----------
    loaders : sequence of callable
        Callables that return a block each, in the order of the rows.
    columns : Columns
        Properties of the columns that the blocks share.
    n_threads : int
        Threads to use.
    read_ahead : bool
        Whether the next block is loaded while one is processed.
    """

    def __init__(
        self,
        loaders: Sequence[Callable[[], Block]],
        columns: Columns,
        n_threads: int,
        read_ahead: bool,
    ) -> None:
        self._loaders = loaders
        self._columns = columns
        self._n_threads = n_threads
        self._read_ahead = read_ahead

    def histograms(self, request: bytes, n_numbers: int) -> npt.NDArray[np.int64]:
        """Sums over the rows of all blocks."""
        cells = np.zeros(n_numbers, dtype=np.int64)
        for block in self.blocks():
            add_histograms(block, self._columns, request, cells, self._n_threads)
        return cells

    def subtrees(
        self, request: bytes, nodes: Sequence[SmallNode], task: SubtreeTask
    ) -> Iterator[Subtree]:
        """Subtrees of the nodes of a request, those of many rows first."""
        parts: list[list[NodeRows]] = [[] for _ in nodes]
        for block in self.blocks():
            found = rows_of_nodes(block, self._columns, request, len(nodes), self._n_threads)
            for node, rows in enumerate(found):
                parts[node].append(rows)
        order = sorted(range(len(nodes)), key=lambda node: -nodes[node].n_rows)

        def grow(node: int) -> Subtree:
            rows = join_rows(parts[node])
            parts[node] = []
            # A single node gets all threads; several get one each.
            n_threads = self._n_threads if len(nodes) == 1 else 1
            return Subtree(nodes[node], grow_subtree(rows, nodes[node], task, n_threads))

        yield from run_jobs(grow, order, self._n_threads, Progress(0, len(order), False, None))

    def blocks(self) -> Iterator[Block]:
        """All blocks, in the order of the rows."""
        if not self._read_ahead:
            yield from (load() for load in self._loaders)
            return
        with ThreadPoolExecutor(1) as reader:
            waiting = reader.submit(self._loaders[0])
            for load in self._loaders[1:]:
                block = waiting.result()
                waiting = reader.submit(load)
                yield block
            yield waiting.result()
