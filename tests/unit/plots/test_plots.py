"""Pictures: what is drawn, and what is refused with a message."""

import sys

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from bevel.extras import MissingPackageError
from bevel.plots import decision_boundaries


def grid_of_points(n_classes):
    X = np.random.default_rng(0).uniform(size=(60, 2)) * [1.0, 1000.0]
    y = np.array([f"class {label}" for label in np.arange(60) % n_classes])
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_boundaries_of_two_classifiers_are_drawn_in_two_titled_panels(n_classes):
    X, y = grid_of_points(n_classes)
    models = {f"depth {d}": DecisionTreeClassifier(max_depth=d).fit(X, y) for d in (1, 5)}
    panels = decision_boundaries(models, X, y)
    assert [axes.get_title() for axes in panels] == ["depth 1", "depth 5"]


class Sure:
    """A classifier without doubts: the first class, everywhere."""

    def predict_proba(self, rows):
        return np.tile([1.0, 0.0], (len(rows), 1))


def test_boundaries_of_a_classifier_without_doubts_have_one_colour_and_no_line():
    X, y = grid_of_points(2)
    (axes,) = decision_boundaries({"sure": Sure()}, X, y)
    colours = np.asarray(axes.images[0].get_array()).reshape(-1, 3)
    assert len(np.unique(colours, axis=0)) == 1


def test_boundaries_with_true_lines_explain_the_dashes():
    X, y = grid_of_points(2)
    model = DecisionTreeClassifier().fit(X, y)
    (axes,) = decision_boundaries({"tree": model}, X, y, true_lines=[(1.0, 0.0)])
    assert axes.get_xlabel() == "dashed: the true boundary"


def test_boundaries_of_more_than_two_features_are_refused():
    with pytest.raises(ValueError, match=r"draws two features; X has shape \(5, 3\)"):
        decision_boundaries({}, np.zeros((5, 3)), np.arange(5))


def test_boundaries_of_more_classes_than_colours_are_refused():
    with pytest.raises(ValueError, match="colours for 7 classes; y has 8"):
        decision_boundaries({}, np.zeros((8, 2)), np.arange(8))


def test_boundaries_without_matplotlib_name_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'bevel\[plot\]'"):
        decision_boundaries({"sure": Sure()}, np.zeros((2, 2)), np.arange(2))


def test_boundaries_of_no_classifier_are_refused():
    with pytest.raises(ValueError, match="classifiers must be at least one"):
        decision_boundaries({}, np.zeros((2, 2)), np.arange(2))
