"""Strength of the trees: against their correlation (SPORF, Fig. 11), and as margins of rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bevel.plots.canvas import FAINT, INK, RULE, panel
from bevel.plots.findings import set_finding
from bevel.plots.series import legend, line, marker, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import StrengthAndCorrelation

    Trials: TypeAlias = StrengthAndCorrelation | Sequence[StrengthAndCorrelation]

__all__ = ["margins", "strength_against_correlation"]

BOUNDS = (0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0)


def strength_against_correlation(
    results: "Trials | Mapping[str, Trials]",
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw correlation across and strength upwards: good forests are at the top left.

    Thin lines join points of equal bound ρ̄(1 − s²)/s² on the error.

    Parameters
    ----------
    results : StrengthAndCorrelation, or mapping of str to them, or to several of them
        Result of one forest, or of several by system; several results of a system are one point
        each, such as those of repeated trials.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.strength_against_correlation(analysis.strength_and_correlation(forest, X, y))
    """
    by_system: dict[str, Trials] = named(results)
    points = {name: _several(each) for name, each in by_system.items()}
    with panel(ax, "strength_against_correlation", 5.2, 4.2) as axes:
        for number, (name, group) in enumerate(points.items()):
            across = [each.correlation for each in group]
            upwards = [each.strength for each in group]
            axes.plot(
                across, upwards, ls="", ms=8, mec="white", mew=0.5, label=name, **marker(number)
            )
        axes.margins(0.12)
        _draw_bounds(axes)
        axes.set(xlabel="correlation ρ̄ of the trees", ylabel="strength s of the trees")
        set_finding(axes, "Good forests are at the top left")
        legend(axes, points, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes


def _several(trials: "Trials") -> "list[StrengthAndCorrelation]":
    return list(trials) if isinstance(trials, Sequence) else [trials]


def _draw_bounds(axes: "Axes") -> None:
    """Draw lines of equal bound inside the window of the points."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    across = np.linspace(left, right, 200)
    upwards = np.linspace(low, high, 200)
    with np.errstate(divide="ignore"):
        bound = np.maximum(across, 0.0) * ((1.0 - upwards**2) / upwards**2)[:, None]
    bound[(upwards <= 0.0) | (upwards >= 1.0)] = np.nan
    if np.isnan(bound).all():  # no forest is better than chance: there is no bound
        return
    inside = [level for level in BOUNDS if np.nanmin(bound) < level < np.nanmax(bound)]
    if inside:
        lines = axes.contour(
            across, upwards, bound, levels=inside, colors=RULE, linewidths=0.8, zorder=0
        )
        axes.clabel(lines, fmt=lambda level: f"bound {level:g}", fontsize=7.5, colors=FAINT)


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
        Result of one forest, or of several by name.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.margins(analysis.strength_and_correlation(forest, X, y))
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
        set_finding(axes, "Margins", _margin_finding(forests))
    return axes


def _margin_finding(forests: "Mapping[str, StrengthAndCorrelation]") -> str:
    if len(forests) > 1:
        return "at zero a curve is as high as the share of wrong votes"
    (only,) = forests.values()
    known = only.margins[~np.isnan(only.margins)]
    return f"{100 * float(np.mean(known < 0.0)):.1f} % of the rows are voted wrongly"
