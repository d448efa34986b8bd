"""Menze et al.: a tree on correlated features (Figure 1), boundaries on a mixture (Figure 4)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel import presets
from bevel import projections as P
from bevel.plots import decision_boundary
from bevel.plots.canvas import COLOURS, panels
from bevel_lab.systems import SYSTEMS
from bevel_lab.systems.base import Task

__all__ = ["GaussianMixture", "correlated_tree", "mixture_boundaries"]

N_ROWS = 300
OFFSET = 3.0  # standard deviation of what is added to both features of a row
N_CENTRES, SPREAD = 10, 0.2  # of a class in the mixture; variance of rows around a centre


def correlated_tree(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """A classification tree before and after one number is added to both features of a row."""
    n = max(60, round(share * N_ROWS))
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + np.where(y == 1, 1.5, -1.5)[:, None] * np.array([1.0, -1.0])
    cases = {"independent": X, "correlated": X + OFFSET * rng.normal(size=(n, 1))}
    lines = []
    with panels(None, "menze-1", (2, 2), (8.6, 7.0)) as grid:
        for column, (name, rows) in enumerate(cases.items()):
            one: dict[str, Any] = {"n_estimators": 1, "bootstrap": False, "random_state": seed}
            tree = presets.random_forest(**one, n_projections="p").fit(rows, y)
            oblique = presets.orf_lda(**one, projection=P.LDA("p")).fit(rows, y)
            decision_boundary(tree, rows, y, ax=grid[0, column])
            n_leaves = int(tree.forest_.n_leaves), int(oblique.forest_.n_leaves)
            grid[0, column].set_title(f"{name}: {n_leaves[0]} leaves", loc="left")
            for label in (0, 1):
                grid[1, column].hist(
                    rows[y == label, 0], bins=30, color=COLOURS[label], alpha=0.6, label=str(label)
                )
            grid[1, column].set(xlabel="first feature", yticks=[])
            lines.append(f"{name}: the tree has {n_leaves[0]} leaves, with LDA {n_leaves[1]}")
        grid[1, 0].legend(title="class")
        figure = grid[0, 0].figure
    return figure, [*lines, f"{n} rows"]


class GaussianMixture:
    """Two classes of ten Gaussians each, as Hastie, Tibshirani and Friedman draw them (2.3)."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        centres = self._rng.normal(size=(2, N_CENTRES, 2))
        self.centres = centres + np.array([[[1.0, 0.0]], [[0.0, 1.0]]])

    def draw(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        y = np.arange(n) % 2
        chosen = self.centres[y, self._rng.integers(0, N_CENTRES, n)]
        return chosen + np.sqrt(SPREAD) * self._rng.normal(size=(n, 2)), y

    def best_class(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """The class of the larger density."""
        distance = ((X[:, None, None, :] - self.centres) ** 2).sum(axis=3)
        return np.asarray(np.exp(-distance / (2 * SPREAD)).sum(axis=2).argmax(axis=1))


def mixture_boundaries(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """CART pruned by cross-validation, RF, one oblique tree and oRF, with the best boundary."""
    n_trees = max(30, round(share * 300))
    mixture = GaussianMixture(seed)
    X, y = mixture.draw(200)
    X_new, y_new = mixture.draw(10_000)
    both: dict[str, Any] = {"projection": P.Ridge("p"), "random_state": seed}  # √2 is one feature
    systems = {
        "CART": SYSTEMS["cart"].make(Task("classification", len(y), 2, 2, random_state=seed)),
        "RF": presets.random_forest(n_estimators=n_trees, random_state=seed),
        "oblique tree": presets.orf_ridge(n_estimators=1, **both),
        "oRF": presets.orf_ridge(n_estimators=n_trees, **both),
    }
    best = float(np.mean(mixture.best_class(X_new) != y_new))
    lines = [f"the best boundary errs on {100 * best:.1f} % of new rows"]
    with panels(None, "menze-4", (2, 2), (8.6, 8.0)) as grid:
        for axes, (name, system) in zip(grid.ravel(), systems.items(), strict=True):
            system.fit(X, y)
            decision_boundary(system, X, y, ax=axes)
            _draw_best(axes, mixture)
            error = float(np.mean(system.predict(X_new) != y_new))
            axes.set_title(f"{name}: errs on {100 * error:.1f} %", loc="left")
            lines.append(f"{name} errs on {100 * error:.1f} % of new rows")
        figure = grid[0, 0].figure
    return figure, [*lines, f"200 rows, {n_trees} trees"]


def _draw_best(axes: Any, mixture: GaussianMixture) -> None:
    limits = (axes.get_xlim(), axes.get_ylim())
    sides = [np.linspace(low, high, 150) for low, high in limits]
    places = np.stack(np.meshgrid(*sides), axis=-1)
    best = mixture.best_class(places.reshape(-1, 2)).reshape(150, 150)
    axes.contour(*sides, best, levels=[0.5], colors="black", linestyles="--", linewidths=1.2)
