"""Interprets columns of text that are neither plain numbers nor ISO 8601 dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.errors import shorten
from bevel.tables.date_parsing import (
    ORDERS,
    AmbiguousOrderError,
    parse_date,
    read_dates,
)
from bevel.tables.number_parsing import (
    AmbiguousDecimalError,
    parse_number,
    read_numbers,
)

__all__ = ["Convention", "InferredColumn", "can_be_values", "first_misfit", "infer_type"]

# Cells that mean a missing value in columns of numbers or dates; elsewhere they are labels.
MAYBE_MISSING = frozenset(
    {".", "..", "-", "--", "---", "–", "—", "*", "none", "nil", "missing", "unknown"}
    | {"n.a.", "n.d.", "not available", "not applicable"}
)
MOSTLY = 0.8  # share of numbers, or dates, above which other cells may be mistakes


@dataclass(frozen=True)
class Convention:
    """Number format of a file, as far as it is known."""

    decimal: str | None = None  # given by the user
    preferred: str | None = None  # inferred from the first rows
    grouped_by_comma: bool = True


@dataclass(frozen=True, eq=False)
class InferredColumn:
    """A column of text.

    Attributes
    ----------
    values : ndarray of float, or None
        Numbers or days; None if the column holds labels.
    order : str
        Order of dates: "ymd", "dmy" or "mdy"; otherwise empty.
    example : str
        A cell and its value, unless the conversion is obvious.
    missing : tuple of str
        Cells that were read as missing.
    misfit : str
        First label that is not a number, or date, in a column where nearly all are.
    """

    values: Floats | None
    order: str = ""
    example: str = ""
    missing: tuple[str, ...] = ()
    misfit: str = ""


def infer_type(
    words: npt.NDArray[Any], convention: Convention, kind: str | None, title: str
) -> InferredColumn:
    """Read a column of words as numbers or dates if its cells allow it.

    Parameters
    ----------
    words : ndarray of object
        Cells; None where missing.
    convention : Convention
    kind : str or None
        Type given by the user: one of `bevel.tables.options.TYPES`. Cells of another type are then
        missing.
    title : str
        The file and the column, for messages.
    """
    cells = list(dict.fromkeys(word for word in words if word is not None))
    if kind is not None:
        cells = [cell for cell in cells if _fits(cell, kind, convention)]
    present = [cell for cell in cells if cell.lower() not in MAYBE_MISSING]
    try:
        found = _read(present, convention, kind)
    except AmbiguousDecimalError as error:
        raise ValueError(
            f"{title} holds {error.example!r}, which may be "
            f"{parse_number(error.example, '.')[0]:g} or "  # type: ignore[index]
            f"{parse_number(error.example, ',')[0]:g}. "  # type: ignore[index]
            'Say which: `decimal="."` or `decimal=","`.'
        ) from None
    except AmbiguousOrderError as error:
        name = title.rpartition("column ")[2]
        raise ValueError(
            f"{title} holds {error.example!r}, of which the day and the month cannot be told "
            f'apart. Say which comes first: `types={{{name}: "dmy"}}` or `types={{{name}: '
            '"mdy"}`.'
        ) from None
    if found is None:
        return InferredColumn(None, misfit=_misfit(words, convention))
    meaning, order, example = found
    values = np.array([np.nan if word is None else meaning.get(word, np.nan) for word in words])
    left = [word for word in dict.fromkeys(words) if word is not None and word not in meaning]
    return InferredColumn(values, order, example, tuple(left))


def can_be_values(cells: Sequence[str], convention: Convention, kind: str | None) -> bool:
    """Whether a column with these cells among others may hold numbers or dates.

    If some cells are labels, the whole column is nominal. A type given by the user takes
    precedence.
    """
    present = [cell for cell in cells if cell.lower() not in MAYBE_MISSING]
    if kind is not None or not present:
        return True
    try:
        return _read(present, convention, kind) is not None
    except (AmbiguousDecimalError, AmbiguousOrderError):
        return True


def _read(
    cells: Sequence[str], convention: Convention, kind: str | None
) -> tuple[Mapping[str, float], str, str] | None:
    """Values of the distinct cells, the order of dates, and an example; None for labels."""
    if not cells:
        return ({}, "", "") if kind is not None else None
    if kind in (None, "number"):
        numbers = read_numbers(
            cells, convention.decimal, convention.preferred, convention.grouped_by_comma
        )
        if numbers is not None:
            example = numbers.example
            text = "" if example is None else f"{example!r} is {numbers.values[example]:.12g}"
            return numbers.values, "", text
    if kind != "number":
        dates = read_dates(cells, kind if kind in ORDERS else None)
        if dates is not None:
            return dates[0], dates[1], repr(cells[0])
    return None


def _fits(cell: str, kind: str, convention: Convention) -> bool:
    if kind == "number":
        signs = convention.decimal or ".,"
        return any(parse_number(cell, sign) is not None for sign in signs)
    read = parse_date(cell)
    return bool(read) if kind == "date" else kind in read


def first_misfit(words: npt.NDArray[Any], convention: Convention) -> str:
    """The first cell that is not a number, or not a date if the first cell is a date."""
    present = [(row, word) for row, word in enumerate(words, start=1) if word is not None]
    kind = "date" if _fits(present[0][1], "date", convention) else "number"
    misfits = ((r, w) for r, w in present if not _fits(w, kind, convention))
    row, word = next(misfits, present[0])
    return f"{shorten(word)} in row {row}"


def _misfit(words: npt.NDArray[Any], convention: Convention) -> str:
    """The first cell that is not a number, or date, where nearly all are; empty otherwise."""
    present = [(row, word) for row, word in enumerate(words, start=1) if word is not None]
    for kind in ("number", "date"):
        fits = {word: _fits(word, kind, convention) for _, word in present}
        n_fitting = sum(fits[word] for _, word in present)
        if present and n_fitting > MOSTLY * len(present):
            # All may fit singly but not together, such as 5 and 5 %.
            row, word = next(((r, w) for r, w in present if not fits[w]), present[0])
            return f"{shorten(word)} in row {row}"
    return ""
