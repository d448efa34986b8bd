"""Why a forest is better than its trees: Breiman's strength and correlation of classifiers, and
tree error and correlation of residuals of regressors; and whether there were enough trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.accuracy.evaluation_rows import (
    ROW_WORDS,
    RowBlock,
    blocks,
    class_of_leaf,
    notes_of,
    read_evaluation_rows,
)
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import wrong_type

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ErrorAndCorrelation",
    "OutOfBagCurve",
    "StrengthAndCorrelation",
    "error_and_correlation",
    "out_of_bag_curve",
    "strength_and_correlation",
]


@dataclass(frozen=True, eq=False, repr=False)
class StrengthAndCorrelation(PrintedResult):
    """Strength of the trees of a classifier, and their correlation.

    Attributes
    ----------
    strength : float
        Mean margin, s.
    correlation : float
        Mean correlation of the trees' raw margins, ρ̄; NaN if no tree's margin varies.
    deviation : float
        Mean over trees of the standard deviation of their raw margins.
    margins : ndarray of shape (n_rows,)
        Share of the votes for the true class minus that for the most voted other class; NaN for
        rows that were in every bag.
    n_trees : int
        Number of trees.
    out_of_bag : bool
        Whether each row was evaluated only by trees that had not seen it.
    row_kind : {"new", "out-of-bag", "grown on"}
        Kind of the rows; "grown on": rows of the fit, evaluated by trees that have seen them.
    """

    strength: float
    correlation: float
    deviation: float
    margins: Floats
    n_trees: int
    out_of_bag: bool
    row_kind: str = "new"

    @property
    def bound(self) -> float:
        """Breiman's bound on the error, ρ̄(1 − s²)/s²; NaN unless the strength is positive."""
        return self.correlation * (1.0 - self.strength**2) / self._squared_strength

    @property
    def margin_bound(self) -> float:
        """Chebyshev's bound, var(margin)/s², below Breiman's; NaN unless s is positive."""
        return float(np.nanvar(self.margins)) / self._squared_strength

    @property
    def error(self) -> float:
        """Share of rows with a negative margin, which the bounds limit."""
        known = self.margins[~np.isnan(self.margins)]
        return float(np.mean(known < 0.0))

    @property
    def _squared_strength(self) -> float:
        return self.strength**2 if self.strength > 0.0 else float("nan")

    def to_pandas(self) -> Any:
        """The measures as one line, to be joined with those of other forests."""
        names = ("strength", "correlation", "deviation", "error", "margin_bound", "bound")
        return data_frame({name: [getattr(self, name)] for name in names})

    def _printed(self) -> PrintedTable:
        n_rows = np.count_nonzero(~np.isnan(self.margins))
        rows = f"{n_rows} rows, {ROW_WORDS[self.row_kind]}"
        lines = [
            ("strength s", self.strength),
            ("correlation ρ̄", self.correlation),
            ("error (margin below 0)", self.error),
            ("bound var(margin)/s²", self.margin_bound),
            ("bound ρ̄(1 − s²)/s²", self.bound),
        ]
        title = f"Strength and correlation of {self.n_trees} trees, {rows}"
        return PrintedTable(title, (), lines, notes_of(self.row_kind))


def strength_and_correlation(
    forest: Any, X: Any, y: Any, *, out_of_bag: bool | str = True
) -> StrengthAndCorrelation:
    """Strength and correlation of the trees of a classifier, by their votes.

    Trees vote here for the class with the largest share of their leaf, for any `voting` of the
    forest. All rows count equally, regardless of their weights in the fit.

    Parameters
    ----------
    forest : fitted ObliqueForestClassifier
        The forest.
    X, y : array-like of shapes (n_rows, n_features) and (n_rows,)
        The rows of the fit, in its order; or, with ``out_of_bag=False``, rows it has not seen.
    out_of_bag : bool or "auto", default=True
        Evaluate each row by the trees that have not seen it. False: by all trees. "auto": True if
        these are the rows of the fit.

    Returns
    -------
    StrengthAndCorrelation

    References
    ----------
    Breiman (2001), *Random forests*, section 2.2 and appendix II; Blaser's thesis, section 1.6.6;
    SPORF, Appendix E.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.datasets import load_iris
    >>> X, y = load_iris()
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> result = strength_and_correlation(forest, X, y)
    >>> result.error < result.margin_bound < result.bound
    True
    """
    analysed = read_forest(forest, "strength_and_correlation")
    instead = {
        "survival": "Use survival_scores, or survival_calibration.",
        "regression": "Use error_and_correlation, which measures the same for residuals.",
    }
    analysed.check_classes("votes for classes", instead)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    n_trees = analysed.forest.n_trees
    margins = np.full(len(rows.X), np.nan)
    counts = np.zeros((3, n_trees))  # rows evaluated; votes for the true class; for the other one
    votes = class_of_leaf(analysed.forest)
    for block in blocks(analysed, rows):
        margins[block.rows] = _add_votes(analysed, block, votes, counts)
    mean, deviation = float(np.nanmean(margins)), _mean_deviation(counts)
    variance = float(np.nanvar(margins))
    correlation = variance / deviation**2 if deviation > 0.0 else float("nan")
    how = rows.out is not None, rows.row_kind
    return StrengthAndCorrelation(mean, correlation, deviation, margins, n_trees, *how)


def _add_votes(
    analysed: AnalysedForest, block: RowBlock, votes: npt.NDArray[np.int32], counts: Floats
) -> Floats:
    """Margins of the rows; adds the votes of each tree to the counts."""
    n_trees = analysed.forest.n_trees
    for tree in range(n_trees):
        block.add(tree, votes)
    shares, row = block.predictions, np.arange(len(block.target))
    true = shares[row, block.target]
    shares[row, block.target] = -1.0
    # The most voted other class of the forest, common to all trees; none if there is one class.
    other = shares.argmax(axis=1) if shares.shape[1] > 1 else np.full(len(row), -1)
    margin = true - np.maximum(shares.max(axis=1), 0.0)
    predicted = votes[block.leaves + analysed.forest.tree_offset[:-1]]
    counts[0] += block.out.sum(axis=0)
    counts[1] += ((predicted == block.target[:, None]) & block.out).sum(axis=0)
    counts[2] += ((predicted == other[:, None]) & block.out).sum(axis=0)
    return np.where(block.counts > 0, margin, np.nan)


def _mean_deviation(counts: Floats) -> float:
    """Mean over trees of sqrt(p1 + p2 − (p1 − p2)²), without trees that evaluated no row."""
    evaluated, true, other = counts[:, counts[0] > 0]
    p1, p2 = true / evaluated, other / evaluated
    return float(np.sqrt(np.maximum(p1 + p2 - (p1 - p2) ** 2, 0.0)).mean())


@dataclass(frozen=True, eq=False, repr=False)
class ErrorAndCorrelation(PrintedResult):
    """Errors of the trees of a regression forest, and correlation of their residuals.

    Attributes
    ----------
    tree_errors : ndarray of shape (n_trees,)
        Mean squared error of each tree; NaN for trees that evaluated no row.
    residuals : ndarray of shape (n_rows,)
        Target minus the forest's prediction; NaN for rows that were in every bag.
    out_of_bag : bool
        Whether each row was evaluated only by trees that had not seen it.
    row_kind : {"new", "out-of-bag", "grown on"}
        Kind of the rows; "grown on": rows of the fit, evaluated by trees that have seen them.
    """

    tree_errors: Floats
    residuals: Floats
    out_of_bag: bool
    row_kind: str = "new"

    @property
    def tree_error(self) -> float:
        """Mean over trees of their mean squared errors, PE(tree)."""
        return float(np.nanmean(self.tree_errors))

    @property
    def correlation(self) -> float:
        """Mean correlation of two trees' residuals, weighted by their deviations, ρ̄.

        A tree's deviation is the root of its mean squared error. NaN if no tree is ever wrong.
        """
        deviation = float(np.nanmean(np.sqrt(self.tree_errors)))
        return self.error / deviation**2 if deviation > 0.0 else float("nan")

    @property
    def error(self) -> float:
        """Mean squared error of the forest, PE(forest)."""
        return float(np.nanmean(self.residuals**2))

    @property
    def bias(self) -> float:
        """Mean residual, assumed to be zero by Breiman; otherwise it raises ρ̄."""
        return float(np.nanmean(self.residuals))

    @property
    def bound(self) -> float:
        """Breiman's bound on the error, ρ̄·PE(tree)."""
        return self.correlation * self.tree_error

    def to_pandas(self) -> Any:
        """The measures as one line, to be joined with those of other forests."""
        names = ("tree_error", "correlation", "bias", "error", "bound")
        return data_frame({name: [getattr(self, name)] for name in names})

    def _printed(self) -> PrintedTable:
        n_rows = np.count_nonzero(~np.isnan(self.residuals))
        rows = f"{n_rows} rows, {ROW_WORDS[self.row_kind]}"
        lines = [
            ("error of a tree", self.tree_error),
            ("correlation ρ̄", self.correlation),
            ("mean residual", self.bias),
            ("error of the forest", self.error),
            ("bound ρ̄·PE(tree)", self.bound),
        ]
        title = f"Error and correlation of {len(self.tree_errors)} trees, {rows}"
        return PrintedTable(title, (), lines, notes_of(self.row_kind))


def error_and_correlation(
    forest: Any, X: Any, y: Any, *, out_of_bag: bool | str = True
) -> ErrorAndCorrelation:
    """Error of the trees of a regressor and correlation of their residuals.

    The counterpart of `strength_and_correlation` for regression. All rows count equally, regardless
    of their weights in the fit.

    Parameters
    ----------
    forest : fitted ObliqueForestRegressor
        The forest.
    X, y : array-like of shapes (n_rows, n_features) and (n_rows,)
        The rows of the fit, in its order; or, with ``out_of_bag=False``, rows it has not seen.
    out_of_bag : bool or "auto", default=True
        Evaluate each row by the trees that have not seen it. False: by all trees. "auto": True if
        these are the rows of the fit.

    Returns
    -------
    ErrorAndCorrelation

    References
    ----------
    Breiman (2001), *Random forests*, section 11.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> result = error_and_correlation(forest, X, y)
    >>> result.error <= result.bound < result.tree_error
    True
    """
    analysed = read_forest(forest, "error_and_correlation")
    if analysed.classes is not None:
        remedy = "Use strength_and_correlation, which measures the same for votes."
        raise wrong_type("The forest of error_and_correlation", "a regressor", forest, remedy)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    residuals = np.full(len(rows.X), np.nan)
    sums = np.zeros((2, analysed.forest.n_trees))  # rows evaluated; squared residuals
    for block in blocks(analysed, rows):
        residuals[block.rows] = _add_residuals(block, sums)
    n_judged, squares = sums
    errors = np.where(n_judged > 0, squares / np.maximum(n_judged, 1.0), np.nan)
    return ErrorAndCorrelation(errors, residuals, rows.out is not None, rows.row_kind)


def _add_residuals(block: RowBlock, sums: Floats) -> Floats:
    """Residuals of the rows; adds the squared residuals of each tree to the sums."""
    forest = block.forest
    for tree in range(forest.n_trees):
        block.add(tree, None)
    predicted = forest.leaf_value[block.leaves + forest.tree_offset[:-1]]
    sums[0] += block.out.sum(axis=0)
    sums[1] += np.where(block.out, (block.target[:, None] - predicted) ** 2, 0.0).sum(axis=0)
    return np.where(block.counts > 0, block.target - block.predictions[:, 0], np.nan)


# Out-of-bag error against the number of trees.


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
    return OutOfBagCurve(np.arange(1, n_trees + 1), loss, n_rows, analysed.task.loss_name)


def _losses(block: RowBlock) -> Floats:
    if block.forest.n_classes == 0:
        return np.asarray((block.target - block.predictions[:, 0]) ** 2)
    # The class with the largest sum also has the largest mean.
    return np.asarray(block.sums.argmax(axis=1) != block.target, dtype=np.float64)
