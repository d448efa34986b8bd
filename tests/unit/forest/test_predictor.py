"""`bevel.forest.predictor`: answers of a forest that can be checked by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bevel import ObliqueForestRegressor, _core
from bevel.forest.predictor import PackedPredictor

NAN = np.nan
#                 x0    x1   x2     leaf in tree 0, in tree 1
ROWS = np.array(
    [
        [0.5, 0.0, 0],  # 1, 2: on the threshold is left
        [1.0, 0.0, 3],  # 3, 2: level 3 is left
        [1.0, 0.0, 1],  # 4, 2
        [-1.0, -1.0, 9],  # 4, 1: unseen level to the right
        [NAN, 0.0, 0],  # 1, 2: x0 counts as 0.25
        [1.0, NAN, 0],  # 3, 1: x1 counts as -1
    ],
    dtype=np.float32,
)
LEAVES = [[1, 2], [3, 2], [4, 2], [4, 1], [1, 2], [3, 1]]


@pytest.fixture
def predictor(forest):
    return PackedPredictor(forest)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_leaves_of_rows_are_those_of_a_hand_computed_example(predictor, n_threads):
    assert predictor.leaves(ROWS, n_threads).tolist() == LEAVES


def test_probabilities_are_mean_shares_or_votes(predictor):
    soft = predictor.probabilities(ROWS, 1, hard=False)
    assert soft.tolist() == [[1, 0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [1, 0], [0, 1]]
    hard = predictor.probabilities(ROWS, 1, hard=True)
    assert hard[:2].tolist() == [[1, 0], [0.5, 0.5]]


def test_paths_hold_every_node_from_root_to_leaf(predictor):
    indicator, offset = predictor.paths(ROWS, 1)
    assert offset.tolist() == [0, 5, 8]
    assert indicator.shape == (6, 8)
    assert indicator.has_sorted_indices
    assert indicator.toarray()[:4].tolist() == [
        [1, 1, 0, 0, 0, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 0, 1],
        [1, 0, 1, 0, 1, 1, 0, 1],
        [1, 0, 1, 0, 1, 1, 1, 0],
    ]


def test_predictor_is_pickled_without_its_native_view(predictor):
    expected = predictor.leaves(ROWS, 1)
    other = pickle.loads(pickle.dumps(predictor))
    assert set(vars(other)) == {"forest"}
    assert np.array_equal(other.leaves(ROWS, 1), expected)


@pytest.fixture
def regressor():
    X = np.random.default_rng(0).normal(size=(50, 3))
    return ObliqueForestRegressor(5, random_state=0).fit(X, X[:, 0])


def test_forest_for_servers_has_no_probabilities_of_values(regressor):
    with pytest.raises(AttributeError, match="got that of a regressor"):
        regressor.predictor_.predict_proba(np.zeros((2, 3)))


def test_packed_forests_refuse_questions_of_the_other_kind(predictor, regressor):
    """Leaves of values, read as leaves of classes, lie outside of their arrays."""
    scaler, rows = _core.Scaler.identity(3), np.zeros((2, 3), np.float32)
    values = regressor.fitted_forest_.packed_predictor.packed
    with pytest.raises(ValueError, match="has no classes"):
        values.predict_proba(rows, scaler, np.inf, False, 1, np.empty((2, 0)))
    with pytest.raises(ValueError, match="has no classes"):
        values.predict_class(rows, scaler, np.inf, False, 1, np.empty(2, np.int32))
    with pytest.raises(ValueError, match="has no values"):
        predictor.packed.predict_value(rows, scaler, np.inf, 1, np.empty(2))
