"""Signs of splits against a walk over the nodes, one by one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.random_forests import random_forest

from bevel import ObliqueBoostingClassifier, ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import importance
from bevel.forest import importance as module
from bevel.forest.flat_forest import CATEGORY_NODE, FlatForest
from bevel.forest.importance import split_signs


def leaf_outputs(forest: FlatForest, node: int) -> np.ndarray:
    if forest.n_classes == 0:
        return np.array([forest.leaf_value[node]])
    out = np.zeros(forest.n_classes)
    for entry in range(forest.entry_offset[node], forest.entry_offset[node + 1]):
        out[forest.entry_index[entry]] += forest.entry_weight[entry]
    return out


def mean_below(forest: FlatForest, first: int, node: int) -> tuple[float, np.ndarray]:
    """Weight and mean of the leaves below a node."""
    if forest.right[node] < 0:
        return float(forest.weight[node]), leaf_outputs(forest, node)
    (a, left), (b, right) = (
        mean_below(forest, first, child) for child in (node + 1, first + forest.right[node])
    )
    return a + b, (a * left + b * right) / (a + b)


def spread_over_features(forest: FlatForest, tree: int, node: int) -> list[tuple[int, float]]:
    """Features of a direction with their signed shares, through the axes of the tree."""
    own = range(forest.entry_offset[node], forest.entry_offset[node + 1])
    whole = sum(abs(float(forest.entry_weight[e])) for e in own)
    found = []
    for e in own:
        share, index = float(forest.entry_weight[e]) / whole, int(forest.entry_index[e])
        if index < forest.n_features:
            if not forest.levels[index]:
                found.append((index, share))
            continue
        axis = forest.rotation_offset[tree] + index - forest.n_features
        parts = range(forest.rotation_entry_offset[axis], forest.rotation_entry_offset[axis + 1])
        all_parts = sum(abs(float(forest.rotation_weight[part])) for part in parts)
        for part in parts:
            of_axis = float(forest.rotation_weight[part]) / all_parts
            found.append((int(forest.rotation_index[part]), share * of_axis))
    return found


def naive(forest: FlatForest, n_outputs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    shape = (forest.n_classes or n_outputs, forest.n_features)
    net, total = np.zeros(shape), np.zeros(shape)
    for tree in range(forest.n_trees):
        first, end = forest.tree_offset[tree : tree + 2]
        for node in range(first, end):
            if forest.right[node] < 0 or forest.flags[node] & CATEGORY_NODE:
                continue
            left, left_mean = mean_below(forest, first, node + 1)
            right, right_mean = mean_below(forest, first, first + forest.right[node])
            change = right_mean - left_mean
            removed = left * right / (left + right) / forest.weight[first] * change * abs(change)
            rows = (
                slice(None) if forest.n_classes else slice(tree % n_outputs, tree % n_outputs + 1)
            )
            by_feature = np.zeros(forest.n_features)
            for feature, share in spread_over_features(forest, tree, node):
                by_feature[feature] += share
            net[rows] += removed[:, None] * by_feature
            total[rows] += np.abs(removed)[:, None] * np.abs(by_feature)
    return net, total


def problem(n_classes: int, n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5)).round(1)
    X[:, 4] = 1.0
    X[rng.random(n) < 0.1, 3] = np.nan
    score = X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=n)
    y: Any = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return X, y if n_classes else score


@pytest.mark.parametrize("projection", ["axis", "sparse", "gaussian", "rotation", "lda", "auto"])
@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("at_once", [1, 40, 2**15])
def test_signs_are_those_of_a_walk_over_the_nodes(projection, n_classes, at_once, monkeypatch):
    monkeypatch.setattr(module, "NODES_AT_ONCE", at_once)
    monkeypatch.setattr(module, "MAX_MEANS", at_once)
    X, y = problem(n_classes)
    estimator = ObliqueForestClassifier if n_classes else ObliqueForestRegressor
    weights = np.arange(1.0, len(X) + 1)
    model = estimator(7, projection=projection, random_state=0).fit(X, y, sample_weight=weights)
    found = split_signs(model.forest_)
    for ours, expected in zip(found, naive(model.forest_), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    assert (np.abs(found.net) <= found.total * (1 + 1e-12)).all()


def test_signs_of_boosted_classes_belong_to_the_trees_of_the_class():
    X, y = problem(3)
    forest = ObliqueBoostingClassifier(max_iter=6, random_state=0).fit(X, y).forest_
    found = split_signs(forest, 3)
    for ours, expected in zip(found, naive(forest, 3), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


def test_splits_by_levels_do_not_count_and_one_leaf_has_no_signs():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("uvw"), 80), "b": rng.normal(size=80)})
    y = (frame["a"] == "u") + frame["b"]
    model = ObliqueForestRegressor(5, random_state=0).fit(frame, y)
    assert importance(model, "gini").direction.tolist() == ["", "rises"]
    flat = ObliqueForestRegressor(3, random_state=0).fit(frame, np.ones(80))
    assert importance(flat, "gini").direction.tolist() == ["", ""]
    assert not split_signs(flat.forest_).total.any()


def test_targets_far_from_zero_keep_their_signs():
    X, y = problem(0)
    near = ObliqueForestRegressor(5, projection="axis", random_state=0).fit(X, y)
    far = ObliqueForestRegressor(5, projection="axis", random_state=0).fit(X, y + 2.0**30)
    expected = importance(near, "gini").direction.tolist()
    assert importance(far, "gini").direction.tolist() == expected


@pytest.mark.parametrize("n_classes", [0, 3])
def test_signs_of_forests_whose_directions_combine_levels_are_those_of_a_walk(
    n_classes: int,
) -> None:
    """Levels take their share of a direction, and nominal features have no sign."""
    rng = np.random.default_rng(n_classes)
    for n_axes in (0, 2):
        forest = random_forest(rng, 7, n_classes, n_nominal=2, n_axes=n_axes)
        assert (forest.entry_level >= 0).any()
        of_leaves = np.where(forest.right < 0, forest.weight, 0.0)
        below = [of_leaves[i:end].sum() for i, end in enumerate(forest.subtree_end)]
        forest = replace(forest, weight=np.array(below, np.float32))
        found, expected = split_signs(forest), naive(forest)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
            assert not one[:, :2].any()
