"""Conditions on rows in the user's units: evaluated, and written as text and as SQL.

Columns of the user's table are read in its own units and labels. The splits of a tree are such
conditions too, evaluated as they are written.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from bevel._types import Array, Bools, Ints64
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.data.level_statistics import LevelMeans
from bevel.data.tables import Columns, Table, is_missing
from bevel.data.values import Kind, day_text, label_words, term_name
from bevel.printable import printable
from bevel.text.split_text import (
    Condition,
    LevelSplitText,
    SplitText,
    ThresholdSplitText,
    written,
)
from bevel.text.sql import quoted, sql_value
from bevel.text.tree_rules import TreeRules
from bevel.text.vocabulary import vocabulary_of

__all__ = [
    "LabelTest",
    "NumberTest",
    "RowTest",
    "WrittenSplits",
    "commonest",
    "missing_in",
    "put_back",
    "read_columns",
    "read_numbered",
]

# Conversion between the user's table and columns in the user's units and labels.


def read_columns(
    table: Table,
    nominal: Collection[int],
    names: Sequence[str],
    left_out: Collection[int] = frozenset(),
) -> Columns:
    """Numeric columns as float64 with NaN for missing, nominal ones as objects with None.

    Those that are left out are read as missing.
    """
    values: list[Array] = [
        np.full(table.n_rows, None, dtype=object)
        if f in left_out
        else _labels(table.labels(f))
        if f in nominal
        else _numbers(table, f)
        for f in range(table.n_features)
    ]
    dates, truths = (
        frozenset(names[feature] for feature in found if feature not in nominal)
        for found in (table.dates(), table.truths())
    )
    return Columns(tuple(names), tuple(values), dates, truths)


def read_numbered(analysed: AnalysedForest, table: Table, places: Ints64 | None = None) -> Columns:
    """Columns with the means of the target where trees read them in place of labels.

    places: those of training rows among all rows of the fit, which get the means over the rows of
    other folds; None: new rows.
    """
    encoding = analysed.fitted.encoding
    labelled = encoding.nominal.keys() - encoding.means.keys()
    numbered = encoding.numbered(table, places)
    return read_columns(numbered, labelled, analysed.names, encoding.left_out)


def missing_in(column: Array) -> Bools:
    """Mask of the missing values of a column of `read_columns`."""
    if column.dtype.kind == "O":
        return np.array([value is None for value in column], dtype=bool)
    return np.asarray(np.isnan(column), dtype=bool)


def commonest(labels: Array) -> Any:
    """The most frequent label; ties go to the first."""
    return Counter(labels.tolist()).most_common(1)[0][0]


def put_back(X: Any, filled: Columns, missing: Sequence[Bools]) -> Any:
    """Copy of the user's table, of the same type, with missing values filled."""
    if isinstance(X, Columns):
        return Columns(X.names, filled.values)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    places = [np.flatnonzero(where) for where in missing]
    if isinstance(frame, nw.DataFrame):
        return frame.with_columns(
            _put_in_series(frame[name], values, at)
            for name, values, at in zip(frame.columns, filled.values, places, strict=True)
            if len(at)
        ).to_native()
    copy = np.array(X)
    for feature, (values, at) in enumerate(zip(filled.values, places, strict=True)):
        copy[at, feature] = values[at]
    return copy


def _put_in_series(
    series: nw.Series[Any], values: Array, at: npt.NDArray[np.intp]
) -> nw.Series[Any]:
    kind = series.dtype
    if values.dtype.kind != "O":
        wide = series if kind.is_float() else series.cast(nw.Float64)
        return wide.scatter(at.tolist(), values[at].tolist())
    if isinstance(kind, nw.Categorical | nw.Enum):
        return series.cast(nw.String).scatter(at.tolist(), values[at].tolist()).cast(kind)
    return series.scatter(at.tolist(), values[at].tolist())


def _labels(column: Array) -> npt.NDArray[np.object_]:
    labels = np.empty(len(column), dtype=object)
    labels[:] = [None if is_missing(value) else value for value in column.tolist()]
    return labels


def _numbers(table: Table, feature: int) -> npt.NDArray[np.float64]:
    tile = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
    return tile[:, 0].astype(np.float64)


@dataclass(frozen=True)
class Number:
    """A numeric column as a term of a sum."""

    feature: int

    def values(self, columns: Sequence[Array]) -> Array:
        return columns[self.feature]

    def text(self, names: Sequence[str]) -> str:
        return printable(names[self.feature])

    def sql(self, names: Sequence[str]) -> str:
        return quoted(names[self.feature])


@dataclass(frozen=True)
class LevelNumber:
    """A nominal column as a term of a sum: a number for each label.

    Attributes
    ----------
    feature : int
        The column.
    labels, numbers : tuple
        Labels of the user's table, None for missing ones, and their numbers.
    otherwise : float
        Number of all other labels.
    said : str
        Text of the term, in which {} is the name of the column.
    """

    feature: int
    labels: tuple[Any, ...]
    numbers: tuple[float, ...]
    otherwise: float
    said: str

    def values(self, columns: Sequence[Array]) -> Array:
        column = columns[self.feature]
        if column.dtype.kind == "f":  # the numbers themselves, of `read_numbered`
            return column
        known = dict(zip(self.labels, self.numbers, strict=True))
        return np.array([known.get(label, self.otherwise) for label in column.tolist()])

    def text(self, names: Sequence[str]) -> str:
        return self.said.format(printable(names[self.feature]))

    def sql(self, names: Sequence[str]) -> str:
        name = quoted(names[self.feature])
        cases = " ".join(
            f"WHEN {name} IS NULL THEN {number!r}"
            if label is None
            else f"WHEN {name} = {sql_value(label)} THEN {number!r}"
            for label, number in zip(self.labels, self.numbers, strict=True)
        )
        return f"CASE {cases} ELSE {self.otherwise!r} END"


Term = Number | LevelNumber


@dataclass(frozen=True)
class NumberTest:
    """Whether a sum of weighted columns lies between two bounds.

    Attributes
    ----------
    terms, weights : tuple
        Columns as numbers, and their weights.
    fills : tuple of float
        Replacement of a missing value of each column, if there are several columns.
    low, high : float
        Bounds; `low_included` and `high_included` tell whether they are allowed.
    missing : bool
        Whether a missing value satisfies the test of a single column.
    kinds : tuple of str
        What the numbers of each column stand for; empty if they are plain numbers.
    """

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    fills: tuple[float, ...]
    low: float
    high: float
    low_included: bool
    high_included: bool
    missing: bool
    kinds: tuple[Kind, ...] = ()

    @property
    def kind(self) -> Kind:
        """What the sum stands for: that of a single column for what its numbers do."""
        return self.kinds[0] if len(self.kinds) == 1 else "number"

    @property
    def features(self) -> tuple[int, ...]:
        """Columns of the terms."""
        return tuple(term.feature for term in self.terms)

    @property
    def n_terms(self) -> int:
        return len(self.terms)

    def holds(self, columns: Sequence[Array]) -> Bools:
        total = np.zeros(len(columns[0]))
        for place, (term, weight, fill) in enumerate(
            zip(self.terms, self.weights, self.fills, strict=True)
        ):
            values = term.values(columns)
            if self.n_terms > 1:
                values = np.where(np.isnan(values), fill, values)
            # In the order of addition in a database.
            total = weight * values if place == 0 else total + weight * values
        above = total >= self.low if self.low_included else total > self.low
        below = total <= self.high if self.high_included else total < self.high
        return np.asarray(np.where(np.isnan(total), self.missing, above & below), dtype=bool)

    def text(self, names: Sequence[str]) -> str:
        bounds = self.low, self.high, self.low_included, self.high_included
        wording = str(Condition(_sum_text(self, names), *bounds, kind=self.kind))
        return f"({wording} or missing)" if self.missing else wording

    def sql(self, names: Sequence[str]) -> str:
        subject = _sum_sql(self, names)
        parts, low = [], not math.isinf(self.low)
        if low:
            parts.append(f"{subject} {'>=' if self.low_included else '>'} {self._bound(self.low)}")
        if not math.isinf(self.high):
            parts.append(
                f"{subject} {'<=' if self.high_included else '<'} {self._bound(self.high)}"
            )
        wording = " AND ".join(parts) or f"{subject} IS NOT NULL"
        if (
            self.kind == "truth"
            and len(parts) == 1
            and 0.0 < (self.low if low else self.high) < 1.0
        ):
            wording = f"{subject} = {int(low)}"
        if self.low == math.inf or self.high == -math.inf:
            wording = "1 = 0"  # the bound is beyond all numbers
        return f"({wording} OR {subject} IS NULL)" if self.missing else wording

    def _bound(self, value: float) -> str:
        """A bound as an SQL literal, of a single date as text in ISO 8601."""
        return f"'{day_text(value)}'" if self.kind in ("day", "time") else repr(value)


@dataclass(frozen=True)
class LabelTest:
    """Whether a nominal column has one of some labels.

    Attributes
    ----------
    feature : int
        The column.
    labels : tuple
        Labels of the user's table.
    missing : bool
        Whether a missing value satisfies the test.
    words : tuple of str
        The labels in words; empty if they are the labels as text.
    """

    feature: int
    labels: tuple[Any, ...]
    missing: bool
    words: tuple[str, ...] = ()
    n_terms = 1

    @property
    def _plain(self) -> tuple[str, ...]:
        return tuple(printable(str(label)) for label in self.labels)

    def holds(self, columns: Sequence[Array]) -> Bools:
        column = columns[self.feature]
        wanted = set(self.labels)
        found = np.array([value in wanted for value in column.tolist()], dtype=bool)
        return np.asarray(np.where(missing_in(column), self.missing, found), dtype=bool)

    def text(self, names: Sequence[str]) -> str:
        name, labels = printable(names[self.feature]), self.words or self._plain
        wording = str(Condition(name, labels=labels, missing=self.missing))
        return f"({wording})" if self.missing and labels else wording

    def sql(self, names: Sequence[str]) -> str:
        name = quoted(names[self.feature])
        wording = f"{name} IN ({', '.join(map(sql_value, self.labels))})"
        if not self.labels:
            return f"{name} IS NULL" if self.missing else "1 = 0"
        return f"({wording} OR {name} IS NULL)" if self.missing else wording


RowTest = NumberTest | LabelTest


def _sum_text(test: NumberTest, names: Sequence[str]) -> str:
    text = ""
    for place, (term, weight) in enumerate(zip(test.terms, test.weights, strict=True)):
        name = term.text(names)
        if test.n_terms > 1 and test.kinds:
            kind = test.kinds[place]
            name = f"({term_name(name, kind)})" if kind == "truth" else term_name(name, kind)
        sign = (" − " if text else "−") if weight < 0 else (" + " if text else "")
        size = "" if abs(weight) == 1.0 else f"{written(abs(weight))}·"
        text += f"{sign}{size}{name}"
    return text


def _sum_sql(test: NumberTest, names: Sequence[str]) -> str:
    text = ""
    for term, weight, fill in zip(test.terms, test.weights, test.fills, strict=True):
        name = term.sql(names)
        if test.n_terms > 1:
            name = f"COALESCE({name}, {fill!r})"
        sign = (" - " if text else "-") if weight < 0 else (" + " if text else "")
        size = "" if abs(weight) == 1.0 else f"{abs(weight)!r} * "
        text += f"{sign}{size}{name}"
    return text


class WrittenSplits:
    """Reads tests from the text of a forest's splits.

    source: the model whose means of the target the forest read as numbers, if it is another one.
    """

    def __init__(self, analysed: AnalysedForest, source: AnalysedForest | None = None) -> None:
        forest, terms = analysed.forest, analysed.forest.with_level_columns[1]
        words = vocabulary_of(analysed.fitted).with_levels(terms)
        units, self.kind_of = words.units, analysed.fitted.encoding.kind
        medians = np.asarray(forest.medians, dtype=np.float64)
        encoding = analysed.fitted.encoding
        read_as = encoding if source is None else source.fitted.encoding
        self.levels = {
            feature: tuple(zip(label_words(levels.labels), levels.labels, strict=True))
            for feature, levels in encoding.nominal.items()
        }
        self.fills = units.shift + units.span * np.append(medians, np.zeros(len(terms)))
        self.terms: list[Term] = [Number(feature) for feature in range(forest.n_features)]
        for feature, means in read_as.means.items():
            self.terms[feature] = _mean_term(feature, read_as.nominal[feature].labels, means)
        self.terms += [self._level(feature, level) for feature, level in terms.tolist()]

    def _level(self, feature: int, level: int) -> LevelNumber:
        labels = self.levels[feature]
        said, label = labels[level] if level < len(labels) else ("missing", None)
        wording = f"({{}} is {said.replace('{', '{{').replace('}', '}}')})"
        return LevelNumber(feature, (label,), (1.0,), 0.0, wording)

    def test(self, split: SplitText, left: bool) -> RowTest:
        if isinstance(split, LevelSplitText):
            return self._labels(split, left)
        return self._numbers(split, left)

    def path(self, rules: TreeRules, place: int) -> tuple[RowTest, ...]:
        """Tests of a node from the root on; bounds on the same sum are combined."""
        return _together(reversed(list(self._above(rules, place))))

    def _above(self, rules: TreeRules, place: int) -> Iterator[RowTest]:
        while (above := int(rules.parent[place])) >= 0:
            split = rules.split_texts[above]
            if split is not None:
                yield self.test(split, bool(rules.left[above] == place))
            place = above

    def _numbers(self, split: ThresholdSplitText, left: bool) -> NumberTest:
        lower = left != split.at_least  # the side of small values
        features = tuple(int(f) for f in split.features)
        missing = split.missing_left is not None and split.missing_left == left
        return NumberTest(
            tuple(self.terms[feature] for feature in features),
            tuple(float(w) for w in split.weights),
            tuple(float(self.fills[f]) for f in features),
            -math.inf if lower else split.threshold,
            split.threshold if lower else math.inf,
            split.at_least,
            not split.at_least,
            missing and len(features) == 1,
            tuple(self.kind_of(feature) for feature in features),
        )

    def _labels(self, split: LevelSplitText, left: bool) -> LabelTest:
        wording = split.sides[0 if left else 1].labels or ()
        known = [pair for pair in self.levels[split.feature] if pair[0] in wording]
        words, labels = (tuple(pair[place] for pair in known) for place in (0, 1))
        return LabelTest(split.feature, labels, len(wording) > len(labels), words)


def _mean_term(feature: int, known: Array, means: LevelMeans) -> LevelNumber:
    numbers = tuple(means.of_all.tolist())
    labels = (*known, None)[: len(numbers) - 1]
    meaning = printable(means.meaning).replace("{", "{{").replace("}", "}}")
    return LevelNumber(feature, labels, numbers[:-1], numbers[-1], f"{meaning} in {{}}")


def _together(tests: Iterator[RowTest]) -> tuple[RowTest, ...]:
    drawn: dict[object, RowTest] = {}
    for test in tests:
        about = test.feature if isinstance(test, LabelTest) else (test.terms, test.weights)
        known = drawn.get(about)
        drawn[about] = test if known is None else _both(known, test)
    return tuple(drawn.values())


def _both(one: RowTest, other: RowTest) -> RowTest:
    missing = one.missing and other.missing
    if isinstance(one, LabelTest) and isinstance(other, LabelTest):
        pairs = list(zip(one.words or one.labels, one.labels, strict=True))
        both = [(word, label) for word, label in pairs if label in other.labels]
        words, labels = (tuple(pair[place] for pair in both) for place in (0, 1))
        return LabelTest(one.feature, labels, missing, words if one.words else ())
    assert isinstance(one, NumberTest)
    assert isinstance(other, NumberTest)
    low, low_out = max((one.low, not one.low_included), (other.low, not other.low_included))
    high, high_in = min((one.high, one.high_included), (other.high, other.high_included))
    return replace(
        one, low=low, high=high, low_included=not low_out, high_included=high_in, missing=missing
    )
