"""Importances by F tests: of the features of node models, of the features that enter the analysis
of variance tables of splits one after the other, and of each feature by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from bevel._types import Floats, Ints32
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance, mean_and_spread
from bevel.errors import wrong_type, wrong_value
from bevel.forest.flat_forest import FlatForest, gather, with_level_values

__all__ = [
    "anova",
    "check_alpha",
    "sequential_anova",
    "sequential_p_values",
    "t_test",
]

# Share of node models where a feature is significant: oRF importance (Menze et al. 2011, 5).


def anova(analysed: AnalysedForest, *, alpha: float = 0.01) -> Importance:
    """Share of the splits made by a node model in which a feature's coefficient is significant.

    Parameters
    ----------
    analysed : AnalysedForest
        A forest grown with `Ridge(record=True)`, `LDA(record=True)` or `Logistic(record=True)`.
    alpha : float, default=0.01
        Largest significant p-value, 0.01 in the paper.
    """
    check_alpha(alpha)
    forest = analysed.forest
    forest.check_not_slim(analysed.caller)
    node = np.flatnonzero(forest.right >= 0)
    _check_recorded(analysed, len(node))
    recorded = len(node) > 0
    entries, offset = gather(forest.entry_offset, node)
    p_value = forest.entry_p_value[entries] if recorded else np.empty(0, np.float32)
    split = np.repeat(np.arange(len(node)), np.diff(offset))
    tree_of_split = np.searchsorted(forest.tree_offset, node, side="right") - 1

    tested = np.unique(split[~np.isnan(p_value)])
    n_tested = np.bincount(tree_of_split[tested], minlength=forest.n_trees)
    hit = p_value <= alpha
    feature, tree = forest.entry_index[entries][hit], tree_of_split[split[hit]]
    count = np.bincount(feature, minlength=forest.n_features)
    shares = (
        np.bincount(feature[tree == each], minlength=forest.n_features) / n_tested[each]
        for each in np.flatnonzero(n_tested)
    )
    return Importance(
        "anova",
        analysed.names,
        count / max(1, len(tested)),
        f"share of node models in which the feature has p <= {alpha:g}; std over trees",
        std=mean_and_spread(shares, forest.n_features)[1],
        count=count,
    )


def check_alpha(alpha: object) -> None:
    """Raise unless it is a significance level."""
    required, remedy = "a number in (0, 1)", "The paper uses 0.01."
    if isinstance(alpha, bool) or not isinstance(alpha, float | int):
        raise wrong_type("alpha", required, alpha, remedy)
    if not 0.0 < alpha < 1.0:
        raise wrong_value("alpha", required, alpha, remedy)


def _check_recorded(analysed: AnalysedForest, n_splits: int) -> None:
    """Raise if splits were grown without recording p-values."""
    p_value = analysed.forest.entry_p_value
    if n_splits and (len(p_value) == 0 or np.isnan(p_value).all()):
        raise ValueError(
            f"{analysed.caller} needs p-values of the node models; got a forest that recorded none "
            f"(projection={analysed.estimator.projection!r}). Fit with P.Ridge(record=True), "
            "P.LDA(record=True) or, for classes, P.Logistic(record=True)."
        )


# Share of splits in whose analysis of variance table a feature is significant.
#
# Menze et al. 2011, section 5, describe "analysis of variance (ANOVA) tables at every split". In
# such a table features enter the regression of the target one after the other; the F test of a
# feature measures what it adds to those before it.

MIN_SHARE = 1e-7  # of a feature's length; less is rounding error, as in R's qr


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
    wide, terms = forest.with_level_columns  # levels count for their features
    feature_of = np.concatenate((np.arange(forest.n_features), terms[:, 0]))
    values = with_level_values(rows.X, terms)
    numbers = np.where(np.isnan(values), wide.medians, values).astype(np.float64)
    target = rows.target.astype(np.float64)
    hits = np.zeros((forest.n_trees, forest.n_features), np.int64)
    tested = np.zeros(forest.n_trees, np.int64)
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    for tree in range(forest.n_trees):
        drawn = rows.bags.counts(tree)
        for features, here in _splits(wide, tree, leaves[:, tree], drawn):
            p = sequential_p_values(numbers[np.ix_(here, features)], target[here], drawn[here])
            hits[tree, np.unique(feature_of[features[p <= alpha]])] += 1
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
    forest: FlatForest, tree: int, leaf: Ints32, drawn: Ints32
) -> Iterator[tuple[Ints32, npt.NDArray[np.intp]]]:
    """Features and rows of the numeric splits of a tree; nodes are in preorder."""
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
        if not left > MIN_SHARE * np.sqrt(length) or not left > 0.0:
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


# Univariate test of each feature against the target, a baseline for forests.
#
# Menze et al. 2011, section 5. Student's t test of two classes is the analysis of variance of one
# factor with two levels (F = t²), and that of a correlation is one with F = t² too; so there is one
# statistic, F, for all targets. A nominal column has no mean: in regression its levels are the
# factor, and in classification a table of levels and classes is tested by chi-square.

LOG_TEN = float(np.log(10.0))


class FTest(NamedTuple):
    """Statistics of F tests, and their degrees of freedom."""

    F: Floats
    between: Floats
    within: Floats


def t_test(
    analysed: AnalysedForest, X: npt.NDArray[np.float32], y: npt.NDArray[np.generic]
) -> Importance:
    """−log10 of each feature's p-value; trees are not used.

    Missing values are left out, feature by feature; rows count equally. Features are tested as the
    forest reads them: scales other than ranks are nearly linear and have little effect.
    """
    rows = analysed.encode(X)
    target = analysed.target(y, len(rows))
    logs = np.zeros(len(analysed.names))
    numeric = analysed.forest.levels == 0
    logs[numeric] = _log_p(
        _correlations(rows[:, numeric], target)
        if analysed.classes is None
        else _between_classes(rows[:, numeric], target)
    )
    for feature in np.flatnonzero(~numeric):
        logs[feature] = _nominal_log_p(rows[:, feature], target, analysed.classes is None)
    return Importance(
        "t_test",
        analysed.names,
        -logs / LOG_TEN + 0.0,
        "-log10 of the p-value of the feature alone against the target",
        p_values=np.exp(logs),
    )


def _between_classes(X: npt.NDArray[np.float32], target: npt.NDArray[np.generic]) -> FTest:
    """Analysis of variance of each column, with the classes as the factor."""
    return _one_way([X[target == label].astype(np.float64) for label in np.unique(target)])


def _one_way(groups: list[Floats]) -> FTest:
    """F tests of the columns that the groups of rows have in common; NaN is ignored."""
    n = np.array([np.count_nonzero(~np.isnan(group), axis=0) for group in groups])
    total = np.array([np.nansum(group, axis=0) for group in groups])
    mean = total / np.maximum(n, 1)
    centre = total.sum(axis=0) / np.maximum(n.sum(axis=0), 1)
    between = (n * (mean - centre) ** 2).sum(axis=0)
    within = np.zeros(mean.shape[1])
    for group, own in zip(groups, mean, strict=True):
        within += np.nansum((group - own) ** 2, axis=0)
    n_groups = np.count_nonzero(n, axis=0)
    return _ratio(between, within, n_groups - 1.0, n.sum(axis=0) - 1.0 * n_groups)


def _correlations(X: npt.NDArray[np.float32], target: npt.NDArray[np.generic]) -> FTest:
    """Test of the correlation of each column with the target."""
    x = X.astype(np.float64)
    y = np.where(np.isnan(x), np.nan, np.asarray(target, dtype=np.float64)[:, None])
    n = np.count_nonzero(~np.isnan(x), axis=0)
    x = x - np.nansum(x, axis=0) / np.maximum(n, 1)
    y = y - np.nansum(y, axis=0) / np.maximum(n, 1)
    products, x_squares, y_squares = (np.nansum(z, axis=0) for z in (x * y, x * x, y * y))
    explained = products**2 / np.where(x_squares > 0.0, x_squares, 1.0)
    # Rounding must not make the rest negative where the column explains everything.
    rest = np.maximum(y_squares - explained, 0.0)
    return _ratio(explained, rest, np.ones(len(n)), n - 2.0)


def _ratio(between: Floats, within: Floats, df_between: Floats, df_within: Floats) -> FTest:
    """F ratio; zero where nothing varies or no degree of freedom is left."""
    tested = (df_between > 0) & (df_within > 0) & (between > 0.0)
    df_between, df_within = np.where(tested, df_between, 1.0), np.where(tested, df_within, 1.0)
    with np.errstate(divide="ignore"):
        F = np.where(tested, (between / df_between) / np.where(tested, within / df_within, 1.0), 0)
    return FTest(F, df_between, df_within)


def _log_p(test: FTest) -> Floats:
    """Logarithm of the p-value, also where the p-value itself is too small for a float."""
    F, d1, d2 = test
    with np.errstate(divide="ignore"):
        logs = np.log(special.betainc(d2 / 2.0, d1 / 2.0, d2 / (d2 + d1 * F)))
    return np.where(np.isneginf(logs), _log_tail(test), logs)


def _log_tail(test: FTest) -> Floats:
    """Logarithm of the p-value of a large F: first term of the series, continued geometrically."""
    F, d1, d2 = test
    a, b, x = d2 / 2.0, d1 / 2.0, d2 / (d2 + d1 * F)
    with np.errstate(divide="ignore"):
        first = a * np.log(x) + b * np.log1p(-x) - np.log(a) - special.betaln(a, b)
        return np.asarray(first - np.log1p(-x * (a + b) / (a + 1.0)))


def _nominal_log_p(
    codes: npt.NDArray[np.float32], target: npt.NDArray[np.generic], regression: bool
) -> float:
    """Test of levels against the target; missing values are a level, as in the trees."""
    levels, code = np.unique(codes, return_inverse=True)
    if len(levels) < 2:
        return 0.0
    if regression:
        # Shifted by one of the targets, so that a constant target is exactly zero.
        values = target.astype(np.float64)[:, None] - np.float64(target[0])
        groups = [values[code == level] for level in range(len(levels))]
        return float(_log_p(_one_way(groups))[0])
    labels, label = np.unique(target, return_inverse=True)
    if len(labels) < 2:
        return 0.0
    table = np.zeros((len(levels), len(labels)))
    np.add.at(table, (code, label), 1.0)
    test = stats.chi2_contingency(table, correction=False)
    return float(stats.chi2.logsf(test.statistic, test.dof))
