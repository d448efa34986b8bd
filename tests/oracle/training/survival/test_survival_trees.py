"""Every split of a survival tree has the best statistic that there is, and leaves the plain curves.

Trees are given all columns at each node. The statistics and the curves come from their definitions,
see `support.naive.survival`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.naive import survival as plain

from bevel import ObliqueSurvivalForest
from bevel.data.survival import survival_array

SEEDS = range(4)


class Data:
    """A small random problem with ties in time and in the features, and constant columns."""

    def __init__(self, seed: int, weights: str = "none", *, missing: bool, nominal: bool) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 40))
        X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)
        X[:, 1] = rng.integers(0, 4, n)
        X[:, 2] = 1.5
        if missing:
            X[rng.random(n) < 0.2, 0] = np.nan
            X[rng.random(n) < 0.2, 1] = np.nan
        if nominal:
            X[:, 3] = rng.integers(0, 5, n)
        self.X, self.nominal = X, [3] if nominal else []
        self.time = np.maximum(1, rng.exponential(8, n).round())
        self.event = rng.random(n) < 0.6
        self.event[0] = True
        self.sample_weight = {
            "none": None,
            "whole": rng.integers(0, 4, n).astype(float),
            "real": rng.random(n) + 0.1,
        }[weights]
        if self.sample_weight is not None:
            self.sample_weight[0] = max(1.0, self.sample_weight[0])

    def fit(self, **parameters: Any) -> ObliqueSurvivalForest:
        forest = ObliqueSurvivalForest(
            n_estimators=2,
            projection="axis",
            n_projections="p",
            categorical_features=self.nominal,
            **parameters,
        )
        return forest.fit(self.X, (self.time, self.event), self.sample_weight)


def rows_of_nodes(
    forest: ObliqueSurvivalForest, data: Data, tree: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of the bag in each node of a tree, and their weights."""
    indicator, first = forest.decision_path(data.X)
    bags = forest.fitted_forest_.provenance.bags
    weight = bags.counts(tree, data.sample_weight).astype(float)
    if data.sample_weight is not None:
        weight = weight * data.sample_weight
    dense = indicator.toarray()[:, first[tree] : first[tree + 1]].astype(bool)
    return [(np.flatnonzero(column & (weight > 0)), weight) for column in dense.T]


def statistic(data: Data, criterion: str, rows: np.ndarray, w: np.ndarray, left: Any) -> float:
    time, event, weight = data.time[rows], data.event[rows], w[rows]
    if criterion == "log_rank_score":
        return plain.score_statistic(time, event, weight, left)
    whole = data.sample_weight is None or bool((data.sample_weight % 1 == 0).all())
    return plain.log_rank(time, event, weight, left, whole=whole)


def all_cuts(data: Data, rows: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
    masks = []
    for feature in range(data.X.shape[1]):
        values = data.X[rows, feature]
        if feature in data.nominal:
            scores = plain.log_rank_scores(data.time[rows], data.event[rows], w[rows])
            masks += plain.level_cuts(values, scores, w[rows])
        else:
            masks += plain.cuts(values)
    return masks


def assert_splits_are_the_best(
    forest: ObliqueSurvivalForest, data: Data, criterion: str, least: int
) -> None:
    for number, tree in enumerate(forest.forest_):
        nodes = rows_of_nodes(forest, data, number)
        for node, (rows, w) in enumerate(nodes):
            right = tree.children_right[node]
            masks = all_cuts(data, rows, w)
            allowed = [m for m in masks if least <= m.sum() <= len(rows) - least]
            best = max((statistic(data, criterion, rows, w, m) for m in allowed), default=0.0)
            if right < 0:
                small = len(rows) < 2 * least or len(rows) < 2
                assert small or best < 1e-9 or not data.event[rows].any()
                continue
            left = np.isin(rows, nodes[node + 1][0])
            found = statistic(data, criterion, rows, w, left)
            assert tree.gain[node] == pytest.approx(found, rel=1e-5, abs=1e-5)
            assert found == pytest.approx(best, rel=1e-9, abs=1e-9)


def assert_leaves_are_the_plain_curves(forest: ObliqueSurvivalForest, data: Data) -> None:
    times = forest.event_times_
    for number, tree in enumerate(forest.forest_):
        for node, (rows, w) in enumerate(rows_of_nodes(forest, data, number)):
            if tree.children_right[node] >= 0:
                continue
            index, jump = tree.entries(node)
            expected = plain.hazard_jumps(data.time[rows], data.event[rows], w[rows])
            assert times[index].tolist() == list(expected)
            np.testing.assert_allclose(jump, list(expected.values()), rtol=1e-6)
            mortality = sum(h * np.sum(times >= t) for t, h in expected.items())
            value = forest.forest_.leaf_value[tree.nodes][node]
            assert value == pytest.approx(mortality, rel=1e-5)


@pytest.mark.parametrize("criterion", ["log_rank", "log_rank_score"])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "with_nan"])
def test_survival_tree_takes_the_best_cut_of_each_node(
    criterion: str, weights: str, missing: bool
) -> None:
    for seed in SEEDS:
        data = Data(seed, weights, missing=missing, nominal=False)
        least = 1 + seed % 3
        forest = data.fit(
            criterion=criterion,
            min_samples_leaf=least,
            min_samples_split=2,
            bootstrap=seed % 2 == 0,
            random_state=seed,
            split_search="exact" if seed == 0 else "auto",
        )
        assert_splits_are_the_best(forest, data, criterion, least)
        assert_leaves_are_the_plain_curves(forest, data)


@pytest.mark.parametrize("criterion", ["log_rank", "log_rank_score"])
def test_nominal_column_takes_the_best_prefix_of_levels_by_mean_score(criterion: str) -> None:
    for seed in SEEDS:
        data = Data(seed, "none", missing=False, nominal=True)
        forest = data.fit(
            criterion=criterion, min_samples_leaf=1, min_samples_split=2, random_state=seed
        )
        assert_splits_are_the_best(forest, data, criterion, 1)
        assert_leaves_are_the_plain_curves(forest, data)


@pytest.mark.parametrize("criterion", ["log_rank", "log_rank_score"])
def test_search_routes_and_threads_grow_the_same_survival_forest(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6)).round(1)
    X[rng.random(900) < 0.1, 2] = np.nan
    y = (np.maximum(1, rng.exponential(50, 900).round()), rng.random(900) < 0.7)
    forests = [
        ObliqueSurvivalForest(
            3, criterion=criterion, split_search=search, n_jobs=n_jobs, random_state=0
        )
        .fit(X, y)
        .forest_
        for search, n_jobs in (("exact", 1), ("auto", 1), ("auto", 3))
    ]
    for forest in forests[1:]:
        for name, array in forests[0].arrays().items():
            np.testing.assert_array_equal(array, getattr(forest, name), err_msg=name)


def test_log_rank_statistic_is_that_of_scikit_survival() -> None:
    sksurv = pytest.importorskip("sksurv.compare")
    for seed in range(5):
        data = Data(seed, missing=False, nominal=False)
        y = np.array(list(zip(data.event, data.time, strict=True)), dtype=[("e", "?"), ("t", "f8")])
        left = data.X[:, 0] <= np.median(data.X[:, 0])
        statistic, _ = sksurv.compare_survival(y, left)
        ones = np.ones(len(left))
        assert plain.log_rank(data.time, data.event, ones, left) == pytest.approx(statistic)


def rare_indicators(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """A useful column, and three that are 1 in one row each: they vary, but cannot be cut."""
    rng = np.random.default_rng(0)
    X = np.zeros((n, 4))
    X[:, 0] = rng.normal(size=n)
    X[[0, 1, 2], [1, 2, 3]] = 1.0
    return X, survival_array(rng.exponential(size=n) * np.exp(X[:, 0]), np.ones(n, bool))


@pytest.mark.parametrize("criterion", ["log_rank", "log_rank_score"])
def test_nodes_whose_directions_vary_without_an_admissible_cut_are_leaves(criterion: str) -> None:
    """As in random survival forests: one column of four is drawn, and three cannot be cut.

    Null: each of 600 trees is a single leaf with a chance of 3/4. Six standard deviations, 64, are
    exceeded less than once in a million runs.
    """
    X, y = rare_indicators()
    forest = ObliqueSurvivalForest(
        600,
        projection="axis",
        n_projections=1,
        criterion=criterion,
        bootstrap=False,
        min_samples_leaf=3,
        min_samples_split=6,
        random_state=0,
    ).fit(X, y)
    roots = forest.forest_.arrays()["right"][forest.forest_.arrays()["tree_offset"][:-1]]
    assert abs(int((roots < 0).sum()) - 450) < 64


def test_constant_directions_are_drawn_again() -> None:
    X, y = rare_indicators()
    X[:, 1:] = [0.0, 5.0, np.nan]
    forest = ObliqueSurvivalForest(
        50, projection="axis", n_projections=1, bootstrap=False, min_samples_leaf=3, random_state=0
    ).fit(X, y)
    roots = forest.forest_.arrays()["right"][forest.forest_.arrays()["tree_offset"][:-1]]
    assert (roots > 0).all()
