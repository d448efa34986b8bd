"""Lin and Jeon's two examples: prediction error against the terminal node size."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bevel import datasets, presets
from bevel.analysis import mean_squared_error_bound
from bevel.plots.canvas import COLOURS, FAINT, RULE, panels

__all__ = ["error_against_k"]

SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80)
N_ROWS, N_TREES, N_REPEATS = 1000, 100, 10
NOISE = 125.0


def error_against_k(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """Regression with 4 and 10 features (F = 3), and two Gaussians (F = 1); M = 100 trees."""
    repeats = max(1, round(share * N_REPEATS))
    cases = {
        "regression, d = 4": partial(datasets.lin_jeon_regression, n_noise=0),
        "regression, d = 10": partial(datasets.lin_jeon_regression, n_noise=6),
        "two Gaussians, d = 2": datasets.lin_jeon_classification,
    }
    lines = []
    with panels(None, "lin-jeon", (1, 3), (12.0, 3.8)) as grid:
        for number, (axes, (name, draw)) in enumerate(
            zip(grid.ravel(), cases.items(), strict=True)
        ):
            errors = np.array([_errors(draw, seed + r, number < 2) for r in range(repeats)])
            mean = errors.mean(axis=0)
            spread = errors.std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else 0 * mean
            axes.errorbar(SIZES, mean, spread, color=COLOURS[0], marker="o", ms=4, lw=1.4)
            if number < 2:
                d = 4 if number == 0 else 10
                bound = [
                    NOISE**2 + mean_squared_error_bound(N_ROWS, d, k, noise=NOISE) for k in SIZES
                ]
                axes.plot(SIZES, bound, color=FAINT, lw=1.2, ls="--", label="σ² + bound")
                axes.legend()
            axes.set(xscale="log", xlabel="terminal node size k")
            axes.set_ylabel("squared error of predictions" if number < 2 else "error")
            axes.grid(axis="y", color=RULE, lw=0.6)
            best = SIZES[int(np.argmin(mean))]
            axes.set_title(f"{name}: best k = {best}", loc="left")
            lines.append(
                f"{name}: k = 1 {mean[0]:.4g}, best k = {best} {mean.min():.4g}, "
                f"k = 80 {mean[-1]:.4g} ({repeats} repeats)"
            )
        figure = grid.ravel()[0].figure
    return figure, lines


def _errors(draw: Any, seed: int, regression: bool) -> list[float]:
    X, y = draw(N_ROWS, random_state=seed)
    X_test, y_test = draw(N_ROWS, random_state=seed + 10_000)
    found = []
    for k in SIZES:
        task = "regression" if regression else "classification"
        forest = presets.random_side(
            k=k, n_estimators=N_TREES, task=task, n_projections=3 if regression else 1
        )
        forest.set_params(random_state=seed).fit(X, y)
        predicted = forest.predict(X_test)
        wrong = (predicted - y_test) ** 2 if regression else predicted != y_test
        found.append(float(np.mean(wrong)))
    return found
