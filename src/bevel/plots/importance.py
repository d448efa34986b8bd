"""Importances as bars with their spread; the best directions as a heat map (SPORF, Figure 4)."""

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bevel.analysis.analysed_forest import check_count
from bevel.analysis.results import Directions, ErrorImportance, Importance, ImportanceTest
from bevel.errors import wrong_type, wrong_value
from bevel.plots.canvas import (
    COLOURS,
    FAINT,
    INK,
    LONGEST_NAME,
    RULE,
    largest_of,
    panel,
    set_finding,
    shorten_sum,
    text_width,
    value_texts,
    write_values,
)
from bevel.printable import shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["importance_bars", "top_projections"]

LONGEST_LINE = 56  # characters
NO_BREAK = "\N{NO-BREAK SPACE}"
FEW_FEATURES, MAX_FEATURES = 12, 30  # of a heat map: always shown; largest number shown
BAR_HEIGHT, CELL, SHARES_HEIGHT = 0.27, 0.42, 1.1  # inches
AXES_WIDTH, FRAME_HEIGHT = 4.6, 1.15  # inches beside the names, and above and below the bars
PALE = "#a9cbe2"
MIN_TITLED, LONGEST_FINDING = 9, 40  # columns of a heat map; characters of a direction
NORMAL_95 = 1.959964
SIGNIFICANT = 0.05  # largest corrected p-value
SIGNS = {"rises": "▲", "falls": "▼", "mixed": "▲▼"}


def importance_bars(
    result: Importance | Directions, *, n_top: int = 20, ax: "Axes | None" = None
) -> "Axes":
    """Draw the largest importances as bars, with lines that show their uncertainty.

    Lines of permutation and negation importance are intervals of 95 %, and bars whose interval
    includes zero are pale. Those of other kinds are one standard deviation over trees, or over
    repeats, to each side. Bars without lines have their value beside them; those of
    `importance_test` have their corrected p-value, and are pale where it is above 0.05.

    Parameters
    ----------
    result : Importance or Directions
        Result of `bevel.analysis.importance`.
    n_top : int, default=20
        Largest number of bars.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Save its figure with ``ax.figure.savefig(path)``.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import importance
    >>> from bevel.plots import importance_bars
    >>> from sklearn.datasets import load_iris
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(*load_iris(return_X_y=True))
    >>> ax = importance_bars(importance(forest, "gini"))
    """
    check_count("n_top", n_top)
    if not isinstance(result, Importance | Directions):
        remedy = "Pass what bevel.analysis.importance returns."
        raise wrong_type("result", "an Importance or Directions", result, remedy)
    if isinstance(result, Importance):
        result = result.in_percent()
    bars = _bars(result, n_top)
    place = np.arange(len(bars.values))
    labels = _labels(result, bars, n_top)
    width = AXES_WIDTH + text_width(bars.names)
    with panel(ax, "importance_bars", width, FRAME_HEIGHT + BAR_HEIGHT * len(place)) as axes:
        drawn = _within_sight(bars.values)
        colours = np.where(bars.doubtful, PALE, COLOURS[0])
        axes.barh(place, drawn, height=0.72, color=colours.tolist())
        for endless in np.flatnonzero(np.isinf(bars.values) & (labels is None)).tolist():
            axes.text(drawn[endless], endless, " ∞", va="center", color=INK)
        if bars.reach is not None:
            _draw_whiskers(axes, bars)
        elif len(place) and labels is None:
            write_values(axes, bars.values)
        axes.set_yticks(place, bars.names)
        axes.set_ylim(len(place) - 0.4, -0.6)
        if labels is not None:
            _write_labels(axes, labels, drawn if bars.reach is None else drawn + bars.reach, drawn)
        axes.axvline(0.0, color=FAINT, lw=0.8)
        axes.set_xlabel(_explain(result, bars))
        finding = largest_of(bars.names, bars.values, bars.doubtful)
        set_finding(axes, result.heading, finding)
        axes.grid(axis="x", color=RULE, lw=0.6)
        axes.locator_params(axis="x", nbins=6)
        axes.tick_params(axis="y", length=0)
    return axes


def top_projections(result: Directions, *, n_top: int = 10, ax: "Axes | None" = None) -> "Axes":
    """Draw the weights of the most important directions as a heat map, importances above it.

    One column for each direction, best first; one row for each feature. Where there are many
    features, those without a weight are left out. Each cell shows its weight.

    Parameters
    ----------
    result : Directions
        Result of ``importance(forest, "projection")``.
    n_top : int, default=10
        Largest number of directions.
    ax : matplotlib.axes.Axes, optional
        Axes of the heat map, with the bars above it; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Axes of the heat map. Save its figure with ``ax.figure.savefig(path)``.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import importance
    >>> from bevel.plots import top_projections
    >>> from sklearn.datasets import load_iris
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(*load_iris(return_X_y=True))
    >>> ax = top_projections(importance(forest, "projection"))
    """
    check_count("n_top", n_top)
    if not isinstance(result, Directions):
        remedy = 'Pass importance(forest, "projection").'
        raise wrong_type("result", "Directions", result, remedy)
    if len(result) == 0:
        got = "a forest without splits"
        raise wrong_value("result", "made of at least one direction", got, "Draw another forest.")
    best = result.top(n_top)
    weight = best.dense()
    shown = _features_to_show(weight)
    weight = weight[:, shown].T
    names = shorten_names([best.names[feature] for feature in shown], LONGEST_NAME)
    width = 0.6 + text_width(names) + CELL * len(best)
    height = 1.0 + SHARES_HEIGHT + CELL * len(shown) * 0.75
    with panel(ax, "top_projections", width, height) as axes:
        edges = [np.arange(size + 1) - 0.5 for size in weight.shape]
        mesh = axes.pcolormesh(edges[1], edges[0], weight, cmap="PuOr", vmin=-1.9, vmax=1.9)
        mesh.set_zorder(0)  # below the lines between cells; pale colours, with text on them
        axes.invert_yaxis()
        _write_weights(axes, weight)
        axes.set_yticks(np.arange(len(shown)), names)
        axes.set_xticks(np.arange(len(best)), [str(number + 1) for number in range(len(best))])
        axes.set_xlabel("direction, by importance")
        axes.tick_params(length=0)
        _rule_cells(axes, weight.shape)
        above = _draw_shares(axes, best)
        words = [shorten_sum(each, LONGEST_FINDING) for each in best.words]
        finding = largest_of(words, best.share, np.zeros(len(best), dtype=bool))
        if len(best) >= MIN_TITLED:  # fewer columns leave no room for a title
            set_finding(above, result.heading, finding)
    return axes


class _Bars(NamedTuple):
    """Bars to draw, best first: `reach` of the whiskers, and whether they reach zero."""

    names: list[str]
    values: NDArray[np.float64]
    reach: NDArray[np.float64] | None
    doubtful: NDArray[np.bool_]


def _bars(result: Importance | Directions, n_top: int) -> _Bars:
    """Names, values and whiskers of the largest importances.

    Directions have no whiskers: most trees have no split along a given one.
    """
    best: Any = result.top(n_top)
    sure = np.zeros(len(best), dtype=bool)
    if isinstance(best, Directions):
        return _Bars([shorten_sum(words) for words in best.words], best.share, None, sure)
    names = shorten_names(best.names, LONGEST_NAME)
    if isinstance(best, ImportanceTest):
        return _Bars(names, best.values, None, ~(best.corrected <= SIGNIFICANT))
    if not isinstance(best, ErrorImportance) or np.isnan(best.standard_error).all():
        return _Bars(names, best.values, best.std, sure)
    reach = NORMAL_95 * best.standard_error
    return _Bars(names, best.values, reach, ~(np.abs(best.values) > reach))


def _draw_whiskers(axes: "Axes", bars: _Bars) -> None:
    """Lines across the ends of bars; they end at zero where no importance is negative."""
    low, high = bars.values - bars.reach, bars.values + bars.reach  # type: ignore[operator]
    low = low if (bars.values < 0.0).any() or bars.doubtful.any() else np.maximum(low, 0.0)
    place = np.arange(len(low))
    # White on a dark bar.
    on_bar = np.flatnonzero(~bars.doubtful & (bars.values > 0.0))
    axes.hlines(place, low, high, color=INK, lw=1.2, zorder=3)
    inside = np.maximum(low, 0.0)[on_bar], bars.values[on_bar]
    axes.hlines(on_bar, *inside, color="white", lw=1.2, zorder=4)


def _labels(result: Importance | Directions, bars: _Bars, n_top: int) -> list[str] | None:
    """Text behind each bar: its p-value or value, and the sign of the feature's effect."""
    if isinstance(result, Directions):
        return None
    best = result.top(n_top)
    if best.direction is None and not isinstance(best, ImportanceTest):
        return None
    signs = [_sign(best, number) for number in range(len(best))]
    if isinstance(best, ImportanceTest):
        before = [_p_value(p_value) for p_value in best.corrected.tolist()]
    elif bars.reach is None and best.effect is None:
        numbers = zip(value_texts(bars.values), bars.values, strict=True)
        before = ["∞" if np.isinf(value) else text for text, value in numbers]
    else:
        return signs
    return [f"  {text}{sign}" for text, sign in zip(before, signs, strict=True)]


def _write_labels(
    axes: "Axes", labels: list[str], ends: NDArray[np.float64], drawn: NDArray[np.float64]
) -> None:
    ends = np.maximum(np.where(np.isfinite(ends), ends, drawn), 0.0)
    for number, label in enumerate(labels):
        if label.strip():
            axes.annotate(
                label.strip(),
                (ends[number], number),
                (5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                color=INK,
            )
    widest = max(map(len, labels), default=0)
    axes.set_xlim(right=float(ends.max(initial=0.0)) * (1.0 + 0.022 * widest) or 1.0)


def _p_value(p_value: float) -> str:
    return f"p = {p_value:.2g}" if p_value >= 0.001 else "p < 0.001"


def _sign(best: Importance, number: int) -> str:
    """Sign of the effect of one feature, its size if it is known, and its class."""
    word = "" if best.direction is None else best.direction[number]
    effect = None if best.effect is None else float(best.effect[number])
    if effect is not None and not (np.isfinite(effect) and effect != 0.0):
        return ""
    size = "" if effect is None else f" {effect:+.2g}".replace("-", "−")
    of = "" if best.effect_of is None else f" {best.effect_of[number]}"
    if effect is not None and word != "mixed":
        word = "rises" if effect > 0 else "falls"
    return f"  {SIGNS[word]}{size}{of}" if word else ""


def _within_sight(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values, with infinite ones moved slightly beyond the largest of the others."""
    largest = np.max(values, where=np.isfinite(values), initial=0.0)
    return np.where(np.isposinf(values), 1.1 * largest or 1.0, values)


def _draw_shares(axes: "Axes", best: Directions) -> "Axes":
    """Draw bars of the importances above their columns."""
    bars = _axes_above(axes)
    bars.bar(np.arange(len(best)), best.share, width=0.68, color=COLOURS[0])
    bars.tick_params(axis="x", length=0, labelbottom=False)
    bars.set_ylabel("share of\ngain")
    bars.set_ylim(bottom=0.0)
    bars.locator_params(axis="y", nbins=3)
    bars.grid(axis="y", color=RULE, lw=0.6)
    return bars


def _axes_above(axes: "Axes") -> "Axes":
    """Axes in the upper part of the area of others, which shrink."""
    figure: Any = axes.figure
    inches = axes.bbox.height / figure.dpi
    place = axes.get_subplotspec()
    if place is None:
        height = SHARES_HEIGHT / max(inches, SHARES_HEIGHT)
        return axes.inset_axes((0.0, 1.0 + 0.1 * height, 1.0, height), sharex=axes)
    below = max(inches - SHARES_HEIGHT, SHARES_HEIGHT)
    parts = place.subgridspec(2, 1, height_ratios=(SHARES_HEIGHT, below), hspace=0.03)
    axes.set_subplotspec(parts[1])
    above: Axes = figure.add_subplot(parts[0], sharex=axes)
    return above


def _write_weights(axes: "Axes", weight: NDArray[np.float64]) -> None:
    signs = np.isin(weight, (-1.0, 0.0, 1.0)).all()
    for (row, column), value in np.ndenumerate(weight):
        if value != 0.0:
            rounded = f"{round(float(value), 1) + 0.0:.1f}"  # + 0.0 removes the sign of zero
            text = ("+" if value > 0 else "−") if signs else rounded.replace("-", "−")
            size = 12 if signs else 8
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color="black")


def _rule_cells(axes: "Axes", shape: tuple[int, ...]) -> None:
    """Draw white lines between cells."""
    axes.set_xticks(np.arange(shape[1] + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(shape[0] + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.2)
    axes.tick_params(which="minor", length=0)
    for edge in axes.spines.values():
        edge.set_visible(False)


def _features_to_show(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Features to show: all if they are few, else the used ones of the largest weights."""
    n_features = weight.shape[1]
    if n_features <= FEW_FEATURES:
        return np.arange(n_features)
    total = np.abs(weight).sum(axis=0)
    largest = np.argsort(-total, kind="stable")[:MAX_FEATURES]
    return np.sort(largest[total[largest] > 0.0])


def _explain(result: Importance | Directions, bars: _Bars) -> str:
    """Explanation of the values and the whiskers, in short lines."""
    if isinstance(result, Importance):
        text = result.measures.split(";")[0]
    else:
        text = "share of the gain of all splits"
    lines = textwrap.wrap(text, LONGEST_LINE)
    if isinstance(result, ErrorImportance) and bars.doubtful.any():
        lines.append("lines: 95 % interval; pale: it covers zero")
    elif isinstance(result, ErrorImportance) and bars.reach is not None:
        lines.append("lines: 95 % interval")
    elif bars.reach is not None:
        over = "repeats" if getattr(result, "kind", "") == "permutation" else "trees"
        lines.append(f"lines: one standard deviation over {over}")
    elif isinstance(result, ImportanceTest):
        lines.append("p: corrected for the number of features; pale: above 0.05")
    if isinstance(result, Importance) and result.effect is not None:
        what = result.output_name or "prediction"
        lines += textwrap.wrap(f"▲▼ change of the {what} from low to high values", LONGEST_LINE)
    elif isinstance(result, Importance) and result.direction is not None:
        what = result.output_name or "probability"
        lines += textwrap.wrap(
            f"▲{NO_BREAK}{what} rises with the feature, ▼{NO_BREAK}falls, ▲▼{NO_BREAK}both",
            LONGEST_LINE,
        )
    return "\n".join(lines)
