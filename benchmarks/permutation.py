"""Permutation importance beside scikit-learn's: ``python -m benchmarks.permutation [--trees 300]``.

Both sides measure the same forest of Bevel on the same rows, with as many permutations of each
feature and as many threads: scikit-learn's `permutation_importance` (scoring="accuracy", n_jobs=1)
asks the forest to predict, which uses the threads. Lines "given rows" measure the same quantity on
both sides: all rows, all trees. Lines "out of bag" leave each row to the trees that have not seen
it, which scikit-learn cannot do. Runs take turns; the fastest of each side counts, by the clock and
in processor time, which other work on the machine spoils less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.inspection import permutation_importance as by_sklearn

from benchmarks import machine
from benchmarks.tables import markdown, number
from bevel import ObliqueForestClassifier
from bevel.analysis import importance

PROJECTIONS = ("sparse", "axis")
WAYS: dict[str, dict[str, object]] = {
    "given rows": {"out_of_bag": False},
    "out of bag": {},
    "out of bag, of a tree": {"error_of": "tree"},
}


def task(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes by ten features and their sums; a tenth of the labels is wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    score = X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] + np.abs(X[:, 7:10]).sum(axis=1)
    flipped = rng.random(n_rows) < 0.1
    return X, ((score > np.median(score)) ^ flipped).astype(np.int64)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Time of one call by the clock, and that of all processors: other work spoils it less."""
    begin, begin_busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begin, time.process_time() - begin_busy


def measure(
    forest: ObliqueForestClassifier, X: np.ndarray, y: np.ndarray, n_repeats: int, n_rounds: int
) -> dict[str, np.ndarray]:
    """Seconds of each way to measure: rounds x (Bevel, scikit-learn) x (clock, processors)."""
    asked = {"n_repeats": n_repeats, "random_state": 0}
    times: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {w: [] for w in WAYS}
    for _ in range(n_rounds):
        own = {
            way: seconds(partial(importance, forest, "permutation", X, y, **asked, **how))
            for way, how in WAYS.items()
        }
        theirs = seconds(partial(by_sklearn, forest, X, y, scoring="accuracy", **asked))
        for way in WAYS:
            times[way].append((own[way], theirs))
    return {way: np.array(of_way) for way, of_way in times.items()}


def line(name: str, times: np.ndarray) -> tuple[str, ...]:
    """One line of the table."""
    own, theirs = times.min(axis=0)
    ratios = times[:, 1, 0] / times[:, 0, 0]
    by_clock = number(own[0]), number(theirs[0]), f"{theirs[0] / own[0]:.1f}"
    spread = f"{ratios.min():.1f}–{ratios.max():.1f}"
    return name, *by_clock, spread, number(own[1]), number(theirs[1]), f"{theirs[1] / own[1]:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--permutations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    print(machine.describe(), end="\n\n")
    X, y = task(asked.rows, asked.features)
    lines = []
    for projection in PROJECTIONS:
        forest = ObliqueForestClassifier(
            asked.trees, projection=projection, random_state=0, n_jobs=asked.threads
        ).fit(X, y)
        forest.predict(X[:2])  # builds the packed forest
        times = measure(forest, X, y, asked.permutations, asked.repeats)
        lines += [line(f"{projection}, {way}", of_way) for way, of_way in times.items()]
    header = (
        "forest and rows",
        *("Bevel s", "scikit-learn s", "ratio", "of each round"),
        *("Bevel CPU s", "scikit-learn CPU s", "ratio"),
    )
    print(markdown(header, lines))


if __name__ == "__main__":
    main()
