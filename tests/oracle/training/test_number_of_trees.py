"""`n_estimators="auto"`: how far trees lie apart, how many are enough, and the forest of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.training import automatic
from bevel.training.automatic import FamilyPlan, TreeSpread, enough_trees

KINDS = {"classes": ObliqueForestClassifier, "numbers": ObliqueForestRegressor}
TASKS = pytest.mark.parametrize("task", list(KINDS))


@pytest.fixture(autouse=True)
def small_tables_choose_too(monkeypatch):
    monkeypatch.setattr(automatic, "MIN_ROWS_TO_CHOOSE", 300)
    monkeypatch.setattr(automatic, "MANY_ROWS", 300)
    monkeypatch.setattr(automatic, "MAX_EXCESS", 0.004)


def table(task, seed=0, n=400):
    """Ties, a constant column, a nominal one and missing values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 1.0
    X[:, 3] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.1, 4] = np.nan
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)
    return X, np.digitize(y, [-1.0, 1.0]) if task == "classes" else y


def captured(monkeypatch, task, seed=0, weights=None, **parameters):
    """A fitted forest, with the micro-forests, the plan and the target that it was chosen by."""
    seen = []
    share = FamilyPlan.share

    def spy(plan, forests, target):
        seen.append((forests, plan, target))
        return share(plan, forests, target)

    monkeypatch.setattr(FamilyPlan, "share", spy)
    X, y = table(task, seed)
    how = {"categorical_features": [3], "random_state": seed, "n_jobs": 1} | parameters
    forest = KINDS[task](**how).fit(X, y, sample_weight=weights)
    return forest, *seen[0]


def naive_spread(forests, kind, size, step, target):
    """Tree by tree: means of two halves, row by row."""
    first, last = kind * forests._n_trees, (kind + 1) * forests._n_trees
    alone = [
        forests._pruned_sums((size,), step, None, (tree, tree + 1)) for tree in range(first, last)
    ]
    half = len(alone) // 2
    found = []
    for row in range(len(alone[0][1])):
        weight = 1.0 if target.weights is None else target.weights[row * step]
        parts = [
            [sums[0, row] for sums, n in trees if n[row] > 0]
            for trees in (alone[:half], alone[half:])
        ]
        if weight == 0.0 or not all(parts):
            continue
        n_a, n_b = map(len, parts)
        gap = np.mean(parts[0], axis=0) - np.mean(parts[1], axis=0)
        variance = (gap @ gap) / (1 / n_a + 1 / n_b)
        found.append((weight, variance, variance / (n_a + n_b)))
    w, variance, noise = np.array(found).T
    return (w @ variance) / w.sum(), (w @ noise) / w.sum()


@pytest.mark.parametrize("weighted", [False, True])
@TASKS
def test_spread_of_trees_is_that_of_a_plain_loop(monkeypatch, task, weighted):
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.5], 400) if weighted else None
    _, forests, plan, target = captured(monkeypatch, task, weights=weights)
    for family in range(len(plan.names)):
        for size, step in ((2, 1), (12, 3)):
            got = forests.spread(family, size, step)
            expected = naive_spread(forests, family, size, step, target)
            np.testing.assert_allclose(got, expected, rtol=1e-9)


@TASKS
def test_number_of_trees_is_that_of_the_formula(monkeypatch, task):
    forest, forests, plan, target = captured(monkeypatch, task, seed=2)
    weights = forest.families_.weights
    size = forest.families_.min_samples_split
    n_families = len(plan.names)
    found = [forests.predict_pruned(family, (size,), 1) for family in range(n_families)]
    known = np.all([each for _, each in found], axis=0)
    mean = sum(w * part[0][known] for w, (part, _) in zip(weights, found, strict=True))
    y = target.values[known]
    truth = np.eye(3)[y] if task == "classes" else y[:, None]
    error = np.mean(((mean - truth) ** 2).sum(axis=1))
    of_mean = np.mean(((truth.mean(axis=0) - truth) ** 2).sum(axis=1))
    spreads = [naive_spread(forests, family, size, 1, target) for family in range(n_families)]
    least = error - sum(w * w * noise for w, (_, noise) in zip(weights, spreads, strict=True))
    variance = sum(w * each for w, (each, _) in zip(weights, spreads, strict=True))
    expected = int(np.ceil(variance / (0.004 * min(least, of_mean - least))))
    micro = plan.micro_trees(400) * n_families
    assert micro < expected < plan.n_trees  # otherwise the test says nothing
    assert forest.forest_.n_trees == expected
    assert forest.families_.n_trees.sum() == expected


def test_enough_trees_by_hand(monkeypatch):
    monkeypatch.setattr(automatic, "MAX_EXCESS", 0.01)
    weights = np.array([0.75, 0.25])
    spreads = [TreeSpread(0.4, 0.04), TreeSpread(0.8, 0.08)]
    # V = 0.3 + 0.2; the error of infinitely many is 0.3 - 0.75² 0.04 - 0.25² 0.08 = 0.2725.
    assert enough_trees(weights, spreads, 0.3, 1.0, 500) == int(np.ceil(0.5 / 0.002725))
    # What is explained is less: 0.3 - 0.2725.
    assert enough_trees(weights, spreads, 0.3, 0.3, 5000) == int(np.ceil(0.5 / 0.000275))
    assert enough_trees(weights, spreads, 0.3, 0.3, 500) == 500


@pytest.mark.parametrize(
    ("spread", "error", "of_mean"),
    [
        ((np.nan, np.nan), 0.3, 1.0),  # no row is out of the bags of both halves
        ((0.5, 0.4), 0.3, 1.0),  # noise alone
        ((0.5, 0.1), 0.9, 0.5),  # worse than the mean
        ((0.0, 0.0), 0.0, 0.0),  # one value, predicted exactly
    ],
)
def test_all_trees_are_grown_where_nothing_tells_how_many(spread, error, of_mean):
    assert enough_trees(np.ones(1), [TreeSpread(*spread)], error, of_mean, 500) == 500


def test_trees_that_agree_are_few():
    assert enough_trees(np.ones(1), [TreeSpread(0.0, 0.0)], 0.1, 1.0, 500) == 1


@TASKS
def test_fewer_trees_are_the_first_ones_of_their_families(task):
    X, y = table(task, 2)
    how = {"random_state": 2, "n_jobs": 1}
    few = KINDS[task](**how).fit(X, y)
    all_trees = KINDS[task](500 if task == "classes" else 300, **how).fit(X, y)
    assert few.forest_.n_trees < all_trees.forest_.n_trees
    np.testing.assert_array_equal(few.families_.weights, all_trees.families_.weights)
    of_few, of_all = few.families_.of_tree, all_trees.families_.of_tree
    same = np.flatnonzero(of_few == of_all[: len(of_few)])
    assert len(same) > 0
    for tree in same:
        texts = (str(forest.forest_.tree(tree)) for forest in (few, all_trees))
        assert len({text.partition(": ")[2] for text in texts}) == 1


@TASKS
def test_forest_does_not_depend_on_threads(task):
    X, y = table(task, 2)
    one, two = (KINDS[task](random_state=2, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.forest_.n_trees == two.forest_.n_trees < 300
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@TASKS
def test_small_tables_other_projections_and_several_outputs_have_all_trees(monkeypatch, task):
    X, y = table(task)
    most = 500 if task == "classes" else 300
    kind = KINDS[task]
    assert kind(projection="axis", max_depth=1).fit(X, y).forest_.n_trees == most
    outputs = np.column_stack([y, y])
    assert kind(max_depth=1, random_state=0).fit(X, outputs).forest_.n_trees == most
    monkeypatch.setattr(automatic, "MIN_ROWS_TO_CHOOSE", 401)
    few, given = (kind(n, max_depth=2, random_state=0).fit(X, y) for n in ("auto", most))
    assert few.forest_.n_trees == most
    np.testing.assert_array_equal(few.predict(X), given.predict(X))


def test_one_class_has_all_trees():
    X, _ = table("classes")
    forest = ObliqueForestClassifier(max_depth=1).fit(X, np.zeros(400))
    assert forest.forest_.n_trees == 500


def test_grown_further_and_kept_in_a_file(tmp_path):
    X, y = table("classes", 2)
    forest = ObliqueForestClassifier(warm_start=True, random_state=2).fit(X, y)
    n_trees = forest.forest_.n_trees
    before = forest.predict_proba(X)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        forest.fit(X, y)
    assert forest.forest_.n_trees == n_trees < 500
    np.testing.assert_array_equal(forest.predict_proba(X), before)
    forest.save(tmp_path / "forest.bevel")
    loaded = bevel.load(tmp_path / "forest.bevel")
    assert loaded.n_estimators == "auto"
    np.testing.assert_array_equal(loaded.predict_proba(X), before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert forest.set_params(n_estimators=n_trees + 5).fit(X, y).forest_.n_trees == n_trees + 5


def test_times_choose_the_number_on_the_latest_rows():
    X, y = table("classes", 2)
    forest = ObliqueForestClassifier(random_state=2).fit(X, y, time=np.arange(400))
    assert forest.forest_.n_trees == len(forest.families_.of_tree) <= 500


def test_other_words_for_the_number_are_refused():
    X, y = table("classes")
    with pytest.raises(
        ValueError, match=r'n_estimators must be "auto" or an integer of at least 1'
    ):
        ObliqueForestClassifier("many").fit(X, y)
