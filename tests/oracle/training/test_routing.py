"""Rows are predicted into the leaf they were grown into, and the arrays mean what they say.

The reader of the arrays in `support.forests` is written from their description alone; the core's
predictor must agree with it on every row, whatever the family, with missing values and unseen
levels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.families import FAMILIES, TASKS, grow_on, new_rows, options_for, training_data
from support.forests import Forest, Node, Problem, Tree, bag_rows, grow, options, problem

from bevel import _core


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_predictor_equals_a_plain_reading_of_the_arrays(family: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    data = training_data(rng, 250, n_classes)
    forest = grow_on(data, family)
    for X in (np.asarray(data.X), new_rows(rng, data, 200)):
        expected = np.stack([tree.apply(X) for tree in forest.trees], axis=1)
        np.testing.assert_array_equal(forest.apply(X), expected)
        np.testing.assert_array_equal(forest.apply(X, n_threads=3), expected)
        assert_predictions_are_means_of_leaves(forest, X, expected)


def assert_predictions_are_means_of_leaves(
    forest: Forest, X: np.ndarray, leaves: np.ndarray
) -> None:
    trees = list(forest.trees)
    if not forest.n_classes:
        values = [[trees[t].nodes[leaf].value for t, leaf in enumerate(row)] for row in leaves]
        np.testing.assert_allclose(forest.predict(X)[:, 0], np.mean(values, axis=1), rtol=1e-12)
        return
    soft = np.zeros((len(X), forest.n_classes))
    hard = np.zeros_like(soft)
    for row, of_row in enumerate(leaves):
        for tree, leaf in zip(trees, of_row, strict=True):
            node = tree.nodes[leaf]
            soft[row, node.index] += node.coefficient
            hard[row, node.index[np.argmax(node.coefficient)]] += 1
    np.testing.assert_allclose(forest.predict(X), soft / len(trees), rtol=1e-12)
    np.testing.assert_allclose(forest.predict(X, hard=True), hard / len(trees), rtol=1e-12)


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_row_alone_falls_where_it_falls_in_a_batch(family: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    data = training_data(rng, 300, n_classes)
    forest = grow_on(data, family, n_trees=2)
    X = new_rows(rng, data, 60)
    alone = np.concatenate([forest.apply(row[None, :]) for row in X])
    np.testing.assert_array_equal(forest.apply(X), alone)


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_leaves_hold_what_the_rows_of_the_bag_that_fall_into_them_have(
    family: str, n_classes: int, weights: str
) -> None:
    data = training_data(np.random.default_rng(n_classes), 150, n_classes, weights=weights)
    assert_leaves_are_summaries_of_the_bag(data, options_for(data, family), n_trees=2)


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", ["axis", "signs", "mixed"])
def test_leaves_of_a_large_tree_hold_what_the_rows_that_fall_into_them_have(
    family: str, n_classes: int
) -> None:
    """Large nodes are cut and their rows moved by other code than small ones."""
    data = training_data(np.random.default_rng(n_classes), 20_000, n_classes)
    how = options_for(data, family, bag_size=0, min_samples_leaf=20)
    assert_leaves_are_summaries_of_the_bag(data, how, n_trees=1)


def assert_leaves_are_summaries_of_the_bag(data: Problem, how: _core.Options, n_trees: int) -> None:
    forest = grow(data, how, n_trees)
    leaves = forest.apply(data.X)
    for tree in forest.trees:
        rows, weight = bag_rows(data, how, tree.number)
        for node in tree.nodes:
            if node.is_leaf:
                here = rows[leaves[rows, tree.number] == node.number]
                assert_leaf_is_summary_of(node, data.target[here], weight[here], data.n_classes)


def assert_leaf_is_summary_of(
    node: Node, target: np.ndarray, weight: np.ndarray, n_classes: int
) -> None:
    assert node.weight == pytest.approx(weight.sum(), rel=1e-6)
    if n_classes == 0:
        expected = np.average(target, weights=weight)
        assert node.value == pytest.approx(expected, rel=1e-12, abs=1e-14)
        return
    shares = np.bincount(target, weight, n_classes) / weight.sum()
    np.testing.assert_array_equal(node.index, np.flatnonzero(shares))  # ascending, none empty
    np.testing.assert_allclose(node.coefficient, shares[node.index], rtol=1e-6)


@pytest.mark.parametrize("search", ["exact", "auto", "histogram"])
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_arrays_describe_proper_trees(family: str, n_classes: int, search: str) -> None:
    rng = np.random.default_rng(n_classes)
    data = training_data(rng, 200, n_classes)
    how = options_for(data, family, split_search=search, min_samples_leaf=2)
    forest = grow(data, how, 2)
    for tree in forest.trees:
        rows, weight = bag_rows(data, how, tree.number)
        assert_tree_is_in_preorder(tree)
        for node, here in zip(tree.nodes, tree.rows_of_nodes(data.X, rows), strict=True):
            assert len(here) >= 2
            assert node.weight == pytest.approx(weight[here].sum(), rel=1e-6)
            if node.is_leaf:
                assert node.gain == 0
                assert node.threshold == 0
                continue
            assert node.gain >= 0
            on_axis = node.index[0] >= data.n_features  # of the tree's rotation
            assert node.is_category == (not on_axis and data.levels[node.index[0]] > 0)


def assert_tree_is_in_preorder(tree: Tree) -> None:
    """Every node but the root is the child of one node: i + 1 on the left, further on the right."""
    parents = np.zeros(tree.n_nodes, int)
    for node in tree.nodes:
        if not node.is_leaf:
            left, right = node.children
            assert left < right < tree.n_nodes
            parents[[left, right]] += 1
    assert parents[0] == 0
    assert (parents[1:] == 1).all()


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_node_has_not_seen_goes_to_its_heavier_child(family: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    data = training_data(rng, 400, n_classes)
    how = options_for(data, family)
    n_checked = 0
    for tree in grow(data, how, 3).trees:
        rows, weight = bag_rows(data, how, tree.number)
        passing = tree.rows_of_nodes(data.X, rows)
        for node, here in zip(tree.nodes, passing, strict=True):
            if node.is_leaf:
                continue
            left, right = (weight[passing[child]].sum() for child in node.children)
            if left == right:
                continue
            if node.is_category:
                seen = set(data.X[here, node.index[0]].astype(int))
                for level in set(range(data.levels[node.index[0]])) - seen:
                    assert (level in node.left_levels) == (left > right)
                    n_checked += 1
            elif np.isnan(tree.projected(node, data.X[here])).any():
                continue  # it has seen missing values and knows better
            assert node.missing_left == (left > right)
            n_checked += 1
    assert n_checked > 20


@pytest.mark.parametrize("scale", [1e-42, 1e-38, 1e-30, 1e30])
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("search", ["exact", "auto"])
def test_gaussian_directions_stay_finite_on_columns_of_any_scale(
    search: str, n_classes: int, scale: float
) -> None:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(300, 4)) * scale
    y = X[:, 0] / scale + rng.normal(size=300)
    data = problem(X, (y > 0) * 1 if n_classes else y, n_classes)
    criterion = "gini" if n_classes else "squared_error"
    how = options(("gaussian", 3, 2), criterion=criterion, split_search=search, bag_size=300)
    forest = grow(data, how, 2)
    assert np.isfinite(forest.arrays["entry_weight"]).all()
    assert np.isfinite(forest.arrays["threshold"]).all()
    for tree in forest.trees:
        rows, _ = bag_rows(data, how, tree.number)
        assert min(len(here) for here in tree.rows_of_nodes(data.X, rows)) > 0


def test_missing_value_in_a_combination_counts_as_its_median() -> None:
    rng = np.random.default_rng(0)
    data = training_data(rng, 500, 2)
    forest = grow_on(data, "combination")
    X = new_rows(rng, data, 300)
    filled = np.where(np.isnan(X), data.medians, X)
    np.testing.assert_array_equal(forest.apply(X), forest.apply(filled))


def test_tree_whose_bag_has_no_row_that_counts_predicts_a_number() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    for target in (np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1])):
        n_classes = 0 if target.dtype == float else 2
        data = problem(X, target, n_classes, weights=[0.0, 0.0, 1.0])
        criterion = "gini" if n_classes else "squared_error"
        forest = grow(data, options(("axis", 1), bag_size=3, criterion=criterion), 20)
        expected = 1.0 if n_classes else 3.0
        np.testing.assert_array_equal(forest.predict(X)[:, -1], [expected] * 3)


def test_rows_of_weight_zero_change_nothing() -> None:
    rng = np.random.default_rng(0)
    data = training_data(rng, 300, 3)
    counts = rng.random(300) < 0.7
    for family in FAMILIES:
        how = options_for(data, family, bag_size=0)
        one = grow(replace(data, weights=counts * 1.0), how)
        other = grow(data.rows(np.flatnonzero(counts)), how)
        np.testing.assert_array_equal(one.arrays["threshold"], other.arrays["threshold"])
        np.testing.assert_array_equal(one.apply(data.X), other.apply(data.X))
