"""Effects of features beside scikit-learn's: ``python -m benchmarks.effects``.

Both compute the same predictions of the same rows on the same grid, with one thread: partial
dependence of one feature and of two, and individual curves. scikit-learn has no accumulated local
effects; they are compared with their definition, which takes only two predictions of each row.
``--data diabetes`` takes a small regression in place of made classes.
Runs are interleaved; times are processor seconds, the least of the repeats.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_classification
from sklearn.inspection import partial_dependence as scikit_learns

from benchmarks import machine
from benchmarks.tables import markdown, number
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import accumulated_local_effects, partial_dependence

N_TRAIN, N_FEATURES = 2000, 20
N_BINS = 20
# Two features of each table, of diabetes those that matter most.
FEATURES = {"made": [3, 7], "diabetes": [2, 8]}
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
    parser.add_argument("--data", choices=("made", "diabetes"), default="made", help="the table")
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
    rows, n_features = (options.rows, N_FEATURES) if options.data == "made" else (442, 10)
    print(f"\n{rows} rows, {options.trees} trees, {n_features} features, one thread.")


def measure(name: str, options: argparse.Namespace) -> list[list[str]]:
    common: dict[str, Any] = {"projection": FORESTS[name], "random_state": 0, "n_jobs": 1}
    forest: Any
    if options.data == "made":
        X, y = make_classification(N_TRAIN, N_FEATURES, n_informative=8, random_state=0)
        forest = ObliqueForestClassifier(options.trees, **common).fit(X, y)
        rows = X[: options.rows]
    else:
        rows, y = load_diabetes(return_X_y=True)
        forest = ObliqueForestRegressor(options.trees, **common).fit(rows, y)
    n, n_two, two = options.points, options.points_of_two, FEATURES[options.data]
    cases = [
        ("one feature", f"{n}", *mean_curves(forest, rows, two[:1], n)),
        ("two features", f"{n_two} × {n_two}", *mean_curves(forest, rows, two, n_two)),
        ("individual curves", f"{n}", *row_curves(forest, rows, two[0], n)),
        ("accumulated local effects", f"{N_BINS} bins", *local_effects(forest, rows, two[0])),
    ]
    return [[name, *compare(*case, options.repeats)] for case in cases]


def mean_curves(forest: Any, rows: np.ndarray, features: list[int], n: int) -> tuple[Call, Call]:
    def ours() -> np.ndarray:
        given = features if len(features) == 2 else features[0]
        return of_class(forest, partial_dependence(forest, rows, given, grid_resolution=n).values)

    def theirs() -> np.ndarray:
        found = scikit_learns(forest, rows, features, grid_resolution=n, method="brute")
        return found["average"][0]

    return ours, theirs


def row_curves(forest: Any, rows: np.ndarray, feature: int, n: int) -> tuple[Call, Call]:
    def ours() -> np.ndarray:
        found = partial_dependence(forest, rows, feature, kind="both", grid_resolution=n)
        return of_class(forest, found.individual)

    def theirs() -> np.ndarray:
        found = scikit_learns(
            forest, rows, [feature], grid_resolution=n, method="brute", kind="individual"
        )
        return found["individual"][0]

    return ours, theirs


def local_effects(forest: Any, rows: np.ndarray, feature: int) -> tuple[Call, Call]:
    """Of one class, by the definition: two predictions of each row."""
    values = rows[:, feature]
    weight = np.ones(len(rows)) / len(rows)

    def ours() -> np.ndarray:
        found = accumulated_local_effects(forest, rows, feature, n_bins=N_BINS)
        return of_class(forest, found.values)

    edges = accumulated_local_effects(forest, rows, feature, n_bins=N_BINS).grid[0]

    def theirs() -> np.ndarray:
        place = np.clip(np.searchsorted(edges, values), 1, len(edges) - 1)
        low, high = rows.copy(), rows.copy()
        low[:, feature], high[:, feature] = edges[place - 1], edges[place]
        change = predictions(forest, high) - predictions(forest, low)
        sizes = np.bincount(place, weight, len(edges))
        means = np.bincount(place, weight * change, len(edges)) / np.maximum(sizes, 1e-300)
        curve = np.cumsum(means)
        return curve - np.sum(sizes[1:] * (curve[:-1] + curve[1:]) / 2)

    return ours, theirs


def predictions(forest: Any, rows: np.ndarray) -> np.ndarray:
    """Of the second class, or of the target."""
    if isinstance(forest, ObliqueForestRegressor):
        return forest.predict(rows)
    return forest.predict_proba(rows)[:, 1]


def of_class(forest: Any, values: np.ndarray) -> np.ndarray:
    """The second class of a classifier; all of a regressor."""
    return values if isinstance(forest, ObliqueForestRegressor) else values[..., 1]


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
