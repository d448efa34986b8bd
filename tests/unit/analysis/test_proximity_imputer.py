"""`ProximityImputer`: against Breiman's rounds written out, and what its fillings may know."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.analysis import ProximityImputer, nearest_rows, proximity
from bevel.data.tables import Columns
from bevel.errors import NoOutOfBagError

RNG = np.random.default_rng(0)
N = 80
BASE = RNG.normal(size=N)
COMPLETE = np.column_stack([BASE, BASE + 0.1 * RNG.normal(size=N), RNG.normal(size=N)])
VALUES = BASE + 0.2 * RNG.normal(size=N)
CLASSES = (VALUES > 0).astype(int)
X = COMPLETE.copy()
X[RNG.random((N, 3)) < 0.2] = np.nan
MISSING = np.isnan(X)
FOREST = ObliqueForestClassifier(30, random_state=0)


def rounds_by_hand(forest, X, y, kind, n_rounds):
    filled = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    for _ in range(n_rounds):
        fitted = clone(forest).fit(filled, y)
        near = proximity(fitted, filled, y, kind=kind).matrix
        before = filled.copy()
        for i, f in np.argwhere(np.isnan(X)):
            known = np.flatnonzero(~np.isnan(X[:, f]))
            weight = near[i, known]
            mean = (weight * X[known, f]).sum() / weight.sum() if weight.any() else before[i, f]
            filled[i, f] = mean
    return filled


@pytest.mark.parametrize("kind", ["oob", "in_bag", "all"])
@pytest.mark.parametrize(
    ("forest", "y"),
    [(FOREST, CLASSES), (ObliqueForestRegressor(30, random_state=0), VALUES)],
    ids=["classes", "values"],
)
def test_imputer_follows_breimans_rounds(forest, y, kind):
    got = ProximityImputer(forest, kind=kind, n_rounds=2).fit_transform(X, y)
    np.testing.assert_allclose(got, rounds_by_hand(forest, X, y, kind, 2), rtol=1e-10)
    np.testing.assert_array_equal(got[~MISSING], X[~MISSING])


def test_imputer_is_closer_to_the_truth_than_the_median():
    got = ProximityImputer(ObliqueForestRegressor(30, random_state=0)).fit_transform(X, VALUES)
    medians = np.broadcast_to(np.nanmedian(X, axis=0), X.shape)
    related = MISSING & [True, True, False]
    error, rough = (np.abs(a - COMPLETE)[related].mean() for a in (got, medians))
    assert error < 0.75 * rough


@pytest.mark.parametrize(("kind", "knows"), [("oob", False), ("all", True)])
def test_a_filled_value_depends_on_the_class_of_its_row_unless_it_is_out_of_bag(kind, knows):
    rows = np.flatnonzero(MISSING.any(axis=1))[:10]
    imputer = ProximityImputer(FOREST, kind=kind, n_rounds=1)
    before = imputer.fit_transform(X, CLASSES)
    differs = []
    for row in rows:
        y = CLASSES.copy()
        y[row] = 1 - y[row]
        differs.append(not np.array_equal(imputer.fit_transform(X, y)[row], before[row]))
    assert any(differs) == knows


def test_new_rows_are_filled_from_the_rows_of_the_fit_without_their_targets():
    imputer = ProximityImputer(FOREST).fit(X, CLASSES)
    new = np.array([[2.0, np.nan, 0.0], [-2.0, np.nan, 0.0], [0.5, 0.5, 0.5]])
    filled = imputer.transform(new)
    assert filled[0, 1] > 0.5
    assert filled[1, 1] < -0.5
    np.testing.assert_array_equal(filled[2], new[2])
    one_by_one = np.vstack([imputer.transform(row[None]) for row in new])
    np.testing.assert_array_equal(one_by_one, filled)


def mixed(n=90, seed=0):
    rng = np.random.default_rng(seed)
    city = np.array(["Bern", "Oslo", "Rome"])[np.arange(n) % 3]
    number = (np.arange(n) % 3) * 4.0 + rng.normal(size=n)
    return city.astype(object), number, np.arange(n) % 3


def test_nominal_columns_are_filled_by_the_vote_of_near_rows():
    city, number, y = mixed()
    truth = city.copy()
    city[::7] = None
    number[1::7] = np.nan
    frame = pd.DataFrame({"city": city, "number": number}, index=np.arange(90)[::-1])
    filled = ProximityImputer(
        ObliqueForestClassifier(30, projection=["axis", "sparse"], random_state=0)
    ).fit_transform(frame, y)
    assert filled["city"].tolist() == truth.tolist()
    assert filled.index.tolist() == frame.index.tolist()
    assert not filled.isna().to_numpy().any()


@pytest.mark.parametrize("kind", ["oob", "all"])
def test_votes_are_those_of_weighted_rows(kind):
    city, number, y = mixed()
    city[::4] = None
    number = number * 0.3
    columns = Columns(("city", "number"), (city, number))
    got = ProximityImputer(FOREST, kind=kind, n_rounds=1).fit_transform(columns, y)
    assert got.names == columns.names
    rough = city.copy()
    rough[::4] = pd.Series(city).mode()[0]
    table = Columns(("city", "number"), (rough, number))
    near = proximity(clone(FOREST).fit(table, y), table, y, kind=kind).matrix
    column, _ = got.values
    for row in range(0, 90, 4):
        votes = {
            c: sum(near[row, j] for j in range(90) if city[j] == c) for c in set(city) - {None}
        }
        assert column[row] == max(sorted(votes), key=lambda c: votes[c])


@pytest.mark.parametrize("kind", ["pandas", "categorical", "polars", "polars_categorical", "arrow"])
def test_frames_come_back_as_the_frames_they_were(kind):
    city, number, y = mixed()
    city[::7] = None
    whole = np.where(np.arange(90) % 10 == 0, None, y * 20 + np.arange(90) // 30)
    columns = {"city": city.tolist(), "number": number, "whole": whole.tolist()}
    if kind == "pandas":
        frame = pd.DataFrame(columns)
    elif kind == "categorical":
        frame = pd.DataFrame(columns).astype({"city": "category", "whole": "Int64"})
    elif kind == "arrow":
        frame = pa.table(columns)
    else:
        frame = pl.DataFrame(columns)
        if kind == "polars_categorical":
            frame = frame.with_columns(pl.col("city").cast(pl.Categorical))
    imputer = ProximityImputer(FOREST, n_rounds=2)
    filled = imputer.fit_transform(frame, y)
    assert type(filled) is type(frame)
    assert imputer.n_missing_ == 13 + 9
    as_pandas = filled if isinstance(filled, pd.DataFrame) else filled.to_pandas()
    assert not as_pandas.isna().to_numpy().any()
    before = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    kept = before["city"].notna().to_numpy()
    assert as_pandas["city"][kept].tolist() == before["city"][kept].tolist()
    plain = Columns(("city", "number", "whole"), (city, number, whole.astype(float)))
    cities, _, wholes = clone(imputer).fit_transform(plain, y).values
    assert as_pandas["city"].tolist() == cities.tolist()
    assert len(set(cities[::7])) == 3
    np.testing.assert_array_equal(as_pandas["whole"].to_numpy(float), wholes)
    new = imputer.transform(frame[:9])
    assert type(new) is type(frame)


def test_unseen_labels_of_new_rows_stay_and_missing_ones_are_filled():
    city, number, y = mixed()
    imputer = ProximityImputer(FOREST, n_rounds=1).fit(Columns(("c", "n"), (city, number)), y)
    new = Columns(("c", "n"), (np.array(["Lima", None], object), np.array([np.nan, 8.0])))
    cities, numbers = imputer.transform(new).values
    assert cities.tolist() == ["Lima", "Rome"]
    assert not np.isnan(numbers).any()


def test_changes_of_the_rounds_shrink():
    changes = ProximityImputer(FOREST, n_rounds=4).fit(X, CLASSES).changes_
    assert changes.shape == (4,)
    assert changes[-1] < 0.2 * changes[0]


def test_a_table_without_missing_values_comes_back_equal():
    imputer = ProximityImputer(FOREST, n_rounds=1)
    np.testing.assert_array_equal(imputer.fit_transform(COMPLETE, CLASSES), COMPLETE)
    assert imputer.n_missing_ == 0
    assert imputer.changes_.tolist() == [0.0]
    assert not np.isnan(imputer.transform(X)).any()


def test_the_users_own_table_is_left_alone():
    before = X.copy()
    ProximityImputer(FOREST, n_rounds=1).fit_transform(X, CLASSES)
    np.testing.assert_array_equal(X, before)


def test_imputer_works_in_a_pipeline_with_a_learner_that_takes_no_missing_values():
    from sklearn.linear_model import LogisticRegression

    pipeline = make_pipeline(ProximityImputer(FOREST, n_rounds=1), LogisticRegression())
    assert pipeline.fit(X, CLASSES).score(X, CLASSES) > 0.8


@pytest.mark.parametrize(
    ("options", "rows", "y", "error", "message"),
    [
        ({"estimator": 3}, X, CLASSES, TypeError, "must be a forest of Bevel; got 3"),
        ({"kind": "x"}, X, CLASSES, ValueError, "kind must be"),
        ({"n_rounds": 0}, X, CLASSES, ValueError, "n_rounds must be an integer of at least 1"),
        ({}, X, None, ValueError, "needs y, the targets"),
        ({}, sp.csr_array(X), CLASSES, TypeError, r"Pass X.toarray\(\)"),
        ({}, X * [1, 1, np.nan], CLASSES, ValueError, "got none in column 2. Drop the column"),
        (
            {"estimator": ObliqueForestClassifier(5, bootstrap=False)},
            X,
            CLASSES,
            NoOutOfBagError,
            "bootstrap=True",
        ),
    ],
)
def test_bad_input_is_refused(options, rows, y, error, message):
    with pytest.raises(error, match=message):
        ProximityImputer(**({"estimator": FOREST} | options)).fit_transform(rows, y)


def test_new_rows_with_other_columns_are_refused():
    imputer = ProximityImputer(FOREST, n_rounds=1).fit(X, CLASSES)
    with pytest.raises(ValueError, match="2 features"):
        imputer.transform(X[:, :2])


def test_transform_repeats_the_rounds_with_the_last_forest():
    n_rounds, new = 3, np.array([[np.nan, 0.5, np.nan], [-1.0, np.nan, np.nan], [0.1, 0.2, 0.3]])
    imputer = ProximityImputer(FOREST, n_rounds=n_rounds).fit(X, CLASSES)
    filled = rounds_by_hand(FOREST, X, CLASSES, "oob", n_rounds - 1)
    last = clone(FOREST).fit(filled, CLASSES)
    by_hand = [np.where(np.isnan(new), np.nanmedian(X, axis=0), new)]
    for _ in range(n_rounds):
        near = nearest_rows(last, filled, by_hand[-1], CLASSES, k=N)
        after = by_hand[-1].copy()
        for i, f in np.argwhere(np.isnan(new)):
            rows, weight = near.rows[i], near.proximity[i]
            use = (rows >= 0) & ~MISSING[rows, f]
            after[i, f] = np.average(X[rows[use], f], weights=weight[use])
        by_hand.append(after)
    np.testing.assert_allclose(imputer.transform(new), by_hand[-1], rtol=1e-9)
    assert np.abs(by_hand[-1] - by_hand[1]).max() > 1e-3  # one round would not do


def test_changes_are_means_over_the_missing_values_in_standard_deviations():
    steps = [rounds_by_hand(FOREST, X, CLASSES, "oob", n) for n in range(3)]
    changes = [np.abs(b - a) / np.nanstd(X, axis=0) for a, b in pairwise(steps)]
    imputer = ProximityImputer(FOREST, n_rounds=2).fit(X, CLASSES)
    np.testing.assert_allclose(imputer.changes_, [c[MISSING].mean() for c in changes])
