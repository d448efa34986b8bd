"""Forests over blocks: memory, time and bytes read of a table that does not fit.

    python -m benchmarks.large_data make --rows 10000000 --folder /tmp/rows
    python -m benchmarks.large_data fit --folder /tmp/rows --limit 1.5 --memory 600MB --threads 2
    python -m benchmarks.large_data compare --rows 1000000
    python -m benchmarks.large_data compare --rows 500000 --model boosting --trees 10

`make` writes Parquet files of 28 float32 columns and a label. `fit` fits a forest under a hard
limit of the data of the process (RLIMIT_DATA) and reports peak memory, seconds and bytes read.
`compare` fits the same rows in memory and from blocks in files. Iterations of boosting count as
trees.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

N_FEATURES = 28
PART_ROWS = 500_000


def make_rows(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes with a curved oblique boundary and ten percent of noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3] - X[:, 4]) - 1.0 + 0.5 * X[:, 5]
    y = (score + 0.3 * rng.standard_normal(n, dtype=np.float32) > 0).astype(np.int8)
    return X, y


def make(folder: Path, n_rows: int) -> None:
    """Write the table, part by part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for part, start in enumerate(range(0, n_rows, PART_ROWS)):
        X, y = make_rows(part, min(PART_ROWS, n_rows - start))
        columns = {f"x{f}": X[:, f].copy() for f in range(N_FEATURES)} | {"label": y}
        pq.write_table(pa.table(columns), folder / f"part-{part:04d}.parquet", compression="snappy")


def fit(folder: Path, arguments: argparse.Namespace) -> None:
    """Fit over the files, under a limit, and report."""
    if arguments.limit:
        # Arrow's own pool reserves a gigabyte of addresses, which the limit would count.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        limit = int(arguments.limit * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    from bevel import scan

    table = scan(
        str(folder / "*.parquet"), target="label", folder=arguments.blocks, memory=arguments.memory
    )
    forest = model(arguments)
    forest.verbose = 1
    start = time.perf_counter()
    forest.fit(table)
    seconds = time.perf_counter() - start
    X, y = make_rows(10**6, 100_000)
    names = [f"x{f}" for f in range(N_FEATURES)]
    correct = 0
    for first in range(0, len(y), 10_000):
        rows = slice(first, first + 10_000)
        import pyarrow as pa

        batch = pa.table({name: X[rows, f].copy() for f, name in enumerate(names)})
        correct += int((forest.predict(batch) == y[rows]).sum())
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"seconds {seconds:.0f} (processor {used.ru_utime + used.ru_stime:.0f})")
    print(f"peak resident memory {used.ru_maxrss / 2**20:.2f} GiB")
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith(("rchar", "wchar", "read_bytes")):
            name, value = line.split(": ")
            print(f"{name} {int(value) / 1e9:.2f} GB")
    print(f"nodes {len(forest.forest_.right):,}, accuracy {correct / len(y):.4f}")


def model(arguments: argparse.Namespace) -> Any:
    """The estimator to fit."""
    from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier

    shared = {"random_state": 0, "n_jobs": arguments.threads}
    if arguments.model == "boosting":
        return ObliqueBoostingClassifier(max_iter=arguments.trees, early_stopping=False, **shared)
    return ObliqueForestClassifier(
        arguments.trees,
        projection="sparse",
        min_samples_leaf=arguments.min_samples_leaf,
        **shared,
    )


def compare(arguments: argparse.Namespace) -> None:
    """The ordinary fit in memory, blocks in memory, and blocks in files: processor seconds."""
    from bevel import scan

    X, y = make_rows(0, arguments.rows)
    X_test, y_test = make_rows(1, 100_000)

    def ordinary() -> Any:
        return model(arguments).fit(X, y)

    def in_memory() -> Any:
        return model(arguments).fit(scan(X, target=y))

    def in_files() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            table = scan(X, target=y, folder=folder, memory=arguments.memory)
            return model(arguments).fit(table)

    for run in (ordinary, in_memory, in_files):
        before, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        forest = run()
        after = resource.getrusage(resource.RUSAGE_SELF)
        wall = time.perf_counter() - wall
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        score = forest.score(X_test, y_test)
        print(
            f"{run.__name__:10} processor {used:7.1f} s, wall {wall:7.1f} s, accuracy {score:.4f}"
        )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["make", "fit", "compare"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("large_data"))
    parser.add_argument("--blocks", type=Path, default=None)
    parser.add_argument("--limit", type=float, default=None, help="GiB of RLIMIT_DATA")
    parser.add_argument("--memory", default=None)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--model", choices=["forest", "boosting"], default="forest")
    parser.add_argument("--min-samples-leaf", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.command == "make":
        make(arguments.folder, arguments.rows)
    elif arguments.command == "fit":
        fit(arguments.folder, arguments)
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
