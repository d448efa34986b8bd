"""The grid of SPORF 5.2, and Figure 3.9 of the thesis with at most p candidates."""

import pytest
from lab_support.folders import plan_of

from bevel.tuning.candidates import DENSITIES, POWERS
from bevel_lab.cells import OK
from bevel_lab.paper_figures.grid import median_ranks
from bevel_lab.protocols import PROTOCOLS
from bevel_lab.running.cell_runner import CellRunner
from bevel_lab.systems.base import Task


@pytest.fixture(scope="module")
def on_iris(tmp_path_factory):
    """All pairs on one fold of iris, which has four features."""
    protocol = PROTOCOLS["sporf-grid"]
    plan = plan_of("sporf-grid", only=("iris",), trees=5, folds=2)
    runner = CellRunner(protocol, plan, tmp_path_factory.mktemp("run"))
    return [runner.run(cell, 1) for cell in protocol.cells(plan) if cell.fold == 0]


def test_all_pairs_are_run_where_there_are_fewer_features_than_five(on_iris):
    assert len(on_iris) == len(POWERS) * len(DENSITIES)
    assert {each.status for each in on_iris} == {OK}
    ranks, n_sets = median_ranks(on_iris)
    assert n_sets == 1
    assert ranks.sum() == pytest.approx(25 * 26 / 2)


def test_more_features_than_there_are_in_a_direction_means_all(on_iris):
    kappa = {
        (each.cell.setting["candidates"], each.cell.setting["combined"]): each.metrics["kappa"]
        for each in on_iris
    }
    assert [kappa[d, 5] for d in POWERS] == [kappa[d, 4] for d in POWERS]
    assert [kappa[d, 4] for d in POWERS] != [kappa[d, 1] for d in POWERS]


@pytest.mark.parametrize(
    ("system", "word", "n_settings"),
    [("sporf", "density", 4 * 5), ("forest-rc", "n_combined", 4 * 5)],
)
def test_restricted_budget_never_has_more_than_p_candidates(system, word, n_settings):
    grid = PROTOCOLS["restricted-budget"].grids[system]
    settings = grid.settings(Task("classification", 100, 6, 2))
    assert len(settings) == n_settings
    assert {each["n_projections"] for each in settings} == {"p**0.25", "p**0.5", "p**0.75", "p"}
    assert max(each[word] for each in grid.settings(Task("classification", 100, 3, 2))) == 3


def test_restricted_budget_has_the_grid_of_real_combinations_too():
    plan = plan_of("restricted-budget", grid="combined")
    grid = PROTOCOLS["restricted-budget"].grids_of(plan)["forest-rc"]
    assert len(grid.settings(Task("classification", 100, 6, 2))) == 4 * 4


def test_restricted_budget_has_both_simulations_at_three_numbers_of_rows():
    cells = list(PROTOCOLS["restricted-budget"].cells(plan_of("restricted-budget")))
    assert len(cells) == 10 * 2 * 3 * 3  # repeats, simulations, rows, systems
    quick = list(PROTOCOLS["restricted-budget"].cells(plan_of("restricted-budget", quick=True)))
    assert {cell.data for cell in quick} == {"sparse-parity", "orthant"}
