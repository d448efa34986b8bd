"""Rows that are not independent: groups of rows that belong together, and rows in order of time.

Rows of one patient resemble each other. What is chosen on rows whose patient was also trained on
looks better than it is for new patients, so that a group is drawn, or held out, as a whole. Where
new rows come after the training rows, the latest ones are held out instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.data.level_statistics import N_FOLDS, folds
from bevel.data.tables import Table, align, fill_masked, is_missing, read_table
from bevel.errors import join_names, shorten

__all__ = ["NO_ORDER", "RowGroups", "RowOrder", "read_groups", "read_row_order"]


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The group of each training row.

    Attributes
    ----------
    codes : ndarray of uint32, shape (n_rows,)
        Groups, numbered by the first row of each; `n_groups` for rows that are held out.
    n_groups : int
        Number of groups.
    """

    codes: npt.NDArray[np.uint32]
    n_groups: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowGroups) and np.array_equal(self.codes, other.codes)

    __hash__ = None  # type: ignore[assignment]

    @property
    def held_out(self) -> npt.NDArray[np.bool_] | None:
        """Rows that are in no bag; None if there are none."""
        held_out = self.codes >= self.n_groups
        return held_out if held_out.any() else None

    @classmethod
    def earlier(cls, latest: npt.NDArray[np.bool_]) -> RowGroups:
        """Each row a group of its own, and the latest ones held out."""
        n_groups = len(latest) - int(np.count_nonzero(latest))
        codes = np.where(latest, n_groups, np.cumsum(~latest) - 1)
        return cls(codes.astype(np.uint32), n_groups)


@dataclass(frozen=True, eq=False)
class RowOrder:
    """What is known of the dependence of the training rows.

    Attributes
    ----------
    groups : RowGroups or None
        Groups; None if each row is one.
    times : ndarray of float64 or None
        Time of each row; None if the rows have no order.
    """

    groups: RowGroups | None = None
    times: Floats | None = None

    def latest(self, share: float) -> npt.NDArray[np.bool_] | None:
        """About this share of the rows, the latest ones; rows of one time stay together."""
        times = self.times
        if times is None:
            return None
        starts = np.flatnonzero(np.diff(np.sort(times)) > 0.0) + 1  # of the times but the first
        n_earlier = starts[np.abs(starts - (1.0 - share) * len(times)).argmin()]
        return np.asarray(times >= np.sort(times)[n_earlier])

    def folds(self, latest: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.uint8] | None:
        """Fold of each row for means of levels, the latest rows in one; None: by row number."""
        if latest is not None:
            found: Ints64 = np.where(
                latest, N_FOLDS - 1, folds(np.arange(len(latest)), N_FOLDS - 1)
            )
        elif self.groups is not None:
            found = folds(np.arange(self.groups.n_groups))[self.groups.codes]
        else:
            return None
        return found.astype(np.uint8)

    def rows(self, kept: npt.NDArray[np.integer[Any]]) -> RowOrder:
        """The order of some rows."""
        groups = self.groups
        if groups is not None:
            groups = _number(groups.codes[kept])
        return RowOrder(groups, None if self.times is None else self.times[kept])


NO_ORDER = RowOrder()


def read_row_order(
    groups: Any, time: Any, table: Table, names: Sequence[str] | None = None
) -> RowOrder:
    """Read `groups` and `time`, as given to fit; raises if both are given.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        Label of the group of each row.
    time : str, array-like of shape (n_rows,) or None
        Times of the rows, or the name of a column that has them.
    table : Table
        Training rows.
    names : sequence of str or None
        Names of the columns, if the table has names.
    """
    if groups is not None and time is not None:
        raise ValueError(
            "groups and time must not be given together: groups hold out whole groups, for new "
            "rows of new groups, and time the latest rows, for later rows of the same ones; got "
            "both. Pass the one that tells new rows from training rows."
        )
    if groups is not None:
        return RowOrder(groups=read_groups(groups, table.n_rows))
    if time is not None:
        return RowOrder(times=_read_times(time, table, names))
    return NO_ORDER


def read_groups(groups: Any, n_rows: int, least: int = 2) -> RowGroups | None:
    """Groups of the rows; None if each row is one.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Label of the group of each row.
    n_rows : int
        Number of rows.
    least : int, default=2
        Number of groups that there must be: 2 to hold groups out, 1 if they are only scored.
    """
    labels = _column("groups", groups, n_rows, "the label of its group")
    _check_present("groups", labels, "Give each such row a group of its own, or leave it out.")
    found = _number(labels)
    if n_rows > 1 and found is not None and found.n_groups < least:
        raise ValueError(
            f"groups must be two or more; got {shorten(labels.tolist()[0])} in all {n_rows} rows. "
            "Pass the group of each row, or leave it out if rows have none."
        )
    return found


def _number(labels: npt.NDArray[Any]) -> RowGroups | None:
    """Number groups by their first rows; None if each row is one."""
    if labels.dtype.kind == "O":  # labels of several types have no order
        numbers: dict[Any, int] = {}
        codes = np.array([numbers.setdefault(label, len(numbers)) for label in labels.tolist()])
        n_groups = len(numbers)
    else:
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        codes, n_groups = first.argsort().argsort()[inverse], len(first)
    return None if n_groups == len(labels) else RowGroups(codes.astype(np.uint32), n_groups)


def _read_times(time: Any, table: Table, names: Sequence[str] | None) -> Floats:
    if isinstance(time, str):
        values = _named_column(time, table, names)
    else:
        column = _column("time", time, table.n_rows, "its time")
        got = shorten(column.tolist()[0])
        if column.dtype.kind in "USb":
            raise _no_times(got)
        values = _numbers(read_table(column[:, None]), 0, got)
    remedy = "Give each row a time, or leave such rows out."
    _check_present("time", values, remedy)
    if values.min() == values.max():
        raise ValueError(
            f"time must be two times or more; got one in all {table.n_rows} rows. Leave it out."
        )
    return values


def _named_column(name: str, table: Table, names: Sequence[str] | None) -> Floats:
    if names is None or name not in names:
        known = "a table without names" if names is None else f"columns {join_names(list(names))}"
        raise ValueError(
            f"time must be the name of a column of X, or the times of its rows; got {name!r} with "
            f"{known}. Pass the times themselves."
        )
    feature = list(names).index(name)
    return _numbers(table, feature, f"labels in column {name!r}")


def _numbers(table: Table, feature: int, got: str) -> Floats:
    if feature in table.nominal_by_dtype():
        raise _no_times(got)
    column = table.numbers(slice(0, table.n_rows), slice(feature, feature + 1))
    return np.asarray(column[:, 0], dtype=np.float64)


def _no_times(got: str) -> ValueError:
    return ValueError(
        f"time must hold numbers, dates or times; got {got}. Convert text to dates first, for "
        "example with pandas.to_datetime."
    )


def _column(name: str, values: Any, n_rows: int, of_row: str) -> npt.NDArray[Any]:
    """An argument as a one-dimensional array of the right length."""
    column: npt.NDArray[Any] = align(np.asarray(fill_masked(values)))
    if column.shape != (n_rows,):
        raise ValueError(
            f"{name} must have shape ({n_rows},), for each row of X {of_row}; got shape "
            f"{column.shape}. Pass the {name} that belong to X."
        )
    return column


def _check_present(name: str, values: npt.NDArray[Any], remedy: str) -> None:
    if values.dtype.kind == "O":
        missing = np.flatnonzero([is_missing(value) for value in values.tolist()])
    else:
        missing = np.flatnonzero(values != values)  # NaN and NaT
    if len(missing):
        raise ValueError(
            f"{name} must have no missing values; got {len(missing)} (row index {missing[0]}). "
            f"{remedy}"
        )
