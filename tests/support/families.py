"""A table with missing values and nominal columns, and every family of directions to grow on it."""

from __future__ import annotations

import numpy as np

from bevel import _core
from support.forests import Forest, Problem, grow, options, problem

# p numeric columns 0 .. 4, nominal columns 5 (7 levels) and 6 (40 levels).
N_NUMERIC, LEVELS = 5, [0, 0, 0, 0, 0, 7, 40]

FAMILIES = {
    "axis": [("axis", 2)],
    "signs": [("signs", 5, 12)],
    "single_signs": [("signs", 5, 5)],
    "dense_signs": [("signs", 2, 9)],
    "combination": [("combination", 4, 3)],
    "gaussian": [("gaussian", 3, 2)],
    "rotation": [("rotation", 3, 5)],
    "rotation_of_some": [("rotation", 2, 3, ("flip", True))],
    "rotation_per_node": [("rotation", 3, 4, ("per_node", True))],
    "two_rotations": [("rotation", 2, 3), ("rotation", 2, 5)],
    "multirotation": [_core.Family("multirotation", 4, 4, n_rotations=3)],
    "principal": [("principal", 3, 2, ("share", 0.75))],
    "principal_per_node": [("principal", 4, 3, ("per_node", True))],
    "rotations": [("rotation", 2, 4), ("principal", 5, 3), ("axis", 1), ("categorical", 1)],
    "categorical": [("categorical", 2)],
    "mixed": [("axis", 2), ("signs", 3, 6), ("rotation", 2, 4), ("categorical", 1)],
}
TASKS = {"two_classes": 2, "five_classes": 5, "regression": 0}


def training_data(
    rng: np.random.Generator, n: int, n_classes: int, *, weights: str = "none"
) -> Problem:
    X = rng.normal(size=(n, len(LEVELS)))
    X[:, 1] = np.round(X[:, 1])
    X[:, 5], X[:, 6] = rng.integers(0, 7, n), rng.integers(0, 40, n)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(X[:, 6]) + (X[:, 5] > 3) + rng.normal(size=n)
    y = signal
    if n_classes:
        edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
        y = np.digitize(signal, edges)
    X[:, [0, 3]] = np.where(rng.random((n, 2)) < 0.15, np.nan, X[:, [0, 3]])
    w = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.uniform(0, 2, n)}[weights]
    return problem(X, y, n_classes, w, LEVELS)


def new_rows(rng: np.random.Generator, data: Problem, n: int) -> np.ndarray:
    """Rows unlike those of training: missing values in any column, and levels never seen."""
    X = rng.normal(size=(n, len(LEVELS))).astype(np.float32) * 3
    X[:, 5], X[:, 6] = rng.integers(0, 9, n), rng.integers(0, 43, n)
    X[: n // 4] = data.X[rng.integers(0, data.n_rows, n // 4)]
    X[:, :N_NUMERIC][rng.random((n, N_NUMERIC)) < 0.15] = np.nan
    return X


def grow_on(data: Problem, family: str, n_trees: int = 4, **values: object) -> Forest:
    return grow(data, options_for(data, family, **values), n_trees)


def options_for(data: Problem, family: str, **values: object) -> _core.Options:
    values = {"bag_size": data.n_rows, "seed": 3, **values}
    criterion = "gini" if data.n_classes else "squared_error"
    return options(*FAMILIES[family], criterion=criterion, **values)
