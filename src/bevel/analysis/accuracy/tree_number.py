"""Out-of-bag error against the number of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.accuracy.evaluation_rows import (
    RowBlock,
    blocks,
    class_of_leaf,
    read_evaluation_rows,
)
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OutOfBagCurve", "out_of_bag_curve"]


@dataclass(frozen=True, eq=False, repr=False)
class OutOfBagCurve(PrintedResult):
    """Out-of-bag loss of the first tree, the first two, and so on.

    Attributes
    ----------
    n_trees : ndarray of int64, shape (n,)
        Numbers of trees 1, 2, ..., n.
    loss : ndarray of float64, shape (n,)
        Mean loss of the first `n_trees` trees; NaN while no row is out of a bag.
    n_rows : ndarray of int64, shape (n,)
        Rows that are out of at least one of those bags, and so were evaluated.
    measure : str
        Name of the loss: "error" or "mean squared error".
    """

    n_trees: npt.NDArray[np.int64]
    loss: Floats
    n_rows: npt.NDArray[np.int64]
    measure: str

    def _printed(self) -> PrintedTable:
        n = len(self.n_trees)
        chosen = np.unique(np.geomspace(1, n, min(n, 7)).round().astype(int))
        lines = [(f"{k} trees" if k > 1 else "1 tree", float(self.loss[k - 1])) for k in chosen]
        return PrintedTable(f"Out-of-bag {self.measure} of {self.n_rows[-1]} rows", (), lines)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each number of trees; needs pandas."""
        columns = {"n_trees": self.n_trees, self.measure: self.loss, "n_rows": self.n_rows}
        table: pd.DataFrame = data_frame(columns)
        return table


def out_of_bag_curve(forest: Any, X: Any, y: Any) -> OutOfBagCurve:
    """Out-of-bag error of the first tree, the first two, and so on, in one pass.

    The last value is that of the whole forest, ``1 - oob_score_`` of a classifier. With few trees
    many rows have been in every bag; they are left out. All rows count equally, regardless of
    their weights in the fit.

    Parameters
    ----------
    forest : fitted ObliqueForestClassifier or ObliqueForestRegressor
        The forest.
    X, y : array-like of shapes (n_rows, n_features) and (n_rows,)
        The rows of the fit, in its order.

    Returns
    -------
    OutOfBagCurve

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.datasets import load_wine
    >>> X, y = load_wine()
    >>> forest = ObliqueForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    >>> curve = out_of_bag_curve(forest, X, y)
    >>> bool(np.isclose(curve.loss[-1], 1 - forest.oob_score_))
    True
    """
    analysed = read_forest(forest, "out_of_bag_curve")
    rows = read_evaluation_rows(analysed, X, y, out_of_bag=True)
    n_trees = analysed.forest.n_trees
    votes = class_of_leaf(analysed.forest) if analysed.hard else None
    sums, n_rows = np.zeros(n_trees), np.zeros(n_trees, np.int64)
    for block in blocks(analysed, rows):
        for tree in range(n_trees):
            block.add(tree, votes)
            known = block.counts > 0
            sums[tree] += _losses(block)[known].sum()
            n_rows[tree] += np.count_nonzero(known)
    loss = np.where(n_rows > 0, sums / np.maximum(n_rows, 1), np.nan)
    measure = "mean squared error" if analysed.classes is None else "error"
    return OutOfBagCurve(np.arange(1, n_trees + 1), loss, n_rows, measure)


def _losses(block: RowBlock) -> Floats:
    if block.forest.n_classes == 0:
        return np.asarray((block.target - block.predictions[:, 0]) ** 2)
    # The class with the largest sum also has the largest mean.
    return np.asarray(block.sums.argmax(axis=1) != block.target, dtype=np.float64)
