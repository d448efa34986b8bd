"""`min_samples_split="auto"`: predictions of pruned trees, and the size that is chosen."""

from __future__ import annotations

import numpy as np
import pytest

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.forest.calibration import POWERS
from bevel.forest.predictor import PackedPredictor
from bevel.training.automatic import SIZES, choose_size, row_step
from bevel.training.trainer import TrainingTarget

KINDS = {"classes": ObliqueForestClassifier, "numbers": ObliqueForestRegressor}
TASKS = pytest.mark.parametrize("task", list(KINDS))
SMALL = np.array([2, 3, 7, 20, 1000], np.int64)


def table(seed: int, n: int = 120) -> np.ndarray:
    """Ties, a constant column and missing values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 1.0
    X[rng.random(n) < 0.1, 3] = np.nan
    return X


def targets(X: np.ndarray, task: str, seed: int = 0, noise: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    y = X[:, :2].sum(axis=1) + noise * rng.normal(size=len(X))
    return np.digitize(y, [-1.0, 1.0]) if task == "classes" else y


def pruned(forest, X, sizes=SMALL, *, weights=None, hard=False, step=1, n_threads=1):
    """Means over out-of-bag trees for each size, and how many trees there are for each row."""
    sums, n_trees = PackedPredictor(forest.forest_).view.pruned_out_of_bag(
        *(
            np.asfortranarray(X),
            forest.fitted_forest_.provenance.bags.native_options(),
            0,
            hard,
            n_threads,
        ),
        *((0, forest.forest_.n_trees), weights, forest.forest_.weight, sizes, step),
    )
    return sums / np.maximum(n_trees, 1)[:, None], n_trees


@TASKS
@pytest.mark.parametrize("projection", ["axis", "sparse", "lda", "gaussian"])
def test_pruned_trees_are_those_grown_with_larger_nodes(task, projection):
    X = table(0)
    y = targets(X, task)
    # Without replacement the weight of a node is its number of rows.
    how = {"replace": False, "max_samples": 0.6, "random_state": 3, "scale": None}
    how["projection"] = projection
    forest = KINDS[task](12, min_samples_split=2, **how).fit(X, y)
    predictions, n_trees = pruned(forest, X)
    assert (n_trees > 0).sum() > 100
    for size, got in zip(SMALL, predictions, strict=True):
        grown = KINDS[task](12, min_samples_split=int(size), oob_score=True, **how).fit(X, y)
        name = "oob_decision_function_" if task == "classes" else "oob_prediction_"
        expected = getattr(grown, name).reshape(len(X), -1)
        np.testing.assert_allclose(got[n_trees > 0], expected[n_trees > 0], rtol=1e-6, atol=1e-7)


def naive(forest, X, sizes, weights, hard):
    """Node by node: the first on a row's path whose share of the weight stands for few rows."""
    flat, bags = forest.forest_, forest.fitted_forest_.provenance.bags
    n_outputs = max(flat.n_classes, 1)
    sums, n_trees = np.zeros((len(sizes), len(X), n_outputs)), np.zeros(len(X))
    leaves = forest.apply(X)
    for number, tree in enumerate(flat):
        counts = bags.counts(number, weights)
        first = flat.tree_offset[number]
        weight, right = tree.weight.astype(float), tree.children_right
        parent = flat.parent[first : first + tree.n_nodes] - first
        means = np.zeros((tree.n_nodes, n_outputs))
        for node in np.flatnonzero(right < 0):
            value = tree.class_shares(node) if flat.n_classes else flat.leaf_value[first + node]
            above = node
            while above >= 0:  # a leaf is part of all nodes above it
                means[above] += weight[node] * value / weight[above]
                above = parent[above] if above else -1
        n_rows = weight / weight[0] * np.count_nonzero(counts)
        for row in np.flatnonzero(counts == 0):
            path = [leaves[row, number]]
            while path[-1]:
                path.append(parent[path[-1]])
            n_trees[row] += 1
            for which, size in enumerate(sizes):
                node = next((each for each in path[::-1] if n_rows[each] < size), path[0])
                if hard:
                    sums[which, row, means[node].argmax()] += 1
                else:
                    sums[which, row] += means[node]
    return sums / np.maximum(n_trees, 1)[:, None], n_trees


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("seed", range(4))
@TASKS
def test_pruned_predictions_are_those_of_a_plain_loop(task, seed, hard):
    if hard and task == "numbers":
        pytest.skip("trees vote for classes only")
    X = table(seed, 60)
    rng = np.random.default_rng(seed)
    weights = None if seed % 2 else rng.choice([0.0, 1.0, 2.5], len(X))
    forest = KINDS[task](8, projection="sparse", scale=None, random_state=seed)
    forest.fit(X, targets(X, task, seed), sample_weight=weights)
    got, n_trees = pruned(forest, X, weights=weights, hard=hard)
    expected, n_expected = naive(forest, X, SMALL, weights, hard)
    np.testing.assert_array_equal(n_trees, n_expected)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


def test_pruned_predictions_do_not_depend_on_threads_and_can_skip_rows():
    X = table(5)
    forest = ObliqueForestClassifier(30, projection="sparse", scale=None, random_state=0)
    forest.fit(X, targets(X, "classes"))
    one, n_one = pruned(forest, X)
    for got, n_got in (pruned(forest, X, n_threads=3), pruned(forest, X, n_threads=2)):
        np.testing.assert_array_equal(got, one)
        np.testing.assert_array_equal(n_got, n_one)
    some, n_some = pruned(forest, X, step=7)
    np.testing.assert_array_equal(some, one[:, ::7])
    np.testing.assert_array_equal(n_some, n_one[::7])


def naive_choice(together, truth, share, n_classes):
    losses = []
    for each in together:
        if not n_classes:
            losses.append((each[:, 0] - truth) ** 2)
            continue
        of_powers = []
        for power in POWERS:
            raised = each**power / (each**power).sum(axis=1, keepdims=True)
            of_powers.append(0.5 * ((raised - np.eye(n_classes)[truth]) ** 2).sum(axis=1))
        losses.append(min(of_powers, key=lambda loss: loss @ share))
    means = [loss @ share for loss in losses]
    best = int(np.argmin(means))
    gain = losses[best] - losses[0]
    noise = np.sqrt(share**2 @ (gain - gain @ share) ** 2)
    return next(i for i, mean in enumerate(means) if mean <= means[best] + 0.5 * noise)


@pytest.mark.parametrize("seed", range(30))
@TASKS
def test_choice_is_that_of_a_plain_loop(task, seed):
    rng = np.random.default_rng(seed)
    n, step = int(rng.integers(1, 60)), int(rng.integers(1, 4))
    n_classes = 3 if task == "classes" else 0
    truth = rng.integers(0, 3, n) if n_classes else rng.normal(size=n)
    weights = None if seed % 2 else rng.uniform(0.5, 2.0, n)
    n_some = -(-n // step)
    families = [rng.uniform(0.05, 1.0, (4, n_some, max(n_classes, 1))) for _ in range(2)]
    if n_classes:
        families = [each / each.sum(axis=2, keepdims=True) for each in families]
    known = rng.random(n_some) < 0.8
    target = TrainingTarget(truth, n_classes, weights)
    cut = int(rng.integers(0, n_some + 1))
    blocks = [(rows, [each[:, rows] for each in families]) for rows in (slice(cut), slice(cut, n))]
    got = choose_size(blocks, known, target, step, "squared_error")
    if not known.any():
        assert got == 0
        return
    share = np.ones(n) if weights is None else weights
    share = share[::step][known]
    together = [(a + b)[known] / 2 for a, b in zip(*families, strict=True)]
    assert got == naive_choice(together, truth[::step][known], share / share.sum(), n_classes)


@TASKS
def test_noise_makes_nodes_larger_and_its_absence_does_not(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    noisy = KINDS[task](100, random_state=0).fit(X, targets(X, task, noise=5.0))
    assert noisy.families_.min_samples_split > 2
    assert f"fewer than {noisy.families_.min_samples_split} rows" in str(noisy.families_)
    smallest = [tree.weight[tree.children_right >= 0].min() for tree in noisy.forest_]
    assert min(smallest) >= noisy.families_.min_samples_split
    clear = KINDS[task](100, random_state=0).fit(X, targets(X, task, noise=0.0))
    assert clear.families_.min_samples_split == 2
    assert "fewer" not in str(clear.families_)


@TASKS
def test_a_single_family_chooses_the_size_too(task):
    X = np.random.default_rng(1).normal(size=(300, 1))
    noisy, clear = targets(X, task, noise=5.0), targets(X, task, noise=0.0)
    forest = KINDS[task](100, random_state=0).fit(X, noisy)
    assert forest.families_.names == ("axis",)
    size = forest.families_.min_samples_split
    assert size > 2
    assert np.isfinite(forest.families_.errors).all()
    given = KINDS[task](100, min_samples_split=size, random_state=0).fit(X, noisy)
    np.testing.assert_array_equal(forest.forest_.weight, given.forest_.weight)
    np.testing.assert_array_equal(forest.apply(X), given.apply(X))
    assert KINDS[task](100, random_state=0).fit(X, clear).families_.min_samples_split == 2


def test_why_a_single_family_was_not_compared():
    X = np.random.default_rng(0).normal(size=(60, 1))
    y = X[:, 0] > 0
    for options in ({"min_samples_split": 2}, {"bootstrap": False}):
        notes = str(ObliqueForestClassifier(60, random_state=0, **options).fit(X, y).families_)
        assert "not compared: it is the only family that fits the table" in notes
        assert "too few trees" not in notes


@TASKS
def test_size_stays_with_more_trees_and_in_files(task, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = targets(X, task, noise=5.0)
    forest = KINDS[task](100, random_state=0, warm_start=True).fit(X, y)
    size = forest.families_.min_samples_split
    forest.save(tmp_path / "forest.bevel")
    loaded = bevel.load(tmp_path / "forest.bevel")
    assert loaded.families_.min_samples_split == size > 2
    for grown in (forest, loaded):
        grown.set_params(n_estimators=130).fit(X, y)
        assert grown.families_.min_samples_split == size
        assert min(tree.weight[0] for tree in grown.forest_) == len(X)
        assert all(tree.weight[tree.children_right >= 0].min() >= size for tree in grown.forest_)


def test_size_that_is_given_is_used():
    X = table(0)
    y = targets(X, "classes", noise=5.0)
    assert (
        ObliqueForestClassifier(60, min_samples_split=9).fit(X, y).families_.min_samples_split == 9
    )
    alone = ObliqueForestClassifier(10, projection="sparse", random_state=0)
    given = ObliqueForestClassifier(10, projection="sparse", min_samples_split=2, random_state=0)
    np.testing.assert_array_equal(
        alone.fit(X, y).predict_proba(X), given.fit(X, y).predict_proba(X)
    )


def test_several_outputs_and_medians_keep_the_smallest_size():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=(200, 2))
    assert ObliqueForestRegressor(60).fit(X, y).families_.min_samples_split == SIZES[0]
    median = ObliqueForestRegressor(60, criterion="absolute_error").fit(X, y[:, 0])
    assert median.families_.min_samples_split == SIZES[0]


@pytest.mark.parametrize("n_columns", [1, 3])
def test_kept_targets_change_no_tree_and_are_those_of_the_leaves(n_columns):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, n_columns))
    y = targets(X, "numbers", noise=5.0)
    plain = ObliqueForestRegressor(60, random_state=0).fit(X, y)
    kept = ObliqueForestRegressor(60, random_state=0, keep_targets=True).fit(X, y)
    assert kept.families_.min_samples_split == plain.families_.min_samples_split > 2
    np.testing.assert_array_equal(kept.forest_.weight, plain.forest_.weight)
    np.testing.assert_array_equal(kept.predict(X), plain.predict(X))
    new = rng.normal(size=(20, n_columns))
    again = plain.predict_quantiles(new, [0.1, 0.9], X_train=X, y_train=y)
    np.testing.assert_array_equal(kept.predict_quantiles(new, [0.1, 0.9]), again)


def test_rows_to_predict_are_limited():
    assert row_step(50_000, 2) == 1
    assert row_step(50_001, 2) == 2
    assert row_step(20_000, 100) == 2
    assert row_step(10, 10**7) == 10
