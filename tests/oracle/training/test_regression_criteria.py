"""Absolute error and Poisson deviance: every split has the best gain by a naive splitter's count,
every leaf the median or mean of its rows, and all routes of the search find the same forest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from support.feature_makes import MAKES, Features, grow_by
from support.forests import Problem, Tree, bag_rows, differing_arrays, grow, options, problem
from support.naive.splitter import NaiveNode, Rules, best_gain, numeric_masks
from support.split_problems import (
    SEEDS,
    assert_split_is_the_best,
    assert_tree_on_single_columns_is_the_best,
    naive_nodes,
    random_problem,
    single_columns,
)

from bevel import ObliqueForestRegressor

CRITERIA = ["absolute_error", "poisson"]


def random_numbers(
    seed: int, criterion: str, weights: str = "none", *, missing: bool = False, n_nominal: int = 0
) -> Problem:
    """A problem with ties and, for Poisson, zeros among the targets."""
    rng = np.random.default_rng(seed)
    data = random_problem(rng, 0, weights, missing=missing, n_nominal=n_nominal)
    if criterion == "poisson":
        target = np.abs(data.target)
        target = (
            np.floor(2 * target) if seed % 2 else np.where(rng.random(len(target)) < 0.3, 0, target)
        )
        target[0] += 1
        return replace(data, target=target)
    return data


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "with_nan"])
def test_axis_tree_with_all_features_takes_the_best_cut_of_each_node(
    criterion: str, weights: str, missing: bool
) -> None:
    for seed in SEEDS:
        data = random_numbers(seed, criterion, weights, missing=missing)
        how = single_columns(data, criterion=criterion, seed=seed, bag_size=seed % 2 * data.n_rows)
        for tree in grow(data, how, 2).trees:
            assert_tree_on_single_columns_is_the_best(tree, data, how)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "limits",
    [{"min_samples_leaf": 3}, {"min_weight_leaf": 0.1}, {"min_impurity_decrease": 0.02}],
    ids=lambda limits: "_".join(limits),
)
def test_limits_leave_the_best_of_the_cuts_that_they_allow(
    criterion: str, limits: dict[str, float]
) -> None:
    for seed in SEEDS:
        weights = ("none", "whole", "real")[seed % 3]
        data = random_numbers(seed, criterion, weights, missing=seed % 2 == 0)
        how = single_columns(data, criterion=criterion, seed=seed, bag_size=data.n_rows, **limits)
        for tree in grow(data, how, 2).trees:
            assert_tree_on_single_columns_is_the_best(tree, data, how)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("family", [("signs", 4, 8), ("combination", 4, 2)])
def test_oblique_tree_takes_the_best_cut_along_its_directions(
    criterion: str, family: tuple[object, ...]
) -> None:
    for seed in SEEDS:
        data = random_numbers(seed, criterion, ("none", "whole", "real")[seed % 3])
        if data.n_features < 2:
            continue
        how = options(family, criterion=criterion, seed=seed, bag_size=data.n_rows)
        for tree in grow(data, how, 2).trees:
            for node, rows, naive in naive_nodes(tree, data, how):
                if node.is_leaf:
                    continue
                X = data.X[rows]
                best = best_gain(naive, numeric_masks(tree.projected(node, X)), Rules())
                assert_split_is_the_best(tree, node, X, naive, best, Rules())


def test_nominal_column_with_poisson_takes_the_best_of_all_subsets_of_levels() -> None:
    for seed in SEEDS:
        data = random_numbers(seed, "poisson", ("none", "real")[seed % 2], n_nominal=1 + seed % 2)
        how = single_columns(data, criterion="poisson", seed=seed, bag_size=data.n_rows)
        for tree in grow(data, how, 2).trees:
            assert_tree_on_single_columns_is_the_best(tree, data, how)


def weighted_median(target: np.ndarray, weight: np.ndarray, *, lower: bool = False) -> float:
    """The target up to which half of the weight lies; half-way to the next if it is just half."""
    order = np.argsort(target, kind="stable")
    target, below = target[order], np.cumsum(weight[order])
    at = int(np.flatnonzero(below >= below[-1] / 2 * (1 - 1e-12))[0])
    if lower or abs(below[at] - below[-1] / 2) > 1e-9 * below[-1]:
        return float(target[at])
    return float((target[at] + target[at + 1]) / 2)


def median_order_masks(codes: np.ndarray, naive: NaiveNode) -> np.ndarray:
    """Cuts of the levels in the order of their medians, then of the levels themselves."""
    levels = sorted(
        np.unique(codes),
        key=lambda level: (
            weighted_median(naive.target[codes == level], naive.weight[codes == level], lower=True),
            level,
        ),
    )
    masks = [np.isin(codes, levels[: k + 1]) for k in range(len(levels) - 1)]
    return np.array(masks, bool).reshape(-1, len(codes))


@pytest.mark.parametrize("weights", ["none", "whole"])
def test_nominal_column_with_absolute_error_takes_the_best_cut_of_levels_by_median(
    weights: str,
) -> None:
    n_splits = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 5, 40)
        target = np.round(3 * rng.normal(size=40) + codes % 3)
        weight = None if weights == "none" else rng.integers(1, 4, 40)
        data = problem(codes[:, None], target.astype(float), 0, weight, np.array([5], np.int32))
        how = options(("categorical", 1), criterion="absolute_error", seed=seed)
        tree = next(grow(data, how).trees)
        for node, rows, naive in naive_nodes(tree, data, how):
            if node.is_leaf:
                continue
            n_splits += 1
            masks = median_order_masks(data.X[rows, 0], naive)
            assert float(node.gain) == pytest.approx(naive.gain(masks).max(), rel=1e-6, abs=1e-9)
    assert n_splits > 60


def assert_leaves_hold(tree: Tree, data: Problem, how: object, value_of: object) -> None:
    rows, weight = bag_rows(data, how, tree.number)
    for node, here in zip(tree.nodes, tree.rows_of_nodes(data.X, rows), strict=True):
        if node.is_leaf:
            expected = value_of(data.target[here], weight[here])
            assert node.value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("growth", ["depth_first", "best_first"])
def test_leaves_hold_the_median_with_absolute_error_and_the_mean_with_poisson(
    weights: str, growth: str
) -> None:
    for seed in SEEDS:
        for criterion in CRITERIA:
            data = random_numbers(seed, criterion, weights, missing=True)
            leaves = 6 if growth == "best_first" else 0
            how = single_columns(
                data,
                criterion=criterion,
                seed=seed,
                bag_size=data.n_rows,
                max_depth=2,
                growth=growth,
                max_leaf_nodes=leaves,
            )
            value_of = (
                weighted_median
                if criterion == "absolute_error"
                else lambda target, weight: np.average(target, weights=weight)
            )
            for tree in grow(data, how, 2).trees:
                assert_leaves_hold(tree, data, how, value_of)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("n_rows", [40, 250, 3000])
def test_auto_equals_exact_for_all_makes_of_features(
    criterion: str, make: Features, n_rows: int
) -> None:
    rng = np.random.default_rng(n_rows)
    X = make(rng, n_rows, 5)
    y = X.astype(np.float32) @ rng.normal(size=5)
    y = rng.poisson(np.exp(np.clip(y / (1e-9 + y.std()), -3, 3))).astype(float)
    weights = [None, rng.integers(1, 4, n_rows), rng.uniform(0.1, 2.0, n_rows)]
    for kind, weight in enumerate(weights):
        data = problem(X, y, 0, weight)
        how = {"criterion": criterion, "seed": n_rows, "bag_size": n_rows, "max_depth": 8}
        family = [("axis", 3), ("signs", 5, 12), ("combination", 5, 2)][kind]
        forests = [grow_by(search, data, family, **how) for search in ("exact", "auto")]
        assert differing_arrays(*forests) == []


def test_poisson_by_bins_equals_exact_when_the_best_cut_hides_inside_a_bin() -> None:
    """Each bin holds a crowd of rows: a bound that is a little too low loses the cut inside."""
    n_hidden = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(600, 2000))
        z = np.sort(rng.random(n))
        y = rng.poisson(np.exp(3 * z - rng.uniform(0, 3))).astype(float)
        if seed % 2:
            y = y * rng.random(n)
        n_crowds = int(rng.integers(1, 5))
        crowd = np.floor(z * n_crowds)
        hidden = crowd + (z - crowd / n_crowds) * 1e-4
        hidden[rng.integers(n)] += 10.0
        rival = z + rng.normal(size=n) * 10.0 ** rng.uniform(-4, -2)
        data = problem(np.column_stack([rival, hidden]), y + (np.arange(n) == 0), 0)
        how = {"criterion": "poisson", "seed": seed, "max_depth": 2, "bag_size": n * (seed % 2)}
        forests = [grow_by(s, data, ("axis", 2), n_trees=1, **how) for s in ("exact", "auto")]
        assert differing_arrays(*forests) == []
        n_hidden += forests[0].arrays["entry_index"][0] == 1
    assert 3 < n_hidden < 27


@pytest.mark.parametrize("criterion", CRITERIA)
def test_single_tree_equals_that_of_scikit_learn_where_no_gains_are_tied(criterion: str) -> None:
    """Continuous targets: no two cuts have the same gain, but for chance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = np.exp(X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=300))
    weight = rng.uniform(0.5, 2.0, 300)
    ours = ObliqueForestRegressor(
        1,
        projection="axis",
        n_projections="p",
        criterion=criterion,
        bootstrap=False,
        max_depth=4,
        scale=None,
        random_state=0,
    ).fit(X, y, weight)
    theirs = DecisionTreeRegressor(criterion=criterion, max_depth=4, random_state=0)
    assert ours.predict(X) == pytest.approx(theirs.fit(X, y, weight).predict(X), rel=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_prediction_is_the_mean_of_the_trees_predictions(criterion: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = np.abs(X[:, 0]) + rng.random(80)
    forest = ObliqueForestRegressor(
        7, projection="sparse", criterion=criterion, min_samples_leaf=5, random_state=0
    ).fit(X, y)
    values = forest.forest_.leaf_value
    leaves = forest.apply(X) + forest.forest_.tree_offset[:-1]
    assert forest.predict(X) == pytest.approx(values[leaves].mean(axis=1), rel=1e-12)


def test_heavy_weights_far_from_the_median_give_the_best_cut() -> None:
    """Light rows crowd around the median, heavy ones on either side: the median crosses them all
    at every step."""
    rng = np.random.default_rng(0)
    n = 600
    y = np.where(np.arange(n) % 2 == 0, rng.normal(size=n), rng.choice([-100.0, 100.0], n))
    weight = np.where(np.abs(y) > 50, 1e6, 1.5)
    data = problem(rng.normal(size=(n, 1)), y, 0, weight)
    how = options(("axis", 1), criterion="absolute_error", max_depth=1)
    node, rows, naive = naive_nodes(next(grow(data, how).trees), data, how)[0]
    best = best_gain(naive, numeric_masks(data.X[rows, 0]), Rules())
    assert float(node.gain) == pytest.approx(best, rel=1e-6)
