"""The result of an effect: a curve or a surface of predictions, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from bevel._types import Array, Floats
from bevel.analysis.analysed_forest import PREDICTIONS, column_of_class, name_of_output
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.data.values import value_text
from bevel.errors import wrong_value
from bevel.extras import import_optional
from bevel.printable import rounded
from bevel.text.predictions import called

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Effect"]

N_SHOWN, N_CLASSES_SHOWN = 11, 6  # lines and classes of the printed table


@dataclass(frozen=True, eq=False, repr=False)
class Effect(PrintedResult):
    """Change of the prediction with one feature, with two, or along a direction.

    G is the number of grid points, K that of classes; regressions have no axis for classes.

    Attributes
    ----------
    kind : {"partial dependence", "accumulated local effects", "effect along"}
        Kind of effect.
    names : tuple of str
        Names of the one or two features, or of the direction.
    grid : tuple of ndarray
        Values of each feature, in the user's units: dates as datetime64, truth values as "no" and
        "yes"; labels of a nominal feature, None for missing; multiples of a direction.
    values : ndarray of shape (G,), (G, K), (G1, G2) or (G1, G2, K)
        The effect on the grid. Partial dependence: mean prediction. Accumulated local effects:
        difference from the mean prediction.
    classes : ndarray or None
        Labels of the classes; None in regression.
    standard_error : ndarray of the shape of `values`, or None
        Standard errors of the values over forests grown on other rows.
    individual : ndarray of shape (n, ...) or None
        Predictions of each row on the grid; NaN for rows that no tree predicts.
    quantiles : tuple of ndarray or None
        The 0 %, 10 %, ..., 100 % quantiles of each feature in X, where there are numbers or dates.
    n_rows : int
        Number of rows of X.
    output_name : str
        Name of the values, for labels.
    n_below_zero : int
        Number of points whose variance over other rows was estimated below zero: there the standard
        error is that of the number of trees alone, and more trees are needed.
    counts : tuple of ndarray or None
        Number of rows of X with each label of the grid, for nominal features.
    """

    kind: str
    names: tuple[str, ...]
    grid: tuple[Array, ...]
    values: Floats
    classes: npt.NDArray[Any] | None
    standard_error: Floats | None
    individual: Floats | None
    quantiles: tuple[Array | None, ...]
    n_rows: int
    output_name: str = PREDICTIONS
    n_below_zero: int = 0
    counts: tuple[npt.NDArray[np.int64] | None, ...] = ()

    def output(self, label: Any) -> Effect:
        """The effect on one class or quantile, in the shape of a regression.

        Parameters
        ----------
        label : object
            One of `classes`.
        """
        column = column_of_class(self.classes, label)

        def pick(values: Floats | None) -> Floats | None:
            return None if values is None else values[..., column]

        return replace(
            self,
            values=self.values[..., column],
            standard_error=pick(self.standard_error),
            individual=pick(self.individual),
            classes=None,
            output_name=name_of_output(self.output_name, label),
        )

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of normal intervals for each grid point.

        Parameters
        ----------
        level : float, default=0.95
            Level of confidence, for each point by itself.
        """
        if self.standard_error is None:
            raise ValueError(
                "band needs standard errors; got an effect without them. Compute it with "
                "standard_error=True."
            )
        if not 0.0 < level < 1.0:
            raise wrong_value("level", "between 0 and 1", level, "Write for example level=0.95.")
        reach = float(stats.norm.isf((1.0 - level) / 2.0)) * self.standard_error
        return self.values - reach, self.values + reach

    def to_pandas(self) -> pd.DataFrame:
        """Data frame with the grid as its index and a column for each class, or "effect".

        Columns of standard errors are named "standard error", after the class if there are any.
        """
        pandas: Any = import_optional("pandas", needed_by="to_pandas", install="pandas")
        index = (
            pandas.Index(self.grid[0], name=self.names[0])
            if len(self.grid) == 1
            else pandas.MultiIndex.from_product(self.grid, names=self.names)
        )
        frame: pd.DataFrame = pandas.DataFrame(self._columns(), index=index)
        return frame

    def _columns(self) -> dict[str, Floats]:
        """Values of each point by name of the class."""
        if self.classes is None:
            named = {"effect": self.values.ravel()}
            if self.standard_error is not None:
                named["standard error"] = self.standard_error.ravel()
            return named
        n_classes = len(self.classes)
        columns = {}
        for label, values in zip(self.classes, self.values.reshape(-1, n_classes).T, strict=True):
            columns[str(label)] = values
        if self.standard_error is not None:
            errors = self.standard_error.reshape(-1, n_classes).T
            for label, values in zip(self.classes, errors, strict=True):
                columns[f"{label} standard error"] = values
        return columns

    def _printed(self) -> PrintedTable:
        points = " x ".join(str(len(axis)) for axis in self.grid)
        title = f"{self.kind} {_of(self.kind, self.names)}: {self.n_rows} rows, {points} points"
        columns = dict(list(self._columns().items())[: 2 * N_CLASSES_SHOWN])
        n_points = int(np.prod([len(axis) for axis in self.grid]))
        shown = np.unique(np.linspace(0, n_points - 1, min(N_SHOWN, n_points)).astype(int))
        mesh = np.meshgrid(*(np.arange(len(axis)) for axis in self.grid), indexing="ij")
        rows = [
            (
                ", ".join(
                    value_text(axis[place.ravel()[point]])
                    for axis, place in zip(self.grid, mesh, strict=True)
                ),
                *(rounded(float(column[point]), 4) for column in columns.values()),
            )
            for point in shown
        ]
        notes = (
            f"{self.n_below_zero} of {self.values.size} standard errors are not above the noise "
            "of the jackknife: grow more trees",
        )
        named = columns if self.classes is None else map(called, columns)
        header = (", ".join(self.names), *named)
        return PrintedTable(title, header, rows, notes if self.n_below_zero else ())


def _of(kind: str, names: tuple[str, ...]) -> str:
    return names[0] if kind == "effect along" else f"of {' and '.join(names)}"
