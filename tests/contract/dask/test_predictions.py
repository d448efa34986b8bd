"""Predictions of Dask collections are lazy, of the same kind, and those of the local estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.dask_problems import in_partitions, mixed_frame, numbers

from bevel.dask import DaskObliqueForestClassifier, DaskObliqueForestRegressor
from bevel.dask import prediction as prediction_module

da = pytest.importorskip("dask.array", reason="needs bevel[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")


@pytest.fixture
def of_frame(client):
    X, y, _ = mixed_frame()
    parts = in_partitions(X, [0, 100, 300]), in_partitions(y, [0, 100, 300])
    fitted = DaskObliqueForestClassifier(12, projection="sparse", random_state=0, client=client)
    return fitted.fit(*parts), X, y, *parts


@pytest.fixture
def of_array(client):
    X, _, target = numbers()
    parts = da.from_array(X, chunks=(120, 3)), da.from_array(target, chunks=100)
    fitted = DaskObliqueForestRegressor(
        12, projection="sparse", random_state=0, keep_targets=True, client=client
    )
    return fitted.fit(*parts), X, target, *parts


def test_frame_gives_series_and_frames_with_its_index_and_types(of_frame):
    grown, X, y, frame, labels = of_frame
    local = grown.to_local()
    predicted = grown.predict(frame)
    assert isinstance(predicted, dd.Series)
    values = predicted.compute()
    pd.testing.assert_series_equal(values, pd.Series(local.predict(X), name="prediction"))
    assert predicted.dtype == values.dtype
    for method in ("predict_proba", "predict_log_proba"):
        shares = getattr(grown, method)(frame)
        assert isinstance(shares, dd.DataFrame)
        assert list(shares.columns) == ["no", "yes"]
        np.testing.assert_array_equal(shares.compute(), getattr(local, method)(X))
    leaves = grown.apply(frame)
    assert set(leaves.dtypes) == {np.dtype(np.int32)}
    np.testing.assert_array_equal(leaves.compute(), local.apply(X))
    assert grown.score(frame, labels) == pytest.approx(local.score(X, y))


def test_array_gives_arrays_of_known_shape(of_array):
    grown, X, target, rows, targets = of_array
    local = grown.to_local()
    predicted = grown.predict(rows)
    assert isinstance(predicted, da.Array)
    assert predicted.shape == (300,)
    assert predicted.dtype == np.float64
    np.testing.assert_array_equal(predicted.compute(), local.predict(X))
    assert grown.apply(rows).shape == (300, 12)
    np.testing.assert_array_equal(grown.apply(rows).compute(), local.apply(X))
    weights = np.linspace(0.0, 2.0, 300)
    for weight in (None, weights):
        lazy = None if weight is None else da.from_array(weight, chunks=50)
        expected = local.score(X, target, weight)
        assert grown.score(rows, targets, lazy) == pytest.approx(expected, rel=1e-12)


def test_quantiles_and_intervals_are_those_of_the_local_regressor(of_array):
    grown, X, _, rows, _ = of_array
    local = grown.to_local()
    for levels in (0.5, [0.1, 0.9]):
        found = grown.predict_quantiles(rows, levels)
        expected = local.predict_quantiles(X, levels)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.compute(), expected)
    ends = grown.predict_interval(rows, 0.8).compute()
    np.testing.assert_array_equal(ends, local.predict_interval(X, 0.8))


def test_array_of_unknown_chunks_and_one_without_rows_are_predicted(of_array):
    grown, X, _, rows, _ = of_array
    some = rows[rows[:, 0] > 1.0]
    assert np.isnan(some.shape[0])
    expected = grown.to_local().predict(X[X[:, 0] > 1.0])
    np.testing.assert_array_equal(grown.predict(some).compute(), expected)
    assert grown.predict(rows[rows[:, 0] > 100.0]).compute().shape == (0,)


def test_large_model_is_sent_once_and_predicts_alike(of_array, monkeypatch):
    grown, X, _, rows, _ = of_array
    monkeypatch.setattr(prediction_module, "MAX_IN_GRAPH", 0)
    first, second = grown.predict(rows), grown.apply(rows)
    assert grown._send(grown._model()) is grown._send(grown._model())
    np.testing.assert_array_equal(first.compute(), grown.to_local().predict(X))
    np.testing.assert_array_equal(second.compute(), grown.to_local().apply(X))


def test_predictions_need_no_cluster(of_array):
    grown, X, _, rows, _ = of_array
    grown.client = None
    values = grown.predict(rows).compute(scheduler="sync")
    np.testing.assert_array_equal(values, grown.to_local().predict(X))


def test_other_columns_raise_before_anything_runs(of_frame, of_array):
    with pytest.raises(ValueError, match="columns of fit in their order"):
        of_frame[0].predict(of_frame[3][["b", "a", "c", "d", "city", "word"]])
    with pytest.raises(ValueError, match="the 5 columns of fit; got a Dask array with 4"):
        of_array[0].predict(of_array[3][:, :4])
    with pytest.raises(TypeError, match="X must be a Dask array or data frame"):
        of_array[0].predict(of_array[1])
    with pytest.raises(TypeError, match=r"Pass X\.compute"):
        of_array[0].decision_path(of_array[3])


def test_score_with_other_partitions_raises(of_frame):
    grown, _, y, frame, _ = of_frame
    with pytest.raises(ValueError, match="3 partitions of X; got 2"):
        grown.score(frame, in_partitions(y, [200, 200]))
    with pytest.raises(ValueError, match="same rows in each part"):
        grown.score(frame, in_partitions(y, [0, 200, 200]))
