"""Every system has a name, says where it comes from, and does what it says it does."""

import sys
import warnings

import numpy as np
import pytest

from bevel import datasets, presets
from bevel_lab.systems import SYSTEMS, Task, find_systems
from bevel_lab.systems.learners import squared_distances
from bevel_lab.systems.peers import systems as peers
from bevel_lab.systems.remote import RemoteEstimator, has_package

HERE = [
    name
    for name, system in SYSTEMS.items()
    if system.kind != "peer" and not name.startswith("trial")
]


def test_every_preset_is_a_system_under_its_own_name():
    names = {preset.name.replace("_", "-") for preset in presets.TABLE}
    assert names <= set(SYSTEMS)


def test_systems_of_the_papers_and_peers_are_there():
    wanted = {"sklearn-rf", "sklearn-et", "et-1", "hist-gb", "svm", "knn", "knn-5", "lda", "cart"}
    wanted |= {"adaboost", "gp", "logistic", "xgboost", "lightgbm", "catboost", "ydf-rf"}
    wanted |= {"ydf-oblique", "rotation-forest-aeon", "rotation-forest-sktime", "treeple-oblique"}
    assert wanted <= set(SYSTEMS)
    assert all(SYSTEMS[name].docs.endswith(".") for name in SYSTEMS)
    assert all(system.needs for system in peers())


@pytest.mark.parametrize("name", HERE)
def test_system_learns_both_tasks_it_does(name):
    system = SYSTEMS[name]
    if system.needs:
        pytest.importorskip(system.needs)
    loaders = {"classification": datasets.load_iris, "regression": datasets.load_diabetes}
    for kind in system.tasks:
        X, y = loaders[kind]()
        X, y = X[::3], y[::3]
        n_classes = 3 if kind == "classification" else 0
        task = Task(kind, len(X), X.shape[1], n_classes, random_state=1)
        setting = {"n_trees": 10} if system.has_trees else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = system.make(task, **setting).fit(X, y).predict(X)
        if kind == "classification":
            assert np.mean(answer == y) > 0.8
        else:
            assert np.mean((answer - y) ** 2) < 0.9 * np.var(y)


def test_names_are_found_by_alias_in_order_and_once():
    assert find_systems(["RF", "rr_rf", "rf", "xgb"]) == ("random-forest", "rr-rf", "xgboost")


def test_unknown_name_is_met_with_the_nearest_known_one():
    with pytest.raises(ValueError, match=r"got \'sporv\'\. Did you mean sporf"):
        find_systems(["sporv"])


def test_xgboost_grid_is_that_of_appendix_b():
    tuning = SYSTEMS["xgboost"].tuning
    assert tuning is not None
    assert tuning.by == "cv"
    assert len(tuning.settings(Task("classification", 100, 4, 2))) == 2 * 3 * 2 * 4 * 5


def test_estimator_in_another_interpreter_predicts_as_one_in_this():
    from sklearn.tree import DecisionTreeClassifier

    X, y = datasets.load_iris()
    far = RemoteEstimator(
        sys.executable, "sklearn.tree", "DecisionTreeClassifier", {"max_depth": 2}
    )
    near = DecisionTreeClassifier(max_depth=2).fit(X, y)
    try:
        far.fit(X, y)
        assert np.array_equal(far.predict(X), near.predict(X))
        assert np.array_equal(far.predict_proba(X), near.predict_proba(X))
        assert 0.0 < far.fit_seconds_ < 60.0
        with pytest.raises(
            RuntimeError, match="DecisionTreeClassifier in its own interpreter: Val"
        ):
            far.predict(X[:, :2])
    finally:
        far.close()


def test_interpreter_without_the_package_or_that_is_none_is_found_out():
    assert not has_package(sys.executable, "no_such_package")
    assert not has_package("/no/such/python", "numpy")


def test_sampled_distances_are_of_different_rows():
    assert np.all(squared_distances(np.arange(5.0)[:, None]) > 0.0)
