"""Directions that leave float32 on a row of the node are no candidates; training always ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support.forests import (
    Forest,
    Problem,
    available_simd_levels,
    bag_rows,
    differing_arrays,
    grow,
    options,
    problem,
)

from bevel import ObliqueForestClassifier, _core
from bevel import projections as P
from bevel.data import dataset
from bevel.projections import custom

MAX_STORED = 1e34


def pool_of(directions: np.ndarray) -> _core.Family:
    """All columns of a matrix as candidates of every node, by a direct call of the core."""
    owner, index = np.nonzero(directions.T)
    sizes = np.bincount(owner)
    offset = np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32)
    weight = directions.T[owner, index].astype(np.float32)
    pool = (offset, index.astype(np.int32), weight)
    return _core.Family("custom", directions.shape[1], len(directions), pool=pool)


def huge_problem(n_rows: int, n_classes: int, missing: float = 0.0) -> Problem:
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 4)) * rng.choice([1.0, 1e3, 1e20, MAX_STORED / 8], (n_rows, 4))
    X[rng.random(X.shape) < missing] = np.nan
    y = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows)
    return problem(X, y, n_classes)


DIRECTIONS = np.array(
    [
        [9e29, 1.0, 1e5, 3e3, 9e29, 0.0, 1e-30],
        [-9e29, 1.0, -1e5, 0.0, 0.0, 9e29, 0.0],
        [9e29, 0.0, 1e5, -3e3, 0.0, 0.0, 1e10],
        [-9e29, -1.0, 0.0, 0.0, 0.0, 0.0, 1e-30],
    ]
)


def assert_splits_are_finite_and_have_two_sides(forest: Forest, data: Problem, how) -> None:
    assert np.isfinite(forest.arrays["threshold"]).all()
    for tree in forest.trees:
        rows, _ = bag_rows(data, how, tree.number)
        passing = tree.rows_of_nodes(data.X, rows)
        for node, here in zip(tree.nodes, passing, strict=True):
            assert len(here) > 0
            if node.is_leaf:
                continue
            values = tree.projected(node, data.X[here])
            is_missing = np.isnan(values) if len(node.index) == 1 else np.zeros(len(here), bool)
            assert np.all(np.isfinite(values) | is_missing)


RULES = {
    "exact": {"split_search": "exact"},
    "auto": {"split_search": "auto"},
    "histogram": {"split_search": "histogram"},
    "random": {"threshold": "random", "n_thresholds": 3},
    "purely random": {"threshold": "purely_random", "growth": "random_leaf", "max_leaf_nodes": 9},
    "best first": {"growth": "best_first", "max_leaf_nodes": 12},
}


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("n_rows", [2, 4, 50, 700])
@pytest.mark.parametrize("rule", RULES)
def test_chosen_directions_are_finite_on_the_rows_of_their_nodes(rule, n_rows, n_classes):
    for missing in (0.0, 0.1):
        data = huge_problem(n_rows, n_classes, missing)
        criterion = "gini" if n_classes else "squared_error"
        how = options(pool_of(DIRECTIONS), criterion=criterion, **RULES[rule])
        assert_splits_are_finite_and_have_two_sides(grow(data, how, 3), data, how)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("n_rows", [4, 50, 700])
def test_every_search_and_instruction_set_leaves_out_the_same_directions(n_rows, n_classes):
    data = huge_problem(n_rows, n_classes)
    criterion = "gini" if n_classes else "squared_error"
    ways = [("exact", "baseline"), *(("auto", simd) for simd in available_simd_levels())]
    forests = [
        grow(data, options(pool_of(DIRECTIONS), criterion=criterion, split_search=s, simd=simd), 3)
        for s, simd in ways
    ]
    for one, other in pairwise(forests):
        assert not differing_arrays(one, other)


def test_custom_directions_reckon_with_the_largest_feature_that_is_stored():
    assert custom.MAX_FEATURE == dataset.MAX_STORED == MAX_STORED


@pytest.mark.parametrize("is_function", [False, True], ids=["matrix", "function"])
def test_custom_directions_that_overflow_on_the_training_rows_raise(is_function):
    X = np.array([[1e34, 1e34], [1e34, -1e34], [-1e34, 1e34], [2e33, 3.0]])
    directions = np.array([[9e29], [-9e29]])
    sampler = (lambda *_: directions) if is_function else directions
    forest = ObliqueForestClassifier(2, projection=P.Custom(sampler), scale=None)
    message = r"sums of products with X are below 3.4e\+38 in size; got 1.8e\+64"
    with pytest.raises(RuntimeError if is_function else ValueError, match=message):
        forest.fit(X, [0, 1, 0, 1])


def test_custom_directions_are_checked_on_the_numeric_columns_they_read():
    """Large coefficients are fine on small features, whatever the other columns hold."""
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.integers(0, 3, 60), rng.normal(size=60) * 1e30, rng.normal(size=60)))
    directions = np.array([[1e-5, 0.0], [0.0, 9e29]])
    forest = ObliqueForestClassifier(
        3, projection=P.Custom(directions), scale=None, categorical_features=[0]
    )
    assert forest.fit(X, X[:, 2] > 0).score(X, X[:, 2] > 0) > 0.9
    with pytest.raises(ValueError, match=r"got 2e\+60"):
        forest.set_params(projection=P.Custom(directions[::-1].copy())).fit(X, X[:, 2] > 0)
