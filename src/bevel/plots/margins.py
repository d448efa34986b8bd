"""Margins of a forest: how many rows it votes right, and how clearly."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bevel.plots.canvas import FAINT, INK, panel
from bevel.plots.findings import set_finding
from bevel.plots.series import legend, line, marker, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import StrengthAndCorrelation

__all__ = ["margins"]


def margins(
    results: "StrengthAndCorrelation | Mapping[str, StrengthAndCorrelation]",
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the distribution of the margins: the share of rows below each value.

    At zero a curve is as high as the error of the votes; a mark on it shows the mean, the strength.

    Parameters
    ----------
    results : StrengthAndCorrelation, or mapping of str to them
        One forest, or several by name.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    forests = named(results)
    with panel(ax, "margins") as axes:
        axes.axvline(0.0, color=FAINT, lw=1, ls=(0, (4, 3)), zorder=0)
        for number, (name, result) in enumerate(forests.items()):
            values = np.sort(result.margins[~np.isnan(result.margins)])
            share = np.arange(1, len(values) + 1) / len(values)
            axes.step(
                np.concatenate(([-1.0], values, [1.0])),
                np.concatenate(([0.0], share, [1.0])),
                where="post",
                lw=1.6,
                label=name,
                **line(number),
            )
            height = np.searchsorted(values, result.strength, side="right") / len(values)
            axes.plot([result.strength], [height], ms=6.5, mec="white", zorder=3, **marker(number))
            axes.annotate(
                f"mean {result.strength:.2f}",
                (result.strength, height),
                (-8, 2),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=9,
                color=INK,
            )
        label = "margin: votes for the true class minus those for the best other one"
        axes.set(xlabel=label, ylabel="share of rows below", xlim=(-1.02, 1.02))
        axes.set_ylim(-0.02, 1.02)
        legend(axes, forests, loc="upper left")
        set_finding(axes, "Margins", _finding(forests))
    return axes


def _finding(forests: "Mapping[str, StrengthAndCorrelation]") -> str:
    if len(forests) > 1:
        return "at zero a curve is as high as the share of wrong votes"
    (only,) = forests.values()
    known = only.margins[~np.isnan(only.margins)]
    return f"{100 * float(np.mean(known < 0.0)):.1f} % of the rows are voted wrongly"
