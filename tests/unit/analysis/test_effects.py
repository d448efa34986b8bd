"""Effects of features against their definitions through predict."""

import numpy as np
import pandas as pd
import pytest
import sklearn.inspection
from support.naive.effects import accumulated, individual_curves, predict

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, analysis
from bevel import projections as P

FORESTS = {
    "axis": {"projection": "axis"},
    "sparse_quantile": {"projection": "sparse", "scale": "quantile"},
    "rotation_rank": {"projection": "rotation", "scale": "rank"},
    "ridge": {"projection": P.Ridge(tune="gcv")},
}


def table(n=120, seed=0):
    """Numbers with ties and missing values, a nominal column, a constant one."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) * 10 + 50,
            "b": np.round(rng.normal(size=n), 1),
            "c": pd.Categorical(rng.choice(["u", "v", "w"], n)),
            "d": rng.exponential(size=n),
            "e": 1.0,
        }
    )
    signal = frame["a"] / 10 + frame["b"] * frame["d"] + (frame["c"] == "v") * 2
    frame.loc[::7, "b"] = np.nan
    return frame, signal.to_numpy() + rng.normal(size=n) * 0.2


@pytest.fixture(scope="module", params=FORESTS)
def regressor(request):
    X, y = table()
    return ObliqueForestRegressor(15, random_state=0, **FORESTS[request.param]).fit(X, y), X, y


@pytest.fixture(scope="module", params=["soft", "hard"])
def classifier(request):
    X, y = table()
    labels = np.array(["low", "mid", "top"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    return ObliqueForestClassifier(20, calibration=None, voting=request.param, random_state=0).fit(
        X, labels
    ), X


def squeeze(forest, values):
    return values if hasattr(forest, "predict_proba") else values[..., 0]


def test_partial_dependence_is_the_weighted_mean_of_predictions(regressor):
    forest, X, _ = regressor
    weights = np.random.default_rng(1).uniform(0, 2, len(X))
    for features in ("a", "b", "c", ["a", "d"], ["c", "b"]):
        effect = analysis.partial_dependence(
            forest, X, features, grid_resolution=7, kind="both", sample_weight=weights
        )
        grid = dict(zip(effect.names, effect.grid, strict=True))
        curves = squeeze(forest, individual_curves(forest, X, grid))
        assert np.array_equal(effect.individual, curves)
        expected = np.average(curves, axis=0, weights=weights)
        np.testing.assert_allclose(effect.values, expected, rtol=1e-12)


def test_partial_dependence_of_classes_is_the_mean_of_probabilities(classifier):
    forest, X = classifier
    for features in ("c", ["d", "a"]):
        effect = analysis.partial_dependence(forest, X, features, grid_resolution=6)
        grid = dict(zip(effect.names, effect.grid, strict=True))
        expected = individual_curves(forest, X, grid).mean(axis=0)
        np.testing.assert_allclose(effect.values, expected, atol=1e-12)
        assert effect.individual is None
        of_class = effect.output("mid")
        assert np.array_equal(of_class.values, effect.values[..., 1])
        assert of_class.output_name == "probability of mid"


def test_partial_dependence_has_the_grid_and_values_of_scikit_learn():
    X, y = table()
    X = X[["a", "d", "e"]]
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    for features in ([0], [1, 0]):
        theirs = sklearn.inspection.partial_dependence(
            forest, X, features, grid_resolution=20, method="brute"
        )
        ours = analysis.partial_dependence(forest, X, features, grid_resolution=20)
        for one, other in zip(ours.grid, theirs["grid_values"], strict=True):
            np.testing.assert_allclose(one, other)
        np.testing.assert_allclose(ours.values, theirs["average"][0], rtol=1e-9)


def test_partial_dependence_keeps_the_order_of_given_values(regressor):
    forest, X, _ = regressor
    values = [60.0, 40.0, 55.0]
    effect = analysis.partial_dependence(forest, X, "a", values=values)
    expected = individual_curves(forest, X, {"a": values}).mean(axis=0)[:, 0]
    np.testing.assert_allclose(effect.values, expected, rtol=1e-12)
    both = analysis.partial_dependence(forest, X, ["c", "a"], values=[["w", "u"], values])
    expected = individual_curves(forest, X, {"c": ["w", "u"], "a": values}).mean(axis=0)[..., 0]
    np.testing.assert_allclose(both.values, expected, rtol=1e-12)


def test_out_of_bag_curves_are_means_over_trees_that_have_not_seen_the_row(regressor):
    forest, X, y = regressor
    effect = analysis.partial_dependence(
        forest, X, "a", grid_resolution=4, kind="individual", out_of_bag=True, y=y
    )
    out = forest.fitted_forest_.provenance.bags.rows_out(15)
    for row in (0, 5, 11):
        alone = analysis.partial_dependence(
            forest, X[row : row + 1], "a", values=effect.grid[0], kind="both"
        )
        trees = _tree_values(forest, X[row : row + 1], effect.grid[0])
        expected = trees[:, out[row]].mean(axis=1)
        np.testing.assert_allclose(effect.individual[row], expected, rtol=1e-9)
        np.testing.assert_allclose(alone.values, trees.mean(axis=1), rtol=1e-9)


@pytest.mark.parametrize("features", ["a", ["a", "b"]])
def test_out_of_bag_means_are_weighted_means_of_individual_curves(regressor, features):
    forest, X, y = regressor
    weights = np.random.default_rng(3).uniform(0, 2, len(X))
    options = {"out_of_bag": True, "y": y, "grid_resolution": 5}
    single = analysis.partial_dependence(forest, X, features, kind="individual", **options)
    mean = analysis.partial_dependence(forest, X, features, sample_weight=weights, **options)
    curves = single.individual
    known = ~np.isnan(curves.reshape(len(X), -1)[:, 0])
    expected = np.average(curves[known], axis=0, weights=weights[known])
    np.testing.assert_allclose(mean.values, expected, rtol=1e-9)


def _tree_values(forest, row, grid):
    """Grid points x trees."""
    flat, values = forest.forest_, []
    for value in grid:
        changed = row.copy()
        changed["a"] = value
        values.append(flat.leaf_value[forest.apply(changed)[0] + flat.tree_offset[:-1]])
    return np.array(values)


def test_accumulated_local_effects_follow_their_definition(regressor):
    forest, X, _ = regressor
    weights = np.random.default_rng(2).uniform(0, 2, len(X))
    for name in ("a", "b", "d"):
        effect = analysis.accumulated_local_effects(
            forest, X, name, n_bins=6, sample_weight=weights
        )
        expected = accumulated(forest, X, name, effect.grid[0], weights)
        np.testing.assert_allclose(effect.values, squeeze(forest, expected), atol=1e-9)


def test_accumulated_local_effects_of_a_sum_are_its_terms_and_do_not_interact():
    """A forest of stumps adds up: each tree looks at one feature."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    X[:, 1] = 0.8 * X[:, 0] + 0.2 * X[:, 1]
    y = 3 * X[:, 0] - 2 * X[:, 1]
    forest = ObliqueForestRegressor(200, projection="axis", max_depth=1, random_state=0).fit(X, y)
    both = analysis.accumulated_local_effects(forest, X, [0, 1])
    np.testing.assert_allclose(both.values, 0.0, atol=1e-12)
    alone = analysis.accumulated_local_effects(forest, X, 0)
    partial = analysis.partial_dependence(forest, X, 0, values=alone.grid[0])
    steps = np.diff(alone.values), np.diff(partial.values)
    np.testing.assert_allclose(*steps, atol=1e-12)


def test_accumulated_local_effects_of_two_features_find_their_product():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 2))
    forest = ObliqueForestRegressor(100, random_state=0).fit(X, X[:, 0] * X[:, 1])
    effect = analysis.accumulated_local_effects(forest, X, [0, 1], n_bins=6)
    product = effect.grid[0][:, None] * effect.grid[1]
    assert np.corrcoef(effect.values.ravel(), product.ravel())[0, 1] > 0.97


def test_effect_along_a_direction_is_the_mean_of_moved_rows(regressor):
    forest, X, _ = regressor
    steps = [-1.0, 0.0, 0.5]
    effect = analysis.effect_along(forest, X, {"a": 8, "b": -0.5}, steps=steps)
    for step, value in zip(steps, effect.values, strict=True):
        moved = X.copy()
        moved["a"] += 8 * step
        moved["b"] -= 0.5 * step
        np.testing.assert_allclose(value, predict(forest, moved)[:, 0].mean(), rtol=1e-12)
    assert effect.names == ("8 a - 0.5 b",)


def test_standard_errors_are_those_of_the_mean_prediction():
    """All rows at one value: the curve is a prediction, whose error is known."""
    X, y = table()
    X = X[["a", "d"]]
    forest = ObliqueForestRegressor(60, random_state=0).fit(X, y)
    row = X[:1]
    effect = analysis.partial_dependence(forest, row, "a", values=[45.0, 60.0], standard_error=True)
    for point, value in enumerate(effect.grid[0]):
        changed = row.copy()
        changed["a"] = value
        single = analysis.predict_standard_error(forest, changed)
        trees = _tree_values(forest, row, [value])[0]
        expected = max(single.variance[0], 0.0) + trees.var(ddof=1) / 60
        np.testing.assert_allclose(effect.standard_error[point] ** 2, expected, rtol=1e-9)
    low, high = effect.band(0.9)
    np.testing.assert_allclose(high - low, 2 * 1.6448536 * effect.standard_error, rtol=1e-6)


@pytest.mark.parametrize("call", ["accumulated_local_effects", "effect_along"])
def test_standard_errors_of_other_effects_have_the_shape_of_values(call, classifier):
    forest, X = classifier
    what = "a" if call == "accumulated_local_effects" else {"a": 5.0}
    effect = getattr(analysis, call)(forest, X, what, standard_error=True)
    assert effect.standard_error.shape == effect.values.shape
    assert (effect.standard_error >= 0).all()
    without = getattr(analysis, call)(forest, X, what)
    assert np.array_equal(without.values, effect.values)


def naive_h_squared(forest, X, pair):
    """By its definition, with all rows."""
    names = list(X.columns)

    def dependence(features):
        values = []
        for row in range(len(X)):
            changed = X.copy()
            for f in features:
                changed[names[f]] = X[names[f]].iloc[row]
            values.append(predict(forest, changed).mean(axis=0))
        return np.array(values) - np.mean(values, axis=0)

    joint = dependence(pair)
    difference = joint - dependence(pair[:1]) - dependence(pair[1:])
    return (difference**2).sum() / (joint**2).sum()


def test_interactions_are_friedmans_h():
    X, y = table(25)
    X = X[["a", "b", "d"]]
    forest = ObliqueForestRegressor(10, random_state=0).fit(X, y)
    found = analysis.interactions(forest, X)
    for place, pair in enumerate(found.pairs):
        np.testing.assert_allclose(found.h_squared[place], naive_h_squared(forest, X, list(pair)))
    for feature in range(3):
        others = [f for f in range(3) if f != feature]
        total = predict(forest, X) - predict(forest, X).mean()
        # H of one feature with the other two together: their joint effect is the prediction.
        assert 0 <= found.overall[feature] <= (total**2).sum()
        assert len(others) == 2


def test_interactions_of_a_sum_are_zero_and_of_a_product_are_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 3))
    sum_forest = ObliqueForestRegressor(50, projection="axis", max_depth=1, random_state=0).fit(
        X, X.sum(axis=1)
    )
    found = analysis.interactions(sum_forest, X, random_state=0)
    np.testing.assert_allclose(found.strength, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.overall, 0.0, atol=1e-12)
    forest = ObliqueForestRegressor(50, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    found = analysis.interactions(forest, X, random_state=0)
    assert found.pair_names[found.order[0]] == "x0 x x1"
    assert found.overall[2] < min(found.overall[:2])


def test_effects_print_and_become_data_frames(classifier):
    forest, X = classifier
    effect = analysis.partial_dependence(forest, X, ["a", "c"], grid_resolution=4)
    frame = effect.to_pandas()
    assert list(frame.columns) == ["low", "mid", "top"]
    assert frame.index.names == ["a", "c"]
    assert "partial dependence of a and c: 120 rows, 4 x 3 points" in repr(effect)
    along = analysis.effect_along(forest, X, {"a": 5}, standard_error=True)
    assert "effect along 5 a" in repr(along)
    assert "mid standard error" in along.to_pandas().columns


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, X, _y: analysis.partial_dependence(f, X, "z"), "columns of the fit"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, [0, 0]), "two different ones"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0.5), "features must be"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0, kind="mean"), "kind must be"),
        (lambda f, X, y: analysis.partial_dependence(f, X, 0, y=y), "out_of_bag=True only"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0, out_of_bag=True), "Pass y"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0, percentiles=(1, 0)), "percentiles"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0, values=[np.nan]), "missing"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0, values=[1e300]), "size"),
        (lambda f, X, _y: analysis.accumulated_local_effects(f, X, "c"), "Use partial_dependence"),
        (lambda f, X, _y: analysis.accumulated_local_effects(f, X, "e"), "two different values"),
        (lambda f, X, _y: analysis.effect_along(f, X, {"c": 1}), "numeric features"),
        (lambda f, X, _y: analysis.effect_along(f, X, [1.0]), "direction must be"),
        (lambda f, X, _y: analysis.effect_along(f, X, {"a": "x"}), "finite numbers"),
        (lambda f, X, _y: analysis.effect_along(f, X, {"a": 1}, steps=[]), "steps must be"),
        (lambda f, X, _y: analysis.interactions(f, X, max_rows=1), "max_rows"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0).output("low"), "asked of a"),
        (lambda f, X, _y: analysis.partial_dependence(f, X, 0).band(), "standard_error=True"),
    ],
)
def test_effects_refuse_what_they_cannot_do(call, message):
    X, y = table()
    forest = ObliqueForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises((ValueError, TypeError), match=message):
        call(forest, X, y)


def test_standard_errors_need_bags():
    X, y = table()
    forest = ObliqueForestRegressor(3, bootstrap=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="bootstrap=True"):
        analysis.partial_dependence(forest, X, 0, standard_error=True)


def test_effect_of_a_nominal_column_without_labels_is_refused():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "none": pd.Series([None] * 4, dtype="str")})
    forest = ObliqueForestRegressor(5, projection="axis", categorical_features=["none"])
    forest.fit(frame, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match="A grid of none needs values"):
        analysis.partial_dependence(forest, frame, "none")
    with pytest.raises(ValueError, match="values of none must be a sequence of labels"):
        analysis.partial_dependence(forest, frame, "none", values=[])
