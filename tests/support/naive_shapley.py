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


def naive_shapley(predict: Predict, X: np.ndarray, background: np.ndarray) -> np.ndarray:
    """Values of shape (n, p, columns), by 2^p coalitions for each row."""
    p = X.shape[1]
    inside = (np.arange(2**p)[:, None] >> np.arange(p)) & 1 == 1  # coalitions x features
    size = inside.sum(axis=1)
    values = []
    for x in X:
        hybrids = np.where(inside[:, None], x, background).reshape(-1, p)
        worth = predict(np.ascontiguousarray(hybrids)).reshape(2**p, len(background), -1).mean(1)
        gains = []
        for feature in range(p):
            without = np.flatnonzero(~inside[:, feature])
            weight = np.array([1.0 / (p * comb(p - 1, s)) for s in size[without]])
            gains.append(weight @ (worth[without + 2**feature] - worth[without]))
        values.append(gains)
    return np.array(values)
