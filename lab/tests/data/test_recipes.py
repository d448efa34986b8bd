"""Recipes encode as the papers say, and learn nothing from test rows or labels."""

import inspect

import numpy as np
import pytest

from bevel_lab.data.column_encodings import is_key, is_near_constant
from bevel_lab.data.recipes import RECIPES, Recipe
from bevel_lab.protocols.base import Problem
from bevel_lab.running.adapting import adapted

NAN = np.nan


def table(n=60, seed=0):
    """Numbers, integers of few values, a nominal column, a constant, a serial number; all with
    missing values but the last two."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(1, 4, n),
            rng.integers(0, 5, n),
            np.full(n, 7.0),
            rng.permutation(n) + 1000.0,
        ]
    )
    X[rng.random((n, 5)) < [0.1, 0.1, 0.1, 0, 0]] = NAN
    return X, np.array([False, False, True, False, False])


def fit(name, X, nominal, **options):
    return RECIPES[name].fit(X, nominal=nominal, **options)


def test_sporf_drops_keys_and_constants_and_makes_an_indicator_of_each_level():
    X, nominal = table()
    fitted = fit("sporf", X, nominal, names=["a", "b", "c", "constant", "id"])
    assert fitted.feature_names == ("a", "b", "c=0", "c=1", "c=2", "c=3", "c=4")
    made = fitted.transform(X)
    assert not np.isnan(made).any()
    assert (made[:, 2:].sum(axis=1) == 1).all()
    assert not fitted.categorical_features.any()


def test_sporf_imputes_the_median_and_the_commonest_level():
    X = np.array(
        [[1.0, 8], [2, 8], [9, 3], [9, 4], [1, 5], [NAN, NAN]]
    )  # of the levels 5 is median
    made = fit("sporf", X, np.array([False, True])).transform(X)
    assert made[5].tolist() == [2.0, 0.0, 0.0, 0.0, 1.0]


def test_blaser_takes_few_values_as_categories_with_missing_as_a_level():
    X, nominal = table()
    fitted = fit("blaser", X, nominal, names=["a", "b", "c", "constant", "id"])
    # C − 1 indicators: the last level, missing, is implied by the others
    assert fitted.feature_names == ("a", "b=1", "b=2", "b=3", "c=0", "c=1", "c=2", "c=3", "c=4")
    made = fitted.transform(X)
    assert (made[np.isnan(X[:, 1]), 1:4] == 0).all()
    assert np.median(X[~np.isnan(X[:, 0]), 0]) == made[np.isnan(X[:, 0]), 0][0]


@pytest.mark.parametrize(("n_values", "width"), [(9, 8), (10, 1)])
def test_blaser_takes_ten_values_as_numbers(n_values, width):
    X = np.repeat(np.arange(n_values) * 1.5, 10)[:, None]
    assert fit("blaser", X, np.array([False])).transform(X).shape[1] == width


def test_blaser_drops_columns_of_almost_one_value():
    values = np.zeros(1000)
    values[:10] = np.arange(10) + 1
    assert is_near_constant(values)
    values[10] = 1
    assert not is_near_constant(values)


def test_key_is_found_in_part_of_the_rows_and_measurements_are_none():
    rng = np.random.default_rng(0)
    assert is_key(rng.permutation(100)[:70] + 5.0, False)
    assert not is_key(rng.normal(size=70), False)
    assert not is_key(np.arange(70) * 50.0, False)
    assert not is_key(np.append(np.arange(69.0), 3.0), False)
    assert is_key(np.arange(70.0), True)


def test_menze_takes_levels_as_numbers():
    X, nominal = table()
    made = fit("menze", X, nominal).transform(X)
    assert made.shape[1] == 4
    assert set(made[:, 2]) == {0, 1, 2, 3, 4}


def test_native_leaves_a_table_as_it_is_for_systems_that_take_it():
    X, nominal = table()
    fitted = fit("native", X, nominal, accepts=("missing", "nominal"))
    np.testing.assert_array_equal(fitted.transform(X), X)
    np.testing.assert_array_equal(fitted.categorical_features, nominal)


def test_native_gives_unseen_levels_one_code_whatever_they_are():
    X = np.array([[0.0], [2], [4], [2]])
    fitted = fit("native", X, np.array([True]), accepts=("missing", "nominal"))
    assert fitted.transform(X)[:, 0].tolist() == [0, 1, 2, 1]
    codes = fitted.transform(np.array([[1.0], [7], [NAN], [4]]))[:, 0]
    np.testing.assert_array_equal(codes, [3, 3, NAN, 2])


def test_indicators_of_an_unseen_level_are_all_zero():
    X = np.array([[0.0], [1], [0], [1]])
    for name in ("sporf", "native"):
        fitted = fit(name, X, np.array([True]))
        assert fitted.transform(np.array([[5.0]])).tolist() == [[0, 0]]


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_of_training_rows_does_not_depend_on_other_rows(name):
    X, nominal = table(90)
    train, changed = X[:60], X.copy()
    changed[60:] = 1e6 + np.arange(30)[:, None]
    made = []
    for whole in (X, changed):
        fitted = fit(name, whole[:60], nominal)
        fitted.transform(whole[60:])  # applying it must not teach it anything
        made.append(fitted.transform(whole[:60]))
    np.testing.assert_array_equal(*made)
    np.testing.assert_array_equal(made[0], fit(name, train, nominal).transform(train))


def test_recipes_are_not_given_labels():
    assert set(inspect.signature(Recipe.fit).parameters) == {
        *("self", "X", "nominal", "names", "accepts")
    }


def test_recipe_that_would_drop_everything_says_so():
    with pytest.raises(ValueError, match=r"Recipe sporf must keep a column; got 1, .* Take"):
        fit("sporf", np.ones((5, 1)), np.array([False]))


def test_transform_refuses_a_table_of_another_width():
    X, nominal = table()
    with pytest.raises(ValueError, match="a table of 5 columns"):
        fit("sporf", X, nominal).transform(X[:, :3])


def problem_of(X, nominal):
    y = np.arange(len(X)) % 2
    return Problem(X[:40], y[:40], X[40:], y[40:], categorical_features=nominal)


def test_adapted_problem_is_the_same_object_where_nothing_is_to_be_done():
    problem = problem_of(*table())
    assert adapted(problem, nominal=True, missing=True) is problem


def test_adapted_problem_has_no_missing_values_and_no_nominal_columns():
    problem = adapted(problem_of(*table()), nominal=False, missing=False)
    assert problem.categorical_features is None
    assert not np.isnan(problem.X_train).any()
    assert not np.isnan(problem.X_test).any()
    assert problem.X_train.shape[1] == 4 + 6  # numbers, and five levels with missing


def test_adapted_problem_keeps_missing_numbers_where_they_are_taken():
    problem = adapted(problem_of(*table()), nominal=False, missing=True)
    assert np.isnan(problem.X_train[:, 0]).any()


def test_adapted_problem_takes_indicators_as_numbers():
    X = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(float)
    problem = adapted(problem_of(X, np.ones(3, bool)), nominal=False, missing=False)
    np.testing.assert_array_equal(problem.X_train, X[:40])
