"""Calibration: observed against predicted probability."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bevel.plots.canvas import FAINT, RULE, panel, wrapped
from bevel.plots.series import legend, line, marker, named
from bevel.text.node_predictions import called

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import Calibration

__all__ = ["calibration"]


def calibration(
    results: "Calibration | Mapping[str, Calibration]", *, ax: "Axes | None" = None
) -> "Axes":
    """Draw a reliability curve: observed shares against predicted probabilities.

    Lines are intervals of 95 %. On the dashed line probabilities equal frequencies. The expected
    calibration error is the mean distance from it, over the rows.

    Parameters
    ----------
    results : Calibration, or mapping of str to them
        Result of one forest, or of several by name.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.calibration(analysis.calibration(forest, X, y))
    """
    forests = named(results)
    with panel(ax, "calibration", 4.8, 4.9) as axes:
        axes.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)), zorder=0)
        axes.grid(color=RULE, lw=0.6)
        for number, (name, result) in enumerate(forests.items()):
            axes.errorbar(
                result.predicted,
                result.observed,
                yerr=np.clip(
                    [result.observed - result.low, result.high - result.observed], 0.0, None
                ),
                ms=5.5,
                mec="white",
                mew=0.6,
                lw=1.4,
                elinewidth=1.1,
                label=f"{name}: calibration error {result.expected_calibration_error:.3f}",
                **{**line(number), **marker(number)},
            )
        whose = " or ".join(dict.fromkeys(called(result.of) for result in forests.values()))
        axes.set_xlabel(wrapped(f"predicted probability of {whose}"), parse_math=False)
        axes.set(ylabel="observed share", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        axes.set(xticks=ticks, yticks=ticks)
        axes.set_title(_title(forests), loc="left")
        legend(axes, forests, loc="upper left", fontsize=9)
    return axes


def _title(forests: "Mapping[str, Calibration]") -> str:
    if len(forests) > 1 or any(forests):
        return "Reliability"
    (only,) = forests.values()
    return f"Reliability: expected calibration error {only.expected_calibration_error:.3f}"
