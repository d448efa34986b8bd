"""`honest`: splits are learnt on one part of a bag, and leaves get their values from the other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from tests.support.naive.random_stream import MASK, mix, root_key

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, analysis
from bevel import projections as P
from bevel.forest.bags import Bags
from bevel.forest.flat_forest import check_forest
from bevel.training import trainer

N = 90
SETTINGS = {"n_estimators": 6, "random_state": 3, "scale": None, "projection": "sparse"}


def table(seed: int = 0, n: int = N) -> pd.DataFrame:
    """Ties, a constant column, missing values and a nominal column."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)).astype(np.float32), columns=list("abcd"))
    X["b"] = X["b"].round()
    X["c"] = 1.0
    X.loc[rng.random(n) < 0.1, "d"] = np.nan
    return X.assign(site=rng.choice(list("pqrs"), n))


def classes(seed: int = 0, n: int = N) -> np.ndarray:
    rng, X = np.random.default_rng(seed + 1), table(seed, n)
    score = X["a"] + X["b"] + (X["site"] == "p") + rng.normal(size=n) * 0.5
    return np.digitize(score, [-0.7, 0.7])


def numbers(seed: int = 0, n: int = N) -> np.ndarray:
    return 1000.0 + classes(seed, n) + np.random.default_rng(seed + 2).normal(size=n)


def weights(n: int = N) -> np.ndarray:
    return np.random.default_rng(5).choice([0.0, 0.5, 1.0, 3.0], n)


# The parts of a bag.


def uniform_draws(key: int):
    """The numbers of the stream of the parts of bags, below n each."""
    state = mix(key ^ (9 * 0x9E3779B97F4A7C15 & MASK))
    while True:
        n = yield
        state = (state + 0x9E3779B97F4A7C15) & MASK
        yield mix(state) * n >> 64


def naive_leaf_units(units: list[int], share: float, seed: int, tree: int) -> set[int]:
    """Selection sampling of the units of a bag that give leaves their values."""
    stream = uniform_draws(root_key(seed, tree))
    wanted = min(len(units) - 1, max(1, int(share * len(units) + 0.5)))
    chosen: set[int] = set()
    for place, unit in enumerate(units):
        next(stream)
        if stream.send(len(units) - place) < wanted - len(chosen):
            chosen.add(unit)
    return chosen


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.99])
@pytest.mark.parametrize("replace", [True, False])
def test_part_for_leaves_is_a_share_of_the_rows_of_the_bag(share, replace):
    bags = Bags(40, 40 if replace else 25, replace, 11, leaf_share=share)
    for tree in range(20):
        bag, leaves = bags.counts(tree), bags.leaf_counts(tree)
        rows = np.flatnonzero(bag).tolist()
        chosen = naive_leaf_units(rows, share, 11, tree)
        np.testing.assert_array_equal(
            leaves, np.where(np.isin(np.arange(40), list(chosen)), bag, 0)
        )


def test_all_rows_of_a_group_are_in_one_part():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, N)
    forest = ObliqueForestClassifier(honest=True, **SETTINGS).fit(table(), classes(), groups=groups)
    bags = forest.fitted_forest_.provenance.bags
    for tree in range(6):
        bag, leaves = bags.counts(tree), bags.leaf_counts(tree)
        in_leaves = [set((leaves[(groups == g) & (bag > 0)] > 0).tolist()) for g in range(12)]
        assert all(len(part) < 2 for part in in_leaves)
        assert 0 < sum(part == {True} for part in in_leaves) < sum(map(len, in_leaves))


def test_both_parts_have_rows_that_weigh_anything():
    light = np.zeros(30)
    light[[3, 20]] = 1.0
    for size, tree in ((0, 0), (0, 1), (2, 2), (30, 3)):
        bags = Bags(30, size, True, 4, leaf_share=0.5)
        bag, leaves = bags.counts(tree, light), bags.leaf_counts(tree, light)
        n_weighed = np.count_nonzero(bag * light)
        assert np.count_nonzero(leaves * light) == 1
        assert n_weighed >= 1


# The values of the leaves.


def naive_trees(forest, X, target, weight, balanced):
    """Sums by leaf and class, or output, of the draws of each tree that are for leaves."""
    bags, leaf = forest.fitted_forest_.provenance.bags, forest.apply(X)
    for number, tree in enumerate(forest.forest_):
        counts = bags.leaf_counts(number, weight)
        draws = [0.0] * len(target)
        for row, times in enumerate(counts):
            draws[row] = times * (1.0 if weight is None else weight[row])
        if balanced:
            n_of = {label: sum(counts[target == label]) for label in set(target)}
            present = [label for label in n_of if n_of[label]]
            for row, label in enumerate(target):
                if counts[row]:
                    draws[row] *= sum(counts) / (len(present) * n_of[label])
        yield tree, draws, leaf[:, number]


@pytest.mark.parametrize("case", ["plain", "weighted", "balanced", "all rows", "without", "axis"])
def test_leaves_of_classes_have_the_shares_of_their_part(case):
    X, y = table(), classes()
    weight = weights() if case == "weighted" else None
    how = {
        "balanced": {"class_weight": "balanced_subsample"},
        "all rows": {"bootstrap": False},
        "without": {"replace": False},
        "axis": {"projection": "axis"},
    }.get(case, {})
    forest = ObliqueForestClassifier(honest=0.4, **{**SETTINGS, **how}).fit(X, y, weight)
    check_forest(forest.forest_)
    for tree, draws, leaf in naive_trees(forest, X, y, weight, case == "balanced"):
        for node in range(tree.n_nodes):
            if tree.children_right[node] >= 0:
                continue
            sums = [
                sum(d for d, at, k in zip(draws, leaf, y, strict=True) if at == node and k == c)
                for c in range(3)
            ]
            np.testing.assert_allclose(tree.class_shares(node), np.array(sums) / sum(sums), 1e-6)
            np.testing.assert_allclose(tree.weight[node], sum(sums), 1e-5)
        np.testing.assert_allclose(tree.weight[0], sum(draws), 1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_leaves_of_numbers_have_the_means_of_their_part(weighted, n_outputs):
    X, weight = table(), weights() if weighted else None
    y = np.column_stack([numbers(k) * 10.0**k for k in range(n_outputs)])
    forest = ObliqueForestRegressor(honest=True, **SETTINGS)
    forest.fit(X, y if n_outputs > 1 else y[:, 0], weight)
    check_forest(forest.forest_)
    expected = np.zeros((N, n_outputs))
    for _, draws, leaf in naive_trees(forest, X, y[:, 0], weight, False):
        for row in range(N):
            here = [k for k in range(N) if leaf[k] == leaf[row]]
            total = sum(draws[k] for k in here)
            expected[row] += sum(draws[k] * y[k] for k in here) / total / 6
    np.testing.assert_allclose(forest.predict(X).reshape(N, -1), expected, 1e-9)


def test_leaves_of_several_classifications_have_the_shares_of_each():
    X, y = table(), np.column_stack((classes(), classes(1) > 0))
    forest = ObliqueForestClassifier(honest=True, **SETTINGS).fit(X, y)
    check_forest(forest.forest_)
    expected = np.zeros((N, 3))
    for _, draws, leaf in naive_trees(forest, X, y[:, 0], None, False):
        for row in range(N):
            here = [k for k in range(N) if leaf[k] == leaf[row]]
            for k in here:
                expected[row, y[k, 0]] += draws[k] / sum(draws[i] for i in here) / 6
    np.testing.assert_allclose(forest.predict_proba(X)[0], expected, 1e-5, 1e-7)


def naive_prune(tree, node, reached):
    """What is left of a node's subtree: a leaf, a split with both sides, or None."""
    right = tree.children_right[node]
    if right < 0:
        return node if reached[node] else None
    sides = naive_prune(tree, node + 1, reached), naive_prune(tree, right, reached)
    left = [side for side in sides if side is not None]
    return (node, *sides) if len(left) == 2 else left[0] if left else None


def preorder(left):
    if not isinstance(left, tuple):
        return [left]
    return [left[0], *preorder(left[1]), *preorder(left[2])]


@pytest.mark.parametrize("projection", ["axis", "sparse", "rotation"])
def test_leaves_that_no_row_reaches_are_merged_with_their_siblings(monkeypatch, projection):
    X, y = table(), numbers()
    how = {**SETTINGS, "projection": projection, "honest": 0.2}
    forest = ObliqueForestRegressor(**how).fit(X, y)
    monkeypatch.setattr(trainer, "with_honest_leaves", lambda forest, *_, **__: forest)
    whole = ObliqueForestRegressor(**how).fit(X, y)
    bags, leaf = whole.fitted_forest_.provenance.bags, whole.apply(X)
    n_dropped = 0
    for number, (tree, kept) in enumerate(zip(whole.forest_, forest.forest_, strict=True)):
        row = np.flatnonzero(bags.leaf_counts(number))
        reached = np.bincount(leaf[row, number], minlength=tree.n_nodes) > 0
        nodes = preorder(naive_prune(tree, 0, reached))
        n_dropped += tree.n_nodes - len(nodes)
        np.testing.assert_array_equal(tree.threshold[nodes], kept.threshold)
        for old, new in zip(nodes, range(kept.n_nodes), strict=True):
            if kept.children_right[new] < 0:
                continue
            assert nodes[kept.children_right[new]] >= tree.children_right[old]
            for mine, theirs in zip(tree.entries(old), kept.entries(new), strict=True):
                np.testing.assert_array_equal(mine, theirs)
    assert n_dropped > 20


# Which targets matter for what.


def test_splits_do_not_depend_on_the_targets_of_the_part_for_leaves():
    X, y = table(), numbers()
    how = {**SETTINGS, "n_estimators": 1, "honest": True}
    forest = ObliqueForestRegressor(**how).fit(X, y)
    leaves = forest.fitted_forest_.provenance.bags.leaf_counts(0) > 0
    changed = np.where(leaves, np.random.default_rng(9).uniform(y.min(), y.max(), N), y)
    other = ObliqueForestRegressor(**how).fit(X, changed)
    for name in ("right", "threshold", "flags", "entry_index", "entry_weight", "bits"):
        np.testing.assert_array_equal(getattr(forest.forest_, name), getattr(other.forest_, name))
    assert (forest.forest_.leaf_value != other.forest_.leaf_value).any()


def test_leaf_values_do_not_depend_on_the_targets_of_the_part_for_splits():
    X, y = table(), numbers()
    # Splits that do not look at targets stay the same.
    how = {**SETTINGS, "n_estimators": 1, "honest": True, "threshold": "purely_random"}
    forest = ObliqueForestRegressor(**how).fit(X, y)
    leaves = forest.fitted_forest_.provenance.bags.leaf_counts(0) > 0
    changed = np.where(leaves, y, np.random.default_rng(9).uniform(y.min(), y.max(), N))
    other = ObliqueForestRegressor(**how).fit(X, changed)
    np.testing.assert_array_equal(forest.forest_.threshold, other.forest_.threshold)
    np.testing.assert_allclose(forest.forest_.leaf_value, other.forest_.leaf_value, 1e-12)
    assert (np.abs(changed - y) > 0.1).sum() > 20


def test_neither_part_is_out_of_bag():
    X, y = table(), classes()
    how = {**SETTINGS, "n_estimators": 30}
    forest = ObliqueForestClassifier(honest=True, oob_score=True, **how).fit(X, y)
    out = forest.fitted_forest_.provenance.bags.rows_out(30)
    expected = np.zeros((N, 3))
    for number, tree in enumerate(forest.forest_):
        leaf = forest.apply(X)[:, number]
        for row in np.flatnonzero(out[:, number]):
            expected[row] += tree.class_shares(leaf[row]) / out[row].sum()
    np.testing.assert_allclose(forest.oob_decision_function_, expected, 1e-6, 1e-7)


# What else a forest can do.


def test_forest_is_the_same_for_any_threads_and_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.3)
    y = X[:, 0] + X[:, 1]
    how = {**SETTINGS, "honest": True}
    one, two, sparse = (
        ObliqueForestRegressor(n_jobs=n, **how).fit(rows, y).forest_.arrays()
        for n, rows in ((1, X), (2, X), (1, csr_matrix(X)))
    )
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name])
        np.testing.assert_array_equal(values, sparse[name])


def test_forest_that_is_grown_further_is_the_one_grown_at_once():
    X, y = table(), classes()
    how = {**SETTINGS, "honest": True, "oob_score": True, "n_estimators": 40}
    whole = ObliqueForestClassifier(**how).fit(X, y)
    grown = ObliqueForestClassifier(**{**how, "n_estimators": 30}, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=40).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))
    assert grown.oob_score_ == whole.oob_score_


def test_other_parts_in_a_second_fit_have_no_out_of_bag_estimates():
    forest = ObliqueForestClassifier(warm_start=True, **SETTINGS).fit(table(), classes())
    forest.set_params(n_estimators=8, honest=True, oob_score=True)
    with pytest.raises(ValueError, match=r"the same number of rows.*and honest.*got.*Keep them"):
        forest.fit(table(), classes())


def test_file_keeps_the_parts(tmp_path):
    X, y = table(), numbers()
    forest = ObliqueForestRegressor(honest=0.25, keep_targets=True, **SETTINGS).fit(X, y)
    forest.save(tmp_path / "m.bevel")
    loaded = bevel.load(tmp_path / "m.bevel")
    assert loaded.fitted_forest_.provenance.bags == forest.fitted_forest_.provenance.bags
    assert loaded.honest == 0.25
    np.testing.assert_array_equal(loaded.predict_interval(X), forest.predict_interval(X))


def test_kept_targets_are_those_of_the_part_for_leaves():
    X, y, new = table(), numbers(), table(1)
    forest = ObliqueForestRegressor(honest=True, keep_targets=True, **SETTINGS).fit(X, y)
    np.testing.assert_allclose(  # quantiles of a weighted average of targets, whose mean it is
        np.mean(
            [forest.predict_quantiles(new, [q])[:, 0] for q in np.linspace(0.005, 0.995, 100)], 0
        ),
        forest.predict(new),
        atol=0.05,
    )
    low, high = analysis.quantiles(forest, X, y, levels=[0.1, 0.9]).values.T
    known = np.isfinite(low)
    assert (low[known] <= high[known]).all()


@pytest.mark.parametrize("task", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_families_are_chosen_with_honest_trees(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = X[:, 0] + X[:, 1] + rng.normal(size=400) * 0.2
    y = y if task is ObliqueForestRegressor else (y > 0).astype(int)
    forest = task(40, honest=True, oob_score=True, random_state=0).fit(X, y)
    assert forest.oob_score_ > 0.8
    assert forest.families_.min_samples_split >= 2


def test_means_of_levels_are_not_read():
    rng = np.random.default_rng(0)
    y = rng.normal(size=800)
    X = pd.DataFrame({"level": [f"l{k % 150}" for k in range(800)], "x": rng.normal(size=800)})
    forest = ObliqueForestRegressor(10, honest=True, random_state=0).fit(X, y)
    assert "mean" in str(ObliqueForestRegressor(10, random_state=0).fit(X, y).columns_)
    assert "mean" not in str(forest.columns_)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_are_enough(n):
    forest = ObliqueForestRegressor(5, honest=True, random_state=0)
    forest.fit(np.arange(n)[:, None], np.arange(n) * 1.0)
    assert np.isfinite(forest.predict(np.arange(n)[:, None])).all()


def test_one_class_is_enough():
    forest = ObliqueForestClassifier(5, honest=True, random_state=0).fit(table(), np.ones(N))
    np.testing.assert_array_equal(forest.predict_proba(table()), np.ones((N, 1)))


def test_leaves_of_constant_targets_have_their_value():
    forest = ObliqueForestRegressor(honest=True, **SETTINGS).fit(table(), np.full(N, 0.1)).forest_
    np.testing.assert_array_equal(forest.leaf_value[forest.right < 0], 0.1)


REFUSED = [
    ({"criterion": "absolute_error"}, r"honest needs criterion.*got.*absolute_error.*leave honest"),
    ({"criterion": "poisson"}, r"honest needs criterion.*got.*poisson.*leave honest"),
    ({"monotonic_cst": {"a": 1}}, r"honest needs leaves.*got monotonic_cst.*Leave one"),
    ({"projection": P.Ridge(tune="oob")}, r"honest needs splits.*got.*Ridge.*gcv"),
    ({"honest": 1.0}, r"honest must be.*\(0, 1\).*got 1\.0.*Use True"),
    ({"honest": "yes"}, r"honest must be.*got 'yes'.*Use True"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_what_honest_trees_cannot_do_is_refused(changed, message):
    forest = ObliqueForestRegressor(**{**SETTINGS, "honest": True, **changed})
    with pytest.raises((ValueError, TypeError), match=message):
        forest.fit(table(), numbers())


def test_scanned_tables_are_refused(tmp_path):
    table().assign(y=numbers()).to_csv(tmp_path / "t.csv", index=False)
    rows = bevel.scan(tmp_path / "t.csv", target="y")
    with pytest.raises(ValueError, match=r"honest must be False with a scanned table; got True"):
        ObliqueForestRegressor(10, honest=True).fit(rows)
