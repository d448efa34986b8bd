"""Pictures of effects show what a reader needs."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, analysis, plots


@pytest.fixture(autouse=True)
def closed_figures():
    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["age", "weight", "length"])
    X["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], 80))
    y = X["age"] + X["weight"] * X["length"]
    return ObliqueForestRegressor(20, random_state=0).fit(X, y), X, y.to_numpy()


def test_curve_has_a_band_rows_and_tenths(fitted):
    forest, X, _ = fitted
    effect = analysis.partial_dependence(
        forest, X, "age", kind="both", standard_error=True, grid_resolution=9
    )
    ax = plots.effect(effect)
    thick = [line for line in ax.lines if line.get_linewidth() == 2.0]
    assert np.array_equal(thick[0].get_ydata(), effect.values)
    assert len(ax.lines) == 81
    assert len(ax.collections) == 2  # band and tenths
    assert ax.get_xlabel() == "age"
    assert ax.get_title(loc="left").startswith("Partial dependence: rises from −")
    assert "95 %" in ax.get_ylabel()
    centred = plots.effect(effect, centred=True)
    assert {line.get_ydata()[0] for line in centred.lines} == {0.0}


def test_nominal_effect_has_its_labels(fitted):
    forest, X, _ = fitted
    ax = plots.effect(analysis.partial_dependence(forest, X, "kind"))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["u", "v", "w"]


def test_surface_has_both_names_and_a_colour_bar(fitted):
    forest, X, _ = fitted
    ax = plots.effect(analysis.accumulated_local_effects(forest, X, ["weight", "length"]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("weight", "length")
    assert ax.figure.axes[1].get_ylabel() == "interaction in the prediction"
    mixed = plots.effect(analysis.partial_dependence(forest, X, ["age", "kind"]))
    assert [text.get_text() for text in mixed.get_yticklabels()] == ["u", "v", "w"]


def test_classes_are_drawn_together_and_surfaces_one_at_a_time(fitted):
    _, X, y = fitted
    three = ObliqueForestClassifier(10, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    ax = plots.effect(analysis.effect_along(three, X, {"age": 1.0}))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    surface = analysis.partial_dependence(three, X, [0, 1], grid_resolution=4)
    with pytest.raises(ValueError, match=r"result.output\("):
        plots.effect(surface)
    plots.effect(surface.output(1))
    two = ObliqueForestClassifier(10, random_state=0).fit(X, y > 0)
    ax = plots.effect(analysis.partial_dependence(two, X, 0))
    assert ax.get_ylabel() == "probability of True"


def test_interaction_bars_are_ordered(fitted):
    forest, X, _ = fitted
    found = analysis.interactions(forest, X, ["age", "weight", "length"], random_state=0)
    ax = plots.interaction_bars(found, n_top=2)
    widths = [bar.get_width() for bar in ax.patches]
    assert len(widths) == 2
    assert widths == sorted(widths, reverse=True)
    assert ax.get_yticklabels()[0].get_text() == "weight × length"


def test_importance_bars_show_signs(fitted):
    forest, X, _ = fitted
    ax = plots.importance_bars(analysis.importance(forest, "gini", effects_on=X))
    texts = [text.get_text() for text in ax.texts]
    assert sum("▲" in text or "▼" in text for text in texts) == 3  # not of the nominal one
    assert "▲▼" in ax.get_xlabel()


def test_plots_of_effects_refuse_other_results(fitted):
    with pytest.raises(TypeError, match="an Effect"):
        plots.effect(3)
    with pytest.raises(TypeError, match="Interactions"):
        plots.interaction_bars(fitted[0])
