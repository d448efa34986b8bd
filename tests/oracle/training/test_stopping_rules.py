"""When growing stops, and which nodes are split when only some of them may be.

Random draws belong to a node's place in its tree. A tree that stops early is therefore the top of
the tree that was never stopped, and the order of splitting can be replayed on the latter.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import pytest
from support.false_alarms import assert_mean
from support.forests import (
    Forest,
    Node,
    Problem,
    Tree,
    bag_rows,
    differing_arrays,
    grow,
    options,
    problem,
)

import bevel
from bevel import ObliqueForestClassifier, ObliqueSurvivalForest, presets
from bevel import projections as P
from bevel.estimators import forest as estimators
from bevel.estimators.rotated.regularized import RegularizedRotationClassifier
from bevel.training.blocks import WorkSpace

TASKS = {"two_classes": 2, "four_classes": 4, "regression": 0}
FRONTIERS = ["best_first", "breadth_first", "random_leaf"]


def some_problem(n_classes: int, n: int = 400) -> Problem:
    """Real weights, so that no two nodes have the same gain."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 5))
    X[:, 4] = rng.integers(0, 6, n)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    if n_classes:
        signal = np.argsort(np.argsort(signal)) * n_classes // n
    return problem(X, signal, n_classes, rng.uniform(0.5, 1.5, n), [0, 0, 0, 0, 6])


def grow_tree(data: Problem, tree: int = 0, **values: object) -> Tree:
    criterion = "gini" if data.n_classes else "squared_error"
    families = [("signs", 4, 8), ("categorical", 1)]
    how = options(*families, **{"criterion": criterion, "bag_size": data.n_rows, **values})
    return next(grow(data, how, first_tree=tree).trees)


def by_path(tree: Tree) -> dict[str, Node]:
    """Nodes by the way to them from the root: "" is the root, "lr" its left child's right one."""
    paths = {0: ""}
    for node in tree.nodes:
        if not node.is_leaf:
            left, right = node.children
            paths[left], paths[right] = paths[node.number] + "l", paths[node.number] + "r"
    return {paths[node.number]: node for node in tree.nodes}


def split_paths(tree: Tree) -> set[str]:
    return {path for path, node in by_path(tree).items() if not node.is_leaf}


def n_leaves(tree: Tree) -> int:
    return sum(node.is_leaf for node in tree.nodes)


def assert_is_the_top_of(tree: Tree, whole: Tree) -> None:
    nodes = by_path(whole)
    for path, node in by_path(tree).items():
        of_whole = nodes[path]
        assert node.weight == of_whole.weight
        if node.is_leaf:
            continue
        assert node.threshold == of_whole.threshold
        assert node.gain == of_whole.gain
        assert node.left_levels == of_whole.left_levels
        np.testing.assert_array_equal(node.index, of_whole.index)
        np.testing.assert_array_equal(node.coefficient, of_whole.coefficient)


def replay(whole: Tree, budget: int, growth: str) -> set[str]:
    """Paths that a tree with a budget of leaves splits."""
    nodes = by_path(whole)
    frontier, done = [""], set()
    for _ in range(budget - 1):
        waiting = [path for path in frontier if not nodes[path].is_leaf]
        if not waiting:
            break
        largest = max(waiting, key=lambda path: nodes[path].gain)
        chosen = waiting[0] if growth == "breadth_first" else largest
        frontier.remove(chosen)
        frontier += [chosen + "l", chosen + "r"]
        done.add(chosen)
    return done


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("growth", ["depth_first", *FRONTIERS])
@pytest.mark.parametrize("max_depth", [0, 1, 4])
def test_tree_of_limited_depth_is_the_top_of_the_full_tree(
    max_depth: int, growth: str, n_classes: int
) -> None:
    data = some_problem(n_classes)
    whole = grow_tree(data)
    tree = grow_tree(data, max_depth=max_depth, growth=growth)
    assert tree.depths().max() == max_depth
    assert_is_the_top_of(tree, whole)
    assert split_paths(tree) == {path for path in split_paths(whole) if len(path) < max_depth}


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("growth", ["best_first", "breadth_first"])
@pytest.mark.parametrize("budget", [1, 2, 9, 30])
def test_budget_of_leaves_is_spent_in_the_order_of_growth(
    budget: int, growth: str, n_classes: int
) -> None:
    data = some_problem(n_classes)
    for number in range(3):
        whole = grow_tree(data, number)
        tree = grow_tree(data, number, growth=growth, max_leaf_nodes=budget)
        assert n_leaves(tree) == min(budget, n_leaves(whole))
        assert_is_the_top_of(tree, whole)
        assert split_paths(tree) == replay(whole, budget, growth)


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
def test_random_leaf_spends_the_budget_on_nodes_that_depend_on_the_tree(n_classes: int) -> None:
    data = some_problem(n_classes)
    shapes = set()
    for number in range(6):
        whole = grow_tree(data, number)
        tree = grow_tree(data, number, growth="random_leaf", max_leaf_nodes=12)
        assert n_leaves(tree) == 12
        assert_is_the_top_of(tree, whole)
        shapes.add(frozenset(split_paths(tree)))
    assert len(shapes) == 6


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("growth", FRONTIERS)
@pytest.mark.parametrize("budget", [0, 10_000])
def test_order_of_growth_without_a_budget_that_binds_changes_nothing(
    growth: str, budget: int, n_classes: int
) -> None:
    data = some_problem(n_classes)
    tree = grow_tree(data, growth=growth, max_leaf_nodes=budget)
    assert differing_arrays(tree.forest, grow_tree(data).forest) == []


def structure(tree: Tree) -> list[tuple[object, ...]]:
    """All of a tree but what it learnt from the targets."""
    return [
        (node.right, node.weight)
        if node.is_leaf
        else (
            node.right,
            node.weight,
            node.threshold,
            node.missing_left,
            node.left_levels,
            node.index.tolist(),
            node.coefficient.tolist(),
        )
        for node in tree.nodes
    ]


@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
@pytest.mark.parametrize("growth", ["random_leaf", "breadth_first"])
@pytest.mark.parametrize(
    "families",
    [
        [("signs", 1, 3)],
        [("axis", 1), ("categorical", 1)],
        [("rotation", 1, 4)],
        [("multirotation", 1, 4, ("n_rotations", 3))],
        [("principal", 1, 3)],
        [("principal", 1, 3, ("per_node", True))],
    ],
    ids=["signs", "single_columns", "rotation", "multirotation", "principal", "at_nodes"],
)
def test_purely_random_tree_does_not_look_at_the_targets(
    families: list[tuple[object, ...]], growth: str, n_classes: int
) -> None:
    rng = np.random.default_rng(n_classes)
    n = 300
    X = rng.normal(size=(n, 5))
    X[:, 4] = rng.integers(0, 6, n)
    X[:, 0][rng.random(n) < 0.2] = np.nan
    target = rng.normal(size=n) if n_classes == 0 else rng.integers(0, n_classes, n)
    constant = np.full(n, target[0])
    how = options(
        *families,
        criterion="gini" if n_classes else "squared_error",
        threshold="purely_random",
        growth=growth,
        max_leaf_nodes=30,
        bag_size=n,
    )
    for number in range(4):
        structures = []
        for y in (target, rng.permutation(target), constant):
            data = problem(X, y, n_classes, levels=[0, 0, 0, 0, 6])
            tree = next(grow(data, how, first_tree=number).trees)
            structures.append(structure(tree))
        assert structures[0] == structures[1]
        assert structures[0] == structures[2]
        assert sum(node.is_leaf for node in tree.nodes) == 30


@pytest.mark.parametrize("threshold", ["random", "purely_random"])
@pytest.mark.parametrize("n_classes", TASKS.values(), ids=TASKS.keys())
def test_random_cut_lies_among_the_values_of_its_node(threshold: str, n_classes: int) -> None:
    data = some_problem(n_classes)
    criterion = "gini" if n_classes else "squared_error"
    how = options(("signs", 4, 8), criterion=criterion, threshold=threshold, bag_size=data.n_rows)
    for tree in grow(data, how, 3).trees:
        rows, _ = bag_rows(data, how, tree.number)
        for node, here in zip(tree.nodes, tree.rows_of_nodes(data.X, rows), strict=True):
            assert len(here) > 0
            if not node.is_leaf:
                values = tree.projected(node, data.X[here])
                assert values.min() <= node.threshold < values.max()


def test_more_random_cuts_find_larger_gains() -> None:
    data = some_problem(2)
    gains = []
    for n_thresholds in (1, 5, 200):
        values = {"threshold": "random", "n_thresholds": n_thresholds, "max_depth": 1}
        gains.append([grow_tree(data, tree, **values).nodes[0].gain for tree in range(30)])
    best = [grow_tree(data, tree, max_depth=1).nodes[0].gain for tree in range(30)]
    assert np.mean(gains[0]) < np.mean(gains[1]) < np.mean(gains[2]) <= np.mean(best)
    assert (np.array(gains) <= np.array(best) * (1 + 1e-6)).all()


@pytest.mark.parametrize("threshold", ["best", "random", "purely_random"])
@pytest.mark.parametrize(
    "family",
    ["axis", "signs", "combination", "gaussian", "rotation", "multirotation", "principal"],
)
def test_constant_columns_give_a_single_leaf_whatever_the_threshold(
    family: str, threshold: str
) -> None:
    data = problem(np.ones((20, 3)), np.arange(20) % 2)
    how = options((family, 1, 2), threshold=threshold, growth="random_leaf", max_leaf_nodes=5)
    assert n_leaves(next(grow(data, how).trees)) == 1


AUTO = -1  # max_redraws
N_TREES = 4000
# Binary features: a node that draws one of them has one cut or none, and the expected size of a
# tree is a sum over the features that its nodes may be split by.
X = np.random.default_rng(0).random((30, 4)) < [0.1, 0.25, 0.4, 0.5]
Y = np.random.default_rng(1).integers(0, 2, 30)


def chance_of_no_cut(family: str, n_varying: int, max_redraws: int) -> float:
    """That a node draws only constant features: without replacement, or each time from all."""
    p, n_drawn = X.shape[1], 1 + max_redraws
    if family == "signs":
        return (1 - n_varying / p) ** (9 if max_redraws == AUTO else n_drawn)
    if max_redraws == AUTO:
        n_drawn = p
    return comb(p - n_varying, n_drawn) / comb(p, min(n_drawn, p))


def expected_nodes(family: str, max_redraws: int) -> float:
    """Mean number of nodes of a tree that splits by the first drawn feature that varies."""

    @cache
    def below(rows: tuple[int, ...]) -> float:
        if len(set(Y[list(rows)])) == 1:
            return 1.0
        values = X[list(rows)]
        varying = np.flatnonzero(values.any(axis=0) & ~values.all(axis=0))
        if not varying.size:
            return 1.0
        children = sum(
            below(tuple(r for r in rows if X[r, f] == side)) for f in varying for side in (0, 1)
        )
        split = 1.0 - chance_of_no_cut(family, varying.size, max_redraws)
        return 1.0 + split * children / varying.size

    return below(tuple(range(len(X))))


def grow_some(family: str, max_redraws: int, n_trees: int, **values: object) -> Forest:
    how = options((family, 1, 1), max_redraws=max_redraws, **values)
    return grow(problem(X, Y), how, n_trees)


def sizes(family: str, max_redraws: int) -> np.ndarray:
    return np.diff(grow_some(family, max_redraws, N_TREES).arrays["tree_offset"])


@pytest.mark.parametrize(
    ("family", "max_redraws"),
    [*(("axis", k) for k in (0, 1, 2)), *(("signs", k) for k in (AUTO, 0, 1, 2, 5))],
)
def test_trees_have_the_size_that_their_redraws_give(family: str, max_redraws: int) -> None:
    assert_mean(sizes(family, max_redraws)[:, None], expected_nodes(family, max_redraws))


def test_single_features_are_drawn_until_one_varies_by_default() -> None:
    for max_redraws in (AUTO, 3, 1000):  # the fourth feature is the last
        assert np.all(sizes("axis", max_redraws) == expected_nodes("axis", AUTO))


def test_eight_redraws_are_the_default_of_random_directions() -> None:
    assert np.array_equal(sizes("signs", 8), sizes("signs", AUTO))


@pytest.mark.parametrize("threshold", ["best", "random"])
@pytest.mark.parametrize("growth", ["depth_first", "breadth_first"])
@pytest.mark.parametrize("family", ["axis", "signs", "multirotation"])
def test_tree_of_fewer_redraws_is_the_top_of_one_of_more(
    family: str, growth: str, threshold: str
) -> None:
    more = [grow_some(family, k, 30, threshold=threshold, growth=growth) for k in (0, 1, AUTO)]
    for few, several, usual in zip(*(each.trees for each in more), strict=True):
        assert_is_the_top_of(few, several)
        assert_is_the_top_of(several, usual)
    n_nodes = [len(each.arrays["right"]) for each in more]
    assert n_nodes == sorted(set(n_nodes))


@pytest.mark.parametrize(
    "make",
    [
        presets.random_forest,
        presets.sporf,
        presets.extra_trees,
        ObliqueForestClassifier,
        RegularizedRotationClassifier,
    ],
)
def test_estimators_and_presets_stop_where_they_draw_nothing_again(make: object) -> None:
    given = {"n_estimators": 50, "random_state": 0, "n_projections": 1}
    if make is ObliqueForestClassifier:
        given["projection"] = "sparse"
    forests = [make(**given, max_redraws=k).fit(X * 1.0, Y) for k in (0, "auto")]
    few, usual = (len(forest.forest_.right) for forest in forests)
    assert few < usual
    default = make(**given).fit(X * 1.0, Y)
    assert np.array_equal(default.forest_.threshold, forests[1].forest_.threshold)


def test_survival_trees_stop_where_they_draw_nothing_again() -> None:
    time = np.random.default_rng(2).exponential(size=300)
    Z = np.random.default_rng(3).random((300, 6)) < 0.2
    given = {"projection": "axis", "n_projections": 1, "random_state": 0}
    given |= {"min_samples_split": 2, "min_samples_leaf": 1}
    few, usual = (
        ObliqueSurvivalForest(10, max_redraws=k, **given)
        .fit(Z * 1.0, (time, np.ones(300, bool)))
        .forest_
        for k in (0, "auto")
    )
    assert len(few.right) < len(usual.right)


@pytest.mark.parametrize("max_redraws", [0, "auto"])
def test_trees_over_blocks_have_the_size_that_their_redraws_give(
    monkeypatch: pytest.MonkeyPatch, max_redraws: int | str
) -> None:
    monkeypatch.setattr(estimators, "WorkSpace", lambda *_: WorkSpace(10**6, 1))  # none is small
    table = bevel.scan([(X[:20] * 1.0, Y[:20]), (X[20:] * 1.0, Y[20:])])
    given = {"n_projections": 1, "bootstrap": False, "random_state": 0}
    given["projection"] = P.RandomCombination(1)
    forest = ObliqueForestClassifier(1000, max_redraws=max_redraws, **given).fit(table)
    nodes = np.diff(forest.forest_.tree_offset)
    assert_mean(nodes[:, None], expected_nodes("signs", 0 if max_redraws == 0 else AUTO))
