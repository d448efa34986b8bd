"""Result of Shapley values: arrays that add up to predictions, tables, and shap's own class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.output_names import PREDICTIONS, QUANTILES, name_of_output
from bevel.analysis.printing import PrintedResult, PrintedTable
from bevel.errors import join_names, wrong_value
from bevel.extras import import_optional

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ShapleyValues", "column_of_class"]

N_SHOWN = 10  # features in the printed table


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues(PrintedResult):
    """Contributions of each feature to each prediction.

    Attributes
    ----------
    values : ndarray of shape (n, p), or (n, p, K) of a classifier with K classes
        Shapley values. ``base_values + values.sum(axis=1)`` is the prediction of each row: its
        class probabilities (shares of votes when ``voting="hard"``) or its value.
    base_values : ndarray of shape () or (K,)
        Mean prediction of the background, by each tree for its rows.
    data : ndarray of shape (n, p)
        The rows, in the user's units.
    names : tuple of str
        Names of the features.
    classes : ndarray or None
        Labels of the classes; None in regression.
    std : ndarray of the shape of `values`, or None
        Standard errors, where background rows or orders of features were drawn; None if all values
        are exact.
    sampled : float
        Share of the games (a row, a background row and a tree) that were sampled.
    n_background : int
        Number of background rows of each tree; 0 if values are path-dependent.
    output_name : str
        Name of the sum of the values, for labels.
    n_background_given : int or None
        Number of background rows that they were drawn from; None: not known.
    """

    values: Floats
    base_values: Floats
    data: npt.NDArray[Any]
    names: tuple[str, ...]
    classes: npt.NDArray[Any] | None
    std: Floats | None
    sampled: float
    n_background: int
    output_name: str = PREDICTIONS
    n_background_given: int | None = None

    @property
    def predictions(self) -> Floats:
        """Sum of base and values: the forest's prediction of each row."""
        return np.asarray(self.base_values + self.values.sum(axis=1))

    @property
    def mean_absolute(self) -> Floats:
        """Mean over rows of the absolute values, of shape (p,) or (p, K)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    @property
    def importances(self) -> Floats:
        """Mean absolute value of each feature, over rows and classes."""
        mean = self.mean_absolute
        return mean if self.classes is None else np.asarray(mean.mean(axis=1))

    def output(self, label: Any) -> ShapleyValues:
        """The values of one class only, in the shape of a regression.

        Parameters
        ----------
        label : object
            One of `classes`.
        """
        column = column_of_class(self.classes, label)
        std = None if self.std is None else self.std[:, :, column]
        return replace(
            self,
            values=self.values[:, :, column],
            base_values=self.base_values[column],
            classes=None,
            std=std,
            output_name=name_of_output(self.output_name, label),
        )

    def to_pandas(self) -> pd.DataFrame:
        """Values as a data frame, a row for each row and a column for each feature.

        The columns of a classifier are pairs of a class and a feature. Needs pandas.
        """
        pandas: Any = import_optional("pandas", needed_by="to_pandas", install="pandas")
        columns: Any = list(self.names)
        values = self.values
        if self.classes is not None:
            pairs = [self.classes, self.names]
            columns = pandas.MultiIndex.from_product(pairs, names=["class", "feature"])
            values = values.transpose(0, 2, 1).reshape(len(values), -1)
        frame: pd.DataFrame = pandas.DataFrame(values, columns=columns)
        return frame

    def to_shap(self) -> Any:
        """The values as a ``shap.Explanation``, for the plots of shap. Needs shap.

        shap plots one output: use ``values.output(label).to_shap()`` of a classifier.
        """
        shap = import_optional("shap", needed_by="to_shap", install="shap")
        shape = (len(self.values), *self.base_values.shape)
        return shap.Explanation(
            values=self.values,
            base_values=np.broadcast_to(self.base_values, shape).copy(),
            data=self.data,
            feature_names=list(self.names),
            output_names=None if self.classes is None else [str(c) for c in self.classes],
            error_std=self.std,
        )

    def _printed(self) -> PrintedTable:
        importance = self.importances
        order = np.argsort(-importance, kind="stable")[:N_SHOWN]
        rows = [(self.names[feature], f"{importance[feature]:.5g}") for feature in order]
        hidden = len(self.names) - len(order)
        more = (f"... and {hidden} more features",) if hidden > 0 else ()
        return PrintedTable(self._title(), ("feature", "mean |value|"), rows, more)

    def _title(self) -> str:
        n, p = self.values.shape[:2]
        of_classes = "" if self.classes is None else f", {self._count()}"
        given = self.n_background_given
        if self.n_background == 0:
            against = "path-dependent"
        elif given is None or given == self.n_background:
            against = f"against {self.n_background} background rows"
        else:
            against = f"against {self.n_background} of {given} background rows per tree"
        if self.sampled > 0.0:
            against += f", {100 * self.sampled:.3g} % of the games sampled"
        error = ", exact" if self.std is None else f", standard error {self.std.mean():.2g}"
        return f"Shapley values: {n} rows, {p} features{of_classes}, {against}{error}"

    def _count(self) -> str:
        assert self.classes is not None
        nouns = "quantiles" if self.output_name == QUANTILES else "classes"
        return f"{len(self.classes)} {nouns}"


def column_of_class(classes: npt.NDArray[Any] | None, label: Any) -> int:
    """Position of a class among those of a classifier."""
    if classes is None:
        raise wrong_value(
            "The class of an output",
            "asked of a classifier's values",
            label,
            "These values have one output; use them as they are.",
        )
    found = np.flatnonzero(classes == label)
    if len(found) != 1:
        remedy = f"The classes are {join_names([str(c) for c in classes])}."
        raise wrong_value("The class of an output", "one of the fit", label, remedy)
    return int(found[0])
