"""Result of `rule_set`: printed, as SQL, and evaluated on rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Bools
from bevel.analysis.printing import PrintedTable
from bevel.analysis.rules.original_columns import read_columns
from bevel.analysis.rules.tests_of_rows import RowTest, quoted
from bevel.data.tables import read_table
from bevel.extras import import_optional
from bevel.html_table import html_text
from bevel.printable import printable
from bevel.text.decimals import percent, written
from bevel.text.node_predictions import called

__all__ = ["RULE_NOTES", "Rule", "RuleSet", "all_hold"]

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
        Most frequent class, or mean target, of the rows that satisfy it.
    precision : float
        Share of that class; in regression the standard deviation of the targets.
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
        requested.
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
        return "\n".join((*lines, *self.of_the_forest(), RULE_NOTES[self.row_kind]))

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
        text = f"{what}{out}; {rule.n_rows} rows, {percent(rule.coverage)}, "
        text += f"{percent(rule.new)} not covered before"
        if rule.agreement < 1.0:
            text += f"; rounding changes {percent(1.0 - rule.agreement)} of the rows"
        return text


def all_hold(tests: tuple[RowTest, ...], columns: Any) -> Bools:
    found = np.ones(len(columns[0]), dtype=bool)
    for test in tests:
        found &= test.holds(columns)
    return found
