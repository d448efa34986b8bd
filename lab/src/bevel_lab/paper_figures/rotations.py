"""Blaser: how rotations are drawn (Figure 1.2) and how sorted ones are weighted (Figure 2.1)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel.plots.canvas import COLOURS, LINES, RULE, panels
from bevel.training.rotation_ensemble import cut_weights, exponential_weights, haar_rotations

__all__ = ["naive_points", "uniform_and_naive", "uniform_points", "weight_functions"]

N_POINTS = 10_000
N_ROTATIONS = 100
STEPS = (1, 5, 10, 25, 50)  # h


def uniform_points(n: int, seed: int) -> NDArray[np.float64]:
    """A vector after n Haar rotations of space."""
    start = np.array([0.0, 0.0, 1.0])
    return np.asarray(start @ haar_rotations(n, 3, seed))


def naive_points(n: int, seed: int) -> NDArray[np.float64]:
    """Longitude and latitude drawn uniformly: too many points at the poles."""
    rng = np.random.default_rng(seed)
    longitude, latitude = rng.uniform(-np.pi, np.pi, n), rng.uniform(-np.pi / 2, np.pi / 2, n)
    across = np.cos(latitude)
    return np.column_stack(
        [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
    )


def uniform_and_naive(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """Points on the sphere, coloured by the rank of their sum of distances to the others."""
    n = max(200, round(share * N_POINTS))
    kinds = {"uniform": uniform_points(n, seed), "naive": naive_points(n, seed)}
    lines = []
    with panels(None, "blaser-1.2", (1, 2), (9.0, 4.6)) as grid:
        for axes, (name, points) in zip(grid.ravel(), kinds.items(), strict=True):
            rank = np.argsort(np.argsort(_sums_of_distances(points)))
            turned = points @ _tilt()
            front = turned[:, 2] > 0
            axes.scatter(*turned[front, :2].T, c=rank[front], cmap="viridis_r", s=4, linewidths=0)
            polar = float(np.mean(np.abs(points[:, 2]) > np.cos(np.radians(30))))
            axes.set(aspect="equal", xticks=[], yticks=[])
            axes.set_title(f"{name}: {100 * polar:.1f} % within 30° of a pole", loc="left")
            lines.append(f"{name}: {100 * polar:.1f} % of {n} points within 30° of a pole (13.4 %)")
        figure = grid.ravel()[0].figure
    return figure, lines


def _sums_of_distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.empty(len(points))
    for first in range(0, len(points), 500):
        cosine = np.clip(points[first : first + 500] @ points.T, -1.0, 1.0)
        sums[first : first + 500] = np.sqrt(np.maximum(2.0 - 2.0 * cosine, 0.0)).sum(axis=1)
    return sums


def _tilt() -> NDArray[np.float64]:
    angle = np.radians(55.0)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def weight_functions(_share: float, _seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """Formulas 2.6 and 2.7 for some h."""
    rank = np.arange(1, N_ROTATIONS + 1)
    lines = []
    with panels(None, "blaser-2.1", (1, 2), (9.0, 3.8)) as grid:
        for axes, name in zip(grid.ravel(), ("CUT", "EXP"), strict=True):
            for number, h in enumerate(STEPS):
                weigh = cut_weights if name == "CUT" else exponential_weights
                weight = weigh(N_ROTATIONS, h)
                look = {"color": COLOURS[number], "linestyle": LINES[number % len(LINES)]}
                axes.plot(rank, 100 * weight, lw=1.4, label=f"h = {h}", **look)
                lines.append(f"{name}, h = {h}: {100 * weight[:10].sum():.1f} % on the first ten")
            axes.set(xlabel="rotation, best first", yscale="log", ylim=(0.05, 120))
            axes.set_title(name, loc="left")
            axes.grid(axis="y", color=RULE, lw=0.6)
        grid.ravel()[0].set_ylabel("share of the trees, %")
        grid.ravel()[1].legend()
        figure = grid.ravel()[0].figure
    return figure, lines
