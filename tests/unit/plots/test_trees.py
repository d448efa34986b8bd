"""Pictures of why forests work: rendered, and right in what they show."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from bevel import ObliqueForestClassifier, analysis, plots
from bevel.analysis.results import BiasAndVariance, ClassEffects
from bevel.datasets import trunk
from bevel.extras import MissingPackageError

X, Y = trunk(120, 4, random_state=0)


@pytest.fixture(scope="module")
def forests():
    shapes = {"stumps": 1, "deep $trees": None}
    return {
        name: ObliqueForestClassifier(15, max_depth=depth, random_state=0).fit(X, Y)
        for name, depth in shapes.items()
    }


def judged(forests, judge):
    return {name: judge(each, X, Y) for name, each in forests.items()}


def effects(scale, kind="classes"):
    of = ClassEffects(scale, scale, scale, scale / 2, 0.0) if kind == "classes" else None
    return BiasAndVariance(scale, 2 * scale, 0.0, of, 10, 100)


def check_renders(drawn):
    figure = drawn if isinstance(drawn, Figure) else drawn.figure
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=40, bbox_inches="tight")
    assert picture.tell() > 1000


@pytest.mark.parametrize("what", ["margins", "out_of_bag_curve", "calibration"])
def test_one_result_is_drawn_without_a_legend_and_several_with_their_names(forests, what):
    judge = getattr(analysis, "strength_and_correlation" if what == "margins" else what)
    results = judged(forests, judge)
    several = getattr(plots, what)(results)
    written = [text.get_text() for text in several.get_legend().get_texts()]
    assert [text.partition(":")[0] for text in written] == list(forests)
    mine = Figure().add_subplot()
    alone = getattr(plots, what)(results["stumps"], ax=mine)
    assert alone is mine
    assert alone.get_legend() is None
    check_renders(alone)


def test_curve_shows_every_number_of_trees(forests):
    curve = analysis.out_of_bag_curve(forests["stumps"], X, Y)
    (line,) = plots.out_of_bag_curve(curve).lines
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 16))
    np.testing.assert_array_equal(line.get_ydata(), curve.loss)


def test_margins_below_zero_are_as_many_as_the_error(forests):
    result = analysis.strength_and_correlation(forests["stumps"], X, Y)
    steps = plots.margins(result).lines[1]
    at_zero = steps.get_ydata()[np.searchsorted(steps.get_xdata(), 0.0, side="left") - 1]
    assert at_zero == pytest.approx(result.error)


def test_strength_is_upwards_and_correlation_across(forests):
    results = judged(forests, analysis.strength_and_correlation)
    axes = plots.strength_against_correlation(
        {"one": results["stumps"], "more": [*results.values()]}
    )
    first, second = axes.lines
    assert (first.get_xdata()[0], first.get_ydata()[0]) == (
        results["stumps"].correlation,
        results["stumps"].strength,
    )
    assert len(second.get_xdata()) == 2
    check_renders(axes)


def test_bias_and_variance_have_four_panels_for_classes_and_three_for_values():
    for kind, titles in {
        "classes": ["bias", "variance", "variance effect", "error"],
        "values": ["squared bias", "variance", "squared error"],
    }.items():
        results = {name: {100: effects(0.2, kind), 50: effects(0.4, kind)} for name in "ab"}
        panels = plots.bias_and_variance(results)
        assert [axes.get_title() for axes in panels] == titles
        assert panels[0].lines[0].get_xdata().tolist() == [50, 100]
        assert panels[0].lines[0].get_ydata().tolist() == [0.4, 0.2]
        check_renders(panels[0])


def test_bias_and_variance_refuse_mixtures_and_too_few_axes():
    mixed = {"a": {1: effects(0.1)}, "b": {1: effects(0.1, "values")}}
    with pytest.raises(ValueError, match="got 'both kinds'"):
        plots.bias_and_variance(mixed)
    with pytest.raises(ValueError, match="got 'none'"):
        plots.bias_and_variance({})
    with pytest.raises(ValueError, match="ax must be one, or 4 of them"):
        plots.bias_and_variance({"a": {1: effects(0.1)}}, ax=[Figure().add_subplot()])


def test_pictures_without_matplotlib_name_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'bevel\[plot\]'"):
        plots.bias_and_variance({"a": {1: effects(0.1)}})
    with pytest.raises(MissingPackageError, match=r"pip install 'bevel\[plot\]'"):
        plots.strength_against_correlation({"a": []})


def test_each_panel_of_bias_and_variance_draws_what_its_title_says():
    classes = ClassEffects(0.1, 0.2, 0.4, 0.8, 1.6)
    result = BiasAndVariance(3.0, 4.0, 5.0, classes, 2, 2)
    drawn = {
        panel.get_title(): panel.lines[0].get_ydata()[0]
        for panel in plots.bias_and_variance({"a": {1: result}})
    }
    wanted = {"bias": 0.1, "variance": 0.2, "variance effect": 0.8, "error": 2.8}
    assert drawn == pytest.approx(wanted)
    values = BiasAndVariance(3.0, 4.0, 5.0, None, 2, 2)
    panels = plots.bias_and_variance({"a": {1: values}})
    wanted = {"squared bias": 3.0, "variance": 4.0, "squared error": 12.0}
    assert {panel.get_title(): panel.lines[0].get_ydata()[0] for panel in panels} == wanted
