"""Sums that leave float32 send a row the same way in every reader of a forest.

The oracle is `support.huge_numbers`: NumPy, one operation after another in float32.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.c_models import CModels, estimator_around, needs_compiler
from support.forests import SIMD_LEVELS, available_simd_levels
from support.huge_numbers import huge_forest, huge_rows, naive_answers, naive_leaves
from support.random_forests import KINDS

import bevel
from bevel import ObliqueForestClassifier, _core
from bevel import projections as P
from bevel.data.encoding import Encoding
from bevel.data.scaling import IdentityScaler
from bevel.data.tiles import LARGEST_STORED
from bevel.files.columns.forest_columns import encode_forest
from bevel.files.columns.mapped import MappedPredictor
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor, RowPredictor


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_features = draw(st.integers(1, 14))
    kinds = tuple(draw(st.lists(st.sampled_from(KINDS), min_size=1, unique=True)))
    forest = huge_forest(
        rng,
        keep_signs=draw(st.booleans()),
        n_features=n_features,
        n_classes=draw(st.sampled_from([0, 2, 5])),
        n_trees=draw(st.integers(1, 20)),
        depth=draw(st.integers(1, 6)),
        n_nominal=draw(st.integers(0, n_features - 1)),
        n_axes=draw(st.sampled_from([0, 0, 1, 4])),
        kinds=kinds,
    )
    n_rows = draw(st.sampled_from([1, 9, 40, 100]))
    return forest, huge_rows(rng, forest, n_rows, draw(st.sampled_from([0.0, 0.0, 0.1])))


def packed_answers(packed: _core.PackedForest, forest: FlatForest, X: np.ndarray) -> np.ndarray:
    identity = _core.Scaler.identity(forest.n_features)
    out = np.empty((len(X), max(forest.n_classes, 1)))
    if forest.n_classes:
        assert packed.predict_proba(X, identity, np.inf, False, 1, out)
    else:
        assert packed.predict_value(X, identity, np.inf, 1, out[:, 0])
    return out


def mapped(forest: FlatForest) -> MappedPredictor:
    about = (forest.n_features, forest.n_classes, forest.levels, forest.medians)
    return MappedPredictor(encode_forest(forest), *about)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_plain_and_mapped_walks_lead_where_the_oracle_says(problem):
    forest, X = problem
    expected = naive_leaves(forest, X)
    np.testing.assert_array_equal(PackedPredictor(forest).leaves(X, 1), expected)
    np.testing.assert_array_equal(mapped(forest).leaves(X, 1), expected)


@settings(max_examples=300, deadline=None)
@given(problems())
def test_packed_walks_predict_as_the_oracle_says_alone_and_in_batches(problem):
    forest, X = problem
    expected = naive_answers(forest, X)
    packed = PackedPredictor(forest).packed
    np.testing.assert_array_equal(packed_answers(packed, forest, X), expected)
    for row in range(min(len(X), 10)):
        alone = packed_answers(packed, forest, X[row : row + 1])
        np.testing.assert_array_equal(alone[0], expected[row])


@pytest.mark.parametrize("simd", SIMD_LEVELS)
@pytest.mark.parametrize("keep_signs", [True, False])
def test_top_levels_of_every_instruction_set_predict_as_the_oracle_says(simd, keep_signs):
    """Blocks with and without rows that overflow, below, at and above whole groups of rows."""
    if simd not in available_simd_levels():
        pytest.skip(f"this machine has no {simd}")
    rng = np.random.default_rng(5)
    for kind in ("single", "signs", "weights"):
        shape = {"n_features": 6, "n_trees": 12, "depth": 7, "kinds": (kind,)}
        forest = huge_forest(rng, keep_signs=keep_signs, **shape)
        packed = _core.PackedForest(PackedPredictor(forest).view, simd)
        X = huge_rows(rng, forest, 200)
        ordinary = np.round(rng.normal(size=(200, 6)), 1).astype(np.float32)
        for rows in (X, ordinary, ordinary * np.float32(1e20)):
            expected = naive_answers(forest, rows)
            for n in (31, 32, 33, 64, 200):
                answers = packed_answers(packed, forest, rows[:n])
                np.testing.assert_array_equal(answers, expected[:n])


@pytest.mark.parametrize("missing_left", [False, True])
@pytest.mark.parametrize("n_rows", [1, 7, 40])
def test_row_whose_sum_is_no_number_goes_where_missing_values_go(missing_left, n_rows):
    """1e30 x - 1e30 y is infinity minus infinity on every row, in the first split of a crown."""
    forest = stump([0, 1], [1e30, -1e30], 0.0, missing_left)
    X = np.full((n_rows, 2), 1e34, np.float32)
    left = PackedPredictor(forest).values(X, 1) == 1.0
    assert left.all() if missing_left else not left.any()


@pytest.mark.parametrize("sign", [1, -1])
def test_infinite_sums_are_compared_with_the_threshold_as_numbers_are(sign):
    forest = stump([0, 1], [1e30, 1e30], 3e38, missing_left=sign > 0)
    X = np.full((40, 2), sign * 1e34, np.float32)
    assert np.all(PackedPredictor(forest).values(X, 1) == (1.0 if sign < 0 else 2.0))


def stump(index, weight, threshold, missing_left) -> FlatForest:
    """One split of two features; leaves are worth 1 on the left and 2 on the right."""
    none = np.empty(0, np.float32)
    return FlatForest(
        n_features=2,
        n_classes=0,
        levels=np.zeros(2, np.int32),
        medians=np.zeros(2, np.float32),
        tree_offset=np.array([0, 3]),
        right=np.array([2, -1, -1], np.int32),
        threshold=np.array([threshold, 0, 0], np.float32),
        flags=np.array([missing_left, 0, 0], np.uint8),
        gain=none,
        weight=none,
        entry_offset=np.array([0, 2, 2, 2]),
        entry_index=np.array(index, np.int32),
        entry_weight=np.array(weight, np.float32),
        entry_p_value=none,
        leaf_value=np.array([0.0, 1.0, 2.0]),
        bits_index=np.empty(0, np.int32),
        bits_offset=np.zeros(1, np.int64),
        bits=np.empty(0, np.uint32),
        rotation_offset=np.zeros(2, np.int64),
        rotation_entry_offset=np.zeros(1, np.int64),
        rotation_index=np.empty(0, np.int32),
        rotation_weight=none,
    )


@pytest.mark.parametrize("scale", [None, "standard", "minmax"])
def test_estimator_predicts_a_row_alike_alone_in_a_batch_from_a_file_and_by_its_leaves(
    scale, tmp_path: Path
):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    directions = rng.normal(size=(4, 6)) * 1e20
    estimator = ObliqueForestClassifier(
        20, projection=P.Custom(directions), scale=scale, random_state=0, n_jobs=1
    ).fit(X, y)
    rows = rng.normal(size=(100, 4)) * rng.choice([1.0, 1e10, 1e33], (100, 4))
    together = estimator.predict_proba(rows)
    leaves = estimator.apply(rows) + estimator.forest_.tree_offset[:-1]
    np.testing.assert_array_equal(together, shares_of(estimator.forest_, leaves))
    alone = np.concatenate([estimator.predict_proba(row[None]) for row in rows])
    np.testing.assert_array_equal(alone, together)
    path = tmp_path / "model.bevel"
    estimator.save(path)
    for mmap in (False, True):
        again = bevel.load(path, mmap=mmap)
        np.testing.assert_array_equal(again.predict_proba(rows), together)


def shares_of(forest: FlatForest, leaves: np.ndarray) -> np.ndarray:
    sums = np.zeros((len(leaves), forest.n_classes))
    for row, nodes in zip(sums, leaves, strict=True):
        for node in nodes:
            entries = slice(forest.entry_offset[node], forest.entry_offset[node + 1])
            row[forest.entry_index[entries]] += forest.entry_weight[entries]
    return sums / forest.n_trees


def test_row_predictor_treats_doubles_beyond_float32_as_the_infinities_they_become():
    rng = np.random.default_rng(1)
    forest = huge_forest(rng, n_features=5, n_classes=3, n_trees=20, kinds=("signs", "weights"))
    encoding = Encoding(IdentityScaler(), {}, forest.levels, forest.medians)
    predictor = RowPredictor(PackedPredictor(forest), encoding.reading, hard=False)
    X = rng.choice([1e300, -1e300, 1.0, -2.0], (50, 5))
    with np.errstate(over="ignore"):
        stored = X.astype(np.float32)
    np.testing.assert_array_equal(predictor.predict_proba(X), naive_answers(forest, stored))


@needs_compiler
def test_c_export_of_huge_forests_predicts_as_the_oracle_says(tmp_path: Path):
    """Rows up to the largest number that is stored: the file cuts others, which Python refuses."""
    rng = np.random.default_rng(2)
    estimators = {}
    for number in range(12):
        shape = {"n_features": int(rng.choice([2, 6, 20])), "n_classes": int(rng.choice([0, 3]))}
        kinds = KINDS if number % 3 else ("signs",)
        forest = huge_forest(
            rng, keep_signs=number % 2 == 0, n_axes=number % 4, kinds=kinds, **shape
        )
        estimators[f"m{number}"] = estimator_around(forest, rng)
        estimators[f"m{number}"].voting = "soft"
    models = CModels(estimators, tmp_path)
    for name, estimator in estimators.items():
        X = huge_rows(rng, estimator.forest_, 60, 0.05, LARGEST_STORED)
        out, _ = models.predict(name, X)
        expected = naive_answers(estimator.forest_, X)
        np.testing.assert_array_equal(out.reshape(expected.shape), expected, err_msg=name)
