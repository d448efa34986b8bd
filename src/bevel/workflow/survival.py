"""Survival forests on rows of files: their rows, rules and findings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis import (
    kaplan_meier,
    risk_groups,
    survival_bands,
    survival_calibration,
    survival_scores,
)
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.analysis.results import (
    RiskGroups,
    SurrogateTree,
    SurvivalBands,
    SurvivalCalibration,
    SurvivalScores,
)
from bevel.analysis.rules.conditions import LabelTest, NumberTest, RowTest
from bevel.data.survival import SurvivalTarget
from bevel.data.tables import Columns
from bevel.errors import NoOutOfBagError
from bevel.tables.options import Source, TableOptions
from bevel.workflow.rows import ModelRows, read_model_rows
from bevel.workflow.scores import Estimate
from bevel.workflow.targets import SurvivalColumns

__all__ = [
    "RiskRule",
    "SurvivalFindings",
    "concordance_estimate",
    "evaluation_rows",
    "find_risk_rules",
    "find_survival",
    "merged",
    "paths",
    "read_survival_rows",
]

# Rows of a file for a saved survival forest, with their times and events.


def read_survival_rows(
    model: Any, path: Path | Source, columns: SurvivalColumns | None, options: TableOptions
) -> ModelRows:
    """Read the rows of a table for a survival forest, with times and events as their target.

    Parameters
    ----------
    model : ObliqueSurvivalForest
        Fitted model.
    path : Path or Source
        CSV, TSV or Parquet with the columns of fit; others are left out with a note.
    columns : SurvivalColumns or None
        Columns of the target, if there is one; rows without a time are left out with a note.
    options : TableOptions
        Format of the file.
    """
    if columns is None:
        return read_model_rows(model, path, options=options)
    read = read_model_rows(model, path, row_id=columns.names, options=options)
    target, known = columns.target(path, options, needs_event=False)
    notes = read.notes
    if not known.all():
        notes = (*notes, f"{int((~known).sum()):,} rows without a time are left out.")
    return ModelRows(read.X.rows(known), target, read.number[known], notes)


# Rules of a survival forest: the leaves of a small surrogate tree, with observed events.


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
    """Merge the conditions on each column into one."""
    found: dict[Any, Condition] = {}
    for test, holds in tests:
        if isinstance(test, LabelTest):
            known = found.get(test.feature)
            found[test.feature] = (test, holds) if known is None else _one_of(known, (test, holds))
            continue
        given = test if holds else _other_side(test)
        earlier = found.get(test.terms)
        found[test.terms] = (given if earlier is None else _both(earlier[0], given)), True
    return list(found.values())


def _one_of(*both: Condition) -> Condition:
    """One condition on a nominal column for two: a test that holds, if one of them does."""
    (one, holds), (other, other_holds) = sorted(both, key=lambda each: not each[1])
    assert isinstance(one, LabelTest)
    assert isinstance(other, LabelTest)
    if holds:
        kept = [(label in other.labels) == other_holds for label in one.labels]
        labels, words = tuple(compress(one.labels, kept)), tuple(compress(one.words, kept))
        missing = one.missing and other.missing == other_holds
        return replace(one, labels=labels, words=words, missing=missing), True
    new = [label not in one.labels for label in other.labels]
    labels = (*one.labels, *compress(other.labels, new))
    words = (*one.words, *compress(other.words, new))
    return replace(one, labels=labels, words=words, missing=one.missing or other.missing), False


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


# Findings of a survival forest on some rows: scores, risk groups, calibration, single curves.

Z = 1.959964  # normal quantile of a 95 % interval
N_GROUPS, MIN_OF_GROUP = 3, 5
QUANTILES = (0.25, 0.5, 0.75)  # levels of the event times at which calibration is shown
CURVES = {"lowest risk": 0.05, "median risk": 0.5, "highest risk": 0.95}
N_CHECKED = 3  # trees whose leaves are checked to recognise the rows of the fit


@dataclass(frozen=True, eq=False)
class SurvivalFindings:
    """Findings on some rows.

    Attributes
    ----------
    scores : SurvivalScores or None
        Concordance, Brier score and AUC; None without times and events.
    groups : RiskGroups or None
        Rows by their risk, with observed and predicted curves.
    calibrations : tuple of SurvivalCalibration
        Calibration at the quartiles of the event times.
    bands : SurvivalBands
        Curves of rows of low, middle and high risk.
    names : tuple of str
        Names of these rows.
    n_rows, n_events : int
        Number of rows and of events, for rows with times and events.
    rules : tuple of RiskRule
        Leaves of a small surrogate tree; empty without times and events.
    """

    scores: SurvivalScores | None
    groups: RiskGroups | None
    calibrations: tuple[SurvivalCalibration, ...]
    bands: SurvivalBands
    names: tuple[str, ...]
    n_rows: int
    n_events: int
    rules: tuple[RiskRule, ...] = ()

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The concordance with its 95 % interval; empty without times and events."""
        if self.scores is None:
            return {}
        return {"concordance": concordance_estimate(self.scores)}


def concordance_estimate(scores: SurvivalScores) -> Estimate:
    """The concordance with its 95 % interval over the choice of the rows."""
    value, reach = scores.concordance, Z * scores.concordance_error
    return Estimate(value, max(0.0, value - reach), min(1.0, value + reach))


def evaluation_rows(analysed: AnalysedForest, X: Columns, weights: Floats | None) -> EvaluationRows:
    """The rows, with the trees that have not seen them if the forest was grown on them."""
    encoded = analysed.encode(X)
    target = np.zeros(len(encoded))
    if not _are_of_the_fit(analysed, encoded, weights):
        return EvaluationRows(encoded, target, None)
    try:
        bags = analysed.bags_with_rows_out()
    except NoOutOfBagError:
        return EvaluationRows(encoded, target, None, "grown on")
    out = bags.rows_out(analysed.forest.n_trees, weights)
    return EvaluationRows(encoded, target, out, "out-of-bag")


def _are_of_the_fit(
    analysed: AnalysedForest, encoded: npt.NDArray[np.float32], weights: Floats | None
) -> bool:
    """Whether the weights of the rows in some bags agree with those of their leaves."""
    bags, forest = analysed.fitted.provenance.bags, analysed.forest
    if bags is None or forest.is_slim or len(encoded) != bags.n_rows:
        return False
    leaves = analysed.predictor.leaves(encoded, analysed.n_threads)
    for tree in range(min(N_CHECKED, forest.n_trees)):
        weight = bags.counts(tree, weights) * (1.0 if weights is None else weights)
        view = forest.tree(tree)
        found = np.bincount(leaves[:, tree], weight, view.n_nodes)
        is_leaf = view.children_right < 0
        if not np.allclose(found[is_leaf], view.weight[is_leaf], rtol=1e-4):
            return False
    return True


def find_survival(
    model: Any,
    X: Columns,
    target: SurvivalTarget | None,
    risk: Floats,
    row_kind: str,
    weights: Floats | None = None,
) -> SurvivalFindings:
    """Find scores, groups and curves of some rows.

    Parameters
    ----------
    model : ObliqueSurvivalForest
        Fitted model.
    X : Columns
        Rows.
    target : SurvivalTarget or None
        Times and events of the rows, if known.
    risk : ndarray of shape (n_rows,)
        Predicted risks.
    row_kind : {"new", "out-of-bag", "grown on"}
        Relation of the rows to the fit, as in `Explanation`.
    weights : ndarray, default=None
        Weights of the fit, for rows that are out of bag.
    """
    order = np.argsort(risk, kind="stable")
    chosen = [int(order[round(share * (len(order) - 1))]) for share in CURVES.values()]
    bands = survival_bands(model, X.rows(np.array(chosen)))
    nothing = SurvivalFindings(None, None, (), bands, tuple(CURVES), 0, 0)
    if target is None or len(np.unique(target.time[target.event])) < 2:
        return nothing
    given: dict[str, Any] = {"out_of_bag": row_kind == "out-of-bag"}
    if given["out_of_bag"]:
        given["sample_weight"] = weights
    known = target.time[target.event]
    times = np.unique(np.quantile(known, QUANTILES))
    n_groups = max(2, min(10, len(target) // 50))
    groups = None
    if len(target) >= N_GROUPS * MIN_OF_GROUP and np.ptp(risk) > 0.0:
        try:
            groups = risk_groups(model, X, target, n_groups=N_GROUPS, **given)
        except ValueError:  # tied risks leave a group empty
            groups = None
    return SurvivalFindings(
        survival_scores(model, X, target, **given),
        groups,
        tuple(
            survival_calibration(model, X, target, float(time), n_groups=n_groups, **given)
            for time in times
        ),
        bands,
        tuple(CURVES),
        len(target),
        int(target.event.sum()),
    )
