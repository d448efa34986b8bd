"""`bevel.training.rotation_ensemble`: Haar rotations, and what learners see of rotated rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueForestClassifier, _core
from bevel import projections as P
from bevel.data.dataset import learn_dataset
from bevel.data.encoding import encode
from bevel.data.tables import read_table
from bevel.training.rotation_ensemble import (
    count_numeric,
    haar_rotations,
    plain_matrix,
    rotated_view,
)

RNG = np.random.default_rng(5)


def learned(X, categorical_features="from_dtype", scale="minmax"):
    return learn_dataset(read_table(X), categorical_features, scale)


def test_rotations_are_orthogonal_and_without_reflection():
    rotations = haar_rotations(20, 4, seed=3)
    products = rotations @ rotations.transpose(0, 2, 1)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(4), (20, 4, 4)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(rotations), 1.0)
    flipped = np.linalg.det(haar_rotations(20, 4, seed=3, flip=True))
    assert {-1, 1} == set(flipped.round().astype(int))  # by chance alike once in 500 000 seeds


def test_rotations_are_those_of_a_rotation_forest_of_the_same_seed():
    X, y = RNG.normal(size=(30, 3)), np.arange(30) % 2
    forest = ObliqueForestClassifier(2, projection=P.RandomRotation(), scale=None, n_jobs=1)
    forest.set_params(random_state=4).fit(X, y)
    (_, second) = haar_rotations(2, 3, forest.fitted_forest_.provenance.seed)
    kept = forest.forest_.rotation_weight[-9:].reshape(3, 3)  # of the last tree, in order of use
    np.testing.assert_array_equal(np.sort(kept, axis=0), np.sort(np.float32(second).T, axis=0))


def test_more_rotations_begin_with_fewer():
    np.testing.assert_array_equal(haar_rotations(5, 3, 7)[:2], haar_rotations(2, 3, 7))
    assert not np.array_equal(haar_rotations(2, 3, 7), haar_rotations(2, 3, 8))


@pytest.mark.parametrize(("n_rows", "n_features"), [(1, 1), (3, 2), (64, 5), (130, 9), (700, 40)])
def test_rotated_rows_are_products_whatever_the_company_and_the_threads(n_rows, n_features):
    rows = np.asfortranarray(RNG.normal(size=(n_rows, n_features)), dtype=np.float32)
    (rotation,) = haar_rotations(1, n_features, seed=1)
    turned = [np.empty_like(rows) for _ in range(2)]
    for n_threads, target in enumerate(turned, start=1):
        _core.rotate_rows(rows, np.asfortranarray(rotation), n_threads, target)
    np.testing.assert_allclose(turned[0], rows @ rotation, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(turned[0], turned[1])
    last = np.asfortranarray(rows[-1:])
    alone = np.empty_like(last)
    _core.rotate_rows(last, np.asfortranarray(rotation), 1, alone)
    np.testing.assert_array_equal(alone[0], turned[0][-1])


def test_view_scales_completes_and_rotates_numbers_and_leaves_codes_in_place():
    frame = pd.DataFrame(
        {
            "a": [0.0, 10.0, np.nan, 5.0],
            "town": pd.Categorical(["x", "y", "z", "x"]),
            "b": [1.0, 3.0, 3.0, 5.0],
        }
    )
    dataset = learned(frame)
    assert count_numeric(dataset.encoding) == 2
    (rotation,) = haar_rotations(1, 2, seed=0)
    scaled = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 0.5], [0.5, 1.0]])  # the median of a is 5
    view = rotated_view(dataset.X, dataset.encoding, rotation, codes=True)
    np.testing.assert_allclose(view[:, [0, 2]], scaled @ rotation, atol=1e-6)
    np.testing.assert_array_equal(view[:, 1], [0, 1, 2, 0])
    plain = rotated_view(dataset.X, dataset.encoding, None, codes=True)
    np.testing.assert_allclose(plain[:, [0, 2]], scaled, atol=1e-7)


def test_view_of_a_learner_without_nominal_columns_has_one_indicator_less_than_levels():
    frame = pd.DataFrame({"town": ["x", None, "z", "x"], "b": [1.0, 3.0, 3.0, 5.0]})
    dataset = learned(frame)
    view = rotated_view(dataset.X, dataset.encoding, None, codes=False)
    np.testing.assert_array_equal(view[:, 1:], [[1, 0], [0, 0], [0, 1], [1, 0]])  # x, z; missing
    new = pd.DataFrame({"town": ["never", "z"], "b": [1.0, 1.0]})
    rows = encode(read_table(new), dataset.encoding, order="F")
    view = rotated_view(rows, dataset.encoding, None, codes=False)
    np.testing.assert_array_equal(view[:, 1:], [[0, 0], [0, 1]])


def test_new_rows_are_completed_by_the_median_of_the_training_rows():
    dataset = learned(np.array([[0.0], [1.0], [10.0]]), scale=None)
    rows = np.array([[np.nan], [100.0]], dtype=np.float32)
    view = rotated_view(rows, dataset.encoding, None, codes=True)
    np.testing.assert_array_equal(view, [[1.0], [100.0]])


def test_plain_matrix_keeps_numbers_that_float32_cannot_hold():
    frame = pd.DataFrame({"town": ["y", "x", "y"], "b": [1e9 + 1, 1e9 + 2, np.nan]})
    table = read_table(frame)
    matrix = plain_matrix(table, learn_dataset(table, "from_dtype", "minmax").encoding)
    np.testing.assert_array_equal(matrix, [[1, 1e9 + 1], [0, 1e9 + 2], [1, np.nan]])
