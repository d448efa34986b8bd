"""Sparse tables: the model and the predictions of the dense table of the same values."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
    ObliqueIsolationForest,
    ObliqueSurvivalForest,
)
from bevel.data import dataset, encoding, sparse_columns
from bevel.forest import row_blocks
from bevel.training import forest_fit, trainer
from bevel.training.automatic import plan_families


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


@pytest.mark.usefixtures("small_blocks")
def test_a_number_too_large_is_reported_by_its_row_in_the_whole_table() -> None:
    rows = make_rows(3).tolil()
    model = ObliqueBoostingRegressor(max_iter=2).fit(rows.toarray(), np.arange(rows.shape[0]))
    rows[100, 7] = np.inf
    with pytest.raises(ValueError, match="column 7, row index 100"):
        model.predict(rows.tocsr())


def test_prediction_takes_the_memory_of_a_block() -> None:
    wide = sp.random_array((2000, 6000), density=0.001, format="csr", random_state=0)
    rng = np.random.default_rng(0)
    model = ObliqueForestRegressor(2, projection="axis", random_state=0)
    model.fit(wide[:50].toarray(), rng.normal(size=50))
    model.predict(wide)
    tracemalloc.start()
    model.predict(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    dense = 4 * wide.shape[0] * wide.shape[1]
    assert peak < 0.7 * dense


def trees_of(model: Any) -> dict[str, bytes]:
    """All arrays of the trees, and what rows are read by."""
    fitted = model.fitted_forest_
    arrays = {name: np.asarray(array).tobytes() for name, array in fitted.forest.arrays().items()}
    return {**arrays, "medians": fitted.encoding.medians.tobytes()}


def assert_same_model(model: Any, rows: Any, y: Any, **fit: Any) -> None:
    """The trees of sparse rows are those of the dense ones, with any number of threads."""
    dense = clone(model).fit(rows.toarray(), y, **fit)
    for n_jobs in (1, 2):
        sparse = clone(model).set_params(n_jobs=n_jobs)
        with only_sparse():
            sparse.fit(rows, y, **fit)
        assert trees_of(sparse) == trees_of(dense)


@contextmanager
def only_sparse() -> Iterator[None]:
    """No table may be made dense."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (dataset, encoding):
            patch.setattr(module, "allocate", lambda *_: pytest.fail("a table is made dense"))
        yield


BOOSTED = [
    {"projection": "axis"},
    {"projection": "auto"},
    {"projection": "sparse", "scale": "minmax", "max_bins": 4, "min_samples_leaf": 1},
    {"projection": "axis", "n_projections": 3, "subsample": 0.5, "scale": "rank"},
    {"projection": "combination", "scale": "standard"},
    {"early_stopping": True, "monotonic_cst": [1, 0, 0, 0, -1] + [0] * 7},
    {"interaction_cst": [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8, 9, 10, 11]]},
]


@pytest.mark.parametrize("settings", BOOSTED, ids=str)
@pytest.mark.parametrize(("seed", "n_rows"), [(0, 1), (1, 17), (2, 150), (3, 900)])
def test_boosting_on_sparse_columns_grows_the_trees_of_the_dense_table(
    settings: dict[str, Any], seed: int, n_rows: int
) -> None:
    rows = make_rows(seed, n_rows)
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows) + np.nan_to_num(rows.toarray()[:, [0, 4, 5]]).sum(axis=1)
    weights = rng.integers(0, 3, n_rows).astype(float) + (n_rows == 1)
    if n_rows < 100:
        settings = {**settings, "early_stopping": False}
    model = ObliqueBoostingRegressor(max_iter=6, random_state=seed, **settings)
    assert_same_model(model, rows, y)
    assert_same_model(model, rows, y, sample_weight=weights)


def test_boosting_of_several_classes_and_of_many_bins_on_sparse_columns() -> None:
    rows = sp.random_array((2000, 30), density=0.1, format="csr", rng=0)
    y = (np.arange(2000) % 7 + 3 * (rows.toarray()[:, 0] > 0)) // 3
    model = ObliqueBoostingClassifier(max_iter=4, max_leaf_nodes=40, random_state=0)
    assert_same_model(model, rows, y)


@pytest.mark.parametrize("common", [np.nan, 2.0])
def test_boosting_on_frames_with_other_fill_values(common: float) -> None:
    dense = make_rows(4, 300).toarray()
    frame = pd.DataFrame(np.where(dense == 0.0, common, dense)).add_prefix("x")
    sparse = frame.astype(pd.SparseDtype(float, common))
    y = np.nan_to_num(dense[:, 0]) + np.arange(300) % 2
    for projection in ("axis", "auto"):
        model = ObliqueBoostingRegressor(max_iter=5, projection=projection, random_state=0)
        with only_sparse():
            found = clone(model).fit(sparse, y)
        assert trees_of(found) == trees_of(model.fit(frame, y))
        assert list(found.feature_names_in_) == list(frame.columns)


def test_validation_rows_and_a_warm_start_on_sparse_columns() -> None:
    rows, y = make_rows(5, 400), np.arange(400) % 3
    for train, validation in ((rows, rows[:90]), (rows, rows[:90].toarray())):
        model = ObliqueBoostingRegressor(max_iter=6, linear_leaves=False, random_state=0)
        dense = clone(model).fit(rows.toarray(), y, X_val=rows[:90].toarray(), y_val=y[:90])
        model.fit(train, y, X_val=validation, y_val=y[:90])
        assert trees_of(model) == trees_of(dense)
        np.testing.assert_array_equal(model.predict_interval(rows), dense.predict_interval(rows))
    grown = ObliqueBoostingRegressor(max_iter=3, random_state=0, warm_start=True)
    grown.set_params(early_stopping=False)
    other = clone(grown).fit(rows.toarray(), y).set_params(max_iter=5).fit(rows.toarray(), y)
    with only_sparse():
        grown.fit(rows, y).set_params(max_iter=5).fit(rows, y)
    assert trees_of(grown) == trees_of(other)


def test_a_sparse_fit_takes_memory_in_proportion_to_the_stored_entries() -> None:
    rows = sp.random_array((3000, 6000), density=0.002, format="csr", rng=0)
    y = np.asarray(rows[:, :50].sum(axis=1))
    tracemalloc.start()
    ObliqueBoostingRegressor(max_iter=2, projection="axis", early_stopping=False).fit(rows, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    stored = rows.data.nbytes + rows.indices.nbytes
    assert peak < 8 * stored < rows.shape[0] * rows.shape[1] * 4 / 10


FORESTS = [
    {"projection": "axis"},
    {"projection": "sparse", "scale": "minmax", "min_samples_leaf": 3, "max_leaf_nodes": 9},
    {"projection": "combination", "split_search": "histogram"},
    {"projection": ["axis", "sparse"]},
    {"projection": "axis", "threshold": "random"},
]


@pytest.mark.parametrize("settings", FORESTS, ids=str)
@pytest.mark.parametrize(("seed", "n_rows"), [(0, 1), (1, 17), (2, 300)])
def test_forests_on_sparse_columns_grow_the_trees_of_the_dense_table(
    settings: dict[str, Any], seed: int, n_rows: int
) -> None:
    rows = make_rows(seed, n_rows)
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows) + np.nan_to_num(rows.toarray()[:, [0, 4, 5]]).sum(axis=1)
    weights = rng.integers(0, 3, n_rows).astype(float) + (n_rows == 1)
    model = ObliqueForestRegressor(5, random_state=seed, **settings)
    assert_same_model(model, rows, y, sample_weight=weights)
    assert_same_model(ObliqueForestClassifier(5, random_state=seed, **settings), rows, y > 0.3)


def test_out_of_bag_predictions_of_sparse_rows_are_those_of_dense_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sparse_columns, "BLOCK_SIZE", 300)
    rows, y = make_rows(6, 200), np.arange(200) % 3
    model = ObliqueForestClassifier(
        20, projection="sparse", oob_score=True, calibration="power", random_state=0
    )
    dense = clone(model).fit(rows.toarray(), y)
    with only_sparse():
        model.fit(rows, y)
    np.testing.assert_array_equal(model.oob_decision_function_, dense.oob_decision_function_)
    assert model.oob_score_ == dense.oob_score_
    np.testing.assert_array_equal(model.predict_proba(rows), dense.predict_proba(rows))


def test_auto_takes_the_families_that_work_on_columns_of_a_large_sparse_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sparse_columns, "BLOCK_SIZE", 300)
    rows = make_rows(7, 400)
    y = (np.nan_to_num(rows.toarray()[:, [0, 4, 5]]).sum(axis=1) > 0.1).astype(int)
    model = ObliqueForestClassifier(60, random_state=0)
    small = clone(model).fit(rows, y)
    assert trees_of(small) == trees_of(clone(model).fit(rows.toarray(), y))
    monkeypatch.setattr(forest_fit, "MOST_DENSE_FOR_ALL_FAMILIES", 1000)
    with only_sparse():
        sparse = clone(model).fit(rows, y)
    left_out = dict(sparse.families_.left_out)
    assert "the table is sparse" in left_out["lda"]
    # The dense table, with the same families.
    same_families = partial(plan_families, sparse=True)
    monkeypatch.setattr(forest_fit, "plan_families", lambda *given, **_: same_families(*given))
    dense = clone(model).fit(rows.toarray(), y)
    assert trees_of(sparse) == trees_of(dense)
    np.testing.assert_array_equal(sparse.predict_proba(rows), dense.predict_proba(rows))


@pytest.mark.parametrize("model", [ObliqueForestRegressor, ObliqueBoostingRegressor])
def test_a_projection_that_needs_dense_rows_is_refused_on_a_very_large_sparse_table(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, y = make_rows(8), np.arange(120) % 5
    turned = model(3, projection="rotation") if "Forest" in model.__name__ else model()
    turned.set_params(projection="rotation", random_state=0)
    dense = clone(turned).fit(rows.toarray(), y)
    assert trees_of(clone(turned).fit(rows, y)) == trees_of(dense)  # small: made dense
    monkeypatch.setattr(trainer, "MOST_DENSE", 1000)
    with pytest.raises(ValueError, match=r'projection must be "axis", "sparse".*GiB.*TruncatedSVD'):
        clone(turned).fit(rows, y)
    clone(turned).set_params(projection="sparse").fit(rows, y)


def test_nominal_columns_are_refused_in_sparse_tables() -> None:
    with pytest.raises(TypeError, match="column 2 of a sparse one"):
        ObliqueBoostingRegressor(categorical_features=[2]).fit(make_rows(9), np.arange(120))


@pytest.mark.parametrize("seed", range(12))
def test_missing_values_on_the_left_of_monotone_columns(seed: int) -> None:
    """A cut of the missing values alone, in nodes without rows in the lowest bin."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 5, (150, 6)) * (rng.random((150, 6)) < 0.16)
    table = np.where(rng.random((150, 6)) < 0.12, np.nan, dense - (dense == 4) * 9.0)
    slope = rng.normal(size=6)
    y = np.nan_to_num(table, nan=rng.choice([-9.0, 9.0])) @ slope + rng.normal(size=150)
    model = ObliqueBoostingRegressor(
        max_iter=8,
        projection="axis",
        min_samples_leaf=1,
        monotonic_cst=[1, -1, 1, -1, 1, -1],
        early_stopping=False,
        random_state=0,
    )
    rows = sp.csr_array(table)
    with only_sparse():
        found = clone(model).fit(rows, y)
    assert trees_of(found) == trees_of(model.fit(rows.toarray(), y))
