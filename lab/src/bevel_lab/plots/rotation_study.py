"""Errors over fold groups × rotation groups: heat maps and histograms (Blaser, Figs. 3.4–3.14)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bevel.errors import wrong_value
from bevel.plots.canvas import FAINT, named, panel, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bevel_lab import RotationStudy

__all__ = ["rotation_heat_map", "rotation_histogram", "rotation_studies"]

# From light to dark without turning back, in grey too; as in the thesis light is good.
COLOURS = "YlOrBr"
SORTS = (None, "folds", "rotations")
MAX_NAMES = 25  # groups that are named one by one
N_BINS = 24
PER_ROW = 2  # studies side by side, whose names are still readable on a page


def rotation_heat_map(
    study: "RotationStudy",
    *,
    sort: str | None = None,
    scale: tuple[float, float] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the error of each fold group (down) and rotation group (across); darker is worse.

    Mean errors of the groups stand beside their names.

    Parameters
    ----------
    study : RotationStudy
    sort : {None, "folds", "rotations"}, default=None
        Order one side from the best group to the worst.
    scale : (float, float), default=None
        Errors of the lightest and of the darkest colour; None takes those of the study. Methods are
        compared on one scale only.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if sort not in SORTS:
        remedy = "Choose the side whose groups are put in order."
        raise wrong_value("sort", 'None, "folds" or "rotations"', sort, remedy)
    down, across = np.arange(study.errors.shape[0]), np.arange(study.errors.shape[1])
    if sort == "folds":
        down = np.argsort(study.fold_group_means, kind="stable")
    if sort == "rotations":
        across = np.argsort(study.rotation_group_means, kind="stable")
    low, high = _scale([study]) if scale is None else scale
    with panel(ax, "rotation_heat_map", 6.4, 5.4) as axes:
        axes.imshow(study.errors[np.ix_(down, across)], cmap=COLOURS, vmin=low, vmax=high)
        _name_groups(axes.yaxis, "FG", down, study.fold_group_means[down], "fold groups")
        _name_groups(
            axes.xaxis, "RG", across, study.rotation_group_means[across], "rotation groups"
        )
        axes.tick_params(axis="y", left=False, labelleft=False, right=False, labelright=True)
        axes.tick_params(axis="x", bottom=False, rotation=90)
        axes.yaxis.set_label_position("right")
        axes.spines[:].set_visible(False)
        axes.set_title(study.name, parse_math=False)
    return axes


def rotation_histogram(
    study: "RotationStudy",
    *,
    scale: tuple[float, float] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw how often each error occurs, in the colours of the heat map.

    Parameters
    ----------
    study : RotationStudy
    scale : (float, float), default=None
        Range of errors; None takes that of the study.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    low, high = _scale([study]) if scale is None else scale
    edges = _edges(study, low, high)
    counts, _ = np.histogram(study.errors, edges)
    with panel(ax, "rotation_histogram", 5.2, 2.6) as axes:
        from matplotlib import colormaps

        middles = (edges[1:] + edges[:-1]) / 2
        shades = colormaps[COLOURS](np.clip((middles - low) / (high - low), 0.0, 1.0))
        width = edges[1] - edges[0]
        axes.bar(middles, counts, width, color=shades, edgecolor=FAINT, lw=0.5)
        mean = float(study.errors.mean())
        axes.axvline(mean, color=FAINT, lw=1, ls=(0, (4, 3)))
        axes.set_title(f"{study.name}: mean {mean:.4f}".removeprefix(": "), parse_math=False)
        axes.set(xlabel=study.measure, ylabel="entries", xlim=(edges[0], edges[-1]))
    return axes


def rotation_studies(
    studies: "RotationStudy | Mapping[str, RotationStudy]",
    *,
    sort: str | None = "folds",
    heat_maps: bool = True,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw several studies on one scale, two in a row: heat maps, and histograms below them.

    Parameters
    ----------
    studies : RotationStudy, or mapping of str to them
        One learner, or several by name, of the same data.
    sort : {None, "folds", "rotations"}, default="folds"
        Which side of the heat maps is put in order.
    heat_maps : bool, default=True
        Whether heat maps are drawn; without them the histograms stand below each other.
    ax : matplotlib Axes or array-like of them, default=None
        Where to draw: axes whose place is divided, or one for each panel; None makes a new figure.

    Returns
    -------
    ndarray of matplotlib Axes
        Rows of heat maps, each with a row of histograms below it; or the histograms.
    """
    by_name = named(studies, "studies")
    scale = _scale(list(by_name.values()))
    count = len(by_name)
    shape, size = _lattice(count, heat_maps)
    ratios: Any = {"height_ratios": (3.2, 1) * (shape[0] // 2)} if heat_maps else {}
    with panels(ax, "rotation_studies", shape, size, **ratios) as grid:
        maps, histograms = list(grid[::2].flat), list((grid[1::2] if heat_maps else grid).flat)
        for number, (name, study) in enumerate(by_name.items()):
            called = replace(study, name=name or study.name)
            if heat_maps:
                rotation_heat_map(called, sort=sort, scale=scale, ax=maps[number])
            below = rotation_histogram(called, scale=scale, ax=histograms[number])
            if not heat_maps and number < count - 1:
                below.set_xlabel("")
        for unused in (maps[count:] if heat_maps else []) + histograms[count:]:
            unused.set_axis_off()
        _same_heights(histograms[:count])
    return grid


def _lattice(count: int, heat_maps: bool) -> tuple[tuple[int, int], tuple[float, float]]:
    """Rows and columns of panels, and inches; `PER_ROW` studies in a row with heat maps."""
    if not heat_maps:
        return (count, 1), (5.6, 2.1 * count)
    n_rows, n_columns = -(-count // PER_ROW), min(count, PER_ROW)
    return (2 * n_rows, n_columns), (6.0 * n_columns, 7.6 * n_rows)


def _edges(study: "RotationStudy", low: float, high: float) -> Any:
    """A bin for each number of wrong rows where there are few, else equal ones."""
    step = 1.0 / study.n_rows
    if study.measure == "error rate" and high - low <= N_BINS * step:
        return low + step * (np.arange(round((high - low) / step) + 2) - 0.5)
    # Means of folds land a hair beside the ends, and would fall out of the range.
    hair = 1e-9 * (high - low)
    return np.linspace(low - hair, high + hair, N_BINS + 1)


def _same_heights(axes: Any) -> None:
    top = max(each.get_ylim()[1] for each in axes)
    for each in axes:
        each.set_ylim(0, top)


def _scale(studies: "list[RotationStudy]") -> tuple[float, float]:
    """From the smallest error to the largest one; never empty."""
    low = float(min(study.errors.min() for study in studies))
    high = float(max(study.errors.max() for study in studies))
    return (
        (low, high) if high > low else (low - 0.5 * abs(low or 1.0), high + 0.5 * abs(high or 1.0))
    )


def _name_groups(axis: Any, letters: str, order: Any, means: Any, many: str) -> None:
    if len(order) > MAX_NAMES:
        axis.set_ticks([])
        axis.set_label_text(f"{len(order)} {many}")
        return
    names = [
        f"{letters}-{group + 1:02d} {mean:.4f}" for group, mean in zip(order, means, strict=True)
    ]
    axis.set_ticks(range(len(order)), names, fontsize=8)
