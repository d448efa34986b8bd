"""Intervals and sets of classes that contain the targets of new rows with a given probability.

Each training row is predicted by trees, or models, that have not seen it; how far these are off is
added to what the same trees predict for a new row. No distribution is assumed, only that new rows
are like the training rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from bevel._types import Array, Bools, Floats, Ints64, Target
from bevel.analysis.analysed_forest import AnalysedForest, check_count, read_forest
from bevel.analysis.printing import PrintedResult, PrintedTable, data_frame
from bevel.errors import shorten, wrong_value
from bevel.forest.fitted_forest import FittedForest
from bevel.forest.predictor import tree_predictions
from bevel.forest.quantiles import interval_levels
from bevel.forest.task import Classification, Regression

__all__ = ["ConformalPredictions", "conformal"]

BLOCK_SIZE = 2**22  # numbers of a block: 32 MB
MAX_NUMBERS = 2**28  # numbers held at a time: 2 GB


class LeftOut(ABC):
    """Predictions without single training rows."""

    method: ClassVar[str]
    target: Target
    own: Floats  # prediction of each training row without it, rows x columns; NaN if there is none

    @abstractmethod
    def of_new(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Predictions of new rows without each training row: blocks of columns x rows x training
        rows.
        """


class TreesLeftOut(LeftOut):
    """Each training row is left out by the trees whose bags it is out of (Kim, Xu, Barber 2020)."""

    method = "jackknife+ after bootstrap"

    def __init__(self, analysed: AnalysedForest, X: Any, y: Any) -> None:
        rows = analysed.out_of_bag_rows(X, y)
        if rows.out.size > MAX_NUMBERS:
            raise ValueError(
                f"conformal needs trees times training rows to be at most {MAX_NUMBERS}; got "
                f"{rows.out.shape[1]} trees and {len(rows.out)} rows. Grow fewer trees, or fit on "
                "fewer rows."
            )
        self.target, self._analysed = rows.target, analysed
        self._out = rows.out.T.astype(np.float64)  # trees x rows
        self._count = np.maximum(self._out.sum(axis=0), 1.0)
        self.own = np.full((len(rows.X), max(1, analysed.forest.n_classes)), np.nan)
        for some in self._blocks(len(rows.X)):
            trees = self._trees(rows.X[some])
            sums = np.einsum("mbk,bm->mk", trees, self._out[:, some])
            self.own[some] = self._calibrated(sums / self._count[some, None])
        self.own[~rows.out.any(axis=1)] = np.nan

    def of_new(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        encoded = self._analysed.encode(X)
        n_training = self._out.shape[1]
        for some in self._blocks(len(encoded)):
            trees = np.moveaxis(self._trees(encoded[some]), -1, 0)
            means = (trees @ self._out) / self._count
            found = self._calibrated(np.moveaxis(means, 0, -1).reshape(-1, len(means)))
            yield some, np.moveaxis(found.reshape(-1, n_training, len(means)), -1, 0)

    def _calibrated(self, shares: Floats) -> Floats:
        """Predictions from means over trees, rows x columns."""
        return self._analysed.fitted.aggregation.calibrate(np.ascontiguousarray(shares))

    def _blocks(self, n_rows: int) -> Iterator[slice]:
        step = max(1, BLOCK_SIZE // (max(self._out.shape) * self.own.shape[1]))
        return (slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step))

    def _trees(self, encoded: npt.NDArray[np.float32]) -> Floats:
        """Predictions of all trees, rows x trees x columns."""
        forest = self._analysed.forest
        leaves = self._analysed.predictor.leaves(encoded, self._analysed.n_threads)
        return tree_predictions(forest, leaves + forest.tree_offset[:-1], self._analysed.hard)


class ModelsLeftOut(LeftOut):
    """Each training row is left out by the model of its fold (CV+: Barber et al. 2021)."""

    method = "CV+"

    def __init__(self, model: Any, fitted: FittedForest, X: Any, y: Any, cv: int) -> None:
        X = X if hasattr(X, "shape") else np.asarray(X)
        labels = np.asarray(y)
        self.target = fitted.task.read_again(y, X.shape[0])
        self._classes, n_rows = fitted.task.classes, len(self.target)
        if cv > n_rows:
            raise wrong_value("cv", f"at most the {n_rows} rows", cv, "Use for example 5.")
        # Rows of each class are spread over the folds.
        shuffled = np.random.default_rng(0).permutation(n_rows)
        order = shuffled[np.argsort(self.target[shuffled], kind="stable")]
        if self._classes is None:
            order = shuffled
        self._fold = np.empty(n_rows, dtype=np.int64)
        self._fold[order] = np.arange(n_rows) % cv
        self._models = []
        self.own = np.empty((n_rows, 1 if self._classes is None else len(self._classes)))
        for fold in range(cv):
            kept, held_out = np.flatnonzero(self._fold != fold), np.flatnonzero(self._fold == fold)
            part = clone(model).fit(_safe_indexing(X, kept), labels[kept])
            self._models.append(part)
            self.own[held_out] = self._columns(part, _safe_indexing(X, held_out))

    def of_new(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        parts = np.array([self._columns(model, X) for model in self._models])
        n_rows, n_columns = parts.shape[1:]
        step = max(1, BLOCK_SIZE // (len(self._fold) * n_columns))
        for first in range(0, n_rows, step):
            some = slice(first, min(first + step, n_rows))
            yield some, np.moveaxis(parts[:, some], (0, 1, 2), (2, 1, 0))[..., self._fold]

    def _columns(self, model: Any, X: Any) -> Floats:
        if self._classes is None:
            return np.asarray(model.predict(X), dtype=np.float64)[:, None]
        found = np.zeros((len(X) if not hasattr(X, "shape") else X.shape[0], len(self._classes)))
        found[:, np.searchsorted(self._classes, model.classes_)] = model.predict_proba(X)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class ConformalPredictions(PrintedResult):
    """Predicts intervals, or sets of classes, that contain the target with a given probability.

    Attributes
    ----------
    method : str
        How training rows are left out: "jackknife+ after bootstrap" or "CV+".
    scores : ndarray of shape (n_rows,)
        How far each training row is from the prediction without it: the size of the residual, or 1
        minus the probability of its class.
    classes : ndarray or None
        Labels of the classes; None in regression.
    by : ndarray or None
        Label of the group of each training row that coverage is held in; None for all rows.
    """

    method: str
    scores: Floats
    classes: Array | None
    by: Array | None
    left_out: LeftOut
    kept: Ints64

    def predict_interval(self, X: Any, coverage: float = 0.9, *, by: Any = None) -> Floats:
        """Interval in which the target of each new row lies with a given probability.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            New rows.
        coverage : float, default=0.9
            Share of targets that should be inside, between 0 and 1.
        by : array-like of shape (n_rows,), default=None
            Groups of the rows; required if, and only if, `conformal` was given those of the
            training rows.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends; infinite if there are too few training rows.
        """
        if self.classes is not None:
            raise ValueError(
                "predict_interval needs a regression; got a classifier. Use predict_set."
            )
        interval_levels(coverage)
        parts = []
        for some, predictions in self.left_out.of_new(X):
            around = predictions[0][:, self.kept]
            ends = np.empty((len(around), 2))
            for rows, columns in self._groups(by, some, X):
                scores = self.scores[columns]
                own = around[np.ix_(rows, columns)]
                ends[rows, 0] = -_upper_quantile(scores - own, coverage)
                ends[rows, 1] = _upper_quantile(own + scores, coverage)
            parts.append(ends)
        return np.concatenate(parts)

    def predict_set(self, X: Any, coverage: float = 0.9, *, by: Any = None) -> Bools:
        """Classes among which the class of each new row is with a given probability.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            New rows.
        coverage : float, default=0.9
            Share of rows whose class should be in their set, between 0 and 1.
        by : array-like of shape (n_rows,), default=None
            Groups of the rows, as in `predict_interval`.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_classes)
            Whether a class is in the set of a row, in the order of `classes`. A set may be empty,
            where no class is as probable as those of most training rows.
        """
        if self.classes is None:
            raise ValueError(
                "predict_set needs a classifier; got a regression. Use predict_interval."
            )
        interval_levels(coverage)
        parts = []
        for some, predictions in self.left_out.of_new(X):
            found = np.zeros((predictions.shape[1], len(self.classes)), dtype=bool)
            for rows, columns in self._groups(by, some, X):
                scores, most = self.scores[columns], coverage * (len(columns) + 1) * (1 - 1e-12)
                for label, shares in enumerate(predictions):
                    own = 1.0 - shares[np.ix_(rows, self.kept[columns])]
                    found[rows, label] = (scores < own).sum(axis=1) < most
            parts.append(found)
        return np.concatenate(parts)

    def to_pandas(self) -> Any:
        """A line for each training row that was left out: its number, its score, its group."""
        group = {} if self.by is None else {"group": self.by}
        return data_frame({"row": self.kept, "score": self.scores, **group})

    def _groups(self, by: Any, some: slice, X: Any) -> Iterator[tuple[Ints64, Ints64]]:
        """Rows of a block and training rows that belong together."""
        n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        if (by is None) != (self.by is None):
            required = "None" if self.by is None else "the group of each row, as conformal was"
            remedy = "Pass by to conformal and to predictions, or to neither."
            raise wrong_value("by", required, by, remedy)
        if self.by is None:
            yield np.arange(*some.indices(n_rows)) - some.start, np.arange(len(self.scores))
            return
        labels = read_by(by, n_rows)[some]
        strange = labels[~np.isin(labels, self.by)]
        if len(strange):
            required = "groups of the training rows"
            raise wrong_value(
                "by", required, strange.tolist()[0], "Pool rare groups before conformal."
            )
        for label in np.unique(labels):
            yield np.flatnonzero(labels == label), np.flatnonzero(self.by == label)

    def _printed(self) -> PrintedTable:
        low, middle, high = np.quantile(self.scores, [0.5, 0.9, 0.99])
        word = "residual" if self.classes is None else "1 - probability"
        rows = [(f"median {word}", low), ("quantile 0.9", middle), ("quantile 0.99", high)]
        title = f"Conformal prediction by {self.method} of {len(self.scores)} rows"
        groups = () if self.by is None else (f"coverage in {len(np.unique(self.by))} groups",)
        return PrintedTable(title, (), rows, groups)


def conformal(
    model: Any, X_train: Any, y_train: Any, *, by: Any = None, cv: int = 5
) -> ConformalPredictions:
    """Intervals, or sets of classes, whose coverage does not depend on the model being right.

    Forests with bags are not fitted again: the trees that have not seen a training row predict it,
    and new rows (jackknife+ after bootstrap, Kim, Xu and Barber 2020). Boosting, combined models
    and forests without bags are fitted once for each fold (CV+, Barber et al. 2021). If new rows
    are like the training rows, about the given share of their targets is covered on average, and at
    least 1 - 2 (1 - coverage) for any distribution and any model. What the fit itself chooses on
    all rows, such as families of directions out of bag, is neglected.

    Parameters
    ----------
    model : ObliqueForestClassifier, ObliqueForestRegressor, boosting or combined model
        A fitted model of one target, of classes or numbers.
    X_train, y_train : array-like
        The rows of the fit and their targets, in its order.
    by : array-like of shape (n_train,), default=None
        Groups in each of which the share shall be covered, such as sites: residuals are compared
        within a group. None: over all rows.
    cv : int, default=5
        Number of folds of models that are fitted again.

    Returns
    -------
    ConformalPredictions
        Has `predict_interval` and `predict_set`.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import conformal
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X[:400], y[:400])
    >>> conformal(forest, X[:400], y[:400]).predict_interval(X[400:402], coverage=0.8).shape
    (2, 2)
    """
    check_count("cv", cv, low=2)
    left_out = _left_out(model, X_train, y_train, cv)
    own, target = left_out.own, left_out.target
    kept = np.flatnonzero(~np.isnan(own[:, 0]))
    groups = None if by is None else read_by(by, len(own))[kept]
    fitted: Any = model.fitted_forest_
    classes = fitted.task.classes
    if classes is None:
        scores = np.abs(target - own[:, 0])
    else:
        scores = 1.0 - own[np.arange(len(own)), target.astype(np.intp)]
    return ConformalPredictions(left_out.method, scores[kept], classes, groups, left_out, kept)


def _left_out(model: Any, X: Any, y: Any, cv: int) -> LeftOut:
    fitted: Any = getattr(model, "fitted_forest_", None)
    if fitted is None:
        read_forest(model, "conformal")  # raises
    task = fitted.task
    task.check_has_target("conformal")
    task.check_one_output("conformal")
    if not isinstance(task, Classification | Regression):
        raise ValueError(
            f"conformal needs a model of classes or numbers; got {task.model}. Use the measures "
            "that are made for it, such as score."
        )
    if fitted.aggregation.sorts:
        raise ValueError(
            "conformal needs a model with one prediction for each row; got one of several "
            "quantiles. Fit a model of the median, or of squared error."
        )
    if fitted.aggregation.has_bags:
        analysed = read_forest(model, "conformal")
        if analysed.leaves_rows_out():
            return TreesLeftOut(analysed, X, y)
    return ModelsLeftOut(model, fitted, X, y, int(cv))


def read_by(by: Any, n_rows: int) -> Array:
    """Groups of rows as an array."""
    labels = np.asarray(by)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"by must have shape ({n_rows},), for each row the label of its group; got shape "
            f"{labels.shape} ({shorten(by)}). Pass the groups of these rows."
        )
    return labels


def _upper_quantile(values: Floats, coverage: float) -> Floats:
    """Value of rank ceil(coverage * (n + 1)) in each row; infinite if the rank exceeds n."""
    n = values.shape[1]
    rank = int(np.ceil(coverage * (n + 1) * (1.0 - 1e-12)))
    if rank > n:
        return np.full(len(values), np.inf)
    return np.asarray(np.partition(values, rank - 1, axis=1)[:, rank - 1])
