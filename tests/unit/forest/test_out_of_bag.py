"""`bevel.forest.training_rows`: rows predicted by the trees that never saw them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from bevel import ObliqueForestClassifier, ObliqueForestRegressor, _core
from bevel.forest.training_rows import OutOfBag, predict_out_of_bag


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    return X, X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=120)


@pytest.fixture
def options_of_last_fit(monkeypatch):
    """The options that the bags of the last fit were drawn with."""
    captured = []

    def spy(fitted, *rest):
        captured.append(fitted.provenance.bags.native_options())
        return predict_out_of_bag(fitted, *rest)

    monkeypatch.setattr("bevel.training.forest_fit.predict_out_of_bag", spy)
    return captured


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_decision_function_averages_the_trees_that_left_a_row_out(voting, options_of_last_fit):
    X, y = data()
    settings = {"voting": voting, "oob_score": True, "calibration": None}
    forest = ObliqueForestClassifier(60, random_state=0, **settings).fit(X, y > 0)
    native = options_of_last_fit[0]
    multiplicity = np.array([_core.bag(native, len(X), tree) for tree in range(60)])
    leaves = forest.apply(X)
    for row in range(0, 120, 17):
        shares = []
        for tree in np.flatnonzero(multiplicity[:, row] == 0):
            share = forest.forest_.tree(tree).class_shares(leaves[row, tree])
            shares.append(np.eye(2)[share.argmax()] if voting == "hard" else share)
        assert forest.oob_decision_function_[row] == pytest.approx(np.mean(shares, axis=0))
    predicted = forest.oob_decision_function_.argmax(axis=1)
    assert forest.oob_score_ == np.mean(predicted == (y > 0))


def test_regression_estimates_are_close_to_a_test_score():
    X, y = data()
    forest = ObliqueForestRegressor(100, oob_score=True, random_state=0).fit(X, y)
    X_new, y_new = data(seed=1)
    assert forest.oob_prediction_.shape == (120,)
    assert forest.oob_score_ == pytest.approx(forest.score(X_new, y_new), abs=0.1)


def test_callable_score_gets_true_and_predicted_targets():
    X, y = data()
    labels = np.where(y > 0, "high", "low")
    forest = ObliqueForestClassifier(60, oob_score=balanced_accuracy_score, random_state=0)
    forest.fit(X, labels)
    predicted = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == balanced_accuracy_score(labels, predicted)


@pytest.mark.parametrize("estimator", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_rows_in_every_bag_are_nan_and_warn(estimator):
    X, y = data()
    forest = estimator(2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        forest.fit(X, y > 0)
    name = "oob_prediction_" if estimator is ObliqueForestRegressor else "oob_decision_function_"
    estimates = getattr(forest, name)
    unknown = np.isnan(estimates.reshape(120, -1)).all(axis=1)
    assert 0 < unknown.sum() < 120
    assert np.isfinite(forest.oob_score_)


def test_score_without_known_rows_is_nan():
    nothing = OutOfBag(np.full((3, 1), np.nan), np.zeros(3, dtype=bool))
    assert np.isnan(nothing.score(lambda *_: 1.0, np.zeros(3), np.ravel))
