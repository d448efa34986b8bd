"""`bevel.training.trainer`: the call into the trainer."""

from __future__ import annotations

import numpy as np
import pytest

from bevel.data.dataset import learn_dataset
from bevel.data.tables import read_table
from bevel.forest.flat_forest import join_forests
from bevel.parameters.forest_parameters import REGRESSOR_PARAMETERS
from bevel.projections.families import TableShape, read_projection
from bevel.training.options import resolve_options
from bevel.training.progress import Progress
from bevel.training.trainer import TrainingTarget, native_options, train

SILENT = Progress(0, 1, bar=False, callback=None)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    dataset = learn_dataset(read_table(rng.normal(size=(60, 4))), None, "standard")
    values = {name: parameter.default for name, parameter in REGRESSOR_PARAMETERS.items()}
    members = read_projection("sparse", "auto")
    options = resolve_options(values, members, TableShape(60, 4, 0), seed=2**64 - 1)
    return dataset, TrainingTarget(rng.normal(size=60), 0, None), options


def test_every_option_reaches_the_core(problem):
    options = problem[2]
    native = native_options(options)
    for name, value in vars(options).items():
        if name not in ("families", "chooses_node_size", "groups"):
            got = getattr(native, name)
            assert (tuple(got) if isinstance(value, tuple) else got) == value
    assert len(native.families) == 1


def test_trees_depend_on_their_number_only(problem):
    whole = train(*problem, range(8), 2, SILENT)
    parts = [train(*problem, trees, 1, SILENT) for trees in (range(3), range(3, 8))]
    joined = join_forests(*parts)
    for name, array in whole.arrays().items():
        assert np.array_equal(array, joined.arrays()[name]), name


def test_progress_ends_with_all_trees(problem):
    calls = []
    progress = Progress(3, 8, bar=False, callback=lambda *args: calls.append(args))
    train(*problem, range(3, 8), 1, progress)
    assert calls[-1] == (8, 8)


def test_exception_of_the_callback_reaches_the_caller(problem):
    def stop(*_):
        raise KeyError("enough")

    progress = Progress(0, 8, bar=False, callback=stop)
    with pytest.raises(KeyError, match="enough"):
        train(*problem, range(8), 2, progress)


def test_forest_remembers_levels_and_medians(problem):
    forest = train(*problem, range(2), 1, SILENT)
    assert np.array_equal(forest.medians, problem[0].encoding.medians)
    assert (forest.n_features, forest.n_classes) == (4, 0)
