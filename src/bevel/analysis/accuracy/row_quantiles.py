"""Conditional quantiles of a regressor, for new rows or for the training rows out of bag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.errors import wrong_type
from bevel.estimators._quantiles import Quantiles
from bevel.extras import import_optional
from bevel.forest.kept_targets import KeptTargets, keep_targets
from bevel.forest.quantiles import conditional_quantiles, read_levels
from bevel.forest.training_rows import training_rows_of

__all__ = ["RowQuantiles", "quantiles", "quantiles_of", "training_targets"]


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
    return (name, *(f"{value:.4g}" for value in values))


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
        return replace(found, seen=_are_training_rows(analysed, X_train, encoded, y))
    _check_training_rows(X_train, y_train, y)
    analysed.honest_bags()
    leaf_rows, rows, weighting = analysed.leaf_rows(X_train, y_train, sample_weight)
    if X is None:
        analysed.check_some_row_is_out(rows)
    target = np.asarray(rows.target, np.float64)
    targets = keep_targets(leaf_rows, target, weighting.weights)
    return quantiles_of(analysed, targets, rows.X, ascending, target=target, out=rows.out)


def _are_training_rows(
    analysed: AnalysedForest, X_train: Any, encoded: npt.NDArray[np.float32], y: Any
) -> bool:
    """Whether rows are those of the fit, judged by bags or by the given rows of the fit."""
    if X_train is not None:
        return np.array_equal(encoded, analysed.encode(X_train), equal_nan=True)
    if y is None or analysed.fitted.bags is None:
        return False
    try:
        training_rows_of(analysed.fitted, encoded, y, analysed.caller)
    except ValueError:  # rows of other leaves
        return False
    return True


def training_targets(
    analysed: AnalysedForest, X_train: Any, y_train: Any, sample_weight: Any = None
) -> KeptTargets:
    """Training targets of the leaves: of the rows of the fit given again, or the stored ones."""
    regressor = _check_regressor(analysed)
    return regressor._targets_for(
        analysed.caller, (X_train, y_train, sample_weight), analysed.n_threads
    )


def quantiles_of(
    analysed: AnalysedForest,
    targets: KeptTargets,
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


def _check_regressor(analysed: AnalysedForest) -> Quantiles:
    if not isinstance(analysed.estimator, Quantiles):
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
