"""Finds columns that give the target away, and rows that occur more than once.

A column that knows the target, such as the cause of death where survival is to be predicted, makes
a model that is perfect on its own table and useless on new rows. Copies of a row are in the bag and
out of it at once, so that estimates look better than they are.

Rows are sorted along each column, and the targets of neighbours compared: along a column that says
nothing they differ as those of any two rows do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import AnyFloats, Floats, Ints64
from bevel.data.tables import Table
from bevel.errors import LeakWarning, join_names, warn_user

__all__ = [
    "Copies",
    "find_copies",
    "find_leaks",
    "neighbour_differences",
    "warn_of_leaks",
    "without_leak_alarm",
]

MIN_ROWS = 300  # in smaller tables a single good column is nothing strange
MIN_COLUMNS = 4  # with fewer, that the others do not predict the target says little
MIN_OTHERS = 30  # rows that are not of the largest class
SCREENED = 1000  # rows that all columns are sorted along
CONFIRMED = 20_000  # rows that suspected columns are sorted along
# Differences of neighbours as a share of those of any two rows: of a column that gives the target
# away, classes or numbers, and of the best of the others if they do not predict it nearly as well.
# The least of all columns of 171 real tables are 0.035 for classes and 0.009 for numbers.
MOST_FOR_CLASSES, MOST_FOR_NUMBERS, LEAST_OF_OTHERS = 0.03, 0.002, 0.2
# Copies: their share of the rows, and how many there are for each that is to be expected.
LEAST_SHARE, LEAST_COPIES, LEAST_EXCESS = 0.02, 10, 10.0
# Root of the chance that two rows are equal, for dependent columns.
ROOT = 3.0
HASHED_COLUMNS = 64
TILE = 2**22


_watches = ContextVar("watches", default=True)


@contextmanager
def without_leak_alarm() -> Iterator[None]:
    """Context of fits to tables that a user has not made, or has been warned of."""
    token = _watches.set(False)
    try:
        yield
    finally:
        _watches.reset(token)


def warn_of_leaks(
    table: Table,
    X: AnyFloats,
    levels: npt.NDArray[np.int32],
    y: npt.NDArray[Any],
    n_classes: int,
    weights: Floats | None = None,
    *,
    passed_over: Sequence[int] = (),
    grouped: bool = False,
) -> None:
    """Warn once of columns that give the target away, and of copies of rows.

    Parameters
    ----------
    table : Table
        Training rows, which names the columns.
    X : ndarray of shape (n_rows, p)
        Its rows, encoded.
    levels : ndarray of int32, shape (p,)
        Zero for columns whose numbers have an order.
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Codes of classes, or values.
    n_classes : int
        Zero in regression.
    weights : ndarray of float64 or None, default=None
        Weights of the rows; those of weight zero are not looked at.
    passed_over : sequence of int, default=()
        Columns that were warned of already.
    grouped : bool, default=False
        Whether copies are expected, since rows belong together.
    """
    if not _watches.get():
        return
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        X, y = X[kept], y[kept]
    if len(X) < MIN_ROWS:
        return
    found: list[str] = []
    outputs = [y] if y.ndim == 1 else list(y.T)
    for output in outputs:
        leaks = [f for f in find_leaks(X, levels, output, n_classes) if f not in passed_over]
        if leaks:
            names = join_names([table.describe(feature) for feature in leaks])
            found.append(
                f"Column {names} alone predicts the target almost without error, and the other "
                "columns do not: it may be the target in other words, or known only after it. "
                "Drop the column unless it is known when predictions are needed."
            )
            break
    copies = None if grouped else find_copies(X, y)
    if copies is not None:
        found.append(str(copies))
    if found:
        warn_user(" ".join(found), LeakWarning)


def find_leaks(
    X: AnyFloats, levels: npt.NDArray[np.int32], y: npt.NDArray[Any], n_classes: int
) -> list[int]:
    """Columns that determine the target: one to one, or nearly where the other columns do not."""
    n_rows, n_features = X.shape
    if n_features < 2 or n_rows < MIN_ROWS:
        return []
    order = np.random.default_rng(0).permutation(n_rows)
    most = MOST_FOR_CLASSES if n_classes else MOST_FOR_NUMBERS
    differences = _differences(X, levels, y, n_classes, order[:SCREENED])
    suspects = np.flatnonzero(differences <= 2 * most)
    if len(suspects) == 0:
        return []
    others = np.delete(differences, suspects)
    some = order[:CONFIRMED]
    few = n_features >= MIN_COLUMNS and len(suspects) <= n_features // MIN_COLUMNS
    if few and others.min() >= LEAST_OF_OTHERS:
        again = _differences(X[:, suspects], levels[suspects], y, n_classes, some)
        return [int(feature) for feature in suspects[again <= most]]
    target = y[some]
    return [int(f) for f in suspects if _is_recoding(X[some, f], target, n_classes, levels[f])]


def _is_recoding(column: AnyFloats, y: npt.NDArray[Any], n_classes: int, n_levels: int) -> bool:
    """Whether each value of a column stands for one target and each target for one value.

    Numbers have to ascend or descend with the target.
    """
    values, codes = np.unique(column, return_inverse=True)
    targets, truth = np.unique(y, return_inverse=True)
    if len(values) != len(targets):
        return False
    of_value = np.zeros(len(values), np.intp)
    of_value[codes] = truth
    if not np.array_equal(of_value[codes], truth) or len(np.unique(of_value)) < len(values):
        return False
    steps = np.diff(of_value)
    return bool(n_classes or n_levels or (steps == 1).all() or (steps == -1).all())


def _differences(
    X: AnyFloats,
    levels: npt.NDArray[np.int32],
    y: npt.NDArray[Any],
    n_classes: int,
    rows: Ints64,
) -> Floats:
    """`neighbour_differences` of all columns for some rows in random order."""
    target = y[rows]
    width = max(1, TILE // len(rows))
    parts = []
    for first in range(0, X.shape[1], width):
        tile = slice(first, first + width)
        parts.append(neighbour_differences(X[rows, tile], levels[tile], target, n_classes))
    return np.concatenate(parts)


def neighbour_differences(
    X: AnyFloats, levels: npt.NDArray[np.int32], y: npt.NDArray[Any], n_classes: int
) -> Floats:
    """For each column, how far targets of neighbours along it differ, as a share of any two rows'.

    About 0 for a column that determines the target, about 1 for one that says nothing of it. Rows
    are in random order, so that those of equal values are. Levels of nominal columns have no order:
    only rows of one level are neighbours. NaN (no missing values but those of X) count as a value.
    Two rows differ by 1 if their classes do, in regression by the square of the difference of the
    ranks of their targets.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Columns.
    levels : ndarray of int32, shape (p,)
        Zero for columns whose numbers have an order.
    y : ndarray of shape (n,)
        Codes of classes, or values.
    n_classes : int
        Zero in regression.
    """
    n = len(y)
    if n_classes:
        counts = np.bincount(y.astype(np.intp))
        if n - counts.max() < MIN_OTHERS:
            return np.ones(X.shape[1])
        of_any = 1.0 - float((counts * (counts - 1.0)).sum()) / (n * (n - 1.0))
    else:
        _, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
        if n - counts.max() < MIN_OTHERS:
            return np.ones(X.shape[1])
        y = (np.cumsum(counts) - counts / 2.0)[inverse]
        of_any = 2.0 * float(y.var(ddof=1))
    order = np.argsort(X, axis=0, kind="stable")
    sorted_y = y[order]
    if n_classes:
        apart = (sorted_y[1:] != sorted_y[:-1]).astype(np.float64)
    else:
        apart = np.square(np.diff(sorted_y, axis=0))
    found = apart.mean(axis=0) / of_any
    for feature in np.flatnonzero(levels):
        column = X[order[:, feature], feature]
        alike = column[1:] == column[:-1]
        enough = 2 * np.count_nonzero(alike) >= n
        found[feature] = apart[alike, feature].mean() / of_any if enough else 1.0
    return np.asarray(found)


@dataclass(frozen=True)
class Copies:
    """Rows that occur more than once.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    same : int
        Rows that repeat an earlier one, its target included.
    other : int
        Rows whose features repeat those of an earlier row with another target.
    """

    n_rows: int
    same: int
    other: int

    def __str__(self) -> str:
        """What a user should know of them."""
        parts = []
        if self.same:
            parts.append(f"{self.same:,} with the same target")
        if self.other:
            parts.append(f"{self.other:,} with another target")
        return (
            f"{self.same + self.other:,} of {self.n_rows:,} rows repeat the features of an earlier "
            f"row, {' and '.join(parts)}: copies on both sides make out-of-bag and validation "
            "scores too good. Drop them, or pass groups= to fit, with one label for the rows that "
            "belong together."
        )


def find_copies(X: AnyFloats, y: npt.NDArray[Any]) -> Copies | None:
    """Rows that repeat others, if there are more than few values per column lead to by chance.

    The chance that two rows are equal is the product of that for each column if columns are
    independent. Dependent columns coincide together, so that its third root is taken.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Encoded rows.
    y : ndarray of shape (n,) or (n, n_outputs)
        Targets.
    """
    n = len(X)
    keys = _keys(X, np.unique(np.linspace(0, X.shape[1] - 1, HASHED_COLUMNS).astype(np.intp)))
    suspects = _repeated(keys)
    if len(suspects) < LEAST_COPIES:
        return None
    distinct = np.unique(keys, return_index=True)[1]
    own = X[suspects]
    keys = _keys(own, np.arange(X.shape[1]))
    repeated = _repeated(keys)
    suspects, own, keys = suspects[repeated], own[repeated], keys[repeated]
    _, counts = np.unique(keys, return_counts=True)
    n_copies = int((counts - 1).sum())
    if n_copies < max(LEAST_COPIES, LEAST_SHARE * n):
        return None
    n_pairs = float((counts * (counts - 1.0)).sum()) / 2.0
    if n_pairs < LEAST_EXCESS * _expected_pairs(X, distinct):
        return None
    targets = y.reshape(n, -1)[suspects].astype(np.float64)
    with_target = keys + _keys(targets, np.arange(targets.shape[1])) * np.uint64(3)
    _, counts = np.unique(with_target, return_counts=True)
    same = int((counts - 1).sum())
    return Copies(n, same, n_copies - same)


def _repeated(keys: npt.NDArray[np.uint64]) -> Ints64:
    """Rows whose key another row has too, ascending."""
    order = np.argsort(keys, kind="stable")
    alike = keys[order[1:]] == keys[order[:-1]]
    return np.sort(order[np.append(alike, False) | np.append(False, alike)])


def _keys(X: AnyFloats, features: Ints64) -> npt.NDArray[np.uint64]:
    """A key for each row, equal for equal rows; different rows share one with chance 2^-64."""
    keys = np.zeros(len(X), np.uint64)
    factors = np.random.default_rng(1).integers(1, 2**63, len(features), np.uint64) * np.uint64(2)
    for feature, factor in zip(features.tolist(), factors, strict=True):
        column = np.ascontiguousarray(X[:, feature], np.float64) + 0.0  # no negative zeros
        bits = np.where(np.isnan(column), np.nan, column).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(31))) * (factor | np.uint64(1))
        keys += mixed ^ (mixed >> np.uint64(29))
    return keys


def _expected_pairs(X: AnyFloats, distinct: Ints64) -> float:
    """Pairs of equal rows to be expected in a table with the values of some distinct rows."""
    n, m = len(X), min(len(distinct), CONFIRMED)
    if m < 2:
        return n * (n - 1.0) / 2.0
    rows = np.random.default_rng(2).permutation(distinct)[:m]
    log_chance = 0.0
    for feature in range(X.shape[1]):
        counts = np.unique(X[rows, feature], return_counts=True)[1]
        pairs = float((counts * (counts - 1.0)).sum()) / (m * (m - 1.0))
        log_chance += np.log(max(pairs, 1.0 / (m * (m - 1.0))))
    return n * (n - 1.0) / 2.0 * float(np.exp(log_chance / ROOT))
