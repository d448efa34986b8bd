"""Shapley values by their definition: every coalition is predicted."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor

Predict = Callable[[np.ndarray], np.ndarray]


def predict_with(forest: FlatForest, hard: bool = False) -> Predict:
    """Predictions of a forest for encoded rows, one column for each class, or one."""
    predictor = PackedPredictor(forest)
    if forest.n_classes:
        return lambda rows: predictor.probabilities(rows, 1, hard)
    return lambda rows: predictor.values(rows, 1)[:, None]


def worths(
    predict: Predict, X: np.ndarray, background: np.ndarray, weights: np.ndarray | None = None
) -> list[np.ndarray]:
    """Mean prediction of each coalition, of shape (2^p, columns), for each row."""
    p = X.shape[1]
    inside = (np.arange(2**p)[:, None] >> np.arange(p)) & 1 == 1  # coalitions x features
    found = []
    for x in X:
        hybrids = np.where(inside[:, None], x, background).reshape(-1, p)
        predicted = predict(np.ascontiguousarray(hybrids)).reshape(2**p, len(background), -1)
        found.append(np.average(predicted, axis=1, weights=weights))
    return found


def naive_shapley(
    predict: Predict, X: np.ndarray, background: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Values of shape (n, p, columns), by 2^p coalitions for each row."""
    return shapley_of_worths(worths(predict, X, background, weights), X.shape[1])


def shapley_of_worths(worths_of_rows: list[np.ndarray], p: int) -> np.ndarray:
    """Shapley values by their definition, from the worth of each coalition."""
    inside = (np.arange(2**p)[:, None] >> np.arange(p)) & 1 == 1
    size = inside.sum(axis=1)
    values = []
    for worth in worths_of_rows:
        gains = []
        for feature in range(p):
            without = np.flatnonzero(~inside[:, feature])
            weight = np.array([1.0 / (p * comb(p - 1, s)) for s in size[without]])
            gains.append(weight @ (worth[without + 2**feature] - worth[without]))
        values.append(gains)
    return np.array(values)


def interactions_of_worths(worths_of_rows: list[np.ndarray], p: int) -> np.ndarray:
    """Interaction values of shape (n, p, p, columns): half of each interaction in both places.

    The rest of a feature's value is on the diagonal.
    """
    inside = (np.arange(2**p)[:, None] >> np.arange(p)) & 1 == 1
    size = inside.sum(axis=1)
    values = shapley_of_worths(worths_of_rows, p)
    matrices = np.zeros((len(values), p, p, values.shape[2]))
    for row, worth in enumerate(worths_of_rows):
        for i in range(p):
            for j in range(i):
                rest = np.flatnonzero(~inside[:, i] & ~inside[:, j])
                weight = np.array([1.0 / ((p - 1) * comb(p - 2, s)) for s in size[rest]])
                both = worth[rest + 2**i + 2**j] + worth[rest]
                half = 0.5 * weight @ (both - worth[rest + 2**i] - worth[rest + 2**j])
                matrices[row, i, j] = matrices[row, j, i] = half
        for i in range(p):
            matrices[row, i, i] = values[row, i] - matrices[row, i].sum(axis=0)
    return matrices
