"""A few short rules of a forest that describe different groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Bools, Floats
from bevel.analysis.accuracy.evaluation_rows import read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.printing import PrintedTable
from bevel.analysis.rules.original_columns import read_columns
from bevel.analysis.rules.tests_of_rows import RowTest, quoted
from bevel.analysis.rules.written_splits import WrittenSplits
from bevel.data.ranking import RankScaler
from bevel.data.tables import read_table
from bevel.extras import import_optional
from bevel.forest.flat_forest import TreeView
from bevel.html_table import html_text
from bevel.parameters.constraints import Integer, Number, Parameter
from bevel.printable import printable
from bevel.text.decimals import percent, written
from bevel.text.node_predictions import called
from bevel.text.tree_rules import subtree_ends

__all__ = ["Rule", "RuleSet", "rule_set"]

SHORTER = 0.9  # what each term costs
UNWRITABLE = 2**31  # length of a split along an axis of a rotation, or of ranks
_REMEDY = "See the documentation of rule_set."
_PARAMETERS = (
    Parameter("n", 6, (Integer(1),), "", _REMEDY),
    Parameter("max_depth", 2, (Integer(1),), "", _REMEDY),
    Parameter("max_terms", 3, (Integer(1),), "", _REMEDY),
    Parameter("min_coverage", 0.05, (Number("[0, 1]"),), "", _REMEDY),
    Parameter("overlap", 0.1, (Number("[0, 1]"),), "", _REMEDY),
    Parameter("digits", 2, (Integer(1, 9),), "", _REMEDY),
)


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule as it is written, and what it predicts for the rows.

    Attributes
    ----------
    tests : tuple of RowTest
        All must hold.
    text : str
        The same in words.
    prediction : object
        Commonest class, or mean target, of the rows that fulfil it.
    precision : float
        Share of that class; in regression the standard deviation of the targets.
    out_of_bag : float
        The same of the rows that the rule's tree was not grown on; in regression their mean
        target. NaN if that is not known.
    n_rows : int
        Rows that fulfil it.
    coverage, new : float
        Share of the rows that fulfil it, and that no earlier rule covers.
    agreement : float
        Share of the rows for which the rule as written agrees with the forest's node.
    tree, node : int
        Where it is in the forest.
    """

    tests: tuple[RowTest, ...]
    text: str
    prediction: Any
    precision: float
    out_of_bag: float
    n_rows: int
    coverage: float
    new: float
    agreement: float
    tree: int
    node: int


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet:
    """Rules of different groups of rows, those that explain most first.

    Attributes
    ----------
    rules : tuple of Rule
    covered : float
        Share of the rows that fulfil any rule.
    typical : object
        Commonest class and its share, or mean target, of all rows.
    names : tuple of str
        Of the features.
    is_classifier : bool
    remedy : str
        What to do if there is no rule.
    """

    rules: tuple[Rule, ...]
    covered: float
    typical: str
    names: tuple[str, ...]
    nominal: frozenset[int]
    is_classifier: bool
    remedy: str = ""

    def __len__(self) -> int:
        return len(self.rules)

    def matches(self, X: Any) -> Bools:
        """Which rules each row fulfils, of shape (n, rules)."""
        columns = read_columns(read_table(X), self.nominal, self.names).values
        found = [_all_hold(rule.tests, columns) for rule in self.rules]
        return np.array(found, dtype=bool).reshape(len(found), len(columns[0])).T

    def to_sql(self, table: str) -> str:
        """A query with a column ``rule_1``, ``rule_2``, ...: 1 where a row fulfils a rule."""
        if not self.rules:
            raise ValueError(
                f"to_sql needs at least one rule; got a set of none. {self.remedy}".rstrip()
            )
        columns = [
            f"  CASE WHEN {' AND '.join(test.sql(self.names) for test in rule.tests)} "
            f"THEN 1 ELSE 0 END AS rule_{place}"
            for place, rule in enumerate(self.rules, 1)
        ]
        return "SELECT\n" + ",\n".join(columns) + f"\nFROM {quoted(table)}"

    def to_pandas(self) -> Any:
        """One line for each rule."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        keys = (
            *("text", "prediction", "precision", "out_of_bag", "n_rows", "coverage", "new"),
            *("agreement", "tree", "node"),
        )
        return pandas.DataFrame([{key: getattr(rule, key) for key in keys} for rule in self.rules])

    def __str__(self) -> str:
        if not self.rules:
            return f"no rule is short enough and covers enough rows. {self.remedy}".rstrip()
        lines = [self._title()]
        for place, rule in enumerate(self.rules, 1):
            lines += [f"{place:>2}. {rule.text}", f"    {self._claim(rule)}"]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.rules:
            return html_text(str(self))
        header = ("", "rule", "prediction", "out of bag", "rows", "not covered before")
        cells = []
        for place, rule in enumerate(self.rules, 1):
            what, out = self._numbers(rule)
            rows = f"{rule.n_rows} ({percent(rule.coverage)})"
            cells.append((str(place), rule.text, what, out, rows, percent(rule.new)))
        return PrintedTable(self._title(), header, cells, self._notes()).html()

    def _title(self) -> str:
        return (
            f"{len(self)} rules, which cover {percent(self.covered)} of the rows; "
            f"all rows: {self.typical}"
        )

    def _notes(self) -> tuple[str, ...]:
        changed = [
            f"rule {place}: rounding changes {percent(1.0 - rule.agreement)} of the rows"
            for place, rule in enumerate(self.rules, 1)
            if rule.agreement < 1.0
        ]
        return ("; ".join(changed),) if changed else ()

    def _numbers(self, rule: Rule) -> tuple[str, str]:
        """What a rule claims, and the estimate out of bag, which is empty if there is none."""
        known = rule.out_of_bag == rule.out_of_bag
        if self.is_classifier:
            what = f"{printable(called(str(rule.prediction)))} {percent(rule.precision)}"
            return what, percent(rule.out_of_bag) if known else ""
        what = f"{written(rule.prediction)} ± {written(float(f'{rule.precision:.2g}'))}"
        return what, written(float(f"{rule.out_of_bag:.4g}")) if known else ""

    def _claim(self, rule: Rule) -> str:
        what, estimate = self._numbers(rule)
        out = f" (out of bag {estimate})" if estimate else ""
        text = f"{what}{out}; {rule.n_rows} rows, {percent(rule.coverage)}, "
        text += f"{percent(rule.new)} not covered before"
        if rule.agreement < 1.0:
            text += f"; rounding changes {percent(1.0 - rule.agreement)} of the rows"
        return text


@dataclass(frozen=True)
class _Node:
    tree: int
    node: int
    end: int  # leaves from node to end - 1 are below it
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
    out_of_bag: bool = False,
) -> RuleSet:
    """A few short rules of a fitted forest that describe different groups of rows.

    Rules are chosen one by one, the one that explains most first: weight of its rows times the
    squared distance of their mean from that of all rows, less 10 % for each term. The rows of a
    chosen rule count `overlap` as much for the next ones.

    Parameters
    ----------
    forest : fitted forest of Bevel
    X, y : array-like
        Rows and targets to evaluate rules on.
    n : int, default=6
        Most rules to give.
    max_depth : int, default=2
        Most splits of a rule.
    max_terms : int, default=3
        Most features of a split.
    min_coverage : float, default=0.05
        Least share of the rows that a rule must cover, and least share of them that no earlier rule
        does.
    overlap : float, default=0.1
        Weight of the rows that a rule covers already; 1: overlap does not matter.
    digits : int, default=2
        Digits of weights and thresholds, counted from the spread of the columns. All figures are
        those of the rule as it is written.
    out_of_bag : bool, default=False
        X and y are the rows of the fit: each rule is also evaluated on the rows that its tree was
        not grown on.

    Returns
    -------
    RuleSet
        Print it; `matches`, `to_sql`, `to_pandas`.

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
    analysed = read_forest(forest, "rule_set")
    given = (n, max_depth, max_terms, min_coverage, overlap, digits)
    for parameter, value in zip(_PARAMETERS, given, strict=True):
        parameter.check(value)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    target = np.asarray(rows.target)
    Y = (
        np.eye(analysed.forest.n_classes)[target]
        if analysed.classes is not None
        else target[:, None]
    )
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    nodes = [
        node for tree in analysed.forest for node in _nodes(analysed, tree, max_depth, max_terms)
    ]
    chosen = _cover(nodes, leaves, Y.astype(float), n, min_coverage, overlap)
    nominal = frozenset(int(f) for f in np.flatnonzero(analysed.forest.levels))
    columns = read_columns(read_table(X), nominal, analysed.names).values
    writer = _Writer(analysed, columns, leaves, target, rows.out, digits)
    covered = np.zeros(len(target), dtype=bool)
    rules = [writer.write(node, covered) for node in chosen]
    typical = _typical(analysed, target)
    return RuleSet(
        tuple(rules),
        float(covered.mean()),
        typical,
        analysed.names,
        nominal,
        analysed.classes is not None,
        "" if rules else _remedy(analysed, max_terms),
    )


def _remedy(analysed: AnalysedForest, max_terms: int) -> str:
    """What gives rules if none was found; the first splits of trees are parts of all rules."""
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
    """Features of each node's split; UNWRITABLE if it is no sum of values of few features."""
    forest, nodes = analysed.forest, tree.nodes
    first, last = forest.entry_offset[nodes.start], forest.entry_offset[nodes.stop]
    count = np.diff(forest.entry_offset[nodes.start : nodes.stop + 1]).astype(np.int64)
    is_axis = forest.entry_index[first:last] >= forest.n_features
    owner = np.repeat(np.arange(tree.n_nodes), count)
    unwritable = np.bincount(owner, is_axis, minlength=tree.n_nodes) > 0
    if isinstance(analysed.fitted.encoding.scaler, RankScaler):
        unwritable |= count > 1  # sums of ranks are not sums of values
    return np.where(unwritable, UNWRITABLE, count)


def _nodes(
    analysed: AnalysedForest, tree: TreeView, max_depth: int, max_terms: int
) -> Iterator[_Node]:
    """Nodes under splits of few features; axes of rotations have many."""
    forest, nodes = analysed.forest, tree.nodes
    count = _lengths(analysed, tree)
    long = count > min(max_terms, UNWRITABLE - 1)
    terms, end = np.zeros(tree.n_nodes, np.int64), subtree_ends(tree)
    parent = forest.parent[nodes.start : nodes.stop] - nodes.start
    for node in np.flatnonzero((tree.depth > 0) & (tree.depth <= max_depth)):
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
    n: int,
    min_coverage: float,
    overlap: float,
) -> list[_Node]:
    """Greedy choice; rows of chosen nodes lose weight."""
    mean, n_rows = Y.mean(axis=0), len(Y)
    covered = np.zeros(n_rows, dtype=bool)
    weight = np.ones(n_rows)
    chosen: list[_Node] = []
    while len(chosen) < n:
        best, most = None, 0.0
        for node in nodes:
            inside = _rows_of(node, leaves)
            fresh = np.count_nonzero(inside & ~covered)
            if fresh < max(1.0, min_coverage * n_rows):
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
        weight[inside] *= max(overlap, 1e-6)
    return chosen


def _rows_of(node: _Node, leaves: npt.NDArray[np.int32]) -> Bools:
    leaf = leaves[:, node.tree]
    return np.asarray((leaf >= node.node) & (leaf < node.end))


def _all_hold(tests: tuple[RowTest, ...], columns: Any) -> Bools:
    found = np.ones(len(columns[0]), dtype=bool)
    for test in tests:
        found &= test.holds(columns)
    return found


def _typical(analysed: AnalysedForest, target: npt.NDArray[Any]) -> str:
    if analysed.classes is None:
        return f"{written(float(f'{target.mean():.4g}'))} ± {written(float(f'{target.std():.2g}'))}"
    counts = np.bincount(target, minlength=len(analysed.classes))
    best = int(counts.argmax())
    label = called(str(analysed.classes[best]))
    return f"{printable(label)} {percent(counts[best] / counts.sum())}"


@dataclass(frozen=True, eq=False)
class _Writer:
    """Writes nodes as rules, and evaluates them as they are written."""

    analysed: AnalysedForest
    columns: Any
    leaves: npt.NDArray[np.int32]
    target: npt.NDArray[Any]
    out: Bools | None
    digits: int

    def write(self, node: _Node, covered: Bools) -> Rule:
        tree: Any = self.analysed.estimator
        rules = tree.forest_.tree(node.tree).rules(digits=self.digits, max_terms=None)
        place = int(np.searchsorted(rules.node, node.node))
        tests = WrittenSplits(self.analysed).path(rules, place)
        inside = _all_hold(tests, self.columns)
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
            float((inside == _rows_of(node, self.leaves)).mean()),
            node.tree,
            node.node,
        )

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
