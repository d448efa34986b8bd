"""Synthetic tasks of fixed shape for speed: float32 features in C order, reproducible bit by bit.

``make("higgs28")`` gives the training rows of a task and, on request, held-out rows of the same
distribution. The held-out rows are drawn after the training rows from the same generator, so that
asking for them, or for more of them, leaves the training rows as they are. NumPy is all this file
needs: peers that live in another interpreter import it too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

__all__ = ["TASKS", "Data", "Task", "make"]

# Draws rows from a distribution fixed beforehand: n -> (X, y).
Draw = Callable[[int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Data:
    """Training rows and held-out rows; targets are int64 labels, or float64 in regression."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def is_regression(self) -> bool:
        return self.y.dtype.kind == "f"

    @property
    def n_classes(self) -> int:
        return 0 if self.is_regression else int(self.y.max()) + 1


@dataclass(frozen=True)
class Task:
    """A default number of rows, a way to draw them, and the kind of data the task stands for."""

    n_rows: int
    start: Callable[[], Draw]
    like: str


def parity(n_features: int, n_informative: int, seed: int) -> Draw:
    """Label: is the number of positive values among the first features odd? (SPORF 4.2)."""
    rng = np.random.default_rng(seed)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.uniform(-1, 1, (n, n_features)).astype(np.float32)
        y = (X[:, :n_informative] > 0).sum(axis=1) % 2
        return X, y.astype(np.int64)

    return draw


def blobs(n_features: int, n_classes: int, n_hidden: int, seed: int) -> Draw:
    """Three Gaussian blobs per class in a random oblique subspace, noise on every feature."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(n_hidden, n_features)) / np.sqrt(n_hidden)
    centres = rng.normal(scale=1.6, size=(n_classes, 3, n_hidden))

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(0, n_classes, n)
        hidden = centres[y, rng.integers(0, 3, n)] + rng.normal(size=(n, n_hidden))
        X = hidden @ directions + 0.5 * rng.normal(size=(n, n_features))
        return X.astype(np.float32), y.astype(np.int64)

    return draw


def smooth_surface(n_features: int, seed: int) -> Draw:
    """Regression: three sparse oblique directions through a sine, a square and a kink, noise."""
    rng = np.random.default_rng(seed)
    directions: list[np.ndarray] = []  # drawn after the first X, as the reference stream has it

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(size=(n, n_features)).astype(np.float32)
        if not directions:
            weights = rng.normal(size=(n_features, 3))
            directions.append(weights * (rng.random((n_features, 3)) < 0.3))
        a, b, c = (X @ directions[0]).T
        return X, np.sin(a) + 0.5 * b**2 - np.abs(c) + 0.3 * rng.normal(size=n)

    return draw


TASKS = {
    **{
        f"mixture{p}x{k}": Task(2_000, partial(blobs, p, k, 8, seed=p + k), "a UCI set, larger")
        for p in (20, 50, 100)
        for k in (2, 5)
    },
    "small10": Task(1_000, lambda: blobs(10, 3, 4, seed=4), "a UCI set"),
    "parity20": Task(20_000, lambda: parity(20, 3, seed=0), "the papers' simulation"),
    "higgs28": Task(100_000, lambda: blobs(28, 2, 8, seed=1), "Higgs: many rows, few features"),
    "many100": Task(20_000, lambda: blobs(40, 100, 12, seed=5), "a hundred classes"),
    "image784": Task(10_000, lambda: blobs(784, 10, 40, seed=2), "MNIST"),
    "wide5000": Task(2_000, lambda: blobs(5000, 2, 50, seed=3), "p53: more features than rows"),
    "regression20": Task(200_000, lambda: smooth_surface(20, seed=6), "a smooth oblique surface"),
}


def make(name: str, n_rows: int | None = None, n_test: int = 0) -> Data:
    """Draw `n_rows` training rows (None: the task's own number) and `n_test` held-out rows."""
    if name not in TASKS:
        raise ValueError(f"name must be one of {', '.join(TASKS)}; got {name!r}.")
    task = TASKS[name]
    draw = task.start()
    X, y = draw(n_rows or task.n_rows)
    X_test, y_test = draw(n_test)
    return Data(name, X, y, X_test, y_test)
