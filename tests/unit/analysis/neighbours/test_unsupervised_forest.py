"""Forests without labels: permuted copies keep columns and break their dependence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from bevel import ObliqueForestClassifier, ObliqueIsolationForest
from bevel.analysis import (
    importance,
    nearest_rows,
    partial_dependence,
    principal_coordinates,
    proximity,
    shapley_values,
    tree_rules,
    unsupervised_forest,
)
from bevel.analysis.neighbours.unsupervised import _with_permuted_rows

RNG = np.random.default_rng(0)
GROUP = np.repeat([0, 1], 60)
# Each column by itself says little: the groups differ in how the columns depend on each other.
X = RNG.normal(size=(120, 1)) * np.where(GROUP == 0, 1.0, -1.0)[:, None] * [[1.0, 0.0, 0.0]]
X[:, 1] = np.where(GROUP == 0, X[:, 0], -X[:, 0]) + 3 * GROUP + 0.1 * RNG.normal(size=120)
X[:, 2] = X[:, 1] + 0.1 * RNG.normal(size=120)
SMALL = ObliqueForestClassifier(60, projection="sparse", oob_score=True, random_state=0)


def test_columns_of_the_copy_are_permuted_each_by_itself() -> None:
    both = _with_permuted_rows(X, 120, np.random.RandomState(0))
    np.testing.assert_array_equal(both[:120], X)
    np.testing.assert_array_equal(np.sort(both[120:], axis=0), np.sort(X, axis=0))
    orders = np.argsort(both[120:], axis=0)[np.argsort(np.argsort(X, axis=0), axis=0), range(3)]
    assert len({tuple(order) for order in orders.T}) == 3


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_keep_their_types_and_missing_values(make: type) -> None:
    columns = {"a": X[:, 0], "b": np.where(X[:, 1] > 1, np.nan, X[:, 1]), "c": ["u", "v"] * 60}
    frame = make(columns)
    both = _with_permuted_rows(frame, 120, np.random.RandomState(0))
    assert type(both) is type(frame)
    assert list(both.columns) == ["a", "b", "c"]
    assert len(both) == 240
    letters = list(both["c"])
    assert letters[:120] == ["u", "v"] * 60
    assert sorted(letters[120:]) == sorted(letters[:120])
    forest = unsupervised_forest(frame, forest=SMALL, random_state=0)
    assert forest.predict(frame).shape == (120,)


def test_dependent_columns_are_told_from_permuted_ones_and_independent_ones_are_not() -> None:
    """Of independent columns the out-of-bag accuracy is about one half: 240 rows, five standard
    deviations are 0.16."""
    assert unsupervised_forest(X, forest=SMALL, random_state=0).oob_score_ > 0.8
    noise = np.random.default_rng(1).normal(size=(120, 3))
    assert abs(unsupervised_forest(noise, forest=SMALL, random_state=0).oob_score_ - 0.5) < 0.16


def test_rows_of_a_group_are_nearer_to_each_other() -> None:
    forest = unsupervised_forest(X, forest=SMALL, random_state=0)
    matrix = proximity(forest, X, kind="all").matrix
    same = GROUP[:, None] == GROUP
    np.fill_diagonal(same, False)
    assert matrix[same].mean() > 2 * matrix[GROUP[:, None] != GROUP].mean()


def test_seed_repeats_the_forest_and_sparse_rows_are_read() -> None:
    one, other = (unsupervised_forest(X, forest=SMALL, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    sparse = unsupervised_forest(sp.csr_matrix(X), forest=SMALL, random_state=3)
    np.testing.assert_array_equal(one.predict_proba(X), sparse.predict_proba(X))


def test_another_estimator_is_refused() -> None:
    with pytest.raises(TypeError, match="forest must be an ObliqueForestClassifier"):
        unsupervised_forest(X, forest=ObliqueIsolationForest())  # type: ignore[arg-type]


ISOLATION = ObliqueIsolationForest(20, random_state=0).fit(X)


def test_isolation_forest_gives_proximities_and_maps() -> None:
    leaves = ISOLATION.apply(X)
    expected = (leaves[:, None] == leaves).mean(axis=2)
    np.testing.assert_allclose(proximity(ISOLATION, X, kind="all").matrix, expected)
    assert principal_coordinates(ISOLATION, X, kind="all").coordinates.shape == (120, 2)
    assert nearest_rows(ISOLATION, X, X[:3], kind="all", k=2).rows.shape == (3, 2)
    with pytest.raises(ValueError, match='kind must be "all" with an isolation forest'):
        proximity(ISOLATION, X)


@pytest.mark.parametrize(
    "function",
    [
        lambda: importance(ISOLATION),
        lambda: partial_dependence(ISOLATION, X, 0),
        lambda: shapley_values(ISOLATION, X[:2], X),
        lambda: tree_rules(ISOLATION),
    ],
)
def test_functions_that_need_a_target_refuse_an_isolation_forest(function: object) -> None:
    with pytest.raises(TypeError, match="fitted to a target; got ObliqueIsolationForest"):
        function()  # type: ignore[operator]
