"""Missing values filled in from the rows that a forest finds alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bevel._types import Array, Floats
from bevel.analysis.analysed_forest import check_count, read_forest
from bevel.analysis.neighbours.proximity import LeafTable, check_kind, read_leaves
from bevel.analysis.rules.conditions import commonest, missing_in, put_back, read_columns
from bevel.data.encoding import choose_nominal, learn_levels
from bevel.data.leaks import without_leak_alarm
from bevel.data.tables import Columns, SparseTable, Table, read_table
from bevel.errors import wrong_type
from bevel.estimators._base import DocumentationLink, copy_with, whole_or_not_at_all
from bevel.estimators.forest import ObliqueForest

__all__ = [
    "KnownColumn",
    "ProximityImputer",
    "learn_known",
]

# Imputes missing values of a column by weighted means and votes of its known values.


class KnownColumn(Protocol):
    """A column whose known values fill missing ones."""

    @property
    def rough(self) -> Any:
        """Imputed value that does not depend on rows."""
        ...

    def estimate(self, weights: sp.csr_array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Value for each row of weights of the column's rows, and whether any of them is known."""
        ...

    def change(self, before: Array, after: Array) -> float:
        """Sum of the differences between two fillings, in units that compare over columns."""
        ...


@dataclass(frozen=True, eq=False)
class KnownNumbers:
    """A numeric column, imputed by the weighted mean."""

    rough: float  # the median
    offset: Floats  # known values minus the median, 0 where missing
    present: Floats  # 1 if known, else 0
    spread: float

    def estimate(self, weights: sp.csr_array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Weighted mean of the known values."""
        weight = weights @ self.present
        is_known = weight > 0.0
        mean = np.divide(weights @ self.offset, weight, out=np.zeros_like(weight), where=is_known)
        return self.rough + mean, is_known

    def change(self, before: Array, after: Array) -> float:
        """Sum of the absolute differences, in standard deviations of the known values."""
        return float(np.abs(after - before).sum()) / self.spread if self.spread > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """A nominal column, imputed by the weighted vote."""

    rough: Any  # the most frequent label
    labels: npt.NDArray[np.object_]
    votes: sp.csr_array  # rows x labels: 1 for the label a row has

    def estimate(self, weights: sp.csr_array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Label of the largest weight; ties go to the first label."""
        shares = (weights @ self.votes).toarray()
        return self.labels[shares.argmax(axis=1)], shares.max(axis=1) > 0.0

    def change(self, before: Array, after: Array) -> float:
        """Number of labels that differ."""
        return float(np.count_nonzero(after != before))


def learn_known(column: Array, name: str) -> KnownColumn:
    """Known values of a column; `name` is the column's, for messages."""
    present = ~missing_in(column)
    if not present.any():
        raise ValueError(
            f"A column to impute must have a value; got none in column {name}. Drop the column."
        )
    if column.dtype.kind != "O":
        known = column[present]
        if np.isinf(known).any():
            raise ValueError(
                f"Numbers to impute from must be finite; got infinity in column {name}. Make it "
                "missing, or a large number."
            )
        median = float(np.median(known))
        offset = np.where(present, column - median, 0.0)
        return KnownNumbers(median, offset, present.astype(np.float64), float(known.std()))
    labels = learn_levels(column[present], name, len(column))
    codes = labels.encode(column[present], name).astype(np.intp)
    shape = (len(column), len(labels.labels))
    votes = sp.csr_array((np.ones(len(codes)), (np.flatnonzero(present), codes)), shape=shape)
    return KnownLabels(commonest(column[present]), labels.labels, votes)


Missing = Sequence[npt.NDArray[np.bool_]]  # one mask for each column


class ProximityImputer(DocumentationLink, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Impute missing values by proximity, in Breiman's rounds.

    Missing values are first filled with the column's median or most frequent label. Then, in each
    round, a forest is grown on the filled table, and a missing number becomes the mean of the
    column's known values, a missing label their vote, each weighted by the proximity of its row.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        Forest to grow in each round; it is cloned. Its `categorical_features` define the nominal
        columns.
    kind : {"oob", "in_bag", "all"}, default="oob"
        Trees that count for a row. "oob": values are imputed by trees that have not learned from
        the row or its target. With "all", as in Breiman's method, the proximities depend on the
        target, which leaks into the imputed values.
    n_rounds : int, default=5
        Number of forests to grow.

    Attributes
    ----------
    changes_ : ndarray of float64, shape (n_rounds,)
        Mean change of an imputed value in each round: in standard deviations of its column's known
        values, or 1 for another label.
    n_missing_ : int
        Number of missing values in the table of the fit.

    Notes
    -----
    `fit_transform` imputes the rows it learns from. `transform` imputes new rows, such as those of
    a test set, from the rows of the fit, by the last forest and without targets. Calling it on the
    rows of the fit treats them as new ones. A value whose row shares no leaf with a row that has a
    value keeps its last imputation. Rows count equally: weights of a later fit are not used.

    References
    ----------
    Breiman, Manual on setting up, using, and understanding random forests v3.1, 2002. SPORF's
    Appendix C imputes by R's randomForest, which does the same with ``kind="all"``.

    Examples
    --------
    >>> import numpy as np
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import ProximityImputer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> X[::5, 2] = np.nan
    >>> imputer = ProximityImputer(ObliqueForestClassifier(50, random_state=0))
    >>> bool(np.isnan(imputer.fit_transform(X, y)).any())
    False
    """

    def __init__(self, estimator: Any, *, kind: str = "oob", n_rounds: int = 5) -> None:
        self.estimator = estimator
        self.kind = kind
        self.n_rounds = n_rounds

    def fit(self, X: Any, y: Any) -> Self:
        """Learn to impute rows like these; X and y as in `fit_transform`."""
        self.fit_transform(X, y)
        return self

    @whole_or_not_at_all
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Impute the missing values of training rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Training rows; NaN and None are missing.
        y : array-like of shape (n_rows,)
            Targets of the rows.

        Returns
        -------
        array or data frame
            A copy of X without missing values.
        """
        self._check_parameters(y)
        table = self._read(X, reset=True)
        self._nominal = choose_nominal(self.estimator.categorical_features, table)
        columns = self._columns(table)
        self._known = [learn_known(c, table.describe(f)) for f, c in enumerate(columns.values)]
        missing = [missing_in(column) for column in columns.values]
        self.n_missing_ = int(np.sum(missing))
        filled = _fill_roughly(columns, missing, self._known)
        changes = []
        for _ in range(self.n_rounds):
            self._leaves = self._grow(filled, y)
            before, filled = filled, _refill(filled, missing, self._known, self._leaves)
            changes.append(_mean_change(before, filled, missing, self._known))
        self.changes_ = np.array(changes)
        return put_back(X, filled, missing)

    def transform(self, X: Any) -> Any:
        """Impute the missing values of new rows from the rows of the fit.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        array or data frame
            A copy of X without missing values.
        """
        check_is_fitted(self, "changes_")
        columns = self._columns(self._read(X, reset=False))
        missing = [missing_in(column) for column in columns.values]
        filled = _fill_roughly(columns, missing, self._known)
        analysed = self._leaves.analysed
        for _ in range(self.n_rounds if np.any(missing) else 0):
            leaves = analysed.predictor.leaves(analysed.encode(filled), analysed.n_threads)
            filled = _refill(filled, missing, self._known, self._leaves, leaves)
        return put_back(X, filled, missing)

    def _check_parameters(self, y: Any) -> None:
        if not isinstance(self.estimator, ObliqueForest):
            name, required = "The estimator of ProximityImputer", "a forest of Bevel"
            remedy = "Pass for example ObliqueForestClassifier()."
            raise wrong_type(name, required, self.estimator, remedy)
        check_kind(self.kind)
        check_count("n_rounds", self.n_rounds)
        if y is None:
            raise ValueError(
                "ProximityImputer grows forests and needs y, the targets of the rows; got None. "
                "Pass y to fit or fit_transform; transform needs none."
            )

    def _read(self, X: Any, *, reset: bool) -> Table:
        table = read_table(X)
        if isinstance(table, SparseTable):
            required = "an array or a data frame"
            raise wrong_type("X of ProximityImputer", required, X, "Pass X.toarray().")
        if not isinstance(X, Columns):  # unknown to scikit-learn; the forest compares names
            validate_data(self, table.native, reset=reset, skip_check_array=True)
        return table

    def _columns(self, table: Table) -> Columns:
        names = [table.describe(feature) for feature in range(table.n_features)]
        return read_columns(table, self._nominal, names)

    def _grow(self, filled: Columns, y: Any) -> LeafTable:
        """Leaves of the filled rows in a forest that was grown on them."""
        forest = copy_with(self.estimator, categorical_features=self._nominal or None)
        with without_leak_alarm():
            analysed = read_forest(forest.fit(filled, y), "ProximityImputer")
        return read_leaves(analysed, filled, y, self.kind)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


def _fill_roughly(columns: Columns, missing: Missing, known: Sequence[KnownColumn]) -> Columns:
    values = [column.copy() for column in columns.values]
    for column, where, each in zip(values, missing, known, strict=True):
        column[where] = each.rough
    return Columns(columns.names, tuple(values))


def _refill(
    filled: Columns,
    missing: Missing,
    known: Sequence[KnownColumn],
    table: LeafTable,
    leaves: npt.NDArray[np.int32] | None = None,
) -> Columns:
    """Impute missing values again, in the table's own rows or in others with the given leaves."""
    values = [column.copy() for column in filled.values]
    rows = np.flatnonzero(np.any(missing, axis=0))
    # The weight of a row on itself has no effect where its value is missing.
    for block, weights in table.of_new((table.leaves if leaves is None else leaves)[rows]):
        for column, where, each in zip(values, missing, known, strict=True):
            lacking = where[rows[block]]
            if lacking.any():
                value, is_known = each.estimate(weights[lacking])
                column[rows[block][lacking][is_known]] = value[is_known]
    return Columns(filled.names, tuple(values))


def _mean_change(
    before: Columns, after: Columns, missing: Missing, known: Sequence[KnownColumn]
) -> float:
    columns = zip(before.values, after.values, missing, known, strict=True)
    total = sum(each.change(one[where], other[where]) for one, other, where, each in columns)
    return total / max(1, int(np.sum(missing)))
