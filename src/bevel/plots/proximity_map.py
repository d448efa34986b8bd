"""Map of rows by proximity: rows that share leaves are near each other."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bevel.analysis.results import PrincipalCoordinates
from bevel.errors import wrong_value
from bevel.plots.canvas import panel, wrapped
from bevel.plots.row_groups import check_coordinates, draw_groups, read_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["proximity_map"]

MANY_ROWS, SMALL_DOT, DOT = 2000, 12.0, 26.0  # rows; areas of dots for more, and for fewer


def proximity_map(
    result: PrincipalCoordinates, *, labels: ArrayLike | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw rows in their first two principal coordinates.

    Rows that share leaves in many trees are near each other. For more coordinates, or two forests
    side by side, see `proximity_pairs`.

    Parameters
    ----------
    result : PrincipalCoordinates
        Result of `bevel.analysis.principal_coordinates`.
    labels : array-like of shape (n_rows,), default=None
        Classes, by colour and marker, or numbers, by shade if there are more than eight.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import principal_coordinates
    >>> from bevel.plots import proximity_map
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> ax = proximity_map(principal_coordinates(forest, X, y), labels=y)
    """
    check_coordinates("result", result)
    n, d = result.coordinates.shape
    if d < 2:
        remedy = "Ask principal_coordinates for n_components=2."
        raise wrong_value("result", "coordinates of two components or more", d, remedy)
    drawn = read_groups(labels, n)
    with panel(ax, "proximity_map", 6.0, 4.6) as axes:
        draw_groups(axes, result.coordinates[:, :2], drawn, DOT if n <= MANY_ROWS else SMALL_DOT)
        axes.set(xlabel=_side(result, 0), ylabel=_side(result, 1))
        axes.set_title(f"Proximity of {n:,} rows", loc="left")
        if not isinstance(drawn, list):
            figure: Any = axes.figure
            name = wrapped(str(getattr(labels, "name", None) or ""))
            figure.colorbar(axes.collections[-1], ax=axes, label=name).outline.set_visible(False)
        elif len(drawn) > 1:
            place: Any = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
            axes.legend(markerscale=1.4, handletextpad=0.1, **place)
    return axes


def _side(result: PrincipalCoordinates, component: int) -> str:
    share = 100.0 * float(np.asarray(result.explained)[component])
    return f"principal coordinate {component + 1} ({share:.1f} % of the variation)"
