"""Strata of rows that are similar in the other features, for conditional permutation.

A feature is permuted among rows of the same leaf of a small tree that predicts it from the other
features. Rows of a leaf are similar with respect to that prediction, so that a permutation
keeps most of its relation to them (Strobl and others 2008; with trees of the feature itself,
Molnar, König, Bischl and Casalicchio 2023).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bevel._types import Float32s, Floats, Ints32
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.checks import check_count, check_flag
from bevel.analysis.importances.groups import Group
from bevel.errors import wrong_value

__all__ = ["DEFAULT_STRATA", "among", "draw_order", "read_strata", "strata_of"]

DEFAULT_STRATA = 16
LEAST_ROWS = 10  # of a stratum, at least


def read_strata(
    analysed: AnalysedForest,
    X: Float32s,
    groups: Sequence[Group],
    weights: Floats | None,
    conditional: bool,
    n_strata: int,
) -> Ints32 | None:
    """Strata of the rows for each group, groups x rows; None unless `conditional`."""
    if check_flag("conditional", conditional):
        n_strata = check_count("n_strata", n_strata)
        return strata_of(X, analysed.forest.levels, groups, n_strata, weights)
    if n_strata != DEFAULT_STRATA:
        remedy = "Write conditional=True, or leave n_strata out."
        raise wrong_value("n_strata", "left out unless conditional=True", n_strata, remedy)
    return None


def among(strata: Ints32 | None) -> str:
    """Phrase for the description of importances."""
    return "" if strata is None else ", among rows alike in the other features"


def draw_order(
    rng: np.random.Generator, n_rows: int, strata: Ints32 | None
) -> npt.NDArray[np.int64]:
    """A random permutation of rows within their strata."""
    if strata is None:
        return rng.permutation(n_rows)
    order = np.empty(n_rows, np.int64)
    order[np.argsort(strata, kind="stable")] = np.lexsort((rng.random(n_rows), strata))
    return order


def strata_of(
    X: Float32s, levels: Ints32, groups: Sequence[Group], n_strata: int, weights: Floats | None
) -> Ints32:
    """Number of the stratum of each row, groups x rows.

    All rows are in one stratum if there is no other feature, or the feature is constant.
    """
    strata = np.zeros((len(groups), len(X)), np.int32)
    if n_strata == 1 or len(X) < 2 * LEAST_ROWS:
        return strata
    for number, group in enumerate(groups):
        others = np.setdiff1d(np.arange(X.shape[1]), group.features)
        if len(others) > 0:
            strata[number] = _leaves(X, levels, group, others, n_strata, weights)
    return strata


def _leaves(
    X: Float32s,
    levels: Ints32,
    group: Group,
    others: np.ndarray,
    n_strata: int,
    weights: Floats | None,
) -> Ints32:
    columns = list(group.features)
    known = X[:, others]
    if len(columns) == 1 and levels[columns[0]] > 0:
        tree = DecisionTreeClassifier(
            max_leaf_nodes=n_strata, min_samples_leaf=LEAST_ROWS, random_state=0
        )
        target = np.nan_to_num(X[:, columns[0]], nan=-1.0).astype(np.int64)
    else:
        tree = DecisionTreeRegressor(
            max_leaf_nodes=n_strata, min_samples_leaf=LEAST_ROWS, random_state=0
        )
        target = np.column_stack([_standardised(X[:, column]) for column in columns])
    return np.asarray(tree.fit(known, target, sample_weight=weights).apply(known), np.int32)


def _standardised(column: Float32s) -> Floats:
    """Standardise a column, with the median in place of missing values."""
    known = column[~np.isnan(column)].astype(np.float64)
    if len(known) == 0:
        return np.zeros(len(column))
    filled = np.where(np.isnan(column), np.median(known), column.astype(np.float64))
    spread = filled.std()
    return np.asarray((filled - filled.mean()) / spread if spread > 0 else filled * 0.0)
