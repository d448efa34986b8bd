"""A table of named columns as NumPy arrays, which needs no data frame library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Array

__all__ = ["Columns"]


@dataclass(frozen=True, eq=False)
class Columns:
    """Named columns of equal length; the estimators read it as they read a data frame.

    Parameters
    ----------
    names : tuple of str
        Name of each column, all different.
    values : tuple of ndarray of shape (n_rows,)
        Numbers (missing: NaN), or objects for nominal columns (missing: None).
    dates : frozenset of str
        Names of columns whose numbers are days since 1970-01-01.
    """

    names: tuple[str, ...]
    values: tuple[Array, ...]
    dates: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.values}
        if len(self.names) != len(self.values) or len(lengths) > 1:
            raise ValueError(
                "Columns must have one name for each column, all of one length; got "
                f"{len(self.names)} names and {len(self.values)} columns of lengths "
                f"{sorted(lengths)}. Pass them in pairs."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self.values[0]) if self.values else 0), len(self.values)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nominal(self) -> list[int]:
        """Columns of objects."""
        return [index for index, column in enumerate(self.values) if column.dtype.kind == "O"]

    def rows(self, chosen: npt.NDArray[Any]) -> Columns:
        """Return these columns with the rows that an index or a mask chooses."""
        values = tuple(column[chosen] for column in self.values)
        return Columns(self.names, values, self.dates)

    def select(self, names: Sequence[str]) -> Columns:
        """Columns by name, in the order of `names`; raises KeyError for one that is absent."""
        place = {name: index for index, name in enumerate(self.names)}
        values = tuple(self.values[place[name]] for name in names)
        return Columns(tuple(names), values, self.dates.intersection(names))

    def missing(self, index: int) -> npt.NDArray[np.bool_]:
        """Mask of the missing values of a column."""
        column = self.values[index]
        if column.dtype.kind == "O":
            return np.array([value is None for value in column], dtype=bool)
        return np.asarray(np.isnan(column), dtype=bool)
