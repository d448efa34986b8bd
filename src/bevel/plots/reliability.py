"""Calibration: observed against predicted probability."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bevel.plots.canvas import FAINT, panel
from bevel.plots.series import legend, line, marker, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import Calibration

__all__ = ["calibration"]


def calibration(
    results: "Calibration | Mapping[str, Calibration]", *, ax: "Axes | None" = None
) -> "Axes":
    """Draw observed shares against predicted probabilities, with intervals of 95 %.

    On the dashed line probabilities equal frequencies.

    Parameters
    ----------
    results : Calibration, or mapping of str to them
        One forest, or several by name.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    forests = named(results)
    with panel(ax, "calibration", 4.6, 4.2) as axes:
        axes.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)), zorder=0)
        for number, (name, result) in enumerate(forests.items()):
            axes.errorbar(
                result.predicted,
                result.observed,
                yerr=np.clip(
                    [result.observed - result.low, result.high - result.observed], 0.0, None
                ),
                ms=5,
                lw=1.3,
                elinewidth=0.9,
                label=name,
                **{**line(number), **marker(number)},
            )
        whose = " or ".join(dict.fromkeys(result.of for result in forests.values()))
        axes.set_xlabel(f"predicted probability of {whose}", parse_math=False)
        axes.set(ylabel="observed share", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        legend(axes, forests, loc="upper left")
    return axes
