"""Breiman's tree error and correlation of residuals, which explain the gain from averaging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Floats
from bevel.analysis.accuracy.evaluation_rows import (
    ROW_WORDS,
    RowBlock,
    blocks,
    notes_of,
    read_evaluation_rows,
)
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import wrong_type

__all__ = ["ErrorAndCorrelation", "error_and_correlation"]


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
        residuals[block.rows] = _add_block(block, sums)
    n_judged, squares = sums
    errors = np.where(n_judged > 0, squares / np.maximum(n_judged, 1.0), np.nan)
    return ErrorAndCorrelation(errors, residuals, rows.out is not None, rows.row_kind)


def _add_block(block: RowBlock, sums: Floats) -> Floats:
    """Residuals of the rows; adds the squared residuals of each tree to the sums."""
    forest = block.forest
    for tree in range(forest.n_trees):
        block.add(tree, None)
    predicted = forest.leaf_value[block.leaves + forest.tree_offset[:-1]]
    sums[0] += block.out.sum(axis=0)
    sums[1] += np.where(block.out, (block.target[:, None] - predicted) ** 2, 0.0).sum(axis=0)
    return np.where(block.counts > 0, block.target - block.predictions[:, 0], np.nan)
