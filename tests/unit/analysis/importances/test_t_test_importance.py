"""Importance by t-tests and F-tests of single features, without a forest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.importance_tables import grown, table

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import importance
from bevel.analysis.importances.anova import FTest, _log_p, _log_tail

# Univariate tests


def test_t_test_of_two_classes_is_students():
    forest, X, y = grown(scale=None)
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    result = importance(forest, "t_test", holes, y)
    for name, p_value in zip(result.names, result.p_values, strict=True):
        x = holes[name].to_numpy().astype(np.float32).astype(float)
        known = ~np.isnan(x)
        want = stats.ttest_ind(x[known & y], x[known & ~y]).pvalue
        assert p_value == pytest.approx(want, rel=1e-5)
    assert result.values == pytest.approx(-np.log10(result.p_values))


def test_t_test_of_more_classes_is_analysis_of_variance():
    X, y = table()
    y = np.digitize(y, [-1, 1])
    forest = ObliqueForestClassifier(3, projection="axis", random_state=0).fit(X, y)
    result = importance(forest, "t_test", X, y)
    stored = X.to_numpy().astype(np.float32).astype(float)
    want = stats.f_oneway(*(stored[y == label] for label in range(3))).pvalue
    assert result.p_values == pytest.approx(want, rel=1e-5)


def test_t_test_of_a_regression_is_that_of_the_correlation():
    forest, X, y = grown(classes=False, scale=None)
    stored = X.to_numpy().astype(np.float32).astype(float)
    want = [stats.pearsonr(column, y).pvalue for column in stored.T]
    assert importance(forest, "t_test", X, y).p_values == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("classes", [True, False])
def test_t_test_of_nominal_columns_compares_levels(classes):
    X, y = table()
    X["f1"] = pd.cut(X["f1"], [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"]).astype(str)
    target = y > 0 if classes else y
    kind = ObliqueForestClassifier if classes else ObliqueForestRegressor
    forest = kind(3, random_state=0).fit(X, target)
    if classes:
        want = stats.chi2_contingency(pd.crosstab(X["f1"], target), correction=False).pvalue
    else:
        want = stats.f_oneway(*(y[X["f1"] == level] for level in ("low", "mid", "high"))).pvalue
    assert importance(forest, "t_test", X, target).p_values[1] == pytest.approx(want, rel=1e-6)


def test_t_test_ranks_features_whose_p_values_are_too_small_for_floats():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 5000)
    X = rng.normal(size=(10_000, 3)) + np.outer(y, [1.0, 3.0, 4.0])
    forest = ObliqueForestClassifier(1, max_depth=1, random_state=0, scale=None).fit(X, y)
    result = importance(forest, "t_test", X, y)
    assert result.p_values[1] == 0
    assert 308 < result.values[1] < result.values[2] < np.inf


def test_tail_of_the_f_distribution_agrees_with_scipy_where_both_can_be_computed():
    test = FTest(np.array([400.0]), np.array([2.0]), np.array([500.0]))
    exact = stats.f.logsf(400.0, 2, 500)
    assert _log_p(test)[0] == pytest.approx(exact)
    assert _log_tail(test)[0] == pytest.approx(exact, rel=1e-3)


def test_t_test_of_constant_features_and_targets_is_nothing():
    X = np.column_stack([np.zeros(10), np.arange(10.0), np.full(10, np.nan)])
    y = np.arange(10.0)
    forest = ObliqueForestRegressor(2, random_state=0, scale=None).fit(X, y)
    assert importance(forest, "t_test", X, y).values[[0, 2]].tolist() == [0, 0]
    assert importance(forest, "t_test", X, y).values[1] > 100
    assert importance(forest, "t_test", X, np.zeros(10)).values.tolist() == [0, 0, 0]


def test_t_test_of_a_column_that_a_class_lacks_compares_the_other_classes():
    X, y = table()
    y = np.digitize(y, [-1, 1])
    X.loc[y == 1, "f0"] = np.nan
    forest = ObliqueForestClassifier(3, projection="axis", random_state=0, scale=None).fit(X, y)
    stored = X["f0"].to_numpy().astype(np.float32).astype(float)
    want = stats.f_oneway(stored[y == 0], stored[y == 2]).pvalue
    assert importance(forest, "t_test", X, y).p_values[0] == pytest.approx(want, rel=1e-5)
