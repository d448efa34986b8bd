"""A fit that fails leaves the model of an earlier one as it was."""

import threading

import numpy as np
import pandas as pd
import pytest

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
    scan,
)
from bevel.analysis import ProximityImputer

FEW = {"n_estimators": 5, "random_state": 0}
KINDS = {
    "forest": ObliqueForestClassifier(**FEW),
    "regression forest": ObliqueForestRegressor(**FEW),
    "out of bag": ObliqueForestClassifier(40, oob_score=True, random_state=0),
    "boosting": ObliqueBoostingClassifier(max_iter=3, random_state=0),
    "regression boosting": ObliqueBoostingRegressor(max_iter=3, random_state=0),
    "combined": ObliqueClassifier(1, random_state=0),
    "survival": ObliqueSurvivalForest(**FEW),
    "isolation": ObliqueIsolationForest(**FEW),
    "rotations": RegularizedRotationClassifier(12, n_rotations=2, n_micro_trees=2, random_state=0),
    "rotated features": RotatedFeatures(2, random_state=0),
    "rotated boosting": RotatedBoostingClassifier(
        ObliqueBoostingClassifier(max_iter=2), n_groups=2, random_state=0
    ),
    "stack": StackedRotationClassifier(
        *(ObliqueForestClassifier(3), ObliqueForestClassifier(3)),
        n_rotations=2,
        cv=2,
        random_state=0,
    ),
    "imputer": ProximityImputer(ObliqueForestClassifier(**FEW), n_rounds=1),
}


class StopError(Exception):
    """What a test raises in the middle of a fit."""


def table(n_features=3):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, n_features)))
    X.columns = [f"c{number}" for number in range(n_features)]
    return X, (X["c0"] + X["c1"] > 0).to_numpy().astype(int)


def target_of(name, y):
    return (1.0 + np.arange(len(y)), np.ones(len(y), bool)) if name == "survival" else y


def outcome(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


def same_state(model, state):
    now = vars(model)
    return now.keys() == state.keys() and all(now[name] is state[name] for name in state)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("fault", ["target", "rows", "names"])
def test_a_refit_that_fails_leaves_the_earlier_model_whole(name, fault):
    model = KINDS[name]
    X, y = table()
    model.fit(X, target_of(name, y))
    before, state = outcome(model, X), dict(vars(model))
    others, labels = table(5)
    if fault == "target":
        labels = labels[:-1]
        bad = (np.ones(59), np.zeros(59, bool)) if name == "survival" else labels
        if name in ("isolation", "rotated features"):
            others.iloc[7, 2] = np.inf
        with pytest.raises(ValueError, match="got"):
            model.fit(others, bad)
    elif fault == "rows":
        others.iloc[3, 4] = np.inf
        with pytest.raises(ValueError, match="inf"):
            model.fit(others, target_of(name, labels))
    else:
        others.columns = [0, "a", "b", "c", "d"]
        with pytest.raises(TypeError, match="str"):
            model.fit(others, target_of(name, labels))
    assert same_state(model, state)
    np.testing.assert_array_equal(outcome(model, X), before)


def fails(*_):
    raise StopError


def test_an_error_after_the_trees_are_grown_leaves_the_earlier_forest():
    X, y = table()
    model = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    state = dict(vars(model))
    model.oob_score = fails
    with pytest.raises(StopError):
        model.fit(*table(5))
    model.oob_score = False
    assert same_state(model, state)


@pytest.mark.parametrize("name", ["forest", "boosting", "isolation"])
@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
def test_an_error_of_a_callback_leaves_the_earlier_model(name, error):
    X, y = table()
    model = KINDS[name].fit(X, y)
    before = outcome(model, X)

    def stop(*_):
        raise error

    model.callback = stop
    try:
        with pytest.raises(error):
            model.fit(*table(5))
    finally:
        model.callback = None
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(outcome(model, X), before)


@pytest.mark.parametrize("name", ["regression forest", "regression boosting"])
def test_a_scan_that_fails_leaves_the_earlier_model(name):
    X, y = table()
    model = KINDS[name].fit(X, y)
    state = dict(vars(model))

    def batches():
        yield X, y.astype(float)
        raise StopError

    with pytest.raises(StopError):
        model.fit(scan(batches))
    assert same_state(model, state)


def test_a_fit_that_was_interrupted_keeps_a_new_model_of_a_class_that_says_so():
    class CutShort(ObliqueBoostingClassifier):
        def _fit_in_stages(self, work, refits):
            super()._fit_in_stages(work, refits)
            raise KeyboardInterrupt

    X, y = table()
    model = CutShort(max_iter=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.predict(X).shape == (60,)

    class Forest(ObliqueForestClassifier):
        def _finish(self, *arguments):
            super()._finish(*arguments)
            raise KeyboardInterrupt

    forest = Forest(3)
    with pytest.raises(KeyboardInterrupt):
        forest.fit(X, y)
    assert not hasattr(forest, "n_features_in_")


def test_threads_predict_with_the_earlier_model_while_a_new_one_grows():
    X, y = table()
    model = ObliqueForestClassifier(20, random_state=0).fit(X, y)
    before, seen = model.predict_proba(X), []

    def look(*_):
        other = threading.Thread(target=lambda: seen.append(model.predict_proba(X)))
        other.start()
        other.join()

    model.callback = look
    model.fit(X, 1 - y)
    assert seen
    for each in seen:
        np.testing.assert_array_equal(each, before)
    assert not np.array_equal(model.predict_proba(X), before)


def test_what_a_callback_sets_on_the_estimator_stays():
    X, y = table()
    model = ObliqueForestClassifier(5, random_state=0)
    model.callback = lambda *_: setattr(model, "mark", 1)
    assert model.fit(X, y) is model
    assert model.mark == 1


def test_a_refit_drops_what_only_the_earlier_model_had():
    X, y = table()
    model = ObliqueForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    model.set_params(oob_score=False).fit(X.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "oob_score_")
    assert not hasattr(model, "oob_decision_function_")
