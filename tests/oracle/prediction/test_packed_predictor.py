"""The packed predictor against the plain one, bit for bit."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.forests import SIMD_LEVELS, available_simd_levels
from tests.support.random_forests import KINDS, random_forest, random_rows

from bevel import (
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    _core,
)
from bevel import projections as P
from bevel.estimators._base import encode_rows
from bevel.forest.predictor import PackedPredictor

FAMILIES = [
    "axis",
    "sparse",
    P.SparseSigns(8),
    P.RandomCombination(2),
    P.Gaussian(),
    P.RandomRotation(),
    P.MultiRotation(),
    P.PrincipalRotation(),
    P.LDA(),
    ["axis", "sparse", P.RandomRotation(), P.Gaussian()],
]


def assert_agrees(predictor, X, n_threads, hard):
    forest, view = predictor.forest, predictor.view
    if forest.n_classes == 0:
        assert np.array_equal(predictor.values(X, n_threads), view.predict_value(X, 1))
        return
    expected = view.predict_proba(X, 1, hard)
    assert np.array_equal(predictor.probabilities(X, n_threads, hard), expected)
    assert np.array_equal(predictor.classes(X, n_threads, hard), expected.argmax(axis=1))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_features = draw(st.integers(1, 14))
    forest = random_forest(
        rng,
        n_features,
        n_classes=draw(st.sampled_from([0, 1, 2, 3, 100])),
        n_trees=draw(st.integers(1, 40)),
        depth=draw(st.integers(0, 6)),
        n_nominal=draw(st.integers(0, n_features - 1)),
        n_axes=draw(st.sampled_from([0, 0, 1, 4, 5])),
        kinds=tuple(draw(st.lists(st.sampled_from(KINDS), min_size=1, unique=True))),
    )
    n_rows = draw(st.sampled_from([1, 2, 9, 17, 40, 300]))
    missing = draw(st.sampled_from([0.0, 0.0, 0.01, 0.3]))
    return forest, random_rows(rng, forest, n_rows, missing)


@settings(max_examples=300, deadline=None)
@given(problems(), st.integers(1, 3), st.booleans())
def test_random_forests_predict_as_the_plain_walk(problem, n_threads, hard):
    forest, X = problem
    assert_agrees(PackedPredictor(forest), X, n_threads, hard)


@pytest.mark.parametrize("projection", FAMILIES, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 7])
def test_grown_forests_predict_as_the_plain_walk(projection, n_classes):
    rng = np.random.default_rng(n_classes)
    X = np.round(rng.normal(size=(200, 9)), 1).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 0] = rng.integers(0, 5, 200)
    settings = {"projection": projection, "categorical_features": [0], "min_samples_leaf": 2}
    if n_classes:
        y = rng.integers(0, n_classes, 200)
        estimator = ObliqueForestClassifier(30, random_state=0, **settings)
    else:
        y = rng.normal(size=200)
        estimator = ObliqueForestRegressor(30, random_state=0, **settings)
    predictor = estimator.fit(X, y, rng.random(200)).fitted_forest_.packed_predictor
    rows = random_rows(rng, predictor.forest, 500, 0.03)
    for n in (1, 5, 500):
        assert_agrees(predictor, rows[:n], 2, hard=False)


@pytest.mark.parametrize("simd", SIMD_LEVELS)
@pytest.mark.parametrize("kind", KINDS)
def test_crowns_lead_where_walks_lead(kind, simd):
    """Rows below, at and above whole groups; trees that end inside their crown, or go on below."""
    if simd not in available_simd_levels():
        pytest.skip(f"this machine has no {simd}")
    rng = np.random.default_rng(5)
    for depth in (0, 1, 4, 5, 6, 8):
        forest = random_forest(rng, 6, 3, 12, depth=depth, n_nominal=2, kinds=(kind, "single"))
        view = PackedPredictor(forest).view
        packed = _core.PackedForest(view, simd)
        X = random_rows(rng, forest, 200)
        X[rng.random(X.shape) < 0.1] = 0.0
        X[rng.random(X.shape) < 0.1] *= -0.0
        for n in (31, 32, 33, 64, 200):
            out = np.empty((n, 3))
            identity = _core.Scaler.identity(6)
            assert packed.predict_proba(X[:n], identity, np.inf, False, 1, out)
            assert np.array_equal(out, view.predict_proba(X[:n], 1, False))


def test_a_block_of_rows_does_not_pass_the_crowns_of_another():
    """Blocks of 4096 rows: a whole one, one with missing values, a whole one, one of few rows."""
    rng = np.random.default_rng(6)
    for kinds in (("single",), ("signs", "single")):
        forest = random_forest(rng, 3, 3, 6, depth=7, kinds=kinds)
        X = random_rows(rng, forest, 3 * 4096 + 20)
        X[4096 + 7, 1] = X[2 * 4096 - 1, 2] = np.nan
        assert_agrees(PackedPredictor(forest), X, 1, hard=False)


def symmetric_forest(projection, depth, missing=0.05):
    rng = np.random.default_rng(depth)
    X = np.round(rng.normal(size=(300, 8)), 1).astype(np.float32)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 0] = rng.integers(0, 5, 300)
    model = ObliqueBoostingRegressor(
        growth="symmetric",
        max_depth=depth,
        projection=projection,
        max_iter=20,
        learning_rate=0.3,
        categorical_features=[0],
        random_state=0,
    )
    return model.fit(X, np.nan_to_num(X[:, 1] * X[:, 2]) + X[:, 0]).forest_


def assert_sums_agree(forest, X, n_outputs, simd):
    view = PackedPredictor(forest).view
    packed = _core.PackedForest(view, simd)
    identity = _core.Scaler.identity(forest.n_features)
    expected = np.zeros((len(X), n_outputs))
    leaves = view.apply(X, 1) + forest.tree_offset[:-1]
    for tree in range(forest.n_trees):
        expected[:, tree % n_outputs] += forest.leaf_value[leaves[:, tree]]
    for n_threads in (1, 2):
        found = np.zeros((len(X), n_outputs))
        trees = (0, forest.n_trees)
        assert packed.add_values(X, identity, np.inf, *trees, n_outputs, n_threads, found)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("simd", SIMD_LEVELS)
@pytest.mark.parametrize("projection", ["auto", "axis", "sparse", "rotation", "combination"])
def test_symmetric_trees_lead_where_walks_lead(projection, simd):
    """Rows below, at and above whole groups; with and without missing values and negative zeros."""
    if simd not in available_simd_levels():
        pytest.skip(f"this machine has no {simd}")
    rng = np.random.default_rng(7)
    for depth in (1, 4, 7):
        forest = symmetric_forest(projection, depth)
        for missing in (0.0, 0.05):
            X = random_rows(rng, forest, 200, missing)
            X[rng.random(X.shape) < 0.1] *= -0.0
            for n in (1, 31, 32, 33, 200):
                for n_outputs in (1, 4):
                    assert_sums_agree(forest, X[:n], n_outputs, simd)


@pytest.mark.parametrize(
    ("array", "value"),
    [("threshold", 0.1), ("flags", 1), ("entry_index", 7), ("entry_weight", 0.5)],
)
def test_a_tree_with_one_split_unlike_others_of_its_level_is_walked(array, value):
    forest = symmetric_forest("sparse", 3, missing=0.0)
    node = 8  # the root of the right half
    assert forest.right[0] == node
    at = forest.entry_offset[node] if array.startswith("entry") else node
    changed = getattr(forest, array).copy()
    assert changed[at] != value
    changed[at] = value
    forest = replace(forest, **{array: changed})
    rng = np.random.default_rng(8)
    assert_sums_agree(forest, random_rows(rng, forest, 100), 1, "auto")


def test_instruction_sets_that_are_not_there_are_refused():
    view = PackedPredictor(random_forest(np.random.default_rng(0), 2)).view
    with pytest.raises(ValueError, match="cannot run the instruction set 'mmx'"):
        _core.PackedForest(view, "mmx")


def test_many_features_need_wide_places():
    rng = np.random.default_rng(0)
    forest = random_forest(rng, 40_000, kinds=("signs", "weights", "single"))
    assert_agrees(PackedPredictor(forest), random_rows(rng, forest, 30), 1, hard=False)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [None, "quantile", "standard", "rank"])
def test_plain_arrays_are_read_as_encoded_ones(scale, dtype, order):
    rng = np.random.default_rng(1)
    X = rng.standard_t(2, size=(300, 6))
    estimator = ObliqueForestClassifier(20, scale=scale, random_state=0, n_jobs=2)
    estimator.fit(X, rng.integers(0, 3, 300))
    rows = rng.standard_t(2, size=(700, 6))
    rows[rng.random(rows.shape) < 0.01] = np.nan
    rows = np.asarray(rows, dtype=dtype, order=order)
    assert estimator._is_plain(rows)
    encoded = encode_rows(estimator, rows)
    expected = estimator.fitted_forest_.packed_predictor.view.predict_proba(encoded, 1, False)
    expected = estimator.fitted_forest_.aggregation.calibrate(expected)
    assert np.array_equal(estimator.predict_proba(rows), expected)
    assert np.array_equal(estimator.predict_proba(rows[::-2]), expected[::-2])
    assert np.array_equal(estimator.predict_proba(rows[5:6]), expected[5:6])
    assert np.array_equal(estimator.predictor_.predict_proba(rows[:9]), expected[:9])
    assert np.array_equal(estimator.predictor_.predict(rows), expected.argmax(axis=1))


def test_arrays_that_the_core_cannot_step_through_are_read_slowly():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 2)).astype(np.float32)
    forest = ObliqueForestClassifier(5, scale=None, random_state=0).fit(X, rng.integers(0, 2, 100))
    odd = np.zeros(100, dtype=[("a", "f4"), ("b", "f4"), ("c", "u1")])  # nine bytes a row
    rows = np.ndarray((100, 2), np.float32, odd, 0, (9, 4))
    rows[:] = X
    for other in (rows, X.astype(">f4"), X.astype(np.float16), X.tolist()):
        assert not forest._is_plain(other)
    expected = forest.predict_proba(X)
    assert np.array_equal(forest.predict_proba(rows), expected)
    assert np.array_equal(forest.predict_proba(X.astype(">f4")), expected)
    assert np.array_equal(forest.predict_proba(np.broadcast_to(X[:1], (50, 2))), expected[[0] * 50])


def test_a_vote_that_is_decided_late_is_not_cut_short():
    """Two classes neck and neck: the last trees decide, and a tie goes to the first class."""
    rng = np.random.default_rng(2)
    for n_trees in (16, 17, 32, 33, 64):
        forest = random_forest(rng, 4, 2, n_trees, depth=3, kinds=("single",))
        predictor = PackedPredictor(forest)
        X = random_rows(rng, forest, 2000)
        for hard in (False, True):
            assert_agrees(predictor, X, 2, hard)


def test_threads_share_a_predictor():
    rng = np.random.default_rng(3)
    forest = random_forest(rng, 8, 3, 50, depth=6)
    predictor = PackedPredictor(forest)
    X = random_rows(rng, forest, 400)
    expected = predictor.view.predict_proba(X, 1, False)
    wrong = []

    def work():
        answers = [predictor.probabilities(X[i : i + 3], 1, False) for i in range(200)]
        wrong.extend(i for i in range(200) if not np.array_equal(answers[i], expected[i : i + 3]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
