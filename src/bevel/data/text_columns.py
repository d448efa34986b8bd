"""Columns of free text, such as comments and descriptions, which are left out of a fit.

Hardly a row shares its text with another, so that as levels the texts would name the rows; what
their words say needs a vocabulary, which scikit-learn's vectorizers make in a pipeline.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel.data.tables import ArrayTable, Table, is_missing
from bevel.errors import TextColumnWarning, join_names, warn_user

__all__ = ["FEW_TEXTS", "are_texts", "find_texts", "holds_text", "warn_of_texts"]

# A column holds free text if more than this share of its values are distinct, and half of them
# have at least so many words or characters.
DISTINCT = 0.5
WORDS, CHARACTERS = 4, 25
FEW_TEXTS = 20  # with fewer values, distinct ones may be chance
FIRST = 1000  # values that rule out most columns


def are_texts(distinct: Collection[str], n_present: int) -> bool:
    """Whether a column of so many values, with these distinct ones, holds free text."""
    if n_present < FEW_TEXTS or len(distinct) <= DISTINCT * n_present:
        return False
    n_words = np.median([len(value.split()) for value in distinct])
    return bool(n_words >= WORDS or np.median([len(value) for value in distinct]) >= CHARACTERS)


def holds_text(values: npt.NDArray[Any]) -> bool:
    """Whether a column holds free text."""
    if values.dtype.kind not in "OUT":
        return False
    listed = values.tolist()
    present = [value for value in listed[:FIRST] if not is_missing(value)]
    if not all(isinstance(value, str) for value in present):
        return False
    if len(present) >= FEW_TEXTS and not are_texts(set(present), len(present)):
        return False
    present += [value for value in listed[FIRST:] if not is_missing(value)]
    strings = all(isinstance(value, str) for value in present)
    return strings and are_texts(set(present), len(present))


def find_texts(table: Table, nominal: Iterable[int], chosen: bool) -> list[int]:
    """Columns of free text.

    Parameters
    ----------
    table : Table
        Training rows.
    nominal : iterable of int
        Columns that are to be read as levels.
    chosen : bool
        Whether the user has named these, which are then no text.
    """
    asked = set(table.nominal_by_dtype())
    if isinstance(table, ArrayTable) and table.native.dtype.kind in "OU":
        asked.update(range(table.n_features))
    if chosen:
        asked.difference_update(nominal)
    return [feature for feature in sorted(asked) if holds_text(table.labels(feature))]


def warn_of_texts(names: Sequence[str]) -> None:
    """Warn of columns of free text, if there are any."""
    if names:
        listed = join_names(list(names))
        held = "holds" if len(names) == 1 else "hold"
        warn_user(
            f"Column {listed} {held} free text, in which hardly two rows agree: the model "
            "leaves it out. To use its words, turn them into numbers in a pipeline, for example "
            "by TfidfVectorizer and TruncatedSVD of scikit-learn; to read it as levels "
            "nevertheless, name it in categorical_features.",
            TextColumnWarning,
        )
