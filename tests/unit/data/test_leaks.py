"""Columns that give the target away, and copies of rows: found where they are, and nowhere else."""

import itertools
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
)
from bevel.data.leaks import find_copies, find_leaks, neighbour_differences
from bevel.errors import LeakWarning

NUMERIC = np.zeros(4, np.int32)


@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_neighbour_differences_are_the_naive_ones(n_classes, nominal, seed):
    rng = np.random.default_rng(seed)
    n = 120
    x = rng.integers(0, 15, n).astype(np.float32)
    if not nominal:
        x[rng.random(n) < 0.1] = np.nan
    y = rng.integers(0, n_classes, n) if n_classes else np.round(rng.normal(size=n), 1)
    ranks = pd.Series(y).rank(method="average").to_numpy()

    def difference(i, j):
        return float(y[i] != y[j]) if n_classes else (ranks[i] - ranks[j]) ** 2

    order = sorted(range(n), key=lambda i: (np.isnan(x[i]), 0.0 if np.isnan(x[i]) else x[i]))
    pairs = list(itertools.pairwise(order))
    if nominal:
        pairs = [(i, j) for i, j in pairs if x[i] == x[j]]
    any_two = np.mean([difference(i, j) for i in range(n) for j in range(n) if i != j])
    naive = np.mean([difference(i, j) for i, j in pairs]) / any_two
    levels = np.array([15 if nominal else 0], np.int32)
    found = neighbour_differences(x[:, None], levels, y, n_classes)
    assert found[0] == pytest.approx(naive, rel=1e-9)


def test_a_nominal_column_of_few_rows_per_level_says_nothing():
    y = np.arange(200) % 2
    x = np.arange(200, dtype=np.float32)
    assert neighbour_differences(x[:, None], np.array([200], np.int32), y, 2)[0] == 1.0


def _noise(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(n, 4)).astype(np.float32)


@pytest.mark.parametrize("kind", ["equal", "renamed", "missing", "cut", "nearly"])
def test_column_that_gives_classes_away_is_found(kind):
    rng, X = _noise()
    y = rng.integers(0, 2, 400)
    X[:, 2] = {
        "equal": y,
        "renamed": 7 - 3 * y,
        "missing": np.where(y == 1, np.nan, rng.normal(size=400)),
        "cut": X[:, 2] + 10 * y,
        "nearly": np.where(np.arange(400) == 5, 1 - y, y),
    }[kind]
    assert find_leaks(X, NUMERIC, y, 2) == [2]


@pytest.mark.parametrize("recode", [np.asarray, np.negative, np.exp])
def test_column_that_gives_numbers_away_is_found(recode):
    rng, X = _noise()
    y = rng.normal(size=400)
    X[:, 1] = recode(y)
    assert find_leaks(X, NUMERIC, y, 0) == [1]


def test_recoded_target_is_found_beside_good_columns():
    rng, X = _noise()
    y = rng.integers(0, 3, 400)
    X[:, 0] = y + rng.normal(0.0, 0.05, 400)
    X[:, 3] = np.array([5, 2, 9])[y]
    X[:, 1] = np.where(np.arange(400) < 20, rng.normal(size=400), y + rng.normal(0.0, 0.1, 400))
    assert find_leaks(X, NUMERIC, y, 3) == [3]


def test_strong_columns_beside_good_ones_are_no_leak():
    rng, X = _noise()
    y = rng.integers(0, 2, 400)
    X[:, 0] = y + rng.normal(0.0, 0.1, 400)
    X[:, 1] = y + rng.normal(0.0, 0.2, 400)
    assert find_leaks(X, NUMERIC, y, 2) == []


@pytest.mark.parametrize("most", [29, 30])
def test_rare_classes_are_judged_from_thirty_rows_on(most):
    _, X = _noise()
    y = (np.arange(400) < most).astype(int)
    X[:, 2] = y
    assert find_leaks(X, NUMERIC, y, 2) == ([2] if most == 30 else [])


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
def test_real_tables_raise_no_alarm(load):
    X, y = load(return_X_y=True)
    classes = 0 if load is load_diabetes else int(y.max()) + 1
    assert find_leaks(X, np.zeros(X.shape[1], np.int32), y, classes) == []
    assert find_copies(X, y) is None


@pytest.mark.parametrize("seed", range(5))
def test_copies_are_counted_as_the_naive_way_does(seed):
    rng, X = _noise(300, seed)
    X = np.hstack([X, rng.normal(size=(300, 4)).astype(np.float32)])
    y = rng.integers(0, 3, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.where(X[:, 3] < 0, -0.0, 0.0)
    rows = np.append(np.arange(300), rng.integers(0, 60, 80))
    X, y = X[rows], y[rows]
    y[300:330] = (y[300:330] + 1) % 3
    mixed = rng.permutation(len(y))
    X, y = X[mixed], y[mixed]
    keys = [tuple(np.nan_to_num(row, nan=99.0) + 0.0) for row in X]
    n_copies = sum(count - 1 for count in Counter(keys).values())
    both = Counter(zip(keys, y.tolist(), strict=True))
    same = sum(count - 1 for count in both.values())
    found = find_copies(X, y)
    assert (found.n_rows, found.same, found.other) == (380, same, n_copies - same)


def test_few_values_per_column_lead_to_equal_rows_without_alarm():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (1000, 5)).astype(np.float32)
    X[:, 4] = X[:, 3]
    assert find_copies(X, rng.integers(0, 2, 1000)) is None


def _table(n=400):
    rng, X = _noise(n)
    y = rng.integers(0, 2, n)
    table = pd.DataFrame(X, columns=list("abcd"))
    cause = np.array(["stroke", "cancer", "fall"], dtype=object)[rng.integers(0, 3, n)]
    table["cause of death"] = pd.Series(cause).where(y == 1, None)
    return table, y


@pytest.mark.parametrize("estimator", [ObliqueForestClassifier(5), ObliqueBoostingClassifier()])
def test_fit_warns_once_of_the_column_and_of_copies(estimator):
    table, y = _table()
    rows = np.append(np.arange(400), np.arange(50))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.set_params(random_state=0, n_jobs=1).fit(table.iloc[rows], y[rows])
    (warning,) = caught
    assert issubclass(warning.category, LeakWarning)
    assert warning.filename == __file__
    text = str(warning.message)
    assert "Column 'cause of death' alone predicts the target almost without error" in text
    assert "50 of 450 rows repeat the features of an earlier row, 50 with the same target" in text


def test_fit_with_groups_does_not_warn_of_copies():
    _, X = _noise()
    y = np.random.default_rng(1).normal(size=400)
    rows = np.append(np.arange(400), np.arange(50))
    ObliqueForestRegressor(5, random_state=0, n_jobs=1).fit(X[rows], y[rows], groups=rows)
    with pytest.warns(LeakWarning, match="50 of 450 rows repeat"):
        ObliqueForestRegressor(5, random_state=0, n_jobs=1).fit(X[rows], y[rows])


def test_survival_forest_warns_of_a_column_that_is_the_time():
    rng, X = _noise()
    time = rng.exponential(size=400) + 0.1
    X[:, 3] = time
    with pytest.warns(LeakWarning, match="Column 3 alone predicts"):
        ObliqueSurvivalForest(5, random_state=0, n_jobs=1).fit(X, (time, rng.random(400) < 0.7))


def test_rows_without_weight_raise_no_alarm():
    _, X = _noise()
    y = np.random.default_rng(1).normal(size=400)
    rows = np.append(np.arange(400), np.arange(50))
    weights = (np.arange(450) < 400).astype(float)
    ObliqueForestRegressor(5, random_state=0, n_jobs=1).fit(X[rows], y[rows], weights)


def test_small_tables_and_single_columns_raise_no_alarm():
    rng, X = _noise(299)
    y = rng.integers(0, 2, 299)
    X[:, 0] = y
    ObliqueForestClassifier(5, random_state=0, n_jobs=1).fit(X, y)
    for width in (1, 2, 3):
        few = rng.normal(size=(400, width))
        ObliqueForestClassifier(5, random_state=0, n_jobs=1).fit(few, few[:, 0] > 0)
