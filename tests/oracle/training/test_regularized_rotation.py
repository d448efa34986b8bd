"""Regularised rotation ensembles beside slow computations and beside plain forests."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
    RegularizedRotationRegressor,
)
from bevel.training.rotation_ensemble import as_matrices, count_entries, draw_rotations

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)).astype(np.float32)
SLANTED = X[:, 0] + X[:, 1]
TARGETS = {"classes": np.digitize(SLANTED, [-0.7, 0.7]), "numbers": SLANTED}
KINDS = {"classes": RegularizedRotationClassifier, "numbers": RegularizedRotationRegressor}
PLAIN = {"classes": ObliqueForestClassifier, "numbers": ObliqueForestRegressor}
TASKS = pytest.mark.parametrize("task", list(KINDS))
SMALL = {"n_rotations": 6, "n_micro_trees": 4, "random_state": 0, "n_jobs": 1}


def fit(task: str, **parameters):
    return KINDS[task](**({"n_estimators": 40} | SMALL | parameters)).fit(X, TARGETS[task])


def test_rotations_are_the_identity_and_rotations():
    Q = as_matrices(draw_rotations(5, 4, 7, 7), 7).astype(float)
    np.testing.assert_array_equal(Q[0], np.eye(7))
    np.testing.assert_allclose(Q @ Q.transpose(0, 2, 1), np.tile(np.eye(7), (4, 1, 1)), atol=1e-6)
    np.testing.assert_allclose(np.linalg.det(Q), 1.0, atol=1e-5)
    assert len({matrix.tobytes() for matrix in Q}) == 4


def test_of_many_features_some_are_rotated_and_the_others_left():
    Q = as_matrices(draw_rotations(5, 3, 9, max_rotated=4), 9).astype(float)
    np.testing.assert_array_equal(Q[0], np.eye(9))
    np.testing.assert_allclose(Q @ Q.transpose(0, 2, 1), np.tile(np.eye(9), (3, 1, 1)), atol=1e-6)
    for matrix in Q[1:]:
        assert np.count_nonzero((matrix == 1.0).any(axis=0)) == 5
        assert np.count_nonzero(np.count_nonzero(matrix, axis=0) == 4) == 4
    assert not np.array_equal(Q[1] == 0, Q[2] == 0)


@pytest.mark.parametrize("max_rotated", [1, 4, 9, 500])
def test_entries_of_rotations_are_counted_before_they_are_drawn(max_rotated):
    drawn = draw_rotations(5, 3, 9, max_rotated)
    assert count_entries(3, 9, max_rotated) == len(drawn.index) == len(drawn.weight)
    assert drawn.n_directions == 3 * 9


@TASKS
@pytest.mark.parametrize(
    ("weighting", "max_rotated"), [("exp", 500), ("rre", 500), ("bst", 500), ("rre", 2)]
)
def test_trees_cut_along_the_axes_of_their_rotation(task, weighting, max_rotated):
    ensemble = fit(task, weighting=weighting, max_rotated=max_rotated)
    rotations, forest = ensemble.rotations_, ensemble.forest_
    used = set()
    for tree, rotation in zip(forest, ensemble.rotation_of_tree_, strict=True):
        axes = {axis.tobytes() for axis in rotations[rotation].T}
        for node in np.flatnonzero(tree.children_right >= 0):
            direction = np.zeros(4, np.float32)
            features, coefficients = tree.projection(node)
            direction[features] = coefficients
            assert direction.tobytes() in axes
            used.add(rotation)
    assert used == set(np.flatnonzero(ensemble.trees_per_rotation_))
    assert ensemble.trees_per_rotation_.sum() == forest.n_trees == 40


@TASKS
def test_trees_of_the_identity_are_those_of_a_plain_forest_of_the_same_seed(task):
    ensemble = fit(task, weighting="rre", scale="standard")
    plain = PLAIN[task](40, projection="axis", scale="standard", random_state=0)
    plain.fit(X, TARGETS[task])
    unrotated = np.flatnonzero(ensemble.rotation_of_tree_ == 0)
    assert len(unrotated) > 4
    for number in unrotated:
        ours, theirs = ensemble.forest_.tree(number), plain.forest_.tree(number)
        np.testing.assert_array_equal(ours.children_right, theirs.children_right)
        np.testing.assert_array_equal(ours.threshold, theirs.threshold)
        np.testing.assert_array_equal(ours.gain, theirs.gain)


@TASKS
@pytest.mark.parametrize("max_rotated", [500, 3])
def test_trees_of_a_rotation_are_those_of_a_plain_forest_on_rotated_features(task, max_rotated):
    ensemble = fit(task, weighting="rre", scale=None, max_rotated=max_rotated)
    for rotation in (1, 5):
        rotated = X @ ensemble.rotations_[rotation]
        plain = PLAIN[task](40, projection="axis", scale=None, random_state=0)
        plain.fit(rotated, TARGETS[task])
        for number in np.flatnonzero(ensemble.rotation_of_tree_ == rotation):
            ours, theirs = ensemble.forest_.tree(number), plain.forest_.tree(number)
            np.testing.assert_array_equal(ours.children_right, theirs.children_right)
            np.testing.assert_allclose(ours.threshold, theirs.threshold, atol=1e-5)


def count_nodes_and_depth(tree, node: int = 0) -> tuple[int, int]:
    right = tree.children_right[node]
    if right < 0:
        return 1, 0
    below = [count_nodes_and_depth(tree, child) for child in (node + 1, right)]
    return 1 + below[0][0] + below[1][0], 1 + max(below[0][1], below[1][1])


@TASKS
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_complexities_and_errors_are_those_of_the_micro_forests(task, weighted, voting):
    # Every rotation gets at least U trees, so that all micro-forests are in the ensemble.
    parameters = {"weighting": "oob", "n_estimators": 120}
    parameters |= {"voting": voting} if task == "classes" else {}
    y = TARGETS[task]
    weight = np.where(np.arange(len(X)) % 7 == 0, 0.0, 1.0 + np.arange(len(X)) % 3)
    ensemble = KINDS[task](**(SMALL | parameters))
    ensemble.fit(X, y, sample_weight=weight if weighted else None)
    assert (ensemble.trees_per_rotation_ >= 4).all()
    bags = ensemble.fitted_forest_.provenance.bags
    leaves = ensemble.apply(X)
    for rotation in range(6):
        trees = range(4 * rotation, 4 * rotation + 4)
        assert (ensemble.rotation_of_tree_[list(trees)] == rotation).all()
        counted = [count_nodes_and_depth(ensemble.forest_.tree(number)) for number in trees]
        complexity = np.median([nodes + depth / len(X) for nodes, depth in counted])
        assert ensemble.complexities_[rotation] == complexity
        losses, weights = [], []
        for row in range(len(X)):
            answers = []
            for number in trees:
                if bags.counts(number)[row]:
                    continue
                tree, leaf = ensemble.forest_.tree(number), leaves[row, number]
                if task == "numbers":
                    answers.append(ensemble.forest_.leaf_value[tree.nodes][leaf])
                else:
                    shares = tree.class_shares(leaf)
                    votes = np.eye(3)[shares.argmax()]
                    answers.append(votes if voting == "hard" else shares)
            if answers and not (weighted and weight[row] == 0.0):
                mean = np.mean(answers, axis=0)
                loss = mean.argmax() != y[row] if task == "classes" else (mean - y[row]) ** 2
                losses.append(loss)
                weights.append(weight[row] if weighted else 1.0)
        error = np.average(losses, weights=weights)
        assert ensemble.oob_errors_[rotation] == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("weighting", ["rre", "cut", "bst", "lin", "oob", "jnt", "new"])
def test_rotations_and_micro_forests_are_the_same_for_all_weightings(weighting):
    one, other = fit("classes", weighting="exp"), fit("classes", weighting=weighting)
    np.testing.assert_array_equal(one.rotations_, other.rotations_)
    np.testing.assert_array_equal(one.complexities_, other.complexities_)
    known = one.oob_errors_ if weighting in ("cut", "oob", "jnt") else np.full(6, np.nan)
    np.testing.assert_array_equal(other.oob_errors_, known)
    np.testing.assert_allclose(other.rotation_weights_.sum(), 1.0)
    wanted = np.rint(40 * other.rotation_weights_)
    assert np.abs(other.trees_per_rotation_ - wanted).sum() <= 2 * abs(wanted.sum() - 40)


def test_dropped_rotations_are_random_ones_of_highest_error():
    parameters = {"weighting": "rre", "n_estimators": 100, "n_rotations": 20}
    dropped = fit("classes", **parameters, drop_worst=0.25)
    gone = np.flatnonzero(dropped.trees_per_rotation_ == 0)
    assert len(gone) == 5
    assert 0 not in gone
    kept = np.setdiff1d(np.arange(1, 20), gone)
    assert dropped.oob_errors_[gone].min() >= dropped.oob_errors_[kept].max()
    np.testing.assert_allclose(dropped.rotation_weights_[kept], 1 / 15)


def test_identity_is_never_dropped():
    ensemble = fit("classes", drop_worst=0.99, random_state=2)
    np.testing.assert_array_equal(ensemble.trees_per_rotation_, [40, 0, 0, 0, 0, 0])
    assert ensemble.oob_errors_[0] > ensemble.oob_errors_.min()  # another one errs less


@TASKS
def test_out_of_bag_score_is_that_of_the_finished_trees(task):
    ensemble = fit(task, n_estimators=60, oob_score=True)
    bags = ensemble.fitted_forest_.provenance.bags
    leaves, forest = ensemble.apply(X), ensemble.forest_
    row = 17
    out = [t for t in range(60) if bags.counts(t)[row] == 0]
    if task == "classes":
        shares = [forest.tree(t).class_shares(leaves[row, t]) for t in out]
        np.testing.assert_allclose(ensemble.oob_decision_function_[row], np.mean(shares, axis=0))
    else:
        values = [forest.leaf_value[forest.tree(t).nodes][leaves[row, t]] for t in out]
        assert ensemble.oob_prediction_[row] == pytest.approx(np.mean(values))


@TASKS
@pytest.mark.parametrize(
    "parameters", [{}, {"threshold": "random"}, {"max_leaf_nodes": 9}], ids=str
)
def test_number_of_threads_changes_nothing(task, parameters):
    one = fit(task, **parameters)
    two = clone(one).set_params(n_jobs=3).fit(X, TARGETS[task])
    for name, array in one.forest_.arrays().items():
        np.testing.assert_array_equal(array, two.forest_.arrays()[name])
    np.testing.assert_array_equal(one.oob_errors_, two.oob_errors_)
