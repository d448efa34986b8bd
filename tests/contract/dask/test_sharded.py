"""Growth over blocks at workers gives the file of a local fit over blocks, bit for bit."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from support.dask_problems import (
    file_of,
    gather_few_rows,
    in_partitions,
    mixed_frame,
    numbers,
)

import bevel
from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.dask import DaskObliqueForestClassifier, DaskObliqueForestRegressor

delayed = pytest.importorskip("dask", reason="needs bevel[dask]").delayed
da = pytest.importorskip("dask.array", reason="needs bevel[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")
clear_known_categories = pytest.importorskip("dask.dataframe.utils").clear_known_categories

pytestmark = pytest.mark.usefixtures("client")


def test_classifier_on_mixed_columns_has_the_file_of_a_local_fit_over_blocks(tmp_path, monkeypatch):
    gather_few_rows(monkeypatch)
    X, y, weight = mixed_frame()
    settings = {"n_estimators": 20, "oob_score": True, "random_state": 3}
    table = bevel.scan(X, target=y, weight=weight, block_rows=100)
    local = ObliqueForestClassifier(**settings).fit(table)
    for sizes in ([400], [0, 150, 1, 0, 240, 9]):
        grown = DaskObliqueForestClassifier(**settings, mode="sharded").fit(
            in_partitions(X, sizes), in_partitions(y, [180, 220]), in_partitions(weight, [399, 1])
        )
        assert file_of(grown, tmp_path) == file_of(local, tmp_path)
        np.testing.assert_array_equal(grown.oob_decision_function_, local.oob_decision_function_)


def test_categories_that_are_unknown_and_differ_give_the_file_of_a_local_fit(tmp_path, monkeypatch):
    gather_few_rows(monkeypatch)
    X, y, _ = mixed_frame()
    X["city"] = X["city"].astype(str)
    parts = [X.iloc[:200], X.iloc[200:]]
    differing = [part.assign(city=part["city"].astype("category")) for part in parts]
    differing[1] = differing[1].assign(city=differing[1]["city"].cat.add_categories(["Ulm"]))
    meta = clear_known_categories(differing[0].iloc[:0])
    unknown = dd.from_delayed([delayed(part) for part in differing], meta=meta)
    settings = {"n_estimators": 5, "random_state": 0}
    local = ObliqueForestClassifier(**settings).fit(bevel.scan(X, target=y))
    grown = DaskObliqueForestClassifier(**settings, mode="sharded")
    grown.fit(unknown, in_partitions(y, [399, 1]))
    assert file_of(grown, tmp_path) == file_of(local, tmp_path)


def test_regressor_has_the_file_of_a_local_fit_over_blocks(tmp_path, monkeypatch):
    gather_few_rows(monkeypatch)
    X, _, target = numbers()
    settings = {"n_estimators": 5, "projection": "axis", "random_state": 1, "scale": "quantile"}
    local = ObliqueForestRegressor(**settings).fit(bevel.scan(X, target=target))
    rows, targets = da.from_array(X, chunks=(70, 2)), da.from_array(target, chunks=77)
    grown = DaskObliqueForestRegressor(**settings, mode="sharded").fit(rows, targets)
    assert file_of(grown, tmp_path) == file_of(local, tmp_path)


def test_worker_that_is_killed_during_sharded_growth_changes_nothing(client, tmp_path, monkeypatch):
    gather_few_rows(monkeypatch)
    X, labels, _ = numbers(600)
    settings = {"n_estimators": 30, "projection": "sparse", "random_state": 1}
    killed = []

    def kill_once(*_):
        if not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    local = ObliqueForestClassifier(**settings).fit(bevel.scan(X, target=labels))
    rows, classes = da.from_array(X, chunks=90), da.from_array(labels, chunks=90)
    grown = DaskObliqueForestClassifier(**settings, mode="sharded", callback=kill_once)
    grown.fit(rows, classes)
    grown.callback = None
    assert killed
    assert file_of(grown, tmp_path) == file_of(local, tmp_path)


def test_projection_that_looks_at_rows_raises():
    X, labels, _ = numbers()
    rows, classes = da.from_array(X, chunks=90), da.from_array(labels, chunks=90)
    with pytest.raises(ValueError, match="without looking at rows"):
        DaskObliqueForestClassifier(3, projection="lda", mode="sharded").fit(rows, classes)
