"""Splits, leaves and predictions of several outputs against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight
from tests.support.naive.several_outputs import Impurity, best_gain, indicators, standardised

from bevel import ObliqueForestClassifier, ObliqueForestRegressor

CRITERIA = ["squared_error", "gini", "entropy"]


def problem(seed, *, n=40, ties=True, missing=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if ties:
        X = np.round(X * 2.0) / 2.0
    X[:, 2] = 1.0  # a constant column
    latent = np.nan_to_num(X[:, 0]) + rng.normal(size=n) * 0.3
    y = np.column_stack([latent, 1e3 * X[:, 1] + 5.0, rng.normal(size=n), np.full(n, 0.1)])
    if missing:
        X[rng.random((n, 3)) < 0.2] = np.nan
    return X, y


def labels_of(y):
    return np.column_stack(
        [
            (y[:, 0] > 0).astype(int),
            np.digitize(y[:, 1], [-500.0, 300.0]),
            (y[:, 2] > 1).astype(int),
        ]
    )


def grown(criterion, X, y, weights, **settings):
    common = {"projection": "axis", "n_projections": X.shape[1], "scale": None, "bootstrap": False}
    common |= {"criterion": criterion, "random_state": 1, "n_jobs": 1} | settings
    kind = ObliqueForestRegressor if criterion == "squared_error" else ObliqueForestClassifier
    return kind(2, **common).fit(X, y, sample_weight=weights)


def targets_of(criterion, y, weights):
    """What is fitted, and the columns whose means make the impurity."""
    if criterion == "squared_error":
        return y, standardised(y, weights)
    labels = labels_of(y)
    return labels, indicators(labels)


def node_rows(forest, X, tree):
    """Training rows of each node of a tree."""
    path, offset = forest.decision_path(X)
    own = path[:, offset[tree] : offset[tree + 1]].toarray().astype(bool)
    return [np.flatnonzero(own[:, node]) for node in range(own.shape[1])]


def check_nodes(forest, X, weights, impurity, least=1, stops=False):
    """Every split removes as much as the best cut does, and no leaf could be cut."""
    for tree in range(2):
        view = forest.forest_.tree(tree)
        for node, rows in enumerate(node_rows(forest, X, tree)):
            rows = rows[weights[rows] > 0]
            best = best_gain(X, rows, weights, impurity, least)
            scale = 1e-6 * weights[rows].sum() + 1e-6 * best
            assert abs(view.gain[node] - best) <= scale or (view.children_right[node] < 0), node
            if view.children_right[node] < 0:
                is_pure = np.ptp(impurity.columns[rows], axis=0).max() < 1e-12
                cuttable = np.any(np.nanmax(X[rows], 0) > np.nanmin(X[rows], 0)) if len(rows) else 0
                assert is_pure or not cuttable or least > 1 or stops or best <= scale


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weighting", ["none", "whole", "real"])
@pytest.mark.parametrize("search", ["auto", "exact"])
def test_splits_of_axis_forests_are_the_best_of_all_cuts(criterion, missing, weighting, search):
    for seed in range(3):
        X, y = problem(seed, missing=missing)
        rng = np.random.default_rng(seed)
        weights = {
            "none": np.ones(len(X)),
            "whole": rng.integers(0, 4, len(X)).astype(float),
            "real": rng.exponential(size=len(X)),
        }[weighting]
        target, columns = targets_of(criterion, y, weights)
        forest = grown(
            *(criterion, X, target, None if weighting == "none" else weights), split_search=search
        )
        check_nodes(forest, X, weights, Impurity(criterion, columns))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_splits_keep_the_least_number_of_rows_on_either_side(criterion):
    X, y = problem(5)
    weights = np.ones(len(X))
    target, columns = targets_of(criterion, y, weights)
    forest = grown(criterion, X, target, None, min_samples_leaf=7)
    check_nodes(forest, X, weights, Impurity(criterion, columns), least=7)
    assert min(len(rows) for rows in node_rows(forest, X, 0)) >= 7


@pytest.mark.filterwarnings("ignore::bevel.errors.LeakWarning")  # a column is an output
@pytest.mark.parametrize("criterion", ["squared_error", "gini"])
def test_large_nodes_are_searched_as_small_ones_are(criterion):
    X, y = problem(3, n=700)
    weights = np.ones(len(X))
    target, columns = targets_of(criterion, y, weights)
    forest = grown(criterion, X, target, None, max_depth=2)
    check_nodes(forest, X, weights, Impurity(criterion, columns), stops=True)


@pytest.mark.parametrize("weighting", ["none", "real"])
def test_leaves_hold_the_weighted_means_of_their_rows(weighting):
    X, y = problem(7)
    weights = np.ones(len(X)) if weighting == "none" else np.random.default_rng(0).random(len(X))
    forest = grown("squared_error", X, y, weights, max_depth=3)
    expected = np.zeros_like(y)
    for tree in range(2):
        leaves = forest.apply(X)[:, tree]
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            expected[rows] += weights[rows] @ y[rows] / weights[rows].sum() / 2
    np.testing.assert_allclose(forest.predict(X), expected, rtol=1e-12, atol=1e-9)


def test_leaves_hold_the_weighted_shares_of_all_outputs():
    X, y = problem(7)
    labels, weights = labels_of(y), np.random.default_rng(0).random(len(X))
    forest = grown("gini", X, labels, weights, max_depth=3)
    probabilities = forest.predict_proba(X)
    for k, classes in enumerate(forest.classes_):
        expected = np.zeros((len(X), len(classes)))
        for tree in range(2):
            leaves = forest.apply(X)[:, tree]
            for leaf in np.unique(leaves):
                rows = leaves == leaf
                share = weights[rows] @ (labels[rows, k][:, None] == classes) / weights[rows].sum()
                expected[rows] += share / 2
        np.testing.assert_allclose(probabilities[k], expected, atol=1e-6)


@pytest.mark.parametrize("criterion", ["squared_error", "gini"])
def test_gains_of_single_outputs_sum_to_those_of_all(criterion):
    X, y = problem(9)
    target = y if criterion == "squared_error" else labels_of(y)
    forest = grown(criterion, X, target, None)
    variance = np.where(y.var(axis=0) > 1e-12, y.var(axis=0), 1.0)
    units = variance if criterion == "squared_error" else np.ones(target.shape[1])
    parts = [forest.output(k).forest_.gain / units[k] for k in range(target.shape[1])]
    np.testing.assert_allclose(np.sum(parts, axis=0), forest.forest_.gain, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("criterion", ["squared_error", "gini", "entropy"])
def test_two_copies_of_one_target_give_the_forest_of_one(criterion):
    X, y = problem(11, ties=False)
    one = y[:, 0] if criterion == "squared_error" else labels_of(y)[:, 1]
    twice = grown(criterion, X, np.column_stack([one, one]), None)
    once = grown(criterion, X, one, None)
    np.testing.assert_array_equal(twice.apply(X), once.apply(X))
    np.testing.assert_allclose(twice.predict(X)[:, 0], once.predict(X))


def test_units_of_the_targets_do_not_change_the_splits():
    X, y = problem(13)
    one, other = (
        grown("squared_error", X, each, None) for each in (y, y * [1.0, 256.0, 2.0**-20, 4])
    )
    np.testing.assert_array_equal(one.apply(X), other.apply(X))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_nominal_columns_are_cut_along_the_principal_component_of_their_means(criterion):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 5, 80)
    along = np.array([0.3, -1.0, 1.2, -0.4, 0.8])[codes][:, None]  # one component by far
    y = (along + 0.2 * rng.normal(size=(80, 3))) * [1.0, 600.0, 2.0]
    X = codes[:, None].astype(float)
    weights = np.ones(80)
    target, columns = targets_of(criterion, np.column_stack([y, y[:, 0]]), weights)
    forest = grown(criterion, X, target, None, categorical_features=[0], max_depth=1)
    impurity = Impurity(criterion, columns)
    means = np.array([columns[codes == level].mean(axis=0) for level in range(5)])
    counts = np.bincount(codes)
    centred = (means - counts @ means / counts.sum()) * np.sqrt(counts)[:, None]
    order = np.argsort((means - counts @ means / 80) @ np.linalg.svd(centred)[2][0])
    rows, best = np.arange(80), 0.0
    for cut in range(1, 5):
        left = np.isin(codes, order[:cut])
        after = impurity(rows[left], weights) + impurity(rows[~left], weights)
        best = max(best, impurity(rows, weights) - after)
    assert forest.forest_.gain[0] == pytest.approx(best, rel=1e-5)


def balance_of(labels, indices):
    """What scikit-learn multiplies the weights of a tree by: n / (K n_k) of each output."""
    product = np.ones(len(labels))
    for column in labels.T:
        inside = column[indices]
        classes, counts = np.unique(inside, return_counts=True)
        weight = dict(zip(classes, len(inside) / (len(classes) * counts), strict=True))
        product *= [weight.get(label, 0.0) for label in column]
    return product


def bagged_labels(seed, n=60):
    """Three outputs of two, three and four classes, some of them rare."""
    X, y = problem(seed, n=n)
    return X, np.column_stack([labels_of(y)[:, :2], np.digitize(y[:, 2], [-1.7, 0.0, 1.0])])


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("weighting", ["none", "real"])
def test_balanced_bags_of_several_outputs_weigh_rows_as_scikit_learn_does(criterion, weighting):
    for seed in range(4):
        X, labels = bagged_labels(seed)
        weights = np.ones(len(X))
        if weighting == "real":
            weights = np.random.default_rng(seed).exponential(size=len(X))
        forest = grown(
            *(criterion, X, labels, None if weighting == "none" else weights),
            bootstrap=True,
            class_weight="balanced_subsample",
            min_samples_split=2,
            random_state=seed,
        )
        impurity = Impurity(criterion, indicators(labels))
        expected = [np.zeros((len(X), len(classes))) for classes in forest.classes_]
        for tree in range(2):
            counts = forest.fitted_forest_.provenance.bags.counts(tree, weights)
            indices = np.repeat(np.arange(len(X)), counts)
            balance = compute_sample_weight("balanced", labels, indices=indices)
            np.testing.assert_allclose(balance, balance_of(labels, indices), rtol=1e-12)
            own = weights * counts * balance
            own *= counts.sum() / (counts * balance).sum()
            view = forest.forest_.tree(tree)
            for node, rows in enumerate(node_rows(forest, X, tree)):
                rows = rows[own[rows] > 0]
                assert view.weight[node] == pytest.approx(own[rows].sum(), rel=1e-5)
                best = best_gain(X, rows, own, impurity, 1)
                if view.children_right[node] >= 0:
                    assert view.gain[node] == pytest.approx(best, rel=1e-5, abs=1e-6)
            leaves = forest.apply(X)[:, tree]
            for leaf in np.unique(leaves):
                rows = leaves == leaf
                for k, classes in enumerate(forest.classes_):
                    share = own[rows] @ (labels[rows, k][:, None] == classes) / own[rows].sum()
                    expected[k][rows] += share / 2
        for one, other in zip(forest.predict_proba(X), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_balanced_bags_of_two_equal_outputs_weigh_by_the_square():
    X, labels = bagged_labels(2)
    one = labels[:, 2]
    twice = grown(
        *("gini", X, np.column_stack([one, one]), None),
        bootstrap=True,
        class_weight="balanced_subsample",
        max_depth=1,
    )
    for tree in range(2):
        counts = twice.fitted_forest_.provenance.bags.counts(tree)
        indices = np.repeat(np.arange(len(X)), counts)
        weight = balance_of(one[:, None], indices) ** 2 * counts
        weight *= counts.sum() / weight.sum()
        inside = node_rows(twice, X, tree)[1]
        assert twice.forest_.tree(tree).weight[1] == pytest.approx(weight[inside].sum(), rel=1e-5)


def test_balanced_bags_of_very_many_outputs_are_finite():
    """The product of the weights of 400 outputs is beyond all floats."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    rare = (rng.random((200, 400)) < 0.03).astype(int)
    rare[0], rare[1] = 0, 1
    rare[2::3] = rare[1]
    forest = grown("gini", X, rare, None, bootstrap=True, class_weight="balanced_subsample")
    assert np.isfinite(forest.forest_.weight).all()
    assert (forest.forest_.weight > 0).all()
    np.testing.assert_allclose(forest.forest_.weight[forest.forest_.tree_offset[:-1]], 200.0)
    probabilities = np.stack(forest.predict_proba(X))
    np.testing.assert_allclose(probabilities.sum(axis=2), 1.0, rtol=1e-6)


def test_balanced_bags_without_bags_are_balanced_as_a_whole():
    X, labels = bagged_labels(1)
    one, other = (
        grown("gini", X, labels, None, class_weight=weight)
        for weight in ("balanced", "balanced_subsample")
    )
    for name, array in one.forest_.arrays().items():
        np.testing.assert_array_equal(array, getattr(other.forest_, name), err_msg=name)


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("class_weight", [None, "balanced", "balanced_subsample"])
@pytest.mark.parametrize("weighting", ["none", "real", "zeros"])
def test_out_of_bag_estimates_of_several_outputs_are_those_of_the_trees_that_missed_a_row(
    voting, class_weight, weighting
):
    """Tree by tree: shares of the rows of its bag in the leaf, for rows that are not in the bag."""
    n_trees = 15
    X, labels = bagged_labels(4, n=90)
    weights = np.random.default_rng(1).exponential(size=len(X))
    weights = {"none": np.ones(len(X)), "real": weights, "zeros": np.where(X[:, 0] > 1, 0, weights)}
    weights = weights[weighting]
    forest = ObliqueForestClassifier(
        n_trees,
        projection="axis",
        class_weight=class_weight,
        voting=voting,
        min_samples_leaf=3,
        bootstrap=True,
        oob_score=True,
        random_state=0,
    ).fit(X, labels, sample_weight=None if weighting == "none" else weights)
    if class_weight == "balanced":
        weights = weights * balance_of(labels, np.arange(len(X)))
    sums = [np.zeros((len(X), len(classes))) for classes in forest.classes_]
    n_out = np.zeros(len(X))
    leaves = forest.apply(X)
    for tree in range(n_trees):
        counts = forest.fitted_forest_.provenance.bags.counts(tree, weights)
        own = weights * counts
        if class_weight == "balanced_subsample":
            own = own * balance_of(labels, np.repeat(np.arange(len(X)), counts))
        for row in np.flatnonzero(counts == 0):
            n_out[row] += 1
            inside = leaves[:, tree] == leaves[row, tree]
            for k, classes in enumerate(forest.classes_):
                share = own[inside] @ (labels[inside, k][:, None] == classes) / own[inside].sum()
                if voting == "hard":  # of equal shares, but for rounding, the first
                    share = np.eye(len(classes))[share.round(6).argmax()]
                sums[k][row] += share
    known = n_out > 0
    decided = np.empty((known.sum(), 3), dtype=int)
    for k, each in enumerate(forest.oob_decision_function_):
        assert each.shape == (90, [2, 3, 4][k])
        np.testing.assert_allclose(each[known], sums[k][known] / n_out[known, None], atol=1e-6)
        assert np.isnan(each[~known]).all()
        decided[:, k] = forest.classes_[k][each[known].argmax(axis=1)]
    assert forest.oob_score_ == (decided == labels[known]).all(axis=1).mean()
