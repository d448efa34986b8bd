"""Survival trees of rows that enter late and of competing risks, against the definitions.

Trees are given all columns at each node. The statistics and the curves come from
`support.naive.survival`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.naive import survival as plain

from bevel import ObliqueSurvivalForest
from bevel import projections as P
from bevel.analysis import concordance_index, kaplan_meier, neighbour_survival

SEEDS = range(4)


class Data:
    """A small random problem with ties in time, late entries and causes."""

    def __init__(self, seed: int, weights: str, *, late: bool, n_causes: int) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 40))
        self.X = rng.normal(size=(n, 3)).astype(np.float32).astype(float)
        self.X[:, 1] = rng.integers(0, 4, n)
        self.X[rng.random(n) < 0.2, 0] = np.nan
        self.time = np.maximum(1, rng.exponential(8, n).round())
        self.cause = rng.integers(0, n_causes + 1, n)
        self.cause[0] = n_causes
        self.event = self.cause > 0
        self.entry = np.floor(self.time * rng.random(n)) if late else None
        if self.entry is not None:
            self.entry[::3] = 0.0
        self.n_causes = n_causes
        self.sample_weight = {"none": None, "whole": rng.integers(1, 4, n), "real": rng.random(n)}[
            weights
        ]
        if self.sample_weight is not None:
            self.sample_weight = self.sample_weight + 0.25 * (weights == "real")

    @property
    def y(self) -> tuple[np.ndarray, ...]:
        event = self.cause if self.n_causes > 1 else self.event
        return (self.time, event) if self.entry is None else (self.entry, self.time, event)

    def fit(self, **parameters: Any) -> ObliqueSurvivalForest:
        given = {"projection": "axis", "n_projections": "p", **parameters}
        forest = ObliqueSurvivalForest(2, competing_risks=self.n_causes > 1, **given)
        return forest.fit(self.X, self.y, self.sample_weight)

    def statistic(self, criterion: str, rows: np.ndarray, w: np.ndarray, left: Any) -> float:
        time, weight = self.time[rows], w[rows]
        entry = None if self.entry is None else self.entry[rows]
        if criterion == "log_rank_score":
            return plain.score_statistic(time, self.event[rows], weight, left, entry)
        whole = self.sample_weight is None or bool((self.sample_weight % 1 == 0).all())
        causes = range(1, self.n_causes + 1)
        given = {"whole": whole, "entry": entry}
        return sum(
            plain.log_rank(time, self.cause[rows] == cause, weight, left, **given)
            for cause in causes
        )


def rows_of_nodes(
    forest: ObliqueSurvivalForest, data: Data, tree: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of the bag in each node of a tree, and their weights."""
    indicator, first = forest.decision_path(data.X)
    weights = None if data.sample_weight is None else data.sample_weight.astype(float)
    weight = forest.fitted_forest_.provenance.bags.counts(tree, weights).astype(float)
    weight = weight if weights is None else weight * weights
    dense = indicator.toarray()[:, first[tree] : first[tree + 1]].astype(bool)
    return [(np.flatnonzero(column & (weight > 0)), weight) for column in dense.T]


CASES = {
    "late": (True, 1, "log_rank"),
    "late, scores": (True, 1, "log_rank_score"),
    "causes": (False, 2, "log_rank"),
    "late causes": (True, 3, "log_rank"),
}


@pytest.mark.parametrize(("late", "n_causes", "criterion"), CASES.values(), ids=list(CASES))
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_tree_takes_the_best_cut_and_leaves_the_plain_hazards(
    late: bool, n_causes: int, criterion: str, weights: str
) -> None:
    for seed in SEEDS:
        data = Data(seed, weights, late=late, n_causes=n_causes)
        forest = data.fit(
            criterion=criterion,
            min_samples_leaf=1 + seed % 3,
            min_samples_split=2,
            bootstrap=seed % 2 == 0,
            random_state=seed,
        )
        least = 1 + seed % 3
        for number, tree in enumerate(forest.forest_):
            nodes = rows_of_nodes(forest, data, number)
            for node, (rows, w) in enumerate(nodes):
                if tree.children_right[node] < 0:
                    assert_leaf(forest, data, tree, node, rows, w)
                    continue
                masks = [m for f in range(3) for m in plain.cuts(data.X[rows, f])]
                allowed = [m for m in masks if least <= m.sum() <= len(rows) - least]
                best = max(data.statistic(criterion, rows, w, m) for m in allowed)
                left = np.isin(rows, nodes[node + 1][0])
                found = data.statistic(criterion, rows, w, left)
                assert tree.gain[node] == pytest.approx(found, rel=1e-5, abs=1e-5)
                assert found == pytest.approx(best, rel=1e-9, abs=1e-9)


def assert_leaf(
    forest: ObliqueSurvivalForest, data: Data, tree: Any, node: int, rows: np.ndarray, w: np.ndarray
) -> None:
    index, jump = tree.entries(node)
    entry = None if data.entry is None else data.entry[rows]
    time, seen = index // data.n_causes, index % data.n_causes
    for cause in range(data.n_causes):
        of_cause = data.cause[rows] == cause + 1
        expected = plain.hazard_jumps(data.time[rows], of_cause, w[rows], entry)
        own = seen == cause
        assert forest.event_times_[time[own]].tolist() == list(expected)
        np.testing.assert_allclose(jump[own], list(expected.values()), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:times should be at most")  # some are later
@pytest.mark.parametrize("late", [False, True], ids=["seen from the start", "late"])
def test_incidences_are_those_of_the_leaves_and_add_up(late: bool) -> None:
    for seed in SEEDS:
        data = Data(seed, "none", late=late, n_causes=2)
        forest = data.fit(min_samples_leaf=4, bootstrap=False, random_state=seed)
        times = np.unique([1.0, 2.5, 6.0, 30.0, *forest.event_times_[::3]])
        leaves = forest.apply(data.X)
        found = [
            forest.predict_cumulative_incidence_function(data.X, cause, times, return_array=True)
            for cause in (1, 2)
        ]
        survival = forest.predict_survival_function(data.X, times, return_array=True)
        np.testing.assert_allclose(found[0] + found[1] + survival, 1.0, atol=1e-6)
        for row in range(0, len(data.X), 5):
            for cause in (1, 2):
                curves = []
                for tree in range(2):
                    rows = leaves[:, tree] == leaves[row, tree]
                    entry = None if data.entry is None else data.entry[rows]
                    own = (data.time[rows], data.cause[rows], np.ones(rows.sum()))
                    curves.append(plain.incidence(*own, cause, times, entry))
                expected = np.mean(curves, axis=0)
                np.testing.assert_allclose(found[cause - 1][row], expected, atol=1e-6)


def test_cox_direction_is_that_of_the_rows_at_risk() -> None:
    """One Newton step from 0 with the ridge penalty, standardised features, from the definition."""
    rng = np.random.default_rng(0)
    n, p = 80, 3
    X = rng.normal(size=(n, p)).astype(np.float32).astype(float)
    time = np.maximum(1.0, rng.exponential(9, n).round())
    event, entry = rng.random(n) < 0.6, np.floor(time * rng.random(n))
    entry[::4] = 0.0
    forest = ObliqueSurvivalForest(
        1,
        projection=P.Cox(n_features=p),
        bootstrap=False,
        max_depth=1,
        scale=None,
        min_samples_leaf=1,
        random_state=0,
    ).fit(X, (entry, time, event))
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    gradient, information = np.zeros(p), np.eye(p)
    for t in np.unique(time[event]):
        some = z[plain.rows_at_risk(time, entry, t)]
        d = np.count_nonzero(event & (time == t))
        gradient += z[event & (time == t)].sum(axis=0) - d * some.mean(axis=0)
        information += d * (
            some.T @ some / len(some) - np.outer(some.mean(axis=0), some.mean(axis=0))
        )
    expected = np.linalg.solve(information, gradient) / X.std(axis=0)
    features, weights = forest.forest_.tree(0).projection(0)
    found = np.zeros(p)
    found[features] = weights
    np.testing.assert_allclose(
        found / found[np.abs(found).argmax()],
        expected / expected[np.abs(expected).argmax()],
        rtol=1e-4,
    )


def test_concordance_and_curves_count_rows_from_their_entry_on() -> None:
    for seed in SEEDS:
        data = Data(seed, "none", late=True, n_causes=1)
        risk = np.random.default_rng(seed).normal(size=len(data.X)).round(1)
        expected = plain.concordance(data.time, data.event, risk, data.entry)
        assert concordance_index(data.y, risk) == pytest.approx(expected, nan_ok=True)
        jumps = plain.hazard_jumps(data.time, data.event, np.ones(len(risk)), data.entry)
        times = np.array(list(jumps))
        np.testing.assert_allclose(
            kaplan_meier(data.y)(times),
            np.cumprod(1.0 - np.array(list(jumps.values()))),
            atol=1e-12,
        )


def test_neighbours_of_one_leaf_give_the_curve_of_all_rows() -> None:
    data = Data(1, "none", late=True, n_causes=1)
    forest = data.fit(max_depth=1, min_samples_leaf=len(data.X), bootstrap=False)
    found = neighbour_survival(forest, data.X, data.y, data.X[:1])
    np.testing.assert_allclose(found[0], kaplan_meier(data.y)(forest.event_times_), atol=1e-9)


def test_entries_at_zero_change_nothing() -> None:
    data = Data(2, "none", late=False, n_causes=1)
    one = data.fit(random_state=0)
    data.entry = np.zeros(len(data.X))
    other = data.fit(random_state=0)
    for name, array in one.forest_.arrays().items():
        np.testing.assert_array_equal(array, getattr(other.forest_, name), err_msg=name)
