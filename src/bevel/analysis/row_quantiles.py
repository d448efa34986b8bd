"""Conditional quantiles of a regressor's rows, of new ones or of the training rows out of bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis.printing import write_table
from bevel.analysis.subject import read_subject
from bevel.errors import wrong_type
from bevel.extras import import_optional
from bevel.kept_targets import keep_targets
from bevel.quantiles import conditional_quantiles, read_levels

__all__ = ["RowQuantiles", "quantiles"]

Floats = npt.NDArray[np.float64]

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
SHOWN = 5  # rows in a table


@dataclass(frozen=True, eq=False)
class RowQuantiles:
    """Quantiles of the targets of rows.

    Attributes
    ----------
    levels : ndarray of shape (k,)
        Ascending.
    values : ndarray of shape (n_rows, k)
        Quantiles; NaN for training rows that were in every bag.
    target : ndarray of shape (n_rows,) or None
        What the rows' targets were, if they are the training rows.
    """

    levels: Floats
    values: Floats
    target: Floats | None

    @property
    def coverage(self) -> Floats:
        """Share of targets at or below each quantile, to be compared with `levels`."""
        if self.target is None:
            raise ValueError(
                "coverage needs the targets of the rows; got rows without. Ask quantiles() with "
                "X=None, for the training rows out of bag, or compare with your own targets."
            )
        known = ~np.isnan(self.values[:, 0])
        return np.asarray((self.target[known, None] <= self.values[known]).mean(axis=0))

    def to_pandas(self) -> Any:
        """Data frame with a column for each level."""
        pandas = import_optional("pandas", needed_by="RowQuantiles.to_pandas", install="pandas")
        return pandas.DataFrame(self.values, columns=[f"{level:g}" for level in self.levels])

    def __str__(self) -> str:
        rows = [_line(str(row), values) for row, values in enumerate(self.values[:SHOWN])]
        if len(self.values) > SHOWN:
            rows.append(("…", *("" for _ in self.levels)))
        if self.target is not None:
            rows.append(_line("covered", self.coverage))
        of_whom = "" if self.target is None else ", out of bag"
        title = f"Quantiles of {len(self.values)} rows{of_whom}"
        return f"{title}\n" + write_table(_line("row", self.levels), rows)

    __repr__ = __str__


def _line(name: str, values: Floats) -> tuple[str, ...]:
    return (name, *(f"{value:.4g}" for value in values))


def quantiles(
    forest: Any,
    X_train: Any,
    y_train: Any,
    X: Any = None,
    *,
    levels: npt.ArrayLike = LEVELS,
    sample_weight: Any = None,
) -> RowQuantiles:
    """Quantiles of the targets of rows, ready to be drawn by `bevel.plots.fan_chart`.

    The same as `ObliqueForestRegressor.predict_quantiles`, and for the training rows out of bag:
    each row by the trees that have not seen it, so that the quantiles can be held against its
    target.

    Parameters
    ----------
    forest : ObliqueForestRegressor
        Fitted.
    X_train, y_train : array-like
        The rows of the fit and their targets, in the order of the fit.
    X : array-like of shape (n_rows, n_features), default=None
        Rows. None: the training rows, out of bag.
    levels : sequence of float, default=(0.05, 0.25, 0.5, 0.75, 0.95)
        From 0 to 1.
    sample_weight : array-like of shape (n_train,), default=None
        Weights of the training rows, if the fit had any.

    Returns
    -------
    RowQuantiles
        Levels are sorted.

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
    subject = read_subject(forest, "quantiles")
    if subject.classes is not None:
        remedy = "Use predict_proba, which tells the whole distribution of a class."
        raise wrong_type("The forest of quantiles", "a regressor", forest, remedy)
    ascending = np.unique(read_levels(levels))
    if X is None:
        subject.honest_bags()
    leaf_rows, rows, weighting = subject.leaf_rows(X_train, y_train, sample_weight)
    target = np.asarray(rows.target, np.float64)
    trees, encoded = (None, subject.encode(X)) if X is not None else (rows.out, rows.X)
    values = conditional_quantiles(
        subject.predictor,
        keep_targets(leaf_rows, target, weighting.weights),
        encoded,
        ascending,
        subject.n_threads,
        trees,
    )
    return RowQuantiles(ascending, values, target if X is None else None)
