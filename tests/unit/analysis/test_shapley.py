"""`bevel.analysis.shapley_values`: what goes in, what comes out, and its pictures."""

import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor, projections
from bevel.analysis import shapley_interactions, shapley_values
from bevel.analysis.results import ShapleyValues
from bevel.analysis.shapley import draw_rows
from bevel.extras import MissingPackageError
from bevel.plots import shapley_bars, shapley_waterfall

FOREST = {"n_estimators": 5, "random_state": 0, "n_jobs": 1}


def table(n=60):
    """Two numeric columns with missing values, and a nominal one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=n) * 1000, "age": rng.normal(size=n)})
    frame["kind"] = rng.choice(["a", "b", "c"], n)
    frame.loc[::7, "size"] = np.nan
    return frame


def targets(frame):
    return frame["size"].fillna(0) / 1000 + frame["age"] + (frame["kind"] == "a")


def labels(frame):
    return np.array(["low", "middle", "high"])[np.digitize(targets(frame), [-0.5, 0.7])]


@pytest.fixture(scope="module")
def regression():
    X = table()
    return ObliqueForestRegressor(**FOREST).fit(X, targets(X)), X


@pytest.fixture(scope="module")
def classification():
    X = table()
    return ObliqueForestClassifier(**FOREST, calibration=None).fit(X, labels(X)), X


def test_values_of_a_regressor_add_up_to_predict(regression):
    forest, X = regression
    result = shapley_values(forest, X[:8], X, max_background=20, random_state=1)
    assert result.values.shape == (8, 3)
    assert result.base_values.shape == ()
    assert result.names == ("size", "age", "kind")
    assert (result.n_background, result.n_background_given, result.sampled) == (20, 60, 0.0)
    assert (result.std > 0).any()
    np.testing.assert_allclose(result.predictions, forest.predict(X[:8]), atol=1e-12)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_values_of_a_classifier_add_up_to_predict_proba(voting):
    X = table()
    forest = ObliqueForestClassifier(**FOREST, calibration=None, voting=voting).fit(X, labels(X))
    result = shapley_values(forest, X[:8], X)
    assert result.values.shape == (8, 3, 3)
    np.testing.assert_allclose(result.predictions, forest.predict_proba(X[:8]), atol=1e-12)
    np.testing.assert_allclose(result.values.sum(axis=2), 0.0, atol=1e-6)  # shares sum to one
    np.testing.assert_allclose(result.base_values, forest.predict_proba(X).mean(axis=0))


def test_values_of_one_class_have_the_shape_of_a_regression(classification):
    forest, X = classification
    result = shapley_values(forest, X[:4], X, max_exact_features=0, random_state=0)
    one = result.output("low")
    column = list(forest.classes_).index("low")
    assert one.values.shape == one.std.shape == (4, 3)
    np.testing.assert_array_equal(one.predictions, result.predictions[:, column])
    assert one.output_name == "probability of low"
    with pytest.raises(ValueError, match=r"must be one of the fit; got 'tall'.*high, low, middle"):
        result.output("tall")
    with pytest.raises(ValueError, match="These values have one output"):
        one.output("low")


def test_rows_are_kept_in_the_units_of_the_user(regression):
    forest, X = regression
    result = shapley_values(forest, X[:8], X)
    assert result.data.dtype == object
    assert list(result.data[:, 2]) == list(X["kind"][:8])
    np.testing.assert_array_equal(result.data[:, 0].astype(float), X["size"][:8])
    plain = np.nan_to_num(X[["size", "age"]].to_numpy())
    numeric = ObliqueForestRegressor(**FOREST).fit(plain, targets(X))
    dense = shapley_values(numeric, plain[:5], plain)
    sparse = shapley_values(numeric, sp.csr_array(plain[:5]), sp.csr_array(plain))
    assert dense.names == ("x0", "x1")
    np.testing.assert_array_equal(dense.data, plain[:5])
    np.testing.assert_array_equal(sparse.data, plain[:5])
    np.testing.assert_array_equal(sparse.values, dense.values)


def test_sampled_values_repeat_with_the_seed_and_have_standard_errors():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 16)), rng.normal(size=80)
    forest = ObliqueForestRegressor(**FOREST, projection=projections.RandomRotation()).fit(X, y)
    arguments = {"max_background": 3, "max_exact_features": 4}
    first, second, other = (
        shapley_values(forest, X[:3], X, random_state=seed, **arguments) for seed in (0, 0, 1)
    )
    assert first.sampled > 0.9
    assert (first.std > 0).all()
    np.testing.assert_array_equal(first.values, second.values)
    assert (first.base_values, first.values.sum()) != (other.base_values, other.values.sum())
    np.testing.assert_allclose(first.predictions, forest.predict(X[:3]), atol=1e-12)
    assert "% of the games sampled, standard error" in str(first)


@pytest.mark.parametrize("way", ["slim", "loaded", "mapped"])
def test_values_of_other_ways_to_hold_a_forest_are_the_same(regression, way, tmp_path):
    forest, X = regression
    expected = shapley_values(forest, X[:3], X, random_state=0)
    forest.save(tmp_path / "model.bevel")
    held = bevel.load(tmp_path / "model.bevel", mmap=way == "mapped")
    if way == "slim":
        held.slim()
    found = shapley_values(held, X[:3], X, random_state=0)
    np.testing.assert_array_equal(found.values, expected.values)


def test_values_against_a_constant_target_or_the_row_itself_are_zero():
    X = table()
    forest = ObliqueForestRegressor(1, random_state=0).fit(X, np.full(len(X), 3.0))
    result = shapley_values(forest, X[:1], X)
    assert not result.values.any()
    assert result.base_values == 3.0
    forest = ObliqueForestRegressor(1, random_state=0).fit(X, targets(X))
    assert not shapley_values(forest, X[4:5], X[4:5]).values.any()


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("max_background", 0, ValueError, "max_background must be an integer of at least 2; got 0"),
        ("n_samples", 1, ValueError, "n_samples must be an integer of at least 2; got 1"),
        ("n_samples", 2.0, TypeError, "n_samples must be an integer of at least 2; got 2.0"),
        ("max_exact_features", 21, ValueError, "of at least 0 and at most 20; got 21"),
    ],
)
def test_parameters_out_of_range_are_refused(regression, name, value, error, message):
    forest, X = regression
    with pytest.raises(error, match=message):
        shapley_values(forest, X[:2], X, **{name: value})


def test_what_is_no_forest_and_other_columns_are_refused(regression):
    forest, X = regression
    with pytest.raises(TypeError, match="The forest of shapley_values must be a fitted forest"):
        shapley_values("forest", X, X)
    with pytest.raises(ValueError, match="Pass the columns used in fit"):
        shapley_values(forest, X[:2], X[["age", "size"]])


def test_bar_of_the_rows_done_is_drawn_when_verbose(regression, capsys):
    forest, X = regression
    shapley_values(forest, X[:4], X, verbose=1)
    assert "explaining rows" in capsys.readouterr().err
    shapley_values(forest, X[:4], X)
    assert capsys.readouterr().err == ""


def test_printed_values_name_the_features_by_importance(classification):
    forest, X = classification
    result = shapley_values(forest, X[:9], X[:30])
    lines = str(result).splitlines()
    assert lines[0] == (
        "Shapley values: 9 rows, 3 features, 3 classes, against 30 background rows, exact"
    )
    order = np.argsort(-result.importances)
    assert [line.split()[0] for line in lines[2:]] == [result.names[f] for f in order]
    np.testing.assert_allclose(
        result.importances, np.abs(result.values).mean(axis=0).mean(axis=1), rtol=1e-12
    )


def test_frame_has_a_column_for_each_feature_and_class(regression, classification):
    forest, X = regression
    result = shapley_values(forest, X[:4], X)
    np.testing.assert_array_equal(result.to_pandas()["age"], result.values[:, 1])
    forest, X = classification
    result = shapley_values(forest, X[:4], X)
    found = result.to_pandas()["low", "age"]
    np.testing.assert_array_equal(found, result.output("low").values[:, 1])


def test_explanation_for_shap_has_a_base_for_each_row(regression, classification, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", SimpleNamespace(Explanation=SimpleNamespace))
    forest, X = classification
    result = shapley_values(forest, X[:4], X)
    explanation = result.to_shap()
    assert explanation.base_values.shape == (4, 3)
    assert explanation.output_names == ["high", "low", "middle"]
    forest, X = regression
    explanation = shapley_values(forest, X[:4], X).to_shap()
    assert explanation.base_values.shape == (4,)
    assert explanation.feature_names == ["size", "age", "kind"]
    total = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_allclose(total, forest.predict(X[:4]), atol=1e-12)


def test_explanation_without_shap_says_how_to_install_it(regression, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    forest, X = regression
    with pytest.raises(MissingPackageError, match="to_shap needs shap"):
        shapley_values(forest, X[:2], X).to_shap()


def test_plots_of_shap_accept_the_explanation(classification):
    shap = pytest.importorskip("shap")
    forest, X = classification
    explanation = shapley_values(forest, X[:9], X).output("low").to_shap()
    shap.plots.bar(explanation, show=False)
    shap.plots.waterfall(explanation[0], show=False)


def wide(p=14):
    """A result of two rows without a forest: feature j adds j + 1, every other one takes."""
    values = np.array([[(j + 1.0) * (-1) ** j for j in range(p)]] * 2)
    names = tuple(f"feature {j}" for j in range(p))
    return ShapleyValues(values, np.array(5.0), values, names, None, None, 0.0, 7)


def test_bars_show_the_largest_features_on_top():
    axes = shapley_bars(wide(), top=4)
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        f"feature {j}" for j in (10, 11, 12, 13)
    ]
    assert [bar.get_width() for bar in axes.patches] == [11.0, 12.0, 13.0, 14.0]
    axes.figure.canvas.draw()


def test_waterfall_leads_from_the_base_to_the_prediction():
    result = wide()
    axes = shapley_waterfall(result, 1, top=5)
    texts = [label.get_text() for label in axes.get_yticklabels()]
    assert texts[0] == "9 other features"
    assert texts[-1] == "feature 13 = −14"
    first, last = axes.patches[0], axes.patches[-1]
    assert first.get_x() == 5.0
    assert last.get_x() + last.get_width() == pytest.approx(result.predictions[1])
    low, high = axes.get_xlim()
    for bar in axes.patches:
        assert low < min(bar.get_x(), bar.get_x() + bar.get_width())
        assert max(bar.get_x(), bar.get_x() + bar.get_width()) < high
    axes.figure.canvas.draw()


def test_waterfall_says_which_values_are_missing():
    result = wide(3)
    data = np.array([[np.nan, "here", None]] * 2, dtype=object)
    axes = shapley_waterfall(replace(result, data=data))
    texts = {label.get_text() for label in axes.get_yticklabels()}
    assert texts == {"feature 0 = missing", "feature 1 = here", "feature 2 = missing"}


def test_waterfall_of_a_classifier_draws_the_most_probable_class_on_given_axes(classification):
    pyplot = pytest.importorskip("matplotlib.figure")
    forest, X = classification
    result = shapley_values(forest, X[:3], X)
    given = pyplot.Figure().add_subplot()
    assert shapley_waterfall(result, 2, ax=given) is given
    assert given.get_xlabel() == f"probability of {forest.predict(X[2:3])[0]}"
    with pytest.raises(ValueError, match="row must be an integer from 0 to 2; got 3"):
        shapley_waterfall(result, 3)


def test_each_tree_draws_rows_of_a_large_background_about_equally_often():
    weights = np.ones(1000)
    drawn = draw_rows(weights, 250, None, np.random.default_rng(0))
    assert drawn.shape == (250, 10)
    assert set(np.bincount(drawn.ravel(), minlength=1000)) == {2, 3}
    assert all(len(set(rows)) == 10 for rows in drawn)
    assert draw_rows(weights, 3, None, np.random.default_rng(0)).shape == (3, 334)
    assert draw_rows(weights[:8], 250, None, np.random.default_rng(0)) is None


def test_rows_are_drawn_in_proportion_to_their_weights():
    weights = np.array([0.1, 2.0, 0.5, 1.4] * 25)
    drawn = draw_rows(weights, 50, 20, np.random.default_rng(0))
    counts = np.bincount(drawn.ravel(), minlength=100)
    assert np.abs(counts - 10 * weights).max() < 1.0 + 1e-9


def test_background_weights_are_those_of_repeated_rows(regression):
    forest, X = regression
    some = X[:6]
    weights = [1, 2, 0, 1, 3, 1]
    weighted = shapley_values(forest, X[:4], some, background_weight=weights)
    repeated = shapley_values(forest, X[:4], X.iloc[np.repeat(np.arange(6), weights)])
    np.testing.assert_allclose(weighted.values, repeated.values, atol=1e-12)
    np.testing.assert_allclose(weighted.predictions, forest.predict(X[:4]), atol=1e-12)
    for bad in ([1.0], [-1.0] * 6, [0.0] * 6, [np.nan] * 6, "heavy"):
        with pytest.raises(ValueError, match="background_weight must be 6 finite numbers"):
            shapley_values(forest, X[:4], some, background_weight=bad)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_path_dependent_values_need_no_background_and_add_up(voting):
    X = table()
    forest = ObliqueForestClassifier(**FOREST, calibration=None, voting=voting).fit(X, labels(X))
    result = shapley_values(forest, X[:5], feature_perturbation="tree_path_dependent")
    np.testing.assert_allclose(result.predictions, forest.predict_proba(X[:5]), atol=1e-9)
    assert "path-dependent, exact" in str(result)
    with pytest.raises(ValueError, match="Leave out background"):
        shapley_values(forest, X[:5], X, feature_perturbation="tree_path_dependent")
    with pytest.raises(ValueError, match="background must be a table"):
        shapley_values(forest, X[:5])
    with pytest.raises(ValueError, match="'interventional' or 'tree_path_dependent'; got 'both'"):
        shapley_values(forest, X[:5], X, feature_perturbation="both")


def test_path_dependent_values_of_a_slim_forest_are_refused(regression):
    forest, X = regression
    with pytest.raises(ValueError, match="must be with weights of its nodes; got 'a slim one'"):
        shapley_values(forest.slim(), X[:2], feature_perturbation="tree_path_dependent")


def test_path_dependent_values_of_single_features_are_those_of_treeshap():
    """The tree of scikit-learn that has the same splits."""
    shap = pytest.importorskip("shap")
    sklearn_tree = pytest.importorskip("sklearn.tree")
    X = np.random.default_rng(0).permutation(2000).reshape(500, 4).astype(float)
    y = X[:, 0] * (X[:, 1] > 800) + X[:, 2]
    options = {"max_depth": 3, "random_state": 0}
    peer = sklearn_tree.DecisionTreeRegressor(**options).fit(X, y)
    forest = ObliqueForestRegressor(
        1, projection="axis", n_projections="p", bootstrap=False, n_jobs=1, **options
    ).fit(X, y)
    np.testing.assert_allclose(forest.predict(X), peer.predict(X))
    found = shapley_values(forest, X[:10], feature_perturbation="tree_path_dependent")
    np.testing.assert_allclose(
        found.values, shap.TreeExplainer(peer).shap_values(X[:10]), atol=1e-4
    )


def test_interactions_have_the_shapley_values_as_sums(classification):
    forest, X = classification
    found = shapley_interactions(forest, X[:4], X)
    values = shapley_values(forest, X[:4], X)
    assert found.values.shape == (4, 3, 3, 3)
    np.testing.assert_allclose(found.values.sum(axis=1), values.values, atol=1e-12)
    np.testing.assert_allclose(found.predictions, forest.predict_proba(X[:4]), atol=1e-12)
    one = found.output("low")
    column = list(forest.classes_).index("low")
    np.testing.assert_array_equal(one.values, found.values[..., column])
    lines = str(one).splitlines()
    assert lines[0].startswith("Shapley interactions: 4 rows, 3 features, against 60 background")
    assert len(lines) == 5
    pairs = one.pairs()
    assert pairs[0][2] >= pairs[1][2] >= pairs[2][2]
    i, j = (one.names.index(name) for name in pairs[0][:2])
    assert pairs[0][2] == pytest.approx(2 * np.abs(one.values[:, i, j]).mean())


def test_interactions_of_trees_with_too_many_cases_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 16)), rng.normal(size=80)
    forest = ObliqueForestRegressor(**FOREST, projection=projections.RandomRotation()).fit(X, y)
    with pytest.raises(ValueError, match="tell at most 4 cases apart"):
        shapley_interactions(forest, X[:1], X[:2], max_exact_features=2)


def test_plots_of_shap_draw_values_and_interactions(regression):
    shap = pytest.importorskip("shap")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, X = regression
    rows = X[["size", "age"]].fillna(0.0)
    numeric = ObliqueForestRegressor(**FOREST).fit(rows, targets(X))
    values = shapley_values(numeric, rows[:20], rows).to_shap()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap.plots.beeswarm(values, show=False)
        shap.plots.waterfall(values[0], show=False)
        shap.plots.scatter(values[:, "age"], show=False)
        found = shapley_interactions(numeric, rows[:20], rows).to_shap()
        shap.summary_plot(found.values, features=rows[:20], show=False)
    pyplot.close("all")
