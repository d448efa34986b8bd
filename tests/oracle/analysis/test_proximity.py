"""Proximities against a double loop over pairs of rows, which reads the flat forest by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from support.forests import Forest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import nearest_rows, proximity
from bevel.analysis.neighbours import proximity as leaf_sharing
from bevel.estimators._base import encode_rows

KINDS = ("oob", "in_bag", "all")
PROJECTIONS = {
    "signs": P.SparseSigns(),
    "axis": P.Axis(),
    "rotation": P.RandomRotation(),
    "multirotation": P.MultiRotation(n_rotations=3),
    "ridge": P.Ridge(),
}


def mixed_table(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with missing values, and a nominal column with missing labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)
    X[rng.random((n, 4)) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    city = np.array(["Rome", "Oslo", "Bern", None], dtype=object)[rng.integers(0, 4, n)]
    return frame.assign(city=city), signal


def leaves_by_hand(fitted: Any, X: Any) -> np.ndarray:
    flat = fitted.forest_
    forest = Forest(flat.arrays(), flat.n_features, flat.n_classes, flat.levels, flat.medians)
    rows = encode_rows(fitted, X)
    return np.column_stack([tree.apply(rows) for tree in forest.trees])


def counted_by_hand(fitted: Any, kind: str, n: int) -> np.ndarray:
    """Whether each tree counts for each row."""
    if kind == "all":
        return np.ones((n, fitted.forest_.n_trees), bool)
    bags = fitted.fitted_forest_.provenance.bags
    inside = np.column_stack([bags.counts(t) > 0 for t in range(fitted.forest_.n_trees)])
    return inside if kind == "in_bag" else ~inside


def proximity_by_hand(fitted: Any, X: Any, kind: str) -> tuple[np.ndarray, int]:
    """The matrix, and the number of pairs without a tree."""
    leaves, n = leaves_by_hand(fitted, X), len(X)
    counted = counted_by_hand(fitted, kind, n)
    matrix, without_tree = np.eye(n), 0
    for i in range(n):
        for j in range(i):
            trees = [t for t in range(leaves.shape[1]) if counted[i, t] and counted[j, t]]
            together = sum(leaves[i, t] == leaves[j, t] for t in trees)
            matrix[i, j] = matrix[j, i] = together / len(trees) if trees else 0.0
            without_tree += not trees
    return matrix, without_tree


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("n_trees", [1, 12])
def test_proximity_of_mixed_rows_equals_a_double_loop(
    kind: str, projection: str, n_trees: int
) -> None:
    X, signal = mixed_table()
    y = np.digitize(signal, [-0.5, 0.5])
    options = {"projection": PROJECTIONS[projection], "random_state": 1}
    fitted = ObliqueForestClassifier(n_trees, **options).fit(X, y)
    result = proximity(fitted, X, y, kind=kind)
    matrix, without_tree = proximity_by_hand(fitted, X, kind)
    np.testing.assert_array_equal(result.matrix, matrix)
    assert result.n_pairs_without_tree == without_tree
    assert (without_tree > 0) == (kind != "all")  # few trees leave some pairs out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_trees", [1, 70, 130])
def test_proximity_of_regression_rows_in_any_number_of_trees_equals_a_double_loop(
    kind: str, n_trees: int
) -> None:
    X, y = mixed_table(40)
    fitted = ObliqueForestRegressor(n_trees, max_depth=4, random_state=0).fit(X, y)
    matrix, _ = proximity_by_hand(fitted, X, kind)
    np.testing.assert_array_equal(proximity(fitted, X, y, kind=kind).matrix, matrix)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 3, 10, 59, 1000])
def test_sparse_proximity_keeps_the_nearest_of_either_row(
    kind: str, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaf_sharing, "BLOCK_ROWS", 17)
    X, y = mixed_table()
    fitted = ObliqueForestRegressor(12, max_depth=3, random_state=0).fit(X, y)
    matrix, _ = proximity_by_hand(fitted, X, kind)
    chosen = np.zeros(matrix.shape, bool)
    for i, row in enumerate(matrix):
        others = sorted((j for j in range(60) if j != i and row[j] > 0), key=lambda j: (-row[j], j))
        chosen[i, others[:k]] = True
    expected = np.where(chosen | chosen.T | np.eye(60, dtype=bool), matrix, 0.0)
    result = proximity(fitted, X, y, kind=kind, k=k).matrix
    assert sp.issparse(result)
    assert result.has_canonical_format
    np.testing.assert_array_equal(result.toarray(), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_nearest_rows_of_new_rows_equal_a_double_loop(kind: str) -> None:
    X, y = mixed_table()
    new, _ = mixed_table(25, seed=9)
    fitted = ObliqueForestRegressor(12, random_state=0).fit(X, y)
    result = nearest_rows(fitted, X, new, y, kind=kind, k=5)
    old_leaves, new_leaves = leaves_by_hand(fitted, X), leaves_by_hand(fitted, new)
    counted = counted_by_hand(fitted, kind, 60)
    for i in range(25):
        together = ((new_leaves[i] == old_leaves) & counted).sum(axis=1)
        near = together / np.maximum(1, counted.sum(axis=1))
        order = [j for j in sorted(range(60), key=lambda j: (-near[j], j)) if near[j] > 0][:5]
        missing = 5 - len(order)
        assert result.rows[i].tolist() == order + [-1] * missing
        assert result.proximity[i].tolist() == [near[j] for j in order] + [0.0] * missing


def test_proximity_is_the_same_for_any_number_of_threads() -> None:
    X, y = mixed_table(400)
    fitted = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    one, three = (proximity(fitted.set_params(n_jobs=n), X, y, k=7).matrix.tocoo() for n in (1, 3))
    for a, b in ((one.data, three.data), (one.row, three.row), (one.col, three.col)):
        np.testing.assert_array_equal(a, b)
