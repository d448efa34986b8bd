"""Plots of accuracy: calibration, quantiles, error against the number of trees, strength and
correlation, bias and variance.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.errors import wrong_type, wrong_value
from bevel.plots.canvas import (
    COLOURS,
    FAINT,
    INK,
    RULE,
    digits,
    legend,
    line,
    marker,
    named,
    panel,
    panels,
    set_finding,
    wrapped,
)
from bevel.text.predictions import called

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel.analysis.results import (
        BiasAndVariance,
        Calibration,
        ClassEffects,
        OutOfBagCurve,
        RowQuantiles,
        StrengthAndCorrelation,
    )

    Trials: TypeAlias = StrengthAndCorrelation | Sequence[StrengthAndCorrelation]

__all__ = [
    "bias_and_variance",
    "calibration",
    "fan_chart",
    "margins",
    "out_of_bag_curve",
    "strength_against_correlation",
]


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


# Shares of the band's colour in the outermost and the innermost band, distinct in grey too.
PALE, DARK = 0.22, 0.62


def fan_chart(
    result: "RowQuantiles",
    *,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw quantiles of rows as nested bands, with the targets as points.

    Parameters
    ----------
    result : RowQuantiles
        Result of `bevel.analysis.quantiles`. Symmetric levels, such as 0.05 and 0.95, bound a
        band; 0.5 is a line; others are thin lines.
    x : array-like of shape (n_rows,), default=None
        Horizontal position of each row, such as a feature. None: rows by ascending median.
    y : array-like of shape (n_rows,), default=None
        Targets to draw as points; None: those of `result`, if it has them.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib Axes
        Save it with ``ax.figure.savefig(path)``.

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor
    >>> from bevel.analysis import quantiles
    >>> from bevel.plots import fan_chart
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> ax = fan_chart(quantiles(forest, X, y))
    """
    n_rows = len(result.values)
    targets = result.target if y is None else _column("y", y, n_rows)
    place, order = _places(result, x)
    values = result.values[order]
    with panel(ax, "fan_chart") as axes:
        _draw_bands(axes, place, result, values)
        if targets is not None:
            axes.plot(
                place, targets[order], "o", ms=2.6, color=INK, mew=0, alpha=0.75, label="target"
            )
        axes.set_xlabel("rows, by ascending median" if x is None else _name_of(x))
        axes.set_ylabel("target")
        axes.margins(x=0.01)
        # Above the axes, since rows may be anywhere inside.
        key = axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=6, fontsize=9)
        finding = _finding(result, targets)
        key.set_title(finding)
        key.get_title().set(fontweight="bold", fontsize=10)
        key.set_alignment("left")
    return axes


def _name_of(x: ArrayLike) -> str:
    """Name of a column of a frame; empty for plain arrays."""
    name = getattr(x, "name", None)
    return name if isinstance(name, str) else ""


def _finding(result: "RowQuantiles", targets: NDArray[np.float64] | None) -> str:
    """Coverage of the widest band, in words."""
    if targets is None or not result.bands:
        return "Quantiles of rows"
    low, high = result.bands[0]
    share = 100 * (result.levels[high] - result.levels[low])
    known = result.known & ~np.isnan(targets)
    inside = (result.values[:, low] <= targets) & (targets <= result.values[:, high])
    covered = 100 * float(np.mean(inside[known])) if known.any() else float("nan")
    return f"The {share:.3g} % band covers {covered:.3g} % of the {np.sum(known):,} targets"


def _column(name: str, values: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n_rows,):
        required = f"{n_rows} numbers, one for each row"
        raise wrong_value(name, required, f"an array of shape {column.shape}", "Pass one each.")
    return column


def _places(
    result: "RowQuantiles", x: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Positions of the rows with quantiles, ascending, and their indices."""
    middle = result.values[:, np.abs(result.levels - 0.5).argmin()]
    key = middle if x is None else _column("x", x, len(middle))
    order = np.argsort(key, kind="stable")
    order = order[result.known[order]]
    return (np.arange(len(order), dtype=np.float64) if x is None else key[order]), order


def _draw_bands(
    axes: Any, place: NDArray[np.float64], result: "RowQuantiles", values: NDArray[np.float64]
) -> None:
    levels, bands = result.levels, result.bands
    for number, (low, high) in enumerate(bands):
        depth = number / max(1, len(bands) - 1)
        colour = _mixed(PALE + (DARK - PALE) * depth)
        share = f"{100 * (levels[high] - levels[low]):.3g} %"
        axes.fill_between(place, values[:, low], values[:, high], color=colour, lw=0, label=share)
    borders = {level for band in bands for level in band}
    for other in sorted(set(range(len(levels))) - borders):
        median = abs(levels[other] - 0.5) < 1e-9
        label = "median" if median else f"quantile {levels[other]:g}"
        axes.plot(place, values[:, other], color=COLOURS[0], lw=1.6 if median else 0.8, label=label)


def _mixed(share: float) -> tuple[float, ...]:
    """The bands' colour mixed with white."""
    from matplotlib.colors import to_rgb

    return tuple(1.0 - share * (1.0 - part) for part in to_rgb(COLOURS[0]))


def out_of_bag_curve(
    results: "OutOfBagCurve | Mapping[str, OutOfBagCurve]", *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the out-of-bag loss against the number of trees.

    Parameters
    ----------
    results : OutOfBagCurve, or mapping of str to them
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
    >>> ax = plots.out_of_bag_curve(analysis.out_of_bag_curve(forest, X, y))
    """
    forests = named(results)
    with panel(ax, "out_of_bag_curve") as axes:
        for number, (name, curve) in enumerate(forests.items()):
            axes.plot(curve.n_trees, _readable(curve), lw=1.6, label=name, **line(number))
        measures = dict.fromkeys(_measure(curve) for curve in forests.values())
        axes.set(xlabel="trees", ylabel=f"out-of-bag {' or '.join(measures)}")
        highest = max(float(np.nanmax(_readable(curve))) for curve in forests.values())
        axes.set_ylim(0.0, 1.05 * highest if highest > 0.0 else 1.0)
        axes.set_xlim(left=0)
        axes.grid(axis="y", color=RULE, lw=0.6)
        legend(axes, forests)
        what = f"Out-of-bag {' or '.join(measures)}"
        if len(forests) == 1:
            (curve,) = forests.values()
            n_trees = int(curve.n_trees[-1])
            what += f" {digits(float(_readable(curve)[-1]))} with {n_trees:,} trees"
        set_finding(axes, what)
    return axes


SQUARED = "mean squared error"  # whose unit is that of the target, squared


def _readable(curve: "OutOfBagCurve") -> NDArray[np.float64]:
    """The loss in units of the target."""
    return np.sqrt(curve.loss) if curve.measure == SQUARED else curve.loss


def _measure(curve: "OutOfBagCurve") -> str:
    return f"root {SQUARED}" if curve.measure == SQUARED else curve.measure


# Strength of the trees: against their correlation (SPORF, Fig. 11), and as margins of rows.

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


Measure = Callable[["ClassEffects"], float]
OF_CLASSES: tuple[tuple[str, Measure], ...] = (
    ("bias", lambda each: each.bias),
    ("variance", lambda each: each.variance),
    ("variance effect", lambda each: each.variance_effect),
    ("error", lambda each: each.error),
)
OF_VALUES: "tuple[tuple[str, Callable[[BiasAndVariance], float]], ...]" = (
    ("squared bias", lambda each: each.squared_bias),
    ("variance", lambda each: each.variance),
    ("squared error", lambda each: each.squared_error),
)


def bias_and_variance(
    results: "Mapping[str, Mapping[float, BiasAndVariance]]",
    *,
    along: str = "training rows",
    ax: Any = None,
) -> NDArray[Any]:
    """Draw bias, variance, variance effect and error of classifiers side by side.

    Regressions have three panels: squared bias, variance and squared error.

    Parameters
    ----------
    results : mapping of str to mapping of float to BiasAndVariance
        Results by system, and then by the setting on the horizontal axis, such as the number of
        training rows.
    along : str, default="training rows"
        Name of the setting.
    ax : matplotlib Axes or sequence of them, default=None
        Axes that are divided into panels, or one for each panel; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib Axes, shape (n_panels,)

    Examples
    --------
    >>> from functools import partial
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from bevel.datasets import sparse_parity
    >>> X_test, y_test = sparse_parity(200, 10, random_state=0)
    >>> def measure(n_rows):
    ...     draw = partial(sparse_parity, n_rows, 10)
    ...     forest = ObliqueForestClassifier(5, projection="sparse")
    ...     options = {"X_test": X_test, "y_test": y_test, "n_repeats": 3, "random_state": 0}
    ...     return analysis.bias_and_variance(forest, draw, **options)
    >>> axes = plots.bias_and_variance({"sparse": {n: measure(n) for n in (50, 100)}})
    """
    if not isinstance(results, Mapping) or not all(
        isinstance(each, Mapping) for each in results.values()
    ):
        required = "results by system, and then by what runs across"
        remedy = 'Write for example {"SPORF": {500: result, 1000: result}}.'
        raise wrong_type("results", required, results, remedy)
    measures = _measures(results)
    size = (2.6 * len(measures), 2.9)
    with panels(ax, "bias_and_variance", (1, len(measures)), size) as grid:
        axes: NDArray[Any] = grid[0]
        for each, (title, curves) in zip(axes, measures.items(), strict=True):
            for number, (name, points) in enumerate(curves.items()):
                look = {**line(number), **marker(number)}
                each.plot(*zip(*points, strict=True), lw=1.4, ms=4.5, label=name, **look)
            each.set(xlabel=along, title=title)
            low, high = each.get_ylim()
            each.set_ylim(min(0.0, low), high + 0.06 * (high - min(0.0, low)))
            each.grid(axis="y", color=RULE, lw=0.6)
        legend(axes[0], results)
    return axes


def _measures(
    results: "Mapping[str, Mapping[float, BiasAndVariance]]",
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Points of each system, by panel."""
    every = [each for by_setting in results.values() for each in by_setting.values()]
    if not every or len({each.classes is None for each in every}) > 1:
        required = "results of classifiers, or of regressions, at least one"
        got = "none" if not every else "both kinds"
        raise wrong_value("results", required, got, "Draw the two kinds by themselves.")
    if every[0].classes is None:
        return {title: _points(results, read) for title, read in OF_VALUES}
    return {title: _points(results, _of_classes(read)) for title, read in OF_CLASSES}


def _of_classes(read: Measure) -> "Callable[[BiasAndVariance], float]":
    return lambda each: read(each.classes) if each.classes is not None else float("nan")


def _points(
    results: "Mapping[str, Mapping[float, BiasAndVariance]]",
    read: "Callable[[BiasAndVariance], float]",
) -> dict[str, list[tuple[float, float]]]:
    return {
        name: [(setting, read(each)) for setting, each in sorted(by_setting.items())]
        for name, by_setting in results.items()
    }
