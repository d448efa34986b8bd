"""Rules of survival forests: they say which rows are in the leaves of the imitating tree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.naive.survival import hazard_jumps

from bevel import ObliqueSurvivalForest
from bevel.analysis import surrogate_tree
from bevel.analysis.rules.conditions import LabelTest, read_columns
from bevel.data.survival import read_survival
from bevel.data.tables import read_table
from bevel.datasets import weibull
from bevel.workflow.survival import find_risk_rules, merged, paths


@pytest.mark.parametrize("missing", [False, True])
def test_rules_divide_the_rows_as_the_tree_does(missing: bool) -> None:
    pandas = pytest.importorskip("pandas")
    values, y = weibull(200, 5, random_state=1)
    X = pandas.DataFrame(values, columns=list("abcde"))
    X["kind"] = pandas.Categorical(np.where(X["a"] + X["b"] > 0, "up", "down"))
    if missing:
        X.loc[::7, "a"] = np.nan
    forest = ObliqueSurvivalForest(20, random_state=0).fit(X, y)
    tree, target = surrogate_tree(forest, X, max_depth=3), read_survival(y, 200)
    leaves = tree.apply(X)
    columns = read_columns(read_table(X), tree.nominal, tree.names)
    rules = find_risk_rules(tree, columns, target)
    assert len(rules) == tree.n_leaves >= 4
    assert sum(rule.n_rows for rule in rules) == 200
    assert sum(rule.n_events for rule in rules) == target.event.sum()
    assert [rule.risk for rule in rules] == sorted((rule.risk for rule in rules), reverse=True)
    assert any("missing" in rule.text for rule in rules) == missing
    by_risk = {rule.risk: rule for rule in rules}
    for leaf, tests in paths(tree, 0, ()):
        within = np.ones(200, bool)
        for test, holds in merged(tests):
            within &= test.holds(columns.values) == holds
        np.testing.assert_array_equal(within, leaves == leaf)
        rule = by_risk[float(tree.prediction[leaf])]
        rows = target[leaves == leaf]
        survival = 1.0
        median = np.inf
        for time, jump in hazard_jumps(rows.time, rows.event, np.ones(len(rows))).items():
            survival *= 1.0 - jump
            if survival <= 0.5 and np.isinf(median):
                median = time
        assert rule.median == median


def test_conditions_on_a_nominal_column_are_merged() -> None:
    column = np.array(["a", "b", "c", "new", None], dtype=object)
    sets = [labels for n in range(4) for labels in itertools.combinations("abc", n)]
    tests = [LabelTest(0, labels, missing) for labels in sets for missing in (False, True)]
    conditions = [(test, holds) for test in tests for holds in (False, True)]
    for one, other in itertools.product(conditions, repeat=2):
        ((test, holds),) = merged((one, other))
        wanted = [each.holds([column]) == of for each, of in (one, other)]
        np.testing.assert_array_equal(test.holds([column]) == holds, wanted[0] & wanted[1])
