"""Tasks of workers in a fit over blocks: each worker has the blocks of its own partitions.

The survey of the table goes from part to part; all other tasks treat each part by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s
from bevel.dask.parts import join_parts
from bevel.dask.tasks import cancellable, worker_threads
from bevel.data.masks import fill_masked
from bevel.scanning.batches import Batch
from bevel.scanning.encoding import RowEncoder
from bevel.scanning.survey import Survey
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
from bevel.training.options import TrainingOptions
from bevel.training.trainer import native_options

__all__ = [
    "Pieces",
    "SentTask",
    "add_up",
    "encode_part",
    "gather_rows",
    "grow_subtrees",
    "histograms_of",
    "sample_of",
    "slice_rows",
    "survey_part",
]

# Rows of blocks for each node of a bundle, with the numbers of the blocks.
Pieces = Mapping[int, Sequence[tuple[int, NodeRows]]]


class SentTask(NamedTuple):
    """A `SubtreeTask` that can be sent to a worker."""

    columns: Columns
    n_classes: int
    options: TrainingOptions
    gain_unit: float

    def native(self) -> SubtreeTask:
        """The task in the form that blocks use."""
        native = native_options(self.options)
        return SubtreeTask(self.columns, self.n_classes, native, self.gain_unit, self.options)


def slice_rows(parts: Sequence[Any], start: int, stop: int) -> Any:
    """Rows of neighbouring parts of a column, counted from the first row of the first part."""
    column = join_parts(parts)
    return column.iloc[start:stop] if hasattr(column, "iloc") else column[start:stop]


def survey_part(survey: Survey, X: Any, y: Any, sample_weight: Any) -> Survey:
    """Survey of all rows up to and including this part."""
    if X.shape[0] == 0:
        return survey
    survey = copy.deepcopy(survey)  # tasks must not change their arguments
    survey.add(Batch(X, _array(y), _array(sample_weight)))
    return survey


def encode_part(
    encoder: RowEncoder, X: Any, y: Any, sample_weight: Any, first_row: int
) -> Block | None:
    """Encode a part as a block; None if it has no rows."""
    if X.shape[0] == 0:
        return None
    batch = Batch(X, _array(y), _array(sample_weight))
    return encoder.encode(batch, first_row, worker_threads())


def _array(values: Any) -> Any:
    return None if values is None else np.asarray(fill_masked(values))


def sample_of(block: Block | None, rows: npt.NDArray[np.int64]) -> Float32s | None:
    """Rows of a block that are in the sample; None if the block has no rows."""
    if block is None:
        return None
    start, stop = np.searchsorted(rows, [block.first_row, block.first_row + len(block.target)])
    return np.asarray(block.X[rows[start:stop] - block.first_row])


def histograms_of(
    blocks: Sequence[Block], columns: Columns, request: npt.NDArray[np.uint8], n_numbers: int
) -> npt.NDArray[np.int64]:
    """Histograms of some blocks for a request."""
    cells = np.zeros(n_numbers, dtype=np.int64)
    content, n_threads = request.tobytes(), worker_threads()

    def add() -> None:
        for block in blocks:
            add_histograms(block, columns, content, cells, n_threads)

    cancellable(add)
    return cells


def add_up(answers: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Sum of several histograms."""
    total = answers[0].copy()
    for answer in answers[1:]:
        total += answer
    return total


def gather_rows(
    blocks: Sequence[Block],
    numbers: Sequence[int],
    columns: Columns,
    request: npt.NDArray[np.uint8],
    bundles: Sequence[Sequence[int]],
) -> list[Pieces]:
    """Rows of some blocks in the nodes of a request, for each bundle of nodes.

    Parameters
    ----------
    blocks : sequence of Block
        Blocks to read.
    numbers : sequence of int
        Numbers of the blocks in the order of the rows.
    columns : Columns
        Properties of the columns that the blocks share.
    request : ndarray of uint8
        Request that names the nodes.
    bundles : sequence of sequences of int
        Nodes that are grown together, by their positions in the request.
    """
    n_nodes, n_threads = sum(map(len, bundles)), worker_threads()
    content = request.tobytes()
    found = cancellable(
        lambda: [rows_of_nodes(each, columns, content, n_nodes, n_threads) for each in blocks]
    )
    return [
        {
            node: [(number, rows[node]) for number, rows in zip(numbers, found, strict=True)]
            for node in bundle
        }
        for bundle in bundles
    ]


def grow_subtrees(
    pieces: Sequence[Pieces], nodes: Mapping[int, SmallNode], task: SentTask
) -> list[Subtree]:
    """Subtrees of the nodes of a bundle, from the pieces of all workers."""
    native, grown = task.native(), []
    for place, node in nodes.items():
        parts = sorted((part for piece in pieces for part in piece[place]), key=lambda p: p[0])
        rows = join_rows([rows for _, rows in parts])
        grown.append(Subtree(node, cancellable(lambda: grow_subtree(rows, node, native))))  # noqa: B023
    return grown
