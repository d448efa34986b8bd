"""Sparse tables: the model and the predictions of the dense table of the same values."""

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
)
from bevel.forest import row_blocks


def make_rows(seed: int, n_rows: int = 120, n_columns: int = 12) -> sp.csr_array:
    """Counts, numbers of both signs, stored NaN and zeros, a constant and an empty column."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.15)
    dense[:, 1] = rng.poisson(0.2, n_rows)
    dense[:, 2] = 0.0
    dense[:, 3] = 4.0
    dense[rng.random(n_rows) < 0.1, 4] = np.nan
    rows = sp.csr_array(dense)
    rows.data[:3] = 0.0  # stored zeros
    return rows


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows."""
    monkeypatch.setattr(row_blocks, "MAX_VALUES", 100)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("model", "methods"),
    [
        (ObliqueForestClassifier(5, random_state=0), ("predict", "predict_proba", "apply")),
        (ObliqueForestRegressor(5, random_state=0, keep_targets=True), ("predict_interval",)),
        (ObliqueBoostingClassifier(max_iter=5, random_state=0), ("predict_proba", "apply")),
        (ObliqueBoostingRegressor(max_iter=5, random_state=0), ("predict",)),
        (ObliqueIsolationForest(5, random_state=0), ("score_samples",)),
    ],
    ids=lambda each: type(each).__name__ if hasattr(each, "fit") else "",
)
def test_rows_predicted_block_by_block_are_those_of_the_dense_table(
    model: Any, methods: tuple[str, ...]
) -> None:
    rows = make_rows(0)
    y = (np.arange(rows.shape[0]) % 3 == 0).astype(float)
    model.fit(rows.toarray(), y)
    for method in methods:
        expected = getattr(model, method)(rows.toarray())
        for form in (rows, rows.tocsc(), rows.tocoo(), sp.csr_matrix(rows)):
            np.testing.assert_array_equal(getattr(model, method)(form), expected)
    paths, offset = model.decision_path(rows)
    expected_paths, expected_offset = model.decision_path(rows.toarray())
    assert (paths != expected_paths).nnz == 0
    np.testing.assert_array_equal(offset, expected_offset)


@pytest.mark.usefixtures("small_blocks")
def test_stages_and_survival_curves_of_sparse_rows_are_those_of_the_dense_table() -> None:
    rows = make_rows(1)
    y = np.arange(rows.shape[0]) % 3
    model = ObliqueBoostingClassifier(max_iter=4, random_state=0).fit(rows.toarray(), y)
    stages = model.staged_decision_function(rows)
    for found, expected in zip(stages, model.staged_decision_function(rows.toarray()), strict=True):
        np.testing.assert_array_equal(found, expected)
    times = np.array([(each > 0, 1.0 + each) for each in y], dtype=[("e", bool), ("t", float)])
    curves = ObliqueSurvivalForest(5, random_state=0).fit(rows.toarray(), times)
    np.testing.assert_array_equal(
        curves.predict_survival_function(rows, return_array=True),
        curves.predict_survival_function(rows.toarray(), return_array=True),
    )


@pytest.mark.parametrize("common", [0.0, np.nan, 2.0])
def test_frames_of_sparse_columns_are_predicted_as_dense_ones(common: float) -> None:
    dense = make_rows(2).toarray()
    frame = pd.DataFrame(np.where(dense == 0.0, common, dense)).add_prefix("column ")
    sparse = frame.astype(pd.SparseDtype(float, common))
    y = np.arange(len(frame)) % 2
    model = ObliqueBoostingClassifier(max_iter=5, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(sparse), model.predict_proba(frame))


def test_a_number_too_large_is_reported_by_its_row_in_the_whole_table(small_blocks: None) -> None:
    rows = make_rows(3).tolil()
    model = ObliqueBoostingRegressor(max_iter=2).fit(rows.toarray(), np.arange(rows.shape[0]))
    rows[100, 7] = np.inf
    with pytest.raises(ValueError, match="column 7, row index 100"):
        model.predict(rows.tocsr())


def test_prediction_takes_the_memory_of_a_block() -> None:
    wide = sp.random_array((4000, 5000), density=0.001, format="csr", random_state=0)
    rng = np.random.default_rng(0)
    model = ObliqueForestRegressor(2, projection="axis", random_state=0)
    model.fit(wide[:50].toarray(), rng.normal(size=50))
    model.predict(wide)
    tracemalloc.start()
    model.predict(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    dense = 4 * wide.shape[0] * wide.shape[1]
    assert peak < dense / 2
