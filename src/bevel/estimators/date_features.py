"""A transformer that appends parts of dates which the target varies with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from bevel._types import Array, Floats
from bevel.data.date_parts import PARTS, helps, part_of, varies, words_of_week
from bevel.data.tables import Columns, MatrixTable, Table, series_as_days
from bevel.errors import join_names
from bevel.estimators._base import TableEstimator, whole_or_not_at_all
from bevel.parameters.forest_parameters import documented
from bevel.parameters.parameter import Number, Parameter, check_each

__all__ = ["DateFeatures"]

MAX_CLASSES = 30  # whole numbers of more distinct values are quantities

DATE_FEATURES: Mapping[str, Parameter] = {
    "alpha": Parameter(
        "alpha",
        0.01,
        [Number("(0, 1]")],
        "Level of the tests together: each has alpha over their number. 1 keeps every part that "
        "varies and predicts held-out stretches of time better.",
    )
}


@documented(DATE_FEATURES)
class DateFeatures(
    TransformerMixin,  # type: ignore[misc]
    TableEstimator,
):
    """Append to a table those parts of its dates that the target varies with.

    Trees read a date as a moment: before or after a day. Whatever returns every year, week or day
    needs a column of its own: "day of year of signed_up", "day of week of signed_up" (nominal) and
    "hour of signed_up". A part is appended only if

    - it varies, over more than one cycle;
    - the target varies with it beyond a polynomial of the moment, by an F test with a correction
      for the number of tests;
    - what is learned of it in four fifths of the time holds in the fifth that was held out, in all
      and in at least four of the five.

    Without a target every part that varies is appended. Times with a zone are read as the clock
    shows them there.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    parts_ : dict of str to tuple of str
        The parts that are appended, by column of dates.
    p_values_ : dict of (str, str) to float
        p-value of each pair of column and part that varies, uncorrected; empty without a target.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names seen in fit, if X had names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from bevel import DateFeatures
    >>> day = pd.Series(pd.date_range("2023-01-01", "2024-12-31"))
    >>> sales = 100.0 + 50.0 * (day.dt.day_of_week > 4)
    >>> table = pd.DataFrame({"day": day})
    >>> DateFeatures().fit_transform(table, sales).columns.tolist()
    ['day', 'day of week of day']
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = DATE_FEATURES
    parts_: dict[str, tuple[str, ...]]
    p_values_: dict[tuple[str, str], float]

    def __init__(self, alpha: float = 0.01) -> None:
        self.alpha = alpha

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the parts of each column of dates.

        Parameters
        ----------
        X : data frame of shape (n_rows, n_features)
            Training rows; arrays are accepted if they have no dates.
        y : array of shape (n_rows,) or (n_rows, n_outputs), default=None
            Targets: classes, or numbers.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        check_each(self._own_parameters(), self._parameters)
        table = self._read(X, "no_validation", reset=True)
        dates = table.dates()
        if dates and isinstance(table, MatrixTable):
            raise TypeError(
                "X must be a data frame to append parts of dates, for their columns have names and "
                f"types of their own; got an array with dates in column {dates[0]}. Pass for "
                "example pandas.DataFrame(X)."
            )
        targets = None if y is None else _numbers_of(y, table.n_rows)
        columns = {str(self._name(table, f)): _days(table, f) for f in dates}
        found = [(name, p) for name, d in columns.items() for p in PARTS if varies(p, d)]
        self._features = {str(self._name(table, f)): f for f in dates}
        self.p_values_ = {}
        kept = found
        if targets is not None:
            evidence = {(name, p): helps(p, columns[name], targets) for name, p in found}
            self.p_values_ = {pair: p_value for pair, (p_value, _) in evidence.items()}
            level = self.alpha / max(len(found), 1)
            kept = [pair for pair, (p, holds) in evidence.items() if p <= level and holds]
        self.parts_ = {name: tuple(p for c, p in kept if c == name) for name in columns}
        self._check_names(table)
        return self

    def transform(self, X: Any) -> Any:
        """Append the parts to rows.

        Parameters
        ----------
        X : data frame of shape (n_rows, n_features)
            Rows with the columns of fit.

        Returns
        -------
        data frame of the type of X
            All columns of X, then the parts; X itself if there are none.
        """
        check_is_fitted(self)
        table = self._read(X, "no_validation", reset=False)
        made: dict[str, Array] = {}
        for column, parts in self.parts_.items():
            days = _days(table, self._features[column])
            for part in parts:
                values = part_of(part, days)
                is_week = part == "day of week"
                made[f"{part} of {column}"] = words_of_week(values) if is_week else values
        if not made:
            return table.native
        if isinstance(X, Columns):
            all_values = (*X.values, *made.values())
            return Columns((*X.names, *made), all_values, X.dates, X.truths)
        frame = nw.from_native(X, eager_only=True)
        backend = nw.get_native_namespace(frame)
        appended = [
            nw.new_series(name, column.tolist(), _dtype(column), backend=backend)
            for name, column in made.items()
        ]
        return frame.with_columns(*appended).to_native()

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored: the columns keep their names of fit, or are x0, x1, ….

        Returns
        -------
        ndarray of str objects
            The columns of X, then the parts.
        """
        check_is_fitted(self)
        default = [f"x{feature}" for feature in range(self.n_features_in_)]
        given = default if input_features is None else list(input_features)
        names = list(getattr(self, "feature_names_in_", given))
        parts = [f"{part} of {column}" for column, each in self.parts_.items() for part in each]
        return np.array([*names, *parts], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "parts_")

    def __sklearn_tags__(self) -> Tags:
        """Tags of the tables that are accepted: whatever is no date is passed on."""
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    def _name(self, table: Table, feature: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return table.describe(feature).strip("'") if names is None else str(names[feature])

    def _check_names(self, table: Table) -> None:
        names = {self._name(table, feature) for feature in range(table.n_features)}
        added = {f"{part} of {column}" for column, parts in self.parts_.items() for part in parts}
        if both := sorted(names & added):
            raise ValueError(
                f"X must have no columns of the names of parts of dates; got {join_names(both)}. "
                "Rename them, or leave them out."
            )


def _dtype(column: Array) -> Any:
    return nw.String() if column.dtype.kind == "O" else nw.Float64()


def _days(table: Table, feature: int) -> Floats:
    """Days of a column of dates, as clocks at its place show them."""
    frame = nw.from_native(table.native, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        column = frame[:, feature]
        if isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone is not None:
            return series_as_days(column.dt.replace_time_zone(None))
    tile = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
    return np.asarray(tile[:, 0], dtype=np.float64)


def _numbers_of(y: Any, n_rows: int) -> Floats:
    """Targets as columns of numbers: classes as indicators."""
    given = np.asarray(y)
    if len(given) != n_rows:
        raise ValueError(
            f"y must have a target for each of the {n_rows} rows of X; got {len(given)}. Pass the "
            "targets of these rows."
        )
    if given.dtype.names is not None:  # times and events of survival
        return np.column_stack([given[name].astype(np.float64) for name in given.dtype.names])
    columns = given.reshape(n_rows, -1).T
    return np.hstack([_columns_of(column) for column in columns])


def _columns_of(column: Array) -> Floats:
    are_numbers = column.dtype.kind in "fiu"
    if are_numbers and type_of_target(column, input_name="y").startswith("continuous"):
        return np.asarray(column, dtype=np.float64)[:, None]
    distinct = np.unique(column.astype(str) if column.dtype.kind == "O" else column)
    if are_numbers and len(distinct) > MAX_CLASSES:
        return np.asarray(column, dtype=np.float64)[:, None]
    labels = column.astype(str) if column.dtype.kind == "O" else column
    return np.asarray(LabelBinarizer().fit_transform(labels), dtype=np.float64)
