"""Proximity: the share of trees in which two rows are in the same leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.checks import check_count
from bevel.analysis.neighbours.leaf_sharing import KINDS, NO_LEAF, LeafTable, read_leaves
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame

__all__ = ["Proximity", "proximity"]

LARGEST_DENSE = 20_000  # rows: 3 GiB


@dataclass(frozen=True, eq=False, repr=False)
class Proximity(PrintedResult):
    """Proximities of rows, from `proximity`.

    Attributes
    ----------
    matrix : ndarray or csr_array of float64, shape (n, n)
        Proximity of each pair, from 0 to 1; symmetric, with a diagonal of ones. Sparse if `k` was
        given.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    k : int or None
        Number of nearest rows kept of each row; None: all.
    n_trees : int
        Number of trees of the forest.
    n_pairs_without_tree : int or None
        Number of pairs of rows that no tree counts for, whose unknown proximity is set to 0. None
        if `k` was given.
    """

    matrix: npt.NDArray[np.float64] | sp.csr_array
    kind: str
    k: int | None
    n_trees: int
    n_pairs_without_tree: int | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def to_pandas(self) -> Any:
        """A line for each pair of different rows that share a leaf: row, other, proximity."""
        upper = sp.triu(sp.coo_matrix(self.matrix), k=1, format="csr").tocoo()
        return data_frame({"row": upper.row, "other": upper.col, "proximity": upper.data})

    def _printed(self) -> PrintedTable:
        n = self.n_rows
        kept = "all pairs" if self.k is None else f"{self.k} nearest of each"
        matrix = self.matrix
        stored = np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.nnz
        pairs = (stored - n) // 2
        mean = (self.matrix.sum() - n) / max(1, n * (n - 1))
        title = f"Proximity of {n} rows in {self.n_trees} trees, {KINDS[self.kind]}, {kept}"
        lines = [("pairs that share a leaf", str(pairs)), ("mean over all pairs", f"{mean:.4f}")]
        if self.n_pairs_without_tree is not None:
            lines.append(("pairs without a tree", str(self.n_pairs_without_tree)))
        return PrintedTable(title, (), lines)


def proximity(
    forest: object, X: Any, y: Any = None, *, kind: str = "oob", k: int | None = None
) -> Proximity:
    """Share of trees in which two rows end up in the same leaf, for every pair of rows.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted classifier or regressor, which may be slim.
    X : array, data frame or sparse matrix of shape (n_rows, n_features)
        Rows to compare. For "oob" and "in_bag" those of the fit, in their order.
    y : array-like of shape (n_rows,), default=None
        Targets of the fit; ignored for "all".
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row: those that have not seen it, those that have, or all of them. A
        pair is evaluated by the trees that count for both.
    k : int, default=None
        Keep, in a sparse matrix, the pairs in which one row is among the `k` nearest of the other;
        ties go to the first rows. ``k=n_rows`` keeps all pairs that share a leaf. None makes a
        dense matrix, of at most 20 000 rows.

    Returns
    -------
    Proximity
        The matrix, symmetric with a unit diagonal.

    Notes
    -----
    Trees count equally, and so do rows, regardless of their weights. No dense n × n matrix is made
    if `k` is given: rows are compared through their leaves, which takes time in proportion to the
    sum of squares of the leaf sizes.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import proximity
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> proximity(forest, X, y).matrix[:2, :2].diagonal()
    array([1., 1.])
    """
    analysed = read_forest(forest, "proximity", leaves_only=True, several_outputs=True)
    n_nearest = None if k is None else check_count("k", k)
    table = read_leaves(analysed, X, y, kind)
    if n_nearest is None:
        matrix = _dense(table)
        return Proximity(matrix, kind, None, table.n_trees, _count_pairs_without_tree(table))
    nearest = table.own(n_nearest)
    # A pair is kept if either row has chosen it; the proximity is symmetric.
    return Proximity(nearest.maximum(nearest.T).tocsr(), kind, n_nearest, table.n_trees, None)


def _dense(table: LeafTable) -> npt.NDArray[np.float64]:
    n = table.n_rows
    if n > LARGEST_DENSE:
        raise ValueError(
            f"proximity makes a dense matrix of at most {LARGEST_DENSE} rows; got {n}, which would "
            f"need {n * n * 8 / 2**30:.0f} GiB. Pass k=20 for the nearest rows of each row."
        )
    matrix = np.empty((n, n))
    for rows, block in table.blocks():
        block.toarray(out=matrix[rows])
    return matrix


def _count_pairs_without_tree(table: LeafTable) -> int:
    """Pairs of different rows without a tree that counts for both."""
    counts = (table.leaves != NO_LEAF).astype(np.float32)
    never = 0
    for row in range(0, table.n_rows, 1024):
        never += int(np.count_nonzero(counts[row : row + 1024] @ counts.T == 0))
    return (never - int(np.count_nonzero(~counts.any(axis=1)))) // 2
