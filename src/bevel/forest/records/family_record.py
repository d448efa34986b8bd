"""The record of the families that share the trees of a forest: `families_`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats, Ints64
from bevel.extras import import_optional
from bevel.html_table import html_table
from bevel.printable import rounded

__all__ = ["FamilyRecord", "not_compared", "size_note"]


@dataclass(frozen=True, eq=False)
class FamilyRecord:
    """The families of directions that share the trees of a forest, and their errors.

    Attributes
    ----------
    names : tuple of str
        Names of the families.
    errors : ndarray of shape (n_families,)
        Out-of-bag error of each micro-forest: share of wrong rows, or mean loss of the criterion.
        NaN if there were no out-of-bag rows, too few trees for micro-forests, or nothing to
        compare.
    standard_errors : ndarray of shape (n_families,)
        Standard errors of `errors`.
    weights : ndarray of shape (n_families,)
        Share of trees that each family was to have, summing to one.
    of_tree : ndarray of int32, shape (n_trees,)
        Family of each tree.
    left_out : tuple of (str, str)
        Families that do not fit the table, and why.
    min_samples_split : int
        Distinct rows that a node needs to be split, in all families.
    """

    names: tuple[str, ...]
    errors: Floats
    standard_errors: Floats
    weights: Floats
    of_tree: npt.NDArray[np.int32]
    left_out: tuple[tuple[str, str], ...] = ()
    min_samples_split: int = 2

    @property
    def n_trees(self) -> Ints64:
        """Trees of each family."""
        return np.bincount(self.of_tree, minlength=len(self.names))

    def with_trees(self, of_tree: npt.NDArray[np.int32]) -> FamilyRecord:
        """The record of a forest with other trees of the same families."""
        return replace(self, of_tree=of_tree)

    def rows(self) -> list[tuple[str, float, float, float, int]]:
        """Name, error, its standard error, weight and trees of each family."""
        columns = (self.errors, self.standard_errors, self.weights, self.n_trees)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        return [(name, *each) for name, each in zip(self.names, numbers, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """The record as plain values by name, for documents; an unknown error is None."""
        keys = ("family", "error", "standard_error", "weight", "n_trees")
        return {
            "families": [
                {key: None if each != each else each for key, each in zip(keys, row, strict=True)}
                for row in self.rows()
            ],
            "left_out": dict(self.left_out),
            "min_samples_split": self.min_samples_split,
        }

    def to_pandas(self) -> Any:
        """A frame with a row for each family."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns = ["family", "oob_error", "standard_error", "weight", "trees"]
        return pandas.DataFrame(self.rows(), columns=columns).set_index("family")

    def __str__(self) -> str:
        return "\n".join([_line(HEAD), *(_line(_cells(row)) for row in self.rows()), *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table("", HEAD, [_cells(row) for row in self.rows()], self.notes())

    def notes(self) -> list[str]:
        """A line for each family that was left out, and others if there is something to say."""
        alike = [] if not np.isnan(self.errors).all() else [not_compared(len(self.names))]
        sizes = [size_note(self.min_samples_split)] if self.min_samples_split > 2 else []
        left_out = [f"left out: {name} ({reason})" for name, reason in self.left_out]
        return [*alike, *sizes, *left_out]


def size_note(min_samples_split: int) -> str:
    """Explain the limit on the nodes that are split."""
    return f"nodes of fewer than {min_samples_split} rows are not split (min_samples_split)"


def not_compared(n_families: int) -> str:
    """Explain why families have no out-of-bag errors."""
    if n_families == 1:
        return "not compared: it is the only family that fits the table"
    return "not compared: too few trees, or no out-of-bag rows; families share the trees alike"


HEAD = ("family", "out-of-bag error", "standard error", "weight", "trees")
_WIDTHS = (12, 16, 14, 6, 5)


def _cells(row: tuple[str, float, float, float, int]) -> tuple[str, ...]:
    name, error, standard_error, weight, n_trees = row
    numbers = (rounded(error, 4), rounded(standard_error, 2)) if error == error else ("–", "–")
    return (name, *numbers, f"{weight:.2f}", str(n_trees))


def _line(cells: tuple[str, ...]) -> str:
    name, *numbers = cells
    widths = zip(numbers, _WIDTHS[1:], strict=True)
    return "  ".join([name.ljust(_WIDTHS[0]), *(number.rjust(width) for number, width in widths)])
