"""Sparse columns against the dense matrix of the same values."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from bevel import ObliqueForestRegressor, _core
from bevel.data import sparse_columns
from bevel.data.sparse_columns import SparseColumns, exceptions_of, read_sparse
from bevel.data.tables import SparseTable
from bevel.forest.row_blocks import sums_of_rows


def make_dense(seed: int, n_rows: int = 40, n_columns: int = 7) -> np.ndarray:
    """Ties, NaN, an empty and a full column."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(-2, 3, (n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.4)
    dense = dense.astype(np.float32)
    dense[rng.random(n_rows) < 0.2, 0] = np.nan
    dense[:, 1] = 0.0
    dense[:, 2] = rng.normal(size=n_rows)
    return dense


def dense_of(columns: SparseColumns) -> np.ndarray:
    return np.concatenate(list(columns.blocks()))


@pytest.mark.parametrize("common", [0.0, 1.0, np.nan, -2.0])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 40, 41])
def test_medians_and_missing_values_are_those_of_the_dense_columns(
    common: float, n_rows: int
) -> None:
    dense = make_dense(n_rows, n_rows)
    columns = exceptions_of(dense, np.full(7, common, np.float32))
    np.testing.assert_array_equal(dense_of(columns), dense)
    found = columns.native.summarise(2)
    expected = _core.summarise_columns(np.asfortranarray(dense), np.zeros(7, np.int32), 2)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_are_taken_appended_and_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_columns, "BLOCK_SIZE", 20)
    dense, more = make_dense(0), make_dense(1, 13)
    common = np.zeros(7, np.float32)
    columns = exceptions_of(dense, common)
    kept = np.arange(40) % 3 == 1
    np.testing.assert_array_equal(dense_of(columns.take(kept)), dense[kept])
    np.testing.assert_array_equal(np.concatenate(list(columns.blocks(kept))), dense[kept])
    joined = columns.append(exceptions_of(more, common))
    np.testing.assert_array_equal(dense_of(joined), np.concatenate([dense, more]))
    assert joined.shape == (53, 7)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
def test_numbers_are_scaled_as_those_of_the_dense_matrix(kind: type) -> None:
    matrix = sp.csr_array(np.nan_to_num(make_dense(2)).astype(kind))
    low, high = np.linspace(-1.0, 0.5, 7), np.linspace(0.5, 2.0, 7)
    scaler = _core.Scaler.quantile(low, high)
    expected = np.empty(matrix.shape, np.float32)
    scaler.transform(matrix.toarray().astype(np.float64), 0, 1, expected)
    np.testing.assert_array_equal(dense_of(read_sparse(SparseTable(matrix), scaler)), expected)


def test_entries_that_occur_twice_are_added_and_the_users_matrix_stays() -> None:
    twice = sp.csc_array(
        (np.array([1.0, 2.0, -0.0]), np.array([2, 2, 0]), np.array([0, 2, 3])), shape=(3, 2)
    )
    table = SparseTable(twice)
    found = read_sparse(table, _core.Scaler.identity(2))
    np.testing.assert_array_equal(dense_of(found), twice.toarray())
    assert not np.signbit(found.values).any()
    assert twice.nnz == 3


@pytest.mark.parametrize("step", [1, 3])
def test_out_of_bag_sums_of_parts_are_those_of_all_rows(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse_columns, "BLOCK_SIZE", 50)
    dense = np.nan_to_num(make_dense(3, 100))
    columns = exceptions_of(dense, np.zeros(7, np.float32))
    model = ObliqueForestRegressor(6, projection="axis", random_state=0)
    fitted = model.fit(dense, dense.sum(axis=1)).fitted_forest_
    view, forest = fitted.packed_predictor.view, fitted.forest
    how = (fitted.provenance.bags.native_options(), 0, False, 1, (0, 6), None)
    pruned = (forest.weight, np.array([1, 9], np.int64), step)

    def predict(X: np.ndarray, rows: tuple[int, int] | None, n_rows: int | None) -> Any:
        return view.pruned_out_of_bag(X, *how, *pruned, rows, None, n_rows)

    for rows in (None, (5, 25)):
        found = sums_of_rows(predict, columns, rows, step)
        expected = predict(np.asfortranarray(dense), rows, None)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
