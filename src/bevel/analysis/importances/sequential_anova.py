"""Share of splits in whose analysis of variance table a feature is significant.

Menze et al. 2011, section 5, describe "analysis of variance (ANOVA) tables at every split". In
such a table features enter the regression of the target one after the other; the F test of a
feature measures what it adds to those before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from bevel._types import Floats, Ints32
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.anova import check_alpha
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.forest.subforest import gather

__all__ = ["sequential_anova", "sequential_p_values"]

SMALLEST_SHARE = 1e-7  # of a feature's length; less is rounding error, as in R's qr


def sequential_anova(
    analysed: AnalysedForest, X: Any, y: Any, *, alpha: float = 0.01
) -> Importance:
    """Share of the splits in whose analysis of variance a feature is significant.

    Parameters
    ----------
    analysed : AnalysedForest
        A forest whose splits are directions of the features, of two classes or a regression.
    X, y
        The rows of the fit.
    alpha : float, default=0.01
        Largest significant p-value, 0.01 in the paper.
    """
    check_alpha(alpha)
    forest = analysed.forest
    forest.check_not_slim(analysed.caller)
    if analysed.classes is not None and len(analysed.classes) != 2:
        raise ValueError(
            f"{analysed.caller} needs two classes or numbers, which can be regressed on; got "
            f'{len(analysed.classes)} classes. Use kind="anova" with P.LDA(record=True).'
        )
    if forest.entry_index.size and forest.entry_index.max() >= forest.n_features:
        raise ValueError(
            f"{analysed.caller} needs directions of the features themselves; got rotated ones. "
            'Use for example projection="lda" or "sparse".'
        )
    rows = analysed.training_rows(X, y)
    numbers = np.where(np.isnan(rows.X), forest.medians, rows.X).astype(np.float64)
    target = rows.target.astype(np.float64)
    hits = np.zeros((forest.n_trees, forest.n_features), np.int64)
    tested = np.zeros(forest.n_trees, np.int64)
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    for tree in range(forest.n_trees):
        drawn = rows.bags.counts(tree)
        for features, here in _splits(analysed, tree, leaves[:, tree], drawn):
            p = sequential_p_values(numbers[np.ix_(here, features)], target[here], drawn[here])
            hits[tree, features[p <= alpha]] += 1
            tested[tree] += 1
    known = tested > 0
    return Importance(
        "sequential_anova",
        analysed.names,
        hits.sum(axis=0) / max(1, tested.sum()),
        f"share of splits in whose analysis of variance the feature has p <= {alpha:g}; std over "
        "trees",
        std=mean_and_spread(iter(hits[known] / tested[known, None]), forest.n_features)[1],
        count=hits.sum(axis=0),
    )


def _splits(
    analysed: AnalysedForest, tree: int, leaf: Ints32, drawn: Ints32
) -> Iterator[tuple[Ints32, npt.NDArray[np.intp]]]:
    """Features and rows of the numeric splits of a tree; nodes are in preorder."""
    forest = analysed.forest
    first, last = int(forest.tree_offset[tree]), int(forest.tree_offset[tree + 1])
    entries, offset = gather(forest.entry_offset, np.arange(first, last))
    index = forest.entry_index[entries]
    right = forest.right[first:last]
    in_bag = np.flatnonzero(drawn > 0)
    order = in_bag[np.argsort(leaf[in_bag], kind="stable")]
    end = _ends(right)
    for node in np.flatnonzero(right >= 0):
        features = index[offset[node] : offset[node + 1]]
        if (forest.levels[features] > 0).any():
            continue
        low, high = np.searchsorted(leaf[order], [node, end[node]])
        yield np.sort(features), order[low:high]


def _ends(right: Ints32) -> npt.NDArray[np.intp]:
    """One past the last node below each node."""
    end = np.arange(1, len(right) + 1)
    for node in range(len(right) - 1, -1, -1):
        if right[node] >= 0:
            end[node] = end[right[node]]
    return end


def sequential_p_values(X: Floats, y: Floats, weight: npt.NDArray[np.integer[Any]]) -> Floats:
    """p-values of the F tests of an analysis of variance, in the order of the columns.

    ``F = SS_j / (RSS / nu)``, where SS_j is the sum of squares that feature j adds to those before
    it, RSS the residual of all, and nu = n − 1 − rank. Features that depend on those before them,
    and all features when nu is not positive, have p = 1.
    """
    root = np.sqrt(weight.astype(np.float64))
    total = float(weight.sum())
    Z = root[:, None] * (X - weight @ X / total)
    rest = root * (y - weight @ y / total)
    n, p = X.shape
    explained = np.zeros(p)
    basis: list[Floats] = []
    for j in range(p):
        column = Z[:, j]
        length = float(column @ column)
        for other in basis:
            column = column - (other @ column) * other
        left = float(np.sqrt(column @ column))
        if not left > SMALLEST_SHARE * np.sqrt(length) or not left > 0.0:
            continue
        unit = column / left
        basis.append(unit)
        product = float(unit @ rest)
        explained[j] = product * product
        rest = rest - product * unit
    freedom = n - 1 - len(basis)
    result = np.ones(p)
    some = explained > 0.0
    if freedom < 1:
        return result
    with np.errstate(divide="ignore"):
        F = explained[some] / (float(rest @ rest) / freedom)
    result[some] = stats.f.sf(F, 1, freedom)
    return result
