"""Shapley values of many rows as dots, which show size, sign and spread."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bevel.analysis.checks import check_count
from bevel.analysis.output_names import QUANTILES
from bevel.errors import wrong_value
from bevel.plots.bars import shorten_name
from bevel.plots.canvas import COLOURS, FAINT, RULE, panel, text_width
from bevel.plots.findings import largest_of, set_finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.shapley.result import ShapleyValues

__all__ = ["shapley_beeswarm"]

MAP = "cividis"  # ordered in grey and for colour-blind readers too
UNORDERED = COLOURS[1]
ROW_INCHES, FRAME_INCHES, AXES_INCHES = 0.38, 1.1, 5.2
N_BINS, LANE = 90, 0.8  # horizontal bins of a pile; largest height of a pile


def shapley_beeswarm(
    result: "ShapleyValues", *, top: int = 12, label: Any = None, ax: "Axes | None" = None
) -> "Axes":
    """A dot for each row and feature at its Shapley value, coloured by the feature's value.

    Bars show the importance of a feature; dots also show the effect of its values, and whether
    a few rows or all of them are affected. This is Lundberg and Lee's summary plot.

    Parameters
    ----------
    result : ShapleyValues
        Values of several rows, from `bevel.analysis.shapley_values`.
    top : int, default=12
        Largest number of features, with the largest mean absolute value on top.
    label : label of a class, default=None
        Class to explain; None: the last one, which of two is the second, and the middle
        one of quantiles.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        Save with ``ax.figure.savefig(path)``.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> values = analysis.shapley_values(forest, X[::15], background=X)
    >>> ax = plots.shapley_beeswarm(values)
    """
    check_count("top", top)
    if result.classes is not None:
        of_quantiles = result.output_name == QUANTILES
        shown_class = result.classes[len(result.classes) // 2 if of_quantiles else -1]
        result = result.output(shown_class if label is None else label)
    elif label is not None:
        remedy = "Leave it out, or pass values of a classifier."
        raise wrong_value("label", "None for values of one output", label, remedy)
    importance = np.abs(result.values).mean(axis=0)
    shown = np.argsort(-importance, kind="stable")[:top]
    names = [shorten_name(result.names[feature]) for feature in shown]
    width = AXES_INCHES + text_width(names)
    with panel(ax, "shapley_beeswarm", width, FRAME_INCHES + ROW_INCHES * len(shown)) as axes:
        edge = float(np.abs(result.values[:, shown]).max(initial=0.0)) or 1.0
        axes.axvline(0.0, color=FAINT, lw=0.8, zorder=0)
        for place, feature in enumerate(shown):
            values = result.values[:, feature]
            heights = place + _piled(values, edge)
            _draw_row(axes, values, heights, result.data[:, feature])
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", color=RULE, lw=0.6)
        axes.locator_params(axis="x", nbins=6)
        axes.set_xlabel(f"Shapley value: change of the {result.output_name}")
        sure = np.zeros(len(shown), dtype=bool)
        finding = largest_of(names, importance[shown], sure)
        set_finding(axes, f"Shapley values of {len(result.values):,} rows", finding)
        _key(axes)
    return axes


def _piled(values: NDArray[np.float64], edge: float) -> NDArray[np.float64]:
    """Heights of dots around zero: dots at the same position are stacked."""
    place = np.round((values + edge) / (2.0 * edge) * N_BINS).astype(np.int64)
    order = np.argsort(place, kind="stable")
    ranks = np.empty(len(values))
    _, first, count = np.unique(place[order], return_index=True, return_counts=True)
    ranks[order] = np.arange(len(values)) - np.repeat(first, count)
    side = np.where(ranks % 2 == 0, 1.0, -1.0) * np.ceil(ranks / 2.0)
    step = min(0.09, LANE / max(float(count.max(initial=1)), 1.0))
    return side * step


def _draw_row(
    axes: "Axes", values: NDArray[np.float64], heights: NDArray[np.float64], data: Any
) -> None:
    """Draw the dots of one feature, coloured by the rank of its value; orange without an order."""
    shade = _ranks(data)
    style: dict[str, Any] = {"s": 13, "linewidths": 0, "zorder": 3}
    known = ~np.isnan(shade)
    axes.scatter(values[~known], heights[~known], color=UNORDERED, **style)
    axes.scatter(
        values[known], heights[known], c=shade[known], cmap=MAP, vmin=0.0, vmax=1.0, **style
    )


def _ranks(data: Any) -> NDArray[np.float64]:
    """Ranks of a column from 0 to 1; NaN for labels and missing values."""
    try:
        column = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        return np.full(len(data), np.nan)
    distinct, place = np.unique(column, return_inverse=True)
    most = max(int(np.count_nonzero(~np.isnan(distinct))) - 1, 1)
    return np.where(np.isnan(column), np.nan, place / most)


def _key(axes: "Axes") -> None:
    """Explain dark and pale dots beside them."""
    from matplotlib.cm import ScalarMappable

    figure: Any = axes.figure
    bar = figure.colorbar(ScalarMappable(cmap=MAP), ax=axes, aspect=40, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_ticks([0.0, 1.0], labels=["low", "high"])
    bar.ax.tick_params(length=0)
    bar.set_label("value of the feature (orange: a label, or missing)", fontsize=9)
