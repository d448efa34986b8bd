"""Linear models in the leaves of boosting, against plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

import bevel
from bevel import ObliqueBoostingRegressor, ObliqueRegressor
from bevel.analysis import (
    importance,
    partial_dependence,
    shapley_interactions,
    shapley_values,
    tree_rules,
)

MAX_TERMS, ROWS_PER_TERM = 7, 3


def make_table(n_rows, seed, n_nominal=1):
    """Numbers with ties, gaps, a constant column and a nominal one; a target with slopes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] *= 1e3
    X[:, 4] = 7.0
    y = 2.0 * X[:, 0] + np.where(X[:, 1] > 0.0, X[:, 2] / 1e3, 0.5 * X[:, 3])
    X[rng.random(n_rows) < 0.1, 1] = np.nan
    if n_nominal:
        X[:, 5] = rng.integers(0, 4, n_rows)
        y += X[:, 5] == 2
    return X, y + 0.05 * rng.normal(size=n_rows)


def fit(X, y, **parameters):
    given = {"linear_leaves": True, "max_iter": 8, "early_stopping": False, "random_state": 0}
    given |= {"categorical_features": [5]} if X.shape[1] == 6 else {}
    weights = parameters.pop("sample_weight", None)
    return ObliqueBoostingRegressor(**(given | parameters)).fit(X, y, sample_weight=weights)


def path_features(tree, leaf):
    """Numeric features of the splits above a leaf, the nearest first, at most MAX_TERMS."""
    parent = {}
    for node in range(tree.n_nodes):
        if tree.children_right[node] >= 0:
            parent[node + 1] = parent[int(tree.children_right[node])] = node
    found = []
    while leaf in parent:
        leaf = parent[leaf]
        own = slice(*tree.forest.entry_offset[tree.nodes.start + leaf :][:2])
        for feature in tree.forest.entry_index[own].tolist():
            if tree.forest.levels[feature] == 0 and feature not in found:
                found.append(feature)
    return found[:MAX_TERMS]


def naive_model(rows, weights, residuals, features, l2, rate):
    """Value at zero and slopes of a leaf: the mean step, and ridge regression about the means."""
    total = weights.sum()
    constant = rate * (weights @ residuals) / (total + l2)
    features = [
        feature
        for feature in features[: len(rows) // ROWS_PER_TERM]
        if rows[:, feature].min() < rows[:, feature].max()
    ]
    if not features:
        return constant, [], np.empty(0)
    Z = rows[:, features]
    means = weights @ Z / total
    centred = Z - means
    gram = centred.T @ (weights[:, None] * centred)
    gram[np.diag_indices(len(features))] *= 1.0 + l2 / total
    slopes = rate * np.linalg.solve(gram, centred.T @ (weights * residuals))
    return constant - slopes @ means, features, slopes


def replay(model, X, y, weights):
    """Compare every leaf with the naive model of its rows; returns the predictions of the rows."""
    forest = model.forest_
    encoded = bevel.estimators._base.encode_rows(model, X)
    filled = np.where(np.isnan(encoded), forest.medians, encoded).astype(np.float64)
    raw = np.full(len(y), model.baseline_prediction_[0])
    leaves = model.fitted_forest_.packed_predictor.leaves(encoded, 1)
    n_terms = 0
    for t in range(forest.n_trees):
        tree, added = forest.tree(t), np.zeros(len(y))
        for leaf in np.flatnonzero(tree.children_right < 0).tolist():
            mine = leaves[:, t] == leaf
            features, slopes = tree.entries(leaf)
            value = forest.leaf_value[tree.nodes.start + leaf]
            wanted = naive_model(
                *(filled[mine], weights[mine], (y - raw)[mine], path_features(tree, leaf)),
                *(model.l2_regularization, 0.05),
            )
            assert features.tolist() == wanted[1]
            size = np.abs(y).max()
            np.testing.assert_allclose(slopes, wanted[2], rtol=2e-4, atol=1e-6 * size)
            np.testing.assert_allclose(value, wanted[0], rtol=2e-4, atol=1e-5 * size)
            own = slice(*forest.entry_offset[tree.nodes.start + leaf :][:2])
            low, high = forest.entry_low[own], forest.entry_high[own]
            if mine.any():
                np.testing.assert_array_equal(low, filled[mine][:, features].min(axis=0))
                np.testing.assert_array_equal(high, filled[mine][:, features].max(axis=0))
            clipped = np.clip(filled[mine][:, features], low, high)
            added[mine] = value + clipped @ slopes.astype(np.float64)
            n_terms += len(features)
        raw += added
    assert n_terms > 20
    return raw


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_models_of_leaves_are_ridge_regressions_of_numpy(seed, scale, weighted):
    X, y = make_table(150, seed)
    weights = np.random.default_rng(seed).integers(1, 4, 150) * 0.5 if weighted else np.ones(150)
    model = fit(X, y, scale=scale, max_leaf_nodes=6, sample_weight=weights if weighted else None)
    raw = replay(model, X, y, weights)
    np.testing.assert_allclose(model.predict(X), raw, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        0.5 * np.average((raw - y) ** 2, weights=weights), -model.train_score_[-1], rtol=1e-9
    )


@pytest.mark.parametrize("edge", [-1e6, 1e6])
def test_rows_beyond_the_training_rows_are_predicted_at_the_edges(edge):
    X, y = make_table(300, 0, n_nominal=0)
    model = fit(X[:, :4], y, projection="axis", max_iter=50)
    far = X[:, :4].copy()
    far[:, 0] = edge
    further = far.copy()
    further[:, 0] = 1e3 * edge
    assert np.abs(model.predict(far)).max() < 3 * np.abs(y).max()
    np.testing.assert_allclose(model.predict(far), model.predict(further), rtol=1e-6)


def test_predictors_and_files_give_the_same_bits(tmp_path):
    X, y = make_table(200, 1)
    model = fit(X, y)
    assert model.forest_.has_leaf_models
    new, _ = make_table(300, 2)
    wanted = model.predict(new)
    model.save(tmp_path / "model.bevel")
    np.testing.assert_array_equal(bevel.load(tmp_path / "model.bevel").predict(new), wanted)
    mapped = bevel.load(tmp_path / "model.bevel", mmap=True)
    np.testing.assert_array_equal(mapped.predict(new), wanted)
    single = np.concatenate([model.predict(row[None]) for row in new[:20]])
    np.testing.assert_array_equal(single, wanted[:20])
    np.testing.assert_array_equal(list(model.staged_predict(new))[-1], wanted)
    encoded = bevel.estimators._base.encode_rows(model, new)
    mean = bevel._core.ForestView
    assert mean is not None
    packed = model.fitted_forest_.packed_predictor
    of_trees = packed.values(encoded, 1) * model.forest_.n_trees
    np.testing.assert_allclose(of_trees + model.baseline_prediction_[0], wanted, rtol=1e-12)


def test_threads_do_not_change_the_trees():
    X, y = make_table(400, 3)
    one, two = (fit(X, y, n_jobs=n).forest_ for n in (1, 2))
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, getattr(two, name))


def test_held_out_rows_choose_linear_leaves_where_targets_have_slopes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    sloped = X[:, 0] * np.where(X[:, 1] > 0.0, 2.0, -1.0)
    steps = 3.0 * (X[:, 0] > 0.0) + (X[:, 1] > 0.5) + rng.normal(size=600)
    linear = ObliqueBoostingRegressor(random_state=0).fit(X, sloped)
    plain = ObliqueBoostingRegressor(random_state=0).fit(X, steps)
    never = ObliqueBoostingRegressor(linear_leaves=False, random_state=0).fit(X, sloped)
    assert linear.forest_.has_leaf_models
    assert not plain.forest_.has_leaf_models
    assert not never.forest_.has_leaf_models
    assert linear.validation_score_.max() > never.validation_score_.max()


def test_warm_start_goes_on_with_linear_leaves():
    X, y = make_table(200, 4)
    whole = fit(X, y, max_iter=8)
    parts = fit(X, y, max_iter=4, warm_start=True)
    parts.set_params(max_iter=8).fit(X, y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("projection", ["axis", "auto"])
def test_shapley_values_equal_those_of_all_coalitions(projection):
    X, y = make_table(120, 5, n_nominal=0)
    X = X[:, :4]
    model = fit(X, y, projection=projection, max_iter=4, max_leaf_nodes=5)
    rows, background = X[:4], X[40:46]
    found = shapley_values(model, rows, background)
    wanted = np.array([naive_shapley(model, row, background) for row in rows])
    np.testing.assert_allclose(found.values, wanted, rtol=1e-9, atol=1e-11)
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(rows), rtol=1e-12, atol=1e-12)
    pairs = shapley_interactions(model, rows, background)
    np.testing.assert_allclose(pairs.values.sum(axis=2), wanted, rtol=1e-9, atol=1e-11)


def naive_path_worth(model, row, known):
    """What a model predicts if some features of a row are known; others follow the weights."""
    forest = model.forest_
    encoded = bevel.estimators._base.encode_rows(model, row[None])[0]
    total = model.baseline_prediction_[0]
    for t in range(forest.n_trees):
        tree = forest.tree(t)
        stack = [(0, 1.0)]
        while stack:
            node, share = stack.pop()
            place = tree.nodes.start + node
            features, weights = tree.entries(node)
            right = int(tree.children_right[node])
            if right < 0:
                own = slice(*forest.entry_offset[place:][:2])
                low, high = forest.entry_low[own], forest.entry_high[own]
                middle = (low.astype(float) + high) / 2
                values = np.where(known[features], np.clip(encoded[features], low, high), middle)
                total += share * (forest.leaf_value[place] + weights.astype(float) @ values)
            elif known[features].all():
                left = np.float32(weights) @ encoded[features] <= tree.threshold[node]
                stack.append((node + 1 if left else right, share))
            else:
                places = (place + 1, tree.nodes.start + right)
                left, other = (float(forest.weight[child]) for child in places)
                stack.append((node + 1, share * left / (left + other)))
                stack.append((right, share * other / (left + other)))
    return total


def test_path_dependent_values_equal_those_of_all_coalitions():
    X, y = make_table(120, 14, n_nominal=0)
    X = np.nan_to_num(X[:, :4])
    model = fit(X, y, projection="axis", max_iter=3, max_leaf_nodes=5)
    found = shapley_values(model, X[:3], feature_perturbation="tree_path_dependent")
    inside = (np.arange(16)[:, None] >> np.arange(4)) & 1 == 1
    factorial = np.array([1.0, 1.0, 2.0, 6.0, 24.0])
    for row, values in zip(X[:3], found.values, strict=True):
        worth = np.array([naive_path_worth(model, row, known) for known in inside])
        for k in range(4):
            without = np.flatnonzero(~inside[:, k])
            size = inside[without].sum(axis=1)
            share = factorial[size] * factorial[3 - size] / factorial[4]
            wanted = share @ (worth[without + 2**k] - worth[without])
            np.testing.assert_allclose(values[k], wanted, rtol=1e-9, atol=1e-10)
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(X[:3]), rtol=1e-10)


def test_sampled_shapley_values_add_up_to_the_prediction():
    X, y = make_table(120, 6, n_nominal=0)
    model = fit(X[:, :4], y, max_iter=4)
    found = shapley_values(model, X[:5, :4], X[40:50, :4], max_exact_features=0)
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(X[:5, :4]), rtol=1e-12, atol=1e-12)


def naive_shapley(model, row, background):
    """Mean over background rows of the values of a game of all coalitions."""
    n = len(row)
    inside = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    worth = np.mean([model.predict(np.where(inside, row, z)) for z in background], axis=0)
    values = np.zeros(n)
    for k in range(n):
        without = np.flatnonzero(~inside[:, k])
        size = inside[without].sum(axis=1)
        factorial = np.cumprod([1.0, *range(1, n + 1)])
        share = factorial[size] * factorial[n - size - 1] / factorial[n]
        values[k] = share @ (worth[without + 2**k] - worth[without])
    return values


@pytest.mark.parametrize("features", [[0], [0, 1]])
def test_partial_dependence_is_the_mean_prediction_of_changed_rows(features):
    X, y = make_table(150, 7, n_nominal=0)
    X = X[:, :4]
    model = fit(X, y)
    found = partial_dependence(model, X[:30], features, grid_resolution=6)
    axes = [found.grid] if len(features) == 1 else found.grid
    grids = np.meshgrid(*(np.asarray(axis) for axis in axes), indexing="ij")
    for place in np.ndindex(grids[0].shape):
        changed = X[:30].copy()
        changed[:, features] = [grid[place] for grid in grids]
        np.testing.assert_allclose(found.values[place], model.predict(changed).mean(), rtol=1e-6)


def test_rules_write_the_models_of_leaves():
    X, y = make_table(150, 8, n_nominal=0)
    model = fit(X[:, :2], y, max_iter=1, max_leaf_nodes=2, scale=None, projection="axis")
    text = str(tree_rules(model))
    assert "·x0" in text or "·x1" in text
    assert "cut each feature to its range" in text
    importance(model)


def test_combined_models_have_linear_leaves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] * np.where(X[:, 1] > 0.0, 2.0, -1.0)
    model = ObliqueRegressor(quality=1, random_state=0).fit(X, y)
    members = model.fitted_forest_.members
    assert any(member.forest.has_leaf_models for member in members)
    found = shapley_values(model, X[:3], X[50:60])
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(X[:3]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"loss": "absolute_error"}, "loss must be"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "monotonic_cst must be"),
        ({"linear_leaves": "yes"}, "linear_leaves must be"),
    ],
)
def test_linear_leaves_are_refused_where_they_cannot_be(given, match):
    X, y = make_table(60, 9, n_nominal=0)
    with pytest.raises((TypeError, ValueError), match=match):
        fit(X[:, :4], y, **given)


def test_sparse_tables_have_no_linear_leaves():
    _, y = make_table(200, 10, n_nominal=0)
    sparse = sp.random(200, 30, density=0.05, format="csr", random_state=0)
    with pytest.raises(ValueError, match="X must be dense"):
        fit(sparse, y)
    assert not ObliqueBoostingRegressor(random_state=0).fit(sparse, y).forest_.has_leaf_models


@pytest.mark.parametrize("route", ["trees", "walk"])
def test_onnx_predicts_by_the_models_of_leaves(route):
    onnx_models = pytest.importorskip("support.onnx_models", exc_type=ImportError)
    X, y = make_table(200, 11, n_nominal=0)
    model = fit(X[:, :4], y)
    new = make_table(300, 12, n_nominal=0)[0][:, :4]
    found = onnx_models.answers(model, new, dtype="float64", route=route)
    np.testing.assert_allclose(found.ravel(), model.predict(new), rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def forest():
    return fit(*make_table(150, 13)).forest_


def checked(forest, **changed):
    about = (forest.n_features, forest.n_classes, forest.levels, forest.medians)
    bevel._core.check_forest(forest.arrays() | changed, *about)


def entry_of_leaf(forest, at_least=2):
    """The first entry of a leaf with so many."""
    count = np.where(forest.right < 0, np.diff(forest.entry_offset), 0)
    return int(forest.entry_offset[np.flatnonzero(count >= at_least)[0]])


@pytest.mark.parametrize(
    ("array", "value", "match"),
    [
        ("entry_low", np.inf, "finite coefficient and an ascending range"),
        ("entry_low", np.nan, "finite coefficient and an ascending range"),
        ("entry_high", -1e30, "finite coefficient and an ascending range"),
        ("entry_weight", np.nan, "finite coefficient and an ascending range"),
        ("entry_index", 5, "must name numeric features"),
        ("entry_index", 6, "must name numeric features"),
        ("entry_index", -1, "must name numeric features"),
        ("entry_index", None, "must have each feature once"),
        ("entry_high", 3e38, "at most 1e65 in size"),
    ],
)
def test_faults_of_models_are_found_in_arrays_and_files(forest, array, value, match):
    place = entry_of_leaf(forest)
    changed = {name: getattr(forest, name).copy() for name in ("entry_weight", array)}
    if value is None:
        value = forest.entry_index[place + 1]
    if value == 3e38:
        changed["entry_weight"][place] = 3e38
    changed[array][place] = value
    with pytest.raises(ValueError, match=match):
        checked(forest, **changed)


def test_lengths_of_ranges_are_checked(forest):
    checked(forest)
    with pytest.raises(ValueError, match="entry_high must have"):
        checked(forest, entry_high=forest.entry_high[:0])
    with pytest.raises(ValueError, match="must have"):
        checked(forest, entry_low=forest.entry_low[1:])


def test_trees_taken_and_joined_keep_the_models_of_leaves(forest):
    some = bevel.forest.flat_forest.take_trees(forest, [3, 1])
    plain = fit(*make_table(150, 13), linear_leaves=False).forest_
    joined = bevel.forest.flat_forest.join_forests(plain, some)
    checked(some)
    checked(joined)
    assert len(joined.entry_low) == len(joined.entry_index)
    last = slice(joined.entry_offset[joined.tree_offset[-3]], None)
    np.testing.assert_array_equal(joined.entry_low[last], some.entry_low)


def test_symmetric_trees_have_linear_leaves():
    X, y = make_table(200, 15)
    model = fit(X, y, growth="symmetric", max_iter=10)
    assert model.forest_.has_leaf_models
    new, _ = make_table(300, 16)
    encoded = bevel.estimators._base.encode_rows(model, new)
    view = model.fitted_forest_.packed_predictor.view
    of_trees = view.predict_value(encoded, 1) * model.forest_.n_trees
    np.testing.assert_allclose(
        of_trees + model.baseline_prediction_[0], model.predict(new), rtol=1e-12
    )
