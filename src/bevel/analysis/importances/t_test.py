"""Univariate test of each feature against the target, a baseline for forests.

Menze et al. 2011, section 5. Student's t test of two classes is the analysis of variance of one
factor with two levels (F = t²), and that of a correlation is one with F = t² too; so there is one
statistic, F, for all targets. A nominal column has no mean: in regression its levels are the
factor, and in classification a table of levels and classes is tested by chi-square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.importances.result import Importance

__all__ = ["t_test"]


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
