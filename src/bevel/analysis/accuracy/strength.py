"""Breiman's strength and correlation, which explain why a forest is better than its trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

__all__ = ["StrengthAndCorrelation", "strength_and_correlation"]


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
    if analysed.classes is None:
        got = (
            "a survival forest. Use survival_scores, or survival_calibration."
            if analysed.fitted.survival is not None
            else "a regression forest. Use error_and_correlation, which measures the same for "
            "residuals."
        )
        raise ValueError(f"strength_and_correlation needs votes for classes; got {got}")
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    n_trees = analysed.forest.n_trees
    margins = np.full(len(rows.X), np.nan)
    counts = np.zeros((3, n_trees))  # rows evaluated; votes for the true class; for the other one
    votes = class_of_leaf(analysed.forest)
    for block in blocks(analysed, rows):
        margins[block.rows] = _add_block(analysed, block, votes, counts)
    mean, deviation = float(np.nanmean(margins)), _mean_deviation(counts)
    variance = float(np.nanvar(margins))
    correlation = variance / deviation**2 if deviation > 0.0 else float("nan")
    how = rows.out is not None, rows.row_kind
    return StrengthAndCorrelation(mean, correlation, deviation, margins, n_trees, *how)


def _add_block(
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
