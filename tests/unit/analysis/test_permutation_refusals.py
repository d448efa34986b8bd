"""Permutation and negation importance: forests and rows at the limits, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from support.importance_cases import (
    BOTH,
    classes,
    mixed_table,
    negation_importance,
    permutation_importance,
    small_classifier,
)

from bevel.errors import NoOutOfBagError


def test_one_tree_has_no_standard_error_over_trees() -> None:
    X, y = classes()
    forest = small_classifier(n_estimators=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = permutation_importance(forest, X, y, error_of="tree", random_state=0)
    assert np.isnan(result.standard_error).all()
    assert result.values[0] > 0
    of_forest = permutation_importance(forest, X, y, random_state=0)
    assert of_forest.error == result.error


@BOTH
@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_trees_that_have_seen_every_row_do_not_count(importance, error_of: str) -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 0, 1])
    forest = small_classifier().fit(X, y)
    assert not forest.fitted_forest_.provenance.bags.rows_out(25).any(axis=0).all()
    result = importance(forest, X, y, error_of=error_of)
    assert np.isfinite([result.error, *result.values, *result.standard_error]).all()


@BOTH
def test_one_given_row_can_be_measured(importance) -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    result = importance(forest, X[:1], y[:1], out_of_bag=False)
    assert np.isfinite(result.values).all()
    if importance is permutation_importance:
        assert not result.values.any()


def test_given_rows_may_lack_a_class_but_not_have_a_new_one() -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    some = y != "b"
    expected = np.mean(forest.predict(X[some]) != y[some])
    result = permutation_importance(forest, X[some], y[some], out_of_bag=False)
    assert result.error == pytest.approx(expected)
    with pytest.raises(ValueError, match="classes of the fit"):
        permutation_importance(forest, X, np.where(some, y, "z"), out_of_bag=False)


@BOTH
def test_forest_without_bags_is_refused_out_of_bag_and_measured_on_given_rows(importance) -> None:
    X, y = classes()
    forest = small_classifier(bootstrap=False).fit(X, y)
    with pytest.raises(NoOutOfBagError, match="bootstrap=True"):
        importance(forest, X, y, out_of_bag=True)
    found = importance(forest, X, y)
    assert found.error == 0.0
    assert "on training rows, in-bag" in found.measures
    assert importance(forest, X, y, out_of_bag=False).error == 0.0


@BOTH
def test_other_rows_than_those_of_the_fit_are_refused_out_of_bag(importance) -> None:
    X, y = classes()
    forest = small_classifier().fit(X, y)
    with pytest.raises(ValueError, match="order of the fit"):
        importance(forest, X[::-1], y[::-1], out_of_bag=True)


def test_nominal_columns_have_no_negation() -> None:
    X, y = mixed_table()
    forest = small_classifier().fit(X, y)
    result = negation_importance(forest, X, y)
    assert np.isnan(result.values[1])
    assert np.isnan(result.standard_error[1])
    assert np.isfinite(result.values[[0, 2]]).all()
    with pytest.raises(ValueError, match=r"nominal columns \(colour\)"):
        negation_importance(forest, X, y, groups={"both": ["size", "colour"]})


def test_huge_values_are_mirrored_within_bounds() -> None:
    X, y = classes()
    X[:, 0] *= 1e30
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest = small_classifier(scale=None, projection="axis").fit(X, y)
        assert np.isfinite(negation_importance(forest, X, y).values).all()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"n_repeats": 0}, "at least 1"),
        ({"n_repeats": 2.5}, "integer of at least 1"),
        ({"error_of": "trees"}, '"forest" or "tree"'),
        ({"sample_weight": [1.0]}, "shape"),
    ],
)
def test_arguments_out_of_range_raise(extra: dict[str, object], message: str) -> None:
    X, y = classes()
    forest = small_classifier(n_estimators=2).fit(X, y)
    with pytest.raises((TypeError, ValueError), match=message):
        permutation_importance(forest, X, y, **extra)


@BOTH
def test_what_is_no_forest_is_refused(importance) -> None:
    with pytest.raises(TypeError, match="a fitted forest of Bevel"):
        importance("forest", [[1.0]], [1])
