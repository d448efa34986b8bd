"""Pictures of effects show what a reader needs."""

import re

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
    assert ax.get_title(loc="left").startswith("Partial dependence of age: rises from −")
    assert "95 %" in ax.get_ylabel()
    centred = plots.effect(effect, centred=True)
    assert {line.get_ydata()[0] for line in centred.lines} == {0.0}


def test_nominal_effect_has_its_labels(fitted):
    forest, X, _ = fitted
    effect = analysis.partial_dependence(forest, X, "kind", standard_error=True)
    ax = plots.effect(effect)
    count, order = X["kind"].value_counts(), np.argsort(effect.values, kind="stable")
    expected = [f"{label} ({count[label]})" for label in effect.grid[0][order]]
    assert [text.get_text() for text in ax.get_yticklabels()] == expected  # the highest on top
    dots = ax.containers[0].lines[0]
    assert np.array_equal(np.sort(dots.get_xdata()), np.sort(effect.values))
    (ends,) = ax.containers[0].lines[2]
    low, high = effect.band()
    segments = np.array([segment[:, 0] for segment in ends.get_segments()])
    np.testing.assert_allclose(segments, np.column_stack([low, high]))
    assert (ax.get_ylabel(), ax.get_xlabel()[:10]) == ("kind", "prediction")
    assert f"for {effect.grid[0][order[0]]} to" in ax.get_title(loc="left").replace("\n", " ")


def test_rare_labels_are_pooled_and_missing_values_are_a_label():
    rng = np.random.default_rng(0)
    shares = 1.0 / np.arange(1, 31)
    X = pd.DataFrame({"team": rng.choice(30, 900, p=shares / shares.sum()).astype(str)})
    y = X["team"].astype(int).to_numpy(float)
    X.loc[::6, "team"] = None
    forest = ObliqueForestRegressor(30, projection="axis", random_state=0).fit(X, y)
    effect = analysis.partial_dependence(forest, X, "team", standard_error=True)
    grid, count = effect.grid[0], effect.counts[0]
    assert grid[-1] is None
    assert count.sum() == len(X)
    assert count[-1] == X["team"].isna().sum()
    ax = plots.effect(effect)
    shown = {text.get_text(): place for place, text in enumerate(ax.get_yticklabels())}
    rest = np.argsort(-count, kind="stable")[14:]
    assert len(shown) == 15
    assert f"missing ({count[-1]})" in shown
    name = f"{len(rest)} other labels ({count[rest].sum()})"
    dots = ax.containers[0].lines[0]
    pooled = float(dots.get_xdata()[list(dots.get_ydata()).index(shown[name])])
    assert pooled == pytest.approx(np.average(effect.values[rest], weights=count[rest]))
    named = re.findall(r" for (.+?)(?: to |$)", plots.effects.effect_finding(effect))
    assert len(named) == 2
    assert set(named) <= {text.rsplit(" (", 1)[0] for text in shown}  # labels of the picture


def test_classes_of_a_nominal_effect_have_markers_of_their_own():
    X = pd.DataFrame({"kind": list("uvw") * 40, "age": np.arange(120.0)})
    forest = ObliqueForestClassifier(20, random_state=0).fit(X, np.arange(120) % 4)
    ax = plots.effect(analysis.partial_dependence(forest, X, "kind"))
    assert [each.lines[0].get_marker() for each in ax.containers] == ["o", "s", "^", "D"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2", "3"]


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
