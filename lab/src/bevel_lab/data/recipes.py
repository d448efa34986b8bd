"""Preprocessing recipes of the papers, learned on training rows alone.

A recipe is fitted to the features of the training rows and then applied to those of the test rows:
it is given no labels and no other rows, and so cannot look at them.

- ``sporf``, Appendix C of Tomita et al. 2020: serial numbers and constant columns dropped, levels
  as indicators, ordinal features as the integers that the file has. Departs: the paper imputed
  before it made its folds, with a method that can see labels (rfImpute of R's randomForest); here
  it is that method's first step, the median or the commonest level, of the training rows.
- ``blaser``, section 1.6.1 of Blaser's thesis: numeric columns of ten or more values have their
  missing ones replaced by the median; all others are categories, missing being one, as C − 1
  indicators, which are nominal: rotations leave them as they are (1.5, 1.6.4). Columns that name
  their rows, or hold one value in 99 % of them, are dropped.
- ``menze``, section 3 of Menze et al. 2011: levels are numbers, in arbitrary order. The paper says
  nothing of missing values; here they become the median or the commonest level.
- ``native``: as is. Systems that take no missing values or no nominal columns get medians and
  indicators, missing being a level.

>>> import numpy as np
>>> X = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 2.0]])
>>> fitted = RECIPES["sporf"].fit(X, nominal=np.array([False, True]))
>>> fitted.transform(np.array([[np.nan, 1.0]])).tolist()
[[1.5, 0.0, 1.0, 0.0]]
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bevel.errors import wrong_value
from bevel_lab.data.column_encodings import (
    Column,
    Indicators,
    LevelCodes,
    NumericColumn,
    commonest,
    distinct,
    is_constant,
    is_key,
    is_near_constant,
    median,
)

__all__ = ["RECIPES", "FittedRecipe", "Recipe", "is_category"]

Matrix = NDArray[np.float64]
# (values, whether they are nominal, what the system takes) -> what becomes of them; None: dropped
Learn = Callable[[Matrix, bool, Collection[str]], Column | None]

MIN_NUMBERS = 10  # distinct values from which Blaser takes a column as numeric


@dataclass(frozen=True)
class FittedRecipe:
    """What was learned: which columns are kept, and what becomes of each."""

    kept: tuple[tuple[int, Column], ...]  # position in the table, ascending
    n_features_in: int
    feature_names: tuple[str, ...]  # of the result

    @property
    def categorical_features(self) -> NDArray[np.bool_]:
        """Which columns of the result are nominal."""
        made = [[_is_nominal(each)] * len(each.names("")) for _, each in self.kept]
        return np.concatenate(made).astype(np.bool_)

    def transform(self, X: Matrix) -> Matrix:
        """Apply it to the features of any rows."""
        if X.shape[1] != self.n_features_in:
            required = f"a table of {self.n_features_in} columns, as in fit"
            raise wrong_value("X", required, X.shape[1], "Pass the columns used in fit.")
        return np.hstack([column.encode(X[:, source]) for source, column in self.kept])


@dataclass(frozen=True)
class Recipe:
    """A way to make a matrix of a table, column by column."""

    name: str
    sentence: str
    learn: Learn

    def fit(
        self,
        X: Matrix,
        *,
        nominal: NDArray[np.bool_],
        names: Sequence[str] | None = None,
        accepts: Collection[str] = (),
    ) -> FittedRecipe:
        """Learn from the features of training rows.

        Parameters
        ----------
        X : ndarray of float64, shape (n_rows, n_features)
            As in `bevel.datasets.LabelledTable`: nominal columns as codes, NaN for missing.
        nominal : ndarray of bool, shape (n_features,)
            Which columns are nominal.
        names : sequence of str, default=None
            Names of the columns; without, they are x0, x1, ....
        accepts : collection of {"missing", "nominal"}, default=()
            What the system takes as it is; only ``native`` depends on it.
        """
        names = names or [f"x{i}" for i in range(X.shape[1])]
        learned = [(i, self.learn(X[:, i], bool(nominal[i]), accepts)) for i in range(X.shape[1])]
        kept = tuple((i, column) for i, column in learned if column is not None)
        if not kept:
            raise ValueError(
                f"Recipe {self.name} must keep a column; got {X.shape[1]}, all of them constant or "
                'naming their rows. Take the recipe "native", or leave this data set out.'
            )
        made = [name for i, column in kept for name in column.names(names[i])]
        return FittedRecipe(kept, X.shape[1], tuple(made))


def _is_nominal(column: Column) -> bool:
    return isinstance(column, LevelCodes) or (isinstance(column, Indicators) and column.nominal)


def is_category(values: Matrix, nominal: bool) -> bool:
    """Whether Blaser takes a column as categorical: it is nominal, or has few distinct values."""
    return nominal or len(distinct(values)) < MIN_NUMBERS


def _sporf(values: Matrix, nominal: bool, accepts: Collection[str]) -> Column | None:  # noqa: ARG001
    if is_constant(values) or is_key(values, nominal):
        return None
    if nominal:
        return Indicators(distinct(values), fill=commonest(values))
    return NumericColumn(fill=median(values))


def _blaser(values: Matrix, nominal: bool, accepts: Collection[str]) -> Column | None:  # noqa: ARG001
    if is_near_constant(values) or is_key(values, nominal):
        return None
    if is_category(values, nominal):
        return Indicators(distinct(values, missing=True)[:-1], nominal=True)
    return NumericColumn(fill=median(values))


def _menze(values: Matrix, nominal: bool, accepts: Collection[str]) -> Column | None:  # noqa: ARG001
    if is_constant(values):
        return None
    return NumericColumn(fill=commonest(values) if nominal else median(values))


def _native(values: Matrix, nominal: bool, accepts: Collection[str]) -> Column | None:
    if not nominal:
        return NumericColumn(fill=None if "missing" in accepts else median(values))
    if {"missing", "nominal"} <= set(accepts):
        return LevelCodes(distinct(values))
    return Indicators(distinct(values, missing=True))


def _table(*recipes: Recipe) -> dict[str, Recipe]:
    return {recipe.name: recipe for recipe in recipes}


RECIPES: dict[str, Recipe] = _table(
    Recipe("sporf", "indicators, medians and commonest levels (SPORF, Appendix C)", _sporf),
    Recipe("blaser", "few values are categories, missing is one (Blaser, 1.6.1)", _blaser),
    Recipe("menze", "levels as numbers (Menze, section 3)", _menze),
    Recipe("native", "as is, for systems that take tables as they are", _native),
)
