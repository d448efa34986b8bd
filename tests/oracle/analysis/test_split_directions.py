"""Directions found by sorting against a loop over nodes: importances of directions, features."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.analysis import importance
from bevel.analysis.results import Directions
from bevel.analysis.rules import split_directions
from bevel.analysis.rules.split_directions import SparseRows, distinct_rows
from bevel.estimators.forest import ObliqueForest

PROJECTIONS = {
    "axis": "axis",
    "sparse": "sparse",
    "combination": P.RandomCombination(1),
    "gaussian": "gaussian",
    "rotation": "rotation",
    "rotation_of_some": P.RandomRotation(max_features=2),
    "rotation_per_node": P.RandomRotation(per="node"),
    "multirotation": P.MultiRotation(3),
    "principal": P.PrincipalRotation(2),
    "list": [P.Axis(), P.RandomRotation(), P.SparseSigns(2)],
    "lda": P.LDA(),
}


def fitted(projection: str, *, classes: bool, n_trees: int = 8) -> ObliqueForest:
    """On five columns, with missing values in one, a nominal one, and weights."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 5))
    X[:, 4] = rng.integers(0, 4, 150)
    signal = X[:, 0] - X[:, 1] + (X[:, 4] > 1) + 0.5 * rng.normal(size=150)
    X[rng.random(150) < 0.1, 2] = np.nan
    kind = ObliqueForestClassifier if classes else ObliqueForestRegressor
    forest = kind(
        n_trees,
        projection=PROJECTIONS[projection],
        categorical_features=[4],
        random_state=3,
        n_jobs=1,
        max_depth=6,
    )
    weights = rng.integers(1, 4, 150)
    return forest.fit(X, np.digitize(signal, [-1, 1]) if classes else signal, weights)


def naive(forest: ObliqueForest, merge_signs: bool) -> dict[bytes, np.ndarray]:
    """Gain of each direction in each tree, by a loop over all nodes."""
    trees, n_features = forest.forest_, forest.n_features_in_
    gains: dict[bytes, np.ndarray] = defaultdict(lambda: np.zeros((trees.n_trees, 2)))
    for tree in trees:
        for node in np.flatnonzero(tree.children_right >= 0):
            direction = np.zeros(n_features)
            np.add.at(direction, *tree.projection(int(node)))
            direction /= np.abs(direction).max()
            if merge_signs:
                direction *= np.sign(direction[np.abs(direction).argmax()])
            direction += 0.0  # no negative zeros
            gains[direction.astype(np.float32).tobytes()][tree.index] += (tree.gain[node], 1)
    return gains


def of_result(result: Directions) -> dict[bytes, tuple[float, float, int]]:
    rows = result.dense().astype(np.float32)
    measured = zip(result.share, result.std, result.count, strict=True)
    return {row.tobytes(): each for row, each in zip(rows, measured, strict=True)}


@pytest.mark.parametrize("merge_signs", [False, True])
@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("projection", PROJECTIONS)
def test_directions_are_those_of_a_loop_over_all_nodes(
    projection: str, classes: bool, merge_signs: bool
) -> None:
    forest = fitted(projection, classes=classes)
    result = importance(forest, "projection", merge_signs=merge_signs)
    want = naive(forest, merge_signs)
    got = of_result(result)
    assert got.keys() == want.keys()
    assert (np.diff(result.share) <= 0).all()
    whole = sum(gain[:, 0].sum() for gain in want.values())
    n_trees = forest.forest_.n_trees
    for key, gain in want.items():
        share, std, count = got[key]
        assert count == gain[:, 1].sum()
        assert share == pytest.approx(gain[:, 0].sum() / whole)
        assert std == pytest.approx(np.std(gain[:, 0] * n_trees / whole, ddof=1), abs=1e-9)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_a_direction_and_its_negative_are_one_unless_asked(projection: str) -> None:
    forest = fitted(projection, classes=True)
    result = importance(forest, "projection")
    assert of_result(result).keys() == naive(forest, merge_signs=True).keys()
    rows = {row.tobytes() for row in result.dense().astype(np.float32)}
    assert not rows & {(0.0 - row).tobytes() for row in result.dense().astype(np.float32)}
    largest = [weights[np.abs(weights).argmax()] for weights in result.dense()]
    assert min(largest) > 0.0


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_split_frequency_is_that_of_a_loop_over_all_nodes(projection: str) -> None:
    forest = fitted(projection, classes=True)
    uses = np.zeros((forest.forest_.n_trees, 5))
    splits = np.zeros(forest.forest_.n_trees)
    for tree in forest.forest_:
        for node in np.flatnonzero(tree.children_right >= 0):
            direction = np.zeros(5)
            np.add.at(direction, *tree.projection(int(node)))
            uses[tree.index] += direction != 0
            splits[tree.index] += 1
    result = importance(forest, "split_frequency")
    assert result.count.tolist() == uses.sum(axis=0).tolist()
    assert result.values == pytest.approx(uses.sum(axis=0) / splits.sum())
    assert result.std == pytest.approx(np.std(uses / splits[:, None], axis=0, ddof=1), abs=1e-9)


def test_gini_of_features_is_the_gain_of_directions_divided_by_weights() -> None:
    """For one tree, where normalising trees makes no difference."""
    forest = fitted("list", classes=True, n_trees=1)
    directions = importance(forest, "projection")
    size = np.abs(directions.dense())
    credit = directions.share @ (size / size.sum(axis=1, keepdims=True))
    assert importance(forest, "gini").values == pytest.approx(credit, rel=1e-5)
    assert directions.std is None


def test_rows_with_equal_fingerprints_are_still_distinguished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = split_directions._prints
    monkeypatch.setattr(
        split_directions,
        "_prints",
        lambda rows, salt: np.zeros(len(rows), np.uint64) if salt < 2 else good(rows, salt),
    )
    offset = np.array([0, 1, 3, 4, 6], np.int64)
    index = np.array([0, 0, 1, 0, 0, 1], np.int32)
    weight = np.array([1, 1, -1, -1, 1, -1], np.float32)
    rows, place = distinct_rows(SparseRows(offset, index, weight))
    assert place.tolist() == [0, 1, 2, 1]
    assert rows.dense(2).tolist() == [[1, 0], [1, -1], [-1, 0]]
