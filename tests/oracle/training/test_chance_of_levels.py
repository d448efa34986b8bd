"""Nominal columns of many levels gain what they gain beyond the same levels on shuffled rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from support.forests import Problem, Tree, bag_rows, grow, problem
from support.naive.random_stream import child_key, mix, root_key, shuffled
from support.naive.splitter import NaiveNode
from support.split_problems import single_columns

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)

FEW_LEVELS = 8
SEED = 5


def many_levels(rng: np.random.Generator, n_classes: int, weighted: bool) -> Problem:
    """One nominal column, which says something about the target for every other table."""
    n, n_levels = int(rng.integers(20, 120)), int(rng.integers(9, 40))
    codes = rng.integers(0, n_levels, n)
    signal = (codes % 3 if rng.integers(2) else 0) + rng.normal(size=n)
    y = np.digitize(signal, [0.5, 1.5][: n_classes - 1]) if n_classes else signal.round(2)
    weights = rng.uniform(0.5, 2.0, n).round(1) if weighted else None
    y = y.astype(int if n_classes else float)
    return problem(codes[:, None], y, n_classes, weights, [n_levels])


def lower_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][2 * below >= below[-1] - 1e-9][0])


def best_prefix(node: NaiveNode, codes: np.ndarray) -> float:
    """The best gain of the first levels in the order of their mean, or median, target."""
    levels = np.unique(codes)
    centre = lower_median if node.criterion == "absolute_error" else np.average
    keys = [centre(node.target[codes == a], weights=node.weight[codes == a]) for a in levels]
    order = levels[np.argsort(keys, kind="stable")]
    return float(
        node.gain(np.array([np.isin(codes, order[:k]) for k in range(1, len(order))])).max()
    )


def gain_beyond_chance(node: NaiveNode, codes: np.ndarray, key: int) -> float:
    """The best gain of the levels of a node, less what they gain on shuffled rows."""
    gain, k = best_prefix(node, codes), len(np.unique(codes))
    if k <= FEW_LEVELS:
        return gain
    order = shuffled(mix(key), len(codes))  # of the candidate 0
    other = NaiveNode(node.target[order], node.weight[order], node.n_classes, node.criterion)
    return gain - (1 + 2.8 / np.sqrt(k)) * (1 - FEW_LEVELS / k) * best_prefix(other, codes)


def keys_of(tree: Tree, seed: int) -> list[int]:
    keys = [root_key(seed, tree.number)] * tree.n_nodes
    for node in tree.nodes:
        if not node.is_leaf:
            left, right = node.children
            keys[left] = child_key(keys[node.number], right=False)
            keys[right] = child_key(keys[node.number], right=True)
    return keys


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_gain_of_many_levels_is_what_they_gain_beyond_chance(criterion, weighted):
    n_split = n_leaves_of_chance = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        data = many_levels(rng, 2 if criterion in ("gini", "entropy") else 0, weighted)
        how = single_columns(data, criterion=criterion, seed=SEED, replace=bool(seed % 2))
        tree = next(grow(data, how).trees)
        rows, weight = bag_rows(data, how, 0)
        passing = tree.rows_of_nodes(data.X, rows)
        for node, here, key in zip(tree.nodes, passing, keys_of(tree, SEED), strict=True):
            naive = NaiveNode(data.target[here], weight[here], data.n_classes, criterion)
            codes = data.X[here, 0]
            if len(np.unique(codes)) < 2 or naive.is_pure:
                assert node.is_leaf
                continue
            gain = gain_beyond_chance(naive, codes, key)
            if node.is_leaf:
                n_leaves_of_chance += 1
                assert gain <= naive.tolerance
            else:
                n_split += 1
                assert node.gain == pytest.approx(gain, rel=1e-5, abs=naive.tolerance)
    assert n_leaves_of_chance > 5
    assert n_split > 20


def with_id(X: pd.DataFrame, rows_per_label: int) -> pd.DataFrame:
    names = np.random.default_rng(0).permutation(len(X)) // rows_per_label
    return X.assign(id=pd.Categorical([f"P{name:05d}" for name in names]))


@pytest.mark.filterwarnings("ignore::bevel.errors.RowNumberWarning")
@pytest.mark.parametrize("rows_per_label", [1, 2, 10])
@pytest.mark.parametrize("model", ["forest", "boosting"])
def test_column_of_labels_that_say_nothing_does_not_harm(model, rows_per_label):
    """Without the correction the forest's AUC falls to 0.50 and its R² to -1.1."""
    if model == "forest":
        settings = {"n_estimators": 60, "random_state": 0}
        classifier, regressor = ObliqueForestClassifier, ObliqueForestRegressor
    else:
        settings = {"random_state": 0}
        classifier, regressor = ObliqueBoostingClassifier, ObliqueBoostingRegressor
    X, y = load_breast_cancer(as_frame=True, return_X_y=True)
    a, b, y_a, y_b = train_test_split(with_id(X, rows_per_label), y, random_state=0)
    plain = classifier(**settings).fit(a.drop(columns="id"), y_a)
    named = classifier(**settings).fit(a, y_a)
    score = roc_auc_score(y_b, named.predict_proba(b)[:, 1])
    assert score > roc_auc_score(y_b, plain.predict_proba(b.drop(columns="id"))[:, 1]) - 0.01
    X, y = load_diabetes(as_frame=True, return_X_y=True)
    a, b, y_a, y_b = train_test_split(with_id(X, rows_per_label), y, random_state=0)
    plain = regressor(**settings).fit(a.drop(columns="id"), y_a)
    assert (
        regressor(**settings).fit(a, y_a).score(b, y_b)
        > plain.score(b.drop(columns="id"), y_b) - 0.05
    )
