"""Finds columns that number or name the rows, or are the index of a data frame.

A number along which the target is sorted predicts the target of its own table perfectly and that of
no other; so does a name that no other row has.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import f_oneway

from bevel._types import Floats
from bevel.data.encoding import MAX_LEVELS, Levels
from bevel.data.level_statistics import LevelTarget
from bevel.data.tables import Table, index_columns
from bevel.errors import RowNumberWarning, join_names, warn_user

__all__ = [
    "find_row_numbers",
    "idle_row_numbers",
    "warn_of_index",
    "warn_of_row_names",
    "warn_of_row_numbers",
    "warn_of_too_many",
]

FALSE_ALARMS = 1e-6  # upper bound, for a column whose order is independent of the target
SAMPLE = 32  # rows that rule out nearly all other columns
SPARSEST = 5 / 3  # largest ratio of numbers to rows, as left by a random split of 1, 2, ...
TILE = 2**16  # columns read together
FEW_ROWS = 20  # with fewer rows, distinct labels may be chance
FEW_NUMBERS = 200  # with fewer rows, distinct whole numbers such as ages may be chance
RUNS = 10  # of rows in the order of a column, whose targets are compared
SIGNIFICANT = 1e-3  # p-value of a difference between runs


def warn_of_row_names(
    table: Table, levels: Mapping[int, Levels], says_nothing: Collection[int] = ()
) -> None:
    """Warn of columns whose labels say nothing about other rows, if there are other columns.

    They have a different label in every row, or are in `says_nothing`: columns whose labels differ
    by no more than chance, which are left out.
    """
    if table.n_features < 2 or table.n_rows <= FEW_ROWS:
        return
    unique = [feature for feature, each in levels.items() if len(each.labels) == table.n_rows]
    used = [feature for feature in unique if feature not in says_nothing]
    _warn(
        table,
        used,
        "has a different label in every row, so that no split on it says anything about other "
        "rows. Drop the column if it is a name or an id; if it holds numbers or dates as text, "
        "convert it.",
    )
    _warn(
        table,
        sorted(set(unique) - set(used)),
        "has a different label in every row, which says nothing about other rows. It is left out: "
        "no split uses it. If it holds numbers or dates as text, convert it.",
    )
    _warn(
        table,
        sorted(set(says_nothing) - set(unique)),
        "has many labels, between which the target differs by no more than chance. It is left out: "
        "no split uses it. If it holds numbers or dates as text, convert it.",
    )


def warn_of_too_many(names: Sequence[str], levels: Mapping[int, Levels], scanned: bool) -> None:
    """Warn of columns that are left out because they have too many labels to be levels."""
    most = f"at most {MAX_LEVELS:,}" + (", and one for two rows" if scanned else "")
    for feature, each in levels.items():
        if each.n_too_many:
            warn_user(
                f"Column {names[feature]} has {each.n_too_many:,} labels, too many to be levels "
                f"({most}). It is left out: no split uses it. Join rare labels, or fit a forest or "
                'boosting of one output with projection="auto" in memory: there the mean of the '
                "target stands for each label.",
                RowNumberWarning,
            )


def warn_of_index(table: Table) -> None:
    """Warn of columns that pandas writes for an index without a name, if there are other columns.

    Other libraries read them from Parquet and Arrow files as columns like any other.
    """
    if table.n_features < 2:
        return
    _warn(
        table,
        sorted(_index(table)),
        "is the index of a pandas data frame, which its file keeps as one more column: it often "
        "numbers the rows, which says nothing about other rows. Drop the column, or rename it if "
        "it is a feature.",
    )


def _index(table: Table) -> set[int]:
    names = [table.describe(feature).strip("'") for feature in range(table.n_features)]
    index = set(index_columns(names, None))
    return {feature for feature, name in enumerate(names) if name in index}


def warn_of_row_numbers(
    table: Table, nominal: npt.NDArray[np.int32], y: npt.NDArray[Any], n_classes: int
) -> list[int]:
    """Warn of columns that `find_row_numbers` finds, unless there is no other, and return them."""
    if table.n_features < 2:
        return []
    outputs = [y] if y.ndim == 1 else list(y.T)
    found: list[int] = []
    for output in outputs:
        found = found or find_row_numbers(table, nominal, output, n_classes)
    _warn(
        table,
        found,
        "counts the rows, and the target is sorted along it: the forest learns the order of the "
        "rows, which says nothing about other rows. Drop the column if it is a row number or an "
        "id.",
    )
    return found


def _warn(table: Table, features: Sequence[int], what: str) -> None:
    """Warn of columns by name, if there are any."""
    if features:
        names = join_names([table.describe(feature) for feature in features])
        which = "Column" if len(features) == 1 else "Each of columns"
        warn_user(f"{which} {names} {what}", RowNumberWarning)


def find_row_numbers(
    table: Table, levels: npt.NDArray[np.int32], y: npt.NDArray[Any], n_classes: int
) -> list[int]:
    """Numeric columns of different whole numbers, from 0 on, along which the target is sorted.

    A target is sorted if it never falls, or never rises; classes are if each comes in one run. A
    column in random order does that with a probability that is known; where that is above 1e-6 for
    any of the columns, nothing is found.

    Parameters
    ----------
    table : Table
        Training rows.
    levels : ndarray of int32, shape (p,)
        Zero for numeric columns.
    y : ndarray of shape (n_rows,)
        Codes of classes, or values.
    n_classes : int
        Zero in regression.
    """
    numeric = np.flatnonzero(levels == 0)
    if len(numeric) == 0 or _chance(y, n_classes) > math.log(FALSE_ALARMS / len(numeric)):
        return []
    return [
        int(feature)
        for feature in numeric[_may_count(table, numeric)]
        if _is_sorted_along(_column(table, int(feature)), y, n_classes)
    ]


def idle_row_numbers(table: Table, levels: npt.NDArray[np.int32], target: LevelTarget) -> list[int]:
    """Columns that number the rows, in an order that says nothing about the target; with a warning.

    They hold different whole numbers with few gaps, and the target differs between ten runs of rows
    in their order by no more than chance.
    """
    is_number = levels == 0
    is_number[table.dates()] = False  # days number the rows of a time series, and may still matter
    numeric = np.flatnonzero(is_number)
    if table.n_features < 2 or table.n_rows <= FEW_NUMBERS or not len(numeric):
        return []
    found = []
    for feature in numeric[_may_count(table, numeric, from_zero=False)].tolist():
        values = _column(table, feature)
        is_count = _are_counts(_from_zero(values[:, None]), len(values))[0]
        if is_count and not _varies_along(values, target.columns()):
            found.append(feature)
    _warn(
        table,
        sorted(set(found) - _index(table)),
        "numbers the rows, in an order that says nothing about the target. It is left out: no "
        "split uses it.",
    )
    return found


def _varies_along(values: npt.NDArray[Any], outputs: Floats) -> bool:
    """Whether some output differs between runs of rows in the order of the values."""
    runs = np.array_split(np.argsort(values), RUNS)
    varying = outputs[:, np.ptp(outputs, axis=0) > 0.0]
    if not varying.shape[1]:
        return False
    p_values = f_oneway(*(varying[run] for run in runs)).pvalue
    return bool(np.min(p_values) * varying.shape[1] < SIGNIFICANT)


def _chance(y: npt.NDArray[Any], n_classes: int) -> float:
    """Logarithm of the probability that rows in random order are sorted by the target."""
    counts = np.unique(y, return_counts=True)[1]
    orders = math.lgamma(len(counts) + 1) if n_classes else math.log(2.0)
    same = sum(math.lgamma(count + 1) for count in counts.tolist())
    return orders + same - math.lgamma(len(y) + 1)


def _may_count(
    table: Table, numeric: npt.NDArray[np.intp], *, from_zero: bool = True
) -> npt.NDArray[np.bool_]:
    """Numeric columns whose values in a few sampled rows are distinct whole numbers.

    from_zero: whether they must begin near zero.
    """
    rows = slice(0, table.n_rows, max(1, table.n_rows // SAMPLE))
    able = np.zeros(table.n_features, dtype=bool)
    # Runs of numeric columns, which are read together.
    breaks = np.flatnonzero(np.diff(numeric) > 1) + 1
    for run in np.split(numeric, breaks):
        for first in range(0, len(run), TILE):
            features = slice(int(run[first]), int(run[min(first + TILE, len(run)) - 1]) + 1)
            values = table.numbers(rows, features)
            able[features] = _are_counts(values if from_zero else _from_zero(values), table.n_rows)
    return able[numeric]


def _are_counts(values: npt.NDArray[Any], n_rows: int) -> npt.NDArray[np.bool_]:
    ordered = np.sort(values, axis=0)  # NaN comes last, and is no whole number
    with np.errstate(invalid="ignore"):
        whole = (ordered == np.floor(ordered)).all(axis=0)
        within = (ordered[0] >= 0) & (ordered[-1] <= SPARSEST * n_rows)
        return np.asarray(whole & within & (np.diff(ordered, axis=0) > 0).all(axis=0))


def _from_zero(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Columns less their smallest numbers."""
    return np.asarray(values - np.fmin.reduce(values, axis=0))


def _column(table: Table, feature: int) -> npt.NDArray[Any]:
    return table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))[:, 0]


def _is_sorted_along(values: npt.NDArray[Any], y: npt.NDArray[Any], n_classes: int) -> bool:
    if not _are_counts(values[:, None], len(values))[0]:
        return False
    ordered = y[np.argsort(values)]
    if n_classes:
        n_runs = 1 + np.count_nonzero(ordered[1:] != ordered[:-1])
        return bool(n_runs == len(np.unique(y)))
    steps = np.diff(ordered)
    return bool((steps >= 0).all() or (steps <= 0).all())
