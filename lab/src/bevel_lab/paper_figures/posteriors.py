"""Tomita's thesis: first splits of sparse parity (2.1), and posteriors of forests (2.2)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from bevel import datasets, presets
from bevel import projections as P
from bevel.analysis import geometry, hellinger_distance
from bevel.plots.canvas import COLOURS, RULE, panels

__all__ = ["first_directions", "posterior_maps"]

N_CENTRES, N_RELEVANT = 20, 3
SYSTEMS: dict[str, Callable[[int], Any]] = {
    "RF": lambda n: presets.random_forest(n_estimators=n, min_samples_split=10),
    "F-RC": lambda n: presets.forest_rc(n_estimators=n, n_projections="p**2"),
    "FRANK": lambda n: presets.frank(n_estimators=n, n_projections="p**2"),
    "RR-RF": lambda n: presets.rr_rf(n_estimators=n, scale=None, min_samples_split=10),
    "RR-RF(r)": lambda n: presets.rr_rf(n_estimators=n, scale="rank", min_samples_split=10),
}


def first_directions(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """Densities of both classes along the best root split of a tree; 20 features, 1000 rows."""
    n = max(300, round(share * 1000))
    X, y = datasets.sparse_parity(n, 20, random_state=seed)
    X_new, y_new = datasets.sparse_parity(5000, 20, random_state=seed + 1)
    trees = {
        "RF": presets.random_forest(n_projections="p"),
        "F-RC": presets.forest_rc(projection=P.RandomCombination(3), n_projections=8000),
        "RR-RF": presets.rr_rf(scale=None, n_projections="p"),
    }
    lines = []
    with panels(None, "tomita-2.1", (3, 1), (6.0, 6.6)) as grid:
        for axes, (name, forest) in zip(grid.ravel(), trees.items(), strict=True):
            forest.set_params(n_estimators=1, max_depth=1, bootstrap=False, random_state=seed).fit(
                X, y
            )
            values = _projected(forest, X_new)
            low, high = np.quantile(values, [0.002, 0.998])
            places = np.linspace(low, high, 200)
            for label in (0, 1):
                density = gaussian_kde(values[y_new == label])(places)
                axes.plot(places, density, color=COLOURS[label], lw=1.5, label=f"class {label}")
            error = _best_error(values, y_new)
            axes.set(yticks=[], xlabel="projection" if name == "RR-RF" else "")
            axes.set_title(f"{name}: a cut of it errs on {100 * error:.0f} %", loc="left")
            lines.append(f"{name}: the best cut on new rows errs on {100 * error:.1f} % ({n} rows)")
        grid.ravel()[0].legend()
        figure = grid.ravel()[0].figure
    return figure, lines


def _projected(forest: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values along the direction of the root."""
    return np.asarray(X @ geometry.root_directions(forest).dense()[0])


def _best_error(values: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    order = np.argsort(values)
    ones = np.cumsum(y[order])
    below = np.arange(1, len(y) + 1)
    right = ones + (len(y) - below) - (ones[-1] - ones)  # ones below, zeros above
    share = right / len(y)
    return float(1.0 - max(share.max(), (1.0 - share).max()))


def true_posterior(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(Y = 1 | x): whether an even number of the relevant features is positive."""
    odd = (X[:, :N_RELEVANT] > 0).sum(axis=1) % 2
    return np.asarray(odd, dtype=np.float64)


def posterior_maps(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """Raw, affine and corrupted sparse parity, p = 10, 1000 rows; the plane x3 = −0.5, others 0."""
    n_trees = max(50, round(share * 500))
    X, y = datasets.sparse_parity(1000, 10, random_state=seed)
    X_test, _ = datasets.sparse_parity(2000, 10, random_state=seed + 1)
    side = np.linspace(-1.0, 1.0, 60)
    plane = np.zeros((3600, 10))
    plane[:, :2] = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    plane[:, 2] = -0.5
    settings = {
        "raw": (X, X_test, plane),
        "affine": datasets.affine(X, X_test, plane, logarithmic=True, random_state=seed),
        "corrupted": (datasets.corrupt(X, random_state=seed), X_test, plane),
    }
    truth, of_plane = true_posterior(X_test), true_posterior(plane)
    lines, distances = [], {}
    with panels(None, "tomita-2.2", (len(SYSTEMS) + 2, 3), (6.6, 14.0)) as grid:
        for column, (name, (train, test, shown)) in enumerate(settings.items()):
            _map(grid[0, column], of_plane, f"true, {name}")
            for row, (label, make) in enumerate(SYSTEMS.items(), 1):
                forest = make(n_trees).set_params(random_state=seed).fit(train, y)
                _map(grid[row, column], forest.predict_proba(shown)[:, 1], label)
                found = hellinger_distance(
                    forest.predict_proba(test), np.column_stack([1 - truth, truth])
                )
                distances[label, name] = float(found.mean())
                lines.append(f"{label} on {name}: Hellinger distance {found.mean():.3f}")
            last = grid[len(SYSTEMS) + 1, column]
            last.bar(range(len(SYSTEMS)), [distances[s, name] for s in SYSTEMS], color=COLOURS[0])
            last.set_xticks(range(len(SYSTEMS)), list(SYSTEMS), rotation=90)
            last.set_ylim(0, max(0.7, *distances.values()))
            last.grid(axis="y", color=RULE, lw=0.6)
        grid[len(SYSTEMS) + 1, 0].set_ylabel("Hellinger distance")
        figure = grid[0, 0].figure
    return figure, lines


def _map(axes: Any, shares: NDArray[np.float64], title: str) -> None:
    image = shares.reshape(60, 60)
    axes.imshow(image, origin="lower", extent=(-1, 1, -1, 1), vmin=0, vmax=1, cmap="cividis")
    axes.set(xticks=[], yticks=[])
    axes.set_title(title, loc="left", fontsize=9)
