"""The few rules of a forest that explain most variance: short, pure and distinct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.accuracy.evaluation_rows import EvaluationRows, read_evaluation_rows
from bevel.analysis.analysed_forest import AnalysedForest, read_forest
from bevel.analysis.rules.rule_set import RULE_NOTES
from bevel.extras import import_optional
from bevel.html_table import html_table
from bevel.parameters.parameter import Integer, Number, Parameter
from bevel.printable import printable
from bevel.text.predictions import called
from bevel.text.split_text import SplitText, ThresholdSplitText, percent, round_within, written
from bevel.text.tree_rules import Style, notes_text, subtree_ends
from bevel.text.vocabulary import vocabulary_of

__all__ = ["RuleLimits", "TopRules", "best_rules", "top_rules"]


LONGER = 0.95  # factor for each condition: a further one must explain a twentieth more
SAME = 0.7  # rules that share this much of the rows of either count as one
_REMEDY = "See the documentation of top_rules."
_PARAMETERS = (
    Parameter("n", 10, (Integer(1),), "", _REMEDY),
    Parameter("max_depth", 3, (Integer(1),), "", _REMEDY),
    Parameter("min_coverage", 0.02, (Number("[0, 1]"),), "", _REMEDY),
)


@dataclass(frozen=True, eq=False)
class TopRules:
    """Rules in descending order of explained variance.

    Attributes
    ----------
    rules : tuple of str
        Conditions of each rule.
    tree, node : ndarray of int64
        Positions of the rules in the forest.
    coverage : ndarray
        Share of the rows that satisfy each rule.
    explained : ndarray
        Coverage times the squared distance of the rule's mean (of its class shares) from that of
        all rows, as a share of the variance. `told` is its former name.
    prediction : tuple of str
        Most frequent class, or mean.
    purity : ndarray
        Share of that class; in regression the standard deviation of the targets.
    notes : tuple of str
        Notes on the rules.
    n_rows : ndarray of int64
        Number of rows that satisfy each rule.
    out_of_bag : ndarray
        Purity, in regression the mean target, on the rows that a rule's tree was not grown on; NaN
        if it is not known.
    row_kind : {"new", "out-of-bag", "grown on"}
        Whether the forest was grown on the rows, and if so whether rules are evaluated out of bag.
    """

    rules: tuple[str, ...]
    tree: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    coverage: Floats
    explained: Floats
    prediction: tuple[str, ...]
    purity: Floats
    is_classifier: bool
    notes: tuple[str, ...]
    n_rows: npt.NDArray[np.int64]
    out_of_bag: Floats
    row_kind: str = "new"

    @property
    def told(self) -> Floats:
        """Former name of `explained`."""
        return self.explained

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        if not len(self):
            return "no rule covers enough rows"
        lines = [
            f"{place + 1:>2}. {self._claim(place)}: {rule}" for place, rule in enumerate(self.rules)
        ]
        return "\n".join((*lines, *notes_text((*self.notes, RULE_NOTES[self.row_kind]))))

    def _claim(self, place: int) -> str:
        share, purity = percent(float(self.coverage[place])), float(self.purity[place])
        estimate = self.estimate(place)
        out = f" (out of bag {estimate})" if estimate else ""
        if self.is_classifier:
            name = called(self.prediction[place])
            return f"{name} {percent(purity)}{out}, of {share} of the rows"
        return f"{self.prediction[place]} ± {self.spread(place)}{out}, of {share} of the rows"

    def estimate(self, place: int) -> str:
        """Out-of-bag estimate in words; empty if it is not known."""
        found = float(self.out_of_bag[place])
        if found != found:
            return ""
        return percent(found) if self.is_classifier else written(float(f"{found:.4g}"))

    def spread(self, place: int) -> str:
        """Standard deviation of the targets of a rule, to 5 %, in as few digits as possible."""
        purity = float(self.purity[place])
        return written(round_within(purity, 0.05 * purity))

    def __repr__(self) -> str:
        return f"<{len(self)} rules; print to read>"

    def _repr_html_(self) -> str:
        spread = "share" if self.is_classifier else "standard deviation"
        rows = [
            (
                str(place + 1),
                rule,
                called(self.prediction[place]) if self.is_classifier else self.prediction[place],
                percent(float(self.purity[place])) if self.is_classifier else self.spread(place),
                self.estimate(place),
                f"{self.n_rows[place]} ({percent(float(self.coverage[place]))})",
                percent(float(self.explained[place])),
            )
            for place, rule in enumerate(self.rules)
        ]
        header = ("", "rule", "prediction", spread, "out of bag", "rows", "variance explained")
        notes = (*self.notes, RULE_NOTES[self.row_kind])
        return html_table(f"{len(self)} rules", header, rows, notes)

    def to_pandas(self) -> Any:
        """One line for each rule."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns = {
            "rule": self.rules,
            "prediction": self.prediction,
            "purity" if self.is_classifier else "standard_deviation": self.purity,
            "out_of_bag": self.out_of_bag,
            "n_rows": self.n_rows,
            "coverage": self.coverage,
            "explained": self.explained,
            "tree": self.tree,
            "node": self.node,
        }
        return pandas.DataFrame(columns)


@dataclass(frozen=True)
class RuleLimits:
    """Limits on the number and size of rules."""

    n: int = 10
    max_depth: int = 3
    min_coverage: float = 0.02


@dataclass(frozen=True, eq=False)
class _Candidate:
    score: float
    depth: int
    tree: int
    node: int
    end: int  # the subtree has the leaves from node to end - 1


def top_rules(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n: int = 10,
    max_depth: int = 3,
    min_coverage: float = 0.02,
    digits: int = 3,
    max_terms: int | None = 8,
    out_of_bag: bool | str = "auto",
) -> TopRules:
    """The rules of a forest that explain most variance of the given rows.

    Every node down to `max_depth` of every tree is a rule. Rules are ranked by the variance that
    they explain: coverage times the squared distance of their mean from that of all rows, minus 5 %
    for each condition; rules that mostly cover the rows of a better one are left out.

    Parameters
    ----------
    estimator : ObliqueForestClassifier or ObliqueForestRegressor
        A fitted forest, or a fitted boosting model, whose nodes are rules too.
    X, y : array-like
        Rows and targets to evaluate rules on, all of weight one: held-out rows if possible, since
        rules look too good on training rows.
    n : int, default=10
        Largest number of rules.
    max_depth : int, default=3
        Largest number of conditions of a rule.
    min_coverage : float, default=0.02
        Smallest share of the rows that a rule must cover.
    digits : int, default=3
    max_terms : int or None, default=8
        Number of digits and terms, as in `tree_rules`.
    out_of_bag : bool or "auto", default="auto"
        Whether X and y are the rows of the fit: then each rule is also evaluated on the rows that
        its tree was not grown on. "auto" recognises them if they are in the order of the fit.

    Returns
    -------
    TopRules
        Rules; print them, or use `to_pandas()`.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import top_rules
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(50, projection="axis", random_state=0).fit(X, y)
    >>> print(top_rules(forest, X, y, n=3))
     1. class 0 100 % (out of bag 100 %), of 33 % of the rows: x3 ≤ 0.8
     2. class 2 98 % (out of bag 92 %), of 31 % of the rows: x3 > 1.7
     3. class 1 100 % (out of bag 100 %), of 31 % of the rows: 0.8 < x3 ≤ 1.65 and x2 ≤ 4.95
    Rules were chosen on these training rows; figures not out of bag are in-bag.
    """
    analysed = read_forest(estimator, "top_rules", trees_only=True)
    for parameter, value in zip(_PARAMETERS, (n, max_depth, min_coverage), strict=True):
        parameter.check(value)
    rows = read_evaluation_rows(analysed, X, y, out_of_bag)
    limits = RuleLimits(n, max_depth, min_coverage)
    return best_rules(analysed, rows, limits, Style(max_depth, digits=digits, max_terms=max_terms))


def best_rules(
    analysed: AnalysedForest, rows: EvaluationRows, limits: RuleLimits, style: Style
) -> TopRules:
    """Find rules on rows that were read before."""
    Y = analysed.task.as_columns(rows.target)
    leaves = analysed.predictor.leaves(rows.X, analysed.n_threads)
    found = sorted(
        _candidates(analysed, leaves, Y, limits),
        key=lambda rule: (-rule.score, rule.depth, rule.tree, rule.node),
    )
    chosen, covered = _unlike(found, leaves, limits.n)
    return _result(analysed, rows, leaves, Y, chosen, covered, style)


def _candidates(
    analysed: AnalysedForest,
    leaves: npt.NDArray[np.int32],
    Y: Floats,
    limits: RuleLimits,
) -> Iterator[_Candidate]:
    mean, n_rows = Y.mean(axis=0), len(Y)
    for tree in analysed.forest:
        leaf = leaves[:, tree.index]
        end = subtree_ends(tree)
        columns = (*Y.T, np.ones(n_rows))
        sums = [np.bincount(leaf, column, minlength=tree.n_nodes) for column in columns]
        # Leaves of a subtree are consecutive: sums over it are differences of cumulative sums.
        running = np.vstack((np.zeros(len(sums)), np.cumsum(np.array(sums).T, axis=0)))
        for node in np.flatnonzero((tree.depth > 0) & (tree.depth <= limits.max_depth)):
            total = running[end[node]] - running[node]
            count, depth = round(total[-1]), int(tree.depth[node])
            if count >= max(limits.min_coverage * n_rows, 1.0):
                distance = total[:-1] / count - mean
                score = count / n_rows * float(distance @ distance) * LONGER**depth
                yield _Candidate(score, depth, tree.index, int(node), int(end[node]))


def _unlike(
    found: list[_Candidate], leaves: npt.NDArray[np.int32], n: int
) -> tuple[list[_Candidate], list[npt.NDArray[np.bool_]]]:
    """The first rules that are not similar to an earlier one, and the rows they cover."""
    chosen: list[_Candidate] = []
    covered: list[npt.NDArray[np.bool_]] = []
    for rule in found:
        if len(chosen) == n or rule.score <= 0.0:
            break
        leaf = leaves[:, rule.tree]
        rows = (leaf >= rule.node) & (leaf < rule.end)
        if not any(_alike(rows, other) for other in covered):
            chosen.append(rule)
            covered.append(rows)
    return chosen, covered


def _alike(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> bool:
    return bool(np.count_nonzero(one & other) > SAME * np.count_nonzero(one | other))


def _result(
    analysed: AnalysedForest,
    rows: EvaluationRows,
    leaves: npt.NDArray[np.int32],
    Y: Floats,
    chosen: list[_Candidate],
    covered: list[npt.NDArray[np.bool_]],
    style: Style,
) -> TopRules:
    forest = analysed.estimator.forest_
    variance = float(Y.var(axis=0).sum())
    texts, splits, predictions, purity, explained = [], [], [], [], []
    out_of_bag: list[float] = []
    for rule, inside in zip(chosen, covered, strict=True):
        tree = forest.tree(rule.tree).rules(
            encoded=rows.X, leaves=leaves[:, rule.tree], **vars(style)
        )
        place = int(np.searchsorted(tree.node, rule.node))
        texts.append(tree.rule(place))
        splits += list(tree.splits_above(place))
        mine = Y[inside]
        mean = mine.mean(axis=0)
        out_of_bag.append(_mean_outside(rows, rule, inside, Y[:, mean.argmax()]))
        between = float(((mean - Y.mean(axis=0)) ** 2).sum())
        explained.append(len(mine) / len(Y) * between / variance)
        if analysed.classes is None:
            predictions.append(written(round_within(float(mean[0]), 5e-4 * float(np.ptp(Y)))))
            purity.append(float(mine.std()))
        else:
            predictions.append(printable(str(analysed.classes[mean.argmax()])))
            purity.append(float(mean.max()))
    return TopRules(
        tuple(texts),
        np.array([rule.tree for rule in chosen], dtype=np.int64),
        np.array([rule.node for rule in chosen], dtype=np.int64),
        np.array([inside.mean() for inside in covered]),
        np.array(explained),
        tuple(predictions),
        np.array(purity),
        analysed.classes is not None,
        _notes(analysed, splits),
        np.array([np.count_nonzero(inside) for inside in covered], dtype=np.int64),
        np.array(out_of_bag),
        rows.row_kind,
    )


def _mean_outside(
    rows: EvaluationRows, rule: _Candidate, inside: npt.NDArray[np.bool_], values: Floats
) -> float:
    """Mean over the rows of a rule that its tree was not grown on."""
    if rows.out is None or not np.any(out := inside & rows.out[:, rule.tree]):
        return float("nan")
    return float(values[out].mean())


def _notes(analysed: AnalysedForest, splits: list[SplitText]) -> tuple[str, ...]:
    """Notes on all of the rules."""
    values = [split for split in splits if isinstance(split, ThresholdSplitText)]
    n_columns = analysed.forest.n_features
    combined = {f for s in values if not s.single for f in s.features.tolist() if f < n_columns}
    had_missing = bool(analysed.forest.columns_with_missing.any())
    words = vocabulary_of(analysed.fitted)
    return words.notes(combined, had_missing, len(values) < len(splits))
