"""Conditions on a row in the user's units: evaluated, and written as text and as SQL."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bevel._types import Array, Bools
from bevel.analysis.rules.original_columns import missing_in
from bevel.errors import join_names, wrong_value
from bevel.printable import printable
from bevel.text.decimals import written

__all__ = ["LabelTest", "NumberTest", "RowTest", "quoted", "sql_value"]

MOST_LABELS = 6  # labels in a text


@dataclass(frozen=True)
class NumberTest:
    """Whether a sum of weighted columns lies between two bounds.

    Attributes
    ----------
    features, weights : tuple
        Columns and their weights.
    fills : tuple of float
        Replacement of a missing value of each column, if there are several columns.
    low, high : float
        Bounds; `low_included` and `high_included` tell whether they are allowed.
    missing : bool
        Whether a missing value satisfies the test of a single column.
    """

    features: tuple[int, ...]
    weights: tuple[float, ...]
    fills: tuple[float, ...]
    low: float
    high: float
    low_included: bool
    high_included: bool
    missing: bool

    @property
    def n_terms(self) -> int:
        return len(self.features)

    def holds(self, columns: Sequence[Array]) -> Bools:
        total = np.zeros(len(columns[0]))
        for place, (feature, weight, fill) in enumerate(
            zip(self.features, self.weights, self.fills, strict=True)
        ):
            values = columns[feature]
            if self.n_terms > 1:
                values = np.where(np.isnan(values), fill, values)
            # In the order of addition in a database.
            total = weight * values if place == 0 else total + weight * values
        above = total >= self.low if self.low_included else total > self.low
        below = total <= self.high if self.high_included else total < self.high
        return np.asarray(np.where(np.isnan(total), self.missing, above & below), dtype=bool)

    def text(self, names: Sequence[str]) -> str:
        subject = _sum_text(self, names)
        under = "≤" if self.high_included else "<"
        if math.isinf(self.low):
            wording = f"{subject} {under} {written(self.high)}"
        elif math.isinf(self.high):
            wording = f"{subject} {'≥' if self.low_included else '>'} {written(self.low)}"
        else:
            over = "≤" if self.low_included else "<"
            wording = f"{written(self.low)} {over} {subject} {under} {written(self.high)}"
        return f"({wording} or missing)" if self.missing else wording

    def sql(self, names: Sequence[str]) -> str:
        subject = _sum_sql(self, names)
        parts = []
        if not math.isinf(self.low):
            parts.append(f"{subject} {'>=' if self.low_included else '>'} {self.low!r}")
        if not math.isinf(self.high):
            parts.append(f"{subject} {'<=' if self.high_included else '<'} {self.high!r}")
        wording = " AND ".join(parts) or f"{subject} IS NOT NULL"
        if self.low == math.inf or self.high == -math.inf:
            wording = "1 = 0"  # the bound is beyond all numbers
        return f"({wording} OR {subject} IS NULL)" if self.missing else wording


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
    """

    feature: int
    labels: tuple[Any, ...]
    missing: bool
    n_terms = 1

    def holds(self, columns: Sequence[Array]) -> Bools:
        column = columns[self.feature]
        wanted = set(self.labels)
        found = np.array([value in wanted for value in column.tolist()], dtype=bool)
        return np.asarray(np.where(missing_in(column), self.missing, found), dtype=bool)

    def text(self, names: Sequence[str]) -> str:
        labels = join_names([printable(str(label)) for label in self.labels], MOST_LABELS)
        wording = f"{printable(names[self.feature])} in {{{labels}}}"
        return f"({wording} or missing)" if self.missing else wording

    def sql(self, names: Sequence[str]) -> str:
        name = quoted(names[self.feature])
        wording = f"{name} IN ({', '.join(map(sql_value, self.labels))})"
        if not self.labels:
            return f"{name} IS NULL" if self.missing else "1 = 0"
        return f"({wording} OR {name} IS NULL)" if self.missing else wording


RowTest = NumberTest | LabelTest


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def sql_value(value: Any) -> str:
    """A label or number as an SQL literal."""
    if isinstance(value, bool | np.bool_):
        return "1" if value else "0"
    if isinstance(value, int | float | np.number):
        number = value.item() if isinstance(value, np.generic) else value
        if not math.isfinite(number):
            raise wrong_value(
                "A number in SQL",
                "finite, for infinities have no literal",
                number,
                "Replace such labels before fit.",
            )
        return repr(number)
    return "'" + str(value).replace("'", "''") + "'"


def _sum_text(test: NumberTest, names: Sequence[str]) -> str:
    text = ""
    for feature, weight in zip(test.features, test.weights, strict=True):
        sign = (" − " if text else "−") if weight < 0 else (" + " if text else "")
        size = "" if abs(weight) == 1.0 else f"{written(abs(weight))}·"
        text += f"{sign}{size}{printable(names[feature])}"
    return text


def _sum_sql(test: NumberTest, names: Sequence[str]) -> str:
    text = ""
    for feature, weight, fill in zip(test.features, test.weights, test.fills, strict=True):
        name = quoted(names[feature])
        if test.n_terms > 1:
            name = f"COALESCE({name}, {fill!r})"
        sign = (" - " if text else "-") if weight < 0 else (" + " if text else "")
        size = "" if abs(weight) == 1.0 else f"{abs(weight)!r} * "
        text += f"{sign}{size}{name}"
    return text
