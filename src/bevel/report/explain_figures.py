"""Drawings of an explanation as SVG text, narrow enough for a phone where possible."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bevel import plots
from bevel.analysis.results import (
    Directions,
    Effect,
    Importance,
    RowQuantiles,
    ShapleyValues,
    TreeRules,
)
from bevel.extras import import_optional
from bevel.plots.canvas import STYLE, detached
from bevel.report.svg_canvas import svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MOST_FAN_ROWS",
    "draw_directions",
    "draw_effect",
    "draw_fan",
    "draw_importance",
    "draw_row",
    "draw_tree",
    "effect_finding",
]

WIDTH = 3.4  # inches between the axes, beside the names
BAR_INCHES, FAN_INCHES, EFFECT_INCHES = 0.25, 2.4, 2.3
LONGEST_NAME, LONGEST_LINE, LONGEST_SIDE = 24, 44, 28  # characters
MOST_BARS, MOST_DIRECTIONS, MOST_STEPS = 20, 10, 9
MOST_FAN_ROWS, MOST_IN_LINE = 300, 3


def draw_importance(result: Importance, output_name: str = "") -> str:
    """Bars of the most important features; `output_name` names the output that rises and falls."""
    best = result.top(MOST_BARS)
    output_name = output_name or best.output_name
    best = replace(best, names=_shortened(best.names), output_name=output_name)

    def draw(ax: Axes) -> Axes:
        plots.importance_bars(best, ax=ax)
        texts = re.sub(r"\n(?!lines: |▲)", " ", ax.get_xlabel()).split("\n")
        lines = (textwrap.wrap(text, LONGEST_LINE) for text in texts)
        ax.set_xlabel("\n".join(line for some in lines for line in some))
        return ax

    return _drawn(draw, BAR_INCHES * len(best))


def draw_directions(result: Directions) -> str:
    """Heat map of the most important directions."""
    named = replace(result, names=_shortened(result.names))
    return _drawn(lambda _: plots.top_projections(named, n_top=MOST_DIRECTIONS))


def shared_heights(effects: Sequence[Effect]) -> tuple[float, float]:
    """Limits of the curves of all effects, with bands cut to the range of probabilities."""
    drawn = [_drawn_outputs(each) for each in effects]
    bands = [each.values if each.standard_error is None else each.band() for each in drawn]
    low, high = (float(edge([edge(band) for band in bands])) for edge in (np.min, np.max))
    if effects[0].classes is not None:
        low, high = max(0.0, low), min(1.0, high)
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room


def _drawn_outputs(effect: Effect) -> Effect:
    """The outputs to draw: of two classes only the second."""
    two = effect.classes is not None and len(effect.classes) == 2
    return effect.output(effect.classes[1]) if two and effect.classes is not None else effect


def effect_finding(result: Effect) -> str:
    """Shape of the curve of a feature, as in the title of its figure."""
    with detached():
        title = plots.effect(result).get_title(loc="left").replace("\n", " ")
    return title.partition(": ")[2]


def draw_effect(result: Effect, heights: tuple[float, float], output_name: str = "") -> str:
    """Curve of one feature, with one line for each class."""
    named = replace(_drawn_outputs(result), names=_shortened(result.names))
    if output_name and named.classes is None:
        named = replace(named, output_name=output_name)

    def draw(ax: Axes) -> Axes:
        plots.effect(named, ax=ax)
        ax.set_title("", loc="left")  # the text above has the same content
        ax.set_ylim(heights)
        if ax.get_legend() is not None:  # above the curves, not on them
            n = min(MOST_IN_LINE, len(ax.get_lines()))
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=n, fontsize=9)
        ax.set_ylabel(textwrap.fill(ax.get_ylabel(), LONGEST_SIDE))
        return ax

    return _drawn(draw, EFFECT_INCHES)


def draw_tree(result: TreeRules) -> str:
    """Drawing of the tree, without its long notes."""
    bare = replace(result, notes=())
    return _drawn(lambda _: plots.tree(bare))


def draw_fan(result: RowQuantiles) -> str:
    """Bands of quantiles with the targets, for evenly spaced rows by ascending median."""
    middle = result.values[:, len(result.levels) // 2]
    order = np.argsort(middle, kind="stable")[: np.count_nonzero(result.known)]  # NaN sort last
    if len(order) > MOST_FAN_ROWS:
        order = order[np.linspace(0, len(order) - 1, MOST_FAN_ROWS).round().astype(np.intp)]
    target = None if result.target is None else result.target[order]
    some = replace(result, values=result.values[order], target=target)
    return _drawn(lambda ax: plots.fan_chart(some, ax=ax), FAN_INCHES)


def draw_row(result: ShapleyValues, row: int, output_name: str = "") -> str:
    """Contributions to the prediction of a row; `output_name` names the prediction."""
    named = replace(result, names=_shortened(result.names))

    def draw(ax: Axes) -> Axes:
        plots.shapley_waterfall(named, row, top=MOST_STEPS, ax=ax)
        ax.set_title("", loc="left")  # the caption is more detailed
        ax.set_xlabel(output_name or ax.get_xlabel(), parse_math=False)
        low, high = ax.get_xlim()  # numbers beside the bars take more room in a narrow drawing
        ax.set_xlim(low - 0.12 * (high - low), high + 0.06 * (high - low))
        return ax

    n_bars = min(len(result.names), MOST_STEPS + 1)
    return _drawn(draw, 0.5 + BAR_INCHES * n_bars)


def _drawn(draw: Callable[[Axes], Axes], height: float = 1.0) -> str:
    """SVG text of a drawing function, on the given axes or on its own."""
    import_optional("matplotlib", needed_by="A report", install="bevel[plot]")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with detached(), rc_context(STYLE):
        figure: Any = Figure(figsize=(WIDTH, height))
        axes = draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)))
        drawing: Any = axes.figure
        return svg(drawing)


def _shortened(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names
    )
