"""What fitted forests promise: seeds, weights, voting, warm start, paths."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P

BOTH = pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5))
y = (X[:, 0] + X[:, 1] > 0).astype(int)


def same_trees(one, other):
    return all(
        np.array_equal(array, other.forest_.arrays()[name])
        for name, array in one.forest_.arrays().items()
    )


@BOTH
def test_seed_decides_the_forest(estimator):
    forests = [estimator(10, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    assert same_trees(forests[0], forests[1])
    assert not same_trees(forests[0], forests[2])


@BOTH
def test_no_seed_gives_another_forest_each_time(estimator):
    assert not same_trees(estimator(10).fit(X, y), estimator(10).fit(X, y))


@BOTH
@pytest.mark.parametrize("scale", ["rank", "relative_rank", "minmax", "standard"])
def test_axis_forest_on_scaled_features_equals_one_on_raw_features(estimator, scale):
    # Without bags: a row out of a bag may lie between two rows of it that are not neighbours in
    # the whole table, and the midpoint of their ranks is not the rank of their midpoint.
    table = X.astype(np.float32)
    options = {"projection": "axis", "n_projections": 2, "bootstrap": False, "random_state": 0}
    raw = estimator(20, **options).fit(table, y)
    scaled = estimator(20, scale=scale, **options).fit(table, y)
    assert np.array_equal(raw.forest_.right, scaled.forest_.right)
    assert np.array_equal(raw.apply(table), scaled.apply(table))
    assert np.array_equal(raw.forest_.gain, scaled.forest_.gain)


@BOTH
@pytest.mark.parametrize(
    "parameters",
    [
        {"projection": "axis"},
        {"projection": P.RandomCombination(2), "scale": "rank"},
        {"projection": "gaussian"},
        {"projection": P.RandomRotation(per="node", flip=True)},
        {"projection": [P.Axis(), (P.SparseSigns(3), "p")]},
        {"threshold": "random", "n_thresholds": 5},
        {"split_search": "exact"},
        {"split_search": "histogram"},
        {"max_leaf_nodes": 20},
        {"max_leaf_nodes": 20, "growth": "breadth_first"},
        {"max_depth": 6, "min_samples_leaf": 3, "min_weight_fraction_leaf": 0.01},
        {"replace": False},
        {"max_samples": 0.5},
        {"bootstrap": False},
    ],
    ids=str,
)
def test_every_way_of_growing_learns_the_slanted_boundary(estimator, parameters):
    forest = estimator(50, random_state=0, **parameters).fit(X, y)
    new = np.random.default_rng(1).normal(size=(500, 5))
    truth = (new[:, 0] + new[:, 1] > 0).astype(int)
    assert forest.score(new, truth) > (0.8 if estimator is ObliqueForestClassifier else 0.4)


@BOTH
def test_purely_random_forest_does_not_look_at_y(estimator):
    grown = [
        estimator(10, threshold="purely_random", random_state=0).fit(X, target)
        for target in (y, y[::-1])
    ]
    assert np.array_equal(grown[0].forest_.threshold, grown[1].forest_.threshold)
    assert np.array_equal(grown[0].apply(X), grown[1].apply(X))
    assert max(tree.n_leaves for tree in grown[0].forest_) <= 15  # ceil(sqrt(200))


@BOTH
def test_limits_on_size_are_kept(estimator):
    forest = estimator(10, max_depth=3, random_state=0).fit(X, y).forest_
    assert max(tree.max_depth for tree in forest) == 3
    forest = estimator(10, max_leaf_nodes=7, random_state=0).fit(X, y).forest_
    assert max(tree.n_leaves for tree in forest) == 7
    forest = estimator(10, bootstrap=False, min_samples_leaf=20).fit(X, y).forest_
    assert forest.weight[forest.right < 0].min() >= 20


@BOTH
@pytest.mark.parametrize(
    "projection",
    [
        P.Patches(5),
        [P.Axis(), (P.Patches((5, 1), weights="uniform"), 3), P.SparseSigns(2)],
        [P.RandomRotation(), P.PrincipalRotation(2), P.PrincipalRotation(2, per="node")],
        [P.MultiRotation(3), P.PrincipalRotation(4)],
    ],
    ids=str,
)
def test_lists_of_structured_and_rotated_directions_are_copied_pickled_and_grown(
    estimator, projection
):
    forest = clone(estimator(10, projection=projection, random_state=0)).fit(X, y)
    again = pickle.loads(pickle.dumps(clone(forest).set_params(n_jobs=1))).fit(X, y)
    assert same_trees(forest, again)
    assert forest.score(X, y) > 0.7
    assert np.isclose(forest.feature_importances_.sum(), 1.0)


@BOTH
@pytest.mark.parametrize("projection", ["sparse", "multirotation", "principal"])
def test_warm_start_equals_growing_at_once(estimator, projection):
    at_once = estimator(30, projection=projection, random_state=0).fit(X, y)
    in_steps = estimator(10, projection=projection, random_state=0, warm_start=True).fit(X, y)
    in_steps.set_params(n_estimators=30).fit(X, y)
    assert same_trees(at_once, in_steps)
    assert np.array_equal(at_once.predict(X), in_steps.predict(X))


@BOTH
def test_warm_start_of_the_default_keeps_the_choice_of_the_first_fit(estimator):
    forest = estimator(40, random_state=0, warm_start=True).fit(X, y)
    first = forest.families_
    trees = forest.forest_.n_trees
    forest.set_params(n_estimators=60).fit(X, y)
    assert forest.forest_.n_trees == trees + 20
    assert np.array_equal(forest.families_.weights, first.weights)
    assert forest.families_.min_samples_split == first.min_samples_split


@BOTH
def test_warm_start_updates_out_of_bag_estimates(estimator):
    settings = {"projection": "sparse", "random_state": 0, "oob_score": True}
    at_once = estimator(40, **settings).fit(X, y)
    in_steps = estimator(20, **settings, warm_start=True).fit(X, y)
    in_steps.set_params(n_estimators=40).fit(X, y)
    assert in_steps.oob_score_ == at_once.oob_score_


@BOTH
def test_warm_start_with_fewer_trees_raises_and_with_as_many_warns(estimator):
    forest = estimator(10, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X, y)
    with pytest.raises(ValueError, match=r"at least the 10 trees that exist .*got 5"):
        forest.set_params(n_estimators=5).fit(X, y)


@BOTH
def test_warm_start_with_other_bags_raises_for_out_of_bag_estimates(estimator):
    forest = estimator(20, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="needs the same number of rows, max_samples, replace"):
        forest.set_params(n_estimators=30, max_samples=0.5, oob_score=True).fit(X, y)


def test_warm_start_with_other_classes_raises():
    forest = ObliqueForestClassifier(5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"classes of the first fit .*\[0, 1\].*got \[1, 2\]"):
        forest.set_params(n_estimators=10).fit(X, y + 1)


def test_warm_start_keeps_scale_and_trees_of_the_first_fit():
    forest = ObliqueForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    before = forest.apply(X)
    forest.set_params(n_estimators=6).fit(100 * X, y)
    assert np.array_equal(forest.apply(X)[:, :5], before)


def test_hard_voting_counts_trees():
    forest = ObliqueForestClassifier(25, voting="hard", max_depth=2, random_state=0).fit(X, y)
    votes = 25 * forest.predict_proba(X)
    assert np.allclose(votes, np.round(votes))
    soft = forest.set_params(voting="soft").predict_proba(X)
    assert not np.allclose(25 * soft, np.round(25 * soft))


@BOTH
def test_rows_of_weight_zero_are_as_good_as_absent(estimator):
    weights = (np.arange(200) % 3 > 0).astype(float)
    options = {"bootstrap": False, "scale": None, "random_state": 0}
    weighted = estimator(10, **options).fit(X, y, sample_weight=weights)
    dropped = estimator(10, **options).fit(X[weights > 0], y[weights > 0])
    assert np.allclose(weighted.predict(X), dropped.predict(X))


@pytest.mark.parametrize("class_weight", [{0: 20.0, 1: 1.0}, "balanced", "balanced_subsample"])
def test_class_weight_moves_shallow_predictions(class_weight):
    rare = (X[:, 0] + 0.8 * np.random.default_rng(2).normal(size=200) > 1.4).astype(int)
    target = 1 - rare if isinstance(class_weight, dict) else rare
    settings = {"max_depth": 2, "random_state": 0}
    plain = ObliqueForestClassifier(50, **settings).fit(X, target)
    weighted = ObliqueForestClassifier(50, class_weight=class_weight, **settings).fit(X, target)
    heavy = 0 if isinstance(class_weight, dict) else 1
    assert weighted.predict_proba(X)[:, heavy].mean() > plain.predict_proba(X)[:, heavy].mean()


def test_balanced_subsample_without_bags_is_balanced():
    options = {"bootstrap": False, "random_state": 0}
    forests = [
        ObliqueForestClassifier(5, class_weight=weight, **options).fit(X, y)
        for weight in ("balanced", "balanced_subsample")
    ]
    assert same_trees(*forests)


@BOTH
def test_decision_path_ends_in_the_leaf_of_apply(estimator):
    forest = estimator(8, random_state=0).fit(X, y)
    indicator, offset = forest.decision_path(X[:20])
    leaves = forest.apply(X[:20])
    assert indicator.shape == (20, forest.forest_.n_nodes)
    depth = forest.forest_.depth
    for tree in range(8):
        nodes = leaves[:, tree] + offset[tree]
        own = indicator[:, offset[tree] : offset[tree + 1]].toarray()
        assert np.all(own[np.arange(20), leaves[:, tree]] == 1)
        assert own.sum(axis=1).tolist() == (depth[nodes] + 1).tolist()


def test_labels_of_any_kind_come_back():
    for labels in (np.array(["no", "yes"]), np.array([-1, 1]), np.array([False, True])):
        forest = ObliqueForestClassifier(10, random_state=0).fit(X, labels[y])
        assert forest.classes_.tolist() == labels.tolist()
        assert forest.predict(X).dtype == labels.dtype
        assert np.mean(forest.predict(X) == labels[y]) > 0.95


@BOTH
def test_rows_are_predicted_alike_alone_and_in_a_batch(estimator):
    forest = estimator(20, random_state=0).fit(X, y)
    together = forest.apply(X[:50])
    assert np.array_equal(np.vstack([forest.apply(X[[row]]) for row in range(50)]), together)
