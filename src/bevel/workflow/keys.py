"""Identifier columns, which do not generalise to new rows: row numbers, keys, free text.

A forest overfits them: in a file sorted by the target, a row number predicts the target.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from bevel._types import Floats
from bevel.data.columns import Columns

__all__ = ["LARGEST_WHOLE", "Key", "find_keys"]

FEW_ROWS = 20  # with fewer rows, distinct values may be chance
LARGEST_WHOLE = 2.0**53  # above it not every whole number is a float
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|#")
_UNNAMED = re.compile(r"Unnamed: \d+")  # name that pandas gives to an unnamed column
_KEYS = {"id", "ids", "uuid", "guid", "pk", "key", "rowid"}
_NUMBERS = {
    "index",
    "idx",
    "row",
    "rownum",
    "rowname",
    "rownames",
    "nr",
    "no",
    "obs",
    "#",
    "serial",
}
_NUMBERS |= {"row number", "row name", "row names", "row index", "row no", "s no", "serial number"}
_NUMBERS |= {"serial no", "record", "record number", "case number", "observation", "sn", "level 0"}
_TIMES = {
    "year",
    "years",
    "yr",
    "month",
    "week",
    "day",
    "days",
    "date",
    "time",
    "timestamp",
    "hour",
}
_TIMES |= {"hours", "minute", "minutes", "second", "seconds", "quarter", "period", "step", "t"}
_TIMES |= {"epoch", "tick", "frame", "age"}


@dataclass(frozen=True)
class Key:
    """A column that identifies rows, and the reason why it is taken for one."""

    name: str
    why: str


def find_keys(
    X: Columns, row_names: str | None, wanted: Collection[str], index: Collection[str] = ()
) -> list[Key]:
    """Columns to leave out, except those that the user has named.

    Whole numbers are keys if they count the rows from 0 or 1, if they differ in every row and the
    name of the column suggests a key (id, patient_id, PassengerId), or if they are beyond 2^53.
    Sorted measurements such as years are not keys. Labels are keys if they differ in every row, or
    in so many rows that nothing can be learned from them. The index of a pandas data frame, whose
    columns are `index`, is always a key.
    """
    found = []
    for place, name in enumerate(X.names):
        if name in index and name not in wanted:
            found.append(Key(name, "the index of a pandas data frame"))
            continue
        if name in wanted or X.missing(place).any() or name in X.dates:
            continue
        is_nameless = name == row_names or _UNNAMED.fullmatch(name) is not None
        column = X.values[place]
        if column.dtype.kind == "O":
            why = _why_labels(len(X), len(set(column)), is_nameless or _is_key(name))
        else:
            why = _why_numbers(column, name, is_nameless)
        if why:
            nameless = "no name in the file, " if is_nameless else ""
            found.append(Key(name, nameless + why))
    return found


def _why_labels(n_rows: int, n_labels: int, is_named_so: bool) -> str:
    if n_labels == n_rows and (n_rows > FEW_ROWS or is_named_so):
        return "a different label in every row"
    if 2 * n_labels > n_rows > FEW_ROWS:
        return f"{n_labels:,} labels in {n_rows:,} rows"
    return ""


def _why_numbers(values: Floats, name: str, is_nameless: bool) -> str:
    n_rows = len(values)
    if n_rows < 2 or not bool(np.all(values == np.round(values))):
        return ""
    if len(np.unique(values)) < n_rows:
        return ""
    counts = bool(np.all(np.diff(values) == 1.0))
    is_named_so = is_nameless or _is_key(name)
    if counts and (
        is_named_so or (values[0] in (0, 1) and n_rows > FEW_ROWS and not _is_time(name))
    ):
        return "the number of the row"
    if is_named_so and n_rows > FEW_ROWS:
        return "a different number in every row"
    if float(np.abs(values).min()) > LARGEST_WHOLE and n_rows > FEW_ROWS and not _is_time(name):
        return "a number beyond 2^53, different in every row"
    return ""


def _is_key(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and (
        words[-1] in _KEYS or words[0] in ("id", "uuid", "guid") or " ".join(words) in _NUMBERS
    )


def _is_time(name: str) -> bool:
    return any(word.lower() in _TIMES for word in _WORDS.findall(name))
