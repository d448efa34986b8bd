"""Comparisons of Bevel's settings take the sets they are about, and vary what they say."""

import numpy as np
import pytest
from lab_support.folders import plan_of, some_cells

from bevel_lab.protocols import PROTOCOLS
from bevel_lab.protocols.comparisons import n_repeats
from bevel_lab.protocols.spectra import REPLICATES, replicate_groups
from bevel_lab.running.cell_runner import CellRunner


@pytest.mark.parametrize("name", ["axis-peers", "oblique-peers", "scales"])
def test_numeric_comparison_of_a_folder_without_numeric_sets_is_refused(name, folder):
    with pytest.raises(ValueError, match="needs a data set; none is left"):
        list(PROTOCOLS[name].cells(plan_of(name, data=folder)))


def test_categories_are_given_as_they_are_and_as_indicators(folder):
    plan = plan_of("categories", data=folder)
    native, one_hot = some_cells("categories", plan, 2)
    assert [each.setting["encoding"] for each in (native, one_hot)] == ["native", "one-hot"]
    protocol = PROTOCOLS["categories"]
    plain, encoded = (protocol.load(each.problem, plan) for each in (native, one_hot))
    assert plain.categorical_features.tolist() == [False, True, False]
    assert encoded.categorical_features is None
    assert encoded.X_train.shape[1] > 3
    assert np.isnan(encoded.X_train[:, 0]).any()  # numbers that are missing stay so
    assert plain.y_test.tolist() == encoded.y_test.tolist()


def test_categories_take_no_numeric_sets():
    with pytest.raises(ValueError, match="needs a data set; none is left"):
        list(PROTOCOLS["categories"].cells(plan_of("categories")))


@pytest.mark.parametrize("name", ["categories", "menze-spectra"])
def test_experiment_on_a_folder_runs_with_its_default_systems(name, folder):
    plan = plan_of(name, data=folder, quick=True, trees=5)
    runner = CellRunner(PROTOCOLS[name], plan, folder=None)
    for cell in some_cells(name, plan, len(plan.systems)):
        result = runner.run(cell, 1)
        assert (result.status, result.message) == ("ok", "")


@pytest.mark.parametrize(
    ("n_rows", "repeats"), [(10, 20), (150, 7), (999, 2), (1000, 1), (5000, 1)]
)
def test_small_sets_are_cross_validated_more_often(n_rows, repeats):
    assert n_repeats(n_rows) == repeats


def test_scales_of_the_comparison_reach_the_forest():
    plan = plan_of("scales")
    scales = [
        PROTOCOLS["scales"].parameters(cell, plan)["scale"]
        for cell in some_cells("scales", plan, 7)
    ]
    assert len(set(scales)) == 7
    assert None in scales


@pytest.mark.parametrize(
    ("name", "size"), [("mayonnaise_oil", 3), ("ucr_meat", 2), ("ucr_beef", 2)]
)
def test_replicates_of_a_sample_have_one_group(name, size):
    groups = replicate_groups(name, 60)
    assert set(np.bincount(groups).tolist()) == {size}
    assert set(REPLICATES) >= {name}


def test_replicates_are_kept_in_one_fold(folder, monkeypatch):
    monkeypatch.setitem(REPLICATES, "mixed", lambda row: row // 2)
    plan = plan_of("menze-spectra", data=folder)
    widths = []
    for cell in some_cells("menze-spectra", plan, 5 * len(plan.systems))[:: len(plan.systems)]:
        problem = PROTOCOLS["menze-spectra"].load(cell.problem, plan)
        widths.append(set(problem.X_test[:, 2].tolist()))
    table = PROTOCOLS["menze-spectra"].load(cell.problem, plan)
    assert sum(map(len, widths)) == len(table.y_train) + len(table.y_test)
    from bevel_lab.protocols.sets import open_set

    rows = open_set("mixed", folder).X[:, 2]
    for one, other in rows.reshape(-1, 2):
        assert any(one in fold and other in fold for fold in widths)
