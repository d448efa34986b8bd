"""Conditional permutation importance against predictions of permuted tables."""

import numpy as np
import pandas as pd
import pytest
from support.false_alarms import assert_uniform

from bevel import (
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    _core,
)
from bevel.analysis import importance
from bevel.analysis.analysed_forest import read_forest
from bevel.analysis.importances.perturbation import MIN_ROWS, draw_order, read_groups, strata_of


def test_permutations_within_strata_are_equally_likely():
    """Rows 0, 2, 3 and rows 1, 4: 3! 2! permutations; chi-square, one false alarm in a million."""
    strata = np.array([7, -2, 7, 7, -2], np.int32)
    seen: dict[tuple[int, ...], int] = {}
    for repeat in range(6000):
        order = tuple(_core.permutation(3, 0, 1, repeat, 5, strata).tolist())
        assert sorted(order) == list(range(5))
        assert (strata[list(order)] == strata).all()
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 12
    assert_uniform(np.array(list(seen.values())))


def data(n=300, seed=0):
    """x1 is nearly x0; x2 is independent; a nominal column and missing values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x0": rng.normal(size=n)})
    X["x1"] = X["x0"] + rng.normal(0, 0.1, n)
    X["x2"] = rng.normal(size=n)
    X["x3"] = pd.Categorical(np.where(rng.random(n) < 0.5, "a", "b"))
    y = X["x0"] + X["x2"]
    X.loc[rng.random(n) < 0.05, "x2"] = np.nan
    return X, y.to_numpy()


def strata_of_all(forest, X, groups=None, n_strata=16):
    analysed = read_forest(forest, "test")
    rows = analysed.encode(X)
    chosen = read_groups(groups, analysed.names)
    return strata_of(rows, analysed.forest.levels, chosen, n_strata, None)


@pytest.mark.parametrize("groups", [None, {"both": ["x0", "x2"], "x3": ["x3"]}])
def test_conditional_importance_on_given_rows_equals_predicting_permuted_tables(groups):
    X, y = data()
    forest = ObliqueForestRegressor(20, random_state=0).fit(X, y)
    rows, target = X[:150].reset_index(drop=True), y[:150]
    strata = strata_of_all(forest, rows, groups)
    found = importance(
        forest,
        "permutation",
        rows,
        target,
        out_of_bag=False,
        conditional=True,
        groups=groups,
        n_repeats=2,
        random_state=4,
    )
    seed = int(np.random.default_rng(4).integers(2**64, dtype=np.uint64))
    error = np.mean((forest.predict(rows) - target) ** 2)
    chosen = groups or {name: [name] for name in X}
    for number, columns in enumerate(chosen.values()):
        for repeat in range(2):
            order = _core.permutation(seed, 0, number, repeat, 150, strata[number])
            permuted = rows.copy()
            permuted[columns] = rows.iloc[order][columns].to_numpy()
            permuted = permuted.astype(rows.dtypes)
            expected = np.mean((forest.predict(permuted) - target) ** 2) - error
            np.testing.assert_allclose(found.repeats[number, repeat], expected, atol=1e-9)


def test_strata_are_leaves_of_enough_rows_that_are_alike_in_the_other_features():
    X, y = data()
    forest = ObliqueForestRegressor(5, random_state=0).fit(X, y)
    strata = strata_of_all(forest, X, n_strata=8)
    for number in range(4):
        sizes = np.unique(strata[number], return_counts=True)[1]
        assert 2 <= len(sizes) <= 8
        assert sizes.min() >= MIN_ROWS
    x0 = X["x0"].to_numpy()
    within = sum(x0[strata[0] == s].var() * (strata[0] == s).mean() for s in set(strata[0]))
    assert within < 0.1 * x0.var()  # x1 tells x0
    assert (strata_of_all(forest, X, {"all": list(X)}) == 0).all()


@pytest.mark.parametrize("out_of_bag", [True, False])
@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_one_stratum_is_permutation_among_all_rows(error_of, out_of_bag):
    X, y = data()
    forest = ObliqueForestRegressor(15, random_state=0).fit(X, y)
    options = {"error_of": error_of, "out_of_bag": out_of_bag, "n_repeats": 2, "random_state": 1}
    plain = importance(forest, "permutation", X, y, **options)
    single = importance(forest, "permutation", X, y, conditional=True, n_strata=1, **options)
    assert plain.repeats.tobytes() == single.repeats.tobytes()
    assert "alike in the other features" in str(single)
    assert "alike in the other features" not in str(plain)


@pytest.mark.parametrize("error_of", ["forest", "tree"])
def test_copy_of_a_feature_has_conditional_importance_near_zero_and_others_keep_theirs(error_of):
    X, y = data(600)
    forest = ObliqueForestRegressor(60, random_state=0).fit(X, y)
    options = {"error_of": error_of, "random_state": 0}
    plain = importance(forest, "permutation", X, y, **options).values
    conditional = importance(forest, "permutation", X, y, conditional=True, **options).values
    assert plain[1] > 0.1
    assert conditional[1] < 0.15 * plain[1]
    assert conditional[2] > 0.7 * plain[2]
    assert conditional[2] > 5 * conditional[1]


def test_conditional_importance_is_the_same_for_any_number_of_threads_and_takes_classes():
    X, y = data()
    labels = np.digitize(y, [-1.0, 1.0])
    forest = ObliqueForestClassifier(15, random_state=0).fit(X, labels)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    found = []
    for n_jobs in (1, 3):
        forest.set_params(n_jobs=n_jobs)
        options = {"conditional": True, "sample_weight": weights, "random_state": 2}
        found.append(importance(forest, "permutation", X, labels, **options))
    assert found[0].repeats.tobytes() == found[1].repeats.tobytes()
    assert found[0].values[2] > 0.1


def test_conditional_importance_of_boosting_permutes_within_strata():
    X, y = data(400)
    model = ObliqueBoostingRegressor(max_iter=30, random_state=0).fit(X[:300], y[:300])
    rows, target = X[300:].reset_index(drop=True), y[300:]
    options = {"out_of_bag": False, "random_state": 0}
    plain = importance(model, "permutation", rows, target, **options).values
    found = importance(model, "permutation", rows, target, conditional=True, **options)
    assert "alike in the other features" in str(found)
    assert found.values[0] < 0.5 * plain[0]
    assert found.values[2] > 0.5 * plain[2]
    strata = np.array([3, 1, 3, 3, 1], np.int32)
    order = draw_order(np.random.default_rng(0), 5, strata)
    assert sorted(order) == list(range(5))
    assert (strata[order] == strata).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_strata": 4}, "left out unless conditional=True"),
        ({"conditional": True, "n_strata": 0}, "an integer of at least 1"),
        ({"conditional": "yes"}, "conditional"),
    ],
)
def test_options_of_strata_that_make_no_sense_are_refused(options, message):
    X, y = data()
    forest = ObliqueForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises((ValueError, TypeError), match=message):
        importance(forest, "permutation", X, y, **options)
