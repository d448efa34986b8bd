"""Settings and targets that scikit-learn's estimators take, and which searches and folds meet."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
    scan,
)


def rows(n_rows=120):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def test_a_search_over_early_stopping_may_have_a_scorer():
    X, y = rows()
    grid = {"early_stopping": [False, True]}
    search = GridSearchCV(ObliqueBoostingClassifier(max_iter=3, scoring="roc_auc"), grid, cv=2)
    found = search.fit(X, y, sample_weight=np.ones(len(y)))
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


def test_a_scorer_without_early_stopping_changes_nothing():
    X, y = rows()
    plain = ObliqueBoostingRegressor(max_iter=3, early_stopping=False, random_state=0)
    scored = ObliqueBoostingRegressor(
        max_iter=3, early_stopping=False, scoring="r2", random_state=0
    )
    np.testing.assert_array_equal(scored.fit(X, y).predict(X), plain.fit(X, y).predict(X))
    with pytest.raises(ValueError, match="scoring"):
        plain.set_params(scoring="no scorer").fit(X, y)


def test_a_scorer_is_given_weights_if_it_takes_them():
    X, y = rows()
    seen = []

    def plain(estimator, X, y):
        seen.append("plain")
        return accuracy_score(y, estimator.predict(X))

    def weighing(estimator, X, y, sample_weight=None):
        seen.append(sample_weight)
        return accuracy_score(y, estimator.predict(X), sample_weight=sample_weight)

    def passing(estimator, X, y, **others):
        seen.append(sorted(others))
        return accuracy_score(y, estimator.predict(X), **others)

    weights = np.arange(1.0, len(y) + 1)
    for scorer in (plain, weighing, passing):
        model = ObliqueBoostingClassifier(max_iter=2, early_stopping=True, scoring=scorer)
        model.fit(X, y, sample_weight=weights)
    assert seen[0] == "plain"
    assert any(isinstance(each, np.ndarray) for each in seen)
    assert seen[-1] == ["sample_weight"]


@pytest.mark.parametrize("early_stopping", [False, True, "auto"])
def test_boosting_of_one_class_gives_it_probability_one(early_stopping, tmp_path):
    X, _ = rows()
    y = np.full(len(X), "only")
    model = ObliqueBoostingClassifier(early_stopping=early_stopping, random_state=0).fit(X, y)
    forest = ObliqueForestClassifier(3).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))
    np.testing.assert_array_equal(model.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), y)
    assert model.decision_function(X).shape == (len(X),)
    model.save(tmp_path / "model.bevel")
    loaded = bevel.load(tmp_path / "model.bevel")
    np.testing.assert_array_equal(loaded.predict_proba(X), np.ones((len(X), 1)))


def test_boosting_of_one_class_in_a_scanned_table():
    X, _ = rows()
    model = ObliqueBoostingClassifier(max_iter=2).fit(scan([(X, np.zeros(len(X), int))]))
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))


def test_a_loss_of_ones_own_needs_two_classes():
    X, _ = rows()
    model = ObliqueBoostingClassifier(lambda y, raw: (raw - y, np.ones_like(raw)), max_iter=2)
    with pytest.raises(ValueError, match="at least two classes with a loss of one's own"):
        model.fit(X, np.zeros(len(X)))


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (ObliqueIsolationForest(3, max_samples=121), None),
        (ObliqueForestClassifier(3, max_samples=121, bootstrap=True), rows()[1]),
        (ObliqueSurvivalForest(3, max_samples=121), (np.arange(1.0, 121), np.ones(120, bool))),
    ],
    ids=["isolation", "forest", "survival"],
)
def test_more_rows_of_a_tree_than_there_are_warn(model, target):
    X, _ = rows()
    words = r"max_samples \(121\) is greater than the total number of samples \(120\)"
    with pytest.warns(UserWarning, match=words) as warned:
        model.fit(X, target)
    assert len(warned) == 1
    before = model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(max_samples=120).fit(X, target)
    assert before.shape == model.predict(X).shape


def test_trees_of_all_rows_are_those_of_a_number_above():
    X, _ = rows()
    with pytest.warns(UserWarning, match="max_samples"):
        more = ObliqueIsolationForest(5, max_samples=1000, random_state=0).fit(X)
    exact = ObliqueIsolationForest(5, max_samples=120, random_state=0).fit(X)
    assert more.max_samples_ == 120
    np.testing.assert_array_equal(more.score_samples(X), exact.score_samples(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_after_the_last_iteration_are_those_of_the_model(n_classes):
    X, y = rows()
    y = y + (X[:, 2] > 1) if n_classes == 3 else y
    model = ObliqueBoostingClassifier(max_iter=4, random_state=0).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 4
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
