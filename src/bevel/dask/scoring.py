"""Scores of predictions part by part: each gives a few sums, which are combined in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bevel.dask.packages import dask_delayed

__all__ = ["accuracy", "r_squared"]


class Moments(NamedTuple):
    """Weight, mean and sum of squared deviations of targets, and of squared errors."""

    weight: float
    mean: float
    deviations: float
    errors: float

    def plus(self, other: Moments) -> Moments:
        """Moments of the targets of both."""
        weight = self.weight + other.weight
        if weight == 0.0:
            return self
        distance = other.mean - self.mean
        return Moments(
            weight,
            self.mean + distance * other.weight / weight,
            self.deviations
            + other.deviations
            + distance * distance * self.weight * other.weight / weight,
            self.errors + other.errors,
        )


def accuracy(parts: Sequence[tuple[Any, Any, Any]]) -> Any:
    """Share of correct predictions, lazily, from (predictions, targets, weights) of each part."""
    delayed = dask_delayed().delayed
    counts = [delayed(_count_right)(*part) for part in parts]
    return delayed(_share)(counts)


def r_squared(parts: Sequence[tuple[Any, Any, Any]]) -> Any:
    """R², lazily, from (predictions, targets, weights) of each part."""
    delayed = dask_delayed().delayed
    return delayed(_r_squared)([delayed(_moments)(*part) for part in parts])


def _read(predictions: Any, targets: Any, weights: Any) -> tuple[Any, Any, Any]:
    predictions, targets = np.asarray(predictions), np.asarray(targets)
    weights = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=float)
    lengths = (len(predictions), len(targets), len(weights))
    if len(set(lengths)) > 1:
        raise ValueError(
            "X, y and sample_weight must have the same rows in each part; got parts of "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]} rows. Take y and the weights from the "
            "frame that X is from, or rechunk them alike."
        )
    return predictions, targets.reshape(len(predictions)), weights.reshape(len(predictions))


def _count_right(predictions: Any, targets: Any, weights: Any) -> tuple[float, float]:
    predictions, targets, weights = _read(predictions, targets, weights)
    return float(weights[predictions == targets].sum()), float(weights.sum())


def _share(counts: Sequence[tuple[float, float]]) -> float:
    right, all_rows = np.sum(counts, axis=0)
    return float(right / all_rows) if all_rows else float("nan")


def _moments(predictions: Any, targets: Any, weights: Any) -> Moments:
    predictions, targets, weights = _read(predictions, targets, weights)
    targets = targets.astype(float)
    weight = float(weights.sum())
    mean = float(weights @ targets / weight) if weight else 0.0
    return Moments(
        *(weight, mean, float(weights @ (targets - mean) ** 2)),
        float(weights @ (targets - predictions) ** 2),
    )


def _r_squared(parts: Sequence[Moments]) -> float:
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    if total.deviations == 0.0:  # as in scikit-learn
        return 1.0 if total.errors == 0.0 else 0.0
    return 1.0 - total.errors / total.deviations
