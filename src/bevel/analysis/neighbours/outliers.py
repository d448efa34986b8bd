"""Outliers: rows that are far from the other rows of their class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.neighbours.leaf_sharing import KINDS, NO_LEAF, LeafTable, read_leaves
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.data.target import read_labels

__all__ = ["OutlierScores", "outlier_scores"]


SHOWN = 5  # rows in a printed table
LARGE = 10.0  # Breiman's advice
ROUNDING = 1e-12  # relative rounding error of sums of squares


@dataclass(frozen=True, eq=False, repr=False)
class OutlierScores(PrintedResult):
    """Distances of rows from their class, from `outlier_scores`.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,)
        Scores in absolute deviations above the median of the row's class; large: an outlier. NaN
        for rows that no tree counts for, such as those that are in every bag.
    raw : ndarray of float64, shape (n,)
        n / Σ proximity² over the rows of the class, the row itself included; from 1 to n, or NaN.
    kind : {"oob", "in_bag", "all"}
        Trees that count for a row.
    """

    scores: Floats
    raw: Floats
    kind: str

    def to_pandas(self) -> Any:
        """A line for each row, in the order of the rows."""
        return data_frame({"score": self.scores, "raw": self.raw}, index="row")

    def _printed(self) -> PrintedTable:
        above = int(np.count_nonzero(self.scores > LARGE))
        n = len(self.scores)
        without_tree = int(np.count_nonzero(np.isnan(self.scores)))
        rest = f", {without_tree} without a tree to evaluate them" if without_tree else ""
        title = f"Outlier scores of {n} rows, {KINDS[self.kind]}: {above} above {LARGE:g}{rest}"
        order = np.argsort(-self.scores, kind="stable")[: min(SHOWN, n - without_tree)]
        rows = [(str(row), f"{self.scores[row]:.2f}") for row in order]
        return PrintedTable(title, ("row", "score"), rows)


def outlier_scores(forest: object, X: Any, y: Any = None, *, kind: str = "oob") -> OutlierScores:
    """Breiman's outlier measure of each row within its class.

    Parameters
    ----------
    forest : fitted forest of Bevel
        Classifier, or regressor, whose rows count as one class.
    X : table of shape (n_rows, n_features)
        Rows to score. For "oob" and "in_bag" those of the fit, in their order.
    y : array-like of shape (n_rows,), default=None
        Classes of the rows, or targets of the fit; not needed for a regressor with "all".
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row.

    Returns
    -------
    OutlierScores
        Score for each row; scores above 10 suggest an outlier.

    Notes
    -----
    The raw measure of a row is n over the sum of its squared proximities to the rows of its class;
    the median of the class is subtracted from it, and the rest is divided by the class's median
    absolute deviation from the median. Where that is 0, the mean absolute deviation is used
    instead, and where all rows are alike, scores are 0.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import outlier_scores
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> len(outlier_scores(forest, X, y).scores)
    150
    """
    analysed = read_forest(forest, "outlier_scores")
    table = read_leaves(analysed, X, y, kind)
    codes = _classes(analysed, y, table.n_rows)
    raw = table.n_rows / _squares_within(table, codes)
    evaluated = (table.leaves != NO_LEAF).any(axis=1)
    raw[~evaluated] = np.nan  # similar only to itself: nothing can be inferred
    scores = np.full(table.n_rows, np.nan)
    for code in np.unique(codes[evaluated]):
        own = evaluated & (codes == code)
        scores[own] = _standardised(raw[own])
    return OutlierScores(scores, raw, kind)


def _classes(analysed: AnalysedForest, y: Any, n_rows: int) -> npt.NDArray[np.intp]:
    """Number of each row's class, without gaps; 0 in regression."""
    if analysed.classes is None:
        return np.zeros(n_rows, np.intp)
    if y is None or np.shape(y) != (n_rows,):
        raise ValueError(
            f"{analysed.caller} compares the rows of a class and needs y, the class of each of the "
            f"{n_rows} rows; got {'None' if y is None else f'shape {np.shape(y)}'}. Pass y."
        )
    return read_labels(y, n_rows)[1].astype(np.intp)


def _squares_within(table: LeafTable, codes: npt.NDArray[np.intp]) -> Floats:
    sums = np.empty(table.n_rows)
    for rows, block in table.blocks():
        row = np.repeat(np.arange(rows.start, rows.stop), np.diff(block.indptr))
        same = codes[row] == codes[block.indices]
        squares = np.where(same, block.data**2, 0.0)
        sums[rows] = np.bincount(row - rows.start, squares, rows.stop - rows.start)
    return sums


def _standardised(raw: Floats) -> Floats:
    centre = float(np.median(raw))
    deviation = raw - centre
    size = np.abs(deviation)
    for spread in (float(np.median(size)), float(size.mean())):
        if spread > ROUNDING * centre:
            return deviation / spread
    return np.zeros(len(raw))
