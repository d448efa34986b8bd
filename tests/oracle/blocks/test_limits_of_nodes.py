"""Limits and odd tables where nodes are cut by histograms."""

import numpy as np
import pytest

import bevel.training.blocks as blocked_table
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, scan


@pytest.fixture(autouse=True)
def histograms_only(monkeypatch):
    """Nodes above 20 rows are cut by histograms."""
    monkeypatch.setattr(blocked_table, "MAX_GATHERED", 20)
    monkeypatch.setattr(blocked_table, "MIN_GATHERED", 20)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])


def rows_of_leaves(forest, X):
    leaves = forest.apply(X)
    return [np.bincount(column)[np.unique(column)] for column in leaves.T]


def test_leaves_have_at_least_min_samples_leaf_rows(problem):
    X, y = problem
    forest = ObliqueForestClassifier(5, min_samples_leaf=13, bootstrap=False, random_state=0)
    forest.fit(scan(X, target=y))
    counts = np.concatenate(rows_of_leaves(forest, X))
    assert counts.min() >= 13
    assert len(counts) > 50


def test_trees_are_no_deeper_than_max_depth(problem):
    X, y = problem
    for depth in (1, 3, 7):
        forest = ObliqueForestClassifier(4, max_depth=depth, random_state=0, bootstrap=False)
        forest.fit(scan(X, target=y))
        indicator, _ = forest.decision_path(X)
        assert indicator.sum(axis=1).max() == 4 * (depth + 1)


def test_all_training_rows_are_separated_without_bags(problem):
    X, y = problem
    forest = ObliqueForestClassifier(3, bootstrap=False, random_state=0).fit(scan(X, target=y))
    assert forest.score(X, y) == 1.0


def test_regression_without_bags_has_the_targets_of_the_rows(problem):
    X, _ = problem
    y = X[:, 0] ** 2 + 1000.0
    forest = ObliqueForestRegressor(3, bootstrap=False, random_state=0).fit(scan(X, target=y))
    np.testing.assert_allclose(forest.predict(X), y, rtol=1e-12)


def test_weights_of_nodes_add_up(problem):
    X, y = problem
    weights = np.random.default_rng(1).random(len(y))
    forest = ObliqueForestClassifier(2, bootstrap=False, random_state=0)
    flat = forest.fit(scan(X, target=y, weight=weights)).forest_
    assert flat.weight[0] == pytest.approx(weights.sum(), rel=1e-6)
    inner = np.flatnonzero(flat.right[: flat.tree_offset[1]] >= 0)
    children = flat.weight[inner + 1] + flat.weight[flat.right[inner]]
    np.testing.assert_allclose(flat.weight[inner], children, rtol=1e-5)


def test_rows_of_weight_zero_have_no_effect(problem):
    X, y = problem
    odd = np.r_[y, np.full(100, 2)]
    X_odd = np.r_[X, np.full((100, 4), 3.0)]
    weights = np.r_[np.ones(500), np.zeros(100)]
    forest = ObliqueForestClassifier(2, bootstrap=False, scale=None, random_state=0)
    forest.fit(scan(X_odd, target=odd, weight=weights))
    assert forest.forest_.weight[0] == 500
    assert forest.score(X, y) == 1.0


def test_balanced_classes_weigh_the_same(problem):
    X, y = problem
    forest = ObliqueForestClassifier(1, bootstrap=False, class_weight="balanced", max_depth=1)
    flat = forest.fit(scan(X, target=y)).forest_
    assert flat.weight[0] == pytest.approx(500, rel=1e-6)
    expected = ObliqueForestClassifier(1, bootstrap=False, class_weight="balanced", max_depth=1)
    assert expected.fit(X, y).forest_.weight[0] == pytest.approx(500, rel=1e-6)


def test_columns_that_are_constant_or_without_values_are_never_cut():
    rng = np.random.default_rng(0)
    X = np.c_[np.ones(200), np.full(200, np.nan), rng.normal(size=200)]
    forest = ObliqueForestClassifier(5, projection="axis", n_projections=1, random_state=0)
    forest.fit(scan(X, target=X[:, 2] > 0))
    flat = forest.forest_
    inner = np.flatnonzero(flat.right >= 0)
    assert set(flat.entry_index[flat.entry_offset[inner]]) == {2}
    assert forest.score(X, X[:, 2] > 0) > 0.98


def test_table_that_cannot_be_cut_makes_a_leaf():
    X = np.ones((100, 2))
    forest = ObliqueForestClassifier(3, random_state=0).fit(scan(X, target=np.arange(100) % 2))
    assert len(forest.forest_.right) == 3


def test_missing_values_can_be_separated_from_all_others():
    X = np.zeros((200, 1))
    X[::2] = np.nan
    y = np.arange(200) % 2
    forest = ObliqueForestClassifier(3, random_state=0, projection="axis").fit(scan(X, target=y))
    assert forest.score(X, y) == 1.0


def test_nominal_levels_go_to_their_sides():
    city = np.random.default_rng(0).integers(0, 30, 1000)
    y = city % 3 == 0
    forest = ObliqueForestClassifier(3, categorical_features=[0], random_state=0)
    forest.fit(scan(city[:, None].astype(float), target=y))
    assert forest.score(city[:, None].astype(float), y) == 1.0
    assert len(forest.forest_.right) == 9  # one cut each
