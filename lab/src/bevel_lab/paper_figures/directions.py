"""Menze et al., Figure 2: directions of PCA, LDA and ridge regression at a node."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel.analysis import geometry
from bevel.plots.canvas import COLOURS, LINES, panels

__all__ = ["first_component", "node_direction", "regularized_directions", "two_classes"]

# Features vary together, and the classes differ mostly along the first.
COVARIANCE = ((1.0, 0.8), (0.8, 1.0))
HALF_DIFFERENCE = (0.5, 0.15)
ALPHAS = tuple(10.0**power for power in range(-5, 6))  # section 2
N_ROWS = 400


def two_classes(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of two Gaussians that share a covariance; the paper does not print its own."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    centres = np.where(y[:, None] == 1, 1.0, -1.0) * np.array(HALF_DIFFERENCE)
    return centres + rng.multivariate_normal(np.zeros(2), COVARIANCE, n), y


def node_direction(
    projection: P.Projection, X: NDArray[np.float64], y: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Unit direction of the root of a tree on all rows, turned to the second class."""
    forest = ObliqueForestClassifier(
        1, projection=projection, max_depth=1, bootstrap=False, min_samples_split=2, random_state=0
    ).fit(X, y)
    direction = geometry.root_directions(forest).dense()[0]
    towards = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    sign = 1.0 if direction @ towards >= 0 else -1.0
    return np.asarray(sign * direction / np.linalg.norm(direction))


def first_component(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Along which the standardised features vary most, as a direction of the features."""
    scale = X.std(axis=0)
    direction = np.linalg.svd((X - X.mean(axis=0)) / scale, full_matrices=False)[2][0] / scale
    return np.asarray(direction / np.linalg.norm(direction) * np.sign(direction[0]))


def regularized_directions(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """Left the lines of the paper; right the angle to LDA's direction against the penalty."""
    n = max(100, round(share * N_ROWS))
    X, y = two_classes(n, seed)
    lda, pca = node_direction(P.LDA("p"), X, y), first_component(X)
    ridge = {a: node_direction(P.Ridge("p", alphas=(a,), tune="gcv"), X, y) for a in ALPHAS}
    turned = {a: _degrees(direction) - _degrees(lda) for a, direction in ridge.items()}
    with panels(None, "menze-2", (1, 2), (9.6, 4.4)) as grid:
        plane, angles = grid.ravel()
        for name in (0, 1):
            rows = X[y == name]
            plane.scatter(*rows.T, s=8, color=COLOURS[name], alpha=0.5, linewidths=0)
        for place, direction in enumerate(ridge.values()):
            _draw_line(
                plane, direction, X, color=COLOURS[2], lw=1.0, label="" if place else "ridge"
            )
        _draw_line(plane, lda, X, color="black", lw=1.8, label="LDA")
        _draw_line(plane, pca, X, color="black", lw=1.8, ls=LINES[1], label="PCA")
        plane.set(aspect="equal", xlabel="first feature", ylabel="second feature")
        plane.set_title(f"Directions at a node, {n} rows", loc="left")
        plane.legend(loc="upper left")
        angles.plot(ALPHAS, list(turned.values()), marker="o", ms=4, color=COLOURS[0])
        angles.axhline(_degrees(pca) - _degrees(lda), color="black", ls=LINES[1])
        angles.axhline(0.0, color="black")
        angles.set(xscale="log", xlabel="ridge penalty λ", ylabel="degrees from LDA")
        angles.set_title("Ridge from LDA towards PCA", loc="left")
        figure = plane.figure
    lines = [f"PCA: {_degrees(pca) - _degrees(lda):.1f}° from LDA ({n} rows)"]
    lines += [f"ridge, λ = {a:g}: {angle:.1f}° from LDA" for a, angle in turned.items()]
    return figure, lines


def _degrees(direction: NDArray[np.float64]) -> float:
    return float(np.degrees(np.arctan2(direction[1], direction[0])))


def _draw_line(
    axes: Any, direction: NDArray[np.float64], X: NDArray[np.float64], **look: Any
) -> None:
    ends = np.outer((-1.0, 1.0), direction) * np.abs(X).max() + X.mean(axis=0)
    axes.plot(*ends.T, **look)
