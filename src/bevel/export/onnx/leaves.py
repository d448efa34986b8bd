"""Sends rows to their leaves block by block, so that memory does not grow with the batch size.

There are two routes to a leaf. Tree operators on columns are fast where the splits of a forest
share few comparisons: single features, axes of rotations, signed sums of few features. The walk
computes the comparison of each node on arrival, which is less where nodes share no directions.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from bevel.export.onnx.columns import count_products
from bevel.export.onnx.graph import Graph
from bevel.export.onnx.splits import Splits
from bevel.export.onnx.trees import TreesRoute
from bevel.export.onnx.votes import Votes
from bevel.export.onnx.walk import WalkRoute
from bevel.forest.flat_forest import FlatForest

__all__ = ["Route", "write_sums"]

Route = Literal["auto", "trees", "walk"]

# Numbers that a block may hold at a time, 8 to 16 MB.
BLOCK_SIZE = 2**21
# For single rows, trees took a seventh to a half of the time of a walk where both were equal in
# batches, so they may be somewhat slower in batches.
TREES_FAVOUR = 1.25
# onnxruntime reads trees of a model by recursion: trees of about 10 000 levels end
# the process with a stack of 8 MB, trees of about 800 with 512 kB.
MOST_LEVELS = 200


class Way(Protocol):
    """A route, prepared for one forest."""

    @property
    def n_numbers(self) -> int:
        """Numbers held for a row, besides its features and axes."""
        ...

    @property
    def cost(self) -> float:
        """Estimated nanoseconds for a row of a large batch, without those for axes."""
        ...

    def write(self, graph: Graph, rows: str, leaf_id: npt.NDArray[np.int64]) -> str:
        """Leaf that each row of a block reaches in each tree: trees x rows, int32."""
        ...


def write_sums(graph: Graph, rows: str, forest: FlatForest, votes: Votes, route: Route) -> str:
    """Sums over trees of predictions of leaves: rows x outputs, float64.

    Parameters
    ----------
    graph : Graph
        Graph to write to.
    rows : str
        Rows x features, float32.
    forest : FlatForest
        The trees.
    votes : Votes
        Predictions of the leaves.
    route : {"auto", "trees", "walk"}
        Route to the leaves.
    """
    way = _choose(forest, votes, route)
    n_numbers = way.n_numbers + votes.n_numbers(forest.n_trees) + _n_columns(forest)
    n_block = max(1, BLOCK_SIZE // n_numbers)
    n_rows = graph.length(rows)
    most = graph.integers(n_block - 1)
    n_blocks = graph.add("Div", graph.add("Add", n_rows, most), graph.integers(n_block))
    n_blocks = graph.add("Max", n_blocks, graph.integers(1))
    filled = graph.add("Sub", graph.add("Add", n_rows, n_blocks), graph.integers(1))
    height = graph.scalar(graph.add("Div", filled, n_blocks))
    last_row = graph.add("Sub", n_rows, graph.integers(1))

    def block(inner: Graph, number: str, _: list[str]) -> tuple[str, list[str], list[str]]:
        first = inner.add("Mul", number, height)
        end = inner.add("Add", first, height)
        chosen = inner.add("Range", first, end, inner.constant(1, np.int64))
        chosen = inner.add("Min", chosen, last_row)  # the last block is padded by the last row
        some = inner.add("Gather", rows, chosen, axis=0)
        leaves = way.write(inner, some, votes.leaf_id)
        return inner.constant(True), [], [votes.write(inner, leaves)]

    (sums,) = graph.loop(graph.scalar(n_blocks), [], block, [np.float64])
    sums = graph.reshape(sums, -1, votes.n_outputs)
    return graph.add("Slice", sums, graph.integers(0), n_rows, graph.integers(0))


class RootsRoute:
    """Route of trees without splits, whose rows are at their leaf."""

    cost = 0.0

    def __init__(self, forest: FlatForest) -> None:
        self.forest = forest
        self.n_numbers = forest.n_trees

    def write(self, graph: Graph, rows: str, leaf_id: npt.NDArray[np.int64]) -> str:
        roots = graph.constant(leaf_id[self.forest.tree_offset[:-1], None], np.int32)
        count = graph.add("Concat", graph.integers(1), graph.length(rows), axis=0)
        return graph.add("Expand", roots, count)


def _choose(forest: FlatForest, votes: Votes, route: Route) -> Way:
    splits = Splits(forest)
    if len(splits) == 0:
        return RootsRoute(forest)
    if route == "walk":
        return WalkRoute.of(splits)
    is_deep = int(forest.depth.max()) > MOST_LEVELS
    if route == "trees":
        _refuse_deep(forest, is_deep)
        return TreesRoute.of(splits)
    if is_deep:
        return WalkRoute.of(splits)
    trees = TreesRoute.of(splits)
    walk = WalkRoute.of(splits)
    is_fast = trees.cost <= TREES_FAVOUR * walk.cost
    return trees if is_fast and trees.can_encode(votes.leaf_id) else walk


def _refuse_deep(forest: FlatForest, is_deep: bool) -> None:
    if is_deep:
        required = f'"auto" or "walk" for trees of more than {MOST_LEVELS} levels'
        n_levels = int(forest.depth.max())
        got = f'"trees" for one of {n_levels}, which ends the process that reads the model'
        raise ValueError(f"route must be {required}; got {got}. Leave it out.")


def _n_columns(forest: FlatForest) -> int:
    """Numbers held for the features and axes of a row, while axes are added up."""
    added, _ = count_products(Splits(forest).axes)
    return 2 * (forest.n_features + added + int(forest.rotation_offset[-1]))
