"""A fitted model as one SQL query, for databases that cannot run Python.

The query has a few steps, each a named subquery: the columns as numbers, their scales, the rows as
trees read them, the sums of the trees, and what turns sums into predictions. Trees are nested CASE
expressions. At each split the smaller side is written first, and the larger one goes on in the same
CASE, so that a tree of n leaves is nested log2(n) deep at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Array, Floats
from bevel.data.encoding import Encoding
from bevel.data.scaling import IdentityScaler, LinearScaler, QuantileScaler
from bevel.errors import wrong_type, wrong_value
from bevel.forest.aggregation import MAX_EXPONENT, Aggregation, SumOfTrees, WeightedSum
from bevel.forest.fitted_forest import FittedCombination, FittedForest
from bevel.forest.flat_forest import CATEGORY_NODE, MISSING_LEFT, FlatForest
from bevel.text.sql import quoted, sql_value

__all__ = ["DIALECTS", "MAX_SQL_NODES", "to_sql"]

# Nodes times outputs; a query of as many is some ten megabytes of text.
MAX_SQL_NODES = 100_000
# Trees that are added in one chain: databases limit how deep expressions are.
CHAIN = 400
# Exponentials of larger numbers overflow.
LARGEST_EXPONENT = 700.0
LARGEST_SINGLE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Dialect:
    """How a database writes what standard SQL leaves open.

    Attributes
    ----------
    double_literal, single_literal : str
        Literal of a number of double and of single precision.
    as_single : str
        An expression, rounded to single precision.
    number : str
        A column as a number of double precision; NaN is NULL.
    truth : str
        A column of truth values as 1 and 0.
    days : str
        A column of dates as days since 1970-01-01.
    truths : tuple of str
        Literals of no and yes.
    least, greatest : str
        Functions of the least and the greatest of their arguments.
    """

    double_literal: str
    single_literal: str
    as_single: str
    number: str
    truth: str
    days: str
    truths: tuple[str, str] = ("FALSE", "TRUE")
    least: str = "LEAST"
    greatest: str = "GREATEST"

    def as_double(self, value: float) -> str:
        """A number as a literal of double precision."""
        return self._signed(repr(float(value)), self.double_literal)

    def as_float32(self, value: Any) -> str:
        """A number of float32 as a literal of single precision, or of all its digits."""
        value = np.clip(np.float32(value), -LARGEST_SINGLE, LARGEST_SINGLE)
        exact = self.single_literal == "{}"  # the database has no single precision
        return self._signed(repr(float(value)) if exact else str(value), self.single_literal)

    def label(self, value: Any) -> str:
        """A label as a literal."""
        if isinstance(value, bool | np.bool_):
            return self.truths[bool(value)]
        return sql_value(value)

    def _signed(self, text: str, literal: str) -> str:
        minus, digits = text.startswith("-"), text.removeprefix("-")
        if "e0" in literal and "e" in digits:
            literal = literal.replace("e0", "")
        return "-" * minus + literal.format(digits)


DIALECTS = {
    "duckdb": Dialect(
        double_literal="{}e0",  # without an exponent it is a decimal number
        single_literal="{}e0::FLOAT",
        as_single="CAST({} AS FLOAT)",
        number="NULLIF(CAST({} AS DOUBLE), 'nan'::DOUBLE)",
        truth="CAST(CAST({} AS INTEGER) AS DOUBLE)",
        days="epoch(CAST({} AS TIMESTAMP)) / 86400e0",
    ),
    "postgresql": Dialect(
        double_literal="{}::float8",
        single_literal="{}::real",
        as_single="CAST({} AS real)",
        number="NULLIF(CAST({} AS double precision), 'NaN'::float8)",
        truth="CAST(CAST({} AS integer) AS double precision)",
        days="CAST(EXTRACT(EPOCH FROM CAST({} AS timestamp)) AS double precision) / 86400",
    ),
    "sqlite": Dialect(
        double_literal="{}",
        single_literal="{}",
        # Rounds to the 24 bits of a float32 (Veltkamp's splitting): the factor is 2^29 + 1.
        as_single="({0}) * 536870913.0 - (({0}) * 536870913.0 - ({0}))",
        number="CAST({} AS REAL)",
        truth="CAST({} AS REAL)",
        days="julianday({}) - 2440587.5",
        truths=("0", "1"),
        least="MIN",
        greatest="MAX",
    ),
}


def to_sql(
    fitted: FittedForest | FittedCombination,
    table: str,
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
) -> str:
    """Write a fitted model as a query; `to_sql` of the estimators documents the parameters."""
    fitted.task.check_one_output("to_sql")
    _check(fitted, table, dialect, keep)
    query = _Query(DIALECTS[dialect], table, tuple(keep))
    members = fitted.members
    _write_rows(query, fitted, [each.forest.with_level_columns for each in members])
    sums: dict[str, str] = {}
    for number, each in enumerate(members):
        sums |= _sums(query, each, number)
    query.then("sums", sums, carry=False)
    outputs = [_write_predictions(query, each, number) for number, each in enumerate(members)]
    if isinstance(fitted.aggregation, WeightedSum):
        outputs = [_write_weighted(query, outputs, fitted.aggregation.weights)]
    return f"-- {_words(fitted)}\n" + query.text(_named_outputs(query, fitted, outputs[0]))


def _check(
    fitted: FittedForest | FittedCombination, table: str, dialect: str, keep: Sequence[str]
) -> None:
    """Raise unless the model can be written and the parameters make a query."""
    if not isinstance(table, str) or not table:
        required = "the name of a table or view"
        raise wrong_type("table", required, table, 'Write for example model.to_sql("patients").')
    if dialect not in DIALECTS:
        known = "one of " + ", ".join(map(repr, DIALECTS))
        raise wrong_value("dialect", known, dialect, "Databases often understand one of these.")
    if isinstance(keep, str) or not all(isinstance(name, str) for name in keep):
        remedy = 'Write for example keep=["id"].'
        raise wrong_type("keep", "a list of names of columns", keep, remedy)
    for each in fitted.members:
        if each.aggregation.n_outputs > 1 and each.aggregation.sorts:
            raise ValueError(
                f"to_sql writes models of one output or of classes; got boosting of "
                f"{each.aggregation.n_outputs} quantiles. Fit a model for each of them."
            )
    if not isinstance(fitted.encoding.scaler, IdentityScaler | LinearScaler | QuantileScaler):
        raise ValueError(
            'to_sql writes the scales None, "minmax", "minmax_clip", "quantile" and "standard"; '
            "got a model with a scale by ranks, whose tables are too long for a query. Fit with "
            "another scale, or apply the model with bevel.scoring."
        )
    size = sum(each.forest.n_nodes * _n_sums(each) for each in fitted.members)
    if size > MAX_SQL_NODES:
        raise ValueError(
            f"to_sql writes models of up to {MAX_SQL_NODES:,} nodes, counted once for each output "
            f"or class; got {size:,}. Fit fewer trees or larger leaves, shorten a forest with "
            "prune_trees, or apply the model with bevel.scoring."
        )


def _n_sums(member: FittedForest) -> int:
    """How often the nodes of a model are written: once for each class of a leaf with shares."""
    return 1 if member.aggregation.adds_up else max(1, member.forest.n_classes)


def _words(fitted: FittedForest | FittedCombination) -> str:
    trees = sum(each.forest.n_trees for each in fitted.members)
    made = f"Written by Bevel from {trees:,} tree{'' if trees == 1 else 's'}"
    what = fitted.task.mean_of_leaves if fitted.classes is None else "the class"
    return f"{made}; prediction: {what}."


class _Query:
    """Named subqueries, each of which reads the one before it.

    Their names and those of their columns begin with a prefix that no column of the user has.
    """

    def __init__(self, dialect: Dialect, table: str, keep: tuple[str, ...]) -> None:
        self.dialect, self.kept = dialect, tuple(map(quoted, keep))
        self._source, self._columns, self._steps = quoted(table), tuple[str, ...](), list[str]()
        self.prefix = "_"
        while any(name.startswith(self.prefix) for name in (table, *keep)):
            self.prefix += "_"

    def name(self, kind: str, *numbers: int) -> str:
        """The name of a column of the query."""
        return self.prefix + kind + "_".join(map(str, numbers))

    def then(self, step: str, columns: dict[str, str], carry: bool = True) -> None:
        """Add a step with new columns, and those of the step before if it shall carry them."""
        carried = self._columns if carry else ()
        self._columns = (*carried, *columns)
        name = self.prefix + step
        # What a step computes is kept, else some databases compute it again at each use.
        select = self._select((*self.kept, *carried, *_assigned(columns)))
        self._steps.append(f"{name} AS MATERIALIZED (\n{select}\n)")
        self._source = name

    def text(self, outputs: dict[str, str]) -> str:
        """The whole query."""
        steps = ",\n".join(self._steps)
        return f"WITH {steps}\n{self._select((*self.kept, *_assigned(outputs)))}"

    def _select(self, columns: Sequence[str]) -> str:
        listed = ",\n  ".join(columns or ("1 AS " + self.name("one"),))
        return f"SELECT\n  {listed}\nFROM {self._source}"


def _assigned(columns: dict[str, str]) -> Iterator[str]:
    return (value if value == name else f"{value} AS {name}" for name, value in columns.items())


# The rows as trees read them: columns as numbers and codes, scaled, rounded, without gaps.


def _write_rows(
    query: _Query,
    fitted: FittedForest | FittedCombination,
    forests: Sequence[tuple[FlatForest, Array]],
) -> None:
    """Steps that give each used column as v (with NULL), f (filled) and l (a level: 1 or 0)."""
    encoding, names, dialect = fitted.encoding, fitted.names, query.dialect
    used, filled, terms = set[int](), set[int](), set[tuple[int, int]]()
    for forest, levels in forests:
        alone, combined = _used(forest)
        n = fitted.n_features
        used |= {f for f in alone if f < n}
        filled |= {f for f in combined if f < n}
        terms |= {tuple(levels[f - n].tolist()) for f in alone | combined if f >= n}
    features = sorted(used | filled | {feature for feature, _ in terms})
    value = {f: query.name("v", f) for f in features}
    read = {value[f]: _read(dialect, encoding, f, names[f]) for f in features}
    query.then("columns", read, carry=False)
    plain = [f for f in features if f not in encoding.nominal]
    if plain and not isinstance(encoding.scaler, IdentityScaler):
        scaled = {value[f]: _scaled(dialect, encoding, f, value[f]) for f in plain}
        query.then("scaled", {v: scaled.get(v, v) for v in value.values()}, carry=False)
    medians = forests[0][0].medians
    columns: dict[str, str] = {}
    for f in features:
        stored = dialect.as_single.format(value[f]) if f in plain else value[f]
        if f in used:
            columns[value[f]] = stored
        if f in filled:
            median = dialect.as_float32(medians[f])
            columns[query.name("f", f)] = f"COALESCE({stored}, {median})"
    for f, level in sorted(terms):
        one, zero = dialect.as_float32(1), dialect.as_float32(0)
        columns[query.name("l", f, level)] = (
            f"CASE WHEN {value[f]} = {level} THEN {one} ELSE {zero} END"
        )
    query.then("rows", columns, carry=False)


def _used(forest: FlatForest) -> tuple[set[int], set[int]]:
    """Columns that splits read alone, and those that directions combine."""
    split = forest.right >= 0
    count = np.diff(forest.entry_offset)
    single = np.repeat(split & (count == 1), count)
    several = np.repeat(split & (count > 1), count)
    alone = set(forest.entry_index[single].tolist())
    combined = set(forest.entry_index[several].tolist()) | set(forest.rotation_index.tolist())
    if forest.has_leaf_models:
        combined |= set(forest.entry_index[np.repeat(~split, count)].tolist())
    axes = {f for f in alone | combined if f >= forest.n_features}
    return alone - axes, combined - axes


def _read(dialect: Dialect, encoding: Encoding, feature: int, name: str) -> str:
    """A column as a number of double precision, a nominal one as a code or number."""
    column = quoted(name)
    kind = encoding.kind(feature)
    if feature not in encoding.nominal:
        by_kind = {"number": dialect.number, "truth": dialect.truth}
        return by_kind.get(kind, dialect.days).format(column)
    levels = encoding.nominal[feature]
    labels = levels.labels
    codes = np.append(np.arange(len(labels) + 1), levels.n_codes)
    numbers = [str(code) for code in codes.tolist()]
    if feature in encoding.means:
        asked = np.append(labels, [None, _Unseen()])
        numbers = [dialect.as_float32(n) for n in encoding.of_labels(feature, asked, repr(name))]
    if len(labels) and all(isinstance(label, int | float) for label in labels):
        truths = all(isinstance(label, bool) for label in labels)
        column = (dialect.truth if truths else dialect.number).format(column)
        written = [dialect.as_double(label) for label in labels]
    else:
        written = [dialect.label(label) for label in labels]
    *known, missing, unseen = numbers
    cases = "".join(
        f" WHEN {label} THEN {number}" for label, number in zip(written, known, strict=True)
    )
    other = unseen
    if missing != unseen:
        other = f"CASE WHEN {column} IS NULL THEN {missing} ELSE {unseen} END"
    return f"CASE {column}{cases} ELSE {other} END" if cases else other


class _Unseen:
    """A label that no training row has."""


def _scaled(dialect: Dialect, encoding: Encoding, feature: int, value: str) -> str:
    """A number on the scale of training."""
    scaler, literal = encoding.scaler, dialect.as_double
    if isinstance(scaler, LinearScaler):
        scaled = f"({value} - {_in_brackets(literal(scaler.shift[feature]))})"
        scaled += f" / {literal(scaler.span[feature])}"
        if not scaler.clip:
            return scaled
        zero, one = literal(0), literal(1)
        return (
            f"CASE WHEN {scaled} < {zero} THEN {zero} WHEN {scaled} > {one} THEN {one} "
            f"ELSE {scaled} END"
        )
    if not isinstance(scaler, QuantileScaler):
        return value
    low, high = float(scaler.low[feature]), float(scaler.high[feature])
    below, above = _in_brackets(literal(low)), _in_brackets(literal(high))
    span = literal(high - low if high > low else 1.0)
    one, hundredth = literal(1), literal(0.01)
    dampened = f"{hundredth} * LN({one} + LN({one} + {{}}))"
    return (
        f"CASE WHEN {value} < {below} THEN -{dampened.format(f'({below} - {value})')} "
        f"WHEN {value} > {above} THEN {one} + {dampened.format(f'({value} - {above})')} "
        f"ELSE ({value} - {below}) / {span} END"
    )


def _in_brackets(literal: str) -> str:
    """A literal that may follow an operator: two signs in a row would begin a comment."""
    return f"({literal})" if literal.startswith("-") else literal


# Trees.


def _sums(query: _Query, member: FittedForest, number: int) -> dict[str, str]:
    """The sum of the trees of each output or class."""
    forest, terms = member.forest.with_level_columns
    trees = _Trees(query, forest, terms, member.n_features)
    literal, aggregation = query.dialect.as_double, member.aggregation
    sums = {}
    if isinstance(aggregation, SumOfTrees):
        n = aggregation.n_outputs
        for k, start in enumerate(aggregation.baseline):
            added = [trees.text(t, forest.leaf_value) for t in range(k, forest.n_trees, n)]
            sums[query.name("s", number, k)] = _added([literal(start), *added])
        return sums
    for k in range(max(1, forest.n_classes)):
        values = _shares(forest, k, aggregation.hard) if forest.n_classes else forest.leaf_value
        added = [trees.text(t, values) for t in range(forest.n_trees)]
        sums[query.name("s", number, k)] = f"({_added(added)}) / {literal(forest.n_trees)}"
    return sums


def _added(parts: Sequence[str]) -> str:
    """A sum, of many parts in groups."""
    if len(parts) <= CHAIN:
        return "\n    + ".join(map(_in_brackets, parts))
    groups = [parts[at : at + CHAIN] for at in range(0, len(parts), CHAIN)]
    return _added([f"({_added(group)})" for group in groups])


def _shares(forest: FlatForest, k: int, hard: bool) -> Floats:
    """The share of a class in each leaf, or whether it is the largest one."""
    count = np.diff(forest.entry_offset)
    of_leaf = np.repeat(forest.right < 0, count)
    node = np.repeat(np.arange(forest.n_nodes), count)[of_leaf]
    index, weight = forest.entry_index[of_leaf], forest.entry_weight[of_leaf]
    shares = np.zeros(forest.n_nodes)
    if not hard:
        shares[node[index == k]] = weight[index == k]
        return shares
    largest = np.full(forest.n_nodes, -1.0)
    np.maximum.at(largest, node, weight)
    first = np.full(forest.n_nodes, np.iinfo(np.int32).max)
    is_largest = weight == largest[node]
    np.minimum.at(first, node[is_largest], index[is_largest])
    shares[first == k] = 1.0
    return shares


class _Trees:
    """Writes trees as CASE expressions, with any numbers in their leaves."""

    def __init__(self, query: _Query, forest: FlatForest, terms: Array, n_features: int) -> None:
        self.forest, self._query, self._dialect = forest, query, query.dialect
        levels = [query.name("l", f, level) for f, level in terms.tolist()]
        self._alone = [query.name("v", f) for f in range(n_features)] + levels
        self._filled = [query.name("f", f) for f in range(n_features)] + levels
        self._first = np.repeat(forest.tree_offset[:-1], np.diff(forest.tree_offset))
        self._tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_offset))
        self._n_leaves = self._count_leaves()
        self._tests: dict[tuple[int, bool], str] = {}

    def text(self, tree: int, values: Floats) -> str:
        """A tree whose leaves have these values, by node."""
        start, stop = self.forest.tree_offset[tree : tree + 2].tolist()
        # The value of subtrees whose leaves are all alike, else NaN.
        common = values[start:stop].astype(np.float64)
        for node in range(stop - 1, start - 1, -1):
            if self.forest.right[node] >= 0:
                left, right = common[node + 1 - start], common[self.forest.right[node]]
                alike = left == right and not self.forest.has_leaf_models
                common[node - start] = left if alike else np.nan
        return self._write(start, start, common)

    def _write(self, node: int, start: int, common: Floats) -> str:
        cases = []
        while np.isnan(common[node - start]):
            left, right = node + 1, start + int(self.forest.right[node])
            is_left = bool(self._n_leaves[left] <= self._n_leaves[right])
            smaller, larger = (left, right) if is_left else (right, left)
            test, then = self._test(node, is_left), self._write(smaller, start, common)
            cases.append(f"WHEN {test} THEN {then}")
            node = larger
        value = self._dialect.as_double(common[node - start]) + self._terms(node)
        return f"CASE {' '.join(cases)} ELSE {value} END" if cases else value

    def _terms(self, leaf: int) -> str:
        """The terms of the linear model of a leaf, each with its sign; empty if there are none."""
        forest, dialect = self.forest, self._dialect
        if not forest.has_leaf_models:
            return ""
        text = ""
        for entry in range(*forest.entry_offset[leaf : leaf + 2].tolist()):
            slope, column = (
                float(forest.entry_weight[entry]),
                self._filled[forest.entry_index[entry]],
            )
            low, high = (
                dialect.as_float32(array[entry]) for array in (forest.entry_low, forest.entry_high)
            )
            cut = f"{dialect.greatest}({low}, {dialect.least}({high}, {column}))"
            text += f" {'-' if slope < 0 else '+'} {dialect.as_double(abs(slope))} * {cut}"
        return text

    def _count_leaves(self) -> Array:
        count = (self.forest.right < 0).astype(np.int64)
        for node in range(self.forest.n_nodes - 1, -1, -1):
            right = self.forest.right[node]
            if right >= 0:
                count[node] = count[node + 1] + count[self._first[node] + right]
        return count

    def _test(self, node: int, left: bool) -> str:
        """Condition of going left, or right."""
        key = node, left
        if key not in self._tests:
            by_levels = self.forest.flags[node] & CATEGORY_NODE
            write = self._level_test if by_levels else self._threshold_test
            self._tests[key] = write(node, left)
        return self._tests[key]

    def _level_test(self, node: int, left: bool) -> str:
        forest = self.forest
        feature = int(forest.entry_index[forest.entry_offset[node]])
        first = forest.bits_offset[forest.bits_index[node]]
        n_levels = int(forest.levels[feature])
        codes = np.arange(n_levels + 1)
        words = forest.bits[first + np.minimum(codes, n_levels - 1) // 32]
        goes_left = (words >> (codes % 32).astype(np.uint32)) & 1 > 0
        goes_left[n_levels] = forest.flags[node] & MISSING_LEFT
        here = codes[goes_left == left].tolist()
        there = codes[goes_left != left].tolist()
        column = self._alone[feature]
        if len(here) <= len(there):
            return f"{column} IN ({', '.join(map(str, here))})"
        return f"{column} NOT IN ({', '.join(map(str, there))})"

    def _threshold_test(self, node: int, left: bool) -> str:
        forest = self.forest
        first, last = forest.entry_offset[node : node + 2].tolist()
        index = forest.entry_index[first:last].tolist()
        weight = forest.entry_weight[first:last]
        tree = int(self._tree[node])
        columns = self._alone if len(index) == 1 else self._filled
        names = [self._axis(tree, f) or columns[f] for f in index]
        value = self._sum(names, weight)
        threshold = self._dialect.as_float32(forest.threshold[node])
        test = f"{value} {'<=' if left else '>'} {threshold}"
        may_miss = len(index) == 1 and index[0] < len(self._alone)
        missing_here = bool(forest.flags[node] & MISSING_LEFT) == left
        return f"{test} OR {names[0]} IS NULL" if may_miss and missing_here else test

    def _axis(self, tree: int, index: int) -> str:
        """The value of an axis of a tree; empty if the index is that of a column."""
        forest = self.forest
        if index < forest.n_features:
            return ""
        axis = int(forest.rotation_offset[tree]) + index - forest.n_features
        first, last = forest.rotation_entry_offset[axis : axis + 2].tolist()
        names = [self._filled[f] for f in forest.rotation_index[first:last].tolist()]
        return f"({self._sum(names, forest.rotation_weight[first:last])})"

    def _sum(self, names: Sequence[str], weights: Iterable[Any]) -> str:
        """Columns times weights, in the order in which trees add them."""
        text = ""
        for name, weight in zip(names, weights, strict=True):
            sign = (" - " if text else "-") if weight < 0 else (" + " if text else "")
            size = "" if abs(weight) == 1 else f"{self._dialect.as_float32(abs(weight))} * "
            text += f"{sign}{size}{name}"
        return text or self._dialect.as_float32(0)


# Predictions: links of boosting, calibrated shares of forests, weighted sums.


def _write_predictions(query: _Query, member: FittedForest, number: int) -> list[str]:
    """Columns of a model's predictions, a probability for each class or a value."""
    aggregation = member.aggregation
    if isinstance(aggregation, SumOfTrees):
        return _write_link(query, aggregation, number)
    names = [query.name("s", number, k) for k in range(max(1, member.forest.n_classes))]
    if not member.forest.n_classes:
        return names
    return _write_calibrated(query, aggregation, names, number)


def _write_link(query: _Query, aggregation: SumOfTrees, number: int) -> list[str]:
    dialect, literal = query.dialect, query.dialect.as_double
    sums = [query.name("s", number, k) for k in range(aggregation.n_outputs)]
    if aggregation.link in ("identity", "sorted"):
        return sums
    if aggregation.link == "exponential":
        name = query.name("e", number)
        query.then(name[1:], {name: _exponential(dialect, sums[0], MAX_EXPONENT)})
        return [name]
    if aggregation.link == "logistic":
        yes, no = query.name("p", number, 1), query.name("p", number, 0)
        one = literal(1)
        of_yes, of_no = (
            f"{one} / ({one} + {_exponential(dialect, value, LARGEST_EXPONENT)})"
            for value in (f"-{sums[0]}", sums[0])
        )
        query.then(f"links{number}", {no: of_no, yes: of_yes})
        return [no, yes]
    largest, total = query.name("m", number), query.name("t", number)
    powers = [query.name("e", number, k) for k in range(len(sums))]
    shares = [query.name("p", number, k) for k in range(len(sums))]
    query.then(f"largest{number}", {largest: f"{dialect.greatest}({', '.join(sums)})"})
    query.then(
        f"powers{number}",
        {
            power: _exponential(dialect, f"({each} - {largest})", LARGEST_EXPONENT)
            for power, each in zip(powers, sums, strict=True)
        },
    )
    query.then(f"totals{number}", {total: " + ".join(powers)})
    query.then(
        f"links{number}",
        {share: f"{power} / {total}" for share, power in zip(shares, powers, strict=True)},
    )
    return shares


def _exponential(dialect: Dialect, value: str, most: float) -> str:
    low, high = dialect.as_double(-most), dialect.as_double(most)
    return f"EXP({dialect.greatest}({low}, {dialect.least}({high}, {value})))"


def _write_calibrated(
    query: _Query, aggregation: Aggregation, names: list[str], number: int
) -> list[str]:
    """Shares raised to the power of the calibration, and to the least probability."""
    dialect, literal = query.dialect, query.dialect.as_double
    if aggregation.power != 1.0:
        power = f"POWER({{}}, {literal(aggregation.power)})"
        names = _write_changed(query, names, power, "{}", ("p", "t", "q"), number)
    if aggregation.least:
        least = literal(aggregation.least)
        raised = f"{dialect.greatest}({{}}, {least})"
        # Shares of float32 do not sum to one exactly, and stay as they are if none is raised.
        lowest = f"{dialect.least}({', '.join(names)})"
        total = f"CASE WHEN {lowest} < {least} THEN {{}} ELSE {literal(1)} END"
        names = _write_changed(query, names, raised, total, ("r", "u", "w"), number)
    return names


def _write_changed(
    query: _Query,
    names: Sequence[str],
    change: str,
    total: str,
    kinds: tuple[str, str, str],
    number: int,
) -> list[str]:
    """Shares that are changed and divided by a total, of which {} is their sum."""
    changed, shares = (
        [query.name(kind, number, k) for k in range(len(names))] for kind in kinds[::2]
    )
    divisor = query.name(kinds[1], number)
    query.then(
        f"changed_{kinds[0]}{number}",
        {new: change.format(old) for new, old in zip(changed, names, strict=True)},
    )
    query.then(f"total_{kinds[1]}{number}", {divisor: total.format(" + ".join(changed))})
    query.then(
        f"shares_{kinds[2]}{number}",
        {new: f"{old} / {divisor}" for new, old in zip(shares, changed, strict=True)},
    )
    return shares


def _write_weighted(
    query: _Query, outputs: Sequence[Sequence[str]], weights: Sequence[float]
) -> list[str]:
    names = [query.name("y", k) for k in range(len(outputs[0]))]
    factors = [query.dialect.as_double(weight) for weight in weights]
    query.then(
        "weighted",
        {
            name: " + ".join(
                f"{factor} * {output[k]}" for factor, output in zip(factors, outputs, strict=True)
            )
            for k, name in enumerate(names)
        },
    )
    return names


def _named_outputs(
    query: _Query, fitted: FittedForest | FittedCombination, columns: list[str]
) -> dict[str, str]:
    """The columns of the result: the prediction, and the probability of each class."""
    if fitted.classes is None:
        return {"prediction": columns[0]}
    labels = fitted.classes.tolist()
    cases = [
        f"WHEN {' AND '.join(f'{own} >= {other}' for other in columns[k + 1 :])} "
        f"THEN {query.dialect.label(label)}"
        for k, (own, label) in enumerate(zip(columns[:-1], labels[:-1], strict=True))
    ]
    last = query.dialect.label(labels[-1])
    chosen = f"CASE {' '.join(cases)} ELSE {last} END" if cases else last
    names = [quoted(f"probability_{label}") for label in labels]
    return {"prediction": chosen} | dict(zip(names, columns, strict=True))
