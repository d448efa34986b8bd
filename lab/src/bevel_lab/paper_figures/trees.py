"""SPORF's appendix: strength and correlation (Figure 11), bias and variance (Figure 12)."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bevel import datasets, presets
from bevel import projections as P
from bevel.analysis import bias_and_variance, strength_and_correlation
from bevel.plots.canvas import COLOURS, MARKERS, RULE, panels

__all__ = ["best_setting", "strength_and_bias"]

# Each with the settings that are tried; the papers' grids are those of the lab's experiments.
SYSTEMS: dict[str, tuple[Any, tuple[dict[str, Any], ...]]] = {
    "RF": (presets.random_forest, tuple({"n_projections": d} for d in ("p**0.5", "p"))),
    "SPORF": (
        presets.sporf,
        tuple(
            {"n_projections": d, "projection": P.SparseSigns(number)}
            for d in ("p", "p**2")
            for number in (1, 3)
        ),
    ),
    "F-RC": (
        partial(presets.forest_rc, min_samples_split=2),
        tuple(
            {"n_projections": d, "projection": P.RandomCombination(number)}
            for d in ("p", "p**2")
            for number in (2, 3)
        ),
    ),
}
PROBLEMS: dict[str, Any] = {
    "sparse parity, n = 1000": partial(datasets.sparse_parity, 1000, 10),
    "orthant, n = 400": partial(datasets.orthant, 400, 6),
    "Trunk, n = 10": partial(datasets.trunk, 10, 10),
    "Trunk, n = 100": partial(datasets.trunk, 100, 10),
}
ROWS = (500, 1000, 3000)
N_TRIALS, N_TREES, N_REPEATS, N_TEST = 10, 500, 100, 2000
TUNING_TREES = 100


def strength_and_bias(share: float, seed: int, _data: Path | None) -> tuple[Any, list[str]]:
    """A point for each trial above; below bias, variance and error on sparse parity, p = 10."""
    n_trials, n_trees = max(2, round(share * N_TRIALS)), max(50, round(share * N_TREES))
    repeats = max(5, round(share * N_REPEATS))
    lines: list[str] = []
    with panels(None, "sporf-11", (2, 4), (12.0, 6.6)) as grid:
        for axes, (problem, draw) in zip(grid[0], PROBLEMS.items(), strict=True):
            for number, name in enumerate(SYSTEMS):
                make = best_setting(name, draw, n_trees, seed)
                found = [_trial(draw, make, n_trees, seed + t) for t in range(n_trials)]
                s, r = np.mean(found, axis=0)
                look = {"color": COLOURS[number], "marker": MARKERS[number]}
                axes.scatter(*np.transpose(found), s=18, label=name, **look)
                lines.append(f"{problem}, {name}: strength {s:.3f}, correlation {r:.3f}")
            axes.set(xlabel="strength", ylabel="correlation" if axes is grid[0, 0] else "")
            axes.set_title(problem, loc="left")
        grid[0, 0].legend()
        _draw_bias(grid[1], seed, n_trees, repeats, lines)
        figure = grid[0, 0].figure
    return figure, [*lines, f"{n_trials} trials, {n_trees} trees, {repeats} repeats"]


def best_setting(name: str, draw: Any, n_trees: int, seed: int) -> Any:
    """The preset with the setting that errs least out of bag on a draw of the problem."""
    make, settings = SYSTEMS[name]
    X, y = draw(random_state=seed + 30_000)
    made = [partial(make, **each) for each in settings]
    few = {"n_estimators": min(n_trees, TUNING_TREES), "oob_score": True, "random_state": seed}
    return max(made, key=lambda each: each(**few).fit(X, y).oob_score_)


def _trial(draw: Any, make: Any, n_trees: int, seed: int) -> tuple[float, float]:
    X, y = draw(random_state=seed)
    X_test, y_test = draw.func(N_TEST, *draw.args[1:], random_state=seed + 10_000)
    forest = make(n_estimators=n_trees, random_state=seed).fit(X, y)
    found = strength_and_correlation(forest, X_test, y_test, out_of_bag=False)
    return found.strength, found.correlation


def _draw_bias(row: Any, seed: int, n_trees: int, repeats: int, lines: list[str]) -> None:
    X_test, y_test = datasets.sparse_parity(N_TEST, 10, random_state=seed + 20_000)
    rows = ROWS[: max(2, min(len(ROWS), repeats // 5))]
    for number, name in enumerate(SYSTEMS):
        found = []
        for n in rows:
            make = best_setting(name, partial(datasets.sparse_parity, n, 10), n_trees, seed)
            result = bias_and_variance(
                make(n_estimators=n_trees),
                partial(datasets.sparse_parity, n, 10),
                X_test=X_test,
                y_test=y_test,
                n_repeats=repeats,
                random_state=seed,
            ).classes
            assert result is not None
            found.append((result.bias, result.variance, result.variance_effect, result.error))
            bias, variance, effect, error = found[-1]
            lines.append(
                f"sparse parity, n = {n}, {name}: bias {bias:.3f}, variance {variance:.3f}, "
                f"variance effect {effect:.3f}, error {error:.3f}"
            )
        look = {"color": COLOURS[number], "marker": MARKERS[number]}
        for axes, values in zip(row, np.transpose(found), strict=True):
            axes.plot(rows, values, lw=1.4, ms=4, label=name, **look)
    for axes, title in zip(row, ("bias", "variance", "variance effect", "error"), strict=True):
        axes.set(xlabel="training rows")
        axes.set_title(f"{title}, sparse parity", loc="left")
        axes.grid(axis="y", color=RULE, lw=0.6)
