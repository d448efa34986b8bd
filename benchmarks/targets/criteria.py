"""Fit time of the criteria of regression, beside scikit-learn's forest.

    python benchmarks/targets/criteria.py --rows 1000 10000 --repeats 3

Processor time of one thread, minimum of interleaved repeats. Both forests take all features at
every node, so that they search the same cuts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from bevel import ObliqueForestRegressor

CRITERIA = ("squared_error", "poisson", "absolute_error")


def main() -> None:
    """Print a line for each number of rows and criterion."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--trees", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    for n_rows in arguments.rows:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, 10)).astype(np.float32)
        y = np.exp(0.5 * (X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=n_rows)))
        base = 0.0
        for criterion in CRITERIA:
            ours, theirs = measure(X, y, criterion, arguments.trees, arguments.repeats)
            base = base or ours
            print(
                f"{n_rows:>8} rows  {criterion:<15} {ours:8.3f} s ({ours / base:.2f} x the first)"
                f"  scikit-learn {theirs:8.3f} s ({theirs / ours:.2f} x)"
            )


def measure(
    X: np.ndarray, y: np.ndarray, criterion: str, n_trees: int, n_repeats: int
) -> tuple[float, float]:
    """Seconds of both, the least of the repeats."""
    ours = ObliqueForestRegressor(
        n_trees, projection="axis", n_projections="p", criterion=criterion, n_jobs=1, random_state=0
    )
    theirs = RandomForestRegressor(n_trees, criterion=criterion, random_state=0)
    times = [(seconds(ours.fit, X, y), seconds(theirs.fit, X, y)) for _ in range(n_repeats)]
    return min(each[0] for each in times), min(each[1] for each in times)


def seconds(fit: Callable[..., object], X: np.ndarray, y: np.ndarray) -> float:
    """Processor time of one call."""
    start = time.process_time()
    fit(X, y)
    return time.process_time() - start


if __name__ == "__main__":
    main()
