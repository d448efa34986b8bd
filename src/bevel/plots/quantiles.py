"""Fan chart: nested bands of conditional quantiles, darker towards the middle."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.errors import wrong_value
from bevel.plots.canvas import COLOURS, INK, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import RowQuantiles

__all__ = ["fan_chart"]

# Shares of the band's colour in the outermost and the innermost band, distinct in grey too.
PALE, DARK = 0.22, 0.62


def fan_chart(
    result: "RowQuantiles",
    *,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw quantiles of rows as nested bands, with the targets as points.

    Parameters
    ----------
    result : RowQuantiles
        Result of `bevel.analysis.quantiles`. Symmetric levels, such as 0.05 and 0.95, bound a
        band; 0.5 is a line; others are thin lines.
    x : array-like of shape (n_rows,), default=None
        Horizontal position of each row, such as a feature. None: rows by ascending median.
    y : array-like of shape (n_rows,), default=None
        Targets to draw as points; None: those of `result`, if it has them.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        Save it with ``ax.figure.savefig(path)``.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import quantiles
    >>> from bevel.plots import fan_chart
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> ax = fan_chart(quantiles(forest, X, y))
    """
    n_rows = len(result.values)
    targets = result.target if y is None else _column("y", y, n_rows)
    place, order = _places(result, x)
    values = result.values[order]
    with panel(ax, "fan_chart") as axes:
        _draw_bands(axes, place, result, values)
        if targets is not None:
            axes.plot(
                place, targets[order], "o", ms=2.6, color=INK, mew=0, alpha=0.75, label="target"
            )
        axes.set_xlabel("rows, by ascending median" if x is None else _name_of(x))
        axes.set_ylabel("target")
        axes.margins(x=0.01)
        # Above the axes, since rows may be anywhere inside.
        key = axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=6, fontsize=9)
        finding = _finding(result, targets)
        key.set_title(finding)
        key.get_title().set(fontweight="bold", fontsize=10)
        key.set_alignment("left")
    return axes


def _name_of(x: ArrayLike) -> str:
    """Name of a column of a frame; empty for plain arrays."""
    name = getattr(x, "name", None)
    return name if isinstance(name, str) else ""


def _finding(result: "RowQuantiles", targets: NDArray[np.float64] | None) -> str:
    """Coverage of the widest band, in words."""
    if targets is None or not result.bands:
        return "Quantiles of rows"
    low, high = result.bands[0]
    share = 100 * (result.levels[high] - result.levels[low])
    known = result.known & ~np.isnan(targets)
    inside = (result.values[:, low] <= targets) & (targets <= result.values[:, high])
    covered = 100 * float(np.mean(inside[known])) if known.any() else float("nan")
    return f"The {share:.3g} % band covers {covered:.3g} % of the {np.sum(known):,} targets"


def _column(name: str, values: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n_rows,):
        required = f"{n_rows} numbers, one for each row"
        raise wrong_value(name, required, f"an array of shape {column.shape}", "Pass one each.")
    return column


def _places(
    result: "RowQuantiles", x: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Positions of the rows with quantiles, ascending, and their indices."""
    middle = result.values[:, np.abs(result.levels - 0.5).argmin()]
    key = middle if x is None else _column("x", x, len(middle))
    order = np.argsort(key, kind="stable")
    order = order[result.known[order]]
    return (np.arange(len(order), dtype=np.float64) if x is None else key[order]), order


def _draw_bands(
    axes: Any, place: NDArray[np.float64], result: "RowQuantiles", values: NDArray[np.float64]
) -> None:
    levels, bands = result.levels, result.bands
    for number, (low, high) in enumerate(bands):
        depth = number / max(1, len(bands) - 1)
        colour = _mixed(PALE + (DARK - PALE) * depth)
        share = f"{100 * (levels[high] - levels[low]):.3g} %"
        axes.fill_between(place, values[:, low], values[:, high], color=colour, lw=0, label=share)
    borders = {level for band in bands for level in band}
    for line in sorted(set(range(len(levels))) - borders):
        median = abs(levels[line] - 0.5) < 1e-9
        label = "median" if median else f"quantile {levels[line]:g}"
        axes.plot(place, values[:, line], color=COLOURS[0], lw=1.6 if median else 0.8, label=label)


def _mixed(share: float) -> tuple[float, ...]:
    """The bands' colour mixed with white."""
    from matplotlib.colors import to_rgb

    return tuple(1.0 - share * (1.0 - part) for part in to_rgb(COLOURS[0]))
