"""Summed impurity of several outputs in plain NumPy: the best cut of a node by trying all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Impurity:
    """Impurity of rows times their weight, summed over the outputs.

    indicators: of the classes of all outputs, or standardised targets.
    """

    kind: str
    columns: Floats

    def __call__(self, rows: npt.NDArray[np.intp], weights: Floats) -> float:
        w = weights[rows]
        total = w.sum()
        if total == 0.0:
            return 0.0
        part = self.columns[rows]
        mean = w @ part / total
        if self.kind == "squared_error":
            return float((w[:, None] * (part - mean) ** 2).sum())
        if self.kind == "gini":  # 1 - sum p^2 of each output: sum p (1 - p) over all classes
            return float(total * (mean * (1.0 - mean)).sum())
        present = mean[mean > 0.0]
        return float(-total * (present * np.log2(present)).sum())


def standardised(y: Floats, weights: Floats) -> Floats:
    """Targets less their weighted means, in units of their weighted standard deviations."""
    centred = y - weights @ y / weights.sum()
    deviation = np.sqrt(weights @ centred**2 / weights.sum())
    return centred / np.where(deviation > 0.0, deviation, np.inf)


def indicators(y: npt.NDArray[np.int64]) -> Floats:
    """One column for each class of each output."""
    parts = [y[:, [k]] == np.unique(y[:, k]) for k in range(y.shape[1])]
    return np.hstack(parts).astype(float)


def sides(values: Floats) -> Iterator[npt.NDArray[np.bool_]]:
    """Rows on the left of every cut of a column, with missing values on either side."""
    missing = np.isnan(values)
    levels = np.unique(values[~missing])
    for level in levels[:-1]:
        left = values <= level
        yield left
        if missing.any():
            yield left | missing
    if missing.any() and len(levels):
        yield ~missing


def best_gain(
    X: Floats, rows: npt.NDArray[np.intp], weights: Floats, impurity: Impurity, least: int = 1
) -> float:
    """Largest decrease of the impurity by a cut of one column; zero if there is none."""
    before, best = impurity(rows, weights), 0.0
    for feature in range(X.shape[1]):
        for left in sides(X[rows, feature]):
            if least <= left.sum() <= len(rows) - least:
                after = impurity(rows[left], weights) + impurity(rows[~left], weights)
                best = max(best, before - after)
    return best
