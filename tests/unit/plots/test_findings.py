"""What a person reads off a picture: its title, its legend, the number and order of its marks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, analysis, plots
from bevel.analysis.results import Importance, ImportanceTest
from bevel.plots.canvas import course, digits, largest_of, panel
from bevel.report.tasks import words_of
from bevel.workflow.scores import Estimate
from bevel.workflow.tasks import REGRESSION


@pytest.fixture(scope="module")
def classified():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 2)), columns=["petal length (cm)", "sepal width (cm)"])
    y = np.array(["setosa", "versicolor", "virginica"])[np.digitize(X.iloc[:, 0], (-0.5, 0.5))]
    return ObliqueForestClassifier(20, random_state=0, n_jobs=1).fit(X, y), X, y


@pytest.fixture(autouse=True)
def _close():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def title(axes):
    return axes.get_title(loc="left").replace("\n", " ")


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        ([1.0, 2.0, 3.0], "rises from 1 to 3"),
        ([0.3, 0.3, -0.25], "falls from 0.3 to −0.25"),
        ([1.0, 3.0, 2.0], "between 1 and 3"),
        ([2.0, 2.0], "2 throughout"),
        ([0.0, 50.0, 49.5, 100.0], "rises from 0 to 100"),  # a dent of half a percent
    ],
)
def test_course_of_a_curve_in_words(curve, words):
    assert course(np.array(curve)) == words


def test_importance_title_names_the_largest_only_if_its_interval_is_clear_of_zero():
    names, values = ("a", "b"), np.array([0.1, 0.4])
    assert largest_of(names, values, np.array([False, False])) == "largest for b"
    assert largest_of(names, values, np.array([False, True])) == ""
    assert largest_of(names, values, np.array([True, True])) == "no feature is clear of zero"
    assert largest_of(names, np.zeros(2), np.array([False, False])) == ""


def test_importance_bars_are_ordered_and_titled():
    result = Importance("gini", ("a", "b", "c"), np.array([0.2, 0.7, 0.1]), "x")
    axes = plots.importance_bars(result, n_top=2)
    assert title(axes) == "Impurity importance: largest for b"
    assert [bar.get_width() for bar in axes.patches] == [0.7, 0.2]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a"]


def test_bars_of_a_test_have_p_values_and_are_pale_where_chance_would_do():
    result = ImportanceTest(
        "altmann",
        ("a", "b"),
        np.array([0.3, 0.1]),
        "x",
        p_values=np.array([0.0001, 0.1]),
        corrected=np.array([0.0002, 0.2]),
    )
    axes = plots.importance_bars(result)
    assert title(axes) == "Importance tested after Altmann: largest for a"
    assert [text.get_text().strip() for text in axes.texts] == ["p < 0.001", "p = 0.2"]
    dark, pale = (bar.get_facecolor() for bar in axes.patches)
    assert sum(dark[:3]) < sum(pale[:3])


def test_effect_of_classes_names_the_one_that_changes_most(classified):
    forest, X, _ = classified
    effect = analysis.partial_dependence(forest, X, "petal length (cm)")
    axes = plots.effect(effect)
    most = max(effect.classes, key=lambda label: np.ptp(effect.output(label).values))
    assert title(axes).startswith(f"Partial dependence of petal length (cm): {most} changes most, ")
    assert legend(axes) == ["setosa", "versicolor", "virginica"]
    figure = axes.figure
    figure.canvas.draw()
    beside = axes.get_legend().get_window_extent()
    assert beside.x0 >= axes.bbox.x1 - 1.0  # not over the curves
    assert beside.x1 <= figure.bbox.x1


def test_boundaries_have_names_of_features_and_a_legend_of_classes(classified):
    forest, X, y = classified
    left, right = plots.decision_boundaries({"one": forest, "other": forest}, X, y)
    assert (left.get_xlabel(), left.get_ylabel()) == tuple(X.columns)
    assert legend(right) == ["setosa", "versicolor", "virginica"]


def test_boundaries_of_a_plane_without_names_have_no_ticks(classified):
    _, X, y = classified
    plain = ObliqueForestClassifier(5, random_state=0, n_jobs=1).fit(X.to_numpy(), y)
    (only,) = plots.decision_boundaries({"one": plain}, X.to_numpy(), y)
    assert list(only.get_xticks()) == []


def test_posterior_map_says_what_dots_and_crosses_are(classified):
    forest, X, y = classified
    assert legend(plots.posterior_map(forest, X, y, label="setosa")) == ["setosa", "other"]


def test_surrogate_tree_is_drawn_with_all_leaves_and_its_fidelity(classified):
    forest, X, y = classified
    tree = analysis.surrogate_tree(forest, X, y, max_depth=2)
    axes = plots.tree(tree)
    texts = [text.get_text() for text in axes.texts]
    assert sum("of the rows" in text and "\n" in text for text in texts) >= tree.n_leaves
    assert "imitates the model" in texts[-1]
    assert sum(text in ("yes", "no") for text in texts) == 2 * (tree.n_leaves - 1)


def test_surrogate_of_a_regression_is_drawn():
    X = np.random.default_rng(0).normal(size=(100, 2))
    forest = ObliqueForestRegressor(10, random_state=0, n_jobs=1).fit(X, X[:, 0])
    tree = analysis.surrogate_tree(forest, X, max_depth=2)
    bars = [bar for bar in plots.tree(tree).patches if bar.get_fill()]
    assert len(bars) == tree.n_leaves


def test_fan_chart_says_how_much_its_band_covers_and_what_is_across():
    X = pd.DataFrame({"bmi": np.linspace(0, 1, 60)})
    forest = ObliqueForestRegressor(20, projection="axis", random_state=0, n_jobs=1)
    result = analysis.quantiles(forest.fit(X, X["bmi"]), X, X["bmi"])
    axes = plots.fan_chart(result, x=X["bmi"])
    low, high = result.values[:, 0], result.values[:, -1]
    covered = 100 * np.mean((low <= X["bmi"]) & (X["bmi"] <= high))
    words = axes.get_legend().get_title().get_text()
    assert words == f"The 90 % band covers {covered:.3g} % of the 60 targets"
    assert axes.get_xlabel() == "bmi"


def test_curve_of_trees_and_margins_state_the_error(classified):
    forest, X, y = classified
    curve = analysis.out_of_bag_curve(forest, X, y)
    axes = plots.out_of_bag_curve(curve)
    assert title(axes) == f"Out-of-bag error {curve.loss[-1]:.3g} with 20 trees"
    strength = analysis.strength_and_correlation(forest, X, y)
    wrong = 100 * np.mean(strength.margins[~np.isnan(strength.margins)] < 0)
    axes = plots.margins(strength)
    assert title(axes) == f"Margins: {wrong:.1f} % of the rows are voted wrongly"
    assert f"mean {strength.strength:.2f}" in [text.get_text() for text in axes.texts]


def test_beeswarm_has_a_dot_for_each_row_and_orders_features(classified):
    forest, X, _ = classified
    result = analysis.shapley_values(forest, X[:40], X[::10], random_state=0)
    axes = plots.shapley_beeswarm(result, label="virginica")
    of_class = result.output("virginica")
    order = np.argsort(-np.abs(of_class.values).mean(axis=0), kind="stable")
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [result.names[feature] for feature in order]
    dots = [points for points in axes.collections if len(points.get_offsets())]
    assert [len(points.get_offsets()) for points in dots] == [40, 40]
    for points, feature in zip(dots, order, strict=True):
        assert np.allclose(points.get_offsets()[:, 0], of_class.values[:, feature])
        # Dark to pale follows the values of the feature.
        shade, value = points.get_array(), X.iloc[:40, feature]
        assert np.array_equal(np.argsort(shade, kind="stable"), np.argsort(value, kind="stable"))
    assert title(axes) == f"Shapley values of 40 rows: largest for {labels[0]}"


def test_dots_at_one_place_do_not_hide_each_other_nor_reach_the_next_feature():
    from bevel.plots.shapley import _piled

    heights = _piled(np.zeros(200), 1.0)
    assert len(np.unique(heights)) == 200
    assert np.abs(heights).max() < 0.5
    assert np.array_equal(_piled(np.array([-1.0, 0.0, 1.0]), 1.0), np.zeros(3))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3071.2, "3070"),
        (-41234.0, "−41,200"),
        (0.01234, "0.0123"),
        (123.4, "123"),
        (2.5e9, "2.5e9"),
    ],
)
def test_numbers_in_titles_are_written_out(value, written):
    assert digits(value) == written


def test_title_of_two_coordinates_is_inside_the_picture():
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    found = analysis.principal_coordinates(forest, X, y, n_components=2)
    figure = plots.proximity_pairs(found, labels=y)[0, 0].figure
    figure.canvas.draw()
    title = figure._suptitle.get_window_extent()
    assert title.x0 >= 0
    assert title.x1 <= figure.bbox.x1


def test_markers_at_the_edge_are_whole():
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    ax = plots.variation_explained(analysis.principal_coordinates(forest, X, y))
    assert not any(line.get_clip_on() for line in ax.get_lines())


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.0, 8e6, ["0", "2M", "4M", "6M", "8M"]),
        (0.0, 250_000.0, ["0", "50k", "100k", "150k", "200k", "250k"]),
        (0.0, 40_000.0, ["0", "10,000", "20,000", "30,000", "40,000"]),
        (1990.0, 2020.0, ["1990", "2000", "2010", "2020"]),
        (-0.4, 0.4, ["−0.4", "−0.2", "0", "0.2", "0.4"]),
        (0.0, 8e-6, ["0", "2e−6", "4e−6", "6e−6", "8e−6"]),
        (1_000_000.0, 1_000_400.0, ["1000k", "1000.1k", "1000.2k", "1000.3k", "1000.4k"]),
    ],
)
def test_ticks_are_plain_numbers(low, high, shown):
    with panel(None, "a test") as axes:
        axes.set_ylim(low, high)
        axes.set_yticks(np.linspace(low, high, len(shown)))
    axes.figure.canvas.draw()
    assert [text.get_text() for text in axes.get_yticklabels()] == shown


def test_importance_of_a_squared_error_is_shown_in_percent():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, y)
    found = analysis.importance(forest, "permutation", X, y, random_state=0)
    shown = found.in_percent()
    np.testing.assert_allclose(shown.values, 100.0 * found.values / found.error)
    np.testing.assert_allclose(
        shown.standard_error / shown.values, found.standard_error / found.values
    )
    assert shown.measures.startswith(
        "increase, in percent, of the mean squared error of the forest"
    )
    ax = plots.importance_bars(found)
    widest = max(bar.get_width() for bar in ax.patches)
    assert widest == pytest.approx(shown.values.max())
    labels = forest.feature_names_in_
    classes = ObliqueForestClassifier(30, random_state=0).fit(X[labels], y > 140)
    plain = analysis.importance(classes, "permutation", X, y > 140, random_state=0)
    assert plain.in_percent() is plain


def test_curve_of_a_squared_error_is_in_units_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    forest = ObliqueForestRegressor(30, random_state=0).fit(X, y)
    curve = analysis.out_of_bag_curve(forest, X, y)
    ax = plots.out_of_bag_curve(curve)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.sqrt(curve.loss))
    assert ax.get_ylabel() == "out-of-bag root mean squared error"


def test_sentence_of_a_page_has_no_squared_units():
    told = words_of(REGRESSION)
    text = told.rise(Estimate(2100.0, 1000.0, 3300.0), 10_000.0)
    assert text == "root mean squared error of 100 by 10 (95 % interval 4.88 to 15.3)"
    assert told.family_errors(10_000.0, 400.0) == ("100", "2")
