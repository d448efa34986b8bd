"""Curves over something varied: noise dimensions, rows, columns, candidates, threads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bevel.report.page import COLOURS, FAINT, LINES, MARKERS, RULE, canvas, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Curve", "Panel", "curves", "speed_up"]

PANEL_WIDTH, PANEL_HEIGHT, COLUMNS = 3.0, 2.5, 2


@dataclass(frozen=True)
class Curve:
    """Values along x, with standard errors where they are known."""

    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None


@dataclass(frozen=True)
class Panel:
    """Curves of several systems in one frame.

    `log_x` may be "linear", "log", or "symlog" where 0 is one of the values. `words` name the
    places 0, 1, 2, … of an x that has no numbers.
    """

    title: str
    curves: Mapping[str, Curve]
    x_label: str
    y_label: str
    log_x: str = "log"
    log_y: bool = False
    words: Sequence[str] = ()


def curves(panels: Sequence[Panel]) -> str:
    """Draw panels, two in a line, with one legend; a system looks the same in all of them."""
    return _draw(panels, ideal=False)


def speed_up(seconds: Mapping[str, Mapping[str, Curve]]) -> str:
    """Strong scaling, T₁ / T_N against threads, with the ideal (SPORF, Fig. 9).

    `seconds` has a panel for each data set, and in it a curve for each system, whose first point is
    that of one thread.
    """
    panels = [
        Panel(
            title,
            {name: Curve(c.x, [c.y[0] / each for each in c.y]) for name, c in systems.items()},
            *("threads", "T₁ / Tₙ", "linear"),
        )
        for title, systems in seconds.items()
    ]
    return _draw(panels, ideal=True)


def _draw(panels: Sequence[Panel], *, ideal: bool) -> str:
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    alone = len(panels) == 1
    width = 4.6 if alone else PANEL_WIDTH * columns + 0.4
    height = (3.1 if alone else PANEL_HEIGHT * rows) + 0.3
    with canvas(width, height) as figure:
        grid = figure.add_gridspec(rows, columns, wspace=0.32, hspace=0.55)
        for number, panel in enumerate(panels):
            axes = figure.add_subplot(grid[number // columns, number % columns])
            _draw_panel(axes, panel, names)
            if ideal:
                _draw_ideal(axes, max(max(curve.x) for curve in panel.curves.values()))
        handles = [_handle(place, name) for place, name in enumerate(names)]
        figure.legend(
            handles=handles, handlelength=3.0, **_legend_place(len(panels), columns, rows)
        )
        return svg(figure)


def _legend_place(n_panels: int, columns: int, rows: int) -> dict[str, Any]:
    """Beside a single panel, in the free corner of an odd number, below otherwise."""
    if n_panels == 1:
        return {"loc": "center left", "bbox_to_anchor": (0.93, 0.5)}
    if n_panels % columns:
        return {"loc": "center", "bbox_to_anchor": (0.73, 0.11 + 0.36 / rows)}
    return {"loc": "upper center", "bbox_to_anchor": (0.5, 0.11 - 0.17 / rows), "ncols": 3}


def _draw_ideal(axes: "Axes", end: float) -> None:
    axes.plot([1, end], [1, end], color=FAINT, linewidth=1, linestyle=(0, (2, 2)))
    axes.annotate("ideal", (end, end), (-6, 0), textcoords="offset points", ha="right", color=FAINT)


def _look(place: int) -> dict[str, Any]:
    """Colour, marker and dashes of the system at a place: any two differ in at least one."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": LINES[(place + place // len(COLOURS)) % len(LINES)],
        "linewidth": 1.5,
        "markersize": 4.5,
    }


def _handle(place: int, name: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=name, **_look(place))


def _draw_panel(axes: "Axes", panel: Panel, names: Sequence[str]) -> None:
    ticks: set[float] = set()
    for name, curve in panel.curves.items():
        x, y = np.asarray(curve.x, np.float64), np.asarray(curve.y, np.float64)
        look = _look(names.index(name))
        axes.plot(x, y, **look)
        if curve.error is not None:
            spread = np.asarray(curve.error, np.float64)
            axes.errorbar(
                x, y, yerr=spread, fmt="none", ecolor=look["color"], elinewidth=1, capsize=2
            )
        ticks.update(x.tolist())
    _scale(axes, panel, np.array(sorted(ticks)))
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.grid(axis="y", color=RULE, linewidth=0.7)


def _scale(axes: "Axes", panel: Panel, values: NDArray[np.float64]) -> None:
    """Ticks at the values themselves while they are few: they are what was run."""
    from matplotlib.ticker import FormatStrFormatter, NullFormatter, NullLocator

    if panel.log_y:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        low, high = axes.get_ylim()
        within = FormatStrFormatter("%g") if high < 8 * low else NullFormatter()
        axes.yaxis.set_minor_formatter(within)
    if panel.words:
        axes.set_xticks(range(len(panel.words)), list(panel.words))
        return
    if panel.log_x == "symlog":
        positive = values[values > 0]
        edge = float(positive.min()) if len(positive) else 1.0
        axes.set_xscale("symlog", linthresh=edge, linscale=0.5)
    elif panel.log_x == "log":
        axes.set_xscale("log")
    if len(values) <= 10:
        labels = [_short(value) for value in values]
        axes.set_xticks(values, _apart(labels, axes.transData.transform([(v, 1) for v in values])))
        axes.xaxis.set_minor_locator(NullLocator())


def _apart(labels: Sequence[str], places: NDArray[np.float64]) -> list[str]:
    """Blank the labels that would touch the one before them; a letter is about 9 pixels wide."""
    kept, end = [], -np.inf
    for label, (x, _) in zip(labels, places, strict=True):
        half = 4.5 * len(label) + 2
        kept.append(label if x - half > end else "")
        end = x + half if kept[-1] else end
    return kept


def _short(value: float) -> str:
    """10000 as 10k: ticks stand close together."""
    if value >= 1e6 and value % 1e5 == 0:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e4 and value % 100 == 0 else f"{value:g}"
