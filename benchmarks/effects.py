"""Partial dependence beside scikit-learn's: ``python -m benchmarks.effects``.

Both compute the mean prediction of the same rows on the same grid of one feature, with one thread.
Runs are interleaved; times are processor seconds, the least of the repeats.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_classification
from sklearn.inspection import partial_dependence as scikit_learns

from benchmarks import machine
from benchmarks.tables import markdown, number
from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel.analysis import partial_dependence

N_FEATURES, FEATURE = 20, 3
FORESTS = {
    "axis": "axis",
    "sparse signs": "sparse",
    "rotation": "rotation",
    "gaussian": P.Gaussian(),
    "ridge": P.Ridge(tune="gcv"),
}
HEADER = ("forest", "nodes per tree", "bevel s", "scikit-learn s", "ratio", "largest difference")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.effects", description=__doc__)
    parser.add_argument("--rows", type=int, default=1000, help="rows whose feature changes")
    parser.add_argument("--trees", type=int, default=100, help="trees")
    parser.add_argument("--points", type=int, default=100, help="points of the grid")
    parser.add_argument("--repeats", type=int, default=3, help="interleaved runs")
    options = parser.parse_args()
    print(machine.describe(), end="\n\n", flush=True)
    print(markdown(HEADER, [measure(name, options) for name in FORESTS]))


def measure(name: str, options: argparse.Namespace) -> list[str]:
    X, y = make_classification(max(2000, options.rows), N_FEATURES, n_informative=8, random_state=0)
    forest = ObliqueForestClassifier(
        options.trees, projection=FORESTS[name], random_state=0, n_jobs=1
    ).fit(X[:2000], y[:2000])
    rows = X[: options.rows]

    def ours() -> np.ndarray:
        found = partial_dependence(forest, rows, FEATURE, grid_resolution=options.points)
        return found.values[:, 1]

    def theirs() -> np.ndarray:
        found = scikit_learns(
            forest, rows, [FEATURE], grid_resolution=options.points, method="brute"
        )
        return found["average"][0]

    least = [np.inf, np.inf]
    for _ in range(options.repeats):
        for place, call in enumerate((ours, theirs)):
            least[place] = min(least[place], processor_seconds(call))
    return [
        name,
        f"{forest.forest_.n_nodes / options.trees:.0f}",
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
