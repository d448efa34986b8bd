"""What rotations do to a problem: the rotated planes themselves (Blaser, Figs. 2.3–2.7)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.errors import wrong_value
from bevel.plots.canvas import INK, RULE, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel_lab import RankedRotations

__all__ = ["coordinate_planes", "rotated_planes"]

# Okabe and Ito's blue and orange first: dark and light, so that classes are told apart in grey.
SHADES = ("#0072B2", "#F0C060", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#1f2933")
COLUMNS = 10
SIDE = 0.95  # inches of a small plane
POINTS = 1000  # of a plane; more would be a blot


def rotated_planes(
    ranked: "RankedRotations",
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_best: int = 20,
    n_worst: int = 20,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw a problem in the plane under its best and its worst rotations.

    From the top left: the best rotation, the second, and so on; below the gap the worst ones, the
    very worst last. The small number is that of the rotation, in order of drawing.

    Parameters
    ----------
    ranked : RankedRotations
        Of two features.
    X, y : array-likes of shapes (n_rows, 2) and (n_rows,)
        Points; at most seven classes.
    n_best, n_worst : int, default=20
        Rotations of either end; when there are not so many, all are drawn once.
    ax : matplotlib Axes or array-like of them, default=None
        Where to draw: axes whose place is divided, or one for each place of the grid; None makes a
        new figure.

    Returns
    -------
    ndarray of matplotlib Axes
        Rows of ten; places without a plane are empty.
    """
    points, labels = _read(X, y)
    if points.shape[1] != 2 or ranked.rotations.shape[1] != 2:
        remedy = "coordinate_planes draws problems of more features."
        raise wrong_value("X", "of two features, as the rotations", points.shape, remedy)
    parts = _ends(len(ranked.complexity), n_best, n_worst)
    places = _places(parts)
    columns = min(COLUMNS, max(map(len, parts)))
    # Between the two ends an empty row, a third as high as a plane.
    ratios = [
        1.0 if any(row == line for line, _ in places) else 0.35 for row in range(_last(places))
    ]
    size = (SIDE * columns, SIDE * sum(ratios))
    with panels(ax, "rotated_planes", (len(ratios), columns), size, height_ratios=ratios) as grid:
        for axes in grid.flat:
            axes.set_axis_off()
        for place, rank in zip(places, [rank for part in parts for rank in part], strict=True):
            axes = grid[place]
            _draw_plane(axes, points @ ranked.rotations[rank], labels)
            _number(axes, str(ranked.number[rank] + 1))
    return grid


def _places(parts: list[Sequence[int]]) -> list[tuple[int, int]]:
    """Row and column of each plane; an empty row between the parts."""
    places, above = [], 0
    for part in parts:
        places += [(above + place // COLUMNS, place % COLUMNS) for place in range(len(part))]
        above = places[-1][0] + 2
    return places


def _last(places: list[tuple[int, int]]) -> int:
    return places[-1][0] + 1


def coordinate_planes(
    problems: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw rotated problems on all planes of two axes, a line for each problem.

    They are projections of one rotation, p(p − 1)/2 for p features: a boundary along an axis is
    seen in those that have the axis. The small numbers are those of the two axes.

    Parameters
    ----------
    problems : mapping of str to (X, y, rotation)
        Points, labels and a rotation (``X @ rotation`` is drawn), by what stands before the line.
    ax : matplotlib Axes or array-like of them, default=None
        Where to draw: axes whose place is divided, or one for each place of the grid; None makes a
        new figure.

    Returns
    -------
    ndarray of matplotlib Axes, shape (n_problems, most planes)
    """
    if not problems:
        raise wrong_value("problems", "at least one", "none", "Pass points, labels, a rotation.")
    read = {name: (*_read(X, y), np.asarray(turn)) for name, (X, y, turn) in problems.items()}
    pairs = {
        name: list(combinations(range(points.shape[1]), 2)) for name, (points, _, _) in read.items()
    }
    shape = len(read), max(map(len, pairs.values()))
    with panels(ax, "coordinate_planes", shape, (SIDE * (shape[1] + 0.6), SIDE * shape[0])) as grid:
        for axes in grid.flat:
            axes.set_axis_off()
        for line, (name, (points, labels, rotation)) in zip(grid, read.items(), strict=True):
            turned = points @ rotation
            for axes, pair in zip(line, pairs[name], strict=False):
                _draw_plane(axes, turned[:, pair], labels)
                _number(axes, f"{pair[0] + 1},{pair[1] + 1}")
            line[0].set_ylabel(name, rotation=0, ha="right", va="center", color=INK)
    return grid


def _read(X: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    points = np.asarray(X, dtype=np.float64)
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    if points.ndim != 2 or points.shape[1] < 2 or len(points) != len(labels):
        required = "of two features or more, with a label for each row"
        raise wrong_value("X", required, points.shape, f"y has {len(labels)} labels.")
    if len(classes) > len(SHADES):
        raise wrong_value("y", f"at most {len(SHADES)} classes", len(classes), "Draw fewer.")
    return points, labels


def _ends(n_ranked: int, n_best: int, n_worst: int) -> list[Sequence[int]]:
    """Places of the best and of the worst, or of all."""
    if n_best + n_worst >= n_ranked:
        return [range(n_ranked)]
    ends = [range(n_best), range(n_ranked - n_worst, n_ranked)]
    kept = [end for end in ends if len(end)]
    if not kept:
        remedy = "Ask for one rotation at least."
        raise wrong_value("n_best + n_worst", "1 or more", n_best + n_worst, remedy)
    return list(kept)


def _draw_plane(axes: "Axes", points: NDArray[np.float64], labels: NDArray[np.intp]) -> None:
    points, labels = points[:POINTS], labels[:POINTS]
    shades = np.array(SHADES)[labels]
    axes.scatter(points[:, 0], points[:, 1], s=1.6, c=list(shades), lw=0, rasterized=True)
    axes.set_axis_on()
    axes.set(xticks=[], yticks=[], aspect="equal")
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    reach = 0.52 * (points.max(axis=0) - points.min(axis=0)).max() or 1.0
    axes.set(
        xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach)
    )
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(RULE)


def _number(axes: "Axes", text: str) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    axes.text(
        *(0.97, 0.96, text), transform=axes.transAxes, ha="right", va="top", fontsize=6, bbox=box
    )
