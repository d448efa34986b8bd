"""Pictures of trees and of the plane: rendered, and looked at through what was drawn."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, plots
from bevel.analysis import single_tree, tree_rules

mpl.use("agg")


def plane(n_classes=2):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(120, 2)) * [1.0, 50.0]
    y = (n_classes * (X[:, 0] + 1) / 2).astype(int)
    return pd.DataFrame(X, columns=["width", "length"]), np.array([f"kind {k}" for k in y])


def fitted(X, y, **parameters):
    kind = ObliqueForestRegressor if y.dtype.kind == "f" else ObliqueForestClassifier
    return kind(5, random_state=0, n_jobs=1, **parameters).fit(X, y)


def texts(axes):
    return [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in axes.texts]


def inside_figure(axes):
    """Whether all texts are within the figure, with no two boxes on top of one another."""
    figure = axes.figure
    figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in axes.texts if t.get_text() not in ("yes", "no")]
    whole = figure.get_tightbbox()
    assert len(boxes) > 1
    overlaps = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
    width, height = figure.get_size_inches()
    return not overlaps and whole.width <= width + 0.1 and whole.height <= height + 0.1


@pytest.mark.parametrize("projection", ["axis", "sparse"])
def test_a_tree_is_drawn_with_all_its_rules_and_predictions_side_by_side(projection):
    X, y = plane(3)
    forest = fitted(X, y, projection=projection)
    rules = tree_rules(forest, max_depth=4)
    axes = plots.tree(rules)
    said = [text.replace("\n", " ") for text in texts(axes)]
    for place, split in enumerate(rules.split_texts):
        if split is not None:
            assert str(split.sides[0]) in said
        else:
            assert any(text.startswith(rules.predictions.prediction(place)) for text in said)
    assert said.count("yes") == said.count("no") == rules.n_leaves - 1
    assert inside_figure(axes)


def test_a_tree_of_a_forest_is_drawn_to_readable_depth():
    X, _ = plane()
    noise = np.random.default_rng(1).choice(["a", "b"], size=len(X))
    forest = fitted(X, noise)
    tree = forest.forest_.tree(0)
    assert tree.max_depth > 4
    axes = plots.tree(tree)
    assert texts(axes).count("yes") == tree.rules(max_depth=4).n_leaves - 1
    many = np.random.default_rng(0).uniform(size=(400, 2))
    rules = tree_rules(fitted(many, many.sum(axis=1)))
    with pytest.raises(ValueError, match="at most 64 leaves to be drawn; got"):
        plots.tree(rules)


def test_bars_of_leaves_are_as_long_as_the_class_shares():
    X, y = plane(3)
    rules = tree_rules(fitted(X, y, bootstrap=False), max_depth=1)
    axes = plots.tree(rules)
    lengths = [patch.get_width() for patch in axes.patches if patch.get_fill()]
    leaves = np.flatnonzero(rules.left < 0)
    assert lengths == pytest.approx(0.46 * rules.predictions.means[leaves].ravel())


def test_a_tree_without_splits_and_a_regression_tree_are_drawn_on_given_axes():
    X, _ = plane()
    for target in (np.zeros(len(X)), X["width"].to_numpy()):
        figure = Figure()
        given = figure.add_subplot()
        assert plots.tree(fitted(X, target).forest_.tree(0), ax=given) is given
        figure.draw_without_rendering()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, np.array])
def test_the_boundary_of_a_forest_and_of_a_tree_has_a_legend_of_the_classes(frame):
    X, y = plane(3)
    table = X.to_numpy() if frame is np.array else frame(dict(X))
    forest = fitted(table, y)
    for model in (forest, single_tree(forest)):
        axes = plots.decision_boundary(model, table, y)
        named = [text.get_text() for text in axes.get_legend().get_texts()]
        assert named == ["kind 0", "kind 1", "kind 2"]
        assert axes.get_xlabel() == ("width" if frame is not np.array else "")
    axes.figure.draw_without_rendering()


def test_the_regions_have_the_colours_of_what_is_predicted():
    X, y = plane()
    forest = fitted(X, y)
    axes = plots.decision_boundary(forest, X, y)
    picture = np.asarray(axes.images[0].get_array())
    bluish = picture[:, 30, 2] > picture[:, 30, 0]  # class 0, on the left, is blue
    orange = picture[:, -30, 2] < picture[:, -30, 0]
    assert bluish.all()
    assert orange.all()


def test_a_map_shows_the_probability_of_the_class_that_was_asked_for():
    X, y = plane(3)
    forest = fitted(X, y)
    axes = plots.posterior_map(forest, X, y, label="kind 0")
    shares = np.asarray(axes.images[0].get_array())
    low, high = axes.get_xlim(), axes.get_ylim()
    corner = pd.DataFrame([[low[0], high[0]], [low[1], high[1]]], columns=X.columns)
    assert shares[[0, -1], [0, -1]] == pytest.approx(forest.predict_proba(corner)[:, 0])
    assert axes.figure.axes[1].get_ylabel() == "probability of kind 0"
    with pytest.raises(ValueError, match=r"label must be one of the classes \(kind 0, kind 1"):
        plots.posterior_map(forest, X, label="kind 7")


def test_a_map_of_a_regressor_shows_its_predictions():
    X, _ = plane()
    forest = fitted(X, X["width"].to_numpy())
    axes = plots.posterior_map(forest, X, X["width"])
    shown = np.asarray(axes.images[0].get_array())
    assert shown[:, 0].mean() < -0.5
    assert shown[:, -1].mean() > 0.5
    with pytest.raises(TypeError, match="What decision_boundary draws must be a classifier"):
        plots.decision_boundary(forest, X, X["width"])


def test_the_plane_of_three_features_is_refused():
    with pytest.raises(ValueError, match=r"posterior_map draws two features; X has shape \(5, 3\)"):
        plots.posterior_map(None, np.zeros((5, 3)))


def test_the_regions_are_not_upside_down():
    X, _ = plane()
    y = np.where(X["length"] > 0, "long", "short")
    axes = plots.decision_boundary(fitted(X, y, projection="axis"), X, y)
    (image,) = axes.images
    colours = np.asarray(image.get_array())
    bottom, top = colours[[5, -5]] if image.origin == "lower" else colours[[-5, 5]]
    # Orange is more red than blue; "long" is the first class, and blue.
    assert (bottom[:, 0] > bottom[:, 2]).all()
    assert (top[:, 0] < top[:, 2]).all()


def test_rows_that_fulfil_a_rule_go_up_by_the_branch_that_says_yes():
    X = pd.DataFrame({"width": np.arange(40.0)})
    y = np.where(X["width"] < 20, "narrow", "wide")
    axes = plots.tree(fitted(X, y, projection="axis").forest_.tree(0))
    height = {text.get_text().split("\n")[0]: text.get_position()[1] for text in axes.texts}
    (rule,) = (name for name in height if "width" in name)
    true = "narrow" if "≤" in rule or "<" in rule else "wide"
    false = {"narrow": "wide", "wide": "narrow"}[true]
    assert height[true] > height[rule] > height[false]
    assert abs(height["yes"] - height[true]) < 0.1
    assert abs(height["no"] - height[false]) < 0.1
