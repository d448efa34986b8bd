"""Curves of the core against one prediction for every variant of every row."""

import numpy as np
import pytest
from support.families import FAMILIES, TASKS, grow_on, new_rows, training_data
from support.random_forests import KINDS, random_forest, random_rows

from bevel import _core
from bevel.forest.flat_forest import take_trees
from bevel.forest.predictor import PackedPredictor

NONE = np.empty(0, np.float32)


def predict_with(forest, hard=False):
    """The reference predictor of some trees: rows x outputs."""
    view = PackedPredictor(forest).view
    if forest.n_classes == 0:
        return lambda X: view.predict_value(X, 1)[:, None]
    return lambda X: view.predict_proba(X, 1, hard)


def grid_values(rng, levels, size):
    """Ascending values with ties on thresholds; codes of a nominal feature, unseen ones too."""
    if levels:
        return np.arange(-1, levels + 2, dtype=np.float32)
    values = np.sort(np.round(rng.normal(size=size), 1)).astype(np.float32)
    values[len(values) // 2] = np.nextafter(values[len(values) // 2], np.float32(9))
    return np.sort(values)


def naive_grid(predict, X, features, values):
    """Rows x outputs x variants, the first feature running fastest."""
    columns = []
    for second in values[1] if len(features) == 2 else [None]:
        for first in values[0]:
            changed = X.copy()
            changed[:, features[0]] = first
            if second is not None:
                changed[:, features[1]] = second
            columns.append(predict(changed))
    return np.stack(columns, axis=-1)


def core_grid(features, values):
    second = (int(features[1]), values[1]) if len(features) == 2 else (-1, NONE)
    return _core.FeatureGrid(int(features[0]), values[0], *second)


@pytest.mark.parametrize("n_open", [1, 2])
@pytest.mark.parametrize("hard", [False, True], ids=["soft", "hard"])
@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_row_curves_of_random_forests_are_predictions_bit_for_bit(kind, n_classes, hard, n_open):
    kinds = KINDS if kind == "all" else (kind,)
    rng = np.random.default_rng([KINDS.index(kind) if kind in KINDS else 99, n_classes, n_open])
    forest = random_forest(
        rng, 7, n_classes, n_trees=5, depth=6, n_nominal=2, n_axes=2, kinds=kinds
    )
    predictor = PackedPredictor(forest)
    for missing in (0.0, 0.2):
        X = random_rows(rng, forest, 6, missing)
        features = rng.choice(7, n_open, replace=False)
        values = [grid_values(rng, int(forest.levels[f]), 9) for f in features]
        grid = core_grid(features, values)
        curves = _core.row_curves(predictor.packed, X, grid, hard, None, 2, None)
        expected = naive_grid(predict_with(forest, hard), X, features, values)
        assert np.array_equal(curves, expected)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_row_curves_of_every_family_are_predictions_bit_for_bit(family, task):
    rng = np.random.default_rng(7)
    data = training_data(rng, 150, TASKS[task], weights="real")
    grown = grow_on(data, family, 3)
    packed = _core.PackedForest(grown.view)
    X = np.ascontiguousarray(new_rows(rng, data, 12))
    for features in ([0], [5], [0, 2], [6, 1]):
        values = [grid_values(rng, int(data.levels[f]), 8) for f in features]
        grid = core_grid(features, values)
        curves = _core.row_curves(packed, X, grid, False, None, 1, None)
        assert np.array_equal(curves, naive_grid(grown.predict, X, features, values))


@pytest.mark.parametrize("features", [[0], [0, 3]], ids=["one", "two"])
def test_row_curves_of_numbers_whose_sums_overflow_are_predictions(features):
    rng = np.random.default_rng(3)
    forest = random_forest(rng, 5, 3, n_trees=8, depth=7, n_axes=2)
    predictor = PackedPredictor(forest)
    X = random_rows(rng, forest, 8) * np.float32(2e37)
    values = [np.sort(rng.normal(size=12).astype(np.float32) * np.float32(1e38)) for _ in features]
    grid = core_grid(features, values)
    curves = _core.row_curves(predictor.packed, X, grid, False, None, 1, None)
    assert np.array_equal(curves, naive_grid(predict_with(forest), X, features, values))


def random_values(rng, shape):
    values = np.round(rng.normal(size=shape), 1).astype(np.float32)
    values[rng.random(shape) < 0.1] = np.nan
    return values


@pytest.mark.parametrize("n_axes", [0, 2])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_curves_of_rows_with_values_of_their_own_are_predictions(n_classes, n_axes):
    rng = np.random.default_rng([n_classes, n_axes])
    forest = random_forest(rng, 7, n_classes, n_trees=5, depth=6, n_nominal=2, n_axes=n_axes)
    predictor = PackedPredictor(forest)
    X, features = random_rows(rng, forest, 6, 0.1), np.array([1, 4, 6], np.int32)
    values = random_values(rng, (len(X), 5, len(features)))
    variants = _core.RowVariants(features, values)
    curves = _core.row_curves(predictor.packed, X, variants, False, None, 2, None)
    for variant in range(5):
        changed = X.copy()
        changed[:, features] = values[:, variant]
        assert np.array_equal(curves[:, :, variant], predict_with(forest)(changed))


@pytest.mark.parametrize("n_axes", [0, 1])
@pytest.mark.parametrize("features", [[2], [2, 4]], ids=["one", "two"])
@pytest.mark.parametrize("hard", [False, True], ids=["soft", "hard"])
def test_tree_curves_are_weighted_sums_over_the_rows_of_each_group(hard, features, n_axes):
    rng = np.random.default_rng(5)
    forest = random_forest(rng, 6, 3, n_trees=4, depth=6, n_axes=n_axes)
    predictor = PackedPredictor(forest)
    X = random_rows(rng, forest, 70, 0.1)
    group = rng.integers(-1, 3, len(X)).astype(np.int32)
    weights, values = rng.uniform(0, 2, len(X)), [grid_values(rng, 0, 7) for _ in features]
    out = rng.random((len(X), 4)) < 0.7
    sums = _core.tree_curves(
        predictor.packed, X, core_grid(features, values), group, 3, 4, weights, hard, out, 2, None
    )
    for tree in range(4):
        single = predict_with(take_trees(forest, [tree]), hard)
        curves = naive_grid(single, X, features, values) * weights[:, None, None]
        for g in range(3):
            expected = curves[(group == g) & out[:, tree]].sum(axis=0)
            np.testing.assert_allclose(sums[tree, g], expected, atol=1e-12)
    parts = _core.tree_curves(
        predictor.packed, X, core_grid(features, values), group, 3, 3, weights, hard, out, 2, None
    )
    of_trees = [sums[[0]], sums[[1]], sums[[2, 3]]]
    expected = np.array([trees.sum(axis=0) for trees in of_trees])
    np.testing.assert_allclose(parts, expected, atol=1e-12)


def test_row_curves_are_means_over_the_trees_that_evaluate_a_row_and_nan_without_any():
    rng = np.random.default_rng(8)
    forest = random_forest(rng, 6, 0, n_trees=5, depth=5)
    predictor = PackedPredictor(forest)
    X, values = random_rows(rng, forest, 40), grid_values(rng, 0, 6)
    out = rng.random((40, 5)) < 0.5
    out[3] = False
    grid = core_grid([1], [values])
    curves = _core.row_curves(predictor.packed, X, grid, False, out, 1, None)
    each = np.stack(
        [naive_grid(predict_with(take_trees(forest, [t])), X, [1], [values]) for t in range(5)]
    )
    for row in range(40):
        if not out[row].any():
            assert np.isnan(curves[row]).all()
        else:
            np.testing.assert_allclose(curves[row], each[out[row], row].mean(axis=0), atol=1e-12)


def test_curves_are_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(2)
    forest = random_forest(rng, 6, 3, n_trees=7, depth=6)
    packed = PackedPredictor(forest).packed
    X, values = random_rows(rng, forest, 130, 0.1), grid_values(rng, 0, 9)
    grid, group = core_grid([0, 1], [values, values]), np.zeros(130, np.int32)
    rows = [_core.row_curves(packed, X, grid, False, None, n, None) for n in (1, 3)]
    trees = [
        _core.tree_curves(packed, X, grid, group, 1, 3, None, False, None, n, None) for n in (1, 3)
    ]
    assert rows[0].tobytes() == rows[1].tobytes()
    assert trees[0].tobytes() == trees[1].tobytes()
