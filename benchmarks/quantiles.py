"""Quantiles beside those of `quantile-forest`: ``python -m benchmarks.quantiles``.

Both packages grow axis-aligned forests of the same settings on Friedman's first problem and predict
nine quantiles of new rows. Times are the best of some runs, interleaved; the loss is the mean
pinball loss of the quantiles, and coverage that of the central 90 %. Bevel's default forest, with
sparse directions, stands below. quantile-forest (PyPI) is left out where it is not installed; its
fit and prediction use the number of threads that is asked for.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

from benchmarks import machine
from benchmarks.tables import markdown
from bevel import ObliqueForestRegressor

LEVELS = np.array([0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95])


def main() -> None:
    options = parse()
    print(machine.describe(), end="\n\n", flush=True)
    X, y = make_friedman1(options.n + options.new, noise=1.0, random_state=0)
    training, new = (X[: options.n], y[: options.n]), (X[options.n :], y[options.n :])
    rows = []
    for leaf in (1, 10):
        times: dict[str, list[tuple[float, float]]] = {}
        found = {}
        for _ in range(options.repeats):
            for name, make in systems(options, leaf).items():
                *seconds, found[name] = measure(make(), training, new[0])
                times.setdefault(name, []).append((seconds[0], seconds[1]))
        for name, pairs in times.items():
            fit, predict = np.min(pairs, axis=0)
            loss, covered = pinball(found[name], new[1]), coverage(found[name], new[1])
            cells = [f"{fit:.2f}", f"{predict:.3f}", f"{loss:.4f}", f"{covered:.3f}"]
            rows.append([name, str(leaf), *cells])
    head = [
        "system",
        "rows in a leaf",
        "fit, s",
        "quantiles, s",
        "pinball loss",
        "coverage of 90 %",
    ]
    print(markdown(head, rows))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quantiles",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--n", type=int, default=5000, help="training rows")
    parser.add_argument("--new", type=int, default=2000, help="rows to predict")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


def systems(options: argparse.Namespace, leaf: int) -> dict[str, Callable[[], Any]]:
    """Estimators, not fitted yet, by name."""
    shared = {"min_samples_leaf": leaf, "n_jobs": options.threads, "random_state": 0}
    third = {"n_projections": 1 / 3}
    made: dict[str, Callable[[], Any]] = {
        "bevel, axis": lambda: ObliqueForestRegressor(
            options.trees, projection="axis", keep_targets=True, **third, **shared
        ),
        "bevel, default": lambda: ObliqueForestRegressor(
            options.trees, keep_targets=True, **shared
        ),
    }
    try:
        from quantile_forest import RandomForestQuantileRegressor
    except ImportError:
        return made
    # Its default keeps one row of each leaf; None keeps all, as Meinshausen's definition needs.
    made["quantile-forest"] = lambda: RandomForestQuantileRegressor(
        options.trees, max_features=1 / 3, max_samples_leaf=None, **shared
    )
    return made


def measure(
    estimator: Any, training: tuple[np.ndarray, np.ndarray], new: np.ndarray
) -> tuple[float, float, np.ndarray]:
    start = time.perf_counter()
    estimator.fit(*training)
    fitted = time.perf_counter()
    if isinstance(estimator, ObliqueForestRegressor):
        found = estimator.predict_quantiles(new, LEVELS)
    else:
        found = estimator.predict(new, quantiles=LEVELS.tolist())
    return fitted - start, time.perf_counter() - fitted, np.asarray(found)


def pinball(found: np.ndarray, y: np.ndarray) -> float:
    error = y[:, None] - found
    return float(np.maximum(LEVELS * error, (LEVELS - 1) * error).mean())


def coverage(found: np.ndarray, y: np.ndarray) -> float:
    return float(((found[:, 0] <= y) & (y <= found[:, -1])).mean())


if __name__ == "__main__":
    main()
