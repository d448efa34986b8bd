"""Forests inside scikit-learn's tools."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier, VotingRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P

BOTH = pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
LABELS = np.where(X[:, 0] - X[:, 1] > 0, "right", "left")
VALUES = X[:, 0] - X[:, 1] + 0.1 * RNG.normal(size=150)


def small(estimator=ObliqueForestClassifier, **parameters):
    return estimator(**{"n_estimators": 20, "random_state": 0, **parameters})


def target(estimator):
    return LABELS if estimator is ObliqueForestClassifier else VALUES


@BOTH
def test_clone_keeps_parameters_and_drops_trees(estimator):
    forest = small(estimator, projection=[P.Axis(), (P.SparseSigns(2), "p")])
    copy = clone(forest.fit(X, target(estimator)))
    assert not hasattr(copy, "forest_")
    assert copy.get_params() == forest.get_params()
    predictions = copy.fit(X, target(estimator)).predict(X)
    assert np.array_equal(predictions, forest.predict(X))


@BOTH
def test_pipeline_with_set_output_passes_names_on(estimator):
    frame = pd.DataFrame(X, columns=list("abcde"))
    pipeline = make_pipeline(StandardScaler(), small(estimator)).set_output(transform="pandas")
    pipeline.fit(frame, target(estimator))
    assert pipeline.score(frame, target(estimator)) > 0.9
    assert pipeline[-1].feature_names_in_.tolist() == list("abcde")


def test_column_transformer_output_is_read():
    frame = pd.DataFrame(X, columns=list("abcde")).assign(city=LABELS)
    columns = make_column_transformer((StandardScaler(), list("abcde")), remainder="passthrough")
    pipeline = make_pipeline(columns.set_output(transform="polars"), small())
    assert pipeline.fit(frame, LABELS).score(frame, LABELS) == 1


def test_grid_search_over_projections():
    grid = {"projection": ["axis", P.SparseSigns(2), [P.Axis(), P.Gaussian()]], "scale": ["rank"]}
    search = GridSearchCV(small(), grid, cv=3).fit(X, LABELS)
    assert search.best_score_ > 0.85
    assert search.predict(X).shape == (150,)


def test_cross_val_predict_and_scores():
    probabilities = cross_val_predict(small(), X, LABELS, method="predict_proba", cv=3)
    assert probabilities.shape == (150, 2)
    assert np.allclose(probabilities.sum(axis=1), 1)
    scores = cross_validate(
        small(ObliqueForestRegressor), X, VALUES, cv=3, scoring=["r2", "neg_mean_absolute_error"]
    )
    assert scores["test_r2"].mean() > 0.7


def test_calibrated_classifier():
    calibrated = CalibratedClassifierCV(small(), cv=3).fit(X, LABELS)
    assert calibrated.score(X, LABELS) > 0.9


@BOTH
def test_permutation_importance_finds_the_signal(estimator):
    fitted = small(estimator).fit(X, target(estimator))
    importances = permutation_importance(
        fitted, X, target(estimator), n_repeats=3, random_state=0
    ).importances_mean
    assert set(np.argsort(importances)[-2:]) == {0, 1}


@BOTH
def test_partial_dependence_follows_the_signal(estimator):
    fitted = small(estimator).fit(X, target(estimator))
    curve = partial_dependence(fitted, X, features=[0], grid_resolution=10)["average"][0]
    assert curve[-1] > curve[0]


def test_stacking_voting_and_multioutput():
    stack = StackingClassifier([("forest", small())], LogisticRegression(), cv=3)
    assert stack.fit(X, LABELS).score(X, LABELS) > 0.9
    vote = VotingRegressor([("forest", small(ObliqueForestRegressor))])
    assert vote.fit(X, VALUES).score(X, VALUES) > 0.9
    several = MultiOutputRegressor(small(ObliqueForestRegressor))
    assert several.fit(X, np.column_stack([VALUES, -VALUES])).predict(X).shape == (150, 2)


@BOTH
def test_sample_weight_is_routed(estimator):
    weights = np.where(np.arange(150) < 75, 1.0, 0.1)
    with sklearn.config_context(enable_metadata_routing=True):
        forest = small(estimator).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), forest)
        pipeline.fit(X, target(estimator), sample_weight=weights)
    direct = small(estimator).fit(X, target(estimator), sample_weight=weights)
    plain = small(estimator).fit(X, target(estimator))
    assert np.array_equal(pipeline[-1].apply(X), direct.apply(X))
    assert not np.array_equal(plain.apply(X), direct.apply(X))


@BOTH
def test_tags_state_what_is_supported(estimator):
    tags = get_tags(estimator())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.input_tags.categorical
    assert tags.target_tags.required
    assert tags.target_tags.multi_output


@BOTH
def test_repr_and_set_params_work(estimator):
    forest = estimator(projection=P.RandomRotation(flip=True)).set_params(n_estimators=7)
    assert "RandomRotation" in repr(forest)
    assert forest.fit(X, target(estimator)).forest_.n_trees == 7
