"""Rotations ranked by the size of the trees grown on them (Blaser, section 2.4).

Draws 100 random rotations of each of three problems in the plane, sorts them by the complexity of
the trees grown on them, without using errors, and plots the best and the worst (Figs.
2.3 to 2.5); then the best and the worst rotation of problem (a) with noise dimensions, on all
planes of two axes (Figs. 2.6 and 2.7). The best rotations align the boundary with an axis.

    python lab/examples/rotations.py --folder pictures
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from bevel.datasets import long_ramp, short_ramp, triangle
from bevel.plots.canvas import detached
from bevel_lab import RankedRotations, plots, rank_rotations

PROBLEMS = {"a": triangle, "b": short_ramp, "c": long_ramp}
# Direction of the longest straight part of each boundary.
BOUNDARIES = {"a": (1.0, 1.0), "b": (1.0, 0.0), "c": (1.0, 1.0)}


def degrees_off_axis(ranked: RankedRotations, direction: tuple[float, float]) -> np.ndarray:
    """Angle between the rotated boundary and the nearest axis, from 0 to 45 degrees."""
    turned = np.asarray(direction) @ ranked.rotations
    angle = np.degrees(np.arctan2(turned[:, 1], turned[:, 0])) % 90.0
    return np.minimum(angle, 90.0 - angle)


def draw_planes(folder: Path, n_rows: int, n_rotations: int, n_jobs: int | None) -> None:
    """Figs. 2.3 to 2.5, and how far the ends of the ranking are from an axis."""
    print("problem  complexity: best  worst   degrees off an axis: ten best  ten worst")
    for name, simulate in PROBLEMS.items():
        X, y = simulate(n_rows, random_state=0)
        ranked = rank_rotations(X, y, n_rotations, random_state=0, n_jobs=n_jobs)
        off = degrees_off_axis(ranked, BOUNDARIES[name])
        numbers = (ranked.complexity[0], ranked.complexity[-1], off[:10].mean(), off[-10:].mean())
        print("({})              {:10.1f} {:6.1f} {:29.1f} {:10.1f}".format(name, *numbers))
        with detached():
            save(plots.rotated_planes(ranked, X, y), folder / f"rotations_{name}.png")


def draw_noise(folder: Path, n_rows: int, n_rotations: int, n_jobs: int | None) -> None:
    """Figs. 2.6 and 2.7: the best and the worst rotation among noise dimensions."""
    best, worst = {}, {}
    for n_noise in range(4):
        X, y = triangle(n_rows, n_noise, random_state=0)
        ranked = rank_rotations(X, y, n_rotations, random_state=0, n_jobs=n_jobs)
        name = f"p = {2 + n_noise}"
        best[name] = (X, y, ranked.rotations[0])
        worst[name] = (X, y, ranked.rotations[-1])
    with detached():
        save(plots.coordinate_planes(best), folder / "rotations_noise_best.png")
        save(plots.coordinate_planes(worst), folder / "rotations_noise_worst.png")


def save(panels: Any, path: Path) -> None:
    """The figure of some axes as PNG."""
    panels[0, 0].figure.savefig(path, dpi=150)


def main(folder: Path, n_rows: int, n_rotations: int, n_jobs: int | None = None) -> None:
    """Rank, print and draw."""
    folder.mkdir(parents=True, exist_ok=True)
    draw_planes(folder, n_rows, n_rotations, n_jobs)
    draw_noise(folder, n_rows, n_rotations, n_jobs)
    print(f"\nPictures: {folder / 'rotations_*.png'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Rotations sorted by the complexity of trees.")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the pictures go")
    parser.add_argument("--rows", type=int, default=1000, help="points of each problem")
    parser.add_argument("--rotations", type=int, default=100, help="rotations of each problem")
    parser.add_argument("--jobs", type=int, default=None, help="threads")
    asked = parser.parse_args()
    main(asked.folder, asked.rows, asked.rotations, asked.jobs)
