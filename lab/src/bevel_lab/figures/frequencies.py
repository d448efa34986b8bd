"""Tables of shades with their numbers printed in them: how often, or how high a rank."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.report.page import INK, canvas, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BINS", "bin_counts", "hyperparameter_ranks", "rank_histogram", "relative_errors"]

SHADES = "Blues"  # one hue from light to dark: its order survives in grey
CELL = 0.42  # inches

# Edges of normalised relative errors; exactly 0 has a bin of its own (thesis, Fig. 2.6).
BINS = (-np.inf, -0.25, -0.1, -0.05, -0.02, 0.0, 0.0, 0.02, 0.05, 0.1, 0.25, np.inf)


def rank_histogram(
    names: Sequence[str], shares: ArrayLike, p_values: Sequence[float | None] | None = None
) -> str:
    """Share of data sets on which a system took a place (SPORF, Fig. 5B).

    Parameters
    ----------
    names : sequence of str
    shares : array-like, shape (n_systems, n_systems)
        ``[system, place]`` (`bevel_lab.statistics.rank_shares`).
    p_values : sequence of float or None, optional
        Printed to the right of their systems; None for the reference.
    """
    values = np.asarray(shares, dtype=np.float64)
    n = len(names)
    height = CELL * 0.8 * n + 0.9
    with canvas(CELL * n + 2.6, height) as figure:
        axes = figure.add_axes((0.25, 0.25, 0.6, 0.65))
        _shade(axes, values, "{:.0%}".format, high=max(0.5, float(values.max())))
        axes.set_xticks(range(n), [str(place + 1) for place in range(n)])
        axes.set_yticks(range(n), list(names))
        axes.set_xlabel("rank on a data set, 1 is best")
        for system, p_value in enumerate(p_values or ()):
            text = "reference" if p_value is None else f"p = {p_value:.2g}"
            axes.text(n - 0.35, system, text, va="center", ha="left", fontsize=9)
        return svg(figure)


def hyperparameter_ranks(
    rows: Sequence[str], columns: Sequence[str], ranks: ArrayLike, row_name: str, column_name: str
) -> str:
    """Median ranks over a grid of two hyperparameters, lower is better (SPORF, Fig. 6)."""
    values = np.asarray(ranks, dtype=np.float64)
    with canvas(0.75 * len(columns) + 1.6, 0.5 * len(rows) + 1.0) as figure:
        axes = figure.add_axes((0.2, 0.2, 0.75, 0.7))
        # the best is the darkest: the eye goes to the dark cells first
        _shade(axes, values, "{:.1f}".format, reverse=True)
        axes.set_xticks(range(len(columns)), list(columns))
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set_xlabel(column_name)
        axes.set_ylabel(row_name, rotation=0, ha="right", va="center", labelpad=10)
        best = np.unravel_index(int(np.nanargmin(values)), values.shape)
        axes.add_patch(_frame(int(best[1]), int(best[0])))
        return svg(figure)


def relative_errors(panels: Mapping[str, Mapping[str, ArrayLike]], reference: str) -> str:
    """How many data sets have a normalised relative error in a bin (thesis, Fig. 2.6).

    Parameters
    ----------
    panels : mapping of str to mapping of str to array-like
        For each transformation and system, one value per data set
        (`bevel_lab.statistics.normalised_relative_error`).
    reference : str
        The system whose error is subtracted.
    """
    counts = {
        title: np.stack([bin_counts(values) for values in systems.values()], axis=1)
        for title, systems in panels.items()
    }
    most = max(int(each.max()) for each in counts.values())
    n_systems = max(len(systems) for systems in panels.values())
    columns = max(1, min(len(panels), 15 // n_systems))
    rows = -(-len(panels) // columns)
    with canvas(1.4 + columns * (0.31 * n_systems + 0.14), 3.9 * rows) as figure:
        grid = figure.add_gridspec(rows, columns, wspace=0.08, hspace=0.45)
        for number, (title, systems) in enumerate(panels.items()):
            axes = figure.add_subplot(grid[number // columns, number % columns])
            _shade(axes, counts[title][::-1], "{:d}".format, high=most)
            axes.set_title(title)
            axes.set_xticks(range(len(systems)), list(systems), rotation=90)
            first = number % columns == 0
            labels = _bin_names()[::-1] if first else []
            axes.set_yticks(range(len(labels)), labels)
            if first:
                axes.set_ylabel(f"(error − {reference}'s) / chance error")
        return svg(figure)


def bin_counts(values: ArrayLike) -> NDArray[np.int64]:
    """Count values in `BINS`: open towards 0, closed away from it; NaN is left out."""
    given = np.round(np.asarray(values, dtype=np.float64), 12)
    low, high = np.array(BINS[:-1])[:, None], np.array(BINS[1:])[:, None]
    below = (given >= low) & (given < high) & (high <= 0.0)
    above = (given > low) & (given <= high) & (low >= 0.0)
    zero = (low == high) & (given == 0.0)
    return np.asarray((below | above | zero).sum(axis=1), dtype=np.int64)


def _bin_names() -> list[str]:
    names = []
    for low, high in pairwise(BINS):
        if low == high:
            names.append("exactly 0")
        elif np.isinf(low):
            names.append(f"below {high:g}")
        elif np.isinf(high):
            names.append(f"above {low:g}")
        else:
            names.append(f"{low:g} to {high:g}")
    return [name.replace("-", "−") for name in names]


def _frame(column: int, row: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec=INK, lw=2, clip_on=False)


def _shade(
    axes: "Axes",
    values: NDArray[np.float64] | NDArray[np.int64],
    write: Callable[[Any], str],
    *,
    high: float | None = None,
    reverse: bool = False,
) -> None:
    """Draw shaded cells with white gaps and their numbers; zeros stay blank."""
    top = float(np.nanmax(values)) if high is None else float(high)
    bottom = float(np.nanmin(values)) if reverse else 0.0
    span = max(top - bottom, 1e-12)
    depth = (np.asarray(values, dtype=np.float64) - bottom) / span
    depth = 1.0 - depth if reverse else depth
    rows, columns = np.arange(values.shape[0] + 1) - 0.5, np.arange(values.shape[1] + 1) - 0.5
    # at most 0.85 of the scale: the darkest cell keeps its number readable
    axes.pcolormesh(
        columns, rows, 0.85 * depth, cmap=SHADES, vmin=0, vmax=1, edgecolors="white", linewidth=1.2
    )
    axes.invert_yaxis()
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value) and (value or reverse):
            colour = "white" if depth[row, column] > 0.6 else INK
            axes.text(
                column, row, write(value), ha="center", va="center", color=colour, fontsize=8.5
            )
    axes.tick_params(length=0)
    for edge in axes.spines.values():
        edge.set_visible(False)
