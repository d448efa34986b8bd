"""Tables with nominal columns of few and of very many levels, and plain readers of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bevel.estimators._base import encode_rows
from support.forests import Forest

NUMBERS, FEW_LEVELS = ["a", "b"], ["c", "d", "e"]


def nominal_table(n: int = 300, seed: int = 0, n_places: int = 0) -> tuple[Any, np.ndarray]:
    """Columns of three, of seven (one is rare) and of two levels, constants, and a number to learn.

    With `n_places` also a column `place` of so many levels.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=n), 1),
            "b": rng.normal(size=n),
            "c": rng.choice(["red", "green", "blue"], n),
            "d": rng.choice([*"uvwxyz"], n),
            "e": rng.choice(["no", "yes"], n),
            "same": 3.0,
            "alike": "only",
        }
    )
    frame.loc[rng.choice(n, min(3, n), replace=False), "d"] = "rare"
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "c"] = None
    plane = frame["b"] + (frame["c"] == "red") - (frame["d"] == "u") + (frame["e"] == "yes") - 0.5
    other = frame["a"].fillna(0.0) - 2.0 * (frame["d"] == "w") + frame["b"]
    y = 3.0 * (plane > 0) + 2.0 * (other > 0) + 0.2 * rng.normal(size=n)
    if n_places:
        place = rng.integers(0, n_places, n)
        frame["place"] = [f"p{k}" for k in place]
        y = y + rng.normal(size=n_places)[place]
    return frame, y.to_numpy()


def classes_of(y: np.ndarray, n_classes: int) -> np.ndarray:
    edges = np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1])
    return np.array([*"pqrs"])[np.digitize(y, edges)]


def new_rows(frame: pd.DataFrame, n: int = 120, seed: int = 1) -> pd.DataFrame:
    """Rows of other combinations, with missing and unseen levels in every nominal column."""
    rng = np.random.default_rng(seed)
    mixed = {name: frame[name].to_numpy()[rng.integers(0, len(frame), n)] for name in frame}
    rows = pd.DataFrame(mixed)
    for name in frame.select_dtypes(exclude="number"):
        rows[name] = rows[name].astype(object)
        rows.loc[rng.random(n) < 0.1, name] = "unseen"
        rows.loc[rng.random(n) < 0.1, name] = None
    rows.loc[rng.random(n) < 0.2, "a"] = np.nan
    return rows


def plain_forest(estimator: Any) -> Forest:
    """The arrays of an estimator's forest for the plain reader."""
    forest = estimator.forest_
    return Forest(
        forest.arrays(), forest.n_features, forest.n_classes, forest.levels, forest.medians
    )


def plain_leaves(estimator: Any, X: Any, training: bool = False) -> np.ndarray:
    """Leaf of every row in every tree, by the plain reader."""
    codes = encode_rows(estimator, X, training)
    return np.stack([tree.apply(codes) for tree in plain_forest(estimator).trees], axis=1)


def plain_means(estimator: Any, leaves: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Mean class shares or values of leaves over the trees, or over those of some weight."""
    forest = plain_forest(estimator)
    weight = np.ones(leaves.shape) if weight is None else weight
    sums = np.zeros((len(leaves), max(1, forest.n_classes)))
    for tree in forest.trees:
        for node in filter(lambda node: node.is_leaf, tree.nodes):
            here = leaves[:, tree.number] == node.number
            share = np.zeros(sums.shape[1])
            if forest.n_classes:
                share[node.index] = node.coefficient
            else:
                share[0] = node.value
            sums[here] += share * weight[here, tree.number, None]
    with np.errstate(invalid="ignore"):
        return sums / weight.sum(axis=1, keepdims=True)


def n_level_terms(estimator: Any) -> int:
    return int(np.count_nonzero(estimator.forest_.entry_level >= 0))
