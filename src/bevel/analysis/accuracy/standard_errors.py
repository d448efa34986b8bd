"""Standard errors of predictions: the infinitesimal jackknife of Wager, Hastie and Efron (2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import NoOutOfBagError
from bevel.forest.bags import Bags
from bevel.forest.tree_predictions import tree_predictions

__all__ = [
    "StandardErrors",
    "bag_products",
    "jackknife_variance",
    "predict_standard_error",
    "usable_bags",
]


# Entries of a block, rows x trees x classes or trees x training rows: 32 MB.
BLOCK_SIZE = 2**22
MOST_NUMBERS = 2**28  # numbers held at a time


@dataclass(frozen=True, eq=False, repr=False)
class StandardErrors(PrintedResult):
    """Predictions and their standard errors.

    Attributes
    ----------
    prediction : ndarray of shape (n_rows,), or (n_rows, n_classes)
        Values of a regressor, class probabilities of a classifier.
    variance : ndarray of the same shape
        Bias-corrected estimate of the prediction's variance; may be negative by chance.
    n_trees : int
        Trees of the forest.
    """

    prediction: Floats
    variance: Floats
    n_trees: int

    @property
    def standard_error(self) -> Floats:
        """Square root of the variance; 0 where it is negative."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    @property
    def n_below_zero(self) -> int:
        """Number of negative variances, where there are too few trees to estimate them."""
        return int(np.count_nonzero(self.variance < 0))

    def to_pandas(self) -> Any:
        """A line for each row: prediction and standard error, for each class of a classifier.

        The columns of a classifier are pairs of "prediction" or "standard_error" and the position
        of the class in `classes_`.
        """
        parts = {"prediction": self.prediction, "standard_error": self.standard_error}
        if self.prediction.ndim == 1:
            return data_frame(parts, index="row")
        pairs = {
            (name, label): values[:, label]
            for name, values in parts.items()
            for label in range(values.shape[1])
        }
        return data_frame(pairs, index="row")

    def _printed(self) -> PrintedTable:
        low, middle, high = np.quantile(self.standard_error, [0.0, 0.5, 1.0])
        lines = [("median", middle), ("smallest", low), ("largest", high)]
        of = f"{self.n_below_zero} of {self.variance.size} not above noise: grow more trees"
        title = f"Standard errors of {len(self.prediction)} rows from {self.n_trees} trees"
        return PrintedTable(title, (), lines, (of,) if self.n_below_zero else ())


def predict_standard_error(forest: Any, X: Any) -> StandardErrors:
    """Standard error of the prediction of each row, by the infinitesimal jackknife.

    It estimates the variation over forests grown on other training rows from the same
    source. With N_bi the number of times training row i is in the bag of tree b, t_b the
    prediction of the tree and B the number of trees, it is the root of

        V = sum over i of Cov_i^2,    Cov_i = mean over b of (N_bi - mean of N_bi) (t_b - mean of t)

    minus the expected effect of the finite number of trees. The training rows are not needed: bags
    are drawn again from the forest's seed.

    Parameters
    ----------
    forest : ObliqueForestClassifier or ObliqueForestRegressor
        Forest fitted with bags. Sample weights are considered part of the rows.
    X : array-like of shape (n_rows, n_features)
        Rows to predict.

    Returns
    -------
    StandardErrors
        Standard errors of values, or of class probabilities (of votes if `voting="hard"`).

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import predict_standard_error
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(1000, random_state=0).fit(X, y)
    >>> predict_standard_error(forest, X[:5]).standard_error.shape
    (5,)
    """
    analysed = read_forest(forest, "predict_standard_error")
    bags = usable_bags(analysed)
    n_trees, n_columns = analysed.forest.n_trees, max(1, analysed.forest.n_classes)
    products = bag_products(bags, n_trees)
    rows = analysed.encode(X)
    shape = (len(rows), n_columns)
    prediction, variance = np.empty(shape), np.empty(shape)
    step = max(1, BLOCK_SIZE // (n_trees * n_columns))
    for first in range(0, len(rows), step):
        block = slice(first, first + step)
        predictions = _tree_predictions(analysed, rows[block])
        prediction[block] = predictions.mean(axis=-1)
        variance[block] = jackknife_variance(predictions, products, bags)
    if analysed.classes is None:
        prediction, variance = prediction[:, 0], variance[:, 0]
    return StandardErrors(prediction, variance, n_trees)


def usable_bags(analysed: AnalysedForest) -> Bags:
    """Bags of a forest whose trees differ only by their bags; raises for other forests."""
    bags = analysed.honest_bags()
    if analysed.forest.n_trees < 2:
        raise NoOutOfBagError(
            f"{analysed.caller} needs two trees or more, to see how they follow their bags; got "
            "one. Grow as many as there are training rows."
        )
    size = analysed.forest.n_trees * max(analysed.forest.n_trees, bags.n_rows)
    if size > MOST_NUMBERS:
        raise ValueError(
            f"{analysed.caller} needs trees times trees, and trees times training rows, to be at "
            f"most {MOST_NUMBERS}; got {analysed.forest.n_trees} trees and {bags.n_rows} rows. "
            "Grow fewer trees, or fit on fewer rows."
        )
    return bags


def bag_products(bags: Bags, n_trees: int) -> Floats:
    """Sum over training rows of the products of two bags' deviations from their mean.

    Sums of whole numbers, which do not depend on the order of addition.
    """
    products = np.zeros((n_trees, n_trees))
    counts = np.array([bags.counts(tree) for tree in range(n_trees)])
    step = max(1, BLOCK_SIZE // n_trees)
    for first in range(0, bags.n_rows, step):
        block = counts[:, first : first + step].astype(np.float64)
        products += block @ block.T
    return products - bags.size**2 / bags.n_rows


def _tree_predictions(analysed: AnalysedForest, rows: npt.NDArray[np.float32]) -> Floats:
    """Predictions of the trees (last axis) for each row and class."""
    forest = analysed.forest
    leaves = analysed.predictor.leaves(rows, analysed.n_threads) + forest.tree_offset[:-1]
    return np.moveaxis(tree_predictions(forest, leaves, analysed.hard), 1, -1)


def jackknife_variance(predictions: Floats, products: Floats, bags: Bags) -> Floats:
    """Bias-corrected V; for rows drawn without replacement as in Wager and Athey (2018)."""
    n_trees = predictions.shape[-1]
    deviation = predictions - predictions.mean(axis=-1, keepdims=True)
    squares = ((deviation @ products) * deviation).sum(axis=-1) / n_trees**2
    by_chance = _bag_scatter(bags) * np.square(deviation).mean(axis=-1) / n_trees
    return np.asarray(_finite_population(bags) * (squares - by_chance))


def _bag_scatter(bags: Bags) -> float:
    """Sum over training rows of the variance of how often they are drawn.

    n - 1 for a bootstrap of n rows, where the paper, for large n, has n.
    """
    share = bags.size / bags.n_rows
    return share * (bags.n_rows - 1) if bags.replace else bags.size * (1 - share)


def _finite_population(bags: Bags) -> float:
    if bags.replace:
        return 1.0
    n = bags.n_rows
    return (n - 1) / n * (n / (n - bags.size)) ** 2
