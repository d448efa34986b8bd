"""Nominal columns of many levels as numbers: the mean of the target in each level.

A column with more than `MOST_LEVELS` levels, such as a postcode, is read as one number: the mean of
the target among the training rows of the same level, shrunk towards the mean of all rows. Trees cut
it and combine it like any number. A training row must not see its own target, so its number is
computed from the rows of other folds; new rows get the number of all training rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bevel._types import AnyFloats, Array, Floats, Ints64
from bevel.data.tables import Table

__all__ = [
    "MOST_LEVELS",
    "N_FOLDS",
    "LevelMeans",
    "LevelTarget",
    "NumberedTable",
    "folds",
    "learn_means",
]

# Columns of more levels are read as means of the target.
MOST_LEVELS = 100
N_FOLDS = 5
# Standard errors by which levels have to differ more than by chance, for their means to be read.
MARGIN = 1.0
# Steps of the power iteration for the first principal component.
POWER_STEPS = 100


class LevelTarget(NamedTuple):
    """The target as numbers whose means tell levels apart.

    Attributes
    ----------
    values : ndarray of float64, shape (n,)
        Number of each training row; of three classes and more, the class.
    meaning : str
        What a mean of them is, as in "mean target" or "share of yes".
    n_classes : int, default=0
        Number of classes, if there are three or more; else 0.
    folds : ndarray of uint8 or None, default=None
        Fold of each training row; None: by its number.
    """

    values: Floats
    meaning: str
    n_classes: int = 0
    folds: npt.NDArray[np.uint8] | None = None

    def columns(self) -> Floats:
        """The numbers as a column, or one of 0 and 1 for each of several classes."""
        if not self.n_classes:
            return self.values[:, None]
        return np.asarray(self.values[:, None] == np.arange(self.n_classes), dtype=np.float64)

    def numbers(
        self, codes: npt.NDArray[np.integer[Any]], n_levels: int, weights: Floats
    ) -> Floats:
        """Number of each row whose mean is taken over the rows of a level.

        Three classes and more get numbers that differ most between levels: the first principal
        component of the class shares, of which what differs by chance is subtracted.
        """
        if not self.n_classes:
            return self.values
        k, classes = self.n_classes, self.values.astype(np.intp)
        cell = np.asarray(codes, dtype=np.intp) * k + classes
        counts: Floats = np.bincount(cell, weights, n_levels * k).astype(np.float64)
        return np.asarray(_first_component(counts.reshape(n_levels, k))[classes])


@dataclass(frozen=True, eq=False)
class LevelMeans:
    """Means of the target in the levels of one column.

    Attributes
    ----------
    of_all : ndarray of float64, shape (n_levels + 1,)
        Mean of each level over all training rows, for new rows; the last is that of unseen levels.
    of_others : ndarray of float64, shape (N_FOLDS, n_levels + 1)
        For each fold, the means over the training rows of the other folds.
    meaning : str
        What the means are; see `LevelTarget`.
    folds : ndarray of uint8 or None, default=None
        Fold of each training row; None: by its number.
    """

    of_all: Floats
    of_others: Floats
    meaning: str
    folds: npt.NDArray[np.uint8] | None = None

    @property
    def are_equal(self) -> bool:
        """Whether levels differ by no more than chance: all have the mean of all rows."""
        return float(np.ptp(self.of_all)) == 0.0

    def of_new_rows(self, codes: npt.NDArray[np.integer[Any]]) -> Floats:
        """Numbers of rows that are not training rows, by the codes of their levels."""
        return np.asarray(self.of_all[codes])

    def of_training_rows(self, codes: npt.NDArray[np.integer[Any]], places: Ints64) -> Floats:
        """Numbers of training rows, by the codes of their levels and their places in the fit."""
        if self.folds is None:
            return np.asarray(self.of_others[folds(places), codes])
        if len(places) and places.max() >= len(self.folds):
            raise ValueError(
                f"X must be the {len(self.folds)} training rows, whose groups are known by their "
                f"numbers; got {len(codes)} rows. Pass the X that the model was fitted on."
            )
        return np.asarray(self.of_others[self.folds[places], codes])


def learn_means(
    codes: npt.NDArray[np.integer[Any]],
    n_levels: int,
    target: LevelTarget,
    weights: Floats | None,
) -> LevelMeans:
    """Learn the means of one column.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Level of each training row.
    n_levels : int
        Number of levels.
    target : LevelTarget
        Numbers of the rows.
    weights : ndarray of float64, shape (n,), or None
        Weights of the rows; None if all are one.
    """
    weights = np.ones(len(codes)) if weights is None else weights / weights[weights > 0].mean()
    fold = folds(np.arange(len(codes))) if target.folds is None else target.folds
    values = target.numbers(codes, n_levels, weights)
    counts = [
        _Counts.of(codes[fold == k], n_levels, values[fold == k], weights[fold == k])
        for k in range(N_FOLDS)
    ]
    others = [_Counts.sum([c for j, c in enumerate(counts) if j != k]) for k in range(N_FOLDS)]
    of_others = np.array([each.shrunken_means() for each in others])
    every = _Counts.sum(counts)
    of_all = every.shrunken_means()
    if not every.differ():
        of_all[:] = of_others[:] = of_all[-1]
    return LevelMeans(of_all, of_others, target.meaning, target.folds)


def folds(places: Ints64, n_folds: int = N_FOLDS) -> Ints64:
    """Fold of each training row: its place, mixed, so that no order of the rows matters."""
    x = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return ((x ^ (x >> np.uint64(31))) % np.uint64(n_folds)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Counts:
    """Rows, sums and sums of squares of the target in each level."""

    n: Floats
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, codes: Array, n_levels: int, target: Floats, weights: Floats) -> _Counts:
        parts = (weights, weights * target, weights * target**2)
        sums = (np.bincount(codes, part, n_levels).astype(np.float64) for part in parts)
        return cls(*sums)

    @classmethod
    def sum(cls, parts: list[_Counts]) -> _Counts:
        columns = zip(*((each.n, each.total, each.squares) for each in parts), strict=True)
        return cls(*(np.sum(column, axis=0) for column in columns))

    def differ(self) -> bool:
        """Whether the means of levels differ by more than chance, with a margin.

        Their variance over that within levels is about 1 by chance, as the F statistic is.
        """
        within, spread, _ = self._variances()
        present = np.count_nonzero(self.n)
        free = self.n.sum() - present
        if spread <= within:
            return False
        return bool(spread - within > MARGIN * within * np.sqrt(2.0 / (present - 1) + 2.0 / free))

    def shrunken_means(self) -> Floats:
        """Means of the levels, and the mean of all rows, as if each level had `m` rows of it more.

        m is the variance within levels over that between them, estimated from the rows by the
        method of moments: where that between levels is not positive, all means are that of all.
        """
        rows = self.n.sum()
        if rows == 0.0:
            return np.zeros(len(self.n) + 1)
        mean = self.total.sum() / rows
        within, spread, rows_of_level = self._variances()
        if spread <= within:
            return np.full(len(self.n) + 1, mean)
        m = within / ((spread - within) / rows_of_level)
        known = self.n + m > 0.0
        means = np.full(len(self.n) + 1, mean)
        means[:-1][known] = (self.total + m * mean)[known] / (self.n + m)[known]
        return means

    def _variances(self) -> tuple[float, float, float]:
        """Variance within levels, that of their means times rows, and the rows of a level.

        By chance the first two are equal; (1, 0, 1) if no level has two rows.
        """
        present = self.n > 0.0
        n, total, squares = self.n[present], self.total[present], self.squares[present]
        rows, n_present = n.sum(), len(n)
        free = rows - n_present
        if free <= 0.0 or n_present < 2:
            return 1.0, 0.0, 1.0
        within = max(0.0, float((squares - total**2 / n).sum())) / free
        mean = self.total.sum() / self.n.sum()
        spread = float((n * (total / n - mean) ** 2).sum()) / (n_present - 1)
        return within, spread, (rows - (n**2).sum() / rows) / (n_present - 1)


def _first_component(counts: Floats) -> Floats:
    """First principal component of the class shares of levels (rows of `counts`).

    Products are summed by NumPy in the order of the classes, so that all machines agree.
    """
    counts = counts[counts.sum(axis=1) > 0.0]
    rows = counts.sum(axis=1)
    shares, overall = counts / rows[:, None], counts.sum(axis=0) / rows.sum()
    apart = (shares - overall) * np.sqrt(rows / rows.sum())[:, None]
    products = (apart[:, :, None] * apart[:, None, :]).sum(axis=0)
    chance = np.diag(overall) - overall[:, None] * overall[None, :]
    products -= chance * (len(counts) - 1) / rows.sum()
    products += np.eye(len(overall)) * max(0.0, -float(products.diagonal().min()))
    component = np.arange(len(overall), 0, -1, dtype=np.float64)
    for _ in range(POWER_STEPS):
        component = (products * component).sum(axis=1)
        length = float(np.sqrt((component**2).sum()))
        if length == 0.0:
            return np.zeros(len(overall))
        component = component / length
    return component if component[np.abs(component).argmax()] > 0.0 else -component


class NumberedTable:
    """A table some of whose columns are read as given numbers in place of their labels.

    Parameters
    ----------
    table : Table
        The table.
    columns : mapping of int to ndarray of float64
        Numbers of all rows, by column.
    """

    by_rows = False

    def __init__(self, table: Table, columns: Mapping[int, Floats]) -> None:
        self._table, self._columns = table, columns
        self.native, self.n_rows, self.n_features = table.native, table.n_rows, table.n_features

    def describe(self, feature: int) -> str:
        return self._table.describe(feature)

    def nominal_by_dtype(self) -> list[int]:
        return [f for f in self._table.nominal_by_dtype() if f not in self._columns]

    def dates(self) -> list[int]:
        return [f for f in self._table.dates() if f not in self._columns]

    def truths(self) -> list[int]:
        return [f for f in self._table.truths() if f not in self._columns]

    def numbers(self, rows: slice, features: slice) -> AnyFloats:
        chosen = range(features.start, features.stop)
        if not self._columns.keys() & set(chosen):
            return self._table.numbers(rows, features)
        parts = [
            self._columns[f][rows, None]
            if f in self._columns
            else self._table.numbers(rows, slice(f, f + 1))
            for f in chosen
        ]
        return np.concatenate(parts, axis=1)

    def labels(self, feature: int) -> npt.NDArray[Any]:
        return self._table.labels(feature)
