"""A few short rules of a forest that describe different groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Bools, Floats
from bevel.analysis.accuracy.evaluation_rows import (
    EvaluationRows,
    predictions,
    read_evaluation_rows,
)
from bevel.analysis.analysed_forest import AnalysedForest, forest_of, read_forest
from bevel.analysis.printing import PrintedTable
from bevel.analysis.rules.conditions import (
    LabelTest,
    RowTest,
    WrittenSplits,
    read_columns,
    read_numbered,
)
from bevel.data.leaks import without_leak_alarm
from bevel.data.scaling import RankScaler
from bevel.data.tables import Columns, read_table
from bevel.errors import join_names, wrong_value
from bevel.estimators.forest import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.extras import import_optional
from bevel.forest.fitted_forest import FittedCombination
from bevel.forest.flat_forest import TreeView
from bevel.html_table import html_text
from bevel.parameters.parameter import Integer, Number, Parameter, StrOptions
from bevel.printable import printable, rounded
from bevel.projections import Axis, SparseSigns
from bevel.text.predictions import called
from bevel.text.split_text import percent, written
from bevel.text.sql import quoted
from bevel.text.tree_rules import subtree_ends

__all__ = [
    "N_TREES",
    "RULE_NOTES",
    "Rule",
    "RuleOptions",
    "RuleSet",
    "all_hold",
    "choose_rules",
    "forest_predictions",
    "grow_imitation",
    "rule_set",
]

# Result of `rule_set`: printed, as SQL, and evaluated on rows.

# Notes on the rows behind the statistics of rules, by their kind.
RULE_NOTES = {
    "new": "Figures are of the given rows; those of training rows are in-bag, and too good.",
    "out-of-bag": "Rules were chosen on these training rows; figures not out of bag are in-bag.",
    "grown on": "Figures are in-bag: of training rows, and too good.",
}


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule in rounded numbers, and its statistics on the rows.

    Attributes
    ----------
    tests : tuple of RowTest
        Tests that must all hold.
    text : str
        Rule in words.
    prediction : object
        Most frequent class, or mean target, of the rows that satisfy it; the class `positive` if
        the rules are of one.
    precision : float
        Share of that class; in regression the standard deviation of the targets.
    lift : float
        Precision divided by the share of that class in all rows; NaN in regression.
    out_of_bag : float
        Precision on the rows that the rule's tree was not grown on; in regression their mean
        target. NaN if it is not known.
    n_rows : int
        Number of rows that satisfy it.
    coverage, new : float
        Share of the rows that satisfy it, and share that no earlier rule covers.
    agreement : float
        Share of the rows for which the rounded rule agrees with the forest's node.
    tree, node : int
        Position of the node in the forest, or in the trees that imitate it.
    """

    tests: tuple[RowTest, ...]
    text: str
    prediction: Any
    precision: float
    lift: float
    out_of_bag: float
    n_rows: int
    coverage: float
    new: float
    agreement: float
    tree: int
    node: int


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet:
    """Rules of different groups of rows, in descending order of explained variance.

    Attributes
    ----------
    rules : tuple of Rule
    covered : float
        Share of the rows that satisfy any rule.
    typical : object
        Most frequent class and its share, or mean target, of all rows.
    names : tuple of str
        Names of the features.
    is_classifier : bool
    remedy : str
        Advice if there is no rule.
    source : {"forest", "imitation"}
        Whether rules are nodes of the forest, or of small trees that imitate its predictions.
    fidelity : float
        Agreement of the rules with the forest on the rows, if each row gets the prediction of the
        first rule that it satisfies, and rows of no rule that of all rows: share of equal labels,
        in regression share of the variance of the forest's predictions, which are out of bag if
        requested. NaN for rules of one class.
    origin : str
        Reason why the forest is imitated; empty if it is not.
    row_kind : {"new", "out-of-bag", "grown on"}
        Whether the forest was grown on the rows, and if so whether rules are evaluated out of bag.
    """

    rules: tuple[Rule, ...]
    covered: float
    typical: str
    names: tuple[str, ...]
    nominal: frozenset[int]
    is_classifier: bool
    remedy: str = ""
    source: str = "forest"
    fidelity: float = float("nan")
    origin: str = ""
    row_kind: str = "new"

    def __len__(self) -> int:
        return len(self.rules)

    def matches(self, X: Any) -> Bools:
        """Rules that each row satisfies, of shape (n, rules)."""
        columns = read_columns(read_table(X), self.nominal, self.names).values
        found = [all_hold(rule.tests, columns) for rule in self.rules]
        return np.array(found, dtype=bool).reshape(len(found), len(columns[0])).T

    def to_sql(self, table: str) -> str:
        """A query with a column ``rule_1``, ``rule_2``, ...: 1 where a row satisfies a rule."""
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
            *("text", "prediction", "precision", "lift", "out_of_bag", "n_rows", "coverage"),
            *("new", "agreement", "tree", "node"),
        )
        return pandas.DataFrame([{key: getattr(rule, key) for key in keys} for rule in self.rules])

    def __str__(self) -> str:
        if not self.rules:
            return f"no rule is short enough and covers enough rows. {self.remedy}".rstrip()
        lines = [self._title()]
        for place, rule in enumerate(self.rules, 1):
            lines += [f"{place:>2}. {rule.text}", f"    {self._claim(rule)}"]
        return "\n".join((*lines, *self.of_the_forest(), RULE_NOTES[self.row_kind]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.rules:
            return html_text(str(self))
        has_lift = any(rule.lift == rule.lift for rule in self.rules)  # of numbers there is none
        header = ("", "rule", "prediction", *("lift",) * has_lift)
        header += ("out of bag", "rows", "not covered before")
        cells = []
        for place, rule in enumerate(self.rules, 1):
            what, out = self._numbers(rule)
            rows = f"{rule.n_rows} ({percent(rule.coverage)})"
            lift = (rounded(rule.lift, 2),) * has_lift
            cells.append((str(place), rule.text, what, *lift, out, rows, percent(rule.new)))
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
        notes = (*self.of_the_forest(), RULE_NOTES[self.row_kind])
        return (*(("; ".join(changed),) if changed else ()), *notes)

    def of_the_forest(self) -> tuple[str, ...]:
        """Source of the rules, and their agreement with the forest, in words."""
        share = percent(max(self.fidelity, 0.0))
        what = (
            f"predicts as the model does for {share} of the rows"
            if self.is_classifier
            else f"explains {share} of the variance of the model's predictions"
        )
        known = self.fidelity == self.fidelity  # not known for several quantiles
        words = f"The first rule that a row fulfils {what}." if known else ""
        return tuple(each for each in (self.origin, words) if each)

    def _numbers(self, rule: Rule) -> tuple[str, str]:
        """Statistics of a rule, and the out-of-bag estimate, which is empty if there is none."""
        known = rule.out_of_bag == rule.out_of_bag
        if self.is_classifier:
            what = f"{printable(called(str(rule.prediction)))} {percent(rule.precision)}"
            return what, percent(rule.out_of_bag) if known else ""
        what = f"{written(rule.prediction)} ± {written(float(f'{rule.precision:.2g}'))}"
        return what, written(float(f"{rule.out_of_bag:.4g}")) if known else ""

    def _claim(self, rule: Rule) -> str:
        what, estimate = self._numbers(rule)
        out = f" (out of bag {estimate})" if estimate else ""
        lift = "" if rule.lift != rule.lift else f", lift {rounded(rule.lift, 2)}"
        text = f"{what}{lift}{out}; {rule.n_rows} rows, {percent(rule.coverage)}, "
        text += f"{percent(rule.new)} not covered before"
        if rule.agreement < 1.0:
            text += f"; rounding changes {percent(1.0 - rule.agreement)} of the rows"
        return text


def all_hold(tests: tuple[RowTest, ...], columns: Any) -> Bools:
    found = np.ones(len(columns[0]), dtype=bool)
    for test in tests:
        found &= test.holds(columns)
    return found


# Small trees of short splits that imitate a forest with long splits.

N_TREES = 100


def forest_predictions(analysed: AnalysedForest, X: Any, rows: EvaluationRows) -> npt.NDArray[Any]:
    """Predictions of the forest, out of bag where possible."""
    predicted = analysed.predict(X)
    if rows.out is None:
        return predicted
    means, known = predictions(analysed, rows), rows.known
    predicted[known] = analysed.task.decode(means[known])
    return predicted


Kind = type[ObliqueForestClassifier | ObliqueForestRegressor]


def grow_imitation(
    analysed: AnalysedForest,
    kind: Kind,
    columns: Columns,
    imitated: npt.NDArray[Any],
    max_depth: int,
    max_terms: int,
    min_rows: int,
) -> AnalysedForest | None:
    """Fit small trees to predictions; None if the predictions do not differ.

    Parameters
    ----------
    analysed : AnalysedForest
        The forest.
    kind : class
        Forest of the small trees: a classifier for labels, a regressor for numbers.
    columns : Columns
        Rows in the user's units, of `read_numbered`.
    imitated : ndarray of shape (n,)
        Predictions of the rows by the forest.
    max_depth, max_terms : int
        Most splits above a leaf, and desired number of features of a split, which a few exceed.
    min_rows : int
        Fewest rows of a leaf.
    """
    if imitated.ndim > 1 or len(np.unique(imitated)) < 2:
        return None
    encoding = analysed.fitted.encoding
    nominal = sorted(encoding.nominal.keys() - encoding.means.keys())
    n_numeric = len(analysed.names) - len(nominal)
    one_by_one = max_terms == 1 or n_numeric < 2
    grown = kind(
        N_TREES,
        projection=Axis() if one_by_one else SparseSigns(min(2.0, n_numeric / 2)),
        max_depth=max_depth,
        min_samples_leaf=max(1, min_rows),
        categorical_features=nominal or None,
        n_jobs=analysed.n_threads,
        random_state=0,
    )
    with without_leak_alarm():  # the target is what a forest predicts
        return read_forest(grown.fit(columns, imitated), analysed.caller)


SHORTER = 0.9  # factor of the score for each term
ENOUGH_TREES = 0.5  # share that begin with a short split, to use the forest's own nodes
MAX_DIGITS, MAX_MOVED = 9, 0.1  # share of its rows that rounding may move
UNWRITABLE = 2**31  # length given to splits along axes of rotations, or of ranks
IMITATED = f"The rules are of {N_TREES} small trees that imitate its predictions."
OF_BOTH = f"The model is a forest and boosting together. {IMITATED}"
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
    positive: Any = None


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
    positive: Any = None,
) -> RuleSet:
    """A few short rules of a fitted forest that describe different groups of rows.

    Rules are chosen one by one, in descending order of the variance that they explain: weight of
    their rows times the squared distance of their mean from that of all rows, minus 10 % for each
    term. The rows of a chosen rule have weight `overlap` for the next ones.

    Parameters
    ----------
    forest : fitted forest of Bevel
        A fitted forest, or a fitted boosting model, whose nodes are rules too. Of a forest and
        boosting together the rules are those of small trees that imitate its predictions.
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
    positive : label of a class, default=None
        The class that matters, such as the rare one: rules are of rows in which it is more frequent
        than in all rows, best first, and tell its share. None: rules of all classes. The rules of
        most rows are those of the most frequent class where classes are not balanced. Where trees
        imitate a model that predicts one class for all rows, rules are of another class.

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
    analysed = read_forest(forest, "rule_set", trees_only=True, predictions_only=True)
    given = (n, max_depth, max_terms, min_coverage, overlap, digits, source)
    for parameter, value in zip(_PARAMETERS, given, strict=True):
        parameter.check(value)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    return choose_rules(analysed, X, rows, RuleOptions(*given, positive))


def choose_rules(
    analysed: AnalysedForest, X: Any, rows: EvaluationRows, options: RuleOptions
) -> RuleSet:
    """Choose rules on rows that were read before."""
    positive = _class_of(options.positive, analysed)
    nominal = frozenset(analysed.fitted.encoding.nominal)
    # A training row must not see its own target in the means of levels, by which rules are chosen.
    columns = read_numbered(analysed, read_table(analysed.table(X)), rows.places)
    predicted = forest_predictions(analysed, X, rows)
    few = _too_few(analysed, options.max_terms)
    is_combination = isinstance(analysed.fitted, FittedCombination)
    if is_combination and options.source == "forest":
        required = '"auto" or "imitation" for a forest and boosting together'
        remedy = "Or ask the models of `estimators_` for the rules of their trees."
        raise wrong_value("source", required, options.source, remedy)
    imitation, origin = None, few or f"The rules are of {N_TREES} small trees."
    if options.source == "imitation" or (options.source == "auto" and few):
        imitated, kind = predicted, forest_of(analysed.task)
        if analysed.classes is not None and len(np.unique(predicted)) == 1:
            imitated, positive = _probabilities(analysed, X, rows, predicted[0], positive)
            kind, origin = ObliqueForestRegressor, _of_one_class(analysed, predicted[0], positive)
        imitation = _imitate(analysed, kind, columns, imitated, options)
    if is_combination and imitation is None:
        remedy = "The model predicts the same for all of these rows: pass other rows."
        has_classes, typical = (
            analysed.classes is not None,
            _typical(analysed, rows.target, positive),
        )
        return RuleSet((), 0.0, typical, analysed.names, nominal, has_classes, remedy)
    of, leaves, out = _nodes_of(analysed, imitation, columns, rows)
    target = rows.target
    nodes = [node for tree in of.forest for node in _nodes(of, tree, options)]
    Y = analysed.task.as_columns(target)
    Y = Y if positive is None else Y[:, [positive]]
    chosen = _cover(nodes, leaves, Y, options, more_only=positive is not None)
    writer = _Writer(analysed, of, columns.values, leaves, target, out, options.digits, positive)
    covered = np.zeros(len(target), dtype=bool)
    written_rules = (writer.write(node, covered) for node in chosen)
    rules = tuple(rule for rule in written_rules if rule.n_rows > 0)
    return RuleSet(
        rules,
        float(covered.mean()),
        _typical(analysed, target, positive),
        analysed.names,
        nominal,
        analysed.classes is not None,
        "" if rules else _remedy(of, options.max_terms),
        "forest" if imitation is None else "imitation",
        float("nan")
        if positive is not None
        else _fidelity(analysed, rules, columns.values, target, predicted),
        "" if imitation is None else origin,
        rows.row_kind,
    )


def _class_of(positive: Any, analysed: AnalysedForest) -> int | None:
    """Position of the class that rules are of; None for all. Text stands for a label too."""
    if positive is None:
        return None
    classes = [] if analysed.classes is None else list(analysed.classes)
    found = [place for place, label in enumerate(classes) if label == positive]
    found = found or [place for place, label in enumerate(classes) if str(label) == str(positive)]
    if not found:
        required = "one of the classes of the fit"
        remedy = f"They are {join_names([str(label) for label in classes])}."
        if not classes:
            remedy = "Leave it out: the model predicts numbers, which have no classes."
        raise wrong_value("`positive`", required, positive, remedy)
    return found[0]


def _too_few(analysed: AnalysedForest, max_terms: int) -> str:
    """Reason why rules from the forest's own nodes would describe few trees; empty if none."""
    if isinstance(analysed.fitted, FittedCombination):
        return OF_BOTH
    first = [int(_lengths(analysed, t)[0]) for t in analysed.forest if t.n_nodes > 1]
    short = sum(length <= max_terms for length in first)
    if short >= ENOUGH_TREES * len(first):
        return ""
    return (
        f"The model's own splits are long: {short:,} of {len(first):,} trees begin with at most "
        f"{max_terms} feature{'' if max_terms == 1 else 's'}. {IMITATED}"
    )


def _probabilities(
    analysed: AnalysedForest, X: Any, rows: EvaluationRows, only: Any, positive: int | None
) -> tuple[Floats, int]:
    """Probabilities of a class and its position, where the class `only` is predicted for all rows.

    They are of the class `positive`, or of that other class whose probabilities differ most.
    """
    estimator: Any = analysed.estimator
    values = np.array(estimator.predict_proba(analysed.table(X)))
    if rows.out is not None:
        values[rows.known] = predictions(analysed, rows)[rows.known]
    if positive is None:
        positive = int(np.where(analysed.classes == only, -1.0, values.std(axis=0)).argmax())
    return values[:, positive], positive


def _of_one_class(analysed: AnalysedForest, only: Any, positive: int) -> str:
    """Why rules are of the probability of one class, in words."""
    classes = analysed.classes
    assert classes is not None  # for mypy: predictions of labels
    return (
        f"The model predicts {printable(called(str(only)))} for all of these rows. The rules are "
        f"of {N_TREES} small trees that imitate its probability of "
        f"{printable(called(str(classes[positive])))}."
    )


def _imitate(
    analysed: AnalysedForest,
    kind: Kind,
    columns: Columns,
    imitated: npt.NDArray[Any],
    options: RuleOptions,
) -> AnalysedForest | None:
    min_rows = int(options.min_coverage * len(imitated) / 2)
    return grow_imitation(
        analysed, kind, columns, imitated, options.max_depth, options.max_terms, min_rows
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
    return imitation, leaves, imitation.bags_with_rows_out().rows_out(imitation.forest.n_trees)


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
    task = analysed.task
    found = task.labels_of(np.full(len(target), task.typical(target)))
    free = np.ones(len(target), dtype=bool)
    for rule in rules:
        inside = all_hold(rule.tests, columns)
        found[inside & free] = rule.prediction
        free &= ~inside
    return analysed.task.agreement(predicted, found)


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
    more_only: bool,
) -> list[_Node]:
    """Choose nodes greedily, with `more_only` of larger means; rows of chosen nodes lose weight."""
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
            if more_only and distance[0] <= 0.0:
                continue  # such as the complement of a rule
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


def _typical(analysed: AnalysedForest, target: npt.NDArray[Any], positive: int | None) -> str:
    if analysed.classes is None:
        return f"{written(float(f'{target.mean():.4g}'))} ± {written(float(f'{target.std():.2g}'))}"
    counts = np.bincount(target, minlength=len(analysed.classes))
    best = int(counts.argmax()) if positive is None else positive
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
    positive: int | None

    def write(self, node: _Node, covered: Bools) -> Rule:
        inside_node = _rows_of(node, self.leaves)
        for digits in range(self.digits, MAX_DIGITS + 1):
            tests = self._tests(node, digits)
            inside = all_hold(tests, self.columns)
            agreement = float((inside == inside_node).mean())
            if 1.0 - agreement <= MAX_MOVED * inside_node.mean():
                break
        prediction, precision = self._describe(self.target[inside])
        fresh = float((inside & ~covered).mean())
        covered |= inside
        return Rule(
            tests,
            " and ".join(test.text(self.analysed.names) for test in tests),
            prediction,
            precision,
            self._lift(prediction, precision),
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
        tests = WrittenSplits(self.of, self.analysed).path(rules, place)
        if not self.of.fitted.aggregation.adds_up:
            return tests
        # Boosting does not record whether a column had missing values; it is read from the rows.
        return tuple(
            test if self._is_missing(test) else replace(test, missing=False) for test in tests
        )

    def _is_missing(self, test: RowTest) -> bool:
        if isinstance(test, LabelTest):
            return True
        return any(bool(np.isnan(term.values(self.columns)).any()) for term in test.terms)

    def _describe(self, target: npt.NDArray[Any]) -> tuple[Any, float]:
        classes = self.analysed.classes
        if len(target) == 0:
            return (None, float("nan")) if classes is not None else (float("nan"), float("nan"))
        if classes is None:
            return float(f"{target.mean():.4g}"), float(target.std())
        counts = np.bincount(target, minlength=len(classes))
        best = int(counts.argmax()) if self.positive is None else self.positive
        return classes[best], float(counts[best] / counts.sum())

    def _lift(self, prediction: Any, precision: float) -> float:
        classes = self.analysed.classes
        if classes is None or prediction is None:
            return float("nan")
        share = float(np.mean(classes[self.target] == prediction))
        return precision / share if share > 0.0 else float("nan")

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
