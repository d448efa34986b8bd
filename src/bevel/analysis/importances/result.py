"""Importances of features or other named parts of a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import check_count
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.extras import import_optional
from bevel.printable import rounded

__all__ = ["TITLES", "Importance", "mean_and_spread"]


TITLES = {
    "altmann": "Importance tested after Altmann",
    "anova": "ANOVA importance",
    "corrected": "Corrected impurity importance",
    "gini": "Impurity importance",
    "janitza": "Importance tested after Janitza",
    "negation": "Negation importance",
    "permutation": "Permutation importance",
    "projection": "Importance of directions",
    "rotation": "Importance of rotations",
    "Shapley": "Mean absolute Shapley values",
    "split_frequency": "How often features are used",
    "t_test": "t-tests of single features",
}
# Headers of printed columns whose names are not words.
HEADERS = {
    "p_values": "p-value",
    "corrected": "corrected p",
    "standard_error": "standard error",
    "effect_of": "of class",
}
N_SHOWN = 20  # lines of a printed table
ROUNDING = 1e-12  # relative to the largest number of a column


@dataclass(frozen=True, eq=False, repr=False)
class Importance(PrintedResult):
    """Importance of each feature, or rotation; in the order of the columns, printed best first.

    Attributes
    ----------
    kind : str
        The requested kind.
    names : tuple of str
        Names of the features.
    values : ndarray of float64
        Importances.
    measures : str
        Description of the values, in a sentence.
    std : ndarray of float64 or None
        Standard deviation of the values over trees, or over repeats; None where there is no spread.
    p_values : ndarray of float64 or None
        p-values of the tests behind the importances.
    count : ndarray of int64 or None
        Number of splits.
    effect : ndarray of float64 or None
        Effect of a feature, if requested: change of the prediction from the 5 % to the 95 %
        quantile of the feature, by accumulated local effects; NaN for nominal features. For two
        classes it is the effect on the probability of the second.
    direction : ndarray of object or None
        Sign of the effect of a feature: "rises", "falls", or "mixed"; "" for nominal and for unused
        features. By the splits it is "mixed" where less than two thirds of the variance that they
        remove has one sign. By the curve of `effect` it is "mixed" where it reverses more than half
        of its change. None for groups and rotations, and for slim forests.
    effect_of : ndarray of object or None
        With more than two classes, the class whose probability changes most.
    output_name : str
        Name of the output that rises or falls, if it is common to all features.
    hint : str
        Explanation of directions and effects; the last line of the printed table.
    title : str
        Title, if it does not follow from the kind.
    """

    kind: str
    names: tuple[str, ...]
    values: Floats
    measures: str
    std: Floats | None = None
    p_values: Floats | None = None
    count: npt.NDArray[np.int64] | None = None
    effect: Floats | None = None
    direction: npt.NDArray[np.object_] | None = None
    effect_of: npt.NDArray[np.object_] | None = None
    output_name: str = field(default="", kw_only=True)
    hint: str = field(default="", kw_only=True)
    title: str = field(default="", kw_only=True)

    @property
    def heading(self) -> str:
        """Title of the importances, in a few words."""
        return self.title or TITLES.get(self.kind, f"{self.kind} importance")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Positions of the features in descending order of importance; ties by column."""
        return np.argsort(-self.values, kind="stable")

    def top(self, n: int) -> Self:
        """The n most important ones, best first."""
        best = self.order[: check_count("n", n, low=0)]
        names = tuple(self.names[place] for place in best)
        taken: dict[str, Any] = {name: each[best] for name, each in self._arrays().items()}
        return replace(self, names=names, **taken)

    def in_percent(self) -> Self:
        """The importances without a squared unit, for tables and pictures."""
        return self

    def to_pandas(self) -> Any:
        """Data frame, best first, with the features as its index."""
        pandas = import_optional("pandas", needed_by="to_pandas", install="pandas")
        best = self.top(len(self))
        return pandas.DataFrame(best._columns(), index=pandas.Index(best.names, name="feature"))

    def _printed(self) -> PrintedTable:
        best = self.top(N_SHOWN)
        columns = best._columns()
        cells = [_written(name, column) for name, column in columns.items()]
        rows = list(zip(best.names, *cells, strict=True))
        hidden = len(self) - len(best)
        more = (f"... and {hidden} more",) if hidden > 0 else ()
        notes = [*more, f"values: {self.measures}", *([self.hint] if self.hint else [])]
        of = "rotation" if self.kind == "rotation" else "feature"
        header = (of, *(HEADERS.get(name, name) for name in columns))
        return PrintedTable(self.heading, header, rows, tuple(notes))

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """Columns with one number for each name."""
        return {name: array for name, array in self._arrays().items() if array.ndim == 1}

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays with one entry for each name."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}


def _written(name: str, column: npt.NDArray[Any]) -> list[str]:
    """Entries of a printed column; rounding errors of zero sums are written as zero.

    Effects show their sign.
    """
    if column.dtype.kind not in "fiu":
        return [str(value) for value in column.tolist()]
    if name == "effect":
        return ["" if np.isnan(value) else f"{value:+.3g}" for value in column.tolist()]
    largest = float(np.abs(column[np.isfinite(column)]).max(initial=0.0))
    return [rounded(0.0 if abs(x) < ROUNDING * largest else x, 4) for x in column.tolist()]


def mean_and_spread(rows: Iterable[Floats], n_columns: int) -> tuple[Floats, Floats | None]:
    """Mean and standard deviation of rows that come one at a time; one row has no spread."""
    total, squares, n_rows = np.zeros(n_columns), np.zeros(n_columns), 0
    for row in rows:
        total += row
        squares += row * row
        n_rows += 1
    mean = total / max(n_rows, 1)
    if n_rows < 2:
        return mean, None
    variance = (squares - n_rows * mean * mean) / (n_rows - 1)
    return mean, np.sqrt(np.maximum(variance, 0.0))
