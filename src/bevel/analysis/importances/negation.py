"""Negation importance: increase of the error when the weights of a feature change sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.analysis.accuracy.evaluation_rows import read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.error_increase import (
    ErrorImportance,
    Perturbation,
    check_error_of,
    measure,
)
from bevel.analysis.importances.groups import Group, read_groups
from bevel.data.row_weights import read_weights
from bevel.data.tiles import LARGEST_STORED
from bevel.errors import join_names
from bevel.forest.flat_forest import FlatForest

__all__ = ["mirror", "negation", "with_weights"]


def negation(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool = True,
    error_of: str = "forest",
    groups: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    verbose: int = 0,
) -> ErrorImportance:
    """Increase of the error when the sign of a feature's weights is flipped in all splits.

    Features are measured from their median m, in the units that the trees read (scaled): flipping
    the sign of w in w (x - m) is reading 2m - x for x, so a split on the feature alone is mirrored
    at the median. Nothing is drawn at random. A missing value counts as the median where features
    are combined, and stays missing where it stands alone.

    Parameters
    ----------
    analysed : AnalysedForest
        A fitted forest.
    X, y : array-like
        The rows of the fit in their order, or any rows when `out_of_bag=False`.
    out_of_bag : bool, default=True
        Whether each row is evaluated only by the trees whose bags it is out of. False: X and y are
        rows that the forest has not seen, and all trees evaluate them.
    error_of : {"forest", "tree"}, default="forest"
        The error of all trees together, or the mean over trees of the error of each.
    groups : mapping, default=None
        Names of groups, each with columns (by name or number) whose weights are flipped together.
        None measures each feature by itself; nominal columns, which have no weights, are NaN.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows in the error; None weighs all rows equally, also if the fit did not.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ErrorImportance
        `values` with their standard errors; `std` is None, as there is one repeat.
    """
    check_error_of(error_of)
    chosen = read_groups(groups, analysed.names)
    able = with_weights(analysed, chosen, named=groups is not None)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    weights = read_weights(sample_weight, None, None, len(rows.X))
    mirrored = mirror(analysed.forest, rows.X)
    perturbation = Perturbation("negation", mirrored, False, 1, 0, "negating weights")
    return measure(analysed, rows, weights, chosen, able, perturbation, error_of, verbose)


def with_weights(analysed: AnalysedForest, groups: Sequence[Group], named: bool) -> list[Group]:
    """Groups of numeric columns; raises if there is none, or if a named group has others."""
    is_nominal = analysed.forest.levels > 0
    able = [group for group in groups if not is_nominal[list(group.features)].any()]
    if len(able) == len(groups) or (able and not named):
        return able
    nominal = [name for name, of in zip(analysed.names, is_nominal, strict=True) if of]
    raise ValueError(
        f"{analysed.caller} needs columns that have weights in splits; got nominal columns "
        f'({join_names(nominal)}), which are split by levels. Use kind="permutation".'
    )


def mirror(forest: FlatForest, X: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Numeric columns mirrored at their medians, limited so that sums do not overflow."""
    mirrored = np.empty(X.shape, np.float32, order="F")
    for feature, median in enumerate(forest.medians.astype(np.float64)):
        column = X[:, feature]
        if forest.levels[feature] == 0:
            column = np.clip(2.0 * median - column, -LARGEST_STORED, LARGEST_STORED)
        mirrored[:, feature] = column
    return mirrored
