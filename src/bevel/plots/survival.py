"""Survival: curves of rows with bands over the trees, groups of risk, and calibration at a time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bevel.plots.canvas import FAINT, RULE, line, marker, panel
from bevel.printable import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import (
        RiskGroups,
        SurvivalBands,
        SurvivalCalibration,
        SurvivalScores,
    )

__all__ = [
    "risk_groups",
    "survival_calibration",
    "survival_curves",
    "survival_scores",
]

# Plots of survival: curves with bands over the trees, risk groups, and calibration at a time.


def survival_curves(
    bands: "SurvivalBands", *, names: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw survival curves of rows, each with a band over its trees.

    Parameters
    ----------
    bands : SurvivalBands
        Result of `bevel.analysis.survival_bands`.
    names : sequence of str, default=None
        Names of the rows; None numbers them.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis, plots
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> ax = plots.survival_curves(analysis.survival_bands(forest, X[200:203]))
    """
    labels = names or [f"row {row}" for row in range(len(bands.survival))]
    with panel(ax, "survival_curves", 6.4, 4.4) as axes:
        _frame(axes, bands.times)
        for row, label in enumerate(labels):
            look = line(row)
            times, curve = _steps(bands.times, bands.survival[row])
            axes.plot(times, curve, lw=1.8, label=label, drawstyle="steps-post", **look)
            low, high = (
                _steps(bands.times, bands.low[row])[1],
                _steps(bands.times, bands.high[row])[1],
            )
            axes.fill_between(times, low, high, step="post", alpha=0.15, color=look["color"], lw=0)
        share = round(100 * bands.level)
        axes.set_title(f"Survival, with the middle {share} % of the trees", loc="left")
        axes.legend(loc="best", fontsize=9)
    return axes


def risk_groups(groups: "RiskGroups", *, ax: "Axes | None" = None) -> "Axes":
    """Draw observed and predicted survival of groups of rows by their predicted risk.

    Lines are Kaplan-Meier curves of the rows of a group, dashed ones the means of their predicted
    curves: where they agree, predictions are right on average.

    Parameters
    ----------
    groups : RiskGroups
        Result of `bevel.analysis.risk_groups`.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis, plots
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> ax = plots.risk_groups(analysis.risk_groups(forest, X[200:], y[200:]))
    """
    with panel(ax, "risk_groups", 6.4, 4.4) as axes:
        _frame(axes, groups.times)
        for group, name in enumerate(groups.names):
            look: dict[str, Any] = {"color": line(group)["color"], "drawstyle": "steps-post"}
            label = f"{name}: {groups.count[group]} rows, {groups.n_events[group]} events"
            axes.plot(*_steps(groups.times, groups.observed[group]), lw=1.8, label=label, **look)
            axes.plot(
                *_steps(groups.times, groups.predicted[group]), lw=1.2, ls=(0, (4, 2)), **look
            )
        axes.plot([], [], color=FAINT, lw=1.2, ls=(0, (4, 2)), label="predicted")
        axes.set_title(f"Groups of risk: log-rank p = {groups.p_value:.2g}", loc="left")
        # Below, since curves fill the panel from corner to corner.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=9)
    return axes


def survival_calibration(result: "SurvivalCalibration", *, ax: "Axes | None" = None) -> "Axes":
    """Draw observed against predicted survival at a time.

    Lines are intervals of 95 %. On the dashed line predictions equal observations.

    Parameters
    ----------
    result : SurvivalCalibration
        Result of `bevel.analysis.survival_calibration`.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis, plots
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> result = analysis.survival_calibration(forest, X[200:], y[200:], time=1.0, n_groups=4)
    >>> ax = plots.survival_calibration(result)
    """
    with panel(ax, "survival_calibration", 4.8, 4.9) as axes:
        axes.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)), zorder=0)
        axes.grid(color=RULE, lw=0.6)
        half = 1.96 * result.standard_error
        low = result.observed - np.clip(result.observed - half, 0.0, 1.0)
        high = np.clip(result.observed + half, 0.0, 1.0) - result.observed
        axes.errorbar(
            result.predicted,
            result.observed,
            yerr=np.clip([low, high], 0.0, None),
            ms=5.5,
            mec="white",
            mew=0.6,
            lw=1.4,
            elinewidth=1.1,
            **{**line(0), **marker(0)},
        )
        axes.set(
            xlabel=f"predicted survival at {rounded(result.time, 4)}", ylabel="observed survival"
        )
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        error = result.expected_calibration_error
        axes.set_title(f"Survival: expected calibration error {error:.3f}", loc="left")
    return axes


def survival_scores(scores: "SurvivalScores", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the Brier score over time, beside that of a curve without features.

    Parameters
    ----------
    scores : SurvivalScores
        Result of `bevel.analysis.survival_scores`.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueSurvivalForest, analysis, plots
    >>> from bevel.datasets import proportional_hazards
    >>> X, y = proportional_hazards(300, random_state=0)
    >>> forest = ObliqueSurvivalForest(20, random_state=0).fit(X[:200], y[:200])
    >>> ax = plots.survival_scores(analysis.survival_scores(forest, X[200:], y[200:]))
    """
    with panel(ax, "survival_scores", 6.4, 4.0) as axes:
        axes.grid(color=RULE, lw=0.6)
        axes.plot(scores.times, scores.brier_score, lw=1.8, label="forest", **line(0))
        alone: dict[str, Any] = {"color": FAINT, "lw": 1.4, "ls": (0, (4, 2))}
        axes.plot(scores.times, scores.reference_score, label="without features", **alone)
        top = max(float(np.max(scores.brier_score)), float(np.max(scores.reference_score)))
        axes.set(xlabel="time", ylabel="Brier score", ylim=(0.0, 1.1 * top or 1.0))
        axes.set_title(f"Brier score, mean {scores.integrated_brier_score:.3f}", loc="left")
        axes.legend(loc="best", fontsize=9)
    return axes


def _steps(times: NDArray[Any], curve: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A curve from time 0 on, where survival is 1."""
    return np.concatenate(([0.0], times)), np.concatenate(([1.0], curve))


def _frame(axes: "Axes", times: NDArray[Any]) -> None:
    axes.grid(color=RULE, lw=0.6)
    axes.set(xlabel="time", ylabel="share without the event")
    axes.set(xlim=(0.0, float(times[-1])), ylim=(0.0, 1.02))
