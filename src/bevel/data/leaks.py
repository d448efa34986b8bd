"""Finds what makes the score of a training table better than that of other rows.

A column that gives the target away, such as a cause of death where the target is death, and rows
that occur more than once, of which some are in a bag and some are not.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bevel._types import Float32s, Target
from bevel.data.tables import Table
from bevel.errors import LeakWarning, join_names

__all__ = ["Leaks", "count_copies", "find_leaks", "steps_along", "warn_of_leaks"]

# Largest share of the steps of a target in random order that remain along a column that is said to
# give it away: 0.3 % of the variance of a number, or of the chance that two rows differ in class.
GIVEN_AWAY = 0.003
# Another column has at least this many times as many steps: where several give the target away,
# such as physical laws and sums, nothing has leaked.
AHEAD = 10.0
MIN_ROWS = 50
MIN_EXPECTED = 20.0  # pairs of neighbours in random order that differ in class
MAX_ROWS = 20_000  # rows that are looked at
COPIED = 0.05  # share of rows that are copies of others
COARSE = 0.5  # distinct values of the finest column per distinct row, below which copies are chance


@dataclass(frozen=True)
class Leaks:
    """What of a training table may make its scores too good.

    Attributes
    ----------
    column : int or None
        The column that alone gives the target away.
    is_equal : bool
        Whether that column is equal to the target.
    copies : int
        Rows that are equal to an earlier row in all columns; 0 if they may be so by chance.
    agreeing : int
        Those of them that have the target of that row as well.
    """

    column: int | None = None
    is_equal: bool = False
    copies: int = 0
    agreeing: int = 0


def warn_of_leaks(table: Table, X: Float32s, levels: npt.NDArray[np.int32], target: Target) -> None:
    """Warn, once, of what `find_leaks` finds."""
    found = find_leaks(X, levels, target)
    said = []
    if found.column is not None:
        name = join_names([table.describe(found.column)])
        how = "is equal to the target" if found.is_equal else "alone predicts the target perfectly"
        said.append(
            f"Column {name} {how}, and no other column does nearly as well. If it is not known "
            "before the target is, drop it: scores of this table say nothing about new rows."
        )
    if found.copies:
        said.append(
            f"{found.copies} of {len(X)} rows are equal to an earlier row in every column, "
            f"{found.agreeing} of them with the same target. Drop the copies: a tree that has "
            "learnt from a row knows its copies, so that out-of-bag and validation scores are too "
            "good."
        )
    if said:
        warnings.warn(" ".join(said), LeakWarning, stacklevel=4)


def find_leaks(X: Float32s, levels: npt.NDArray[np.int32], target: Target) -> Leaks:
    """Look for a column that gives the target away, and for copies of rows.

    Parameters
    ----------
    X : ndarray of float32, shape (n_rows, p)
        The rows as the trees read them.
    levels : ndarray of int32, shape (p,)
        Number of levels of each column, 0 for numeric ones.
    target : ndarray of shape (n_rows,)
        Codes of classes as whole numbers, or values as float64.
    """
    if len(X) < MIN_ROWS or target.ndim > 1:
        return Leaks()
    step = -(-len(X) // MAX_ROWS)
    some, of_some = X[::step], target[::step]
    column, is_equal = _column_that_gives_away(some, levels, of_some)
    copies, agreeing = count_copies(X, levels, target)
    if column is not None or copies < COPIED * len(X) or not _is_fine(X, levels, len(X) - copies):
        copies = agreeing = 0
    return Leaks(column, is_equal, copies, agreeing)


def _column_that_gives_away(
    X: Float32s, levels: npt.NDArray[np.int32], target: Target
) -> tuple[int | None, bool]:
    if X.shape[1] < 2:
        return None, False
    steps = np.array([steps_along(X[:, f], levels[f] > 0, target) for f in range(X.shape[1])])
    best, second = np.argsort(steps, kind="stable")[:2]
    if not (steps[best] <= GIVEN_AWAY and steps[second] > AHEAD * max(steps[best], GIVEN_AWAY / 3)):
        return None, False
    of_best = X[:, best].astype(np.float64)
    is_equal = target.dtype.kind == "f" and bool(_is_linear(of_best, target))
    return int(best), is_equal


def _is_linear(column: npt.NDArray[np.float64], target: Target) -> bool:
    """Whether the target is the column, up to scale and the rounding of float32."""
    known = np.isfinite(column)
    if known.sum() < MIN_ROWS:
        return False
    return bool(np.corrcoef(column[known], target[known])[0, 1] > 1.0 - 1e-9)


def steps_along(column: Float32s, is_nominal: bool, target: Target) -> float:
    """How much the target changes from row to row along a column, 1 in random order, 0 if it never does.

    For numbers it is the ratio of von Neumann (1941): the mean square of the differences of
    neighbours over twice the variance. For classes it is the share of neighbours of different class
    over that of random pairs, less the steps that classes in one piece each need. Along a nominal
    column only rows of the same level are neighbours, and a level of one row has none. Returns 1
    where too few pairs are left to tell.
    """
    order = np.argsort(column, kind="stable")  # missing values come last
    ordered, values = target[order], column[order]
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    pairs = same if is_nominal else np.ones(len(same), bool)
    if 2 * pairs.sum() < len(column):
        return 1.0
    if target.dtype.kind == "f":
        spread = 2.0 * float(np.var(target))
        return float(np.mean(np.diff(ordered)[pairs] ** 2)) / spread if spread > 0.0 else 1.0
    shares = np.unique(target, return_counts=True)[1] / len(target)
    expected = float(pairs.sum() * (1.0 - np.sum(shares**2)))
    if expected < MIN_EXPECTED:
        return 1.0
    n_steps = int((ordered[1:] != ordered[:-1])[pairs].sum())
    needed = 0 if is_nominal else len(shares) - 1
    return max(0, n_steps - needed) / expected


def count_copies(
    X: Float32s, levels: npt.NDArray[np.int32], target: Target
) -> tuple[int, int]:
    """Rows that are equal to an earlier one in all columns, and those with its target as well."""
    keys = _row_keys(X)
    _, first, position = np.unique(keys, return_index=True, return_inverse=True)
    original = first[position]
    is_copy = original != np.arange(len(X))
    return int(is_copy.sum()), int((target[original] == target)[is_copy].sum())


def _row_keys(X: Float32s) -> npt.NDArray[np.uint64]:
    """A number for each row; equal rows have equal ones, and others but once in 2^64 do not."""
    keys = np.zeros(len(X), np.uint64)
    for column in X.T:
        bits = np.where(np.isnan(column), np.float32(np.nan), column + np.float32(0.0))
        keys ^= np.ascontiguousarray(bits, np.float32).view(np.uint32)
        keys *= np.uint64(0x9E3779B97F4A7C15)  # wraps around
        keys ^= keys >> np.uint64(29)
    return keys


def _is_fine(X: Float32s, levels: npt.NDArray[np.int32], n_distinct: int) -> bool:
    """Whether some number is so finely measured that rows are not equal by chance."""
    return any(
        len(np.unique(X[:, f])) >= COARSE * n_distinct for f in np.flatnonzero(np.asarray(levels) == 0)
    )
