"""Rules of a survival forest: the leaves of a small surrogate tree, with observed events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bevel.analysis import kaplan_meier
from bevel.analysis.results import SurrogateTree
from bevel.analysis.rules.tests_of_rows import LabelTest, NumberTest, RowTest
from bevel.data.columns import Columns
from bevel.data.survival import SurvivalTarget

__all__ = ["RiskRule", "find_risk_rules", "merged", "paths"]


@dataclass(frozen=True)
class RiskRule:
    """One rule, and its rows.

    Attributes
    ----------
    text : str
        Conditions of the rule.
    risk : float
        Mean predicted risk of its rows.
    n_rows, n_events : int
        Number of rows, and of events among them.
    median : float
        Median survival by Kaplan-Meier; infinite if more than half of them survive.
    """

    text: str
    risk: float
    n_rows: int
    n_events: int
    median: float


def find_risk_rules(
    tree: SurrogateTree, X: Columns, target: SurvivalTarget
) -> tuple[RiskRule, ...]:
    """Rules in descending order of risk; empty for a tree with one leaf.

    Parameters
    ----------
    tree : SurrogateTree
        Surrogate of a survival forest.
    X : Columns
        Rows.
    target : SurvivalTarget
        Times and events of the rows.
    """
    if tree.n_leaves < 2:
        return ()
    leaves, rules = tree.apply(X), []
    gaps = {feature for feature in range(len(tree.names)) if X.missing(feature).any()}
    for leaf, tests in paths(tree, 0, ()):
        rows = target[leaves == leaf]
        if len(rows):
            risk, n_events = float(tree.prediction[leaf]), int(rows.event.sum())
            text = " and ".join(_text(each, tree, gaps) for each in merged(tests))
            rules.append(RiskRule(text, risk, len(rows), n_events, _median(rows)))
    return tuple(sorted(rules, key=lambda rule: -rule.risk))


Condition = tuple[RowTest, bool]  # a test, and whether it holds


def paths(tree: SurrogateTree, node: int, tests: tuple[Condition, ...]) -> Any:
    """Leaves with the conditions on their paths."""
    test = tree.tests[node]
    if test is None:
        yield node, tests
        return
    yield from paths(tree, node + 1, (*tests, (test, True)))
    yield from paths(tree, int(tree.right[node]), (*tests, (test, False)))


def merged(tests: tuple[Condition, ...]) -> list[Condition]:
    """Merge the conditions on each numeric column into one."""
    found: dict[Any, Condition] = {}
    for test, holds in tests:
        if isinstance(test, LabelTest):
            found[len(found), test] = test, holds
            continue
        given = test if holds else _other_side(test)
        earlier = found.get(test.features)
        found[test.features] = (given if earlier is None else _both(earlier[0], given)), True
    return list(found.values())


def _other_side(test: NumberTest) -> NumberTest:
    """Complement of a test with one bound."""
    other = replace(test, missing=not test.missing)
    if np.isinf(test.low):
        return replace(other, low=test.high, low_included=not test.high_included, high=float("inf"))
    return replace(other, high=test.low, high_included=not test.low_included, low=-float("inf"))


def _both(one: Any, other: NumberTest) -> NumberTest:
    """Intersection of two tests of the same column."""
    low, high = max(one, other, key=lambda each: each.low), min(one, other, key=lambda e: e.high)
    return replace(
        other,
        low=low.low,
        low_included=low.low_included,
        high=high.high,
        high_included=high.high_included,
        missing=one.missing and other.missing,
    )


def _text(condition: Condition, tree: SurrogateTree, gaps: set[int]) -> str:
    """Text of a condition; mentions missing values of columns that have some."""
    test, holds = condition
    columns = (test.feature,) if isinstance(test, LabelTest) else test.features
    if gaps.isdisjoint(columns):
        test = replace(test, missing=False)
    text = test.text(tree.names)
    return text if holds else f"not {text}"


def _median(rows: SurvivalTarget) -> float:
    curve = kaplan_meier(rows)
    below = np.flatnonzero(curve.y <= 0.5)
    return float(curve.x[below[0]]) if len(below) else float("inf")
