"""Figures of the papers that are drawn at once: their numbers, in small, and the command."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from support.command_line import invoke

from bevel import projections as P
from bevel.cli.app import app
from bevel.datasets import LabelledTable, sparse_parity
from bevel.plots.canvas import detached
from bevel_lab.cells import OK, Cell, Result
from bevel_lab.paper_figures import (
    FIGURES,
    boundaries,
    directions,
    grid,
    large_sets,
    menze,
    neighbours,
    posteriors,
    rotations,
    trees,
)


def drawn(name, share=0.01, data=None):
    with detached():
        return FIGURES[name].draw(share, 0, data)


def test_uniform_rotations_fill_the_sphere_and_naive_ones_its_poles():
    """Share within 30° of a pole: 1 − cos 30° = 0.134; 6000 points, six standard errors."""
    for points, want in (
        (rotations.uniform_points(6000, 0), 1 - np.cos(np.radians(30))),
        (rotations.naive_points(6000, 0), 1 / 3),
    ):
        np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0)
        share = np.mean(np.abs(points[:, 2]) > np.cos(np.radians(30)))
        assert abs(share - want) < 6 * np.sqrt(want * (1 - want) / 6000)


def test_weights_are_drawn_for_both_families():
    figure, lines = drawn("blaser-2.1")
    cut, exp = figure.axes
    np.testing.assert_allclose(cut.lines[1].get_ydata()[:6], [20, 20, 20, 20, 20, 0])
    assert exp.lines[2].get_ydata().sum() == pytest.approx(100.0)
    assert any("EXP, h = 10: 50" in line for line in lines)


def test_points_are_drawn_on_two_spheres():
    figure, lines = drawn("blaser-1.2")
    assert len(figure.axes) == 2
    assert len(lines) == 2


def test_true_posterior_is_that_of_sparse_parity():
    X, y = sparse_parity(500, 10, random_state=0)
    np.testing.assert_array_equal(posteriors.true_posterior(X), y)


def test_best_cut_errs_as_a_search_over_all_cuts_does():
    rng = np.random.default_rng(0)
    values, y = rng.normal(size=40), rng.integers(0, 2, 40)
    errors = [np.mean((values > cut) != y) for cut in [-np.inf, *values]]
    want = min(min(errors), 1 - max(errors))
    assert posteriors._best_error(values, y) == pytest.approx(want)


def test_first_split_of_combinations_tells_more_than_that_of_axes():
    _, lines = drawn("tomita-2.1", 0.6)
    errors = [float(line.split(" errs on ")[1].split(" ")[0]) for line in lines]
    assert errors[1] < min(errors[0], errors[2])


def test_error_against_k_has_the_bound_in_regression(monkeypatch):
    monkeypatch.setattr(neighbours, "SIZES", (1, 40))
    monkeypatch.setattr(neighbours, "N_TREES", 5)
    figure, lines = drawn("lin-jeon")
    assert len(lines) == 3
    bound = figure.axes[0].lines[-1].get_ydata()
    assert (bound > neighbours.NOISE**2).all()


def test_median_rank_is_over_sets_of_means_over_folds():
    results = []
    for data, shift in (("a", 0.0), ("b", 0.5)):
        for fold in (0, 1):
            for d, power in enumerate(grid.POWERS):
                for number in grid.DENSITIES:
                    setting = {"candidates": power, "combined": number}
                    cell = Cell("sporf-grid", data, "sporf", setting, 0, fold, 0)
                    kappa = shift + 0.1 * d + 0.01 * number
                    results.append(Result(cell, OK, metrics={"kappa": kappa}))
    ranks, n_sets = grid.median_ranks(results)
    assert n_sets == 2
    assert ranks[-1, -1] == 1.0
    assert ranks[0, 0] == len(grid.POWERS) * len(grid.DENSITIES)
    with pytest.raises(ValueError, match="need a fold with all pairs"):
        grid.median_ranks(results[:3])


def test_strength_and_bias_are_drawn_for_all_systems(monkeypatch):
    monkeypatch.setattr(trees, "N_TEST", 100)
    monkeypatch.setattr(trees, "ROWS", (30, 60))
    small = trees.PROBLEMS["Trunk, n = 100"]
    monkeypatch.setattr(trees, "PROBLEMS", dict.fromkeys("abcd", small))
    figure, lines = drawn("sporf-11")
    assert len(figure.axes) == 8
    assert sum("strength" in line for line in lines) == 12
    assert sum("bias" in line for line in lines) == 6


def test_tuning_finds_that_combinations_need_many_candidates_on_parity():
    """Out of bag on 400 rows: d = p² errs on 16 and 17 %, d = p on 22 and 25 %."""
    draw = partial(sparse_parity, 400, 6)
    chosen = trees.best_setting("SPORF", draw, 60, 0).keywords
    assert chosen["n_projections"] == "p**2"


def test_menzes_figures_take_the_sets_that_are_there(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = np.where(X[:, 0] > 0, "a", "b")
    monkeypatch.setattr(menze, "_tables", lambda _: {"numerical": [("one", X, y), ("two", X, y)]})
    _, lines = drawn("menze-5")
    assert sum("less ridge" in line for line in lines) == 4
    _, lines = drawn("menze-3")
    assert len(lines) == 4


def test_ridge_turns_from_lda_towards_the_first_component():
    """Each direction is that of the ridge regression on standardised features."""
    X, y = directions.two_classes(300, 1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    lda = directions.node_direction(P.LDA("p"), X, y)
    angles = []
    for alpha in (1e-5, 1e1, 1e3, 1e5):
        found = directions.node_direction(P.Ridge("p", alphas=(alpha,), tune="gcv"), X, y)
        want = np.linalg.solve(Z.T @ Z + alpha * np.eye(2), Z.T @ (y - y.mean())) / X.std(axis=0)
        np.testing.assert_allclose(found, want / np.linalg.norm(want), atol=1e-5)
        angles.append(np.degrees(np.arccos(min(1.0, found @ lda))))
    to_pca = np.degrees(np.arccos(directions.first_component(X) @ lda))
    assert angles[0] < 0.1
    assert sorted(angles) == angles
    assert angles[0] < angles[-1] < to_pca


def test_directions_are_drawn_for_all_penalties():
    figure, lines = drawn("menze-2")
    plane, angles = figure.axes
    assert len(plane.lines) == len(directions.ALPHAS) + 2
    turned = angles.lines[0].get_ydata()
    assert (np.diff(turned) > -1e-6).all()
    assert len(lines) == len(directions.ALPHAS) + 1


def test_correlation_makes_a_tree_along_the_axes_larger_and_not_an_oblique_one():
    _, lines = drawn("menze-1", 1.0)
    (few, few_oblique), (many, many_oblique) = (
        (int(line.split(" has ")[1].split(" ")[0]), int(line.rpartition(" ")[2]))
        for line in lines[:2]
    )
    assert many > 2 * few
    assert many_oblique < 2 * few_oblique


def test_best_class_of_the_mixture_is_that_of_the_larger_density():
    mixture = boundaries.GaussianMixture(0)
    X, _ = mixture.draw(50)
    first, second = (
        [sum(np.exp(-np.sum((row - centre) ** 2) / 0.4) for centre in of_class) for row in X]
        for of_class in mixture.centres
    )
    np.testing.assert_array_equal(mixture.best_class(X), np.greater(second, first))
    _, lines = drawn("menze-4")
    errors = [float(line.split(" errs on ")[1].split(" ")[0]) for line in lines[:-1]]
    assert len(errors) == 5
    assert errors[0] == min(errors)


def test_times_are_those_of_the_large_sets_of_a_folder(monkeypatch, tmp_path):
    X, y = sparse_parity(120, 8, random_state=0)
    table = LabelledTable(X, y.astype(str), tuple("abcdefgh"), np.zeros(8, bool), {})
    monkeypatch.setattr(large_sets, "all_sets", lambda _: {"higgs_7500": None})
    monkeypatch.setattr(large_sets, "open_set", lambda *_: table)
    monkeypatch.setattr(large_sets, "N_SINGLE_ROWS", 5)
    figure, lines = drawn("sporf-9", data=tmp_path)
    assert len(figure.axes) == 3
    assert [line for line in lines if "higgs_7500, SPORF" in line]
    assert sum("one row at a time" in line for line in lines) == 3
    monkeypatch.setattr(large_sets, "all_sets", lambda _: {"iris": None})
    with pytest.raises(ValueError, match="mnist_train60k"):
        drawn("sporf-9", data=tmp_path)


def test_command_lists_draws_and_refuses(tmp_path):
    listed = invoke(app, ["lab", "figure"])
    assert all(name in listed.output for name in FIGURES)
    path = tmp_path / "weights.png"
    made = invoke(app, ["lab", "figure", "blaser-2.1", "--out", str(path)])
    assert made.exit_code == 0, made.output
    assert path.stat().st_size > 5_000
    assert invoke(app, ["lab", "figure", "menze-3"]).exit_code != 0
    assert invoke(app, ["lab", "figure", "nothing"]).exit_code != 0
