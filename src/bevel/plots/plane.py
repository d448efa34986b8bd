"""Predictions of a model of two features over the plane, shared by several plots."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.errors import SeveralOutputsError, join_names, wrong_value
from bevel.plots.canvas import INK, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CLASS_COLOURS",
    "Window",
    "check_classes",
    "draw_points",
    "draw_regions",
    "feature_names",
    "grid_rows",
    "palette",
    "read_labels_of",
    "read_points",
    "window_of",
]

# Okabe and Ito's palette, in an order whose neighbours differ for colour-blind readers.
CLASS_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
TINT = 0.62  # share of white mixed into the regions, so that points stand out on them
RESOLUTION = 500  # pixels along each side of a panel


class Window(NamedTuple):
    """The visible part of the plane, by its corners."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top."""
        (left, bottom), (right, top) = self
        return float(left), float(right), float(bottom), float(top)

    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coordinates at which the plane is evaluated."""
        across = np.linspace(self.low[0], self.high[0], RESOLUTION)
        return across, np.linspace(self.low[1], self.high[1], RESOLUTION)


def read_points(X: ArrayLike, caller: str) -> NDArray[np.float64]:
    """Points of the plane; raises unless they have two features."""
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{caller} draws two features that are numbers; got X with other values ({error}). "
            "Choose numeric columns and train the classifiers on them."
        ) from error
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{caller} draws two features; X has shape {points.shape}. "
            "Choose two columns and train the classifiers on them."
        )
    return points


def check_classes(n_classes: int, caller: str) -> None:
    """Raise if there are more classes than colours."""
    if n_classes > len(CLASS_COLOURS):
        raise ValueError(
            f"{caller} has colours for {len(CLASS_COLOURS)} classes; y has {n_classes}. "
            "Draw fewer classes."
        )


def palette(n_classes: int) -> NDArray[np.float64]:
    """Colours of the classes, as red, green and blue."""
    from matplotlib.colors import to_rgb

    return np.array([to_rgb(colour) for colour in CLASS_COLOURS[:n_classes]])


def window_of(points: NDArray[np.float64]) -> Window:
    """Window around all points, with a margin."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    extent = high - low
    margin = 0.03 * np.where(extent > 0.0, extent, 1.0)
    return Window(low - margin, high + margin)


def grid_rows(window: Window, X: Any, model: Any) -> Any:
    """All grid points of a window as rows, in a frame like X if the model has feature names."""
    if (n_outputs := getattr(model, "n_outputs_", 1)) > 1:
        raise SeveralOutputsError(
            f"A picture of predictions is of one target; got a model of {n_outputs} outputs. Draw "
            "one of them: forest.output('y0'), or its name."
        )
    rows = np.stack(np.meshgrid(*window.axes()), axis=-1).reshape(-1, 2)
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(X, "columns"):
        return rows
    if list(names) != list(X.columns):  # the axes of the plot would be swapped
        required = f"the columns of the fit in their order ({join_names(list(names))})"
        got = join_names([str(name) for name in X.columns])
        raise wrong_value("X", required, got, "Pass X[model.feature_names_in_].")
    return type(X)({name: rows[:, place] for place, name in enumerate(names)})


def feature_names(X: Any) -> list[str]:
    """Names of the two columns of a frame; empty for an array."""
    names = [str(name) for name in getattr(X, "columns", ())]
    return names if len(names) == 2 else []


def read_labels_of(points: NDArray[np.float64], y: ArrayLike) -> NDArray[Any]:
    """Targets of the points; raises unless there is one for each."""
    labels = np.asarray(y)
    if labels.shape != (len(points),):
        required = f"one target for each of the {len(points)} rows of X"
        raise wrong_value("y", required, f"shape {labels.shape}", "Pass X and y of the same rows.")
    return labels


def draw_regions(
    axes: "Axes", shares: NDArray[np.float64], window: Window, colours: NDArray[np.float64]
) -> None:
    """Colour each point by its class shares, and draw a line where the class changes."""
    shares = shares.reshape(RESOLUTION, RESOLUTION, -1)
    mixed = (1.0 - TINT) * (shares @ colours) + TINT
    axes.imshow(mixed, origin="lower", extent=window.extent, aspect="auto", zorder=0)
    for lead in _leads(shares):
        if lead.min() < 0.0 < lead.max():
            axes.contour(*window.axes(), lead, levels=[0.0], colors=INK, linewidths=1.4, zorder=2)


def _leads(shares: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Share of each class minus the best other one: zero on the border of its region."""
    n_classes = shares.shape[-1]
    drawn = range(n_classes if n_classes > 2 else n_classes - 1)  # two classes share one border
    return [shares[..., label] - np.delete(shares, label, axis=-1).max(axis=-1) for label in drawn]


def draw_points(
    axes: "Axes",
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    colours: NDArray[np.float64],
    names: Sequence[str] = (),
) -> None:
    """Draw points in the colour and shape of their class, with names for a legend."""
    for label, colour in enumerate(colours):
        mine = points[labels == label]
        axes.scatter(
            mine[:, 0],
            mine[:, 1],
            s=20,
            marker=MARKERS[label],  # redundant with the colour
            color=colour,
            edgecolors="white",
            linewidths=0.6,
            zorder=3,
            label=names[label] if names else None,
        )
