"""Fits on a sparse table, with the processor time and memory they take, beside peers.

Each fit runs in a process of its own, on one thread. Memory is the peak of the process during the
fit beyond what it held before, after a small fit that loads the libraries.

    python -m benchmarks.sparse
    python -m benchmarks.sparse --rows 58788 --columns 4765 --density 0.01
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.machine import describe

N_ITER, N_LEAVES, N_TREES = 50, 31, 2


def make_table(kind: str, n_rows: int, n_columns: int, density: float) -> tuple[Any, Any]:
    """Uniform numbers or counts at random places, and a sum of a few columns with noise."""
    rng = np.random.default_rng(0)
    X = sp.random_array((n_rows, n_columns), density=density, format="csr", rng=0)
    if kind == "counts":
        X.data = np.ceil(5.0 * X.data)
    slope = np.zeros(n_columns)
    slope[: min(200, n_columns)] = rng.normal(size=min(200, n_columns))
    return X, X @ slope + 0.1 * rng.normal(size=n_rows)


def bevel_boosting(projection: str) -> Any:
    from bevel import ObliqueBoostingRegressor

    return ObliqueBoostingRegressor(
        max_iter=N_ITER,
        max_leaf_nodes=N_LEAVES,
        learning_rate=0.1,
        min_samples_leaf=20,
        early_stopping=False,
        projection=projection,
        n_jobs=1,
        random_state=0,
    )


def lightgbm() -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=N_ITER,
        num_leaves=N_LEAVES,
        learning_rate=0.1,
        min_child_samples=20,
        n_jobs=1,
        verbose=-1,
    )


def bevel_forest(projection: str) -> Any:
    from bevel import ObliqueForestRegressor

    return ObliqueForestRegressor(
        N_TREES,
        projection=projection,
        n_projections=100,
        min_samples_leaf=5,
        n_jobs=1,
        random_state=0,
    )


def random_forest() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(
        N_TREES, max_features=100, min_samples_leaf=5, n_jobs=1, random_state=0
    )


SYSTEMS: dict[str, Callable[[], Any]] = {
    "LightGBM": lightgbm,
    "Bevel boosting, axis": lambda: bevel_boosting("axis"),
    "Bevel boosting, auto": lambda: bevel_boosting("auto"),
    "scikit-learn forest": random_forest,
    "Bevel forest, axis": lambda: bevel_forest("axis"),
    "Bevel forest, sparse": lambda: bevel_forest("sparse"),
}


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def measure(name: str, kind: str, shape: tuple[int, int, float]) -> dict[str, float]:
    """One fit in this process."""
    X, y = make_table(kind, *shape)
    model = SYSTEMS[name]()
    model.fit(X[:200], y[:200])
    before = resident()
    peak, done = [before], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    done.set()
    watcher.join()
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    r2 = 1.0 - float(np.mean((model.predict(X) - y) ** 2) / np.var(y))
    return {"seconds": seconds, "extra": (peak[0] - before) / 1e6, "stored": stored / 1e6, "r2": r2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=5000)
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    shape = (asked.rows, asked.columns, asked.density)
    if asked.one:
        print(json.dumps(measure(*asked.one, shape)))
        return
    print(describe(), end="\n\n")
    print(f"{asked.rows:,} x {asked.columns:,}, {asked.density:.2%} stored\n")
    print("| values | system | fit, s of processor | share of the peer's | extra peak, MB | R² |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in ("numbers", "counts"):
        peer = np.nan
        for name in SYSTEMS:
            command = [sys.executable, *sys.orig_argv[1:], "--one", name, kind]
            runs = [
                json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
                for _ in range(asked.repeats)
            ]
            found = {key: float(np.median([run[key] for run in runs])) for key in runs[0]}
            peer = peer if name.startswith("Bevel") else found["seconds"]
            print(
                f"| {kind} | {name} | {found['seconds']:.2f} | {found['seconds'] / peer:.2f} "
                f"| {found['extra']:.0f} | {found['r2']:.3f} |",
                flush=True,
            )
        print(f"| {kind} | (the matrix itself) | | | {found['stored']:.0f} | |")


if __name__ == "__main__":
    main()
