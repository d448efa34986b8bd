"""Weights and targets of any size give finite forests, or an exception that says what to do."""

from __future__ import annotations

import numpy as np
import pytest
from support.small_fits import BOTH, EVERY_PROJECTION, X, fit, y

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import importance
from bevel.projections import NAMED


@BOTH
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(30), r"at least 0; got -1 \(row index 0\). Drop these rows"),
        (np.zeros(30), "above zero; got zero for every row. Leave it out"),
        (np.ones(29), r"shape \(30,\).*got shape \(29,\). Pass the weights"),
        (np.full(30, np.nan), r"got nan \(row index 0\)"),
    ],
)
def test_impossible_weights_raise(estimator, weights, message):
    with pytest.raises(ValueError, match=message):
        fit(estimator, sample_weight=weights)


@pytest.mark.parametrize("projection", NAMED)
@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("class_weight", [{0: 0, 1: 0}, {0: -1, 1: 1}, {0: np.nan}, {1: np.inf}])
def test_impossible_class_weights_raise(projection, voting, class_weight):
    with pytest.raises(ValueError, match="class_weight"):
        fit(
            ObliqueForestClassifier, projection=projection, voting=voting, class_weight=class_weight
        )


@pytest.mark.parametrize("projection", [name for name in NAMED if name != "cox"])
@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_of_weight_zero_is_known_and_never_predicted(projection, voting, n_classes):
    labels = np.arange(30) % n_classes
    class_weight = dict.fromkeys(range(1, n_classes), 0.5) | {0: 0}
    fitted = fit(
        ObliqueForestClassifier,
        y=labels,
        projection=projection,
        voting=voting,
        class_weight=class_weight,
    )
    assert fitted.classes_.tolist() == list(range(n_classes))
    shares = fitted.predict_proba(X)
    assert (shares[:, 0] == 0).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(30), abs=1e-6)


@EVERY_PROJECTION
def test_single_row_of_weight_is_all_that_every_tree_learns(estimator, projection):
    weights = np.zeros(30)
    weights[7] = 0.25
    fitted = fit(estimator, sample_weight=weights, projection=projection, n_estimators=20)
    assert fitted.forest_.n_nodes == 20
    assert (fitted.predict(X) == y[7]).all()


@BOTH
def test_tree_that_takes_the_only_rows_of_weight_says_nothing_of_them_out_of_bag(estimator):
    weights = np.zeros(30)
    weights[7] = 1.0
    with pytest.warns(UserWarning, match=r"1 of 30 rows"):
        fitted = fit(
            estimator, sample_weight=weights, oob_score=True, n_estimators=40, random_state=0
        )
    estimates = getattr(fitted, "oob_prediction_", None)
    if estimates is None:
        estimates = fitted.oob_decision_function_
    assert np.isnan(estimates[7]).all()


def test_quantiles_of_a_forest_on_one_row_of_weight_are_its_target():
    weights = np.zeros(30)
    weights[7] = 1.0
    target = X[:, 0] + 100.0 * weights
    fitted = fit(ObliqueForestRegressor, X, target, weights, random_state=0)
    assert fitted.fitted_forest_.provenance.bags.counts(4)[7] == 0  # the row is not in the last bag
    training = {"X_train": X, "y_train": target, "sample_weight": weights}
    assert (fitted.predict_quantiles(X, 0.5, **training) == target[7]).all()


@EVERY_PROJECTION
@pytest.mark.parametrize("weights", [[1e-310, 1.0], [1e-300, 1e15], [1e-15, 1e-40]], ids=str)
def test_weights_of_all_sizes_give_finite_forests(estimator, projection, weights):
    weights = np.resize(weights, 30)
    labels = np.arange(30) % 3
    fitted = fit(estimator, y=labels, sample_weight=weights, projection=projection)
    forest = fitted.forest_
    assert (forest.weight > 0).all()
    assert np.isfinite(forest.gain).all()
    assert np.isfinite(fitted.predict(X)).all()
    assert np.isfinite(fitted.feature_importances_).all()


@pytest.mark.parametrize("factor", [5e307, 1e200, 1e61])
def test_targets_whose_fourth_powers_overflow_raise(factor):
    with pytest.raises(ValueError, match=r"y must hold numbers up to 1e\+60 .*Rescale y"):
        fit(ObliqueForestRegressor, y=X[:, 0] * factor)


def test_importance_of_the_largest_targets_has_a_finite_spread():
    """The standard deviation of squared errors takes fourth powers of the targets."""
    target = X[:, 0] / np.abs(X[:, 0]).max() * 1e60
    forest = fit(ObliqueForestRegressor, y=target, random_state=0)
    for kind in ("permutation", "negation", "t_test"):
        found = importance(forest, kind, X, target)
        assert np.isfinite(found.values).all()
        assert found.std is None or np.isfinite(found.std).all()


@pytest.mark.parametrize("exponent", [-400, -150, -60, 60, 150, 190])
@pytest.mark.parametrize("weight", [None, 1e-15, 1e15])
def test_size_of_targets_scales_predictions_and_leaves_importances_alone(exponent, weight):
    weights = None if weight is None else np.full(30, weight)
    one = fit(ObliqueForestRegressor, X, X[:, 0], weights, random_state=0)
    other = fit(ObliqueForestRegressor, X, X[:, 0] * 2.0**exponent, weights, random_state=0)
    assert np.isfinite(other.forest_.gain).all()
    assert (other.predict(X) == one.predict(X) * 2.0**exponent).all()
    assert other.feature_importances_ == pytest.approx(one.feature_importances_, rel=1e-5)
