"""Importances as bars with their spread; the best directions as a heat map (SPORF, Figure 4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bevel.analysis.checks import check_count
from bevel.analysis.results import Directions, Importance
from bevel.errors import wrong_type, wrong_value
from bevel.plots.canvas import COLOURS, FAINT, INK, RULE, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["importance_bars", "top_projections"]

LONGEST_LABEL = 64  # characters
FEW_FEATURES, MOST_FEATURES = 12, 30  # of a heat map: all are shown; no more are shown
BAR_HEIGHT, CELL, SHARES_HEIGHT = 0.26, 0.42, 1.1  # inches


def importance_bars(
    result: Importance | Directions, *, n_top: int = 20, ax: "Axes | None" = None
) -> "Axes":
    """Draw the largest importances as bars, with whiskers of one standard deviation to each side.

    Whiskers end at zero where no importance is negative.

    Parameters
    ----------
    result : Importance or Directions
        From `bevel.analysis.importance`.
    n_top : int, default=20
        Bars at most.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    matplotlib.axes.Axes
        Save its figure with ``ax.figure.savefig(path, bbox_inches="tight")``.

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
    names, values, spread = _bars(result, n_top)
    place = np.arange(len(values))
    with panel(ax, "importance_bars", height=1.0 + BAR_HEIGHT * len(values)) as axes:
        drawn = _within_sight(values)
        axes.barh(place, drawn, height=0.68, color=COLOURS[0])
        for endless in np.flatnonzero(np.isinf(values)).tolist():
            axes.text(drawn[endless], endless, " ∞", va="center", color=INK)
        if spread is not None:
            # A light line under the whisker keeps it visible on its bar.
            low = values - spread
            low = low if (values < 0.0).any() else np.maximum(low, 0.0)
            for colour, width in (("white", 3.2), (INK, 1.2)):
                axes.hlines(place, low, values + spread, color=colour, lw=width)
        axes.set_yticks(place, [_shorten(name) for name in names])
        axes.invert_yaxis()
        if isinstance(result, Importance) and result.effect is not None:
            _write_effects(axes, result.top(n_top), drawn if spread is None else values + spread)
        axes.axvline(0.0, color=FAINT, lw=0.8)
        axes.set_xlabel(_explain(result, spread))
        axes.set_title(f"importance: {result.kind}", loc="left")
        axes.grid(axis="x", color=RULE, lw=0.6)
        axes.tick_params(axis="y", length=0)
    return axes


def top_projections(result: Directions, *, n_top: int = 10, ax: "Axes | None" = None) -> "Axes":
    """Draw the weights of the most important directions as a heat map, importances above it.

    One column for each direction, best first; one row for each feature, those without a weight in
    any of the directions left out where there are many. Each cell has its weight in figures too.

    Parameters
    ----------
    result : Directions
        From ``importance(forest, "projection")``.
    n_top : int, default=10
        Directions at most.
    ax : matplotlib.axes.Axes, optional
        Where to draw the heat map, with the bars above it; a new figure otherwise.

    Returns
    -------
    matplotlib.axes.Axes
        Of the heat map. Save its figure with ``ax.figure.savefig(path, bbox_inches="tight")``.

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
    width, height = 2.0 + CELL * len(best), 1.8 + CELL * len(shown) * 0.75
    with panel(ax, "top_projections", width, height) as axes:
        edges = [np.arange(size + 1) - 0.5 for size in weight.shape]
        mesh = axes.pcolormesh(edges[1], edges[0], weight, cmap="PuOr", vmin=-1.9, vmax=1.9)
        mesh.set_zorder(0)  # below the lines between cells; the colours are pale: ink is on them
        axes.invert_yaxis()
        _write_weights(axes, weight)
        axes.set_yticks(np.arange(len(shown)), [_shorten(best.names[f]) for f in shown])
        axes.set_xticks(np.arange(len(best)), [str(number + 1) for number in range(len(best))])
        axes.set_xlabel("direction, by importance")
        axes.tick_params(length=0)
        _rule_cells(axes, weight.shape)
        _draw_shares(axes, best)
    return axes


def _bars(
    result: Importance | Directions, n_top: int
) -> tuple[Sequence[str], NDArray[np.float64], NDArray[np.float64] | None]:
    """Names, values and spread of the largest importances."""
    if isinstance(result, Directions):
        best = result.top(n_top)
        return best.words, best.share, best.std
    most = result.top(n_top)
    return most.names, most.values, most.std


def _write_effects(axes: "Axes", best: Importance, ends: NDArray[np.float64]) -> None:
    """Behind each bar which way the feature pushes the prediction."""
    assert best.effect is not None
    ends = np.where(np.isfinite(ends), ends, _within_sight(best.values))
    labels = []
    for number, effect in enumerate(best.effect.tolist()):
        of = "" if best.effect_of is None else f" {best.effect_of[number]}"
        sign = "▲" if effect > 0 else "▼"
        known = np.isfinite(effect) and effect != 0.0
        labels.append(f"  {sign} {effect:+.2g}{of}".replace("-", "−") if known else "")
    for number, label in enumerate(labels):
        axes.text(max(ends[number], 0.0), number, label, va="center", fontsize=8.5, color=INK)
    widest = max(map(len, labels))
    axes.set_xlim(right=max(float(ends.max()), 0.0) * (1.0 + 0.022 * widest) or 1.0)


def _within_sight(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values, with infinite ones a little beyond the largest of the others."""
    largest = np.max(values, where=np.isfinite(values), initial=0.0)
    return np.where(np.isposinf(values), 1.1 * largest or 1.0, values)


def _draw_shares(axes: "Axes", best: Directions) -> None:
    """Bars of the importances, above the columns they belong to."""
    inches = axes.bbox.height / axes.figure.dpi
    height = SHARES_HEIGHT / max(inches, SHARES_HEIGHT)
    bars = axes.inset_axes((0.0, 1.0 + 0.1 * height, 1.0, height), sharex=axes)
    bars.bar(np.arange(len(best)), best.share, width=0.68, color=COLOURS[0])
    bars.tick_params(axis="x", length=0, labelbottom=False)
    bars.set_ylabel("share of gain")
    bars.set_ylim(bottom=0.0)
    bars.locator_params(axis="y", nbins=3)
    bars.grid(axis="y", color=RULE, lw=0.6)


def _write_weights(axes: "Axes", weight: NDArray[np.float64]) -> None:
    signs = np.isin(weight, (-1.0, 0.0, 1.0)).all()
    for (row, column), value in np.ndenumerate(weight):
        if value != 0.0:
            rounded = f"{round(float(value), 1) + 0.0:.1f}"  # + 0.0: no sign before a zero
            text = ("+" if value > 0 else "−") if signs else rounded.replace("-", "−")
            size = 12 if signs else 8
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color="black")


def _rule_cells(axes: "Axes", shape: tuple[int, ...]) -> None:
    """White lines between cells."""
    axes.set_xticks(np.arange(shape[1] + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(shape[0] + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.2)
    axes.tick_params(which="minor", length=0)
    for edge in axes.spines.values():
        edge.set_visible(False)


def _features_to_show(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """All features; of many, the used ones; of many used ones, those of the largest weights."""
    n_features = weight.shape[1]
    if n_features <= FEW_FEATURES:
        return np.arange(n_features)
    total = np.abs(weight).sum(axis=0)
    largest = np.argsort(-total, kind="stable")[:MOST_FEATURES]
    return np.sort(largest[total[largest] > 0.0])


def _explain(result: Importance | Directions, spread: NDArray[np.float64] | None) -> str:
    if isinstance(result, Importance):
        text = result.measures.split(";")[0]
    else:
        text = "share of the impurity that splits remove"
    wrapped = text if len(text) < 60 else text.replace(", ", ",\n", 1)
    if isinstance(result, Importance) and result.effect is not None:
        wrapped += "\n▲▼ change of the prediction from low to high values"
    return wrapped if spread is None else f"{wrapped}\n(lines: one standard deviation)"


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
