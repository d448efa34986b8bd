"""Subclasses with an `__init__` of their own, as scikit-learn and boosting libraries allow."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
    RegularizedRotationClassifier,
    RotatedBoostingClassifier,
    RotatedFeatures,
    StackedRotationClassifier,
)
from bevel.analysis import importance
from bevel.dask import DaskObliqueForestClassifier

FEW_TREES = ObliqueBoostingClassifier(max_iter=2)
# Each estimator, the parameter that its subclass sets under another name, two values of it, and
# what else keeps the fit small.
KINDS = {
    ObliqueForestClassifier: ("max_depth", 3, 2, {"n_estimators": 5}),
    ObliqueForestRegressor: ("max_depth", 3, 2, {"n_estimators": 5}),
    ObliqueBoostingClassifier: ("max_iter", 4, 3, {}),
    ObliqueBoostingRegressor: ("max_iter", 4, 3, {}),
    ObliqueClassifier: ("quality", 1, 2, {}),
    ObliqueSurvivalForest: ("max_depth", 3, 2, {"n_estimators": 5}),
    ObliqueIsolationForest: ("n_estimators", 4, 3, {}),
    RegularizedRotationClassifier: ("n_estimators", 8, 9, {"n_rotations": 2, "n_micro_trees": 1}),
    RotatedFeatures: ("n_rotations", 2, 1, {}),
    RotatedBoostingClassifier: (
        "n_groups",
        2,
        1,
        {"booster": FEW_TREES},
    ),
    StackedRotationClassifier: (
        "n_rotations",
        2,
        1,
        {"cv": 2, "level0": ObliqueForestClassifier(3), "level1": ObliqueForestClassifier(3)},
    ),
}


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def target_of(base, y):
    if base is ObliqueSurvivalForest:
        return 1.0 + y + np.arange(len(y)) / 100, np.ones(len(y), bool)
    return y


def subclass_of(base):
    """A subclass that knows one parameter of the library, under a name of its own."""
    name, usual, _, others = KINDS[base]

    class Mine(base):
        def __init__(self, own=usual):
            super().__init__(**{name: own}, **others, random_state=0)
            self.own = own

    return Mine


def outcome(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@pytest.mark.parametrize("base", KINDS, ids=lambda base: base.__name__)
def test_a_subclass_with_its_own_parameters_fits_as_the_class_with_the_same_settings(base):
    X, y = rows()
    target = target_of(base, y)
    name, _, value, others = KINDS[base]
    expected = base(**{name: value}, **others, random_state=0).fit(X, target)
    mine = subclass_of(base)(own=value).fit(X, target)
    np.testing.assert_array_equal(outcome(mine, X), outcome(expected, X))
    again = clone(mine)
    assert again.get_params() == {"own": value}
    np.testing.assert_array_equal(outcome(again.fit(X, target), X), outcome(expected, X))


@pytest.mark.parametrize("base", KINDS, ids=lambda base: base.__name__)
def test_a_subclass_refuses_unknown_parameters_by_name(base):
    mine = subclass_of(base)
    with pytest.raises(TypeError, match="Mine has no parameter 'n_estimator'"):
        mine(n_estimator=3)
    with pytest.raises(ValueError, match="Invalid parameter 'n_estimator' for estimator Mine"):
        mine().set_params(n_estimator=3)
    assert mine().set_params(own=1).own == 1


class Deep(ObliqueForestClassifier):
    """A forest of small trees by another name."""

    def __init__(self, depth=3, seed=0):
        super().__init__(n_estimators=30, max_depth=depth, projection="axis", random_state=seed)
        self.depth = depth
        self.seed = seed


class Passing(ObliqueForestClassifier):
    """Passes what it does not know on."""

    def __init__(self, depth=3, **others):
        super().__init__(max_depth=depth, **others)
        self.depth = depth


def test_a_subclass_that_passes_parameters_on_fits():
    X, y = rows()
    model = Passing(depth=1, n_estimators=4, random_state=0).fit(X, y)
    assert model.forest_.n_trees == 4
    assert model.max_depth == 1
    with pytest.raises(ValueError, match="Invalid parameter 'others'"):
        model.set_params(others=1)


def test_a_subclass_is_searched_pickled_and_exported():
    X, y = rows()
    search = GridSearchCV(Deep(), {"seed": [1, 2]}, cv=2).fit(X, y)
    best = search.best_estimator_
    same = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(same.predict_proba(X), best.predict_proba(X))
    assert "predict" in best.to_c()


def test_a_subclass_cannot_be_saved_because_files_hold_no_code(tmp_path):
    X, y = rows()
    with pytest.raises(TypeError, match=r"no code of other classes; got Deep\. Pickle it"):
        Deep().fit(X, y).save(tmp_path / "model.bevel")


def test_one_output_of_a_subclass_is_of_the_subclass():
    X, y = rows()
    single = Deep().fit(X, np.column_stack([y, 1 - y])).output(1)
    assert type(single) is Deep
    np.testing.assert_array_equal(single.classes_, [0, 1])


@pytest.mark.parametrize("kind", ["corrected", "significance"])
def test_analyses_that_fit_again_take_a_subclass(kind):
    X, y = rows()
    model = Deep().fit(X, y)
    if kind == "corrected":
        assert importance(model, "corrected", X, y, random_state=0).values.shape == (3,)
    else:
        found = bevel.analysis.importance_test(model, X, y, n_permutations=19, random_state=0)
        assert len(found.p_values) == 3


def test_a_dask_subclass_has_the_settings_of_its_own():
    class Mine(DaskObliqueForestClassifier):
        def __init__(self, depth=3):
            super().__init__(n_estimators=3, max_depth=depth)
            self.depth = depth

    mine = clone(Mine(depth=2))
    assert mine.to_local().max_depth == 2
    assert mine.to_local().n_estimators == 3
