"""A block of rows and its pure functions, arrays in and arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel import _core
from bevel._types import Float32s, Floats
from bevel.training.options import TrainingOptions

__all__ = [
    "Block",
    "Columns",
    "NodeRows",
    "SmallNode",
    "SubtreeTask",
    "add_histograms",
    "grow_subtree",
    "join_rows",
    "rows_of_nodes",
]


class Columns(NamedTuple):
    """Properties of the columns that all blocks share.

    Attributes
    ----------
    levels : ndarray of int32, shape (p,)
        Number of levels of each column, 0 for numeric ones.
    medians : ndarray of float32, shape (p,)
        Values that replace missing ones where features are combined.
    has_nan : ndarray of uint8, shape (p,)
        1 for numeric columns with missing values, in any block.
    """

    levels: npt.NDArray[np.int32]
    medians: Float32s
    has_nan: npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Block:
    """Neighbouring rows of a table.

    Attributes
    ----------
    X : ndarray of float32, shape (n, p), Fortran order
        Encoded rows.
    target : ndarray of shape (n,)
        int32 classes, or float64 targets of a regression.
    weights : ndarray of float64, shape (n,), or None
        Weights of the rows; None when all are one.
    first_row : int
        Number of the first row in the table.
    """

    X: Float32s
    target: npt.NDArray[Any]
    weights: Floats | None
    first_row: int


class SmallNode(NamedTuple):
    """A node whose rows are gathered."""

    tree: int  # index in the grower
    node: int
    tree_number: int
    key: int  # identifies the node for random streams
    depth: int
    n_rows: int  # upper bound
    tree_weight: float  # of all rows of its tree; 0: the node is the root


class SubtreeTask(NamedTuple):
    """Arguments of the growth of a subtree besides its rows."""

    columns: Columns
    n_classes: int  # 0: regression
    options: _core.Options
    gain_unit: float
    settings: TrainingOptions  # source of the options, which can be pickled


class NodeRows(NamedTuple):
    """Rows of one node.

    Attributes
    ----------
    X : ndarray of float32, shape (p, n), C order
        Columns of the rows.
    target, weights
        Targets and weights as in a block.
    draws : ndarray of int32
        How often each row is in the bag of the tree.
    """

    X: Float32s
    target: npt.NDArray[Any]
    weights: Floats | None
    draws: npt.NDArray[np.int32]


def add_histograms(
    block: Block, columns: Columns, request: bytes, cells: npt.NDArray[np.int64], n_threads: int
) -> None:
    """Add the histograms of a block, for the nodes and candidates of a request, to `cells`."""
    _core.add_block_histograms(*_native(block, columns), request, cells, n_threads)


def rows_of_nodes(
    block: Block, columns: Columns, request: bytes, n_nodes: int, n_threads: int
) -> list[NodeRows]:
    """Rows of a block that are in the nodes of a request, for each of them."""
    native = _native(block, columns)
    offset, row, draws = _core.find_block_rows(*native, request, n_nodes, n_threads)
    by_columns = block.X.T
    parts = []
    for node in range(n_nodes):
        chosen = slice(int(offset[node]), int(offset[node + 1]))
        rows = row[chosen]
        weights = None if block.weights is None else block.weights[rows]
        X = np.take(by_columns, rows, axis=1)
        parts.append(NodeRows(X, block.target[rows], weights, draws[chosen].copy()))
    return parts


def join_rows(parts: Sequence[NodeRows]) -> NodeRows:
    """Rows of one node, from the parts of all blocks in the order of the blocks."""
    weights = [part.weights for part in parts if part.weights is not None]
    return NodeRows(
        np.concatenate([part.X for part in parts], axis=1),
        np.concatenate([part.target for part in parts]),
        np.concatenate(weights) if weights else None,
        np.concatenate([part.draws for part in parts]),
    )


def grow_subtree(
    rows: NodeRows, node: SmallNode, task: SubtreeTask, n_threads: int = 1
) -> dict[str, npt.NDArray[Any]] | None:
    """Arrays of the subtree below a node; None for a root whose bag is empty."""
    if len(rows.target) == 0:
        return None
    levels, medians, has_nan = task.columns
    return _core.grow_block_subtree(
        rows.X.T,
        levels,
        medians,
        has_nan,
        rows.target,
        task.n_classes,
        rows.weights,
        rows.draws,
        task.options,
        node.tree_number,
        node.key,
        node.depth,
        node.tree_weight,
        task.gain_unit,
        n_threads,
    )


def _native(block: Block, columns: Columns) -> tuple[Any, Any, Any, Any, Any, int]:
    levels, medians, _ = columns
    return block.X, levels, medians, block.target, block.weights, block.first_row
