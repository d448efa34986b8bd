"""Every split of every tree has the best gain that there is, by a naive splitter's count.

Trees on single columns are given all columns at each node, so that the best cut of the node is
known. Of an oblique tree the directions are known at the root; below it the direction is taken as
found, and its cut must be the best along it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.forests import (
    Node,
    Tree,
    directions_of_root,
    grow,
    options,
    problem,
)
from support.naive.splitter import (
    NaiveNode,
    Rules,
    best_gain,
    numeric_cuts,
    numeric_masks,
)
from support.split_problems import (
    SEEDS,
    assert_split_is_the_best,
    assert_tree_on_single_columns_is_the_best,
    naive_nodes,
    random_problem,
    single_columns,
)

from bevel import _core


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [
        ("gini", 2),
        ("gini", 3),
        ("gini", 7),
        ("gini", 20),
        ("entropy", 2),
        ("entropy", 5),
        ("squared_error", 0),
    ],
)
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "with_nan"])
def test_axis_tree_with_all_features_takes_the_best_cut_of_each_node(
    criterion: str, n_classes: int, weights: str, missing: bool
) -> None:
    for seed in SEEDS:
        data = random_problem(np.random.default_rng(seed), n_classes, weights, missing=missing)
        how = single_columns(data, criterion=criterion, seed=seed, bag_size=seed % 2 * data.n_rows)
        forest = grow(data, how, 2)
        for tree in forest.trees:
            assert_tree_on_single_columns_is_the_best(tree, data, how)


@pytest.mark.parametrize(
    ("criterion", "n_classes"), [("gini", 2), ("entropy", 2), ("squared_error", 0)]
)
@pytest.mark.parametrize("weights", ["none", "real"])
def test_nominal_column_takes_the_best_of_all_subsets_of_levels(
    criterion: str, n_classes: int, weights: str
) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        data = random_problem(rng, n_classes, weights, n_nominal=1 + seed % 2)
        how = single_columns(data, criterion=criterion, seed=seed, bag_size=data.n_rows)
        for tree in grow(data, how, 2).trees:
            assert_tree_on_single_columns_is_the_best(tree, data, how)


@pytest.mark.parametrize(
    "limits",
    [
        {"min_samples_leaf": 3},
        {"min_samples_split": 9},
        {"min_weight_leaf": 0.1},
        {"min_impurity_decrease": 0.02},
        {"max_depth": 2},
        {"min_samples_leaf": 2, "min_weight_leaf": 0.05, "min_samples_split": 6},
    ],
    ids=lambda limits: "_".join(limits),
)
@pytest.mark.parametrize(
    ("criterion", "n_classes"), [("gini", 2), ("gini", 4), ("entropy", 3), ("squared_error", 0)]
)
def test_limits_leave_the_best_of_the_cuts_that_they_allow(
    criterion: str, n_classes: int, limits: dict[str, float]
) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        weights = ("none", "whole", "real")[seed % 3]
        data = random_problem(rng, n_classes, weights, missing=seed % 2 == 0)
        how = single_columns(data, criterion=criterion, seed=seed, bag_size=data.n_rows, **limits)
        for tree in grow(data, how, 2).trees:
            assert_tree_on_single_columns_is_the_best(tree, data, how)


@pytest.mark.parametrize("family", ["signs", "combination", "gaussian", "rotation", "mixed"])
@pytest.mark.parametrize(
    ("criterion", "n_classes"), [("gini", 2), ("gini", 4), ("entropy", 3), ("squared_error", 0)]
)
def test_oblique_tree_takes_the_best_cut_along_its_directions(
    family: str, criterion: str, n_classes: int
) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        weights = ("none", "whole", "real")[seed % 3]
        data = random_problem(rng, n_classes, weights, missing=seed % 2 == 1)
        how = options(
            *oblique_families(family, data.n_features),
            criterion=criterion,
            split_search="exact",
            seed=seed,
            bag_size=data.n_rows,
        )
        for tree in grow(data, how, 2).trees:
            for node, rows, naive in naive_nodes(tree, data, how):
                if node.is_leaf:
                    continue
                X = data.X[rows]
                best = best_gain(naive, numeric_masks(tree.projected(node, X)), Rules())
                assert_split_is_the_best(tree, node, X, naive, best, Rules())


def oblique_families(family: str, p: int) -> list[tuple[object, ...]]:
    return {
        "signs": [("signs", p, min(3, p) * p)],
        "combination": [("combination", p, min(2, p))],
        "gaussian": [("gaussian", p, min(2, p))],
        "rotation": [("rotation", p, p)],
        "mixed": [
            ("axis", p),
            ("signs", p, min(3, p) * p),
            ("rotation", p, p, ("flip", True), ("per_node", True)),
        ],
    }[family]


def directions_of_the_root(tree: Tree, how: _core.Options) -> list[Node]:
    """Candidates of the root as nodes without a cut."""
    return [
        replace(tree.nodes[0], index=index, coefficient=weight)
        for index, weight in directions_of_root(how, tree.forest.levels, tree.number)
    ]


@pytest.mark.parametrize("family", ["signs", "combination"])
@pytest.mark.parametrize(
    ("criterion", "n_classes"), [("gini", 2), ("gini", 4), ("entropy", 3), ("squared_error", 0)]
)
def test_root_of_an_oblique_tree_takes_the_best_of_all_its_directions(
    family: str, criterion: str, n_classes: int
) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        weights = ("none", "whole", "real")[seed % 3]
        data = random_problem(rng, n_classes, weights, missing=seed % 2 == 1)
        how = options(
            *oblique_families(family, data.n_features),
            criterion=criterion,
            split_search="exact",
            seed=seed,
            max_depth=1,
        )
        for tree in grow(data, how, 5).trees:
            node, rows, naive = naive_nodes(tree, data, how)[0]
            if node.is_leaf:
                continue
            X = data.X[rows]
            values = [tree.projected(d, X) for d in directions_of_the_root(tree, how)]
            best = max(best_gain(naive, numeric_masks(v), Rules()) for v in values)
            if best == -np.inf:  # none of them cuts: the winner was drawn later
                continue
            assert_split_is_the_best(tree, node, X, naive, best, Rules())


def exact_score(naive: NaiveNode, goes_left: np.ndarray) -> Fraction:
    """Order of the gain without rounding, for whole weights and targets: a^2 / w on both sides."""
    score = Fraction(0)
    classes = range(naive.n_classes) if naive.n_classes else [None]
    for side in (goes_left, ~goes_left):
        weight = int(naive.weight[side].sum())
        for k in classes:
            of_class = naive.target[side] if k is None else naive.target[side] == k
            score += Fraction(int((naive.weight[side] * of_class).sum()) ** 2, weight)
    return score


@pytest.mark.parametrize("search", ["exact", "auto"])
@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("family", ["axis", "signs"])
def test_ties_of_the_gain_go_to_the_first_direction_and_the_lowest_threshold(
    family: str, n_classes: int, search: str
) -> None:
    n_ties = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(2, 14)), 3
        X = rng.integers(0, 4, (n, p)).astype(float)
        if seed % 3 == 0:
            X[rng.random((n, p)) < 0.2] = np.nan
        y = rng.integers(0, 3 if n_classes == 0 else n_classes, n)
        data = problem(X, y.astype(float) if n_classes == 0 else y, n_classes)
        how = options(
            (family, p, 6 if family == "signs" else 0),
            criterion="gini" if n_classes else "squared_error",
            split_search=search,
            seed=seed,
            max_depth=1,
        )
        tree = next(grow(data, how).trees)
        root, rows, naive = naive_nodes(tree, data, how)[0]
        cuts = [
            (exact_score(naive, mask), direction, cut)
            for direction in directions_of_the_root(tree, how)
            for values in [tree.projected(direction, data.X[rows])]
            for cut, mask in zip(numeric_cuts(values), numeric_masks(values), strict=True)
        ]
        if root.is_leaf or not cuts:
            continue
        best = max(score for score, _, _ in cuts)
        winners = [(direction, cut) for score, direction, cut in cuts if score == best]
        n_ties += len(winners) > 1
        direction, cut = winners[0]
        assert root.index.tolist() == direction.index.tolist()
        assert root.coefficient.tolist() == direction.coefficient.tolist()
        assert root.threshold == cut.threshold
        if np.isnan(tree.projected(root, data.X[rows])).any():
            assert root.missing_left == cut.missing_left
    assert n_ties > 10
