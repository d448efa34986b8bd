"""Plots in the form of scikit-learn's displays: computed and drawn in one call, and drawn again.

A display combines a function of `bevel.analysis` with one of `bevel.plots`.
"""

from typing import TYPE_CHECKING, Any, Self

from bevel.analysis import calibration, importance, principal_coordinates, shapley_values
from bevel.plots.accuracy import calibration as reliability
from bevel.plots.importance import importance_bars
from bevel.plots.proximity import proximity_map
from bevel.plots.shapley import shapley_bars, shapley_waterfall

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bevel.analysis import results

__all__ = ["ImportanceDisplay", "ProximityDisplay", "ReliabilityDisplay", "ShapleyDisplay"]


class _Display:
    """A result, and its last axes."""

    ax_: "Axes"
    figure_: "Figure"

    def _drawn(self, axes: Any) -> Self:
        self.ax_, self.figure_ = axes, axes.figure
        return self


class ImportanceDisplay(_Display):
    """Importances of features or directions as bars.

    Parameters
    ----------
    result : Importance or Directions
        Result of `bevel.analysis.importance`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Last axes and figure.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.plots import ImportanceDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(forest, X, y, random_state=0)
    >>> display.result.top(1).names
    ('petal width (cm)',)
    """

    def __init__(self, *, result: "results.Importance | results.Directions") -> None:
        self.result = result

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        kind: str | None = None,
        n_top: int = 20,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Measure importances and draw them.

        Parameters
        ----------
        estimator : ObliqueForestClassifier or ObliqueForestRegressor
            A fitted forest.
        X, y : array-like, default=None
            Rows and targets; the rows of the fit in their order, unless ``out_of_bag=False``.
        kind : str, default=None
            Kind of `bevel.analysis.importance`; None: "permutation" with X and y, "gini" without.
        n_top : int, default=20
            Largest number of bars.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None makes a new figure.
        **options
            Options of the kind.
        """
        chosen = kind or ("gini" if X is None else "permutation")
        result = importance(estimator, chosen, X, y, **options)
        return cls(result=result).plot(n_top=n_top, ax=ax)

    def plot(self, *, n_top: int = 20, ax: "Axes | None" = None) -> Self:
        """Draw the largest importances."""
        return self._drawn(importance_bars(self.result, n_top=n_top, ax=ax))


class ReliabilityDisplay(_Display):
    """Observed shares against predicted probabilities of a classifier.

    Parameters
    ----------
    result : Calibration
        Result of `bevel.analysis.calibration`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Last axes and figure.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.plots import ReliabilityDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> display = ReliabilityDisplay.from_estimator(forest, X, y)
    """

    def __init__(self, *, result: "results.Calibration") -> None:
        self.result = result

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Compute the curve and draw it; options are those of `bevel.analysis.calibration`."""
        return cls(result=calibration(estimator, X, y, **options)).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw the curve."""
        return self._drawn(reliability(self.result, ax=ax))


class ProximityDisplay(_Display):
    """Rows in the first two principal coordinates of their proximities.

    Parameters
    ----------
    result : PrincipalCoordinates
        Result of `bevel.analysis.principal_coordinates`.
    labels : array-like of shape (n_rows,), default=None
        Classes or numbers of the rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Last axes and figure.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.plots import ProximityDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> display = ProximityDisplay.from_estimator(forest, X, y)
    """

    def __init__(self, *, result: "results.PrincipalCoordinates", labels: Any = None) -> None:
        self.result, self.labels = result, labels

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: "Axes | None" = None, **options: Any
    ) -> Self:
        """Place the rows and draw them; options are those of `principal_coordinates`."""
        found = principal_coordinates(estimator, X, y, **options)
        return cls(result=found, labels=y).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw the rows."""
        return self._drawn(proximity_map(self.result, labels=self.labels, ax=ax))


class ShapleyDisplay(_Display):
    """Contributions of features to predictions: of one row, or on average.

    Parameters
    ----------
    result : ShapleyValues
        Result of `bevel.analysis.shapley_values`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Last axes and figure.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.plots import ShapleyDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> display = ShapleyDisplay.from_estimator(forest, X[::15], background=X)
    """

    def __init__(self, *, result: "results.ShapleyValues") -> None:
        self.result = result

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        background: Any,
        *,
        row: int | None = None,
        ax: "Axes | None" = None,
        **options: Any,
    ) -> Self:
        """Explain rows and draw one of them, or the mean over all if `row` is None.

        Options are those of `bevel.analysis.shapley_values`.
        """
        result = shapley_values(estimator, X, background, **options)
        return cls(result=result).plot(row=row, ax=ax)

    def plot(self, *, row: int | None = None, ax: "Axes | None" = None) -> Self:
        """Draw the row, or the mean over all if it is None."""
        if row is None:
            return self._drawn(shapley_bars(self.result, ax=ax))
        return self._drawn(shapley_waterfall(self.result, row, ax=ax))
