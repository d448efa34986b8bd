"""Drawings of survival forests as SVG text, legible at the width of a phone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bevel import plots
from bevel.analysis.results import RiskGroups, SurvivalBands, SurvivalCalibration, SurvivalScores
from bevel.plots.series import line
from bevel.report.svg_canvas import FAINT, RULE, canvas, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_auc", "draw_bands", "draw_brier", "draw_calibration", "draw_groups"]

WIDTH, HEIGHT, SIDE = 4.0, 2.9, 3.0  # inches between the axes


def _drawn(draw: Callable[[Axes], object], width: float = WIDTH, height: float = HEIGHT) -> str:
    """SVG text of a drawing function on axes, without a title, which the text around replaces."""
    with canvas(width, height) as figure:
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        draw(axes)
        axes.set_title("", loc="left")
        return svg(figure)


def draw_groups(groups: RiskGroups) -> str:
    """Observed and predicted survival of risk groups."""

    def draw(axes: Axes) -> None:
        plots.risk_groups(groups, ax=axes)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), fontsize=9)

    return _drawn(draw)


def draw_bands(bands: SurvivalBands, names: Sequence[str]) -> str:
    """Curves of single rows."""

    def draw(axes: Axes) -> None:
        plots.survival_curves(bands, names=names, ax=axes)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), fontsize=9)

    return _drawn(draw)


def draw_brier(scores: SurvivalScores) -> str:
    """The Brier score over time."""
    return _drawn(lambda axes: plots.survival_scores(scores, ax=axes))


def draw_auc(scores: SurvivalScores) -> str:
    """The AUC over time."""

    def draw(axes: Axes) -> None:
        axes.grid(color=RULE, lw=0.6)
        axes.axhline(0.5, color=FAINT, lw=1.2, ls=(0, (4, 2)))
        axes.plot(scores.times, scores.auc, lw=1.8, **line(0))
        low = min(0.45, float(np.nanmin(scores.auc)) - 0.05)
        axes.set(xlabel="time", ylabel="AUC", ylim=(low, 1.02))

    return _drawn(draw)


def draw_calibration(result: SurvivalCalibration) -> str:
    """Observed against predicted survival at a time."""
    return _drawn(lambda axes: plots.survival_calibration(result, ax=axes), SIDE, SIDE)
