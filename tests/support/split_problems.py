"""Random problems for split search, and the checks of their trees by a naive splitter."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import _core
from support.forests import (
    Node,
    Problem,
    Tree,
    bag_rows,
    options,
    problem,
)
from support.naive.splitter import (
    RELATIVE,
    NaiveNode,
    Rules,
    best_gain,
    column_masks,
    numeric_cuts,
)

# Seeds of `random_problem` that give ties, copied rows and many sizes; 27 gives one row, 48 and 62
# constant columns, and 107 one class.
SEEDS = (0, 1, 2, 3, 4, 5, 27, 48, 62, 107)


def random_features(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Columns of different make: smooth, tied, constant, on few values, with copied rows."""
    X = rng.normal(size=(n, p))
    for feature in range(p):
        kind = rng.integers(6)
        if kind == 0:
            X[:, feature] = np.round(2 * X[:, feature])
        elif kind == 1:
            X[:, feature] = rng.integers(0, 3, n)
        elif kind == 2 and p > 1:
            X[:, feature] = rng.normal()
        elif kind == 3:
            X[:, feature] = np.exp(5 * X[:, feature])
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    return X


def random_weights(rng: np.random.Generator, n: int, kind: str) -> np.ndarray | None:
    if kind == "none":
        return None
    if kind == "whole":
        return rng.integers(0 if n > 10 else 1, 4, n)
    return rng.uniform(0.1, 2.0, n)


def random_problem(
    rng: np.random.Generator,
    n_classes: int,
    weights: str = "none",
    *,
    missing: bool = False,
    n_nominal: int = 0,
) -> Problem:
    n, p = int(rng.integers(1, 45)), int(rng.integers(1, 5))
    X = random_features(rng, n, p + n_nominal)
    levels = np.zeros(p + n_nominal, np.int32)
    for feature in range(p, p + n_nominal):
        levels[feature] = rng.integers(2, 7)
        X[:, feature] = rng.integers(0, levels[feature], n)
    if missing:
        X[:, :p][rng.random((n, p)) < rng.choice([0.05, 0.4])] = np.nan
    signal = np.nan_to_num(X[:, 0]) > 0
    if n_classes == 0:
        y = rng.normal(size=n) + signal
        y = np.round(y) / 7 + rng.choice([0.0, 100.0]) if rng.random() < 0.5 else y
    else:
        shares = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 3.0])))
        y = rng.choice(n_classes, n, p=shares)
        y = np.where(rng.random(n) < 0.4, signal % n_classes, y)
    w = random_weights(rng, n, weights)
    return problem(X, y.astype(float if n_classes == 0 else int), n_classes, w, levels)


def single_columns(data: Problem, **values: object) -> _core.Options:
    """Every column at every node."""
    families = []
    if (data.levels == 0).any():
        families.append(("axis", int((data.levels == 0).sum())))
    if (data.levels > 0).any():
        families.append(("categorical", int((data.levels > 0).sum())))
    return options(*families, split_search="exact", **values)


def naive_nodes(
    tree: Tree, data: Problem, how: _core.Options
) -> list[tuple[Node, np.ndarray, NaiveNode]]:
    """Nodes of a tree with the rows of the bag that pass through them."""
    rows, weight = bag_rows(data, how, tree.number)
    return [
        (node, here, NaiveNode(data.target[here], weight[here], data.n_classes, how.criterion))
        for node, here in zip(tree.nodes, tree.rows_of_nodes(data.X, rows), strict=True)
    ]


def assert_split_is_the_best(
    tree: Tree, node: Node, X: np.ndarray, naive: NaiveNode, best: float, rules: Rules
) -> None:
    assert not naive.is_pure
    goes_left = tree.goes_left(node, X)[None, :]
    assert rules.allowed(naive, goes_left)[0]
    gain = float(naive.gain(goes_left)[0])
    assert gain >= best - RELATIVE * abs(best) - naive.tolerance
    assert node.gain == pytest.approx(gain, rel=1e-6, abs=naive.tolerance)
    if not node.is_category:
        cuts = numeric_cuts(tree.projected(node, X))
        assert node.threshold in {cut.threshold for cut in cuts}


def assert_tree_on_single_columns_is_the_best(
    tree: Tree, data: Problem, how: _core.Options
) -> None:
    nodes = naive_nodes(tree, data, how)
    tree_weight = nodes[0][2].total_weight
    rules = Rules(how.min_samples_leaf, how.min_weight_leaf * tree_weight)
    depths = tree.depths()
    for node, rows, naive in nodes:
        X = data.X[rows]
        masks = np.concatenate(list(column_masks(X, data.levels)))
        best = best_gain(naive, masks, rules)
        if not node.is_leaf:
            assert_split_is_the_best(tree, node, X, naive, best, rules)
            assert node.gain >= (how.min_impurity_decrease - 1e-6) * tree_weight
            continue
        must_be_leaf = (
            naive.is_pure
            or len(rows) < how.min_samples_split
            or depths[node.number] == how.max_depth
        )
        enough = how.min_impurity_decrease * tree_weight
        assert must_be_leaf or best <= enough * (1 + RELATIVE) - (best == -np.inf)
