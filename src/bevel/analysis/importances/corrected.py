"""Impurity importance corrected for the bias towards features of many values.

Nembrini, König and Wright 2018, "The revival of the Gini importance?" (Bioinformatics 34): the
actual impurity reduction. Every feature gets a twin, its own values with the rows shuffled, and a
forest is grown on both; a feature's importance is its gain minus that of its twin. A gain that
is due to many values, or to sharing a direction with an important feature, is also made by the
twin. Out-of-bag impurity would remove the first only: in an oblique split, noise beside a signal
shares in a gain that is real.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.errors import shorten
from bevel.estimators._named_parameters import copy_with
from bevel.estimators._rotations import RegularizedRotation
from bevel.forest.flat_forest import FlatForest
from bevel.forest.importance import gain_shares
from bevel.projections import Custom, Patches
from bevel.projections.families import read_projection

__all__ = ["corrected"]


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
    rows = analysed.encode(X)
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
    forest.fit(doubled, y, sample_weight)
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
