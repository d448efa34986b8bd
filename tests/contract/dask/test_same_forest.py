"""A forest grown on a cluster has the file of a local fit of the same rows, bit for bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.dask_problems import file_of, in_partitions, mixed_frame, numbers
from support.nominal_tables import n_level_terms, nominal_table

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel import projections as P
from bevel.dask import DaskObliqueForestClassifier, DaskObliqueForestRegressor

delayed = pytest.importorskip("dask", reason="needs bevel[dask]").delayed
da = pytest.importorskip("dask.array", reason="needs bevel[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")
clear_known_categories = pytest.importorskip("dask.dataframe.utils").clear_known_categories

pytestmark = pytest.mark.usefixtures("client")


BALANCED = {"class_weight": "balanced_subsample"}
SETTINGS = {
    "automatic": {"n_estimators": 60, "oob_score": True},
    "few trees, no comparison": {"n_estimators": 9},
    "votes": {"n_estimators": 13, "projection": "sparse", "voting": "hard", "oob_score": True},
    "balanced bags": {
        "n_estimators": 7,
        "projection": "axis",
        "class_weight": "balanced_subsample",
    },
    "rotations": {"n_estimators": 5, "projection": "rotation", "scale": "rank"},
    "models and axes": {"n_estimators": 6, "projection": [P.Ridge(), P.Axis()]},
    "own directions": {"n_estimators": 4, "projection": P.Custom(np.eye(4)[:, :3] + 1.0)},
    "no bags": {"n_estimators": 5, "projection": "cca", "max_leaf_nodes": 8},
    "one tree": {"n_estimators": 1, "projection": "combination", "calibration": None},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_classifier_on_mixed_columns_has_the_file_of_a_local_fit(name, tmp_path):
    X, y, weight = mixed_frame()
    sizes = [0, 150, 1, 0, 240, 9]
    local = ObliqueForestClassifier(**SETTINGS[name], random_state=3).fit(X, y, weight)
    grown = DaskObliqueForestClassifier(**SETTINGS[name], random_state=3).fit(
        in_partitions(X, sizes), in_partitions(y, sizes), in_partitions(weight, [399, 1])
    )
    assert file_of(grown, tmp_path) == file_of(local, tmp_path)
    if local.oob_score:
        np.testing.assert_array_equal(grown.oob_decision_function_, local.oob_decision_function_)


def test_forest_of_levels_and_means_of_the_target_has_the_file_of_a_local_fit(tmp_path):
    """Means are computed from all rows, whatever the partitions."""
    frame, y = nominal_table(400, n_places=120)
    local = ObliqueForestRegressor(30, random_state=0).fit(frame, y)
    assert n_level_terms(local) > 0
    assert local.fitted_forest_.encoding.means
    sizes = [100, 0, 299, 1]
    rows, targets = in_partitions(frame, sizes), in_partitions(pd.Series(y), [400])
    grown = DaskObliqueForestRegressor(30, random_state=0).fit(rows, targets)
    assert file_of(grown, tmp_path) == file_of(local, tmp_path)


@pytest.mark.parametrize("honest", [False, True])
@pytest.mark.parametrize("chunks", [(300, 5), (100, 2), (18, 5)])
def test_regressor_has_the_file_of_a_local_fit_for_any_chunks(chunks, honest, tmp_path):
    X, _, target = numbers()
    settings = {"n_estimators": 60, "keep_targets": True, "oob_score": True, "random_state": 1}
    settings["honest"] = honest
    local = ObliqueForestRegressor(**settings).fit(X, target)
    rows, targets = da.from_array(X, chunks=chunks), da.from_array(target, chunks=77)
    grown = DaskObliqueForestRegressor(**settings).fit(rows, targets)
    assert file_of(grown, tmp_path) == file_of(local, tmp_path)
    np.testing.assert_array_equal(grown.oob_prediction_, local.oob_prediction_)


def test_random_generator_is_used_as_in_a_local_fit():
    X, labels, _ = numbers()
    states = [np.random.RandomState(5), np.random.RandomState(5)]
    rows, classes = da.from_array(X, chunks=90), da.from_array(labels, chunks=90)
    for _ in range(2):
        local = ObliqueForestClassifier(3, projection="axis", random_state=states[0])
        grown = DaskObliqueForestClassifier(3, projection="axis", random_state=states[1])
        local.fit(X, labels)
        grown.fit(rows, classes)
        np.testing.assert_array_equal(grown.forest_.threshold, local.forest_.threshold)
    assert states[0].randint(1000) == states[1].randint(1000)


def test_frame_from_parquet_and_persisted_frame_have_the_file_of_a_local_fit(client, tmp_path):
    X, y, _ = mixed_frame()
    X.assign(answer=y).to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    frame = dd.read_parquet(tmp_path / "rows.parquet", split_row_groups=True)
    assert frame.npartitions > 1
    local = ObliqueForestClassifier(5, projection="sparse", random_state=0)
    expected = file_of(local.fit(frame.compute()[list(X)], frame["answer"].compute()), tmp_path)
    for each in (frame, client.persist(frame)):
        grown = DaskObliqueForestClassifier(5, projection="sparse", random_state=0)
        assert file_of(grown.fit(each[list(X)], each["answer"]), tmp_path) == expected
        assert len(each) == len(X)  # the user's own rows are still there


def test_categories_that_are_unknown_or_differ_by_partition_give_the_file_of_a_local_fit(tmp_path):
    X, y, _ = mixed_frame()
    X["city"] = X["city"].astype(str)
    parts = [X.iloc[:200], X.iloc[200:]]
    differing = [part.assign(city=part["city"].astype("category")) for part in parts]
    differing[1] = differing[1].assign(city=differing[1]["city"].cat.add_categories(["Ulm"]))
    meta = clear_known_categories(differing[0].iloc[:0])
    unknown = dd.from_delayed([delayed(part) for part in differing], meta=meta)
    assert not unknown["city"].cat.known
    local = ObliqueForestClassifier(5, projection="sparse", random_state=0)
    expected = file_of(local.fit(pd.concat(parts), y), tmp_path)
    for each in (unknown, unknown.categorize(columns=["city"])):
        grown = DaskObliqueForestClassifier(5, projection="sparse", random_state=0)
        assert file_of(grown.fit(each, in_partitions(y, [399, 1])), tmp_path) == expected
