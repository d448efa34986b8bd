"""Rows explained per second: ``python -m benchmarks.shapley``.

Forests of 100 trees on 20 features, grown on 2000 rows; Shapley values of new rows against 10
background rows for each tree, with the default limit of exact trees and with all oblique trees
sampled.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification

from benchmarks import machine
from benchmarks.tables import markdown, number
from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel.analysis import shapley_values
from bevel.analysis.results import ShapleyValues

N_TRAIN, N_FEATURES, N_TREES = 2000, 20, 100
# Directions, and the features up to which trees are exact.
CASES = {
    "axis": (P.Axis(), 12),
    "sparse signs": (P.SparseSigns(), 12),
    "sparse signs, sampled": (P.SparseSigns(), 0),
    "rotation": (P.RandomRotation(), 12),
}
HEADER = ("forest", "nodes per tree", "mean depth", "rows per second", "processor ms per row")
HEADER += ("sampled games", "mean |value|", "mean standard error")


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    rows = [measure(name, options) for name in CASES if options.only in name]
    print(markdown(HEADER, rows))
    print(f"\n{options.rows} rows, {options.background} background rows for each tree, ", end="")
    print(f"{options.jobs} threads.")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.shapley",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=1000, help="rows to explain")
    parser.add_argument("--background", type=int, default=10, help="background rows of a tree")
    parser.add_argument("--jobs", type=int, default=machine.cores(), help="threads")
    parser.add_argument("--only", default="", help="part of the forests' names")
    return parser.parse_args()


def measure(name: str, options: argparse.Namespace) -> list[str]:
    projection, max_exact_features = CASES[name]
    X, y = make_classification(N_TRAIN + options.rows, N_FEATURES, n_informative=8, random_state=0)
    forest = ObliqueForestClassifier(
        N_TREES, projection=projection, random_state=0, n_jobs=options.jobs
    )
    forest.fit(X[:N_TRAIN], y[:N_TRAIN])
    start, busy = time.perf_counter(), time.process_time()
    result = shapley_values(
        forest,
        X[N_TRAIN:],
        X[:N_TRAIN],
        max_background=options.background,
        max_exact_features=max_exact_features,
        random_state=0,
        verbose=1,
    )
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    return line(name, forest, result, seconds, busy)


def line(
    name: str, forest: ObliqueForestClassifier, result: ShapleyValues, seconds: float, busy: float
) -> list[str]:
    error = 0.0 if result.std is None else float(result.std.mean())
    return [
        name,
        f"{forest.forest_.n_nodes / N_TREES:.0f}",
        f"{forest.forest_.mean_depth:.1f}",
        number(len(result.values) / seconds),
        number(1000 * busy / len(result.values)),
        f"{100 * result.sampled:.3g} %",
        number(float(np.abs(result.values).mean())),
        number(error),
    ]


if __name__ == "__main__":
    main()
