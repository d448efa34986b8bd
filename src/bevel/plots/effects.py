"""Plots of effects: curves with bands, surfaces, and bars of interactions."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bevel.analysis.analysed_forest import QUANTILES, check_count, measured, noun_of_outputs
from bevel.analysis.results import Effect, Interactions
from bevel.data.tables import array_as_days
from bevel.data.values import value_text
from bevel.errors import wrong_type, wrong_value
from bevel.plots.canvas import (
    COLOURS,
    FAINT,
    INK,
    RULE,
    course,
    digits,
    line,
    mark_dates,
    marker,
    panel,
    set_finding,
    text_width,
)
from bevel.printable import printable, shorten_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["effect", "interaction_bars"]

MAX_CURVES = 200  # curves of single rows: more are not readable
BAR_INCHES, FRAME_INCHES, AXES_INCHES = 0.3, 1.25, 4.6
MAX_LABELS = 15  # of a nominal feature; the rarest of more are pooled
LONGEST_LABEL = 28  # characters


def effect(
    result: Effect, *, level: float = 0.95, centred: bool = False, ax: "Axes | None" = None
) -> "Axes":
    """Draw an effect: a curve for one feature or a direction, a surface for two features.

    Curves have pointwise bands where there are standard errors, thin lines for rows where
    there are individual curves, and marks at the deciles of the feature. Labels of a nominal
    feature are dots below each other, the highest on top, with their number of rows; the rarest
    of more than 15 are pooled. Of two classes the second one is drawn, of more all; a surface
    shows one: pass ``result.output(label)``.

    Parameters
    ----------
    result : Effect
        Result of `partial_dependence`, `accumulated_local_effects` or `effect_along`.
    level : float, default=0.95
        Level of the band.
    centred : bool, default=False
        Whether individual curves begin at zero, which shows their differences better.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from bevel import ObliqueForestRegressor, plots
    >>> from bevel.analysis import partial_dependence
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestRegressor(100, random_state=0).fit(X, y)
    >>> ax = plots.effect(partial_dependence(forest, X, "bmi", standard_error=True))
    """
    if not isinstance(result, Effect):
        remedy = "Pass what partial_dependence returns."
        raise wrong_type("result", "an Effect", result, remedy)
    if result.classes is not None and len(result.classes) == 2 and result.output_name != QUANTILES:
        result = result.output(result.classes[1])
    if len(result.grid) == 2:
        return _surface(result, ax)
    outputs = _outputs(result)
    if result.grid[0].dtype.kind == "O":
        return _dots(outputs, result, level, centred, ax)
    with panel(ax, "effect") as axes:
        for number, (name, each) in enumerate(outputs.items()):
            _curve(axes, each, name, line(number), level, centred)
        _mark_tenths(axes, result)
        axes.set_xlabel(result.names[0] if result.kind != "effect along" else _steps(result))
        axes.set_ylabel(_measured(result, level, centred))
        set_finding(axes, _title(result), _finding(outputs))
        axes.grid(axis="y", color=RULE, lw=0.6)
        if len(outputs) > 1:
            # Beside the curves, since there may be no room between them.
            title = noun_of_outputs(result.output_name)
            axes.legend(title=title, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def effect_finding(result: Effect) -> str:
    """Shape of the curve of a feature in words, as in the title of `effect`."""
    if result.classes is not None and len(result.classes) == 2 and result.output_name != QUANTILES:
        result = result.output(result.classes[1])
    return _finding(_outputs(result))


def _outputs(result: Effect) -> dict[str, Effect]:
    """The curves by class or quantile."""
    if result.classes is None:
        return {"": result}
    return {str(label): result.output(label) for label in result.classes}


def interaction_bars(result: Interactions, *, n_top: int = 15, ax: "Axes | None" = None) -> "Axes":
    """Draw the strongest interactions as bars, with H squared behind each.

    Parameters
    ----------
    result : Interactions
        Result of `bevel.analysis.interactions`.
    n_top : int, default=15
        Largest number of pairs.
    ax : matplotlib Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.interaction_bars(analysis.interactions(forest, X))
    """
    check_count("n_top", n_top)
    if not isinstance(result, Interactions):
        remedy = "Pass what bevel.analysis.interactions returns."
        raise wrong_type("result", "Interactions", result, remedy)
    best, names = result.order[:n_top], result.pair_names
    place = np.arange(len(best))
    labels = [names[pair].replace(" x ", " × ") for pair in best]
    size = AXES_INCHES + text_width(labels), FRAME_INCHES + BAR_INCHES * len(best)
    with panel(ax, "interaction_bars", *size) as axes:
        axes.barh(place, result.strength[best], height=0.68, color=COLOURS[0])
        for number, pair in enumerate(best):
            text = f"  H² {result.h_squared[pair]:.2f}"
            axes.text(result.strength[pair], number, text, va="center", fontsize=8.5, color=INK)
        axes.set_yticks(place, labels)
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0.0, 1.3 * float(np.max(result.strength[best], initial=0.0)) or 1.0)
        axes.set_xlabel(
            "strength: what the joint effect has beyond the sum of both,\n"
            "in units of the prediction"
        )
        set_finding(axes, "Interactions", f"strongest for {labels[0]}" if labels else "")
        axes.grid(axis="x", color=RULE, lw=0.6)
    return axes


def _curve(
    axes: "Axes", result: Effect, name: str, look: dict[str, Any], level: float, centred: bool
) -> None:
    grid, values = result.grid[0], result.values
    shift = values[0] if centred else 0.0
    x = _places(grid)
    order = np.argsort(x, kind="stable")
    if result.individual is not None:
        curves = result.individual[~np.isnan(result.individual[:, 0])]
        chosen = np.linspace(0, len(curves) - 1, min(len(curves), MAX_CURVES)).astype(int)
        for curve in curves[chosen]:
            moved = curve - (curve[0] if centred else 0.0)
            axes.plot(x[order], moved[order], lw=0.5, alpha=0.25, color=look["color"], zorder=1)
    low, high = (None, None) if result.standard_error is None else result.band(level)
    if low is not None and high is not None:
        band = (low - shift)[order], (high - shift)[order]
        axes.fill_between(x[order], *band, color=look["color"], alpha=0.2, lw=0, zorder=2)
    axes.plot(x[order], (values - shift)[order], lw=2.0, label=name, zorder=3, **look)


def _dots(
    outputs: dict[str, Effect], result: Effect, level: float, centred: bool, ax: "Axes | None"
) -> "Axes":
    """The labels of a nominal feature as dots below each other, with intervals."""
    pooled = [_pooled(each) for each in outputs.values()]
    first = pooled[0]
    spread = [float(np.ptp(each.values)) for each in pooled]
    order = np.argsort(pooled[int(np.argmax(spread))].values, kind="stable")
    names = _label_names(first)
    height = FRAME_INCHES + BAR_INCHES * len(order)
    width = AXES_INCHES + text_width(names)
    with panel(ax, "effect", width, height) as axes:
        places = np.empty(len(order))
        places[order] = np.arange(len(order))
        for number, (name, each) in enumerate(zip(outputs, pooled, strict=True)):
            shift = 0.14 * (number - (len(pooled) - 1) / 2.0)
            values = each.values - (each.values[order[0]] if centred else 0.0)
            high = None if each.standard_error is None else each.band(level)[1]
            axes.errorbar(
                values,
                places - shift,
                xerr=None if high is None else high - each.values,
                fmt=marker(number)["marker"],
                color=marker(number)["color"],
                ms=5.5,
                lw=1.3,
                label=name,
                zorder=3,
            )
        axes.set_yticks(np.arange(len(order)), [names[place] for place in order])
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="both", color=RULE, lw=0.6)
        axes.locator_params(axis="x", nbins=6)
        axes.set_xlabel(_measured(result, level, centred).replace("band:", "lines:"))
        axes.set_ylabel(result.names[0])
        set_finding(axes, _title(result), _finding(outputs))
        if len(outputs) > 1:
            title = noun_of_outputs(result.output_name)
            axes.legend(title=title, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def _pooled(result: Effect) -> Effect:
    """The effect with the rarest labels of many in one, at their mean weighted by rows.

    The pooled interval is the mean of theirs, as if their errors were one.
    """
    grid, count = result.grid[0], _count(result)
    if count is None or len(grid) <= MAX_LABELS:
        return result
    rank = np.argsort(-count, kind="stable")
    kept, rest = np.sort(rank[: MAX_LABELS - 1]), rank[MAX_LABELS - 1 :]
    weights = np.maximum(count[rest], 1e-9)

    def pool(values: Any) -> Any:
        return np.append(values[kept], np.average(values[rest], weights=weights))

    error = result.standard_error
    labels = np.append(grid[kept], f"{len(rest)} other labels")
    return replace(
        result,
        grid=(labels,),
        values=pool(result.values),
        standard_error=None if error is None else pool(error),
        counts=(np.append(count[kept], count[rest].sum()),),
    )


def _count(result: Effect) -> Any:
    return result.counts[0] if result.counts else None


def _label_names(drawn: Effect) -> list[str]:
    """Labels with their number of rows."""
    labels = ["missing" if label is None else str(label) for label in drawn.grid[0]]
    labels = shorten_names([printable(label) for label in labels], LONGEST_LABEL)
    count = _count(drawn)
    if count is None:
        return labels
    return [f"{label} ({n:,})" for label, n in zip(labels, count.tolist(), strict=True)]


def _mark_tenths(axes: "Axes", result: Effect) -> None:
    tenths = result.quantiles[0]
    if tenths is None:
        return
    tenths, grid = _places(tenths), _places(result.grid[0])
    low, high = float(grid.min()), float(grid.max())
    inside = tenths[(tenths >= low) & (tenths <= high)]
    axes.vlines(
        inside, 0.0, 0.03, transform=axes.get_xaxis_transform(), color=FAINT, lw=1.0, zorder=4
    )
    if result.grid[0].dtype.kind == "M":
        mark_dates(axes.xaxis)


def _places(grid: Any) -> Any:
    """Numbers or dates as positions on an axis: of dates the days since 1970-01-01."""
    return array_as_days(grid) if grid.dtype.kind == "M" else np.asarray(grid, float)


def _surface(result: Effect, ax: "Axes | None") -> "Axes":
    if result.classes is not None:
        required = "of one class or quantile"
        got = f"{len(result.classes)} of them"
        raise wrong_value("A surface", required, got, f"Pass result.output({result.classes[0]!r}).")
    axes_x, axes_y = (_positions(grid) for grid in result.grid)
    signed = result.kind == "accumulated local effects"
    reach = float(np.abs(result.values).max()) or 1.0
    colours: dict[str, Any] = (
        {"cmap": "PuOr_r", "vmin": -reach, "vmax": reach} if signed else {"cmap": "viridis"}
    )
    with panel(ax, "effect") as axes:
        mesh = axes.pcolormesh(
            axes_x[0], axes_y[0], result.values.T, shading="nearest", rasterized=True, **colours
        )
        figure: Any = axes.figure
        what = f"interaction in the {result.output_name}" if signed else result.output_name
        figure.colorbar(mesh, ax=axes, label=what)
        for (_, labels), set_ticks in (
            (axes_x, axes.set_xticks),
            (axes_y, axes.set_yticks),
        ):
            if labels is not None:
                set_ticks(np.arange(len(labels)), labels)
        for grid, axis in zip(result.grid, (axes.xaxis, axes.yaxis), strict=True):
            if grid.dtype.kind == "M":
                mark_dates(axis)
        axes.set(xlabel=result.names[0], ylabel=result.names[1])
        set_finding(axes, _title(result), _surface_finding(result, signed))
    return axes


def _positions(grid: Any) -> tuple[Any, list[str] | None]:
    if grid.dtype.kind == "O":
        return np.arange(len(grid)), [value_text(each) for each in grid]
    return _places(grid), None


def _title(result: Effect) -> str:
    if result.kind == "effect along":
        return "Effect along a direction"
    names = shorten_names(result.names, LONGEST_LABEL)
    return f"{result.kind[:1].upper()}{result.kind[1:]} of {' and '.join(names)}"


def _finding(outputs: dict[str, Effect]) -> str:
    """Shape of the curve in words; of several classes, that of the one which changes most."""
    names = list(outputs)
    curves = [np.asarray(each.values, float) for each in outputs.values()]
    most = int(np.argmax([np.ptp(curve) for curve in curves]))
    if next(iter(outputs.values())).grid[0].dtype.kind == "O":
        drawn = _pooled(outputs[names[most]])  # so that the picture shows the labels
        curve, labels = np.asarray(drawn.values, float), drawn.grid[0]
        ends = [
            f"{digits(curve[place])} for {'missing' if labels[place] is None else labels[place]}"
            for place in (int(curve.argmin()), int(curve.argmax()))
        ]
        finding = f"from {ends[0]} to {ends[1]}"
    else:
        order = np.argsort(_places(outputs[names[most]].grid[0]), kind="stable")
        finding = course(curves[most][order])
    return f"{names[most]} changes most, {finding}" if len(names) > 1 else finding


def _surface_finding(result: Effect, signed: bool) -> str:
    if signed:
        return f"up to ±{digits(float(np.abs(result.values).max()))} beside the single effects"
    at = np.unravel_index(int(np.argmax(result.values)), result.values.shape)
    places = [grid[place] for grid, place in zip(result.grid, at, strict=True)]
    said = [value_text(each) for each in places]
    top = digits(float(np.max(result.values)))
    return f"highest ({top}) at {result.names[0]} {said[0]}, {result.names[1]} {said[1]}"


def _steps(result: Effect) -> str:
    return f"steps of {result.names[0]}"


def _measured(result: Effect, level: float, centred: bool) -> str:
    what = result.output_name if result.classes is None else measured(result.output_name)
    if centred or result.kind == "accumulated local effects":
        what = f"change of the {what}"
    if result.standard_error is None:
        return what
    return f"{what}\n(band: {100 * level:g} % at each point)"
