"""Every bad input raises a Python exception that says what to do, or has a defined result."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from support.small_fits import BOTH, EVERY_PROJECTION, X, fit, y

import bevel
from bevel import ObliqueForestClassifier
from bevel import projections as P
from bevel.parameters.parameter import Integer
from bevel.projections import NAMED


@BOTH
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.empty((0, 4)), r"0 sample\(s\).*minimum of 1 is required"),
        (np.empty((30, 0)), r"0 feature\(s\).*minimum of 1 is required"),
        (pd.DataFrame(index=range(30)), r"0 feature\(s\).*minimum of 1 is required"),
    ],
)
def test_empty_table_raises(estimator, bad, message):
    with pytest.raises(ValueError, match=message):
        fit(estimator, bad, y[: len(bad)])


@EVERY_PROJECTION
def test_one_row_makes_a_leaf(estimator, projection):
    fitted = fit(estimator, X[:1], y[:1], projection=projection)
    assert fitted.forest_.n_nodes == 5
    assert fitted.predict(X).tolist() == [y[0]] * 30


def test_one_class_is_predicted_everywhere():
    fitted = fit(ObliqueForestClassifier, y=np.full(30, "only"))
    assert fitted.classes_.tolist() == ["only"]
    assert set(fitted.predict(X)) == {"only"}
    assert fitted.predict_proba(X).tolist() == [[1.0]] * 30
    assert np.all(fitted.predict_log_proba(X) == 0)


@EVERY_PROJECTION
def test_column_without_values_is_never_used_alone_and_does_no_harm(estimator, projection):
    holes = X.copy()
    holes[:, 1] = np.nan
    fitted = fit(estimator, holes, projection=projection)
    assert fitted.score(holes, y) > 0.5
    assert np.isfinite(fitted.predict(X)).all()
    if projection == "axis":
        assert fitted.feature_importances_[1] == 0


@BOTH
def test_table_without_any_value_makes_leaves(estimator):
    fitted = fit(estimator, np.full((30, 2), np.nan))
    assert fitted.forest_.n_nodes == 5
    assert np.isfinite(fitted.predict(X[:, :2])).all()


@EVERY_PROJECTION
@pytest.mark.parametrize("threshold", ["best", "random", "purely_random"])
def test_constant_table_makes_leaves(estimator, projection, threshold):
    if NAMED[projection].reads_target and threshold == "purely_random":
        pytest.skip("a projection that looks at the target is refused here")
    fitted = fit(estimator, np.full((30, 4), 7.5), projection=projection, threshold=threshold)
    assert fitted.forest_.n_nodes == 5
    assert np.isfinite(fitted.predict(X)).all()


@BOTH
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_in_fit_or_predict_names_its_place(estimator, value):
    bad = X.copy()
    bad[3, 2] = value
    message = rf"finite numbers .*got {value} in column 2, row index 3. Replace infinities by NaN"
    with pytest.raises(ValueError, match=message):
        fit(estimator, bad)
    with pytest.raises(ValueError, match=message):
        fit(estimator).predict(bad)


@BOTH
def test_missing_target_names_the_row(estimator):
    bad = y.astype(float)
    bad[[4, 9]] = np.nan
    with pytest.raises(ValueError, match=r"got 2 NaN \(row index 4\). Drop or impute"):
        fit(estimator, y=bad)


@BOTH
def test_absent_target_raises(estimator):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        fit(estimator, y=None)


@BOTH
def test_mismatched_lengths_raise(estimator):
    with pytest.raises(ValueError, match=r"each of the 30 rows of X; got 20.*Pass the y"):
        fit(estimator, y=y[:20])


@BOTH
@pytest.mark.parametrize("method", ["predict", "apply", "decision_path"])
def test_wrong_number_of_columns_in_predict_raises(estimator, method):
    message = r"X has 3 features, but .* is expecting 4 features as input. Pass the columns"
    with pytest.raises(ValueError, match=message):
        getattr(fit(estimator), method)(X[:, :3])


@BOTH
def test_predict_on_one_dimension_raises(estimator):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        fit(estimator).predict(X[0])


@BOTH
def test_text_in_a_numeric_column_names_column_and_value(estimator):
    bad = X.astype(object)
    bad[5, 2] = "tall"
    message = (
        r"column 2; could not convert string to float: 'tall' \(row index 5\).*categorical_features"
    )
    with pytest.raises(ValueError, match=message):
        fit(estimator, bad)
    with pytest.raises(ValueError, match=message):
        fit(estimator).predict(bad)


@BOTH
def test_text_columns_with_categories_switched_off_name_the_column(estimator):
    frame = pd.DataFrame({"size": X[:, 0], "city": ["rome"] * 30})
    with pytest.raises(ValueError, match=r"column 'city'; .*: 'rome'"):
        fit(estimator, frame, categorical_features=None)


@BOTH
def test_no_trees_raises(estimator):
    with pytest.raises(ValueError, match=r"n_estimators must be .*an integer of at least 1; got 0"):
        fit(estimator, n_estimators=0)


@BOTH
def test_no_projections_raises(estimator):
    with pytest.raises(ValueError, match=r'n_projections must be "auto", a positive.*got 0'):
        fit(estimator, projection="sparse", n_projections=0)


@BOTH
def test_density_above_p_raises(estimator):
    with pytest.raises(ValueError, match=r"density=\) must be at most .*\(4\); got 5. Use 4"):
        fit(estimator, projection=P.SparseSigns(5))


@BOTH
def test_combination_of_more_features_than_there_are_raises(estimator):
    with pytest.raises(ValueError, match=r"n_features=\) must be at most .*\(4\); got 9. Use 4"):
        fit(estimator, projection=P.RandomCombination(9))


@BOTH
def test_more_axes_than_features_raises(estimator):
    with pytest.raises(ValueError, match=r"n_projections must be at most 4 for Axis\(\).*got 5"):
        fit(estimator, projection="axis", n_projections=5)


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("projection", "oblique"),
        ("criterion", "purity"),
        ("threshold", "worst"),
        ("split_search", "quick"),
        ("growth", "sideways"),
        ("scale", "robust"),
    ],
)
def test_unknown_names_raise_and_list_the_known_ones(estimator, name, value):
    with pytest.raises(ValueError, match=f"{name} must be .*\".*; got '{value}'"):
        fit(estimator, **{name: value})


@BOTH
def test_targets_of_three_dimensions_raise(estimator):
    message = r"y must .*got an array of shape \(30, 2, 1\)"
    with pytest.raises(ValueError, match=message):
        fit(estimator, y=np.column_stack([y, y])[:, :, np.newaxis])


def test_continuous_target_of_a_classifier_raises():
    with pytest.raises(ValueError, match="Unknown label type"):
        fit(ObliqueForestClassifier, y=X[:, 0])


@BOTH
def test_out_of_bag_score_without_bags_says_why(estimator):
    with pytest.raises(ValueError, match=r"no row is ever out of it.*cross-validation"):
        fit(estimator, bootstrap=False, oob_score=True)


@BOTH
def test_missing_column_of_a_frame_is_named(estimator):
    frame = pd.DataFrame(X, columns=["age", "height", "weight", "speed"])
    fitted = fit(estimator, frame)
    with pytest.raises(ValueError, match=r"(?s)now missing:\n- age.*Pass the columns used in fit"):
        fitted.predict(frame.drop(columns="age"))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:\n- years.*missing:\n- age"):
        fitted.predict(frame.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match=r"(?s)in the same order as they were in fit"):
        fitted.predict(frame[["height", "age", "weight", "speed"]])


@BOTH
def test_a_first_fit_that_fails_leaves_an_unfitted_estimator(estimator):
    forest = estimator(n_estimators=5)
    bad = np.column_stack([X, np.full(30, np.inf)])
    with pytest.raises(ValueError, match="got inf in column 4"):
        forest.fit(bad, y)
    with pytest.raises(NotFittedError):
        forest.predict(X)


INTEGERS = pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (estimator, parameter.name)
        for estimator in (getattr(bevel, name) for name in bevel.__all__)
        if hasattr(estimator, "_parameters")
        for parameter in estimator._parameters.values()
        if any(isinstance(kind, Integer) for kind in parameter.accepts)
    ],
    ids=lambda value: getattr(value, "__name__", value),
)


@INTEGERS
@pytest.mark.parametrize("value", [2**31, 2**63, 10**400], ids=["2^31", "2^63", "10^400"])
def test_integer_parameter_beyond_what_is_counted_raises(estimator, name, value):
    message = rf"{name} must be an integer of at most \d+; got {str(value)[:9]}"
    with pytest.raises(ValueError, match=message):
        estimator(**{name: value}).fit(X, y)


@BOTH
@pytest.mark.parametrize("seed", [-1, 2**32, 10**400, 0.5, "seed"])
def test_impossible_seed_raises(estimator, seed):
    with pytest.raises(ValueError, match=r"random_state must be .* to 2\*\*32 - 1 .*; got .* Use"):
        fit(estimator, random_state=seed)


@pytest.mark.parametrize(
    ("projection", "settings"),
    [
        (P.RandomCombination, {"n_features": 2**63}),
        (P.RandomRotation, {"max_features": 2**63}),
        (P.MultiRotation, {"n_rotations": 2**63}),
        (P.PrincipalRotation, {"group_size": 2**63}),
        (P.Logistic, {"n_steps": 2**63}),
        (P.PLS, {"n_components": 2**63}),
        (P.SparseSigns, {"density": 10**400}),
        (P.Logistic, {"alpha": 10**400}),
        (P.Ridge, {"alphas": [1.0, 10**400]}),
    ],
)
def test_setting_of_a_projection_beyond_what_is_counted_raises(projection, settings):
    (name,) = settings
    with pytest.raises(ValueError, match=rf"{projection.__name__}\({name}=\) must be .*; got"):
        projection(**settings)


def test_rotations_beyond_memory_raise():
    with pytest.raises(ValueError, match=r"n_rotations=\) must be such that .*2\^32.*Lower"):
        fit(ObliqueForestClassifier, projection=P.MultiRotation(2**31 - 1))


@BOTH
def test_two_columns_of_one_name_are_refused_with_the_name(estimator):
    frame = pd.DataFrame(X, columns=["a", "b", "a", "c"])
    with pytest.raises(ValueError, match=r"different name for each column; got 'a' more than once"):
        fit(estimator, frame)


# scikit-learn 1.7 and later warn of so many classes themselves.
@pytest.mark.filterwarnings("ignore:.*unique classes:UserWarning")
def test_more_classes_than_a_forest_can_hold_are_refused_with_the_limit():
    many = np.arange(65_536) % 65_536
    rows = np.zeros((len(many), 1))
    message = r"at most 65,535 classes; got 65,536 in 65,536 rows.*ObliqueForestRegressor"
    with pytest.raises(ValueError, match=message):
        fit(ObliqueForestClassifier, rows, many)


def test_other_columns_than_those_of_fit_are_listed_and_the_remedy_has_its_own_line():
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = fit(ObliqueForestClassifier, frame)
    with pytest.raises(ValueError, match=r"now missing:\n- d\nPass the columns used in fit"):
        forest.predict(frame.rename(columns={"d": "e"}))
    with pytest.raises(ValueError, match=r"expecting 4 features as input\. Pass the columns"):
        fit(ObliqueForestClassifier).predict(X[:, :3])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[0], r"of shape \(n_rows, 4\); got \(4,\). One row is X.reshape\(1, -1\)"),
        (X[:, :3], r"of shape \(n_rows, 4\); got \(30, 3\). Pass the columns of fit"),
        (X.astype(int), r"of float32 or float64 .* got dtype\('int64'\)"),
        (X.tolist(), "of type list. Convert it with numpy.asarray"),
        (3.0, "of type float. Convert it with numpy.asarray"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_predictor_for_servers_says_what_rows_it_takes(rows, message, method):
    predictor = fit(ObliqueForestClassifier).predictor_
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(predictor, method)(rows)


@BOTH
def test_predictor_for_servers_says_what_output_it_takes(estimator):
    predictor = fit(estimator).predictor_
    with pytest.raises(TypeError, match=r"out must be an array of .* got \(2,\)"):
        predictor.predict(X, np.empty(2))
