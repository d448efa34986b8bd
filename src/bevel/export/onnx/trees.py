"""Finds leaves by the standard tree operator, on columns of all comparisons of the splits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Ints64
from bevel.export.onnx.columns import ColumnBlock, count_products
from bevel.export.onnx.graph import ML_DOMAIN, Graph
from bevel.export.onnx.splits import LEVELS, DirectionLists, RightSets, Splits, Terms

__all__ = ["TreesRoute"]

# Largest whole numbers that float32 holds exactly, in which the operator returns the leaf.
MOST_LEAVES = 2**24
# Nanoseconds of an added product, of one in a matrix product, of a column and of a tree:
# rough estimates from a few forests on one busy machine. They only choose a route.
ADDED_NS, MATRIX_NS, COLUMN_NS, TREE_NS = 2.7, 0.1, 2.0, 80.0
# Bytes of a node in the model, mostly the name of its operator.
NODE_BYTES = 48


@dataclass(frozen=True, eq=False)
class TreesRoute:
    """Columns of all distinct comparisons of a forest, and trees that read one at each split.

    Attributes
    ----------
    splits : Splits
        The splits of the forest.
    terms, lists, bitsets : Terms, DirectionLists and RightSets
        Distinct comparisons of single columns, of combinations and of levels.
    column : ndarray of shape (n_splits,)
        Column that each split reads, counted within its kind.
    """

    splits: Splits
    terms: Terms
    lists: DirectionLists
    bitsets: RightSets
    column: Ints64

    @classmethod
    def of(cls, splits: Splits) -> TreesRoute:
        """Find the distinct comparisons of a forest."""
        column = np.empty(len(splits), np.int64)
        single, combined, levels = _kinds(splits)
        terms, column[single], _ = splits.terms(single, weighted=False)
        lists = splits.directions.chosen(combined)
        sample, column[combined] = lists.distinct()
        bitsets, column[levels] = splits.bitsets().distinct()
        return cls(splits, terms, lists.chosen(sample), bitsets, column)

    @property
    def n_columns(self) -> int:
        """Number of distinct comparisons."""
        return len(self.terms) + len(self.lists.length) + len(self.bitsets)

    @cached_property
    def _n_added(self) -> tuple[int, int]:
        return count_products(self.lists)

    @property
    def n_numbers(self) -> int:
        """Numbers held for a row, besides its features and axes."""
        return 2 * (self._n_added[0] + self.n_columns + self.splits.forest.n_trees)

    @property
    def cost(self) -> float:
        """Estimated nanoseconds for a row of a large batch, without those for axes."""
        added, in_matrices = self._n_added
        columns = ADDED_NS * added + MATRIX_NS * in_matrices + COLUMN_NS * self.n_columns
        return columns + TREE_NS * self.splits.forest.n_trees

    def can_encode(self, leaf_id: npt.NDArray[np.int64]) -> bool:
        """Whether the float32 output of the operator distinguishes all leaves of a tree."""
        right, offset = self.splits.forest.right, self.splits.forest.tree_offset
        last = leaf_id[offset[1:] - 1]  # the last node in preorder is a leaf
        return bool((last - leaf_id[_first_leaves(right, offset[:-1])]).max() < MOST_LEAVES)

    def write(self, graph: Graph, rows: str, leaf_id: npt.NDArray[np.int64]) -> str:
        """Leaf that each row of a block reaches in each tree: trees x rows, int32.

        Parameters
        ----------
        graph : Graph
            Graph to write to.
        rows : str
            The block, rows x features.
        leaf_id : ndarray of shape (n_nodes,)
            Identifier of each leaf, ascending.
        """
        forest = self.splits.forest
        columns, line = self._columns(ColumnBlock(graph, rows, self.splits))
        roots = forest.tree_offset[:-1]
        first_leaf = leaf_id[_first_leaves(forest.right, roots)]
        found = self._operator(graph, columns, line, leaf_id, first_leaf)
        found = graph.cast(graph.add("Transpose", found, perm=[1, 0]), np.int32)
        return graph.add("Add", found, graph.constant(first_leaf[:, None], np.int32))

    def _columns(self, block: ColumnBlock) -> tuple[str, Ints64]:
        """All comparisons of a block, rows x columns, and the column of each split."""
        graph = block.graph
        single, combined, levels = _kinds(self.splits)
        line, parts, n_before = self.column.copy(), [], 0
        if len(single):
            parts.append(block.terms(self.terms))
            n_before += len(self.terms)
        if len(combined):
            values, order = block.directions(self.lists)
            parts.append(values)
            line[combined] = order[line[combined]] + n_before
            n_before += len(order)
        if len(levels):
            parts.append(block.bits(self.bitsets))
            line[levels] += n_before
        whole = graph.add("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]
        return graph.add("Transpose", whole, perm=[1, 0]), line

    def _operator(
        self,
        graph: Graph,
        columns: str,
        line: Ints64,
        leaf_id: npt.NDArray[np.int64],
        first_leaf: npt.NDArray[np.int64],
    ) -> str:
        """The tree operator; tree t writes the number of its leaf, from zero, to target t."""
        forest = self.splits.forest
        graph.weigh(NODE_BYTES * forest.n_nodes)
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offset))
        number = np.arange(forest.n_nodes) - forest.tree_offset[tree]
        leaf = forest.right < 0
        column = np.zeros(forest.n_nodes, np.int64)
        column[self.splits.node] = line
        threshold = np.zeros(forest.n_nodes, np.float32)
        threshold[self.splits.node] = self.splits.threshold
        return graph.add(
            "TreeEnsembleRegressor",
            columns,
            domain=ML_DOMAIN,
            n_targets=forest.n_trees,
            nodes_treeids=tree.tolist(),
            nodes_nodeids=number.tolist(),
            nodes_featureids=column.tolist(),
            nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
            nodes_values=threshold.tolist(),
            nodes_truenodeids=np.where(leaf, 0, number + 1).tolist(),
            nodes_falsenodeids=np.where(leaf, 0, forest.right).tolist(),
            **self._tracks(),
            target_treeids=tree[leaf].tolist(),
            target_nodeids=number[leaf].tolist(),
            target_ids=tree[leaf].tolist(),
            target_weights=(leaf_id - first_leaf[tree])[leaf].astype(np.float32).tolist(),
        )

    def _tracks(self) -> dict[str, Any]:
        """Attributes for the side of sums that are NaN; empty if there are none."""
        if not self.splits.may_overflow:
            return {}
        to_left = np.zeros(self.splits.forest.n_nodes, np.int64)
        to_left[self.splits.node] = self.splits.missing_left
        return {"nodes_missing_value_tracks_true": to_left.tolist()}


def _kinds(splits: Splits) -> tuple[Ints64, Ints64, Ints64]:
    """Positions of splits on single columns, on combinations and by levels."""
    levels = splits.kind == LEVELS
    alone = splits.directions.length == 1
    return (
        np.flatnonzero(alone & ~levels),
        np.flatnonzero(~alone),
        np.flatnonzero(levels),
    )


def _first_leaves(
    right: npt.NDArray[np.int32], roots: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The first leaf of each tree in preorder, at the end of its leftmost path."""
    leaves = np.flatnonzero(right < 0)
    return leaves[np.searchsorted(leaves, roots)]
