"""What some experiments look at besides errors: sizes of trees, best directions, latency."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from bevel.analysis import importance
from bevel.analysis.geometry import trunk_bayes_error
from bevel.forest.flat_forest import FlatForest, tree_complexities, tree_depths
from bevel_lab.cells import Cell
from bevel_lab.protocols.base import Problem

__all__ = ["directions_of_trunk", "latency", "sizes_of_trees"]

N_BEST = 10  # directions: SPORF 4.5
N_SINGLE_ROWS = 1_000  # rows predicted one at a time


def sizes_of_trees(estimator: Any, problem: Problem, cell: Cell) -> Mapping[str, float]:  # noqa: ARG001
    """Leaves, depth and complexity (Blaser 2.5) of the median tree, for forests of ours."""
    forest = getattr(estimator, "forest_", None)
    if not isinstance(forest, FlatForest):
        return {}
    n_nodes = np.diff(forest.tree_offset)
    return {
        "leaves": float(np.median((n_nodes + 1) / 2)),
        "depth": float(np.median(tree_depths(forest))),
        "complexity": float(np.median(tree_complexities(forest, len(problem.y_train)))),
    }


def directions_of_trunk(estimator: Any, problem: Problem, cell: Cell) -> Mapping[str, float]:  # noqa: ARG001
    """How well the ten directions of highest Gini importance separate Trunk's classes (4.5, B.2).

    Unlike in the paper, a direction and its negative are one, as they make the same cuts.
    """
    forest = getattr(estimator, "forest_", None)
    if not isinstance(forest, FlatForest) or len(forest.rotation_weight):
        return {}
    directions = importance(estimator, "projection").top(N_BEST).dense()
    errors = trunk_bayes_error(directions)
    return {
        "top_best_bayes_error": float(errors.min()),
        "top_worst_bayes_error": float(errors.max()),
        "top_fewest_features": float(np.count_nonzero(directions, axis=1).min()),
    }


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
