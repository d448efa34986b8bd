"""The lab's figures: readable text, the same bytes every time, and drawn where they should be."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from bevel_lab import figures
from bevel_lab.figures.differences import swarm
from bevel_lab.figures.frequencies import BINS, bin_counts

NAMES = ["SPORF", "RF & <co>", "CCF"]
CURVES = {name: figures.Curve([0, 10, 100], [0.5, 0.4, 0.3], [0.1, 0.1, 0.1]) for name in NAMES}


def draw_all():
    rng = np.random.default_rng(0)
    shares = np.full((3, 3), 1 / 3)
    return {
        "effects": figures.effect_sizes(
            {name: rng.normal(0, 0.1, 20) for name in NAMES}, reference="ET"
        ),
        "ranks": figures.rank_histogram(NAMES, shares, [None, 0.5, 1e-9]),
        "differences": figures.critical_differences(NAMES, [1.2, 2.0, 2.8], 1.0, [[0, 1], [1, 2]]),
        "grid": figures.hyperparameter_ranks(
            ["p", "p²", "√p"], ["1", "2", "3"], np.arange(9.0).reshape(3, 3), "d", "λ"
        ),
        "relative": figures.relative_errors(
            {how: {name: rng.normal(0, 0.1, 9) for name in NAMES} for how in ("raw", "rotated")},
            "ET",
        ),
        "one": figures.curves([figures.Panel("", CURVES, "noise", "κ", "symlog")]),
        "two": figures.curves([figures.Panel(t, CURVES, "x", "y", "linear") for t in "ab"]),
        "three": figures.curves(
            [figures.Panel(t, CURVES, "x", "y", words=("few", "some", "many")) for t in "abc"]
        ),
        "threads": figures.speed_up(
            {"mnist": {name: figures.Curve([1, 2], [4.0, 2.1]) for name in NAMES}}
        ),
    }


@pytest.fixture(scope="module")
def drawn():
    return draw_all()


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter() if element.tag.endswith("text")]


def test_figures_are_svg_that_names_every_system(drawn):
    for svg in drawn.values():
        found = texts(svg)
        if "d" not in found:  # a grid is of one system
            assert all(any(name in text for text in found if text) for name in NAMES)


def test_figures_are_the_same_bytes_each_time_without_a_date(drawn):
    again = draw_all()
    assert drawn == again
    assert not any("date" in svg.lower() for svg in drawn.values())


def test_figures_leave_the_users_matplotlib_settings_alone(drawn):
    import matplotlib as mpl

    assert drawn
    assert mpl.rcParams["svg.hashsalt"] != "bevel"


def test_more_systems_than_colours_still_look_different():
    many = {f"system {n}": figures.Curve([1, 2], [n, n + 1.0]) for n in range(10)}
    svg = figures.curves([figures.Panel("", many, "x", "y")])
    from bevel_lab.figures.curves import _look

    looks = [(_look(n)["color"], str(_look(n)["linestyle"])) for n in range(10)]
    assert len(set(looks)) == 10
    assert sum("system" in (text or "") for text in texts(svg)) == 10


def test_speed_up_divides_by_the_time_of_one_thread():
    svg = figures.speed_up({"": {"A": figures.Curve([1, 2, 4], [8.0, 4.0, 2.0])}})
    assert "ideal" in texts(svg)
    assert {"1", "2", "4"} <= set(texts(svg))


def test_swarm_dots_do_not_cover_each_other_and_stay_near_the_line():
    values = np.random.default_rng(1).normal(0, 1, 80)
    offsets = swarm(values, diameter=0.1, reach=5.0)
    gaps = np.hypot(values[:, None] - values, offsets[:, None] - offsets)
    assert gaps[~np.eye(80, dtype=bool)].min() >= 0.0999
    assert offsets[np.argmin(values)] == 0.0
    assert abs(swarm(np.zeros(100), 0.1, 0.4)).max() <= 0.4


def test_bin_counts_equal_a_plain_loop():
    values = [0.0, -0.02, 0.02, -0.021, 0.3, -0.3, 0.1, 1e-15, 0.05, -0.05, np.nan, 0.001, -0.001]
    expected = [0] * (len(BINS) - 1)
    for value in values:
        v = round(value, 12)
        for k, (low, high) in enumerate(pairwise(BINS)):
            if low == high:
                expected[k] += v == 0
            elif high <= 0:
                expected[k] += low <= v < high
            else:
                expected[k] += low < v <= high
    assert bin_counts(values).tolist() == expected
    assert sum(expected) == len(values) - 1
