"""`split_pure_nodes`: pure nodes are split down to the smallest, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from support.forests import Problem, Tree, bag_rows, grow, options, problem

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, presets
from bevel.analysis import forest_weights, potential_neighbours

FAMILIES = {
    "axis": [("axis", 2)],
    "axis_and_nominal": [("axis", 2), ("categorical", 1)],
    "signs": [("signs", 4, 8)],
    "rotation": [("rotation", 2, 4)],
}
TASKS = {"two_classes": 2, "four_classes": 4, "regression": 0}


def easy_problem(n_classes: int, n: int = 150) -> Problem:
    """Ties, missing values, a constant column, a nominal one; large pure regions; weights."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 6))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.2, 2] = np.nan
    X[:, 3] = 5.0
    X[:, 5] = rng.integers(0, 6, n)
    y = np.digitize(X[:, 0], [-0.7, 0.0, 0.7]) * max(n_classes, 2) // 4
    target = y if n_classes else y.astype(float)
    return problem(X, target, n_classes, rng.uniform(0.5, 1.5, n), [0, 0, 0, 0, 0, 6])


def grow_tree(data: Problem, family: str, number: int, **values: object) -> Tree:
    how = {"criterion": "gini" if data.n_classes else "squared_error", **values}
    return next(grow(data, options(*FAMILIES[family], **how), first_tree=number).trees)


def by_path(tree: Tree) -> dict[str, object]:
    paths = {0: ""}
    for node in tree.nodes:
        if not node.is_leaf:
            left, right = node.children
            paths[left], paths[right] = paths[node.number] + "l", paths[node.number] + "r"
    return {paths[node.number]: node for node in tree.nodes}


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("threshold", ["best", "random"])
@pytest.mark.parametrize("growth", ["depth_first", "best_first"])
def test_tree_with_pure_nodes_split_begins_as_the_one_without(
    growth: str, threshold: str, family: str, n_classes: int
) -> None:
    data = easy_problem(n_classes)
    for number in range(3):
        given = {"threshold": threshold, "growth": growth}
        short = by_path(grow_tree(data, family, number, **given))
        full = grow_tree(data, family, number, split_pure_nodes=True, **given)
        nodes = by_path(full)
        assert len(nodes) > len(short)
        for path, node in short.items():
            assert nodes[path].weight == node.weight
            if not node.is_leaf:
                assert nodes[path].threshold == node.threshold
                if family != "rotation":  # whose axes are numbered by their use
                    np.testing.assert_array_equal(nodes[path].index, node.index)
        reached = full.rows_of_nodes(data.X, np.arange(data.n_rows))
        for node, rows in zip(full.nodes, reached, strict=True):
            assert not node.is_leaf or len(rows) == 1 or same_everywhere(data, rows, family)


def same_everywhere(data: Problem, rows: np.ndarray, family: str) -> bool:
    """Whether no direction of the family tells the rows apart; oblique ones see medians for NaN."""
    X = data.X[rows]
    if not family.startswith("axis"):
        X = np.where(np.isnan(X), data.medians, X)
    seen = X if family == "axis_and_nominal" else X[:, :5]
    return len(np.unique(seen, axis=0)) == 1


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
def test_leaves_keep_to_the_smallest_node_that_is_split(n_classes: int) -> None:
    data = easy_problem(n_classes)
    values = {"min_samples_split": 8, "split_pure_nodes": True}
    how = options(("signs", 4, 8), criterion="gini" if n_classes else "squared_error", **values)
    how.bag_size = data.n_rows
    for tree in grow(data, how, 3).trees:
        rows, _ = bag_rows(data, how, tree.number)
        for node, here in zip(tree.nodes, tree.rows_of_nodes(data.X, rows), strict=True):
            assert not node.is_leaf or len(here) < 8


def test_splits_of_pure_nodes_are_spread_over_directions_and_rows() -> None:
    """One class only. Cuts that took off one row at a time would make a chain of 400 nodes."""
    rng = np.random.default_rng(0)
    data = problem(rng.random((400, 4)), np.zeros(400, int), 2)
    tree = next(grow(data, options(("axis", 2), split_pure_nodes=True)).trees)
    assert tree.n_nodes == 2 * 400 - 1
    assert tree.depths().max() < 40
    features = np.array([node.index[0] for node in tree.nodes if not node.is_leaf])
    assert np.bincount(features, minlength=4).min() > 60


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("projection", ["axis", "sparse", "auto"])
def test_predictions_stay_the_same(task: str, projection: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    kind = ObliqueForestClassifier if task == "classification" else ObliqueForestRegressor
    given = {"projection": projection, "random_state": 0, "n_jobs": 1}
    if projection == "auto":  # whose families without a target are fewer
        forest = kind(20, split_pure_nodes=True, **given).fit(X, y)
        assert {"axis", "sparse"} >= set(forest.families_.names)
        return
    plain, full = (kind(20, split_pure_nodes=s, **given).fit(X, y) for s in (False, True))
    rows = rng.normal(size=(50, 4))
    assert full.forest_.n_nodes > plain.forest_.n_nodes
    np.testing.assert_allclose(full.predict(rows), plain.predict(rows), rtol=1e-12)
    if task == "classification":
        np.testing.assert_array_equal(full.predict_proba(rows), plain.predict_proba(rows))


@pytest.mark.parametrize("preset", [presets.random_side, presets.random_point])
@pytest.mark.parametrize("k", [1, 3])
def test_voting_points_of_a_classifier_are_potential_neighbours(preset, k: int) -> None:
    """Proposition 2 of Lin and Jeon, which fails where pure nodes are left whole."""
    rng = np.random.default_rng(2)
    X = rng.random((80, 2))
    y = (X[:, 0] > 0.5).astype(int)
    rows = rng.random((30, 2))

    def outside(forest) -> int:
        votes = forest_weights(forest.fit(X, y), X, y, rows)
        near = potential_neighbours(forest, X, rows, k=k)
        return int(votes.nnz - votes.multiply(near).nnz)

    assert outside(preset(k=k, n_estimators=20, random_state=0)) == 0
    assert outside(preset(k=k, n_estimators=20, random_state=0, split_pure_nodes=False)) > 100


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"projection": "lda"}, r"^split_pure_nodes needs a projection .* got 'lda'|LDA\(\)"),
        ({"min_impurity_decrease": 0.1}, r"^min_impurity_decrease must be 0 with split_pure_nodes"),
        ({"monotonic_cst": [1, 0]}, r"^monotonic_cst must be None with split_pure_nodes"),
        ({"split_pure_nodes": "yes"}, r"^split_pure_nodes must be "),
    ],
)
def test_what_pure_nodes_cannot_have_is_refused(given, message: str) -> None:
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    parameters = {"projection": "axis", "split_pure_nodes": True} | given
    with pytest.raises((TypeError, ValueError), match=message):
        ObliqueForestClassifier(3, **parameters).fit(X, y)


def test_counts_are_refused_with_pure_nodes() -> None:
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20.0)
    forest = ObliqueForestRegressor(
        3, projection="axis", criterion="poisson", split_pure_nodes=True
    )
    with pytest.raises(ValueError, match=r'^criterion must not be "poisson" with split_pure_nodes'):
        forest.fit(X, y)


def leaf_depths(forest, tree: int) -> list[tuple[int, float]]:
    """Depth and rows of each leaf."""
    flat = forest.forest_
    first = int(flat.tree_offset[tree])
    stack, leaves = [(0, 0)], []
    while stack:
        node, depth = stack.pop()
        right = int(flat.right[first + node])
        if right < 0:
            leaves.append((depth, float(flat.weight[first + node])))
        else:
            stack += [(node + 1, depth + 1), (right, depth + 1)]
    return leaves


def test_breiman_forest_grows_level_by_level_to_its_leaves() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.random((200, 3)), rng.random(200)
    given = {"max_samples": 100, "n_estimators": 5, "random_state": 0}
    forest = presets.breiman_forest(max_leaf_nodes=20, task="regression", **given).fit(X, y)
    for tree in range(5):
        leaves = leaf_depths(forest, tree)
        deepest = max(depth for depth, _ in leaves)
        assert len(leaves) == 20
        assert all(depth >= deepest - 1 or n_rows == 1 for depth, n_rows in leaves)
    whole = presets.breiman_forest(**given).fit(X, (y > 0.5).astype(int))
    for tree in range(5):  # t_n = a_n: one row in each cell
        assert [n_rows for _, n_rows in leaf_depths(whole, tree)] == [1.0] * 100
