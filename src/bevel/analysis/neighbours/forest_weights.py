"""The forest as adaptive nearest neighbours (Lin and Jeon): weights of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel import _core
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.checks import check_place
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import wrong_type
from bevel.forest.leaf_rows import LeafRows
from bevel.forest.quantiles import blocks_of_rows

__all__ = ["VotingPoints", "forest_weights", "voting_points"]

SHOWN = 10  # voting points in a table


def forest_weights(
    forest: Any, X_train: Any, y_train: Any, X: Any = None, *, sample_weight: Any = None
) -> sp.csr_matrix:
    """Weights of the training rows in a forest's prediction for a row.

    Tree m gives training row i the weight W_im, its share in the weight of the leaf that x falls
    into: 1/k if the leaf holds k rows. The forest gives it their mean over the trees. The weights
    of a row sum to one, and the prediction of a regressor is the weighted mean of the training
    targets, the class probabilities of a classifier (by soft votes) the weighted shares.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest, with any projection.
    X_train, y_train : array-like
        The rows of the fit and their targets, in the order of the fit.
    X : array-like of shape (n_rows, n_features), default=None
        Rows to predict. None: the training rows, each by the trees whose bags it is out of.
    sample_weight : array-like of shape (n_train,), default=None
        Weights of the training rows, if the fit had any. Class weights are known from the forest.

    Returns
    -------
    csr_matrix of shape (n_rows, n_train)
        Weights. A training row that was in every bag has no weights if `X` is None.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import forest_weights
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(50, random_state=0).fit(X, y)
    >>> weights = forest_weights(forest, X, y, X[:3])
    >>> bool(np.allclose(weights @ y, forest.predict(X[:3])))
    True
    """
    analysed = read_forest(forest, "forest_weights", several_outputs=True)
    if X is None:
        analysed.honest_bags()
    leaf_rows, rows, _ = analysed.leaf_rows(X_train, y_train, sample_weight)
    if X is not None:
        return _weights(analysed, leaf_rows, analysed.encode(X), None)
    analysed.check_some_row_is_out(rows)
    return _weights(analysed, leaf_rows, rows.X, rows.out)


def _weights(
    analysed: AnalysedForest,
    leaf_rows: LeafRows,
    X: npt.NDArray[np.float32],
    trees: npt.NDArray[np.bool_] | None,
) -> sp.csr_matrix:
    blocks = []
    for block in blocks_of_rows(len(X), analysed.forest.n_trees):
        entries = _core.neighbour_weights(
            analysed.predictor.view,
            X[block],
            leaf_rows.offset,
            leaf_rows.row,
            leaf_rows.weight,
            leaf_rows.n_rows,
            None if trees is None else np.ascontiguousarray(trees[block]),
            analysed.n_threads,
        )
        blocks.append(sp.csr_matrix(entries, shape=(len(X[block]), leaf_rows.n_rows)))
    joined: sp.csr_matrix = sp.vstack(blocks, format="csr")
    return joined


@dataclass(frozen=True, eq=False, repr=False)
class VotingPoints(PrintedResult):
    """The training rows that vote for a row, heaviest first.

    Attributes
    ----------
    rows : ndarray of int
        Numbers of the training rows.
    weights : ndarray of float
        Weights of these rows.
    """

    rows: npt.NDArray[np.intp]
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def effective_number(self) -> float:
        """Effective sample size of the weights: 1 / sum of squared weights."""
        return float(1.0 / np.square(self.weights).sum()) if len(self) else 0.0

    def to_pandas(self) -> Any:
        """A line for each training row that votes, heaviest first."""
        return data_frame({"row": self.rows, "weight": self.weights})

    def _printed(self) -> PrintedTable:
        head = f"{len(self)} voting points, worth {self.effective_number:.1f} of equal weight"
        shown = zip(self.rows[:SHOWN], self.weights[:SHOWN], strict=True)
        lines = [(str(row), f"{weight:.4f}") for row, weight in shown]
        more = [("…", "")] if len(self) > SHOWN else []
        return PrintedTable(head, ("row", "weight"), [*lines, *more])


def voting_points(weights: sp.csr_matrix, row: int = 0) -> VotingPoints:
    """The training rows whose weight for a row is above zero.

    Parameters
    ----------
    weights : csr_matrix of shape (n_rows, n_train)
        Matrix from `forest_weights`.
    row : int, default=0
        Position of the row.

    Returns
    -------
    VotingPoints
        Training rows by descending weight; ties go to the lower number.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import forest_weights, voting_points
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(10, random_state=0).fit(X, y)
    >>> points = voting_points(forest_weights(forest, X, y, X[:1]))
    >>> int(points.rows[0])
    0
    """
    if not sp.issparse(weights):
        required = "the sparse matrix that forest_weights returns"
        raise wrong_type("weights", required, weights, "Call forest_weights first.")
    check_place("row", row, weights.shape[0])
    own = weights.tocsr()[[row]]
    heaviest = np.lexsort((own.indices, -own.data))
    return VotingPoints(own.indices[heaviest].astype(np.intp), own.data[heaviest])
