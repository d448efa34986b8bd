"""Small problems as nodes of a tree meet them, awkward ones included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class NodeProblem:
    """Rows of a node, float32 in value and float64 in type as the core reads them."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    weight: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        weight = self.weight if self.weight.size else np.ones(len(self.X))
        for name, value in (("X", self.X), ("y", self.y), ("weight", weight)):
            value = np.ascontiguousarray(np.asarray(value, np.float32), np.float64)
            object.__setattr__(self, name, value)

    @property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Arguments that all models of the core begin with."""
        return self.X, self.weight, self.y, self.n_classes

    @cached_property
    def sd(self) -> np.ndarray:
        mean = np.average(self.X, axis=0, weights=self.weight)
        return np.sqrt(np.average((self.X - mean) ** 2, axis=0, weights=self.weight))

    @cached_property
    def varies(self) -> np.ndarray:
        return self.sd > 2.0**-23 * np.abs(np.average(self.X, axis=0, weights=self.weight))

    @cached_property
    def Z(self) -> np.ndarray:
        """Standardised features that vary, rows multiplied by the root of their weight."""
        Z = self.X - np.average(self.X, axis=0, weights=self.weight)
        return np.sqrt(self.weight)[:, None] * Z[:, self.varies] / self.sd[self.varies]

    @cached_property
    def Y(self) -> np.ndarray:
        """Responses: centred, weighted; indicators divided by the root of their class's weight."""
        columns = self.y[:, None]
        if self.n_classes:
            columns = (self.y[:, None] == np.arange(self.n_classes)).astype(float)
            columns /= np.sqrt(self.weight @ columns)
        columns = columns - np.average(columns, axis=0, weights=self.weight)
        return np.sqrt(self.weight)[:, None] * columns

    def raw(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients of the features that vary, in standard units, as directions (in columns)."""
        directions = np.zeros((self.X.shape[1], coefficients.shape[1]))
        directions[self.varies] = coefficients / self.sd[self.varies, None]
        return directions

    def standard(self, directions: np.ndarray) -> np.ndarray:
        """Directions (in rows) in standard units, of length 1."""
        directions = directions[:, self.varies] * self.sd[self.varies]
        return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _labels(rng: np.random.Generator, X: np.ndarray, n_classes: int) -> np.ndarray:
    """Every class at least once, depending on the features; a target if there are no classes."""
    signal = X @ rng.normal(size=X.shape[1]) + 0.7 * np.linalg.norm(X, axis=1) * rng.normal(
        size=len(X)
    )
    if n_classes == 0:
        return signal
    y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    swapped = rng.random(len(X)) < 0.2
    y[swapped] = rng.integers(0, n_classes, swapped.sum())
    y[:n_classes] = np.arange(n_classes)
    return y


def node_problem(
    seed: int, n: int, m: int, n_classes: int, spoil: Callable[..., np.ndarray] | None = None
) -> NodeProblem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) * rng.lognormal(0, 2, m)
    X += rng.normal(size=m)
    y = _labels(rng, (X - X.mean(0)) / X.std(0), n_classes)
    if spoil is not None:
        X = spoil(rng, X)
    return NodeProblem(X, y, n_classes, rng.integers(1, 5, n) * rng.choice([1.0, 0.37, 2.5], n))


def constant(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X[:, rng.integers(X.shape[1])] = rng.normal()
    X[:, rng.integers(X.shape[1])] = 0.0
    return X


def duplicated(_: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X[:, -1] = X[:, 0]
    X[:, -2] = -2.0 * X[:, 1]
    return X


def rank_deficient(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Small integers, whose sums are exact in float32."""
    X = rng.integers(-8, 9, X.shape).astype(float)
    X[:, -1] = X[:, 0] + X[:, 1] - X[:, 2]
    return X


def duplicated_rows(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    return X[rng.integers(0, max(2, len(X) // 3), len(X))]


def offset(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    return (X - X.mean(0)) / X.std(0) + 1e6 * rng.choice([-1, 1], X.shape[1])


SPOILS = {
    "plain": None,
    "constant": constant,
    "duplicated": duplicated,
    "rank_deficient": rank_deficient,
    "duplicated_rows": duplicated_rows,
    "offset": offset,
}
SIZES = {  # rows, features, classes
    "two": (60, 7, 2),
    "three": (80, 6, 3),
    "ten": (200, 12, 10),
    "more_classes_than_features": (120, 4, 9),
    "regression": (50, 5, 0),
    "few_rows": (9, 20, 2),
    "few_rows_three": (15, 30, 3),
    "few_rows_regression": (8, 12, 0),
    "as_many_rows": (11, 10, 2),
    "wide": (40, 70, 4),
}


def all_problems() -> dict[str, NodeProblem]:
    """Every size with half of the spoils: two classes, many and none meet all of them."""
    problems = {
        f"{size}-{spoil}": node_problem(len(SPOILS) * i + j, *SIZES[size], SPOILS[spoil])
        for i, size in enumerate(SIZES)
        for j, spoil in enumerate(SPOILS)
        if (i + j) % 2 == 0
    }
    rng = np.random.default_rng(99)
    X = rng.normal(size=(12, 5))
    lone = np.zeros(12)
    lone[4] = 1
    problems["lone_row_of_a_class"] = NodeProblem(X, lone, 2)
    two = np.repeat([[0, 1, 2.5], [3, 1, 2]], [4, 6], axis=0)
    problems["two_points"] = NodeProblem(two, np.repeat([0, 1], [4, 6]), 2)
    problems["two_rows"] = NodeProblem(X[:2], np.array([1, 0]), 2, np.array([3.0, 1.0]))
    problems["one_feature"] = NodeProblem(X[:, :1], X[:, 1] > 0, 2)
    problems["unweighted"] = NodeProblem(X, rng.integers(0, 3, 12), 3)
    return problems


PROBLEMS = all_problems()
