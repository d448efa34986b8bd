"""All pictures: shown by notebooks, nothing cut off, drawn where they are asked to be."""

from __future__ import annotations

import inspect
import threading
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from support.pictures import cut_off, overlapping

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueSurvivalForest,
    analysis,
    plots,
)
from bevel.analysis.results import BiasAndVariance, ErrorImportance
from bevel.datasets import weibull
from bevel.plots.canvas import decimals_for, detached, panels, text_width

LONG = "average of the daily measurements of blood pressure ({})"


@cache
def cancer():
    """The names that were cut off: "worst concave points"."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X[::4], y[::4].map({0: "malignant", 1: "benign"})
    forest = ObliqueForestClassifier(20, projection="sparse", random_state=0, n_jobs=1)
    return X, y, forest.fit(X, y)


@cache
def plane():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=[LONG.format("left"), LONG.format("right")])
    y = np.array(["class of the first kind", "class of the second kind"])[
        (X.sum(axis=1) > 0).to_numpy().astype(int)
    ]
    return X, y, ObliqueForestClassifier(10, random_state=0, n_jobs=1).fit(X, y)


@cache
def sugar():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=[LONG.format(k) for k in "abc"])
    y = X.iloc[:, 0].to_numpy() * 1000.0
    return X, y, ObliqueForestRegressor(10, random_state=0, n_jobs=1).fit(X, y)


def bias_of_three():
    result = BiasAndVariance(1000.0, 2000.0, 0.0, None, 10, 100)
    return {"a system": {50: result, 100: result}}


@cache
def survival():
    X, y = weibull(80, random_state=0)
    return ObliqueSurvivalForest(10, random_state=0, n_jobs=1).fit(X, y), X, y


def survival_curves(**ax):
    forest, X, _ = survival()
    names = [LONG.format(k) for k in "ab"]
    return plots.survival_curves(analysis.survival_bands(forest, X[:2]), names=names, **ax)


DRAWINGS = {
    "survival_curves": survival_curves,
    "risk_groups": lambda **ax: plots.risk_groups(analysis.risk_groups(*survival()), **ax),
    "survival_scores": lambda **ax: plots.survival_scores(
        analysis.survival_scores(*survival()), **ax
    ),
    "survival_calibration": lambda **ax: plots.survival_calibration(
        analysis.survival_calibration(*survival(), 1.0), **ax
    ),
    "importance_bars": lambda **ax: plots.importance_bars(permuted(), **ax),
    "importance_bars of directions": lambda **ax: plots.importance_bars(
        directions_of(cancer), **ax
    ),
    "importance_bars of long names": lambda **ax: plots.importance_bars(
        analysis.importance(sugar()[2], "gini"), **ax
    ),
    "effect": lambda **ax: plots.effect(
        analysis.partial_dependence(cancer()[2], cancer()[0], cancer()[0].columns[0]), **ax
    ),
    "interaction_bars": lambda **ax: plots.interaction_bars(
        analysis.interactions(cancer()[2], cancer()[0][:30], list(cancer()[0].columns[:3])), **ax
    ),
    "top_projections": lambda **ax: plots.top_projections(directions_of(cancer), **ax),
    "shapley_beeswarm": lambda **ax: plots.shapley_beeswarm(shapley_of(cancer), **ax),
    "shapley_bars": lambda **ax: plots.shapley_bars(shapley_of(cancer), **ax),
    "shapley_waterfall": lambda **ax: plots.shapley_waterfall(shapley_of(cancer), 1, **ax),
    "shapley_waterfall of long names": lambda **ax: plots.shapley_waterfall(
        shapley_of(sugar), **ax
    ),
    "calibration": lambda **ax: plots.calibration(
        {"a forest": analysis.calibration(cancer()[2], *cancer()[:2])}, **ax
    ),
    "proximity_map": lambda **ax: plots.proximity_map(places_of(cancer), labels=cancer()[1], **ax),
    "proximity_map of numbers": lambda **ax: plots.proximity_map(
        places_of(sugar),
        labels=pd.Series(sugar()[1], name=LONG),
        **ax,
    ),
    "proximity_pairs": lambda **ax: plots.proximity_pairs(
        places_of(cancer),
        labels=cancer()[1],
        **ax,
    ),
    "variation_explained": lambda **ax: plots.variation_explained(
        {"a forest": places_of(sugar)}, **ax
    ),
    "tree": lambda **ax: plots.tree(cancer()[2].forest_.tree(0), **ax),
    "tree of long names": lambda **ax: plots.tree(sugar()[2].forest_.tree(0), **ax),
    "out_of_bag_curve": lambda **ax: plots.out_of_bag_curve(
        {"a forest": analysis.out_of_bag_curve(cancer()[2], *cancer()[:2])}, **ax
    ),
    "forward_selection": lambda **ax: plots.forward_selection(
        analysis.forward_selection(*cancer()[:2], cv=5), **ax
    ),
    "margins": lambda **ax: plots.margins(strength(), **ax),
    "strength_against_correlation": lambda **ax: plots.strength_against_correlation(
        {"a forest with a long name": strength()}, **ax
    ),
    "bias_and_variance": lambda **ax: plots.bias_and_variance(bias_of_three(), **ax),
    "fan_chart": lambda **ax: plots.fan_chart(analysis.quantiles(sugar()[2], *sugar()[:2]), **ax),
    "decision_boundary": lambda **ax: plots.decision_boundary(plane()[2], *plane()[:2], **ax),
    "posterior_map": lambda **ax: plots.posterior_map(plane()[2], *plane()[:2], **ax),
    "decision_boundaries": lambda **ax: plots.decision_boundaries(
        {"one": plane()[2], "the same": plane()[2]}, *plane()[:2], true_lines=[(1.0, 0.0)], **ax
    ),
}
OF_SEVERAL = {
    "proximity_pairs": 9,
    "bias_and_variance": 3,
    "decision_boundaries": 2,
    "forward_selection": 3,
}


@cache
def shapley_of(fit):
    X, _, forest = fit()
    return analysis.shapley_values(forest, X[:2], X[::30], n_samples=4, random_state=0)


@cache
def permuted():
    X, y, forest = cancer()
    return analysis.importance(forest, "permutation", X, y, random_state=0)


@cache
def directions_of(fit):
    return analysis.importance(fit()[2], "projection")


@cache
def places_of(fit):
    X, y, forest = fit()
    return analysis.principal_coordinates(forest, X, y, n_components=3)


@cache
def strength():
    return analysis.strength_and_correlation(cancer()[2], *cancer()[:2])


def first(drawn):
    return np.ravel(np.asarray(drawn, dtype=object))[0]


def test_every_picture_is_tested_here():
    functions = {name for name in plots.__all__ if inspect.isfunction(getattr(plots, name))}
    assert {name.partition(" ")[0] for name in DRAWINGS} == functions


@pytest.mark.parametrize("name", DRAWINGS)
def test_new_figures_are_those_of_pyplot_and_nothing_is_cut_off(name):
    figure = first(DRAWINGS[name]()).figure
    assert figure.number in pyplot.get_fignums()
    assert figure is pyplot.gcf()
    assert cut_off(figure) == []
    assert pyplot.rcParams["text.parse_math"]  # the user's settings are as they were


@pytest.mark.parametrize("name", DRAWINGS)
def test_pictures_are_drawn_on_given_axes(name):
    figure, given = pyplot.subplots(1, 2, figsize=(16, 8), layout="constrained")
    drawn = DRAWINGS[name](ax=given[0])
    assert pyplot.get_fignums() == [figure.number]
    panels_drawn = np.ravel(np.asarray(drawn, dtype=object))
    if name in OF_SEVERAL:
        assert len(panels_drawn) == OF_SEVERAL[name]
        assert not given[0].axison  # its place is divided
    else:
        assert drawn is given[0]
    assert all(isinstance(each, Axes) and each.figure is figure for each in panels_drawn)
    figure.canvas.draw()


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_pictures_of_several_panels_take_one_each_and_refuse_others(name):
    count = OF_SEVERAL[name]
    figure = Figure()
    given = [figure.add_subplot(1, count, place + 1) for place in range(count)]
    assert list(DRAWINGS[name](ax=given).ravel()) == given
    with pytest.raises(ValueError, match=f"ax must be one, or {count} of them"):
        DRAWINGS[name](ax=given[:-1])
    with pytest.raises(TypeError, match="ax must be axes of matplotlib"):
        DRAWINGS[name](ax=["here"] * count)
    with pytest.raises(ValueError, match="made as a subplot"):
        DRAWINGS[name](ax=figure.add_axes((0, 0, 1, 1)))


def test_other_things_than_axes_are_refused():
    with pytest.raises(TypeError, match="ax must be axes of matplotlib"):
        plots.margins(strength(), ax=Figure())


def test_pictures_of_other_results_are_refused_with_the_way():
    X, y, forest = cancer()
    for draw in (plots.proximity_pairs, plots.proximity_map):
        with pytest.raises(TypeError, match="Pass principal_coordinates"):
            draw(analysis.proximity(forest, X, y))
    few = analysis.principal_coordinates(forest, X, y, n_components=1)
    with pytest.raises(ValueError, match="two components or more; got 1"):
        plots.proximity_map(few)


def test_detached_figures_are_unknown_to_pyplot():
    with detached():
        figure = plots.margins(strength()).figure
        with panels(None, "test", (1, 2), (4, 2)) as grid:
            assert grid.shape == (1, 2)
    assert pyplot.get_fignums() == []
    assert cut_off(figure) == []
    assert plots.margins(strength()).figure.number in pyplot.get_fignums()


def test_threads_are_detached_by_themselves():
    seen = []

    def draw():
        with detached():
            seen.append(plots.margins(strength()).figure)

    thread = threading.Thread(target=draw)
    with detached():
        thread.start()
        thread.join()
    assert len(seen) == 1
    assert pyplot.get_fignums() == []


# What each picture says


@pytest.mark.parametrize("name", ["importance_bars", "shapley_bars", "shapley_waterfall"])
def test_names_beside_bars_do_not_cover_each_other(name):
    axes = DRAWINGS[name]()
    axes.figure.canvas.draw()
    assert overlapping(axes.get_yticklabels(), axes.figure) == []
    assert overlapping(axes.get_xticklabels(), axes.figure) == []


def error_importance(values, errors):
    names = tuple("abcd"[: len(values)])
    return ErrorImportance(
        "permutation",
        names,
        np.array(values),
        "increase of the classification error (0.1) of the forest on out-of-bag rows; rest",
        standard_error=np.array(errors),
        repeats=np.zeros((len(values), 1)),
        error=0.1,
    )


def test_permutation_bars_have_intervals_and_those_that_cover_zero_are_pale():
    axes = plots.importance_bars(error_importance([0.5, 0.1, -0.2, 0.0], [0.1, 0.1, 0.01, 0.0]))
    ends = axes.collections[0].get_segments()
    assert ends[0][:, 0].tolist() == pytest.approx([0.5 - 0.196, 0.5 + 0.196], abs=1e-5)
    assert ends[1][:, 0].tolist() == pytest.approx([0.1 - 0.196, 0.1 + 0.196], abs=1e-5)
    colours = [bar.get_facecolor() for bar in axes.patches]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["a", "b", "d", "c"]
    assert colours[0] == colours[3] != colours[1] == colours[2]
    assert "of the forest on out-of-bag" in axes.get_xlabel().replace("\n", " ")
    assert "95 % interval; pale: it covers zero" in axes.get_xlabel()
    assert axes.get_title(loc="left") == "Permutation importance: largest for a"
    sure = plots.importance_bars(error_importance([0.5], [0.1]))
    assert "pale" not in sure.get_xlabel()


def test_bars_without_lines_have_their_values_beside_them():
    result = directions_of(cancer)
    axes = plots.importance_bars(result, n_top=3)
    assert [text.get_text() for text in axes.texts] == [
        f"{share:.4f}" for share in result.share[:3]
    ]


def test_long_sums_end_at_a_term():
    result = directions_of(sugar)
    labels = [label.get_text() for label in plots.importance_bars(result).get_yticklabels()]
    assert all(len(label) <= 52 for label in labels)
    assert any(label.endswith("…") or "…" in label for label in labels)


def test_waterfall_title_has_the_prediction_and_the_mean():
    result = shapley_of(cancer)
    axes = plots.shapley_waterfall(result, 1)
    label = result.classes[int(result.predictions[1].argmax())]
    share, mean = result.predictions[1].max(), result.output(label).base_values
    decimals = 3 if share < 0.9995 else 2
    title = axes.get_title(loc="left")
    assert title.startswith(f"Probability of {label}: ")
    assert f"{share:.{decimals}f}"[:4] in title
    assert f"({mean:.2f}"[:5] in title
    assert len(axes.patches) == 10


def test_reliability_curve_says_its_error():
    result = analysis.calibration(cancer()[2], *cancer()[:2])
    axes = plots.calibration(result)
    error = f"{result.expected_calibration_error:.3f}"
    assert axes.get_title(loc="left") == f"Reliability: expected calibration error {error}"
    assert axes.get_xlim() == axes.get_ylim()
    several = plots.calibration({"one": result})
    assert several.get_legend().get_texts()[0].get_text() == f"one: calibration error {error}"


def test_map_has_every_row_once_and_the_share_of_both_coordinates():
    result = places_of(cancer)
    axes = plots.proximity_map(result, labels=cancer()[1])
    points = np.concatenate([np.asarray(each.get_offsets()) for each in axes.collections])
    np.testing.assert_array_equal(
        np.sort(points, axis=0), np.sort(result.coordinates[:, :2], axis=0)
    )
    assert f"{100 * result.explained[1]:.1f} % of the variation" in axes.get_ylabel()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["benign", "malignant"]


@pytest.mark.parametrize(
    ("largest", "decimals"), [(0.0861, 4), (0.5, 3), (5.0, 2), (57.0, 1), (5700.0, 0), (0.0, 0)]
)
def test_numbers_have_three_digits(largest, decimals):
    assert decimals_for(largest) == decimals


def test_width_of_text_is_that_of_its_longest_line():
    assert text_width(["ab", "a\nabcd"]) == text_width(["abcd"]) > text_width(["abc"])
    assert text_width(["a" * 1000], most=3.0) == 3.0
    assert text_width([]) == 0.0


# Displays


def test_displays_draw_what_the_functions_draw():
    X, y, forest = cancer()
    made = {
        plots.ImportanceDisplay.from_estimator(forest, X, y, random_state=0): "importance_bars",
        plots.ReliabilityDisplay.from_estimator(forest, X, y): "calibration",
        plots.ProximityDisplay.from_estimator(forest, X, y): "proximity_map",
    }
    for display, name in made.items():
        assert display.figure_ is display.ax_.figure
        ours = DRAWINGS[name]()
        assert display.ax_.get_xlabel() == ours.get_xlabel()
        assert len(display.ax_.patches) == len(ours.patches)
        given = Figure().add_subplot()
        assert display.plot(ax=given).ax_ is given


def test_importance_display_without_rows_is_of_the_splits():
    assert plots.ImportanceDisplay.from_estimator(cancer()[2], n_top=4).result.kind == "gini"
    shown = plots.ImportanceDisplay.from_estimator(cancer()[2], kind="projection", n_top=4)
    assert len(shown.ax_.patches) == 4


def test_shapley_display_draws_a_row_or_the_mean():
    X, _, forest = cancer()
    options = {"n_samples": 2, "random_state": 0}
    mean = plots.ShapleyDisplay.from_estimator(forest, X[:2], X[:5], **options)
    assert "mean |Shapley value|" in mean.ax_.get_xlabel()
    assert "probability of" in mean.plot(row=1).ax_.get_xlabel()
