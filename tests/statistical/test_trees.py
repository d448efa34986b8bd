"""Distributions of the other random choices of a forest: bags, random cuts, subsets of levels,
leaves to split next. Nulls, statistics and false-alarm rates as in `test_samplers`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from support.false_alarms import (
    assert_counts_follow,
    assert_distribution,
    assert_independent,
    assert_mean,
    assert_uniform,
)
from support.forests import Tree, grow, options, problem

from bevel import _core

N_TREES = 4000
SEEDS = (0, 1, 2**63)


def bags(n_rows: int, **values: object) -> np.ndarray:
    return np.array(
        [
            _core.bag(options(("axis", 1), seed=seed, **values), n_rows, tree)
            for seed in SEEDS
            for tree in range(N_TREES)
        ]
    )


def purely_random_trees(
    X: np.ndarray, *families: tuple[object, ...], levels: object = None, **values: object
) -> list[Tree]:
    data = problem(X, np.arange(len(X)) % 2, levels=levels)
    values = {"threshold": "purely_random", "growth": "random_leaf", "max_leaf_nodes": 2, **values}
    return [
        tree
        for seed in SEEDS
        for tree in grow(data, options(*families, seed=seed, **values), N_TREES).trees
    ]


@pytest.mark.parametrize("size", [8, 20, 60])
def test_bootstrap_multiplicities_are_multinomial(size: int) -> None:
    n = 20
    drawn = bags(n, bag_size=size).astype(float)
    assert_uniform(drawn.sum(axis=0))
    assert_mean((drawn - size / n) ** 2, size / n * (1 - 1 / n))
    assert_mean(drawn == 0, (1 - 1 / n) ** size)
    pairs = drawn[:, np.triu_indices(n, 1)[0]] * drawn[:, np.triu_indices(n, 1)[1]]
    assert_mean(pairs, size * (size - 1) / n**2)


def test_subsample_without_replacement_takes_all_subsets_alike() -> None:
    subsets, counts = np.unique(bags(6, bag_size=3, replace=False), axis=0, return_counts=True)
    assert len(subsets) == 20
    assert_uniform(counts)


def test_subsample_without_replacement_takes_all_rows_alike() -> None:
    n, size = 50, 20
    drawn = bags(n, bag_size=size, replace=False)
    assert_uniform(drawn.sum(axis=0), spread=(n - size) / (n - 1))


@pytest.mark.parametrize("threshold", ["random", "purely_random"])
def test_random_cut_is_uniform_between_the_extreme_values(threshold: str) -> None:
    X = np.array([[-1.0], [-0.9], [0.0], [0.1], [7.0]])
    trees = purely_random_trees(X, ("axis", 1), threshold=threshold)
    cuts = np.array([tree.nodes[0].threshold for tree in trees], float)
    assert_distribution(cuts, stats.uniform(-1, 8))


def test_purely_random_cut_sends_missing_values_by_a_fair_coin() -> None:
    X = np.array([[0.0], [1.0], [2.0], [np.nan], [np.nan]])
    trees = purely_random_trees(X, ("axis", 1))
    coins = np.array([tree.nodes[0].missing_left for tree in trees], int)
    assert_uniform(np.bincount(coins, minlength=2))
    above = np.array([tree.nodes[0].threshold >= 1 for tree in trees], int)
    assert_independent(coins, above, 2)


@pytest.mark.parametrize("threshold", ["random", "purely_random"])
def test_random_subset_of_levels_takes_all_divisions_alike(threshold: str) -> None:
    codes = np.array([0, 1, 2, 3, 3, 1])[:, None]
    trees = purely_random_trees(codes, ("categorical", 1), levels=[4], threshold=threshold)
    subsets = [sum(1 << level for level in tree.nodes[0].left_levels) for tree in trees]
    counts = np.bincount(subsets, minlength=16)
    assert counts[0] == 0
    assert counts[15] == 0
    assert_uniform(counts[1:15])


def test_purely_random_node_takes_a_nominal_column_as_often_as_columns_are_nominal() -> None:
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(30, 3)), rng.integers(0, 3, (30, 1))])
    trees = purely_random_trees(X, ("axis", 1), ("categorical", 1), levels=[0, 0, 0, 3])
    features = np.array([tree.nodes[0].index[0] for tree in trees])
    assert_counts_follow(np.bincount(features, minlength=4), 0.25)


def test_random_leaf_takes_all_leaves_alike() -> None:
    """After the first split the second is below one child or the other, if both can be split."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    trees = purely_random_trees(X, ("axis", 1), max_leaf_nodes=3)
    splits_left = np.array([not tree.nodes[1].is_leaf for tree in trees], int)
    weights = np.array([[tree.nodes[c].weight for c in tree.nodes[0].children] for tree in trees])
    assert_uniform(np.bincount(splits_left[weights.min(axis=1) >= 2], minlength=2))


def test_children_draw_independently_of_their_parent_and_of_each_other() -> None:
    X = np.random.default_rng(0).permuted(np.tile(np.arange(100.0)[:, None], 5), axis=0)
    trees = purely_random_trees(X, ("axis", 1), growth="depth_first", max_depth=2)
    families = [(tree.nodes[0], *(tree.nodes[c] for c in tree.nodes[0].children)) for tree in trees]
    drawn = np.array(
        [
            [node.index[0] for node in family]
            for family in families
            if not any(node.is_leaf for node in family)
        ]
    )
    assert len(drawn) > len(trees) // 2
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert_independent(drawn[:, a], drawn[:, b], 5)


@pytest.mark.parametrize("family", ["signs", "combination", "gaussian"])
def test_directions_that_cannot_cut_are_drawn_again_eight_times(family: str) -> None:
    """One column of ten varies: a root of single-feature directions stays a leaf with probability
    0.9 to the power of nine, one draw and eight redraws."""
    X = np.zeros((30, 10))
    X[:, 4] = np.arange(30)
    data = problem(X, np.arange(30) % 2)
    is_leaf = [
        tree.nodes[0].is_leaf
        for seed in SEEDS
        for tree in grow(data, options((family, 1, 1), seed=seed, max_depth=1), 1000).trees
    ]
    assert_counts_follow(np.bincount(is_leaf, minlength=2), np.array([1 - 0.9**9, 0.9**9]))
