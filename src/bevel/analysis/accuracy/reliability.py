"""Calibration: predicted probabilities against observed frequencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel._types import AnyInts, Floats
from bevel.analysis.accuracy.evaluation_rows import (
    notes_of,
    predictions,
    read_evaluation_rows,
    wilson_interval,
)
from bevel.analysis.analysed_forest import check_count, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import join_names, wrong_value
from bevel.text.predictions import called

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BINS", "Calibration", "calibration", "calibration_of"]

BINS = ("quantile", "uniform")
OF_PREDICTED = "the predicted class"


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(PrintedResult):
    """Reliability curve: predicted and observed probabilities, in bins of rows.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean predicted probability of the rows of each bin, ascending.
    observed : ndarray of shape (n_bins,)
        Share of those rows that are of the class.
    low, high : ndarray of shape (n_bins,)
        Wilson's interval of 95 % around `observed`.
    n_rows : ndarray of int64, shape (n_bins,)
        Rows of each bin; bins without rows are left out.
    of : str
        Class of the probability, or "the predicted class".
    row_kind : {"new", "out-of-bag", "grown on"}
        Kind of the rows; "grown on": rows of the fit, predicted by trees that have seen them.
    """

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    n_rows: npt.NDArray[np.int64]
    of: str
    row_kind: str = "new"

    @property
    def expected_calibration_error(self) -> float:
        """Mean distance of predicted and observed, over the rows."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.n_rows))

    @property
    def maximum_calibration_error(self) -> float:
        """Largest distance of predicted and observed in a bin."""
        return float(np.abs(self.predicted - self.observed).max())

    def _printed(self) -> PrintedTable:
        header = ("predicted", "observed", "95 % interval", "rows")
        lines = [
            (f"{p:.3f}", f"{o:.3f}", f"{low:.3f} to {high:.3f}", str(n))
            for p, o, low, high, n in zip(
                self.predicted, self.observed, self.low, self.high, self.n_rows, strict=True
            )
        ]
        error = f"expected calibration error {self.expected_calibration_error:.4f}"
        title = f"Calibration of the probability of {called(self.of)}: {error}"
        if self.row_kind == "out-of-bag":
            title += ", out of bag"
        return PrintedTable(title, header, lines, notes_of(self.row_kind))

    def to_pandas(self) -> pd.DataFrame:
        """A row for each bin; needs pandas."""
        names = ("predicted", "observed", "low", "high", "n_rows")
        table: pd.DataFrame = data_frame({name: getattr(self, name) for name in names})
        return table


def calibration(
    forest: Any,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool | str = "auto",
    positive: Any = None,
    n_bins: int = 10,
    bins: str = "quantile",
) -> Calibration:
    """Reliability curve and expected calibration error of a classifier.

    All rows count equally, regardless of their weights in the fit; a forest grown with class
    weights is not meant to be calibrated.

    Parameters
    ----------
    forest : fitted classifier
        A forest, boosting, both together, or a pipeline that ends with one.
    X, y : array-like of shapes (n_rows, n_features) and (n_rows,)
        Rows that the model has not seen; or, of a forest, the rows of the fit in their order.
    out_of_bag : bool or "auto", default="auto"
        Evaluate each row by the trees that have not seen it. False: by all trees. "auto": True if
        these are the rows of the fit.
    positive : label, default=None
        Class of the probability. None: the second of two classes, or among more classes the
        predicted class of each row.
    n_bins : int, default=10
        Number of bins; fewer where rows are few or equal.
    bins : {"quantile", "uniform"}, default="quantile"
        Bins of about equally many rows, or equally wide ones. Rows with equal probabilities share
        a bin.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer()
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> calibration(forest, X, y, n_bins=5).expected_calibration_error < 0.05
    True
    """
    analysed = read_forest(forest, "calibration", predictions_only=True)
    instead = {
        "survival": "Use survival_calibration.",
        "regression": "See the quantiles of a regression instead.",
    }
    classes = analysed.check_classes("probabilities of classes", instead)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    known = rows.known
    codes = rows.target[known].astype(np.int64)
    aggregation = analysed.fitted.aggregation
    predicted = (
        aggregation.calibrate(predictions(analysed, rows)[known])
        if aggregation.has_bags
        else analysed.columns(rows.X)
    )
    labels = [str(label) for label in classes]
    chosen = None if positive is None else _position(classes.tolist(), positive)
    found = calibration_of(codes, predicted, labels, chosen, n_bins, bins)
    return replace(found, row_kind=rows.row_kind)


def calibration_of(
    codes: AnyInts,
    probabilities: Floats,
    labels: list[str],
    positive: int | None = None,
    n_bins: int = 10,
    bins: str = "quantile",
) -> Calibration:
    """Calibration of given probabilities.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        Positions of the true classes.
    probabilities : ndarray of shape (n_rows, n_classes)
        Predicted probabilities, without NaN.
    labels : list of str
        Names of the classes.
    positive, n_bins, bins
        Parameters as in `calibration`, with `positive` as a position.
    """
    check_count("n_bins", n_bins)
    if bins not in BINS:
        raise wrong_value("bins", " or ".join(map(repr, BINS)), bins, "The default is 'quantile'.")
    if positive is None and len(labels) == 2:
        positive = 1
    if positive is None:
        predicted, hit = probabilities.max(axis=1), probabilities.argmax(axis=1) == codes
    else:
        predicted, hit = probabilities[:, positive], codes == positive
    cut = _bins_of_equal_numbers if bins == "quantile" else _bins_of_equal_width
    number = cut(predicted, n_bins)
    n_rows = np.bincount(number)
    used = n_rows > 0
    n_rows = n_rows[used]
    means = np.bincount(number, predicted)[used] / n_rows
    n_hits = np.bincount(number, hit)[used]
    of = OF_PREDICTED if positive is None else labels[positive]
    return Calibration(means, n_hits / n_rows, *wilson_interval(n_hits, n_rows), n_rows, of)


def _position(classes: list[Any], positive: Any) -> int:
    if positive not in classes:
        required = f"a class of the fit ({join_names([str(each) for each in classes])})"
        raise wrong_value("positive", required, positive, "Pass one of them, or None.")
    return classes.index(positive)


def _bins_of_equal_numbers(predicted: Floats, n_bins: int) -> npt.NDArray[np.int64]:
    """Bin of each row by its rank; rows with equal values have the rank of the first of them."""
    _, first, group = np.unique(np.sort(predicted), return_index=True, return_inverse=True)
    bin_of_rank = np.arange(len(predicted)) * min(n_bins, len(predicted)) // len(predicted)
    bin_in_order = bin_of_rank[first[group]]
    number = np.empty(len(predicted), np.int64)
    number[np.argsort(predicted, kind="stable")] = bin_in_order
    return number


def _bins_of_equal_width(predicted: Floats, n_bins: int) -> npt.NDArray[np.int64]:
    return np.minimum((predicted * n_bins).astype(np.int64), n_bins - 1)
