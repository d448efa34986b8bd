"""Background rows of Shapley values: their weights, and the rows that each tree draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bevel._types import Floats
from bevel.analysis.analysed_forest import AnalysedForest
from bevel.errors import wrong_value

__all__ = ["draw_rows", "read_background"]

N_GAMES = 1000  # games of a row, if max_background is None
LEAST_PER_TREE = 10


def read_background(
    analysed: AnalysedForest,
    background: Any,
    weight: Any,
    max_background: int | None,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.float32], Floats | None, npt.NDArray[np.int32] | None]:
    """Encoded rows, their weights or None, and the numbers of those that each tree draws or None.

    Weights have mean 1; rows without weight are left out.
    """
    if background is None:
        remedy = 'Give the training rows, or write feature_perturbation="tree_path_dependent".'
        raise wrong_value("background", "a table of rows to compare with", None, remedy)
    rows, weights = np.ascontiguousarray(analysed.encode(background)), None
    if weight is not None:
        weights = _read_weights(weight, len(rows))
        used = weights > 0.0
        rows, weights = np.ascontiguousarray(rows[used]), weights[used] / weights[used].mean()
    drawn = draw_rows(
        np.ones(len(rows)) if weights is None else weights,
        analysed.forest.n_trees,
        max_background,
        rng,
    )
    return rows, weights, drawn


def _read_weights(weight: Any, n_rows: int) -> Floats:
    name, required = "background_weight", f"{n_rows} finite numbers of at least 0, not all 0"
    remedy = "Give one weight for each background row."
    try:
        weights = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong_value(name, required, weight, remedy) from None
    if weights.shape != (n_rows,):
        raise wrong_value(name, required, f"an array of shape {weights.shape}", remedy)
    if not np.isfinite(weights).all() or weights.min() < 0.0 or weights.max() == 0.0:
        raise wrong_value(name, required, weight, remedy)
    return np.asarray(weights / weights.max())


def draw_rows(
    weights: Floats, n_trees: int, most: int | None, rng: np.random.Generator
) -> npt.NDArray[np.int32] | None:
    """Numbers of the rows of each tree, or None if each tree has all rows.

    A systematic sample: rows are in random order, and a row of weight w gets w times the mean
    number of slots, rounded up or down. Neighbouring slots belong to different trees.
    """
    n_rows = len(weights)
    per_tree = max(LEAST_PER_TREE, -(-N_GAMES // n_trees)) if most is None else most
    if n_rows <= per_tree:
        return None
    order = rng.permutation(n_rows)
    ends = np.cumsum(weights[order])
    n_places = n_trees * per_tree
    at = (rng.random() + np.arange(n_places)) * (ends[-1] / n_places)
    places = np.minimum(np.searchsorted(ends, at, side="right"), n_rows - 1)
    return np.ascontiguousarray(order[places].astype(np.int32).reshape(per_tree, n_trees).T)
