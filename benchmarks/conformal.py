"""Conformal intervals beside MAPIE: `python -m benchmarks.conformal`.

Jackknife+ after bootstrap of the same model: bags of single trees, of which MAPIE fits one after
the other, and `conformal` takes a forest. CV+ of a forest, as the usual way with MAPIE. Coverage
and mean width of intervals of 90 % on new rows, and processor time of one thread for the fit, the
calibration and the intervals. Needs mapie 1.0 or newer.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from mapie.regression import CrossConformalRegressor, JackknifeAfterBootstrapRegressor
from mapie.subsample import Subsample
from sklearn.datasets import load_diabetes

from bevel import ObliqueForestRegressor
from bevel.analysis import conformal
from bevel.datasets import friedman1

TREE: dict[str, Any] = {"projection": "sparse", "min_samples_leaf": 5, "n_jobs": 1}


def ours(n_trees: int, X: Any, y: Any, new: Any, seed: int) -> Any:
    """A forest, whose bags leave rows out."""
    forest = ObliqueForestRegressor(n_trees, random_state=seed, **TREE).fit(X, y)
    return conformal(forest, X, y).predict_interval(new)


def after_bootstrap(n_trees: int, X: Any, y: Any, new: Any, seed: int) -> Any:
    """MAPIE's jackknife+ after bootstrap of single trees."""
    tree = ObliqueForestRegressor(1, bootstrap=False, random_state=seed, **TREE)
    bags = Subsample(n_resamplings=n_trees, random_state=seed)
    model = JackknifeAfterBootstrapRegressor(
        tree, confidence_level=0.9, method="plus", resampling=bags, n_jobs=1
    )
    return model.fit_conformalize(X, y).predict_interval(new)[1][:, :, 0]


def cross(n_trees: int, X: Any, y: Any, new: Any, seed: int) -> Any:
    """MAPIE's CV+ of forests."""
    forest = ObliqueForestRegressor(n_trees, random_state=seed, **TREE)
    model = CrossConformalRegressor(
        forest, confidence_level=0.9, method="plus", cv=5, n_jobs=1, random_state=seed
    )
    return model.fit_conformalize(X, y).predict_interval(new)[1][:, :, 0]


SYSTEMS: dict[str, Callable[..., Any]] = {
    "bevel, jackknife+": ours,
    "MAPIE, jackknife+": after_bootstrap,
    "MAPIE, CV+": cross,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # single trees of MAPIE's bags have rows twice
    diabetes = load_diabetes(return_X_y=True)
    for name, (X, y) in {"diabetes": diabetes, "friedman1": friedman1(600, random_state=0)}.items():
        found: dict[str, list[tuple[float, float, float]]] = {}
        for repeat in range(given.repeats):
            order = np.random.default_rng(repeat).permutation(len(y))
            old, new = order[: len(y) * 2 // 3], order[len(y) * 2 // 3 :]
            for system, work in SYSTEMS.items():
                start = time.process_time()
                low, high = work(given.trees, X[old], y[old], X[new], repeat).T
                seconds = time.process_time() - start
                covered = ((low <= y[new]) & (y[new] <= high)).mean()
                found.setdefault(system, []).append((covered, (high - low).mean(), seconds))
        print(f"\n{name}: coverage, mean width, least processor time")
        for system, values in found.items():
            covered, width, seconds = np.array(values).T
            row = f"{covered.mean():.3f}  {width.mean():.2f}  {seconds.min():.2f} s"
            print(f"{system:18} {row}", flush=True)


if __name__ == "__main__":
    main()
