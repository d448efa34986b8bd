"""Effects by their definitions, through `predict` alone."""

from __future__ import annotations

from typing import Any

import numpy as np


def predict(forest: Any, X: Any) -> np.ndarray:
    """Predictions with outputs last, also in regression."""
    if hasattr(forest, "predict_proba"):
        return forest.predict_proba(X)
    return forest.predict(X)[:, None]


def individual_curves(forest: Any, frame: Any, values: dict[str, Any]) -> np.ndarray:
    """Predictions of a data frame's rows on the grid: rows x G1 [x G2] x outputs."""
    names = list(values)
    if not names:
        return predict(forest, frame)
    curves = []
    for value in values[names[0]]:
        changed = frame.copy()
        changed[names[0]] = value
        if frame[names[0]].dtype == "category":
            changed[names[0]] = changed[names[0]].astype(frame[names[0]].dtype)
        curves.append(individual_curves(forest, changed, {n: values[n] for n in names[1:]}))
    return np.stack(curves, axis=1)


def accumulated(forest: Any, frame: Any, name: str, edges: np.ndarray, weights: np.ndarray):
    """Apley and Zhu's estimator of one feature, row by row: edges x outputs."""
    column = frame[name].to_numpy()
    totals = np.zeros((len(edges) - 1, predict(forest, frame[:1]).shape[1]))
    mass = np.zeros(len(edges) - 1)
    for row in range(len(frame)):
        if np.isnan(column[row]):
            continue
        place = 0
        while column[row] > edges[place + 1]:
            place += 1
        low, high = frame[row : row + 1].copy(), frame[row : row + 1].copy()
        low[name], high[name] = edges[place], edges[place + 1]
        totals[place] += weights[row] * (predict(forest, high) - predict(forest, low))[0]
        mass[place] += weights[row]
    steps = totals / np.where(mass > 0, mass, 1.0)[:, None]
    curve = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
    centre = sum(m * (curve[b] + curve[b + 1]) / 2 for b, m in enumerate(mass)) / mass.sum()
    return curve - centre
