"""What some experiments look at besides errors: sizes of trees, best directions, latency."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bevel.forest import FlatForest
from bevel.lab.cells import Cell
from bevel.lab.protocols.base import Problem

__all__ = ["best_directions", "directions_of_trunk", "latency", "sizes_of_trees"]

N_BEST = 10  # directions: SPORF 4.5
N_SINGLE_ROWS = 1_000  # rows predicted one at a time


def sizes_of_trees(estimator: Any, problem: Problem, cell: Cell) -> Mapping[str, float]:  # noqa: ARG001
    """Leaves and depth of the median tree, for forests of ours."""
    forest = getattr(estimator, "forest_", None)
    if not isinstance(forest, FlatForest):
        return {}
    n_nodes = np.diff(forest.tree_offset)
    deepest = [tree.max_depth for tree in forest]
    return {
        "leaves": float(np.median((n_nodes + 1) / 2)),
        "depth": float(np.median(deepest)),
    }


def directions_of_trunk(estimator: Any, problem: Problem, cell: Cell) -> Mapping[str, float]:  # noqa: ARG001
    """How well the ten directions of highest Gini importance separate Trunk's classes.

    Along w, the classes are normal with means ± w·μ and variance ‖w‖², so that the Bayes error is
    Φ(−|w·μ| / ‖w‖) (thesis, B.2).
    """
    from scipy.stats import norm

    forest = getattr(estimator, "forest_", None)
    if not isinstance(forest, FlatForest) or len(forest.rotation_weight):
        return {}
    directions = best_directions(forest, N_BEST)
    mean = 1.0 / np.sqrt(np.arange(1, forest.n_features + 1))
    lengths = np.linalg.norm(directions, axis=1)
    errors = norm.cdf(-np.abs(directions @ mean) / lengths)
    return {
        "top_best_bayes_error": float(errors.min()),
        "top_worst_bayes_error": float(errors.max()),
        "top_fewest_features": float(np.count_nonzero(directions, axis=1).min()),
    }


def best_directions(forest: FlatForest, n_best: int) -> NDArray[np.float64]:
    """Directions whose splits gained most in all, best first, n_best x n_features.

    As in SPORF 4.5, the gains of equal directions are added; unlike there, w and −w are equal, as
    they make the same cuts.
    """
    gains: dict[bytes, float] = {}
    for tree in forest:
        for node in np.flatnonzero(tree.children_right >= 0):
            index, weight = tree.projection(int(node))
            direction = np.zeros(forest.n_features)
            direction[index] = weight
            direction *= np.sign(direction[np.flatnonzero(direction)[0]])
            key = direction.tobytes()
            gains[key] = gains.get(key, 0.0) + float(tree.gain[node])
    best = sorted(gains, key=lambda key: -gains[key])[:n_best]
    return np.array([np.frombuffer(key) for key in best])


def latency(estimator: Any, problem: Problem, cell: Cell) -> Mapping[str, float]:
    """Seconds for one row, predicted alone: without batching (SPORF 6.4.3)."""
    if cell.setting.get("study") != "prediction":
        return {}
    rows = problem.X_test[:N_SINGLE_ROWS]
    estimator.predict(rows[:1])  # what is prepared once, at the first call
    start = time.perf_counter()
    for row in rows:
        estimator.predict(row[None, :])
    return {"seconds_single_row": (time.perf_counter() - start) / len(rows)}
