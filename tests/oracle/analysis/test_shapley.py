"""Shapley values of the core against all coalitions, and what must hold for every forest."""

import numpy as np
import pytest
from support.families import FAMILIES, TASKS, grow_on, new_rows, training_data
from support.forests import Forest
from support.naive.shapley import interactions_of_worths, naive_shapley, predict_with, worths
from support.random_forests import KINDS, random_forest, random_rows

from bevel import _core
from bevel.forest.flat_forest import take_trees
from bevel.forest.predictor import PackedPredictor

ALWAYS, NEVER = 12, 0  # features up to which trees are exact


def shapley(
    view,
    X,
    background,
    *,
    exact,
    weights=None,
    drawn=None,
    hard=False,
    n_samples=2,
    seed=5,
    n_threads=1,
):
    """Values, variances, sampled pairs."""
    arguments = (weights, drawn, hard, exact, n_samples, seed, n_threads, None)
    X, background = np.ascontiguousarray(X), np.ascontiguousarray(background)
    return _core.shapley_values(view, X, background, *arguments)[:3]


def game(seed, n_classes, **kinds):
    """A random forest, rows with ties and missing values, and a background."""
    rng = np.random.default_rng(seed)
    values = {"n_features": 7, "n_trees": 6, "depth": 6, "n_nominal": 2, "n_axes": 2, **kinds}
    forest = random_forest(rng, n_classes=n_classes, **values)
    return forest, random_rows(rng, forest, 4, 0.15), random_rows(rng, forest, 5, 0.15)


@pytest.mark.parametrize("hard", [False, True], ids=["soft", "hard"])
@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_shapley_values_equal_the_sum_over_all_coalitions(kind, n_classes, hard):
    kinds = KINDS if kind == "all" else (kind,)
    forest, X, background = game(KINDS.index(kind) if kind in KINDS else 99, n_classes, kinds=kinds)
    view = PackedPredictor(forest).view
    values, variances, n_sampled = shapley(view, X, background, exact=ALWAYS, hard=hard)
    expected = naive_shapley(predict_with(forest, hard), X, background)
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert not variances.any()
    assert not n_sampled.any()


@pytest.mark.parametrize("n_classes", [0, 3])
def test_weights_of_background_rows_count_as_in_a_weighted_mean(n_classes):
    forest, X, background = game(6, n_classes, kinds=KINDS)
    weights = np.array([0.5, 2.0, 1.0, 0.25, 3.0])
    view = PackedPredictor(forest).view
    values, _, _ = shapley(view, X, background, exact=ALWAYS, weights=weights)
    expected = naive_shapley(predict_with(forest), X, background, weights)
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_trees_are_compared_with_the_rows_that_they_have_drawn():
    """Values are means over trees of means over a tree's rows, with the variance of these."""
    drawn = np.array([[0, 3, 4], [2, 2, 1]], dtype=np.int32)
    forest, X, background = game(8, 3, n_trees=2)
    forests = [take_trees(forest, [tree]) for tree in (0, 1)]
    view = PackedPredictor(forest).view
    X, background = np.ascontiguousarray(X), np.ascontiguousarray(background)
    values, variances, _, base = _core.shapley_values(
        view, X, background, None, drawn, False, ALWAYS, 2, 0, 1, None
    )
    single = np.array(
        [
            [naive_shapley(predict_with(tree), X, background[[z]]) for z in rows]
            for tree, rows in zip(forests, drawn, strict=True)
        ]
    )
    np.testing.assert_allclose(values, single.mean(axis=(0, 1)), atol=1e-12)
    expected = single.var(axis=1, ddof=1).sum(axis=0) / 3 / 4
    np.testing.assert_allclose(variances, expected, atol=1e-12)
    of_trees = [
        predict_with(tree)(background[rows]) for tree, rows in zip(forests, drawn, strict=True)
    ]
    np.testing.assert_allclose(base, np.mean(of_trees, axis=(0, 1)), atol=1e-12)


def test_shapley_values_of_more_than_a_dozen_features_are_exact_while_boxes_are_few():
    """Thirteen features, splits by one: no more boxes than leaves, whatever the limit."""
    forest, X, background = game(3, 0, n_features=13, depth=9, kinds=("single", "category"))
    view = PackedPredictor(forest).view
    values, _, n_sampled = shapley(view, X[:2], background[:2], exact=NEVER)
    expected = naive_shapley(predict_with(forest), X[:2], background[:2])
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert not n_sampled.any()


@pytest.mark.parametrize("exact", [ALWAYS, NEVER], ids=["exact", "sampled"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_shapley_values_of_every_family_add_up_to_the_prediction(family, task, exact):
    rng = np.random.default_rng(7)
    data = training_data(rng, 120, TASKS[task])
    forest: Forest = grow_on(data, family, 3)
    X, background = new_rows(rng, data, 5), np.ascontiguousarray(data.X[:6])
    values, _, n_sampled = shapley(forest.view, X, background, exact=exact)
    expected = forest.predict(X) - forest.predict(background).mean(axis=0)
    np.testing.assert_allclose(values.sum(axis=1), expected, atol=1e-12)
    if exact == ALWAYS:
        assert not n_sampled.any()
    elif family not in ("axis", "single_signs", "categorical"):
        assert n_sampled.any()


@pytest.mark.parametrize("exact", [ALWAYS, NEVER], ids=["exact", "sampled"])
def test_shapley_values_are_the_same_bits_for_any_number_of_threads(exact):
    forest, X, background = game(11, 3)
    view = PackedPredictor(forest).view
    one, three = (shapley(view, X, background, exact=exact, n_threads=n) for n in (1, 3))
    for first, second in zip(one, three, strict=True):
        assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("exact", [ALWAYS, NEVER], ids=["exact", "sampled"])
def test_shapley_value_of_a_feature_that_no_split_reads_or_that_is_alike_is_zero(exact):
    rng = np.random.default_rng(2)
    data = training_data(rng, 100, 0)
    forest = grow_on(data, "combination", 5)
    X, background = new_rows(rng, data, 6), np.ascontiguousarray(data.X[:5])
    X[:, 1] = background[0, 1]
    background[:, 1] = background[0, 1]
    X[:, 3] = background[:, 3] = np.nan
    values, _, _ = shapley(forest.view, X, background, exact=exact)
    assert not values[:, [1, 3, 5, 6]].any()  # 5 and 6 are nominal: combinations leave them out
    assert values[:, [0, 2, 4]].all()


def test_shapley_values_of_features_that_play_the_same_part_are_equal():
    """A direction of equal weights, and features of equal values in both rows."""
    rng = np.random.default_rng(4)
    data = training_data(rng, 100, 0)
    forest = grow_on(data, "dense_signs", 1, max_depth=1)
    root = next(forest.trees).nodes[0]
    alike = root.index[root.coefficient == root.coefficient[0]]
    assert len(alike) >= 2
    X, background = data.X[:40].copy(), data.X[40:45].copy()
    X[:, alike], background[:, alike] = X[:, alike[:1]], background[:, alike[:1]]
    values = shapley(forest.view, X, background, exact=ALWAYS)[0][:, alike, 0]
    assert values.any()
    np.testing.assert_allclose(values, np.repeat(values[:, :1], len(alike), axis=1), atol=1e-12)


def test_shapley_values_are_sampled_only_beyond_the_limit_of_boxes():
    """Where d features differ there are at most 2^d boxes."""
    forest, X, background = game(21, 0, n_features=7, n_nominal=0, n_axes=1, kinds=("dense",))
    view = PackedPredictor(forest).view
    assert not shapley(view, X, background, exact=7)[2].any()
    assert shapley(view, X, background, exact=3)[2].any()
    background[:, 3:] = X[0, 3:]
    assert not shapley(view, X[:1], background, exact=3)[2].any()


@pytest.mark.parametrize("hard", [False, True], ids=["soft", "hard"])
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_interactions_equal_the_sum_over_all_coalitions(kind, n_classes, hard):
    kinds = KINDS if kind == "all" else (kind,)
    forest, X, background = game(31, n_classes, kinds=kinds, n_features=5, depth=5)
    weights = np.array([1.0, 2.0, 0.5, 1.0, 1.5])
    view = PackedPredictor(forest).view
    arguments = (weights, None, hard, 5, 2, None)
    found, within, base = _core.shapley_interactions(view, X[:2], background, *arguments)
    predict = predict_with(forest, hard)
    expected = interactions_of_worths(worths(predict, X[:2], background, weights), 5)
    assert within
    assert np.abs(expected[:, ~np.eye(5, dtype=bool)]).max() > 0.001
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(
        found.sum(axis=(1, 2)) + base, predict(np.ascontiguousarray(X[:2])), atol=1e-12
    )


def test_interactions_are_the_same_bits_for_any_number_of_threads():
    forest, X, background = game(12, 3)
    view = PackedPredictor(forest).view
    one, three = (
        _core.shapley_interactions(view, X, background, None, None, False, 12, n, None)
        for n in (1, 3)
    )
    assert one[0].tobytes() == three[0].tobytes()


def test_interactions_beyond_the_limit_of_boxes_are_not_found():
    forest, X, background = game(21, 0, n_features=7, n_nominal=0, n_axes=1, kinds=("dense",))
    view = PackedPredictor(forest).view
    arguments = (None, None, False)
    assert _core.shapley_interactions(view, X, background, *arguments, 7, 1, None)[1]
    assert not _core.shapley_interactions(view, X, background, *arguments, 2, 1, None)[1]
