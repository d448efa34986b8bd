"""Processor time of forests of several outputs, beside scikit-learn: `python several_outputs.py`.

One thread, user and system time, the least of some repeats, libraries in turn. `per output` is the
time divided by the number of outputs. `--accuracy` scores all of them on scikit-learn's bundled
sets, whose columns are parted into features and targets, and on simulated outputs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import r2_score

from bevel import ObliqueForestClassifier, ObliqueForestRegressor

N_FEATURES, N_TREES = 20, 20


def problem(n_rows: int, n_outputs: int, classes: bool, seed: int) -> tuple[Any, Any]:
    """Outputs that depend on few latent functions of the features, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES))
    latent = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 2] * X[:, 3], np.abs(X[:, 4])])
    y = latent @ np.random.default_rng(1).normal(size=(3, n_outputs))
    y += rng.normal(size=y.shape)
    if classes:
        y = np.digitize(y, [-1.0, 1.0])
    return X.astype(np.float32), y[:, 0] if n_outputs == 1 else y


def makers(classes: bool) -> dict[str, Callable[[], Any]]:
    """The same settings in each library: all nodes look at a third of the features."""
    third = N_FEATURES // 3
    bevel = ObliqueForestClassifier if classes else ObliqueForestRegressor
    forest = RandomForestClassifier if classes else RandomForestRegressor
    extra = ExtraTreesClassifier if classes else ExtraTreesRegressor
    common = {"n_estimators": N_TREES, "random_state": 0, "n_jobs": 1}
    axis = {"projection": "axis", "n_projections": third, "scale": None}
    gini = {"criterion": "gini"} if classes else {}
    return {
        "bevel, axis": lambda: bevel(**common, **axis, **gini),
        "RandomForest": lambda: forest(**common, max_features=third),
        "bevel, random cuts": lambda: bevel(
            **common, **axis, **gini, threshold="random", bootstrap=False
        ),
        "ExtraTrees": lambda: extra(**common, max_features=third),
    }


def target_sets() -> Iterator[tuple[str, Any, Any]]:
    """Tables whose columns are parted into features and several targets."""
    sets = {
        "diabetes": (datasets.load_diabetes, 4),
        "wine": (datasets.load_wine, 10),
        "breast cancer": (datasets.load_breast_cancer, 10),
        "digits, lower half": (datasets.load_digits, 32),
    }
    for name, (load, n_features) in sets.items():
        X = load().data
        varies = X.std(axis=0) > 0.1 * X.std(axis=0).mean() * (name[:6] == "digits")
        yield name, X[:, :n_features], X[:, n_features:][:, varies[n_features:]]
    linnerud = datasets.load_linnerud()
    yield "linnerud", linnerud.data, linnerud.target
    for n_outputs in (10, 100):
        yield f"simulated, {n_outputs}", *problem(1000, n_outputs, False, 5)


def compare(n_repeats: int, n_trees: int) -> None:
    """Mean R² over the outputs, each of unit variance, on other halves of the rows."""
    for name, X, y in target_sets():
        y = (y - y.mean(axis=0)) / y.std(axis=0)
        found: dict[str, list[float]] = {}
        for repeat in range(n_repeats):
            order = np.random.default_rng(repeat).permutation(len(X))
            train, test = order[: len(X) // 2], order[len(X) // 2 :]
            common = {"n_estimators": n_trees, "random_state": repeat, "n_jobs": 1}
            third = max(1, X.shape[1] // 3)
            axis = {"projection": "axis", "n_projections": third, "scale": None}
            models = {
                "default": ObliqueForestRegressor(**common),
                "axis": ObliqueForestRegressor(**common, **axis),
                "RandomForest": RandomForestRegressor(**common, max_features=third),
                "random cuts": ObliqueForestRegressor(
                    **common, **axis, threshold="random", bootstrap=False, min_samples_split=2
                ),
                "ExtraTrees": ExtraTreesRegressor(**common, max_features=third),
            }
            for system, model in models.items():
                predicted = model.fit(X[train], y[train]).predict(X[test])
                found.setdefault(system, []).append(float(r2_score(y[test], predicted)))
        means = "  ".join(f"{system} {np.mean(each):.3f}" for system, each in found.items())
        print(f"{name:<20} {X.shape[1]:>3} features, {y.shape[1]:>3} outputs  {means}", flush=True)


def accuracy(model: Any, X: Any, y: Any, classes: bool) -> float:
    predicted = model.predict(X)
    return float((predicted == y).mean()) if classes else float(r2_score(y, predicted))


def measure(n_rows: int, n_outputs: int, classes: bool, repeats: int) -> Iterator[str]:
    X, y = problem(n_rows, n_outputs, classes, 2)
    X_new, y_new = problem(500, n_outputs, classes, 3)
    made = makers(classes)
    least = dict.fromkeys(made, np.inf)
    scores = {}
    for _ in range(repeats):
        for name, make in made.items():
            start = time.process_time()
            model = make().fit(X, y)
            least[name] = min(least[name], time.process_time() - start)
            scores[name] = accuracy(model, X_new, y_new, classes)
    task = "classes" if classes else "regression"
    for name, seconds in least.items():
        yield (
            f"{task:<10} n={n_rows:<6} m={n_outputs:<5} {name:<19} {seconds:8.3f} s  per output "
            f"{1e3 * seconds / n_outputs:8.3f} ms  score {scores[name]:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--outputs", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--accuracy", action="store_true")
    parser.add_argument("--trees", type=int, default=100)
    options = parser.parse_args()
    if options.accuracy:
        compare(options.repeats, options.trees)
        return
    for classes in (False, True):
        for n_outputs in options.outputs:
            for line in measure(options.rows, n_outputs, classes, options.repeats):
                print(line, flush=True)


if __name__ == "__main__":
    main()
