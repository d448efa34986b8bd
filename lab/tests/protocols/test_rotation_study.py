"""The rotation study as an experiment of the lab: folds and rotations of its stacks."""

import numpy as np
import pytest
from lab_support.folders import plan_of, some_cells

from bevel.presets import stacked_rotation
from bevel.workflow.scores import log_loss
from bevel_lab.protocols import PROTOCOLS, Plan
from bevel_lab.running.cell_runner import CellRunner
from bevel_lab.studies.layout import rotation_seed


def stacks_of_the_study(folder, **options):
    """The stack's cells: as they are, nothing is scaled, so that widths name the rows."""
    plan = Plan(systems=("stacked-rotation",), data=folder, recipe="native", repeats=2, **options)
    return plan, list(PROTOCOLS["rotation-study"].cells(plan))


@pytest.mark.parametrize("folds", [None, 3])
def test_stack_is_cross_validated_on_the_other_folds_of_its_group(folder, folds, monkeypatch):
    # Each fold is scaled by its own training rows: rows are recognised by numbers as they are.
    monkeypatch.setattr("bevel_lab.protocols.rotation_study.to_unit", lambda problem: problem)
    protocol = PROTOCOLS["rotation-study"]
    plan, cells = stacks_of_the_study(folder, folds=folds)
    problems = [protocol.load(cell.problem, plan) for cell in cells]
    tested = {}
    for cell, problem in zip(cells, problems, strict=True):
        tested.setdefault(cell.repeat, {})[cell.fold] = frozenset(problem.X_test[:, -1])
    assert tested[0] != tested[1]
    for cell, problem in zip(cells, problems, strict=True):
        cv = protocol.parameters(cell, plan)["cv"]
        held_out = {frozenset(problem.X_train[rows, -1]) for _, rows in cv.split()}
        assert held_out == set(tested[cell.repeat].values()) - {tested[cell.repeat][cell.fold]}


def test_rotations_of_a_stack_are_those_of_its_group_whatever_the_fold(folder):
    plan, cells = stacks_of_the_study(folder)
    assert len(cells) == 2 * 2 * 5
    seeds = {}
    for cell in cells:
        given = PROTOCOLS["rotation-study"].parameters(cell, plan)
        assert "random_state" not in given  # follows from the fold, so that luck is the same
        seeds.setdefault(cell.setting["rotation_group"], set()).add(given["rotation_state"])
    assert seeds == {group: {rotation_seed(0, "mixed", group)} for group in (0, 1)}


def test_stack_of_the_study_is_the_preset_with_the_folds_and_seeds_of_its_cell(folder):
    plan, cells = stacks_of_the_study(folder, trees=2)
    cell = cells[3]
    assert (cell.fold, cell.setting) == (1, {"rotation_group": 1})
    protocol = PROTOCOLS["rotation-study"]
    result = CellRunner(protocol, plan, folder=None).run(cell, 1)
    assert result.status == "ok", result.message
    problem = protocol.load(cell.problem, plan)
    stack = stacked_rotation(
        n_estimators=2,
        cv=protocol.parameters(cell, plan)["cv"],
        rotation_state=rotation_seed(0, "mixed", 1),
        random_state=cell.seed,
        categorical_features=[1],
    ).fit(problem.X_train, problem.y_train)
    assert result.metrics["error"] == np.mean(stack.predict(problem.X_test) != problem.y_test)
    shares = stack.predict_proba(problem.X_test)
    assert result.metrics["log_loss"] == log_loss(problem.y_test, shares, stack.classes_)


def test_stack_divides_the_rows_by_itself_where_a_group_has_two_folds(folder):
    plan, cells = stacks_of_the_study(folder, folds=2, trees=2)
    assert "cv" not in PROTOCOLS["rotation-study"].parameters(cells[0], plan)
    result = CellRunner(PROTOCOLS["rotation-study"], plan, folder=None).run(cells[0], 1)
    assert result.status == "ok", result.message


def test_forests_of_a_stack_have_fewer_trees_unless_the_user_says():
    protocol = PROTOCOLS["rotation-study"]
    given = {}
    for trees in (None, 7):
        plan = plan_of("rotation-study", trees=trees)
        for cell in some_cells("rotation-study", plan, 3):
            given[cell.system, trees] = protocol.parameters(cell, plan)["n_trees"]
    assert given == {
        ("stacked-rotation", None): 100,
        ("rr-rf", None): 500,
        ("random-forest", None): 500,
        **{(system, 7): 7 for system in protocol.default_systems},
    }
