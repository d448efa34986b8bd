"""A search by successive halving beside a plain one over forests that are fitted one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P

RNG = np.random.default_rng(5)
N = 70
X = RNG.normal(size=(N, 4))
X[:, 3] = np.round(X[:, 3])  # ties
X[::9, 1] = np.nan
SLANTED = X[:, 0] + X[:, 2] + 0.5 * RNG.normal(size=N)
TARGETS = {"classes": np.array(["a", "b", "c"])[np.digitize(SLANTED, [-0.7, 0.7])]}
TARGETS["numbers"] = SLANTED
KINDS = {"classes": ObliqueForestClassifier, "numbers": ObliqueForestRegressor}
WEIGHT = np.where(np.arange(N) % 7 == 0, 0.0, 1.0 + np.arange(N) % 3)
CANDIDATES = [
    {"projection": "axis"},
    {"projection": "lda"},
    {"projection": P.SparseSigns(2), "n_projections": 3},
    {"projection": "axis", "min_samples_leaf": 5},
    {"projection": "sparse", "scale": "rank"},
    {"projection": "axis", "max_samples": 0.4},
]
FIRST = 20


def naive_losses(forest, y, weight) -> np.ndarray:
    """Loss of every row, from the trees whose bags it is out of; NaN for the others."""
    bags = forest.fitted_forest_.provenance.bags
    losses = np.full(N, np.nan)
    trees = [tree_predictions(forest, number) for number in range(forest.forest_.n_trees)]
    outside = [bags.counts(number) == 0 for number in range(len(trees))]
    for row in range(N):
        seen = [tree[row] for tree, out in zip(trees, outside, strict=True) if out[row]]
        if not seen or (weight is not None and weight[row] == 0.0):
            continue
        mean = np.mean(seen, axis=0)
        if hasattr(forest, "classes_"):
            losses[row] = 0.5 * np.sum((mean - (forest.classes_ == y[row])) ** 2)
        else:
            losses[row] = (mean[0] - y[row]) ** 2
    return losses


def tree_predictions(forest, number: int) -> np.ndarray:
    """Class shares or values of all rows by one tree."""
    leaves, flat = forest.apply(X)[:, number], forest.forest_
    tree = flat.tree(number)
    if flat.n_classes == 0:
        return flat.leaf_value[tree.nodes][leaves][:, None]
    return np.array([tree.class_shares(leaf) for leaf in leaves])


def mean_and_error(values, weight) -> tuple[float, float]:
    known = ~np.isnan(values)
    share = (np.ones(N) if weight is None else weight)[known]
    share = share / share.sum()
    mean = float(np.sum(share * values[known]))
    return mean, float(np.sqrt(np.sum(share**2 * (values[known] - mean) ** 2)))


@pytest.mark.parametrize("task", list(KINDS))
@pytest.mark.parametrize("weighted", [False, True])
def test_search_is_that_over_forests_fitted_one_by_one(task, weighted):
    y, weight = TARGETS[task], WEIGHT if weighted else None
    base = {"projection": "sparse", "random_state": 3, "n_jobs": 1}
    listed = [{}, *CANDIDATES]
    running, n_trees, rounds = list(range(len(listed))), FIRST, []
    while True:
        losses = {}
        for number in running:
            parameters = {**base, **listed[number]}
            forest = KINDS[task](n_trees, **parameters).fit(X, y, sample_weight=weight)
            losses[number] = naive_losses(forest, y, weight)
        rounds.append((n_trees, losses))
        if len(running) <= 3:
            break
        means = {number: mean_and_error(each, weight)[0] for number, each in losses.items()}
        others = sorted(set(running) - {0}, key=lambda each: means[each])
        running = [0, *others[: (len(running) + 1) // 2 - 1]]
        n_trees *= 2

    found = bevel.tune(
        KINDS[task](7, **base),
        *(X, y),
        candidates=CANDIDATES,
        first_trees=FIRST,
        sample_weight=weight,
    )
    assert found.n_rounds_ == len(rounds) == 3
    by_name = {str(each): each for each in found.candidates_}
    assert len(by_name) == len(listed)
    names = [str(bevel.tuning.Candidate(each, ())) for each in listed]
    for level, (n_trees, losses) in enumerate(rounds):
        took_part = {name for name, each in by_name.items() if len(each.rounds) > level}
        assert took_part == {names[number] for number in losses}
        for number, each in losses.items():
            judged = by_name[names[number]].rounds[level]
            assert judged.n_trees == n_trees
            expected = mean_and_error(each, weight)
            np.testing.assert_allclose((judged.loss, judged.standard_error), expected, rtol=1e-6)
            expected = mean_and_error(each - losses[0], weight)
            got = (judged.difference, judged.difference_error)
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-9)
    last = {number: mean_and_error(each, weight)[0] for number, each in rounds[-1][1].items()}
    best = min(last, key=lambda each: last[each])
    assert found.best_params_ == listed[best]
    assert found.n_trees_ == sum(each.last.n_trees for each in by_name.values())

    same = KINDS[task](7, **{**base, **listed[best]}).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(found.best_estimator_.apply(X), same.apply(X))


def test_automatic_families_grow_on_as_with_warm_start():
    y = TARGETS["classes"]
    others = [{"min_samples_leaf": 3}, {"projection": "axis"}, {"projection": "lda"}]
    found = bevel.tune(
        ObliqueForestClassifier(calibration=None, random_state=0),
        *(X, y),
        candidates=others,
        first_trees=40,
        refit=False,
    )
    forest = ObliqueForestClassifier(
        40, calibration=None, random_state=0, warm_start=True, oob_score=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forest.fit(X, y)
        forest.set_params(n_estimators=80).fit(X, y)
    losses = naive_losses(forest, y, None)
    first = next(each for each in found.candidates_ if not each.parameters)
    assert [each.n_trees for each in first.rounds] == [40, 80]
    np.testing.assert_allclose(first.last.loss, np.nanmean(losses), rtol=1e-6)
