"""Importances that splits give to features: gain, gain corrected for its bias, and how often splits
use a feature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.analysis.rules.split_directions import SplitDirections, find_directions
from bevel.data.leaks import without_leak_alarm
from bevel.errors import shorten
from bevel.estimators._base import copy_with
from bevel.estimators.rotated.regularized import RegularizedRotation
from bevel.forest.fitted_forest import FittedCombination
from bevel.forest.flat_forest import FlatForest
from bevel.forest.importance import gain_importances, gain_shares
from bevel.projections import Custom, Patches
from bevel.projections.families import read_projection

__all__ = [
    "corrected",
    "gini",
    "split_frequency",
]


def gini(analysed: AnalysedForest) -> Importance:
    """Mean share of a feature in the gain of a tree.

    A split's gain is divided among the features of its direction in proportion to their absolute
    weights, which are weights of scaled features where the forest scales.
    """
    if isinstance(analysed.fitted, FittedCombination):
        estimator: Any = analysed.estimator
        what = "weighted mean of the shares in the gain of the forest and of boosting"
        return Importance("gini", analysed.names, estimator.feature_importances_, what)
    forest = analysed.forest
    forest.check_not_slim(analysed.caller)
    adds_up = analysed.fitted.aggregation.adds_up
    _, spread = mean_and_spread(gain_shares(forest), forest.n_features)
    return Importance(
        "gini",
        analysed.names,
        gain_importances(forest, normalised=not adds_up),
        "share of the loss that splits remove, over all trees"
        if adds_up
        else "share of the impurity that splits remove; std over trees",
        std=None if adds_up else spread,
        title="Gain importance" if adds_up else "",
    )


# Impurity importance corrected for the bias towards features of many values.
#
# Nembrini, König and Wright 2018, "The revival of the Gini importance?" (Bioinformatics 34): the
# actual impurity reduction. Every feature gets a twin, its own values with the rows shuffled, and a
# forest is grown on both; a feature's importance is its gain minus that of its twin. A gain that is
# due to many values, or to sharing a direction with an important feature, is also made by the twin.
# Out-of-bag impurity would remove the first only: in an oblique split, noise beside a signal shares
# in a gain that is real.


def corrected(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> Importance:
    """Share of a feature in the gain of a tree minus that of its shuffled twin.

    Grows a forest with the same settings on twice the columns, which costs about twice the fit.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest, for its settings and its encoding of rows.
    X, y : array-like
        Rows to grow the forest on, usually those of the fit.
    sample_weight : array-like, default=None
        Weights of the rows, as in the fit.
    random_state : int, Generator or None, default=None
        Seed of the shuffle and of the forest.
    """
    _check_columns_are_free(analysed)
    rng = np.random.default_rng(random_state)
    rows = analysed.encode(X, training=True)
    analysed.target(y, len(rows))  # raises for other classes
    doubled = np.hstack((rows, rows[rng.permutation(len(rows))]))
    nominal = np.flatnonzero(analysed.forest.levels)
    n_features = rows.shape[1]
    forest = copy_with(
        analysed.estimator,
        scale=None,  # rows are scaled already
        categorical_features=[*nominal.tolist(), *(nominal + n_features).tolist()] or None,
        random_state=int(rng.integers(2**32)),
        warm_start=False,
        oob_score=False,
    )
    with without_leak_alarm():
        forest.fit(doubled, y, sample_weight, **analysed.groups_of(len(rows)))
    values, spread = mean_and_spread(_differences(forest.forest_, n_features), n_features)
    return Importance(
        "corrected",
        analysed.names,
        values,
        "share of the impurity that splits remove, less that of the shuffled feature; "
        "std over trees",
        std=spread,
    )


def _differences(forest: FlatForest, n_features: int) -> Iterator[npt.NDArray[np.float64]]:
    """Share of each feature minus that of its twin, tree by tree."""
    for share in gain_shares(forest):
        yield share[:n_features] - share[n_features:]


def _check_columns_are_free(analysed: AnalysedForest) -> None:
    """Raise if directions depend on the columns of the fit, so that twins cannot be added."""
    estimator = analysed.estimator
    if isinstance(estimator, RegularizedRotation):
        raise ValueError(
            f"{analysed.caller} grows a forest on twice the columns; got "
            f"{type(estimator).__name__}, "
            'whose rotations were chosen for the columns of the fit. Use kind="permutation".'
        )
    for member in read_projection(estimator.projection, estimator.n_projections):
        if isinstance(member.projection, Custom | Patches):
            raise ValueError(
                f"{analysed.caller} grows a forest on twice the columns; got projection="
                f"{shorten(member.projection)}, whose directions are tied to the columns of the "
                'fit. Use kind="permutation".'
            )


def split_frequency(analysed: AnalysedForest) -> Importance:
    """Share of all splits whose direction includes a feature."""
    forest = analysed.forest
    found = find_directions(forest)
    of_terms = forest.with_level_columns[1][:, 0]  # levels count for their features
    feature = np.concatenate((np.arange(forest.n_features), of_terms)).astype(np.int32)
    found = replace(found, rows=replace(found.rows, index=feature[found.rows.index]))
    rows = found.rows
    uses = np.bincount(found.direction, minlength=len(rows))
    count = np.bincount(
        rows.index, np.repeat(uses, np.diff(rows.offset)), minlength=forest.n_features
    ).astype(np.int64)
    shares = _shares_of_trees(found, forest.n_trees, forest.n_features)
    return Importance(
        "split_frequency",
        analysed.names,
        count / max(1, len(found.node)),
        "share of all splits that use the feature; std over trees",
        std=mean_and_spread(shares, forest.n_features)[1],
        count=count,
    )


def _shares_of_trees(
    found: SplitDirections, n_trees: int, n_features: int
) -> Iterator[npt.NDArray[np.float64]]:
    """Share of the splits of each tree that use a feature; trees without splits are left out."""
    rows = found.rows
    used = sp.csr_matrix(
        (np.ones(len(rows.index)), rows.index, rows.offset), shape=(len(rows), n_features)
    )
    one = np.ones(len(found.node))
    splits = sp.csr_matrix((one, (found.tree, found.direction)), shape=(n_trees, len(rows)))
    totals = np.bincount(found.tree, minlength=n_trees)
    by_tree = splits @ used
    for tree in np.flatnonzero(totals):
        yield by_tree[[tree]].toarray()[0] / totals[tree]
