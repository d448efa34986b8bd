"""Rows as points: classes by colour and marker, numbers by shade."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.analysis.results import PrincipalCoordinates
from bevel.errors import wrong_type, wrong_value
from bevel.plots.canvas import COLOURS, MARKERS, RULE, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Groups", "check_coordinates", "draw_groups", "read_groups"]

Groups = list[tuple[str, NDArray[np.bool_]]]
MOST_GROUPS = len(COLOURS)


def check_coordinates(name: str, given: object) -> None:
    """Raise unless they are principal coordinates."""
    if not isinstance(given, PrincipalCoordinates):
        remedy = "Pass principal_coordinates(forest, X, y)."
        raise wrong_type(name, "principal coordinates of rows", given, remedy)


def read_groups(labels: ArrayLike | None, n: int) -> Groups | NDArray[np.float64]:
    """Groups of rows by label, or numbers to shade by."""
    if labels is None:
        return [("", np.ones(n, bool))]
    values = np.asarray(labels)
    if values.shape != (n,):
        raise wrong_value("labels", f"one for each of the {n} rows", values.shape, "Pass y.")
    distinct = np.unique(values)
    if len(distinct) <= MOST_GROUPS:
        return [(wrapped(str(label), 24), values == label) for label in distinct]
    if values.dtype.kind not in "fiu":
        required = f"numbers, or at most {MOST_GROUPS} classes"
        raise wrong_value("labels", required, f"{len(distinct)} classes", "Join classes.")
    return values.astype(np.float64)


def draw_groups(
    axes: "Axes",
    points: NDArray[np.float64],
    drawn: Groups | NDArray[np.float64],
    size: float = 18.0,
) -> None:
    """Draw points of the plane, with lines through zero; `size` is the area of a dot."""
    style: dict[str, Any] = {"s": size, "linewidths": 0.4, "edgecolors": "white", "alpha": 0.85}
    axes.axhline(0.0, color=RULE, linewidth=0.8, zorder=0)
    axes.axvline(0.0, color=RULE, linewidth=0.8, zorder=0)
    if not isinstance(drawn, list):
        axes.scatter(points[:, 0], points[:, 1], c=drawn, cmap="cividis", **style)
        return
    for i, (label, mine) in enumerate(drawn):
        style |= {"color": COLOURS[i], "marker": MARKERS[i]}
        axes.scatter(points[mine, 0], points[mine, 1], label=label, **style)
    axes.margins(0.08)
