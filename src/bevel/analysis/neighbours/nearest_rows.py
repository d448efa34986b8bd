"""The training rows that are nearest to a new row by proximity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.checks import check_count
from bevel.analysis.neighbours.leaf_sharing import KINDS, read_leaves, stack
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame

__all__ = ["NearestRows", "nearest_rows"]

SHOWN = 5  # rows and neighbours in a printed table


@dataclass(frozen=True, eq=False, repr=False)
class NearestRows(PrintedResult):
    """Nearest rows of new rows, from `nearest_rows`.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_new, k)
        Positions of each new row's nearest rows, nearest first, ties by position; -1
        where fewer than `k` rows share a leaf with it.
    proximity : ndarray of float64, shape (n_new, k)
        Proximities of these rows; 0 where there is no row.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row of the table; all count for a new row.
    """

    rows: npt.NDArray[np.int64]
    proximity: npt.NDArray[np.float64]
    kind: str

    def to_pandas(self) -> Any:
        """A line for each new row and each of its nearest rows: new, rank, row, proximity."""
        new, rank = np.nonzero(self.rows >= 0)
        columns = {
            "new": new,
            "rank": rank + 1,
            "row": self.rows[new, rank],
            "proximity": self.proximity[new, rank],
        }
        return data_frame(columns)

    def _printed(self) -> PrintedTable:
        n, k = self.rows.shape
        title = f"Nearest rows ({KINDS[self.kind]}) of {n} new rows, {k} each: row (proximity)"
        lines = []
        for new in range(min(n, SHOWN)):
            pairs = zip(self.rows[new, :SHOWN], self.proximity[new, :SHOWN], strict=True)
            shown = [f"{row} ({near:.2f})" for row, near in pairs if row >= 0]
            dots = ", ..." if k > SHOWN else ""
            lines.append((str(new), f"{', '.join(shown) or 'none'}{dots}"))
        return PrintedTable(title, (), [*lines, ("...", "")] if n > SHOWN else lines)


def nearest_rows(
    forest: object, X: Any, new: Any, y: Any = None, *, kind: str = "oob", k: int = 10
) -> NearestRows:
    """Rows of X that share most leaves with new rows.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted classifier or regressor.
    X : table of shape (n_rows, n_features)
        Rows to search. For "oob" and "in_bag" those of the fit, in their order.
    new : table of shape (n_new, n_features)
        Rows that the forest was not grown on.
    y : array-like of shape (n_rows,), default=None
        Targets of the fit; ignored for "all".
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row of X: those that have not seen it, as no tree has seen a new row,
        those that have, or all of them.
    k : int, default=10
        Number of rows to find for each new row.

    Returns
    -------
    NearestRows
        Result with positions in X and proximities, nearest first.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import nearest_rows
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X[:140], y[:140])
    >>> near = nearest_rows(forest, X[:140], X[140:], y[:140], k=5)
    >>> y[near.rows[0]]
    array([2, 2, 2, 2, 2])
    """
    analysed = read_forest(forest, "nearest_rows", leaves_only=True, several_outputs=True)
    n_nearest = check_count("k", k)
    table = read_leaves(analysed, X, y, kind)
    leaves = analysed.predictor.leaves(analysed.encode(new), analysed.n_threads)
    rows, near = nearest_first(stack(table.of_new(leaves, n_nearest)), n_nearest)
    return NearestRows(rows, near, kind)


def nearest_first(
    found: sp.csr_array, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Columns and values of a sparse matrix's rows, largest values first, padded with -1 and 0."""
    length = np.diff(found.indptr)
    row = np.repeat(np.arange(found.shape[0]), length)
    order = np.lexsort((found.indices, -found.data, row))
    place = np.arange(len(row)) - np.repeat(found.indptr[:-1], length)
    columns = np.full((found.shape[0], k), -1, np.int64)
    values = np.zeros((found.shape[0], k))
    columns[row, place], values[row, place] = found.indices[order], found.data[order]
    return columns, values
