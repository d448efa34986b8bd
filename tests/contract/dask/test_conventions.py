"""The estimators on a cluster keep scikit-learn's conventions, and refuse what they cannot do."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support.dask_problems import in_partitions, mixed_frame, numbers

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.dask import DaskObliqueForestClassifier, DaskObliqueForestRegressor
from bevel.dask import cluster as cluster_module

da = pytest.importorskip("dask.array", reason="needs bevel[dask]")
distributed = pytest.importorskip("distributed", reason="needs bevel[dask]")

PAIRS = [
    (DaskObliqueForestClassifier, ObliqueForestClassifier),
    (DaskObliqueForestRegressor, ObliqueForestRegressor),
]


@pytest.mark.parametrize(("remote", "local"), PAIRS)
def test_parameters_are_those_of_the_local_estimator_and_two_more(remote, local):
    of_remote, of_local = inspect.signature(remote).parameters, inspect.signature(local).parameters
    assert list(of_remote) == [*of_local, "mode", "client"]
    assert all(of_remote[name] == of_local[name] for name in of_local)
    assert remote(7, max_depth=3).get_params()["max_depth"] == 3
    assert f"max_depth : {'None'}" in remote.__doc__
    with pytest.raises(TypeError, match="has no parameter 'trees'"):
        remote(trees=3)


def test_clone_keeps_the_client_and_pickle_leaves_it_out(client):
    estimator = DaskObliqueForestClassifier(5, client=client, projection="sparse")
    copy = clone(estimator.set_params(max_depth=2))
    assert copy.client is client
    assert copy.get_params() == estimator.get_params()
    loaded = pickle.loads(pickle.dumps(estimator))
    assert loaded.client is None
    assert loaded.max_depth == 2
    assert "DaskObliqueForestClassifier" in estimator._repr_html_()


def test_fitted_estimator_is_pickled_without_its_cluster_and_becomes_local(client):
    X, labels, _ = numbers()
    rows, classes = da.from_array(X, chunks=90), da.from_array(labels, chunks=90)
    grown = DaskObliqueForestClassifier(4, random_state=0, client=client).fit(rows, classes)
    grown.predict(rows)
    loaded = pickle.loads(pickle.dumps(grown))
    local = loaded.to_local()
    assert type(local) is ObliqueForestClassifier
    np.testing.assert_array_equal(local.predict(X), grown.predict(rows).compute())
    np.testing.assert_array_equal(local.classes_, [0, 1, 2])
    assert grown.feature_importances_.shape == (5,)
    assert grown.client_ is client


def test_without_a_client_or_with_a_closed_one_fit_says_what_to_start(cluster):
    rows, classes = da.zeros((10, 2)), da.zeros(10)
    with pytest.raises(ValueError, match="there is no current one"):
        DaskObliqueForestClassifier(2).fit(rows, classes)
    closed = distributed.Client(cluster)
    closed.close()
    with pytest.raises(ValueError, match="got one that is closed"):
        DaskObliqueForestClassifier(2, client=closed).fit(rows, classes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "spread"}, 'mode must be "auto", "replicated" or "sharded"; got'),
        ({"warm_start": True}, "warm_start must be False on a cluster"),
        ({"max_depth": 0}, "max_depth must be"),
        ({"projection": "sideways"}, "projection must be"),
        ({"projection": P.Custom(lambda *_: np.eye(2))}, "workers can import"),
    ],
)
def test_wrong_parameters_raise_before_anything_is_computed(settings, message, client):
    never = da.map_blocks(_raise, da.zeros((10, 2)), dtype=float, meta=np.zeros((0, 0)))
    with pytest.raises(ValueError, match=message):
        DaskObliqueForestClassifier(2, client=client, **settings).fit(never, da.zeros(10))


def _raise(_):
    raise AssertionError("computed")


def test_rows_that_do_not_match_or_are_not_dask_raise(client):
    frame, y, _ = mixed_frame()
    estimator = DaskObliqueForestClassifier(2, client=client)
    rows, labels = in_partitions(frame, [200, 200]), in_partitions(y, [200, 200])
    with pytest.raises(TypeError, match="X must be a Dask array or data frame"):
        estimator.fit(frame, labels)
    with pytest.raises(TypeError, match="y must be a Dask array or series"):
        estimator.fit(rows, y)
    with pytest.raises(ValueError, match="same number of rows; got 400, 399"):
        estimator.fit(rows, in_partitions(y.iloc[1:], [399]))
    with pytest.raises(ValueError, match="X must have two dimensions"):
        estimator.fit(da.zeros(10), da.zeros(10))
    with pytest.raises(NotFittedError):
        estimator.predict(rows)


def test_error_of_a_worker_is_that_of_a_local_fit_and_leaves_no_forest(client):
    X, labels, _ = numbers()
    X[123, 1] = np.inf
    estimator = DaskObliqueForestClassifier(2, client=client, scale=None)
    with pytest.raises(ValueError, match="got inf in column 1, row index 123"):
        estimator.fit(da.from_array(X, chunks=100), da.from_array(labels, chunks=100))
    assert not hasattr(estimator, "_fitted")


def test_warnings_of_workers_reach_the_user(client):
    X, labels, _ = numbers()
    rows, classes = da.from_array(X, chunks=90), da.from_array(labels, chunks=90)
    estimator = DaskObliqueForestClassifier(
        2, projection="axis", oob_score=True, random_state=0, client=client
    )
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        estimator.fit(rows, classes)
    X[:, 0] = 1e9 + np.arange(len(X)) % 7 * 1e-3
    with pytest.warns(bevel.PrecisionWarning, match="become equal in float32"):
        estimator.set_params(scale=None, oob_score=False).fit(da.from_array(X), classes)


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("replicated", r"needs a worker with a memory limit of .* has 2\.00 GiB"),
        ("auto", r"needs workers with memory limits of .* have 4\.00 GiB"),
    ],
)
def test_table_that_workers_cannot_hold_raises_before_it_is_computed(mode, message, client):
    rows = da.zeros((200_000_000, 20), chunks=(1_000_000, 20))
    estimator = DaskObliqueForestClassifier(2, client=client, mode=mode)
    with pytest.raises(MemoryError, match=message):
        estimator.fit(rows, da.zeros(200_000_000))


def test_cluster_without_workers_raises_after_a_while(monkeypatch):
    monkeypatch.setattr(cluster_module, "SECONDS_WITHOUT_WORKERS", 0.2)
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
        ) as empty,
        distributed.Client(empty, set_as_default=False) as client,
        pytest.raises(RuntimeError, match="has had none for"),
    ):
        DaskObliqueForestClassifier(2, client=client).fit(da.zeros((10, 2)), da.zeros(10))


def test_progress_counts_the_trees(client):
    X, labels, _ = numbers()
    seen = []
    DaskObliqueForestClassifier(
        20, projection="axis", client=client, callback=lambda *counts: seen.append(counts)
    ).fit(da.from_array(X, chunks=90), da.from_array(labels, chunks=90))
    assert seen == sorted(seen)
    assert seen[-1] == (20, 20)


def test_without_dask_the_estimator_can_be_shown_and_fit_names_the_command():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['dask', 'distributed']));"
        "from bevel.dask import DaskObliqueForestClassifier as D;"
        "d = D(3); d._repr_html_(); print(d)\n"
        "try: d.fit([[0.0]], [0])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "DaskObliqueForestClassifier(n_estimators=3)" in done.stdout
    assert "python -m pip install 'bevel[dask]'" in done.stdout
