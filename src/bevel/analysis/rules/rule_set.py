"""A few short rules of a forest that describe different groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Bools, Floats
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows, read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.rules.imitation import (
    N_TREES,
    forest_predictions,
    grow_imitation,
    imitates,
)
from bevel.analysis.rules.original_columns import read_columns
from bevel.analysis.rules.rule_set_result import Rule, RuleSet, all_hold
from bevel.analysis.rules.tests_of_rows import LabelTest, RowTest
from bevel.analysis.rules.written_splits import WrittenSplits
from bevel.data.columns import Columns
from bevel.data.ranking import RankScaler
from bevel.data.tables import read_table
from bevel.forest.flat_forest import TreeView
from bevel.parameters.constraints import Integer, Number, Parameter, StrOptions
from bevel.printable import printable
from bevel.text.decimals import percent, written
from bevel.text.node_predictions import called
from bevel.text.tree_rules import subtree_ends

__all__ = ["RuleOptions", "choose_rules", "rule_set"]

SHORTER = 0.9  # factor of the score for each term
ENOUGH_TREES = 0.5  # share that begin with a short split, to use the forest's own nodes
MOST_DIGITS, MOST_MOVED = 9, 0.1  # share of its rows that rounding may move
UNWRITABLE = 2**31  # length given to splits along axes of rotations, or of ranks
_REMEDY = "See the documentation of rule_set."
_PARAMETERS = (
    Parameter("n", 6, (Integer(1),), "", _REMEDY),
    Parameter("max_depth", 2, (Integer(1),), "", _REMEDY),
    Parameter("max_terms", 3, (Integer(1),), "", _REMEDY),
    Parameter("min_coverage", 0.05, (Number("[0, 1]"),), "", _REMEDY),
    Parameter("overlap", 0.1, (Number("[0, 1]"),), "", _REMEDY),
    Parameter("digits", 2, (Integer(1, 9),), "", _REMEDY),
    Parameter("source", "auto", (StrOptions(("auto", "forest", "imitation")),), "", _REMEDY),
)


@dataclass(frozen=True)
class RuleOptions:
    """The parameters of `rule_set`."""

    n: int = 6
    max_depth: int = 2
    max_terms: int = 3
    min_coverage: float = 0.05
    overlap: float = 0.1
    digits: int = 2
    source: str = "auto"


@dataclass(frozen=True)
class _Node:
    tree: int
    node: int
    end: int  # the subtree has the leaves from node to end - 1
    n_terms: int


def rule_set(
    forest: object,
    X: Any,
    y: Any,
    *,
    n: int = 6,
    max_depth: int = 2,
    max_terms: int = 3,
    min_coverage: float = 0.05,
    overlap: float = 0.1,
    digits: int = 2,
    out_of_bag: bool | str = "auto",
    source: str = "auto",
) -> RuleSet:
    """A few short rules of a fitted forest that describe different groups of rows.

    Rules are chosen one by one, in descending order of the variance that they explain: weight of
    their rows times the squared distance of their mean from that of all rows, minus 10 % for each
    term. The rows of a chosen rule have weight `overlap` for the next ones.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted forest, or a fitted boosting model, whose nodes are rules too.
    X, y : array-like
        Rows and targets to evaluate rules on.
    n : int, default=6
        Largest number of rules.
    max_depth : int, default=2
        Largest number of splits of a rule.
    max_terms : int, default=3
        Largest number of features of a split.
    min_coverage : float, default=0.05
        Smallest share of the rows that a rule must cover, and smallest share that must not be
        covered by earlier rules.
    overlap : float, default=0.1
        Weight of the rows that are covered already; 1 ignores overlap.
    digits : int, default=2
        Digits of weights and thresholds, counted from the spread of the columns; more where
        rounding would move more than a tenth of the rule's rows. All statistics are those of the
        rounded rule.
    out_of_bag : bool or "auto", default="auto"
        Whether X and y are the rows of the fit: then each rule is also evaluated on the rows that
        its tree was not grown on. "auto" recognises them if they are in the order of the fit.
    source : {"auto", "forest", "imitation"}, default="auto"
        Source of the rules: the nodes of the forest, or those of a hundred small trees of short
        splits that are fitted to its predictions. "auto" means the forest if at least half of its
        trees begin with a split of at most `max_terms` features. Node models and rotations, which
        most default forests have, do not. The result states the source and how well it imitates
        the forest.

    Returns
    -------
    RuleSet
        Rules; print them, or use `matches`, `to_sql`, `to_pandas`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import rule_set
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(50, projection="axis", random_state=0).fit(X, y)
    >>> found = rule_set(forest, X, y, n=3)
    >>> sorted(int(rule.prediction) for rule in found.rules)
    [0, 1, 2]
    """
    analysed = read_forest(forest, "rule_set", trees_only=True)
    given = (n, max_depth, max_terms, min_coverage, overlap, digits, source)
    for parameter, value in zip(_PARAMETERS, given, strict=True):
        parameter.check(value)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    return choose_rules(analysed, X, rows, RuleOptions(*given))


def choose_rules(
    analysed: AnalysedForest, X: Any, rows: EvaluationRows, options: RuleOptions
) -> RuleSet:
    """Choose rules on rows that were read before."""
    nominal = frozenset(int(f) for f in np.flatnonzero(analysed.forest.levels))
    columns = read_columns(read_table(X), nominal, analysed.names)
    predicted = forest_predictions(analysed, X, rows)
    few = _too_few(analysed, options.max_terms)
    imitation = None
    if options.source == "imitation" or (options.source == "auto" and few):
        imitation = _imitate(analysed, columns, predicted, options)
    of, leaves, out = _nodes_of(analysed, imitation, columns, rows)
    target = np.asarray(rows.target)
    nodes = [node for tree in of.forest for node in _nodes(of, tree, options)]
    Y = np.eye(len(analysed.classes))[target] if analysed.classes is not None else target[:, None]
    chosen = _cover(nodes, leaves, Y.astype(float), options)
    writer = _Writer(analysed, of, columns.values, leaves, target, out, options.digits)
    covered = np.zeros(len(target), dtype=bool)
    written_rules = (writer.write(node, covered) for node in chosen)
    rules = tuple(rule for rule in written_rules if rule.n_rows > 0)
    return RuleSet(
        rules,
        float(covered.mean()),
        _typical(analysed, target),
        analysed.names,
        nominal,
        analysed.classes is not None,
        "" if rules else _remedy(of, options.max_terms),
        "forest" if imitation is None else "imitation",
        _fidelity(analysed, rules, columns.values, target, predicted),
        "" if imitation is None else few or f"The rules are of {N_TREES} small trees.",
        rows.row_kind,
    )


def _too_few(analysed: AnalysedForest, max_terms: int) -> str:
    """Reason why rules from the forest's own nodes would describe few trees; empty if none."""
    first = [int(_lengths(analysed, t)[0]) for t in analysed.forest if t.n_nodes > 1]
    short = sum(length <= max_terms for length in first)
    if short >= ENOUGH_TREES * len(first):
        return ""
    return (
        f"The model's own splits are long: {short:,} of {len(first):,} trees begin with at most "
        f"{max_terms} feature{'' if max_terms == 1 else 's'}. The rules are of {N_TREES} small "
        "trees that imitate its predictions."
    )


def _imitate(
    analysed: AnalysedForest, columns: Columns, predicted: npt.NDArray[Any], options: RuleOptions
) -> AnalysedForest | None:
    min_rows = int(options.min_coverage * len(predicted) / 2)
    return grow_imitation(
        analysed, columns, predicted, options.max_depth, options.max_terms, min_rows
    )


def _nodes_of(
    analysed: AnalysedForest,
    imitation: AnalysedForest | None,
    columns: Columns,
    rows: EvaluationRows,
) -> tuple[AnalysedForest, npt.NDArray[np.int32], Bools | None]:
    """The forest whose nodes are rules, the leaves of the rows, and which are out of bag."""
    if imitation is None:
        leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
        return analysed, leaves, rows.out
    leaves = imitation.predictor.leaves(imitation.encode(columns), imitation.n_threads)
    return imitation, leaves, imitation.honest_bags().rows_out(imitation.forest.n_trees)


def _fidelity(
    analysed: AnalysedForest,
    rules: tuple[Rule, ...],
    columns: Any,
    target: npt.NDArray[Any],
    predicted: npt.NDArray[Any],
) -> float:
    """Agreement of the first rule that holds with the forest; other rows get the typical value."""
    if not rules or predicted.ndim > 1:
        return float("nan")
    classes = analysed.classes
    if classes is None:
        found = np.full(len(target), target.mean())
    else:
        found = classes[np.full(len(target), np.bincount(target).argmax())]
    free = np.ones(len(target), dtype=bool)
    for rule in rules:
        inside = all_hold(rule.tests, columns)
        found[inside & free] = rule.prediction
        free &= ~inside
    return imitates(predicted, found, classes is not None)


def _remedy(analysed: AnalysedForest, max_terms: int) -> str:
    """Advice on how to get rules if none was found."""
    lengths = [
        int(count)
        for tree in analysed.forest
        if tree.n_nodes > 1 and (count := _lengths(analysed, tree)[0]) < UNWRITABLE
    ]
    if not lengths:
        return (
            "No first split of a tree is a sum of few features. Use surrogate_tree, which "
            "imitates the forest with short splits."
        )
    if min(lengths) > max_terms:
        return (
            f"The first splits of trees have {min(lengths)} features or more: raise max_terms "
            f"(here {max_terms}), or use surrogate_tree, which imitates the forest with short "
            "splits."
        )
    return "Lower min_coverage, or raise max_terms or max_depth."


def _lengths(analysed: AnalysedForest, tree: TreeView) -> npt.NDArray[np.int64]:
    """Number of features of each node's split; UNWRITABLE if it is not a sum of few values."""
    forest, nodes = analysed.forest, tree.nodes
    first, last = forest.entry_offset[nodes.start], forest.entry_offset[nodes.stop]
    count = np.diff(forest.entry_offset[nodes.start : nodes.stop + 1]).astype(np.int64)
    is_axis = forest.entry_index[first:last] >= forest.n_features
    owner = np.repeat(np.arange(tree.n_nodes), count)
    unwritable = np.bincount(owner, is_axis, minlength=tree.n_nodes) > 0
    if isinstance(analysed.fitted.encoding.scaler, RankScaler):
        unwritable |= count > 1  # sums of ranks are not sums of values
    return np.where(unwritable, UNWRITABLE, count)


def _nodes(analysed: AnalysedForest, tree: TreeView, options: RuleOptions) -> Iterator[_Node]:
    """Nodes below splits of few features, without axes of rotations."""
    forest, nodes = analysed.forest, tree.nodes
    count = _lengths(analysed, tree)
    long = count > min(options.max_terms, UNWRITABLE - 1)
    terms, end = np.zeros(tree.n_nodes, np.int64), subtree_ends(tree)
    parent = forest.parent[nodes.start : nodes.stop] - nodes.start
    for node in np.flatnonzero((tree.depth > 0) & (tree.depth <= options.max_depth)):
        above = int(parent[node])
        if terms[above] < 0 or long[above]:
            terms[node] = -1
            continue
        terms[node] = terms[above] + count[above]
        yield _Node(tree.index, int(node), int(end[node]), int(terms[node]))


def _cover(
    nodes: list[_Node],
    leaves: npt.NDArray[np.int32],
    Y: Floats,
    options: RuleOptions,
) -> list[_Node]:
    """Choose nodes greedily; rows of chosen nodes lose weight."""
    mean, n_rows = Y.mean(axis=0), len(Y)
    covered = np.zeros(n_rows, dtype=bool)
    weight = np.ones(n_rows)
    chosen: list[_Node] = []
    while len(chosen) < options.n:
        best, most = None, 0.0
        for node in nodes:
            inside = _rows_of(node, leaves)
            fresh = np.count_nonzero(inside & ~covered)
            if fresh < max(1.0, options.min_coverage * n_rows):
                continue
            own = weight[inside]
            distance = own @ Y[inside] / own.sum() - mean
            score = own.sum() * float(distance @ distance) * SHORTER**node.n_terms
            if score > most * (1.0 + 1e-9):
                best, most = node, score
        if best is None:
            break
        chosen.append(best)
        inside = _rows_of(best, leaves)
        covered |= inside
        weight[inside] *= max(options.overlap, 1e-6)
    return chosen


def _rows_of(node: _Node, leaves: npt.NDArray[np.int32]) -> Bools:
    leaf = leaves[:, node.tree]
    return np.asarray((leaf >= node.node) & (leaf < node.end))


def _typical(analysed: AnalysedForest, target: npt.NDArray[Any]) -> str:
    if analysed.classes is None:
        return f"{written(float(f'{target.mean():.4g}'))} ± {written(float(f'{target.std():.2g}'))}"
    counts = np.bincount(target, minlength=len(analysed.classes))
    best = int(counts.argmax())
    label = called(str(analysed.classes[best]))
    return f"{printable(label)} {percent(counts[best] / counts.sum())}"


@dataclass(frozen=True, eq=False)
class _Writer:
    """Writes nodes as rules, and evaluates the rounded rules."""

    analysed: AnalysedForest
    of: AnalysedForest  # forest of the nodes
    columns: Any
    leaves: npt.NDArray[np.int32]
    target: npt.NDArray[Any]
    out: Bools | None
    digits: int

    def write(self, node: _Node, covered: Bools) -> Rule:
        inside_node = _rows_of(node, self.leaves)
        for digits in range(self.digits, MOST_DIGITS + 1):
            tests = self._tests(node, digits)
            inside = all_hold(tests, self.columns)
            agreement = float((inside == inside_node).mean())
            if 1.0 - agreement <= MOST_MOVED * inside_node.mean():
                break
        prediction, precision = self._describe(self.target[inside])
        fresh = float((inside & ~covered).mean())
        covered |= inside
        return Rule(
            tests,
            " and ".join(test.text(self.analysed.names) for test in tests),
            prediction,
            precision,
            self._out_of_bag(inside, node.tree, prediction),
            int(inside.sum()),
            float(inside.mean()),
            fresh,
            agreement,
            node.tree,
            node.node,
        )

    def _tests(self, node: _Node, digits: int) -> tuple[RowTest, ...]:
        estimator: Any = self.of.estimator
        rules = estimator.forest_.tree(node.tree).rules(digits=digits, max_terms=None)
        place = int(np.searchsorted(rules.node, node.node))
        tests = WrittenSplits(self.of).path(rules, place)
        if self.of.fitted.additive is None:
            return tests
        # Boosting does not record whether a column had missing values; it is read from the rows.
        return tuple(
            test if self._is_missing(test) else replace(test, missing=False) for test in tests
        )

    def _is_missing(self, test: RowTest) -> bool:
        if isinstance(test, LabelTest):
            return True
        return any(bool(np.isnan(self.columns[feature]).any()) for feature in test.features)

    def _describe(self, target: npt.NDArray[Any]) -> tuple[Any, float]:
        classes = self.analysed.classes
        if len(target) == 0:
            return (None, float("nan")) if classes is not None else (float("nan"), float("nan"))
        if classes is None:
            return float(f"{target.mean():.4g}"), float(target.std())
        counts = np.bincount(target, minlength=len(classes))
        best = int(counts.argmax())
        return classes[best], float(counts[best] / counts.sum())

    def _out_of_bag(self, inside: Bools, tree: int, prediction: Any) -> float:
        if self.out is None:
            return float("nan")
        target = self.target[inside & self.out[:, tree]]
        if len(target) == 0:
            return float("nan")
        classes = self.analysed.classes
        if classes is None:
            return float(target.mean())
        return float(np.mean(classes[target] == prediction))
