"""Pickles are trusted, but a damaged one raises instead of leading the core astray."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from support.model_files import small_models

from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor
from bevel.forest.quantiles import LeafTargets


def damaged(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


FAULTS = {
    "right": lambda f: {"right": damaged(f.right, 0, 2**30)},
    "feature": lambda f: {"entry_index": damaged(f.entry_index, 0, 10**6)},
    "entries": lambda f: {"entry_offset": damaged(f.entry_offset, 1, -5)},
    "nan": lambda f: {"threshold": damaged(f.threshold, 0, np.nan)},
    "shorter": lambda f: {"threshold": f.threshold[:-1]},
    "type": lambda f: {"right": f.right.astype(np.int64)},
    "features": lambda f: {"n_features": f.n_features + 1},
    "levels": lambda f: {"levels": f.levels.astype(np.float64)},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_damaged_forest_in_a_pickle_raises(fault):
    forest = small_models()["sparse"][0].forest_
    text = pickle.dumps(PackedPredictor(replace(forest, **fault(forest))))
    with pytest.raises(ValueError, match="A forest in a pickle must be sound"):
        pickle.loads(text)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_damaged_forest_in_a_state_raises(fault):
    """As skops sets it, which calls no constructor."""
    forest = small_models()["sparse"][0].forest_
    again = FlatForest.__new__(FlatForest)
    again.__setstate__(forest.__getstate__())
    assert np.array_equal(again.right, forest.right)
    assert not again.right.flags.writeable
    with pytest.raises(ValueError, match="A forest in a pickle must be sound"):
        again.__setstate__(replace(forest, **fault(forest)).__getstate__())


@pytest.mark.parametrize("name", small_models())
def test_sound_estimators_come_back_from_pickles_and_copies(name):
    estimator, X = small_models()[name]
    for again in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):
        assert np.array_equal(again.predict(X), estimator.predict(X))
        arrays = again.forest_.arrays()
        assert all(not array.flags.writeable for array in arrays.values())


def test_copies_of_a_forest_are_forests_without_a_vocabulary():
    forest = small_models()["sparse"][0].forest_
    for again in (copy.copy(forest), copy.deepcopy(forest)):
        assert type(again) is FlatForest
        assert "vocabulary" not in vars(again)
        assert np.array_equal(again.threshold, forest.threshold)
    assert copy.copy(forest).threshold is forest.threshold
    assert copy.deepcopy(forest).threshold is not forest.threshold


@pytest.mark.parametrize(
    "change",
    [
        lambda t: {"row": t.row + np.int32(10**6)},
        lambda t: {"row": -t.row - np.int32(1)},
        lambda t: {"offset": t.offset[::-1].copy()},
        lambda t: {"row": t.row[:-1]},
        lambda t: {"weight": t.weight[:-1]},
        lambda t: {"weight": np.full_like(t.weight, 1.7e308)},
        lambda t: {"value": t.value * np.nan},
    ],
    ids=["beyond", "negative", "descending", "shorter", "weights", "overflow", "nan"],
)
def test_damaged_targets_in_a_pickle_raise(change):
    targets = small_models()["kept"][0].fitted_forest_.kept_targets
    assert pickle.loads(pickle.dumps(targets)).row.tolist() == targets.row.tolist()
    with pytest.raises(ValueError, match="Targets in a pickle must be"):
        pickle.loads(pickle.dumps(replace(targets, **change(targets))))
    with pytest.raises(ValueError, match="Targets in a pickle must be"):
        LeafTargets.__new__(LeafTargets).__setstate__(
            replace(targets, **change(targets)).__getstate__()
        )
