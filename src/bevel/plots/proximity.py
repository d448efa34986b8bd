"""Rows as points by their proximities: on a map, and as pairs of principal coordinates with the
share that they explain.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.analysis.results import PrincipalCoordinates
from bevel.errors import wrong_type, wrong_value
from bevel.plots.canvas import (
    COLOURS,
    FAINT,
    INK,
    LINES,
    MARKERS,
    RULE,
    legend,
    named,
    panel,
    panels,
    set_finding,
    wrapped,
)
from bevel.printable import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Groups",
    "check_coordinates",
    "draw_groups",
    "proximity_map",
    "proximity_pairs",
    "read_groups",
    "variation_explained",
]

# Rows as points: classes by colour and marker, numbers by shade.

Groups = list[tuple[str, NDArray[np.bool_]]]
MAX_GROUPS = len(COLOURS)


def check_coordinates(name: str, given: object) -> None:
    """Raise unless they are principal coordinates."""
    if not isinstance(given, PrincipalCoordinates):
        remedy = "Pass principal_coordinates(forest, X, y)."
        raise wrong_type(name, "principal coordinates of rows", given, remedy)


def read_groups(labels: ArrayLike | None, n: int) -> Groups | NDArray[np.float64]:
    """Groups of rows by label, or numbers to shade by."""
    if labels is None:
        return [("", np.ones(n, bool))]
    values = np.asarray(labels)
    if values.shape != (n,):
        raise wrong_value("labels", f"one for each of the {n} rows", values.shape, "Pass y.")
    distinct = np.unique(values)
    if len(distinct) <= MAX_GROUPS:
        return [(wrapped(str(label), 24), values == label) for label in distinct]
    if values.dtype.kind not in "fiu":
        required = f"numbers, or at most {MAX_GROUPS} classes"
        raise wrong_value("labels", required, f"{len(distinct)} classes", "Join classes.")
    return values.astype(np.float64)


def draw_groups(
    axes: "Axes",
    points: NDArray[np.float64],
    drawn: Groups | NDArray[np.float64],
    size: float = 18.0,
) -> None:
    """Draw points of the plane, with lines through zero; `size` is the area of a dot."""
    style: dict[str, Any] = {"s": size, "linewidths": 0.4, "edgecolors": "white", "alpha": 0.85}
    axes.axhline(0.0, color=RULE, linewidth=0.8, zorder=0)
    axes.axvline(0.0, color=RULE, linewidth=0.8, zorder=0)
    if not isinstance(drawn, list):
        axes.scatter(points[:, 0], points[:, 1], c=drawn, cmap="cividis", **style)
        return
    for i, (label, mine) in enumerate(drawn):
        style |= {"color": COLOURS[i], "marker": MARKERS[i]}
        axes.scatter(points[mine, 0], points[mine, 1], label=label, **style)
    axes.margins(0.08)


MANY_ROWS, SMALL_DOT, DOT = 2000, 12.0, 26.0  # rows; areas of dots for more, and for fewer


def proximity_map(
    result: PrincipalCoordinates, *, labels: ArrayLike | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw rows in their first two principal coordinates.

    Rows that share leaves in many trees are near each other. For more coordinates, or two forests
    side by side, see `proximity_pairs`.

    Parameters
    ----------
    result : PrincipalCoordinates
        Result of `bevel.analysis.principal_coordinates`.
    labels : array-like of shape (n_rows,), default=None
        Classes, by colour and marker, or numbers, by shade if there are more than eight.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier
    >>> from bevel.analysis import principal_coordinates
    >>> from bevel.plots import proximity_map
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueForestClassifier(100, random_state=0).fit(X, y)
    >>> ax = proximity_map(principal_coordinates(forest, X, y), labels=y)
    """
    check_coordinates("result", result)
    n, d = result.coordinates.shape
    if d < 2:
        remedy = "Ask principal_coordinates for n_components=2."
        raise wrong_value("result", "coordinates of two components or more", d, remedy)
    drawn = read_groups(labels, n)
    with panel(ax, "proximity_map", 6.0, 4.6) as axes:
        draw_groups(axes, result.coordinates[:, :2], drawn, DOT if n <= MANY_ROWS else SMALL_DOT)
        axes.set(xlabel=_side(result, 0), ylabel=_side(result, 1))
        axes.set_title(f"Proximity of {n:,} rows", loc="left")
        if not isinstance(drawn, list):
            figure: Any = axes.figure
            name = wrapped(str(getattr(labels, "name", None) or ""))
            figure.colorbar(axes.collections[-1], ax=axes, label=name).outline.set_visible(False)
        elif len(drawn) > 1:
            place: Any = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
            axes.legend(markerscale=1.4, handletextpad=0.1, **place)
    return axes


def _side(result: PrincipalCoordinates, component: int) -> str:
    share = 100.0 * float(np.asarray(result.explained)[component])
    return f"principal coordinate {component + 1} ({share:.1f} % of the variation)"


CELL, HEAD, FOOT = 1.9, 0.3, 0.35  # inches: a panel, titles, legend


def proximity_pairs(
    result: PrincipalCoordinates,
    other: PrincipalCoordinates | None = None,
    *,
    labels: ArrayLike | None = None,
    names: tuple[str, str] = ("one forest", "the other"),
    ax: Any = None,
) -> NDArray[Any]:
    """Draw every principal coordinate against every other one (Menze et al., Fig. 8).

    Parameters
    ----------
    result : PrincipalCoordinates
        Result of `bevel.analysis.principal_coordinates`; drawn below the diagonal, and above it too
        if it is the only one. Two to six components are readable.
    other : PrincipalCoordinates, default=None
        Coordinates by another forest of the same rows, drawn above the diagonal.
    labels : array-like of shape (n_rows,), default=None
        Classes, by colour and marker, or numbers, by shade if there are more than eight.
    names : tuple of two str
        Names of the two forests, for the titles.
    ax : matplotlib Axes or array-like of them, default=None
        Axes that are divided into panels, or one for each pair; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib Axes, shape (n_components, n_components)

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> coordinates = analysis.principal_coordinates(forest, X, y)
    >>> axes = plots.proximity_pairs(coordinates, labels=y)
    """
    for name, each in (("result", result), ("other", other)):
        if each is not None:
            check_coordinates(name, each)
    upper = result if other is None else other
    n, d = result.coordinates.shape
    _check_pairs(n, d, upper.coordinates.shape)
    drawn = read_groups(labels, n)
    size = (CELL * d, CELL * d + HEAD + FOOT)
    with panels(ax, "proximity_pairs", (d, d), size, wspace=0.05, hspace=0.05) as grid:
        for row, column in np.ndindex(d, d):
            axes: Any = grid[row, column]
            _bare(axes)
            if row == column:
                _write_shares(axes, row, result, other, names)
                continue
            source = result if row > column else upper
            draw_groups(axes, source.coordinates[:, [column, row]], drawn)
        if ax is None:
            pair = f"above the diagonal: {names[1]} · below: {names[0]}"
            alone = "principal coordinates, and the variation that they explain"
            _write_around(grid, alone if other is None else pair, drawn)
        elif isinstance(drawn, list) and len(drawn) > 1:
            grid[0, -1].legend(loc="best", fontsize=8, handletextpad=0.1)
    return grid


def variation_explained(
    results: PrincipalCoordinates | Mapping[str, PrincipalCoordinates],
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the share of the variation that each principal coordinate of forests explains.

    Parameters
    ----------
    results : PrincipalCoordinates, or mapping of str to them
        Coordinates of one forest, or of several by name.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from bevel import ObliqueForestClassifier, analysis, plots
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = ObliqueForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plots.variation_explained(analysis.principal_coordinates(forest, X, y))
    """
    forests = named(results)
    with panel(ax, "variation_explained", width=5.0, height=3.4) as axes:
        for i, (name, result) in enumerate(forests.items()):
            place = np.arange(1, len(result.explained) + 1)
            axes.plot(
                place,
                100.0 * result.explained,
                color=COLOURS[i % len(COLOURS)],
                marker=MARKERS[i % len(MARKERS)],
                linestyle=LINES[i % len(LINES)],
                label=name,
                clip_on=False,  # markers at zero are whole
                zorder=3,
            )
        most = max(len(result.explained) for result in forests.values())
        axes.set_xticks(np.arange(1, most + 1))
        axes.set_ylim(bottom=0.0)
        axes.grid(axis="y", color=RULE)
        axes.set(xlabel="principal coordinate", ylabel="variation explained (%)")
        legend(axes, forests)
        set_finding(axes, "Principal coordinates", _explained(forests))
    return axes


def _explained(forests: "dict[str, PrincipalCoordinates]") -> str:
    if len(forests) > 1:
        return ""
    (only,) = forests.values()
    count = len(only.explained)
    verb = "explains" if count == 1 else "explain"
    return f"{count} {verb} {100 * float(only.explained.sum()):.0f} % of the variation"


def _check_pairs(n: int, d: int, shape: tuple[int, ...]) -> None:
    if d < 2:
        remedy = "Ask principal_coordinates for n_components=4."
        raise wrong_value("result", "coordinates of two components or more", d, remedy)
    if shape != (n, d):
        required = f"coordinates of the same rows and components, {n} x {d}"
        raise wrong_value("other", required, shape, "Embed the rows of both forests alike.")


def _write_shares(
    axes: "Axes",
    component: int,
    result: PrincipalCoordinates,
    other: PrincipalCoordinates | None,
    names: tuple[str, str],
) -> None:
    """Write the number of the component and its explained share on the diagonal."""
    lines = [f"{100 * result.explained[component]:.1f} %"]
    if other is not None:
        lines = [f"{names[1]} {100 * other.explained[component]:.1f} %", f"{names[0]} {lines[0]}"]
    place: dict[str, Any] = {"ha": "center", "va": "center", "transform": axes.transAxes}
    axes.text(0.5, 0.62, str(component + 1), fontsize=20, color=INK, **place)
    axes.text(0.5, 0.32, "\n".join(lines), fontsize=8.5, color=FAINT, **place)


LETTERS_OF_PANEL = 22  # of a title, above each panel


def _write_around(grid: NDArray[Any], title: str, drawn: Groups | NDArray[np.float64]) -> None:
    """Write a title above the panels, and a legend below them."""
    figure = grid[0, 0].figure
    figure.suptitle(wrapped(title, LETTERS_OF_PANEL * len(grid)), fontsize=10)
    if not isinstance(drawn, list):
        ends = f"dark: {number(float(drawn.min()))} · pale: {number(float(drawn.max()))}"
        figure.supxlabel(ends, fontsize=10)
    elif len(drawn) > 1:
        key = grid[1, 0].get_legend_handles_labels()
        columns = min(len(drawn), 2 * len(grid))
        figure.legend(*key, loc="outside lower center", ncols=columns, markerscale=1.6)


def _bare(axes: "Axes") -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for edge in axes.spines.values():
        edge.set(visible=True, color=RULE)
