"""Isolation forests beside scikit-learn's: area under the ROC curve, and processor time.

    python benchmarks/targets/isolation.py --data FOLDER --seeds 10

A folder of tables (`*.csv.gz`, the class in the last column). Tables whose rarest class has 1 to
20 % of the rows and at least 10 of them take part: its rows are the outliers, all others the
ordinary rows, and forests are fitted to both without the labels. Means over the seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from bevel import ObliqueIsolationForest
from bevel import projections as P

PROJECTIONS: Mapping[str, Any] = {
    "axis": "axis",
    "gaussian": "gaussian",
    "gaussian 2": P.Gaussian(2),
    "auto": "auto",
    "sparse": "sparse",
    "combination": "combination",
    "rotation": "rotation",
}


def main() -> None:
    """Print a line for each table, and means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--most-rows", type=int, default=10_000)
    arguments = parser.parse_args()
    names = [*PROJECTIONS, "scikit-learn"]
    print(f"{'table':<34}{'rows':>6}{'p':>5}{'share':>7}", *(f"{name:>13}" for name in names))
    results, times = [], []
    for path in sorted(arguments.data.glob("*.csv.gz")):
        problem = read_problem(path, arguments.most_rows)
        if problem is None:
            continue
        X, outlier = problem
        areas, seconds = evaluate(X, outlier, arguments.seeds)
        results.append(areas)
        times.append(seconds)
        size = f"{path.name[:-7]:<34}{len(X):>6}{X.shape[1]:>5}{outlier.mean():>7.3f}"
        print(size, *(f"{area:>13.3f}" for area in areas), flush=True)
    areas = np.array(results)
    print(
        f"{f'mean of {len(areas)} tables':<52}", *(f"{area:>13.3f}" for area in areas.mean(axis=0))
    )
    difference = areas - areas[:, -1:]
    errors = difference.std(axis=0, ddof=1) / np.sqrt(len(areas))
    print(f"{'less that of scikit-learn':<52}", *(f"{d:>13.3f}" for d in difference.mean(axis=0)))
    print(f"{'standard error of it':<52}", *(f"{error:>13.3f}" for error in errors))
    total = np.sum(times, axis=0)
    print(
        f"{'processor time, share of scikit-learn':<52}",
        *(f"{t:>13.3f}" for t in total / total[-1]),
    )


def read_problem(path: Path, most_rows: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Numbers, and which rows are outliers; None for a table without a rare class."""
    table = pd.read_csv(path)
    labels = table.iloc[:, -1]
    counts = labels.value_counts()
    share = counts.iloc[-1] / len(labels)
    X = table.iloc[:, :-1].select_dtypes("number").to_numpy(dtype=np.float64)
    rare_enough = 0.01 <= share <= 0.2 and counts.iloc[-1] >= 10
    if not rare_enough or len(X) > most_rows or X.shape[1] < 2 or np.isnan(X).any():
        return None
    return X, (labels == counts.index[-1]).to_numpy()


def evaluate(X: np.ndarray, outlier: np.ndarray, n_seeds: int) -> tuple[list[float], list[float]]:
    """Mean area and time of each forest."""
    areas = np.zeros((n_seeds, len(PROJECTIONS) + 1))
    seconds = np.zeros_like(areas)
    for seed in range(n_seeds):
        forests = [
            ObliqueIsolationForest(projection=projection, random_state=seed, n_jobs=1)
            for projection in PROJECTIONS.values()
        ]
        for i, forest in enumerate([*forests, IsolationForest(random_state=seed, n_jobs=1)]):
            start = time.process_time()
            scores = forest.fit(X).score_samples(X)
            seconds[seed, i] = time.process_time() - start
            areas[seed, i] = roc_auc_score(outlier, -scores)
    return areas.mean(axis=0).tolist(), seconds.min(axis=0).tolist()


if __name__ == "__main__":
    main()
