"""Parameters under other names: errors name ours, and settings of projections are parameters."""

import inspect

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bevel import (
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    RegularizedRotationClassifier,
)
from bevel import projections as P
from bevel.parameters import parameter as other_names
from bevel.projections import NAMED


@pytest.mark.parametrize("projection", ["sparse", P.SparseSigns(4)])
def test_grid_search_over_a_setting_of_the_projection_tries_its_values(projection):
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(3, projection=projection, random_state=0)
    search = GridSearchCV(forest, {"projection__density": [1, 2]}, cv=2).fit(X, y)
    assert search.best_estimator_.projection == P.SparseSigns(
        search.best_params_["projection__density"]
    )
    assert forest.projection is projection


def test_settings_of_a_projection_inside_a_pipeline_can_be_set():
    pipeline = make_pipeline(StandardScaler(), ObliqueForestClassifier(projection=P.SparseSigns(4)))
    assert pipeline.get_params()["obliqueforestclassifier__projection__density"] == 4
    pipeline.set_params(obliqueforestclassifier__projection__density=2)
    assert pipeline[-1].projection == P.SparseSigns(2)


def test_set_params_of_projection_and_its_setting_applies_the_setting_to_the_new_one():
    forest = ObliqueForestClassifier()
    forest.set_params(projection__n_features=3, projection=P.RandomCombination())
    assert forest.projection == P.RandomCombination(3)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_clone_of_an_estimator_keeps_an_equal_projection(name):
    projection = NAMED[name]()
    copied = clone(ObliqueForestClassifier(projection=projection))
    assert copied.projection == projection
    assert set(projection.get_params()) == {
        parameter.removeprefix("projection__")
        for parameter in copied.get_params()
        if parameter.startswith("projection__")
    }


def test_set_params_of_a_projection_itself_is_refused():
    with pytest.raises(TypeError, match=r"set_params\(projection__density=\.\.\.\) of the estim"):
        P.SparseSigns().set_params(density=2)


@pytest.mark.parametrize(
    ("projection", "message"),
    [
        (P.SparseSigns(), "SparseSigns has no parameter 'dense'. It has density."),
        (P.Axis(), "Axis has no parameter 'dense'. It has none."),
        ([P.Axis(), P.SparseSigns()], "needs a single projection; got \\[Axis"),
    ],
)
def test_an_unknown_setting_of_a_projection_is_refused(projection, message):
    with pytest.raises(ValueError, match=message):
        ObliqueForestClassifier(projection=projection).set_params(projection__dense=2)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("max_features", "called n_projections here"),
        ("ccp_alpha", "max_depth, min_samples_leaf or min_impurity_decrease"),
        ("num_leaves", "called max_leaf_nodes here"),
        ("subsample", "called max_samples here"),
        ("n_estimator", "Did you mean n_estimators?"),
        ("nonsense", "It has n_estimators, projection"),
    ],
)
def test_unknown_parameters_are_refused_with_our_name(name, words):
    with pytest.raises(
        TypeError, match=f"ObliqueForestClassifier has no parameter '{name}'. .*{words}"
    ):
        ObliqueForestClassifier(**{name: 1})
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}' for estimator .*{words}"):
        ObliqueForestClassifier().set_params(**{name: 1})


def test_class_weight_of_a_regressor_is_refused_with_what_there_is_instead():
    with pytest.raises(TypeError, match="sample_weight"):
        ObliqueForestRegressor(class_weight="balanced")


def test_a_setting_of_a_projection_that_an_estimator_does_not_have_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'projection__density'"):
        RegularizedRotationClassifier().set_params(projection__density=2)


def test_a_subclass_that_passes_parameters_on_may_take_any():
    class Mine(ObliqueForestClassifier):
        def __init__(self, extra=1, **others):
            super().__init__(**others)
            self.extra = extra

    assert Mine(extra=2, n_estimators=3).n_estimators == 3


def test_names_of_ours_are_parameters_of_a_forest():
    known = {
        name
        for kind in (ObliqueForestClassifier, ObliqueForestRegressor)
        for name in inspect.signature(kind).parameters
    }
    assert set(other_names._SAME) <= known
    assert not known & set(other_names._OURS)
