"""Uncertainty of the prediction of a row: conditional quantiles of its target, and standard errors
by the infinitesimal jackknife of Wager, Hastie and Efron (2014).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import NoOutOfBagError, wrong_type
from bevel.estimators.forest import ObliqueForestRegressor
from bevel.extras import import_optional
from bevel.forest.bags import Bags
from bevel.forest.predictor import tree_predictions
from bevel.forest.quantiles import LeafTargets, conditional_quantiles, keep_targets, read_levels
from bevel.printable import rounded

__all__ = [
    "RowQuantiles",
    "StandardErrors",
    "bag_products",
    "jackknife_variance",
    "predict_standard_error",
    "quantiles",
    "quantiles_of",
    "training_targets",
    "usable_bags",
]

# Entries of a block, rows x trees x classes or trees x training rows: 32 MB.
BLOCK_SIZE = 2**22
MAX_NUMBERS = 2**28  # numbers held at a time


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
    are drawn again from the forest's seed. In a forest of groups (``fit(X, y, groups=...)``) i runs
    over the groups.

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
    of_result = analysed.task.of_result
    return StandardErrors(of_result(prediction), of_result(variance), n_trees)


def usable_bags(analysed: AnalysedForest) -> Bags:
    """Bags of a forest whose trees differ only by their bags; raises for other forests."""
    bags = analysed.bags_with_rows_out().of_units  # groups vary as a whole
    if analysed.forest.n_trees < 2:
        raise NoOutOfBagError(
            f"{analysed.caller} needs two trees or more, to see how they follow their bags; got "
            "one. Grow as many as there are training rows."
        )
    size = analysed.forest.n_trees * max(analysed.forest.n_trees, bags.n_rows)
    if size > MAX_NUMBERS:
        raise ValueError(
            f"{analysed.caller} needs trees times trees, and trees times training rows, to be at "
            f"most {MAX_NUMBERS}; got {analysed.forest.n_trees} trees and {bags.n_rows} rows. "
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


LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
SHOWN = 5  # rows in a table
SEEN = (
    "These are the training rows, by trees that have seen them: more targets are covered than of "
    "other rows. Leave X out for quantiles out of bag."
)


@dataclass(frozen=True, eq=False, repr=False)
class RowQuantiles(PrintedResult):
    """Quantiles of the targets of rows.

    Attributes
    ----------
    levels : ndarray of shape (k,)
        Levels, ascending.
    values : ndarray of shape (n_rows, k)
        Quantiles; NaN for training rows that were in every bag.
    target : ndarray of shape (n_rows,) or None
        Targets of the rows, if they are known.
    out_of_bag : bool
        Whether these are the training rows, each predicted by the trees that have not seen it.
    seen : bool
        Whether these are the training rows, predicted by all trees, most of which have seen each
        row: then more targets are covered than among new rows.
    """

    levels: Floats
    values: Floats
    target: Floats | None
    out_of_bag: bool
    seen: bool = False

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Rows that have quantiles."""
        return np.asarray(~np.isnan(self.values[:, 0]))

    @property
    def coverage(self) -> Floats:
        """Share of targets at or below each quantile, to be compared with `levels`."""
        target = self._targets()[self.known, None]
        return np.asarray((target <= self.values[self.known]).mean(axis=0))

    @property
    def bands(self) -> list[tuple[int, int]]:
        """Positions of symmetric levels, such as 0.05 and 0.95, widest band first."""
        n = len(self.levels)
        pairs = ((low, high) for low in range(n) for high in range(low + 1, n))
        return [
            (low, high)
            for low, high in pairs
            if abs(self.levels[low] + self.levels[high] - 1.0) < 1e-9
        ]

    def inside(self, band: tuple[int, int]) -> npt.NDArray[np.bool_]:
        """Whether the target is in a band, ends included, for each row that has quantiles."""
        low, high = self.values[self.known][:, list(band)].T
        target = self._targets()[self.known]
        return np.asarray((low <= target) & (target <= high))

    def _targets(self) -> Floats:
        if self.target is None:
            raise ValueError(
                "coverage needs the targets of the rows; got rows without. Ask quantiles() with "
                "y, or with X=None for the training rows out of bag."
            )
        return self.target

    def to_pandas(self) -> Any:
        """Data frame with a column for each level."""
        pandas = import_optional("pandas", needed_by="RowQuantiles.to_pandas", install="pandas")
        return pandas.DataFrame(self.values, columns=[f"{level:g}" for level in self.levels])

    def _printed(self) -> PrintedTable:
        rows = [_line(str(row), values) for row, values in enumerate(self.values[:SHOWN])]
        if len(self.values) > SHOWN:
            rows.append(("…", *("" for _ in self.levels)))
        if self.target is not None:
            rows.append(_line("covered", self.coverage))
        of_whom = ", out of bag" if self.out_of_bag else ""
        title = f"Quantiles of {len(self.values)} rows{of_whom}"
        return PrintedTable(title, _line("row", self.levels), rows, (SEEN,) if self.seen else ())


def _line(name: str, values: Floats) -> tuple[str, ...]:
    return (name, *(rounded(value, 4) for value in values))


def quantiles(
    forest: Any,
    X_train: Any = None,
    y_train: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    levels: npt.ArrayLike = LEVELS,
    sample_weight: Any = None,
) -> RowQuantiles:
    """Quantiles of the targets of rows, to be drawn by `bevel.plots.fan_chart`.

    Like `ObliqueForestRegressor.predict_quantiles`, and also for the training rows out of bag:
    each row by the trees that have not seen it, so that the quantiles can be compared with its
    target.

    Parameters
    ----------
    forest : ObliqueForestRegressor
        A fitted regressor.
    X_train, y_train : array-like, default=None
        The rows of the fit and their targets, in the order of the fit; needed unless X is given and
        the forest was grown with ``keep_targets=True``.
    X : array-like of shape (n_rows, n_features), default=None
        Other rows. None: the training rows, out of bag. Training rows passed as X are predicted by
        trees that have seen them; the result notes it if it is recognised.
    y : array-like of shape (n_rows,), default=None
        Targets of these rows, for `coverage` and the chart.
    levels : sequence of float, default=(0.05, 0.25, 0.5, 0.75, 0.95)
        Levels from 0 to 1.
    sample_weight : array-like of shape (n_train,), default=None
        Weights of the training rows, if the fit had any.

    Returns
    -------
    RowQuantiles
        Quantiles at sorted levels.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import quantiles
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> quantiles(forest, X, y).coverage.shape
    (5,)
    """
    analysed = read_forest(forest, "quantiles")
    _check_regressor(analysed)
    ascending = np.unique(read_levels(levels))
    if X is not None:
        targets = training_targets(analysed, X_train, y_train, sample_weight)
        encoded = analysed.encode(X)
        target = None if y is None else np.asarray(analysed.target(y, len(encoded)), np.float64)
        found = quantiles_of(analysed, targets, encoded, ascending, target=target)
        return replace(found, seen=_are_training_rows(analysed, X_train, X, encoded, y))
    _check_training_rows(X_train, y_train, y)
    analysed.bags_with_rows_out()
    leaf_rows, rows, weighting = analysed.leaf_rows(X_train, y_train, sample_weight)
    if X is None:
        analysed.check_some_row_is_out(rows)
    target = np.asarray(rows.target, np.float64)
    targets = keep_targets(leaf_rows, target, weighting.weights)
    return quantiles_of(analysed, targets, rows.X, ascending, target=target, out=rows.out)


def _are_training_rows(
    analysed: AnalysedForest, X_train: Any, X: Any, encoded: npt.NDArray[np.float32], y: Any
) -> bool:
    """Whether rows are those of the fit, judged by bags or by the given rows of the fit."""
    if X_train is not None:
        return np.array_equal(encoded, analysed.encode(X_train), equal_nan=True)
    if y is None or analysed.fitted.provenance.bags is None:
        return False
    return analysed.recognised_rows(X, y) is not None


def training_targets(
    analysed: AnalysedForest, X_train: Any, y_train: Any, sample_weight: Any = None
) -> LeafTargets:
    """Training targets of the leaves: of the rows of the fit given again, or the stored ones."""
    regressor = _check_regressor(analysed)
    return regressor._targets_for(
        analysed.caller, (X_train, y_train, sample_weight), analysed.n_threads
    )


def quantiles_of(
    analysed: AnalysedForest,
    targets: LeafTargets,
    X: npt.NDArray[np.float32],
    levels: Floats,
    *,
    target: Floats | None = None,
    out: npt.NDArray[np.bool_] | None = None,
) -> RowQuantiles:
    """Quantiles of encoded rows from the training targets of the leaves.

    `out` marks the trees that have not seen a row, for training rows; `levels` ascend.
    """
    values = conditional_quantiles(analysed.predictor, targets, X, levels, analysed.n_threads, out)
    return RowQuantiles(levels, values, target, out is not None)


def _check_regressor(analysed: AnalysedForest) -> ObliqueForestRegressor:
    if not isinstance(analysed.estimator, ObliqueForestRegressor):
        remedy = "Use predict_proba, which gives the whole distribution of a class."
        raise wrong_type(
            f"The forest of {analysed.caller}", "a regressor", analysed.estimator, remedy
        )
    return analysed.estimator


def _check_training_rows(X_train: Any, y_train: Any, y: Any) -> None:
    """Raise unless the rows of the fit are given, and no targets of other rows."""
    if X_train is None or y_train is None:
        raise ValueError(
            "quantiles of the training rows out of bag need X_train and y_train; got no rows. Pass "
            "the rows of the fit, or other rows as X."
        )
    if y is not None:
        raise ValueError(
            "quantiles takes y for the rows of X; got y without X. Pass X, or leave y out: the "
            "training rows have y_train."
        )
