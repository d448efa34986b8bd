"""Permutation importance: increase of the error when the values of a feature are permuted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bevel.analysis.accuracy.evaluation_rows import read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.checks import check_count
from bevel.analysis.importances.error_increase import (
    ErrorImportance,
    Perturbation,
    check_error_of,
    measure,
)
from bevel.analysis.importances.groups import read_groups
from bevel.analysis.importances.strata import DEFAULT_STRATA, read_strata
from bevel.data.row_weights import read_weights

__all__ = ["permutation"]


def permutation(
    analysed: AnalysedForest,
    X: Any,
    y: Any,
    *,
    out_of_bag: bool = True,
    error_of: str = "forest",
    groups: Mapping[str, Any] | None = None,
    conditional: bool = False,
    n_strata: int = DEFAULT_STRATA,
    n_repeats: int = 5,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
    verbose: int = 0,
) -> ErrorImportance:
    """Increase of the error when the values of a feature are permuted among the rows.

    The error is the share of wrong classes, or the mean squared error in regression. A feature that
    the forest does not use has importance 0; chance and misleading features give negative values.

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
        "forest": the error of all trees together, which is that of `predict`, or one minus
        `oob_score_` of a classifier; the permutation of all rows is common to all trees. "tree":
        the mean over trees of the error of each (Breiman's); each tree has its own permutation of
        the rows that it evaluates. It is larger and finer: use it to rank features on few rows.
    groups : mapping, default=None
        Names of groups, each with columns (by name or number) whose values are permuted together.
        None measures each feature by itself.
    conditional : bool, default=False
        Whether values are permuted only among rows that are similar in the other features, so that
        a feature has importance only beyond the information of the others. Rows are similar if they
        are in the same leaf of a small tree that predicts the feature from the others.
    n_strata : int, default=16
        Largest number of leaves of that tree; with `conditional=True` only. More leaves preserve
        more of the relation to the other features, and leave less to permute.
    n_repeats : int, default=5
        Permutations of each group.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows in the error; None weighs all rows equally, also if the fit did not.
    random_state : int, Generator or None, default=None
        Seed of the permutations. The same seed gives the same result for any number of threads.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    ErrorImportance
        `values`, with their spread and standard errors.
    """
    check_error_of(error_of)
    n_repeats = check_count("n_repeats", n_repeats)
    chosen = read_groups(groups, analysed.names)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    weights = read_weights(sample_weight, None, None, len(rows.X))
    seed = int(np.random.default_rng(random_state).integers(2**64, dtype=np.uint64))
    strata = read_strata(analysed, rows.X, chosen, weights, conditional, n_strata)
    perturbation = Perturbation(
        "permutation",
        np.asfortranarray(rows.X),
        True,
        n_repeats,
        seed,
        "permuting features",
        strata,
    )
    return measure(analysed, rows, weights, chosen, chosen, perturbation, error_of, verbose)
