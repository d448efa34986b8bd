"""Effects of features beside scikit-learn's: ``python -m benchmarks.effects``.

Both compute the same predictions of the same rows on the same grid, with one thread: partial
dependence of one feature and of two, and individual curves. scikit-learn has no accumulated local
effects; they are compared with their definition, which takes only two predictions of each row.
Runs are interleaved; times are processor seconds, the least of the repeats.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.inspection import partial_dependence as scikit_learns

from benchmarks import machine
from benchmarks.tables import markdown, number
from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel.analysis import accumulated_local_effects, partial_dependence

N_TRAIN, N_FEATURES = 2000, 20
ONE, TWO, N_BINS = [3], [3, 7], 20
FORESTS: dict[str, Any] = {
    "default": "auto",
    "axis": "axis",
    "sparse signs": "sparse",
    "rotation": "rotation",
    "gaussian": P.Gaussian(),
    "ridge": P.Ridge(tune="gcv"),
}
HEADER = ("forest", "effect", "grid", "bevel s", "brute force s", "ratio", "largest difference")

Call = Callable[[], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.effects", description=__doc__)
    parser.add_argument("--rows", type=int, default=500, help="rows whose features change")
    parser.add_argument("--trees", type=int, default=100, help="trees")
    parser.add_argument("--points", type=int, default=100, help="points of one feature")
    parser.add_argument("--points-of-two", type=int, default=20, help="points of each of two")
    parser.add_argument("--repeats", type=int, default=3, help="interleaved runs")
    parser.add_argument("--only", default="", help="part of the forests' names")
    options = parser.parse_args()
    print(machine.describe(), end="\n\n", flush=True)
    names = [name for name in FORESTS if options.only in name]
    print(markdown(HEADER, [line for name in names for line in measure(name, options)]))
    print(f"\n{options.rows} rows, {options.trees} trees, {N_FEATURES} features, one thread.")


def measure(name: str, options: argparse.Namespace) -> list[list[str]]:
    X, y = make_classification(N_TRAIN, N_FEATURES, n_informative=8, random_state=0)
    forest = ObliqueForestClassifier(
        options.trees, projection=FORESTS[name], random_state=0, n_jobs=1
    ).fit(X, y)
    rows, n, n_two = X[: options.rows], options.points, options.points_of_two
    cases = [
        ("one feature", f"{n}", *mean_curves(forest, rows, ONE, n)),
        ("two features", f"{n_two} × {n_two}", *mean_curves(forest, rows, TWO, n_two)),
        ("individual curves", f"{n}", *row_curves(forest, rows, n)),
        ("accumulated local effects", f"{N_BINS} bins", *local_effects(forest, rows)),
    ]
    return [[name, *compare(*case, options.repeats)] for case in cases]


def mean_curves(forest: Any, rows: np.ndarray, features: list[int], n: int) -> tuple[Call, Call]:
    def ours() -> np.ndarray:
        given = features if len(features) == 2 else features[0]
        return partial_dependence(forest, rows, given, grid_resolution=n).values[..., 1]

    def theirs() -> np.ndarray:
        found = scikit_learns(forest, rows, features, grid_resolution=n, method="brute")
        return found["average"][0]

    return ours, theirs


def row_curves(forest: Any, rows: np.ndarray, n: int) -> tuple[Call, Call]:
    def ours() -> np.ndarray:
        found = partial_dependence(forest, rows, ONE[0], kind="both", grid_resolution=n)
        return found.individual[..., 1]

    def theirs() -> np.ndarray:
        found = scikit_learns(
            forest, rows, ONE, grid_resolution=n, method="brute", kind="individual"
        )
        return found["individual"][0]

    return ours, theirs


def local_effects(forest: Any, rows: np.ndarray) -> tuple[Call, Call]:
    """Of one class, by the definition: two predictions of each row."""
    values = rows[:, ONE[0]]
    weight = np.ones(len(rows)) / len(rows)

    def ours() -> np.ndarray:
        return accumulated_local_effects(forest, rows, ONE[0], n_bins=N_BINS).values[:, 1]

    edges = accumulated_local_effects(forest, rows, ONE[0], n_bins=N_BINS).grid[0]

    def theirs() -> np.ndarray:
        place = np.clip(np.searchsorted(edges, values), 1, len(edges) - 1)
        low, high = rows.copy(), rows.copy()
        low[:, ONE[0]], high[:, ONE[0]] = edges[place - 1], edges[place]
        change = forest.predict_proba(high)[:, 1] - forest.predict_proba(low)[:, 1]
        sizes = np.bincount(place, weight, len(edges))
        means = np.bincount(place, weight * change, len(edges)) / np.maximum(sizes, 1e-300)
        curve = np.cumsum(means)
        return curve - np.sum(sizes[1:] * (curve[:-1] + curve[1:]) / 2)

    return ours, theirs


def compare(effect: str, grid: str, ours: Call, theirs: Call, repeats: int) -> list[str]:
    least = [np.inf, np.inf]
    for _ in range(repeats):
        for place, call in enumerate((ours, theirs)):
            least[place] = min(least[place], processor_seconds(call))
    return [
        effect,
        grid,
        number(least[0]),
        number(least[1]),
        f"{least[1] / least[0]:.1f}",
        f"{np.abs(ours() - theirs()).max():.1g}",
    ]


def processor_seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    main()
