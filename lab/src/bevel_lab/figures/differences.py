"""Systems side by side: effect sizes over data sets, and mean ranks with what is alike."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bevel.report.page import COLOURS, FAINT, INK, RULE, canvas, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["critical_differences", "effect_sizes", "swarm"]

LIMIT = 0.1  # effects beyond ± 10 % are drawn at the edge, as in SPORF's Fig. 5
DOT = 4.2  # points across
ROW = 0.62  # inches of height for a system


def effect_sizes(effects: Mapping[str, ArrayLike], reference: str, measure: str = "κ") -> str:
    """Beeswarms of differences to a reference over data sets (SPORF, Fig. 5A, lying down).

    Parameters
    ----------
    effects : mapping of str to array-like
        For each system the reference's value minus its own, one per data set: negative where the
        system is better, if larger values of the measure are better.
    reference : str
        The system compared with.
    measure : str, default="κ"
    """
    names = list(effects)
    width, height = 6.2, ROW * len(names) + 1.0
    with canvas(width, height) as figure:
        axes = figure.add_axes((0.2, 0.6 / height, 0.78, 1 - 1.0 / height))
        axes.axvline(0.0, color=FAINT, linewidth=1.0, zorder=1)
        per_inch = (2.2 * LIMIT) / (0.78 * width)
        for place, name in enumerate(names):
            values = np.asarray(effects[name], dtype=np.float64)
            values = values[np.isfinite(values)]
            _draw_swarm(axes, values, place, COLOURS[place % len(COLOURS)], per_inch)
        axes.set(xlim=(-1.1 * LIMIT, 1.1 * LIMIT), ylim=(len(names) - 0.5, -0.5))
        axes.set_yticks(range(len(names)), names)
        ticks = np.array([-LIMIT, -LIMIT / 2, 0.0, LIMIT / 2, LIMIT])
        axes.set_xticks(ticks, ["≤ −0.10", "−0.05", "0", "0.05", "≥ 0.10"])
        axes.set_xlabel(f"{measure}({reference}) − {measure}(system)")
        for where, words in (("left", f"← better than {reference}"), ("right", "worse →")):
            axes.set_title(words, loc=where, fontsize=9, fontweight="normal", color=FAINT)  # type: ignore[arg-type]
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        for place in range(1, len(names)):
            axes.axhline(place - 0.5, color=RULE, linewidth=0.7, zorder=0)
        return svg(figure)


def _draw_swarm(
    axes: "Axes", values: NDArray[np.float64], place: int, colour: str, per_inch: float
) -> None:
    squashed = np.clip(values, -LIMIT, LIMIT)
    diameter = DOT / 72.0  # inches
    rise = swarm(squashed / per_inch, diameter, 0.4 * ROW) / ROW
    axes.scatter(squashed, place + rise, s=DOT**2, color=colour, alpha=0.75, linewidths=0, zorder=2)
    if len(values):
        mean = float(np.clip(values.mean(), -LIMIT, LIMIT))
        axes.scatter([mean], [place], s=70, marker="x", color="white", linewidths=4.5, zorder=3)
        axes.scatter([mean], [place], s=60, marker="x", color="black", linewidths=2.0, zorder=4)


def swarm(values: ArrayLike, diameter: float, reach: float) -> NDArray[np.float64]:
    """Offsets that keep dots of a diameter from covering each other, each as near to 0 as it can.

    Offsets stop at ± `reach`: beyond it dots overlap.
    """
    given = np.asarray(values, dtype=np.float64)
    offsets = np.zeros(len(given))
    steps = np.arange(1, int(reach / (0.5 * diameter)) + 1) * 0.5 * diameter
    candidates = np.concatenate([[0.0], np.stack([steps, -steps], axis=1).ravel()])
    placed: list[int] = []
    for dot in np.argsort(given, kind="stable"):
        near = [each for each in placed if given[dot] - given[each] < diameter]
        for offset in candidates:
            gaps = [np.hypot(given[dot] - given[each], offset - offsets[each]) for each in near]
            if not gaps or min(gaps) >= 0.999 * diameter:
                break
        offsets[dot] = offset
        placed.append(int(dot))
    return offsets


def critical_differences(
    names: Sequence[str],
    mean_ranks: ArrayLike,
    critical_difference: float,
    groups: Sequence[ArrayLike],
) -> str:
    """Mean ranks on a line; bars join systems that do not differ (Demšar 2006, Fig. 1).

    Parameters
    ----------
    names : sequence of str
    mean_ranks : array-like, shape (n_systems,)
    critical_difference : float
        Drawn as a measure above the line.
    groups : sequence of arrays of int
        Numbers of systems that are alike (`bevel_lab.statistics.groups_alike`).
    """
    given = np.asarray(mean_ranks, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    n = len(given)
    half = (n + 1) // 2
    bar_room = 0.16 * len(groups) + 0.25
    height = 0.8 + bar_room + 0.26 * half
    low, high = 1, max(n, 2)
    with canvas(6.4, height) as figure:
        axes = figure.add_axes((0.24, 0.0, 0.52, 1.0))
        axes.set(xlim=(low, high), ylim=(-(height - 0.8), 0.8))
        axes.axis("off")
        axes.plot([low, high], [0, 0], color=INK, linewidth=1.2)
        for tick in range(low, high + 1):
            axes.plot([tick, tick], [0, 0.07], color=INK, linewidth=1.2)
            axes.text(tick, 0.12, str(tick), ha="center", va="bottom")
        _draw_measure(axes, low, min(critical_difference, high - low), critical_difference)
        for place, system in enumerate(order):
            left = place < half
            row = place if left else n - 1 - place
            depth = -(bar_room + 0.26 * row)
            edge = low - 0.04 * (high - low) if left else high + 0.04 * (high - low)
            line = [given[system], given[system], edge]
            axes.plot(line, [0, depth, depth], color=FAINT, linewidth=0.9, clip_on=False)
            rank = f"{given[system]:.2f}"
            axes.annotate(
                f"{names[system]} {rank}" if left else f"{rank} {names[system]}",
                (edge, depth),
                (-4 if left else 4, 0),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                annotation_clip=False,
            )
        for number, group in enumerate(groups):
            members = given[np.asarray(group, dtype=np.int64)]
            depth = -(0.16 + 0.16 * number)
            ends = [members.min() - 0.03, members.max() + 0.03]
            axes.plot(ends, [depth, depth], color=INK, linewidth=4, solid_capstyle="butt", zorder=3)
        return svg(figure)


def _draw_measure(axes: "Axes", start: float, length: float, true_length: float) -> None:
    axes.plot([start, start + length], [0.5, 0.5], color=INK, linewidth=1.2)
    for end in (start, start + length):
        axes.plot([end, end], [0.45, 0.55], color=INK, linewidth=1.2)
    axes.text(start, 0.6, f"critical difference {true_length:.2f}", ha="left", va="bottom")
