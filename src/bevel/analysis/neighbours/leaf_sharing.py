"""Leaves that rows share, from which proximities are computed block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.errors import wrong_value
from bevel.forest.bags import check_leaves_rows_out

__all__ = ["KINDS", "NO_LEAF", "LeafTable", "check_kind", "read_leaves", "stack"]

# Kinds of proximity: the trees that count for a row.
KINDS = {"oob": "out of bag", "in_bag": "in bag", "all": "all trees"}
NO_LEAF = -1  # leaf of a row in a tree that does not count for it
# Rows of one call of the core: signals are handled between calls, and dense blocks stay small.
BLOCK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class LeafTable:
    """Rows with their leaves.

    Attributes
    ----------
    analysed : AnalysedForest
        The forest.
    leaves : ndarray of int32, shape (n, n_trees)
        Leaf of each row in each tree; -1 where the tree does not count for the row.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    sharing : LeafSharing
        Rows by leaf.
    """

    analysed: AnalysedForest
    leaves: npt.NDArray[np.int32]
    kind: str
    sharing: _core.LeafSharing

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.leaves)

    @property
    def n_trees(self) -> int:
        """Number of trees of the forest."""
        return int(self.leaves.shape[1])

    def blocks(self, k: int | None = None) -> Iterator[tuple[slice, sp.csr_array]]:
        """Proximities of the table's own rows to all rows, some rows at a time.

        A row has itself, with proximity 1, and the `k` rows nearest to it, or (None) all rows that
        it shares a leaf with.
        """
        return self._answer(self.leaves, 0, k)

    def own(self, k: int | None = None) -> sp.csr_array:
        """Proximities of the table's own rows as one matrix."""
        return stack(self.blocks(k))

    def of_new(
        self, leaves: npt.NDArray[np.int32], k: int | None = None
    ) -> Iterator[tuple[slice, sp.csr_array]]:
        """Proximities of other rows to those of the table, some at a time.

        The leaves are those of rows that no tree has seen, or some of the table's own `leaves`.
        """
        return self._answer(leaves, None, k)

    def indicator(self) -> sp.csr_array:
        """Indicator of the leaves of each row, over the nodes of all trees.

        If Z is this matrix, the proximities by all trees are Z Zᵀ / n_trees.
        """
        nodes = self.leaves + self.analysed.forest.tree_offset[:-1]
        counts = self.leaves != NO_LEAF
        indptr = np.concatenate(([0], np.cumsum(counts.sum(axis=1))))
        shape = (self.n_rows, self.analysed.forest.n_nodes)
        return sp.csr_array((np.ones(int(indptr[-1])), nodes[counts], indptr), shape=shape)

    def _answer(
        self, leaves: npt.NDArray[np.int32], first_own: int | None, k: int | None
    ) -> Iterator[tuple[slice, sp.csr_array]]:
        most = self.n_rows if k is None else min(k, self.n_rows)
        for start in range(0, len(leaves), BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, len(leaves)))
            own = -1 if first_own is None else first_own + start
            indptr, indices, values = self.sharing.nearest(
                leaves[rows], own, most, self.analysed.n_threads
            )
            shape = (rows.stop - rows.start, self.n_rows)
            yield rows, sp.csr_array((values, indices, indptr), shape=shape)


def stack(blocks: Iterator[tuple[slice, sp.csr_array]]) -> sp.csr_array:
    """Join blocks of rows to one matrix."""
    return sp.csr_array(sp.vstack([block for _, block in blocks]))


def read_leaves(analysed: AnalysedForest, X: Any, y: Any, kind: str) -> LeafTable:
    """Leaves of rows for proximities of a kind.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest.
    X : table of shape (n, p)
        Any rows for "all"; the rows of the fit for "oob" and "in_bag".
    y : array-like of shape (n,) or None
        Targets of the fit; ignored for "all".
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    """
    check_kind(kind)
    if analysed.fitted.isolation is not None and kind != "all":
        remedy = 'Write kind="all".'
        raise wrong_value(
            "kind", '"all" with an isolation forest, which has no target', kind, remedy
        )
    if kind == "all":
        leaves = analysed.predictor.leaves(analysed.encode(X), analysed.n_threads)
    else:
        leaves = _leaves_by_bag(analysed, X, y, kind)
    sharing = _core.LeafSharing(leaves, analysed.forest.tree_offset)
    return LeafTable(analysed, leaves, kind, sharing)


def _leaves_by_bag(analysed: AnalysedForest, X: Any, y: Any, kind: str) -> npt.NDArray[np.int32]:
    if y is None:
        raise ValueError(
            f"{analysed.caller} with kind={kind!r} needs X and y of the fit, to draw its bags "
            'again; got y=None. Pass y, or kind="all", which takes any rows.'
        )
    rows = analysed.training_rows(X, y)
    if kind == "oob":
        check_leaves_rows_out(rows.bags)
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    leaves[rows.out != (kind == "oob")] = NO_LEAF
    return leaves


def check_kind(kind: object) -> None:
    """Raise for unknown kinds of proximity."""
    if not isinstance(kind, str) or kind not in KINDS:
        required = '"oob", "in_bag" or "all"'
        raise wrong_value("kind", required, kind, 'Write for example kind="oob".')
