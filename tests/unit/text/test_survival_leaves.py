"""Leaves of survival trees in words: medians, events and rows are those of the rows in them."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueSurvivalForest
from bevel.analysis import kaplan_meier, path_rules
from bevel.datasets import weibull


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return weibull(120, 5, random_state=0)


@pytest.fixture(scope="module")
def forest(data: tuple) -> ObliqueSurvivalForest:
    return ObliqueSurvivalForest(2, bootstrap=False, max_depth=3, random_state=0).fit(*data)


def median_of(y: np.ndarray) -> float:
    curve = kaplan_meier(y)
    below = np.flatnonzero(curve.y <= 0.5)
    return float(curve.x[below[0]]) if len(below) else np.inf


def test_leaf_has_the_median_and_the_events_of_its_rows(
    data: tuple, forest: ObliqueSurvivalForest
) -> None:
    X, y = data
    leaves = forest.apply(X)[:, 0]
    table = forest.forest_.tree(0).rules().to_pandas().set_index("node")
    for leaf in np.unique(leaves):
        own = y[leaves == leaf]
        line = table.loc[leaf]
        assert line["median"] == pytest.approx(median_of(own))
        assert line["event_times"] == len(np.unique(own["time"][own["event"]]))
        assert line["survival_at_end"] == pytest.approx(kaplan_meier(own).y[-1], abs=1e-6)
        assert line["rows"] == len(own)


def test_pruned_node_has_the_mean_curve_of_its_leaves(
    data: tuple, forest: ObliqueSurvivalForest
) -> None:
    X, y = data
    leaves = forest.apply(X)[:, 0]
    names, counts = np.unique(leaves, return_counts=True)
    times = forest.event_times_
    curves = np.array([kaplan_meier(y[leaves == leaf])(times) for leaf in names])
    mean = counts @ curves / counts.sum()
    root = forest.forest_.tree(0).rules(max_depth=1).to_dict()
    expected = times[np.flatnonzero(mean <= 0.5)[0]] if mean[-1] <= 0.5 else None
    assert root["median"] == pytest.approx(expected)
    assert root["survival_at_end"] == pytest.approx(mean[-1], abs=1e-6)


def test_text_of_a_tree_and_of_a_path_tells_median_events_and_rows(
    data: tuple, forest: ObliqueSurvivalForest
) -> None:
    text = str(forest.forest_.tree(0))
    assert "median survival" in text
    assert "events at" in text
    assert "median survival" in str(path_rules(forest, data[0][:1]))


def test_leaf_whose_curve_stays_above_one_half_says_so() -> None:
    time, event = np.arange(1.0, 11.0), np.arange(10) == 2
    forest = ObliqueSurvivalForest(1, bootstrap=False).fit(np.zeros((10, 1)), (time, event))
    text = str(forest.forest_.tree(0))
    assert "median survival not reached, 88 % left, events at 1 time, 10 rows" in text
    assert forest.forest_.tree(0).rules().to_dict()["median"] is None


def test_slim_forest_knows_the_curves_of_its_leaves_only(
    forest: ObliqueSurvivalForest,
) -> None:
    table = forest.slim().forest_.tree(0).rules().to_pandas()
    whole = forest.forest_.tree(0).rules().to_pandas()
    is_leaf = (whole["split"] == "").to_numpy()
    np.testing.assert_array_equal(table["median"][is_leaf], whole["median"][is_leaf])
    assert table["median"][~is_leaf].isna().all()
