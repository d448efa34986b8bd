"""Tables of many makes, labels that trees can find in them, and forests grown by a given search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from support.forests import Forest, Problem, grow, options

Features = Callable[[np.random.Generator, int, int], np.ndarray]


def heavy_tailed(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return np.exp(5 * rng.normal(size=(n, p)))


def discrete(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return rng.integers(-3, 4, (n, p)).astype(float)


def one_outlier(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    X = rng.normal(size=(n, p))
    X[rng.integers(n, size=p), np.arange(p)] = 1e30
    return X


def all_equal_but_one(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    X = np.full((n, p), 0.25)
    X[rng.integers(n, size=p), np.arange(p)] = rng.choice([-1.0, 3.0], p)
    return X


def denormal(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return rng.integers(-50, 50, (n, p)) * 1.4e-45


def neighbouring_floats(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return 1.0 + rng.integers(0, 40, (n, p)) * 2.0**-23


def clustered(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return 10.0 ** rng.integers(0, 7, (n, p)) + rng.normal(size=(n, p)) * 1e-3


def smooth(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return rng.normal(size=(n, p))


MAKES: list[Features] = [
    smooth,
    heavy_tailed,
    discrete,
    one_outlier,
    all_equal_but_one,
    denormal,
    neighbouring_floats,
    clustered,
]


def labels(rng: np.random.Generator, X: np.ndarray, n_classes: int) -> np.ndarray:
    """Classes by the rank of a noisy sum, so that trees have something to find."""
    ranks = X.argsort(axis=0).argsort(axis=0).sum(axis=1) / len(X)
    score = ranks + rng.normal(size=len(X)) * 0.2
    return (score.argsort().argsort() * n_classes // len(X)).astype(int)


def grow_by(search: str, data: Problem, *families: tuple[object, ...], **values: object) -> Forest:
    n_threads, n_trees = values.pop("n_threads", 1), values.pop("n_trees", 2)
    how = options(*families, split_search=search, **values)
    return grow(data, how, n_trees, n_threads=n_threads)
