"""Blaser's experiments: his rows and scalings, and forests that are those of his tables."""

from dataclasses import replace

import numpy as np
import pytest
from lab_support.folders import plan_of, some_cells

from bevel_lab.protocols import PROTOCOLS
from bevel_lab.protocols.blaser import categories_of, to_unit
from bevel_lab.protocols.sets import open_set
from bevel_lab.report.tally import contender
from bevel_lab.running.cell_runner import CellRunner


@pytest.mark.parametrize("name", ["blaser-1", "blaser-weights", "blaser-3"])
def test_blaser_has_every_category_level_in_training(folder, name):
    plan = plan_of(name, data=folder, repeats=20)
    share = 50 if name == "blaser-3" else 70
    repeats = {cell.repeat: cell.problem for cell in PROTOCOLS[name].cells(plan)}
    assert len(repeats) == 20
    for cell in repeats.values():
        problem = PROTOCOLS[name].load(cell, plan)
        assert len(problem.y_train) == share
        assert set(problem.y_train) == {"a", "b", "c"}
        # height, width, and two indicators for three levels, one of which has a single row
        assert problem.X_train.shape[1] == 4
        assert problem.X_train[:, 1].sum() == 1


def test_categories_of_blaser_are_columns_of_few_values_and_the_classes(folder):
    columns = categories_of(open_set("mixed", folder))
    assert [len(np.unique(each)) for each in columns] == [3, 3]


def test_unit_scaling_is_learned_on_training_rows(folder):
    plan = plan_of("blaser-weights", data=folder)
    cell = some_cells("blaser-weights", plan)[0].problem
    problem = to_unit(PROTOCOLS["blaser-1"].load(cell, plan))
    assert problem.X_train.min() == 0.0
    assert problem.X_train.max() == 1.0
    assert problem.X_test.max() != 1.0


def test_blaser_flips_only_what_is_rotated_at_random():
    protocol = PROTOCOLS["blaser-1"]
    plan = plan_of("blaser-1", only=("iris",), repeats=1)
    seen = {}
    for cell in protocol.cells(plan):
        seen.setdefault(cell.system, []).append(protocol.parameters(cell, plan).get("flip"))
    assert seen["rr-rf"] == seen["rr-et"] == [False] * 3 + [True] * 3
    assert seen["random-forest"] == seen["rotation-forest"] == [None] * 3
    names = {contender("rr-rf", cell.setting) for cell in protocol.cells(plan)}
    assert "rr-rf (quantile, flips)" in names
    assert "rr-rf (quantile)" in names


def forest_settings(name, word):
    """What each system of an experiment gets for this name."""
    plan = plan_of(name, only=("iris",), repeats=1)
    cells = PROTOCOLS[name].cells(plan)
    return {cell.system: PROTOCOLS[name].parameters(cell, plan).get(word) for cell in cells}


def test_forests_of_the_tables_of_weights_have_one_candidate_at_each_node():
    settings = forest_settings("blaser-weights", "n_projections")
    assert settings["rr-rf"] == settings["random-forest"] == 1
    assert settings["lda"] is settings["rotations-exp"] is None  # the latter's preset says so


def test_rotation_ensembles_with_noise_are_those_of_the_tables_of_weights():
    settings = forest_settings("blaser-noise", "n_projections")
    assert (settings["rr-rf"], settings["random-forest"]) == (1, None)


@pytest.mark.parametrize("name", ["blaser-weights", "blaser-noise"])
def test_forests_of_the_tables_of_weights_draw_once_at_each_node(name):
    settings = forest_settings(name, "max_redraws")
    assert settings["rr-rf"] == settings["random-forest"] == settings["rotations-bst"] == 0
    assert settings["lda"] is None


def test_forests_of_table_3_1_use_all_rows():
    assert forest_settings("blaser-3", "bootstrap") == {
        "random-forest": False,
        "multi-rotation": False,
    }


@pytest.mark.parametrize(("data", "nodes"), [("iris", 20.98), ("wine", 36.21)])
def test_trees_of_the_preset_have_the_sizes_of_table_2_3(data, nodes):
    """With √p candidates they have 13.7 and 21.4. Means of ten splits vary by about 0.4."""
    plan = plan_of("blaser-weights", only=(data,), repeats=10, trees=200)
    plan = replace(plan, systems=("rotations-rre",))
    protocol = PROTOCOLS["blaser-weights"]
    runner = CellRunner(protocol, plan, folder=None)
    seen = [runner.run(cell, 1).metrics["complexity"] for cell in protocol.cells(plan)]
    assert np.mean(seen) == pytest.approx(nodes, abs=2.0)


@pytest.mark.parametrize(("data", "leaves"), [("iris", (8.04, 5.67)), ("wine", (9.54, 6.41))])
def test_trees_without_bags_have_the_sizes_of_table_3_1(data, leaves):
    """In bags they have 5.5 and 4.2, 7.4 and 5.1."""
    plan = plan_of("blaser-3", only=(data,), repeats=5, trees=60)
    plan = replace(plan, systems=("random-forest", "multi-rotation"))
    protocol = PROTOCOLS["blaser-3"]
    runner = CellRunner(protocol, plan, folder=None)
    seen = {}
    for cell in protocol.cells(plan):
        seen.setdefault(cell.system, []).append(runner.run(cell, 1).metrics["leaves"])
    assert np.mean(seen["random-forest"]) == pytest.approx(leaves[0], rel=0.2)
    assert np.mean(seen["multi-rotation"]) == pytest.approx(leaves[1], rel=0.2)
