"""Forests of several families beside forests of each family, and beside slow estimates."""

from __future__ import annotations

import numpy as np
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.forest.calibration import POWERS
from bevel.projections.families import TableShape
from bevel.training.automatic import SHARED_SCALE, candidates_for

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4)).astype(np.float32)
SLANTED = X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=90)
TARGETS = {"classes": np.digitize(SLANTED, [-0.7, 0.7]), "numbers": SLANTED}
KINDS = {"classes": ObliqueForestClassifier, "numbers": ObliqueForestRegressor}
TASKS = pytest.mark.parametrize("task", list(KINDS))


def families_of(task: str):
    shape = TableShape(len(X), 4, 0)
    return candidates_for(shape, regression=task == "numbers", purely_random=False)[0]


def same_tree(one, other) -> None:
    for name in ("children_right", "threshold", "gain"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@TASKS
def test_every_tree_is_that_of_its_family_alone(task):
    y = TARGETS[task]
    forest = KINDS[task](80, random_state=0).fit(X, y)
    record, used = forest.families_, 0
    for family, candidate in enumerate(families_of(task)):
        alone = KINDS[task](
            80,
            projection=candidate.projection,
            n_projections=candidate.n_projections,
            criterion=candidate.criterion,
            scale=SHARED_SCALE,
            min_samples_split=record.min_samples_split,
            random_state=0,
        ).fit(X, y)
        for number in np.flatnonzero(record.of_tree == family):
            same_tree(forest.forest_.tree(number), alone.forest_.tree(number))
            used += 1
    assert used == forest.forest_.n_trees == 80


@TASKS
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_those_of_the_micro_forests_on_rows_that_all_predict(task, weighted):
    y, candidates = TARGETS[task], families_of(task)
    n_micro = 80 // max(10, 2 * len(candidates))
    weight = np.where(np.arange(len(X)) % 7 == 0, 0.0, 1.0 + np.arange(len(X)) % 3)
    weight = weight if weighted else None
    forest = KINDS[task](80, min_samples_split=2, random_state=0).fit(X, y, sample_weight=weight)
    bags = forest.fitted_forest_.provenance.bags
    sums = []
    for family, candidate in enumerate(candidates):
        alone = KINDS[task](
            n_micro * len(candidates),
            projection=candidate.projection,
            n_projections=candidate.n_projections,
            criterion=candidate.criterion,
            scale=SHARED_SCALE,
            random_state=0,
        ).fit(X, y, sample_weight=weight)
        predicted = [[] for _ in X]
        for number in range(n_micro * family, n_micro * (family + 1)):
            values = tree_predictions(alone, number)
            for row in np.flatnonzero(bags.counts(number) == 0):
                predicted[row].append(values[row])
        sums.append(predicted)
    known = [r for r in range(len(X)) if all(each[r] for each in sums)]
    known = [r for r in known if weight is None or weight[r] > 0]
    for family, predicted in enumerate(sums):
        means = np.array([np.mean(predicted[row], axis=0) for row in known])
        if task == "classes":
            loss = means.argmax(axis=1) != y[known]
        else:
            loss = (means[:, 0] - y[known]) ** 2
        share = None if weight is None else weight[known]
        expected = np.average(loss, weights=share)
        assert forest.families_.errors[family] == pytest.approx(expected, rel=1e-9)
    means = [np.array([np.mean(each[row], axis=0) for row in known]) for each in sums]
    share = np.ones(len(known)) if weight is None else weight[known]
    expected = naive_weights(task, means, y[known], share / share.sum())
    np.testing.assert_allclose(forest.families_.weights, expected, rtol=1e-6)


def naive_weights(task: str, means: list, truth, share):
    """exp(−2Δ/σ), where losses of classes are Brier scores with the best power of each family."""
    losses = []
    for each in means:
        if task == "numbers":
            losses.append((each[:, 0] - truth) ** 2)
            continue
        raised = [each**power / (each**power).sum(axis=1, keepdims=True) for power in POWERS]
        brier = [0.5 * ((shares - np.eye(3)[truth]) ** 2).sum(axis=1) for shares in raised]
        losses.append(min(brier, key=lambda values: values @ share))
    least = min(losses, key=lambda values: values @ share)
    noise = np.sqrt((((least - least @ share) * share) ** 2).sum())
    weights = [np.exp(-2.0 * (loss @ share - least @ share) / noise) for loss in losses]
    return np.array(weights) / sum(weights)


def tree_predictions(estimator, number: int):
    """Class shares or values of all rows by one tree."""
    leaves, flat = estimator.apply(X)[:, number], estimator.forest_
    tree = flat.tree(number)
    if flat.n_classes == 0:
        return flat.leaf_value[tree.nodes][leaves][:, None]
    return np.array([tree.class_shares(leaf) for leaf in leaves])


@TASKS
def test_forest_is_the_same_for_any_number_of_threads(task):
    one, two = (KINDS[task](60, random_state=3, n_jobs=n).fit(X, TARGETS[task]) for n in (1, 3))
    for name, array in one.forest_.arrays().items():
        np.testing.assert_array_equal(array, two.forest_.arrays()[name], err_msg=name)
    np.testing.assert_array_equal(one.families_.of_tree, two.families_.of_tree)


@TASKS
def test_trees_that_a_warm_start_adds_follow_the_weights(task):
    forest = KINDS[task](80, random_state=0, warm_start=True).fit(X, TARGETS[task])
    before, first = forest.families_, forest.forest_
    forest.set_params(n_estimators=200).fit(X, TARGETS[task])
    after = forest.families_
    np.testing.assert_array_equal(after.of_tree[:80], before.of_tree)
    np.testing.assert_array_equal(after.weights, before.weights)
    assert (np.abs(after.n_trees - after.weights * 200) <= 1.0 + 1e-9).all()
    for number in (0, 79):
        same_tree(forest.forest_.tree(number), first.tree(number))
