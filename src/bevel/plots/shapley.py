"""Shapley values drawn: how much each feature matters, how one prediction comes about, and all rows
as dots.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bevel.analysis.analysed_forest import PREDICTIONS, QUANTILES, check_count, check_place
from bevel.data.values import ordered, value_text
from bevel.errors import wrong_value
from bevel.plots.canvas import (
    COLOURS,
    FAINT,
    LONGEST_NAME,
    RULE,
    decimals_for,
    largest_of,
    panel,
    set_finding,
    text_width,
    write_values,
)
from bevel.printable import grouped, number, shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.shapley import ShapleyValues

__all__ = [
    "shapley_bars",
    "shapley_beeswarm",
    "shapley_waterfall",
]

UP, DOWN = COLOURS[0], COLOURS[1]
# Height of a bar, height around the bars, and width beside the names.
BAR_INCHES, FRAME_INCHES, AXES_INCHES = 0.3, 1.0, 4.4


def shapley_bars(result: "ShapleyValues", *, top: int = 15, ax: "Axes | None" = None) -> "Axes":
    """Bars of the mean absolute Shapley value of each feature, the largest on top.

    Parameters
    ----------
    result : ShapleyValues
        Result of `bevel.analysis.shapley_values`. For a classifier the mean is over classes too;
        for one class pass ``result.output(label)``.
    top : int, default=15
        Largest number of features.
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
    >>> ax = plots.shapley_bars(values)
    """
    check_count("top", top)
    importance = result.importances
    shown = np.argsort(-importance, kind="stable")[:top][::-1]
    names = shorten_names([result.names[f] for f in shown], LONGEST_NAME)
    width = AXES_INCHES + text_width(names)
    with panel(ax, "shapley_bars", width, FRAME_INCHES + BAR_INCHES * len(shown)) as axes:
        axes.barh(range(len(shown)), importance[shown], color=UP, height=0.72)
        axes.set_yticks(range(len(shown)), names)
        write_values(axes, importance[shown])
        axes.tick_params(axis="y", length=0)
        many = "quantiles" if result.output_name == QUANTILES else "classes"
        over = "" if result.classes is None else f", over all {many}"
        plain = result.output_name in (PREDICTIONS, QUANTILES)
        of = "" if plain else f", {result.output_name}"
        axes.set_xlabel(f"mean |Shapley value|{of}{over}")
        sure = np.zeros(len(shown), dtype=bool)
        finding = largest_of(names, importance[shown], sure)
        set_finding(axes, "Mean absolute Shapley values", finding)
        axes.locator_params(axis="x", nbins=6)
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.grid(axis="x", color=RULE, lw=0.6)
    return axes


def shapley_waterfall(
    result: "ShapleyValues", row: int = 0, *, top: int = 9, ax: "Axes | None" = None
) -> "Axes":
    """Draw the contributions to one prediction, from the mean of the background on.

    Parameters
    ----------
    result : ShapleyValues
        Result of `bevel.analysis.shapley_values`. Of a classifier the row's most probable class is
        drawn, of several quantiles the middle one; for another one pass ``result.output(label)``.
    row : int, default=0
        Index of the row among the explained ones.
    top : int, default=9
        Number of features to show; the others are one bar.
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
    >>> ax = plots.shapley_waterfall(values)
    """
    check_place("row", row, len(result.values))
    check_count("top", top)
    if result.classes is not None:
        best = int(result.predictions[row].argmax())
        middle = len(result.classes) // 2
        result = result.output(result.classes[middle if result.output_name == QUANTILES else best])
    labels, steps = _steps(result, row, top)
    width = AXES_INCHES + text_width(labels)
    with panel(ax, "shapley_waterfall", width, FRAME_INCHES + BAR_INCHES * len(steps)) as axes:
        base = float(result.base_values)
        ends = base + np.cumsum(steps)
        prediction = float(ends[-1])
        for x in (base, prediction):
            axes.axvline(x, color=FAINT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
        decimals = _decimals(result, steps)
        _draw_steps(axes, ends - steps, steps, decimals)
        axes.set_yticks(range(len(labels)), labels)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(-0.6, len(labels) - 0.4)
        axes.set_xlabel(result.output_name)
        axes.set_title(_title(result, prediction, base), loc="left")
        axes.set_xlim(*_window(np.append(ends, base), _texts(steps, decimals)))
        axes.locator_params(axis="x", nbins=6)
    return axes


def _title(result: "ShapleyValues", prediction: float, base: float) -> str:
    name = result.output_name[:1].upper() + result.output_name[1:]
    decimals = _decimals(result, np.array([prediction, base]))
    ends = [grouped(each, decimals).replace("-", "−") for each in (prediction, base)]
    return f"{name}: {ends[0]} ({ends[1]} on average)"


def _decimals(result: "ShapleyValues", numbers: Any) -> int:
    """Decimals of neighbouring numbers; probabilities have three."""
    most = 3 if result.output_name.startswith("probability") else 12
    return min(most, decimals_for(float(np.abs(numbers).max(initial=0.0))))


def _steps(result: "ShapleyValues", row: int, top: int) -> tuple[list[str], Any]:
    """Labels and heights of the bars from the bottom up, the largest on top."""
    values, data = result.values[row], result.data[row]
    order = np.argsort(-np.abs(values), kind="stable")
    top = top if len(order) > top + 1 else len(order)  # one other feature keeps its name
    names = shorten_names([result.names[f] for f in order[:top]], LONGEST_NAME)
    labels = [f"{name} = {_short(data[f])}" for name, f in zip(names, order[:top], strict=True)]
    steps = list(values[order[:top]])
    if len(order) > top:
        labels.append(f"{len(order) - top} other features")
        steps.append(values[order[top:]].sum())
    return labels[::-1], np.array(steps[::-1])


def _window(places: Any, texts: list[str]) -> tuple[float, float]:
    """Limits with room for the numbers beside the bars."""
    low, high = float(places.min()), float(places.max())
    width = text_width(texts, most=AXES_INCHES / 4)
    room = max(0.22, width / (AXES_INCHES - 2 * width)) * (high - low) if high > low else 1.0
    return low - room, high + room


def _short(value: object) -> str:
    """A value as it is in the table, unless it is long."""
    if isinstance(value, float | np.floating) and value == value:
        return number(float(value))
    return value_text(value)


def _texts(steps: Any, decimals: int) -> list[str]:
    """Signed numbers beside the bars."""
    texts = [f"{'+' if step >= 0.0 else ''}{grouped(step, decimals)}" for step in steps]
    return [text.replace("-", "−") for text in texts]


def _draw_steps(axes: "Axes", starts: Any, steps: Any, decimals: int) -> None:
    texts = _texts(steps, decimals)
    for place, (start, step, text) in enumerate(zip(starts, steps, texts, strict=True)):
        colour, hatch = (UP, "") if step >= 0 else (DOWN, "////")  # visible in grey
        axes.barh(
            place, step, left=start, color=colour, hatch=hatch, edgecolor="white", height=0.72, lw=0
        )
        end = start + step
        if place + 1 < len(steps):
            axes.plot([end, end], [place, place + 1], color=RULE, linewidth=0.9, zorder=0)
        axes.annotate(
            text,
            (end, place),
            xytext=(4 if step >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if step >= 0 else "right",
            va="center",
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},  # on top of dashed lines
        )


MAP = "cividis"  # ordered in grey and for colour-blind readers too
UNORDERED = COLOURS[1]
ROW_INCHES, DOTS_FRAME_INCHES, DOTS_AXES_INCHES = 0.38, 1.1, 5.2
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
    names = shorten_names([result.names[feature] for feature in shown], LONGEST_NAME)
    width = DOTS_AXES_INCHES + text_width(names)
    with panel(ax, "shapley_beeswarm", width, DOTS_FRAME_INCHES + ROW_INCHES * len(shown)) as axes:
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
        column = ordered(data)
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
