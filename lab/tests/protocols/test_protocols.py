"""The papers' experiments: their sizes, independent splits, claims that can be judged."""

import gzip
import pickle
from dataclasses import replace

import numpy as np
import pytest
from lab_support.folders import forget_tables, plan_of, rows_of, some_cells, write_folder
from scipy.stats import norm

from bevel.datasets import trunk
from bevel.presets import random_forest
from bevel_lab.cells import Cell
from bevel_lab.data.recipes import RECIPES
from bevel_lab.protocols import PROTOCOLS, Plan
from bevel_lab.protocols.base import SIMULATED
from bevel_lab.protocols.digits import PAIRS, open_pair
from bevel_lab.protocols.measures import directions_of_trunk
from bevel_lab.protocols.sets import all_sets, chosen_sets, open_set, prepared
from bevel_lab.protocols.sporf import with_noise
from bevel_lab.protocols.transforms import TRANSFORMS, transformed
from bevel_lab.running.cell_runner import CellRunner
from bevel_lab.systems import SYSTEMS
from bevel_lab.systems.base import Task

# Cells of the full experiment without a folder, by the papers' numbers.
SIZES = {
    "sporf-uci": 4 * 5 * 5,  # sets, folds, systems
    "noise-dims": 4 * 5 * 4 * 5,  # and numbers of noise dimensions
    "sparse-parity": 10 * 3 * 4,  # repeats, rows, systems
    "orthant": 10 * 3 * 4,
    "consistency": 10 * 3 * 4,
    "trunk": 10 * (4 + 2) * 5,
    "lambda-sensitivity": 10 * 2 * 5 * 2,
    "transforms": 10 * 5 * (5 + 4) * (1 + 3 + 1 + 4),  # scalings of the four systems
    "menze-40": (5 + 1) * 10 * 10 * 10,
    "menze-offsets": 10 * 7 * 4,
    "blaser-1": 2 * 100 * 21,  # the 21 experiments of 1.6.3
    "blaser-weights": 3 * 100 * (6 + 8),
    "blaser-noise": 1 * 100 * 8 * 14,
    "blaser-3": 3 * 100 * (1 + 2),
    "rotation-study": 1 * 20 * 20 * 5 * 3,  # set, fold groups, rotation groups, folds, systems
    "bars": 30 * 3 * (2 + 1 + 1),
    "blaser-iris": 300 * 2 * (13 + 13),  # repeats, plain and rotated, settings of both kinds
    "axis-peers": 16 * 5 * 2,  # repeats over four sets, folds, forests
    "oblique-peers": 16 * 5 * 4,
    "scales": 16 * 5 * 7,
    "projection-lists": 16 * 5 * 4,
}
NAMES = (*SIZES, "timing")  # the latter depends on the number of cores
NUMERIC = ("axis-peers", "oblique-peers", "scales")  # take numeric sets alone


def test_every_experiment_of_the_papers_is_there():
    assert set(NAMES) <= set(PROTOCOLS)  # other tests may add trials of their own


@pytest.mark.parametrize(("name", "n_cells"), SIZES.items())
def test_experiment_has_the_papers_number_of_cells(name, n_cells):
    keys = [cell.key for cell in PROTOCOLS[name].cells(plan_of(name))]
    assert len(keys) == n_cells
    assert len(set(keys)) == n_cells


@pytest.mark.parametrize("name", NAMES)
def test_quick_experiment_is_much_smaller(name):
    quick = list(PROTOCOLS[name].cells(plan_of(name, quick=True)))
    full = list(PROTOCOLS[name].cells(plan_of(name)))
    assert 0 < len(quick) <= len(full) / 2


@pytest.mark.parametrize("name", NAMES)
def test_default_systems_and_claims_refer_to_systems_of_the_lab(name):
    protocol = PROTOCOLS[name]
    assert set(protocol.default_systems) <= set(SYSTEMS)
    assert set(protocol.grids) <= set(SYSTEMS)
    assert protocol.claims
    for claim in protocol.claims:
        assert set(claim.systems) <= set(protocol.default_systems), claim.text


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NUMERIC])
def test_experiment_that_runs_on_sets_of_a_folder_says_so(name, folder):
    own, given = (
        {cell.data for cell in PROTOCOLS[name].cells(plan_of(name, data=data))}
        for data in (None, folder)
    )
    assert own == given or PROTOCOLS[name].source != SIMULATED


@pytest.mark.parametrize("name", NAMES)
def test_claims_refer_to_settings_that_the_experiment_has(name):
    protocol = PROTOCOLS[name]
    seen = {}
    for cell in protocol.cells(plan_of(name)):
        seen.setdefault(cell.system, []).append(cell.setting)
    for claim in protocol.claims:
        for side in filter(None, (claim.left, claim.right)):
            for where in (side.where, {**side.where, **(claim.since or {})}):
                assert any(where.items() <= dict(each).items() for each in seen[side.system]), (
                    claim.text
                )


@pytest.mark.parametrize("name", NAMES)
def test_experiment_reaches_worker_processes_whole(name):
    protocol = pickle.loads(pickle.dumps(PROTOCOLS[name]))
    assert protocol.name == name


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_the_same_for_every_system_and_every_call(name):
    plan = plan_of(name, quick=True)
    cell = some_cells(name, plan)[0]
    twins = [replace(cell, system=system) for system in (*plan.systems, "")[:2]]
    one, other = (PROTOCOLS[name].load(each.problem, plan) for each in twins)
    np.testing.assert_array_equal(one.X_train, other.X_train)
    np.testing.assert_array_equal(one.y_test, other.y_test)
    another = PROTOCOLS[name].load(replace(cell.problem, repeat=1), plan)
    assert another.X_train.shape != one.X_train.shape or (another.X_train != one.X_train).any()


@pytest.mark.parametrize("name", NAMES)
def test_every_default_system_runs_in_a_quick_cell(name):
    protocol = PROTOCOLS[name]
    plan = plan_of(name, quick=True, trees=3)
    cells = {}
    for cell in protocol.cells(plan):
        if SYSTEMS[cell.system].kind == "ours":  # others have tests of their own, and take longer
            cells.setdefault(cell.system, cell)
    runner = CellRunner(protocol, plan, folder=None)
    for cell in cells.values():
        result = runner.run(cell, 1)
        assert result.status == "ok", result.message
        assert protocol.size(cell, plan) > 0
        assert 0.0 <= result.metrics["error"] <= 1.0


def test_folds_of_uci_are_stratified_and_cover_each_row_once(folder):
    plan = plan_of("sporf-uci", data=folder)
    cells = [cell for cell in PROTOCOLS["sporf-uci"].cells(plan) if cell.system == "sporf"]
    assert [cell.fold for cell in cells] == [0, 1, 2, 3, 4]
    problems = [PROTOCOLS["sporf-uci"].load(cell.problem, plan) for cell in cells]
    for problem in problems:
        counts = np.unique(problem.y_test, return_counts=True)
        assert counts[1].tolist() == [10, 6, 4]
    widths = np.concatenate([problem.X_test[:, -1] for problem in problems])
    np.testing.assert_array_equal(np.sort(widths), np.sort(open_set("mixed", folder).X[:, 2]))


@pytest.mark.parametrize("recipe", ["sporf", "blaser", "native"])
def test_test_rows_and_labels_cannot_change_the_training_matrix(tmp_path, recipe):
    made = []
    plan = plan_of("sporf-uci", data=tmp_path, recipe=recipe)
    protocol = PROTOCOLS["sporf-uci"]
    rows = rows_of()
    write_folder(tmp_path, rows)
    cell = some_cells("sporf-uci", plan)[0].problem
    first = protocol.load(cell, plan)
    widths = {str(value) for value in first.X_test[:, -1]}
    for word in ("aaa", "zzz"):  # levels that sort before and after all others
        changed = [[*row] for row in rows]
        for row in changed:
            if row[2] in widths:
                row[0], row[1], row[2] = "1e9", word, "-5"
        write_folder(tmp_path, changed)
        forget_tables()
        made.append(protocol.load(cell, plan))
    for problem in made:
        assert (problem.X_test[:, -1] == -5).all()
        np.testing.assert_array_equal(problem.X_train, first.X_train)


@pytest.mark.parametrize("recipe", RECIPES)
def test_labels_cannot_change_the_matrix(folder, recipe):
    table = open_set("mixed", folder)
    train = np.arange(100) % 3 > 0
    one, other = (
        prepared(replace(table, y=labels), train, recipe) for labels in (table.y, table.y[::-1])
    )
    assert (one.y_train != other.y_train).any()
    np.testing.assert_array_equal(one.X_train, other.X_train)
    np.testing.assert_array_equal(one.X_test, other.X_test)


def test_fewer_noise_dimensions_are_the_first_of_more(folder):
    plan = plan_of("noise-dims", data=folder)
    cell = some_cells("noise-dims", plan)[0].problem
    plain = PROTOCOLS["sporf-uci"].load(cell, plan)
    some, more = (with_noise(plain, number, 3) for number in (10, 100))
    width = plain.X_train.shape[1]
    assert more.X_test.shape[1] == width + 100
    np.testing.assert_array_equal(more.X_train[:, : width + 10], some.X_train)
    assert abs(more.X_train[:, width:].mean()) < 0.05
    assert abs(more.X_train[:, width:].std() - 1.0) < 0.05


def test_transformations_change_what_they_say_and_corruption_spares_test_rows():
    plan = plan_of("transforms", quick=True)
    raw = PROTOCOLS["transforms"].load(some_cells("transforms", plan)[0].problem, plan)
    for how in TRANSFORMS:
        after = transformed(raw, how, 5)
        assert (after.X_train != raw.X_train).any() == (how != "raw")
        assert (after.X_test != raw.X_test).any() == (how in ("rotated", "scaled", "affine"))
        if how == "rotated":
            np.testing.assert_allclose(
                np.linalg.norm(after.X_test, axis=1), np.linalg.norm(raw.X_test, axis=1)
            )
        if how == "scaled":
            factors = after.X_train / raw.X_train
            np.testing.assert_allclose(factors, factors[:1].repeat(len(factors), axis=0))


def test_thesis_grows_1000_trees_on_small_sets_and_leaves_below_ten_rows(folder):
    plan = plan_of("transforms", data=folder)
    protocol = PROTOCOLS["transforms"]
    cells = {cell.data: cell for cell in protocol.cells(plan) if cell.system == "forest-rc"}
    given = {data: protocol.parameters(cell, plan) for data, cell in cells.items()}
    assert {data: each["n_trees"] for data, each in given.items()} == {
        "sparse-parity": 500,
        "trunk": 1000,
        "mixed": 1000,
    }
    assert all(each["min_samples_split"] == 10 for each in given.values())


def test_grids_of_the_thesis_try_every_number_of_few_features_and_up_to_p_squared():
    grids = PROTOCOLS["transforms"].grids
    few, many = (Task("classification", 100, p, 2) for p in (3, 20))
    tried = {
        (system, task.p): [each["n_projections"] for each in grids[system].settings(task)]
        for system in ("random-forest", "frank")
        for task in (few, many)
    }
    assert tried["random-forest", 3] == [1, 2, 3]
    assert tried["random-forest", 20] == ["p**0.25", "p**0.5", "p**0.75", "p"]
    assert tried["frank", 20][-2:] == ["p**1.5", "p**2"]


def test_density_is_not_tuned_where_it_is_studied():
    protocol = PROTOCOLS["lambda-sensitivity"]
    plan = plan_of("lambda-sensitivity", quick=True, trees=30, tune=True)
    cells = [cell for cell in protocol.cells(plan) if cell.data == "orthant"][:4]
    runner = CellRunner(protocol, plan, folder=None)
    for cell in cells:
        result = runner.run(cell, 1)
        assert result.status == "ok", result.message
        assert set(result.details["chosen"]) == {"n_projections"}


def test_quick_runs_are_not_tuned_unless_asked():
    protocol = PROTOCOLS["sporf-uci"]
    assert protocol.is_tuned(Plan(systems=()))
    assert not protocol.is_tuned(Plan(systems=(), tune=False))
    assert not protocol.is_tuned(Plan(systems=(), quick=True))
    assert protocol.is_tuned(Plan(systems=(), quick=True, tune=True))


def test_directions_of_trunk_are_the_best_ones_and_their_bayes_errors():
    X, y = trunk(200, 3, random_state=0)
    model = random_forest(n_estimators=10, random_state=0, n_jobs=1).fit(X, y)
    measured = directions_of_trunk(model, None, None)
    assert measured["top_best_bayes_error"] == pytest.approx(norm.cdf(-1.0))
    assert measured["top_worst_bayes_error"] == pytest.approx(norm.cdf(-1.0 / np.sqrt(3.0)))
    assert measured["top_fewest_features"] == 1


def test_timing_gives_axes_p_candidates_at_most_and_one_thread_for_single_rows():
    protocol = PROTOCOLS["timing"]
    plan = plan_of("timing", quick=True)
    cells = list(protocol.cells(plan))
    asked = {(cell.system, cell.setting.get("candidates")) for cell in cells}
    assert ("sporf", "p**2") in asked
    assert ("random-forest", "p**2") not in asked
    assert ("xgboost", "p") not in asked
    single = [cell for cell in cells if cell.setting["study"] == "prediction"]
    assert {protocol.parameters(cell, plan)["n_jobs"] for cell in single} == {1}
    result = CellRunner(protocol, replace(plan, trees=2), folder=None).run(single[0], 1)
    assert result.metrics["seconds_single_row"] > 0.0


def test_sets_of_a_folder_are_chosen_by_name_and_size(folder):
    assert list(all_sets(folder.parent)) == ["mixed"]
    plan = Plan(systems=(), data=folder)
    assert [each.name for each in chosen_sets(plan, paper=("iris",))] == ["mixed"]
    with pytest.raises(ValueError, match=r"only must be data sets of .*mixed.*; got 'mixd'"):
        chosen_sets(replace(plan, only=("mixd",)))
    with pytest.raises(ValueError, match="none is left"):
        chosen_sets(replace(plan, max_rows=10))


def test_unknown_recipe_is_refused(folder):
    plan = plan_of("sporf-uci", data=folder, recipe="sport")
    with pytest.raises(ValueError, match="recipe must be one of sporf, blaser"):
        PROTOCOLS["sporf-uci"].load(some_cells("sporf-uci", plan)[0].problem, plan)


# --- digits, where the folder has MNIST ----------------------------------------------------------


@pytest.fixture
def mnist(tmp_path):
    """300 images of digits: the digit shines in its first pixels, so that it can be learned."""
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    digits = np.arange(300) % 10
    X = rng.integers(0, 50, (300, 784))
    X[np.arange(300), digits] = 255
    names = ",".join(f"p{i}" for i in range(784))
    lines = [",".join(map(str, [*x, digit])) for x, digit in zip(X, digits, strict=True)]
    text = "\n".join([f"{names},target", *lines]) + "\n"
    (folder / "mnist_small.csv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "index.csv").write_text("name,n,n_classes,categorical_columns\nmnist_small,300,10,\n")
    return folder


def test_pairs_of_digits_hold_their_digits_and_no_others(mnist):
    for name, (first, second) in PAIRS.items():
        table = open_pair(name, mnist, 1_000, 0)
        digits = table.X.argmax(axis=1).astype(str)
        assert set(np.unique(digits)) == set(first + second)
        np.testing.assert_array_equal(np.isin(digits, list(first)), table.y == first)
    few, others = (open_pair("digits 2-4", mnist, 10, seed).X for seed in (0, 1))
    assert few.shape == (10, 784)
    assert (few != others).any()


@pytest.mark.parametrize("name", ["menze-40", "bars"])
def test_digits_take_part_where_the_folder_has_them_and_are_missed_elsewhere(mnist, folder, name):
    protocol = PROTOCOLS[name]
    assert set(PAIRS) <= {cell.data for cell in protocol.cells(plan_of(name, data=mnist))}
    assert protocol.left_out(plan_of(name, data=mnist)) == []
    (message,) = protocol.left_out(plan_of(name, data=folder))
    assert "need MNIST" in message
    assert str(folder) in message
    assert "no folder was given" in protocol.left_out(plan_of(name))[0]
    assert protocol.left_out(plan_of(name, quick=True)) == []
    only = plan_of(name, data=mnist, quick=True, only=("digits 3-8",), trees=20)
    cells = list(protocol.cells(only))
    assert {cell.data for cell in cells} == {"digits 3-8"}
    runner = CellRunner(protocol, only, folder=None)
    ours = {cell.system: cell for cell in cells if SYSTEMS[cell.system].kind == "ours"}
    for cell in ours.values():
        result = runner.run(cell, 1)
        assert result.status == "ok", result.message
    problem = protocol.load(cells[0].problem, only)
    assert problem.X_train.shape[1] == 784
    together = np.concatenate([problem.X_train, problem.X_test])
    assert len(np.unique(together, axis=0)) == len(together)  # no image is in both


def test_large_sets_of_the_timing_study_are_missed(folder):
    protocol = PROTOCOLS["timing"]
    assert "mnist_train60k, higgs_7500" in protocol.left_out(plan_of("timing", data=folder))[0]
    assert protocol.left_out(plan_of("timing", quick=True)) == []


@pytest.mark.parametrize("system", ["forest-rc", "frank"])
def test_all_trees_of_sporfs_experiments_split_until_pure(system):
    settings = {
        "n_train": 400,
        "density": 2,
        "noise_dims": 10,
        "transform": "raw",
        "n_features": 10,
    }
    smallest = {
        name: PROTOCOLS[name]
        .parameters(Cell(name, "trunk", system, settings), Plan((system,)))
        .get("min_samples_split")
        for name in ("sparse-parity", "orthant", "lambda-sensitivity", "sporf-uci", "noise-dims")
    }
    assert set(smallest.values()) == {2}
    thesis = PROTOCOLS["transforms"].parameters(
        Cell("transforms", "trunk", system, settings), Plan((system,))
    )
    assert thesis["min_samples_split"] == 10  # 2.3.1


@pytest.mark.parametrize("name", ["orthant", "sparse-parity"])
@pytest.mark.parametrize(
    ("asked", "p", "numbers"),
    [
        (None, 20, {1, 2, 3, 4, 5}),  # SPORF 3.2: λ = 1/p to 5/p
        (None, 3, {1, 2, 3}),
        (None, 1, {1}),
        ("combined", 20, {2, 3, 4, 5}),
        ("combined", 1, {1}),
    ],
)
def test_forest_rc_is_tuned_over_the_printed_grid_or_real_combinations(name, asked, p, numbers):
    grids = PROTOCOLS[name].grids_of(plan_of(name, grid=asked))
    settings = grids["forest-rc"].settings(Task("classification", 100, p, 2))
    assert {each["n_combined"] for each in settings} == numbers
    assert len(settings) == 5 * len(numbers)


def test_runs_of_other_grids_and_rules_are_not_taken_up():
    orthant = PROTOCOLS["orthant"]
    assert orthant.meaning(plan_of("orthant"))["grid"] == "printed"
    assert orthant.meaning(plan_of("orthant", grid="combined"))["grid"] == "combined"
    weights = PROTOCOLS["blaser-weights"]
    assert weights.meaning(plan_of("blaser-weights"))["max_redraws"] == 0
    parity = PROTOCOLS["lambda-sensitivity"]  # it has no other grid
    assert "grid" not in parity.meaning(plan_of("lambda-sensitivity"))


@pytest.mark.parametrize("name", ["sporf-uci", "noise-dims"])
def test_scales_of_features_are_tuned_where_features_are_combined(name):
    task = Task("classification", 100, 20, 2)
    scaled = PROTOCOLS[name].grids_of(plan_of(name))
    plain = PROTOCOLS[name].grids_of(plan_of(name, grid="unscaled"))
    assert set(scaled) == {"sporf", "forest-rc", "rr-rf"}
    for system, grid in scaled.items():
        settings = grid.settings(task)
        assert {each["scale"] for each in settings} == {None, "rank", "minmax", "standard"}
        assert len(settings) == 4 * len(plain[system].settings(task))
    cell = Cell(name, "wine", "rr-rf", {}, 0, 0, 0)
    assert PROTOCOLS[name].parameters(cell, plan_of(name))["scale"] == "standard"
    assert PROTOCOLS[name].parameters(cell, plan_of(name, grid="unscaled"))["scale"] is None
