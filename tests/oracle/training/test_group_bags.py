"""Bags that draw groups, against naive bags made of the groups that were drawn."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
    _core,
)
from bevel.analysis import (
    forest_weights,
    importance,
    importance_test,
    out_of_bag_curve,
    predict_standard_error,
    proximity,
    quantiles,
)
from bevel.data.row_groups import RowGroups
from bevel.forest.bags import Bags


def _groups(seed):
    """Groups of unequal sizes, not in order."""
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, 12, 60), return_inverse=True)[1]
    return RowGroups(codes.astype(np.uint32), int(codes.max()) + 1)


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("size", [0, 1, 7])
@pytest.mark.parametrize("seed", [0, 5])
def test_bag_of_groups_is_the_naive_one(replace, size, seed):
    groups = _groups(seed)
    bags = Bags(60, size, replace, seed, groups)
    for tree in range(5):
        drawn = Bags(groups.n_groups, size, replace, seed).counts(tree)
        naive = [drawn[code] for code in groups.codes]
        assert bags.counts(tree).tolist() == naive


@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_rows_are_in_no_bag(weighted):
    held_out = np.arange(60) >= 50
    bags = Bags(60, 50, True, 3, RowGroups.earlier(held_out))
    weights = None
    if weighted:  # only one of the earlier rows has a weight, so that many bags lack it
        weights = np.zeros(60)
        weights[4] = weights[55] = 1.0
    for tree in range(20):
        counts = bags.counts(tree, weights)
        assert not counts[held_out].any()
        assert counts[4] > 0 or not weighted


def test_bits_of_bags_are_those_of_the_counts():
    bags = Bags(60, 9, True, 1, _groups(1))
    bits = _core.draw_bags(bags.native_options(), 60, 2, 4, None, 2)
    for tree in range(4):
        has = np.unpackbits(bits[tree], count=60, bitorder="little").astype(bool)
        assert np.array_equal(has, bags.counts(2 + tree) > 0)


def _problem(seed=0, n_groups=25, n_each=6):
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(n_groups), n_each))
    place = rng.normal(size=(n_groups, 4))
    X = place[group] + 0.3 * rng.normal(size=(len(group), 4))
    return X, (place[group, 0] + rng.normal(size=len(group)) > 0).astype(int), group


@pytest.mark.parametrize("projection", ["auto", "sparse"])
@pytest.mark.parametrize("seed", [0, 1])
def test_out_of_bag_predictions_are_by_trees_that_have_not_seen_the_group(projection, seed):
    X, y, group = _problem(seed)
    forest = ObliqueForestRegressor(
        30, projection=projection, oob_score=True, random_state=seed, n_jobs=1
    ).fit(X, y, groups=group)
    trees = forest.forest_
    values = trees.leaf_value[forest.apply(X) + trees.tree_offset[:-1]]
    units = forest.fitted_forest_.provenance.bags.of_units
    first = list(dict.fromkeys(group.tolist()))
    numbers = np.array([first.index(each) for each in group])
    seen = np.array([units.counts(t)[numbers] > 0 for t in range(30)]).T
    naive = [values[i, ~seen[i]].mean() if not seen[i].all() else np.nan for i in range(len(y))]
    np.testing.assert_allclose(forest.oob_prediction_, naive, rtol=1e-12, equal_nan=True)


def test_groups_of_one_row_each_change_no_bit(tmp_path):
    X, y, _ = _problem()
    files = []
    for groups in (None, np.arange(len(y))[::-1]):
        forest = ObliqueForestClassifier(40, oob_score=True, random_state=0, n_jobs=1)
        forest.fit(X, y, groups=groups).save(tmp_path / "forest.bevel")
        files.append((tmp_path / "forest.bevel").read_bytes())
    assert files[0] == files[1]


def test_max_samples_is_a_share_or_number_of_groups():
    X, y, group = _problem()
    settings = {"projection": "axis", "replace": False, "random_state": 0, "n_jobs": 1}
    for max_samples in (0.2, 5):
        forest = ObliqueForestClassifier(3, max_samples=max_samples, **settings)
        bags = forest.fit(X, y, groups=group).fitted_forest_.provenance.bags
        assert [np.unique(group[bags.counts(t) > 0]).size for t in range(3)] == [5, 5, 5]


def test_balanced_bags_of_groups_give_the_weights_of_the_leaves():
    """Weights of rows in leaves raise unless naive weights give what the leaves predict."""
    X, y, group = _problem()
    forest = ObliqueForestClassifier(
        10, class_weight="balanced_subsample", projection="sparse", random_state=0, n_jobs=1
    ).fit(X, y, groups=group)
    assert forest_weights(forest, X, y, X[:3]).shape == (3, len(y))


def test_forest_of_groups_is_the_same_for_all_threads_and_from_a_file(tmp_path):
    X, y, group = _problem()
    labels = np.array([f"patient {each}" for each in group])
    forests = [
        ObliqueForestClassifier(40, oob_score=True, random_state=0, n_jobs=n).fit(
            X, y, groups=labels
        )
        for n in (1, 3)
    ]
    np.testing.assert_array_equal(*(each.oob_decision_function_ for each in forests))
    forests[0].save(tmp_path / "forest.bevel")
    loaded = bevel.load(tmp_path / "forest.bevel")
    bags = [each.fitted_forest_.provenance.bags for each in (forests[0], loaded)]
    assert bags[0] == bags[1]
    losses = [out_of_bag_curve(each, X, y).loss for each in (forests[0], loaded)]
    np.testing.assert_array_equal(*losses)


def test_analyses_of_a_forest_of_groups_draw_its_bags_again():
    X, y, group = _problem()
    forest = ObliqueForestRegressor(60, projection="sparse", random_state=0, n_jobs=1)
    forest.fit(X, y.astype(float), groups=group)
    truth = y.astype(float)
    assert importance(forest, "permutation", X, truth, random_state=0).values[0] > 0.0
    proximity(forest, X, truth)
    assert quantiles(forest, X, truth).values.shape == (len(y), 5)
    errors = predict_standard_error(forest, X[:4])
    bags = forest.fitted_forest_.provenance.bags.of_units
    counts = np.array([bags.counts(t) for t in range(60)], float)
    trees = forest.forest_
    values = trees.leaf_value[forest.apply(X[:4]) + trees.tree_offset[:-1]].T
    covariance = (counts - 1.0).T @ (values - values.mean(axis=0)) / 60
    by_chance = (bags.n_rows - 1) / 60 * values.var(axis=0)
    naive = (covariance**2).sum(axis=0) - by_chance
    np.testing.assert_allclose(errors.variance, naive, rtol=1e-9)


def test_analyses_that_grow_forests_again_keep_the_groups_or_refuse():
    X, y, group = _problem()
    forest = ObliqueForestRegressor(20, projection="sparse", random_state=0, n_jobs=1)
    forest.fit(X, y.astype(float), groups=group)
    assert importance(forest, "corrected", X, y, random_state=0).values.shape == (4,)
    with pytest.raises(ValueError, match="needs the 150 training rows of a forest of groups"):
        importance(forest, "corrected", X[:100], y[:100], random_state=0)
    with pytest.raises(ValueError, match="got a forest of 25 groups, whose rows are not"):
        importance_test(forest, X, y, random_state=0)


@pytest.mark.parametrize("wrong", ["gap", "beyond", "size"])
def test_damaged_groups_of_a_file_are_refused(tmp_path, wrong):
    X, y, group = _problem()
    forest = ObliqueForestClassifier(5, random_state=0, n_jobs=1).fit(X, y, groups=group)
    bags = forest.fitted_forest_.provenance.bags
    codes, n_groups = bags.groups.codes.copy(), bags.groups.n_groups
    if wrong == "gap":
        codes[codes == 3] = 4
    elif wrong == "beyond":
        codes[codes == 3] = 99
    else:
        codes = codes[:-1]
    provenance = replace(
        forest.fitted_forest_.provenance, bags=replace(bags, groups=RowGroups(codes, n_groups))
    )
    forest._fitted = replace(forest._fitted, provenance=provenance)
    forest.save(tmp_path / "forest.bevel")
    with pytest.raises(bevel.errors.ModelFileError):
        bevel.load(tmp_path / "forest.bevel")


def test_forest_without_bags_keeps_no_groups():
    X, y, group = _problem()
    forest = ObliqueForestClassifier(5, bootstrap=False, random_state=0, n_jobs=1)
    forest.fit(X, y, groups=group)
    assert forest.fitted_forest_.provenance.bags.groups is None


def test_survival_forest_and_several_outputs_draw_groups():
    X, y, group = _problem()
    times = (1.0 + np.arange(len(y)) % 9, y == 1)
    survival = ObliqueSurvivalForest(20, oob_score=True, random_state=0, n_jobs=1)
    survival.fit(X, times, groups=group)
    # Raises unless the rows of these bags, which the core has sorted by time, are in the leaves.
    forest_weights(survival, X, times, X[:2])
    several = ObliqueForestClassifier(20, oob_score=True, random_state=0, n_jobs=1)
    several.fit(X, np.column_stack([y, 1 - y]), groups=group)
    for forest in (survival, several):
        out = forest.fitted_forest_.provenance.bags.rows_out(20)
        for each in np.unique(group):
            assert (out[group == each] == out[group == each][0]).all()


def test_levels_of_many_are_encoded_again_by_group(tmp_path):
    rng = np.random.default_rng(3)
    city = rng.integers(0, 150, 600)
    X = pd.DataFrame({"size": rng.normal(size=600), "city": pd.Categorical(city.astype(str))})
    y = rng.normal(size=150)[city] + rng.normal(size=600)
    group = np.arange(600) // 5
    forest = ObliqueForestRegressor(20, random_state=0, n_jobs=1).fit(X, y, groups=group)
    known = out_of_bag_curve(forest, X, y).loss  # raises unless rows fall into their leaves
    forest.save(tmp_path / "forest.bevel")
    np.testing.assert_array_equal(
        out_of_bag_curve(bevel.load(tmp_path / "forest.bevel"), X, y).loss, known
    )
