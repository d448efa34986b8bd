"""What workers do, without a cluster."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from bevel import ObliqueForestClassifier, ObliqueForestRegressor
from bevel.dask.parts import column_parts, join_parts
from bevel.dask.tasks import join_all, measure_part
from bevel.forest.flat_forest import take_trees
from bevel.forest.training_rows import predict_out_of_bag


@pytest.mark.parametrize("nominal", [False, True])
def test_joined_parts_of_a_forest_are_the_forest(nominal):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    if nominal:
        X["d"] = rng.choice(["x", "y", "z"], 80)
    y = (X["a"] > 0).to_numpy().astype(int)
    forest = ObliqueForestClassifier(7, projection="axis", random_state=0).fit(X, y)
    whole = forest.fitted_forest_.forest
    parts = [take_trees(whole, trees) for trees in ([0], [1, 2, 3], [4, 5], [6])]
    for name, array in join_all(parts).arrays().items():
        np.testing.assert_array_equal(array, whole.arrays()[name], err_msg=name)


def test_empty_parts_have_no_say_in_the_types_of_columns():
    pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")
    empty = pd.DataFrame({"a": np.array([], dtype=object)})
    joined = join_parts([empty, pd.DataFrame({"a": [1, 2]}), empty, pd.DataFrame({"a": [3]})])
    assert joined["a"].dtype == np.int64
    assert joined["a"].tolist() == [1, 2, 3]
    assert len(join_parts([empty, empty])) == 0


def test_parts_are_measured_with_their_text():
    assert measure_part(np.zeros((5, 3), np.float32)) == (5, 3, 60)
    assert measure_part(pd.Series([1.0, 2.0])) == (2, 1, 16)
    n_rows, n_columns, n_bytes = measure_part(pd.DataFrame({"a": [0.0], "b": ["x" * 1000]}))
    assert (n_rows, n_columns) == (1, 2)
    assert n_bytes > 1000


@pytest.mark.parametrize("kind", [ObliqueForestClassifier, ObliqueForestRegressor])
def test_out_of_bag_predictions_of_some_rows_are_those_of_all(kind):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(60, 3)).astype(np.float32))
    y = (X[:, 0] > 0).astype(float) if kind is ObliqueForestRegressor else X[:, 0] > 0
    weights = rng.integers(0, 3, 60).astype(float)
    forest = kind(5, projection="sparse", scale=None, random_state=0).fit(X, y, weights)
    whole = predict_out_of_bag(forest.fitted_forest_, X, 1, weights)
    bounds = [0, 0, 7, 41, 60]
    parts = [
        predict_out_of_bag(forest.fitted_forest_, X, 2, weights, rows)
        for rows in itertools.pairwise(bounds)
    ]
    for name in ("predictions", "known"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(whole, name))


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_several_targets_are_refused_with_what_is_possible(kind: str) -> None:
    arrays = pytest.importorskip("dask.array", reason="needs bevel[dask]")
    frames = pytest.importorskip("dask.dataframe", reason="needs bevel[dask]")
    values = np.zeros((4, 2))
    y = {
        "array": lambda: arrays.from_array(values),
        "frame": lambda: frames.from_pandas(pd.DataFrame(values, columns=["a", "b"])),
    }[kind]()
    with pytest.raises((TypeError, ValueError), match="fit a forest for each, or the local"):
        column_parts("y", y)
