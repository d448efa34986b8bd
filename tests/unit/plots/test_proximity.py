"""Pictures of principal coordinates: what is drawn, and what is refused with a message."""

import io
import sys

import numpy as np
import pytest

from bevel.analysis.results import PrincipalCoordinates
from bevel.extras import MissingPackageError
from bevel.plots import proximity_pairs, variation_explained

RNG = np.random.default_rng(0)


def coordinates(n=30, d=3, seed=0):
    points = np.random.default_rng(seed).normal(size=(n, d))
    explained = np.linspace(0.5, 0.1, d)
    return PrincipalCoordinates(points, explained * n, explained, "oob")


def drawn_points(axes):
    return np.concatenate([np.asarray(each.get_offsets()) for each in axes.collections])


def is_rendered(figure):
    target = io.BytesIO()
    figure.savefig(target, format="png")
    return len(target.getvalue()) > 5000


def test_pairs_of_two_forests_are_drawn_on_their_sides_of_the_diagonal():
    one, other = coordinates(seed=1), coordinates(seed=2)
    grid = proximity_pairs(one, other, names=("RF", "oRF"))
    below, above = drawn_points(grid[2, 0]), drawn_points(grid[0, 2])
    np.testing.assert_array_equal(below, one.coordinates[:, [0, 2]])
    np.testing.assert_array_equal(above, other.coordinates[:, [2, 0]])
    texts = [text.get_text() for text in grid[1, 1].texts]
    assert texts == ["2", "oRF 30.0 %\nRF 30.0 %"]
    assert is_rendered(grid[0, 0].figure)


def test_classes_are_distinguished_by_colour_and_marker_with_a_key():
    labels = np.array(["a", "b", "c"])[np.arange(30) % 3]
    figure = proximity_pairs(coordinates(), labels=labels)[0, 0].figure
    groups = figure.axes[1].collections
    assert len({tuple(group.get_facecolor()[0]) for group in groups}) == 3
    assert len({group.get_paths()[0].vertices.tobytes() for group in groups}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "c"]
    assert is_rendered(figure)


def test_numbers_are_shown_by_shade_and_their_range():
    figure = proximity_pairs(coordinates(), labels=np.arange(30.0))[0, 0].figure
    assert figure.get_supxlabel() == "dark: 0 · pale: 29"
    assert is_rendered(figure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"result": coordinates(d=1)}, "two components or more; got 1"),
        ({"other": coordinates(d=2)}, r"30 x 3; got \(30, 2\)"),
        ({"labels": [1, 2]}, "one for each of the 30 rows"),
        ({"labels": [f"class {i}" for i in range(30)]}, "at most 8 classes; got '30 classes'"),
    ],
)
def test_bad_pairs_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        proximity_pairs(**({"result": coordinates()} | options))


def test_explained_variation_of_two_forests_is_drawn_in_percent():
    axes = variation_explained({"RF": coordinates(), "oRF": coordinates(d=5)})
    lines = axes.get_lines()
    np.testing.assert_allclose(lines[0].get_ydata(), [50.0, 30.0, 10.0])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["RF", "oRF"]
    assert lines[0].get_marker() != lines[1].get_marker()
    assert is_rendered(axes.figure)


def test_explained_variation_can_be_drawn_on_given_axes():
    from matplotlib.figure import Figure

    given = Figure().add_subplot()
    assert variation_explained({"RF": coordinates()}, ax=given) is given


def test_pictures_without_matplotlib_name_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'bevel\[plot\]'"):
        proximity_pairs(coordinates())
    with pytest.raises(MissingPackageError, match=r"pip install 'bevel\[plot\]'"):
        variation_explained(coordinates())
