"""Features by themselves, the best of them, and those chosen one after the other."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bevel.analysis.analysed_forest import check_count
from bevel.plots.canvas import COLOURS, FAINT, RULE, digits, panels, set_finding, text_width
from bevel.printable import shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import ForwardSelection

__all__ = [
    "forward_selection",
]

LONGEST_NAME = 24


def forward_selection(
    found: "ForwardSelection", *, n_best: int = 10, ax: Any = None
) -> NDArray[Any]:
    """Draw the mean squared errors of a selection, as Figure 4.1 of Tomita's thesis.

    Left: each feature by itself, best first. Middle: the best of them, with their names; those that
    were chosen are dark. Right: the chosen ones, one after the other.

    Parameters
    ----------
    found : ForwardSelection
        Result of `bevel.analysis.forward_selection`, or one of the groups of `group_selections`.
    n_best : int, default=10
        Number of features in the middle.
    ax : matplotlib Axes, or three of them, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, shape (3,)

    Examples
    --------
    >>> from bevel import plots
    >>> from bevel.analysis import forward_selection
    >>> from bevel.datasets import biomarkers
    >>> X, y = biomarkers(random_state=0)
    >>> axes = plots.forward_selection(forward_selection(X, y))
    >>> axes[0].get_xlabel()
    'features, best first'
    """
    check_count("n_best", n_best)
    alone = found.squared_errors_alone
    order = np.argsort(alone, kind="stable")[: np.count_nonzero(~np.isnan(alone))]
    best = order[:n_best]
    names = shorten_names([found.names[feature] for feature in best], LONGEST_NAME)
    width = (
        10.0
        + text_width(names, 3.0)
        + text_width(shorten_names(found.chosen_names, LONGEST_NAME), 3.0)
    )
    with panels(ax, "forward_selection", (1, 3), (width, 3.8)) as grid:
        left, middle, right = grid.ravel()
        _draw_all(left, alone[order])
        _draw_best(middle, alone[best], names, np.isin(best, found.features))
        _draw_steps(right, found)
    axes: NDArray[Any] = grid.ravel()
    return axes


def _draw_all(axes: "Axes", errors: NDArray[np.float64]) -> None:
    axes.plot(np.arange(1, len(errors) + 1), errors, lw=1.4, color=COLOURS[0])
    axes.set(xlabel="features, best first", ylabel="mean squared error", ylim=(0.0, None))
    axes.grid(axis="y", color=RULE, lw=0.6)
    set_finding(axes, f"{len(errors)} features, each alone", longest=34)


def _draw_best(
    axes: "Axes", errors: NDArray[np.float64], names: list[str], chosen: NDArray[np.bool_]
) -> None:
    place = np.arange(len(errors))
    axes.barh(place, errors, color=[COLOURS[0] if mine else RULE for mine in chosen])
    axes.set_yticks(place, names)
    axes.invert_yaxis()
    axes.set(xlabel="mean squared error")
    set_finding(axes, "The best alone", "dark ones were chosen" if chosen.any() else "", 34)


def _draw_steps(axes: "Axes", found: "ForwardSelection") -> None:
    n = len(found.features)
    place = np.arange(n)
    axes.plot(found.squared_errors, place, lw=1.4, marker="o", color=COLOURS[0])
    for step, squared in enumerate(found.squared_errors):
        text = f"  {100 * found.errors[step]:.3g} % wrong"
        axes.annotate(text, (squared, step), va="center", color=FAINT, fontsize=9)
    names = shorten_names(found.chosen_names, LONGEST_NAME)
    added = [("+ " if step else "") + name for step, name in enumerate(names)]
    axes.set_yticks(place, added)
    most = float(found.squared_errors.max()) if n else 1.0
    axes.set(xlabel="mean squared error", xlim=(0.0, 1.6 * most), ylim=(max(n, 1) - 0.5, -0.5))
    axes.grid(axis="x", color=RULE, lw=0.6)
    finding = "none lowers the error"
    if n:
        first, last = digits(100 * found.error_without), digits(100 * found.errors[-1])
        finding = f"{first} % wrong with none, {last} % with all"
    set_finding(axes, "One after the other", finding, 34)
