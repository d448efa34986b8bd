"""ONNX models of forests drawn at random, node by node: what training seldom or never grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.huge_numbers import huge_forest, huge_rows, naive_answers
from support.random_forests import random_forest, random_rows

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from support.fitted_forests import fitted_forest
from support.onnx_models import Exported

from bevel.data.encoding import MAX_STORED
from bevel.export.onnx import leaves
from bevel.export.onnx.leaves import WalkRoute
from bevel.export.onnx.splits import Splits
from bevel.forest.aggregation import MeanOfTrees
from bevel.forest.flat_forest import FlatForest
from bevel.forest.predictor import PackedPredictor


@st.composite
def drawn_forests(draw: st.DrawFn) -> FlatForest:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_features = draw(st.sampled_from([1, 3, 6, 45]))  # 45: longer than a line of the walk
    forest = random_forest(
        rng,
        n_features=n_features,
        n_classes=draw(st.sampled_from([0, 1, 2, 5, 100])),
        n_trees=draw(st.integers(1, 5)),
        depth=draw(st.sampled_from([0, 1, 3, 6])),
        n_nominal=draw(st.integers(0, min(3, n_features - 1))),
        n_axes=draw(st.sampled_from([0, 0, 2, 4])),  # even: no matrix products, which may round
    )
    weight = np.where(rng.random(len(forest.entry_weight)) < 0.05, 0.0, forest.entry_weight)
    shares = np.repeat(forest.right < 0, np.diff(forest.entry_offset))
    weight = np.where(shares, forest.entry_weight, weight).astype(np.float32)
    empty = np.empty(0, np.float32)  # as in a slim forest
    return replace(forest, entry_weight=weight, gain=empty, weight=empty)


class DrawnForest:
    """What an export asks of an estimator, around a forest that was never fitted."""

    def __init__(self, forest: FlatForest, hard: bool = False) -> None:
        self.forest_, self.hard = forest, hard
        self.classes_ = np.arange(forest.n_classes)
        self.fitted_forest_ = fitted_forest(forest, aggregation=MeanOfTrees(hard=hard))

    def predict_proba(self, X: Any) -> np.ndarray:
        return PackedPredictor(self.forest_).probabilities(_encoded(X), 1, self.hard)

    def predict(self, X: Any) -> np.ndarray:
        if len(self.classes_) == 0:
            return PackedPredictor(self.forest_).values(_encoded(X), 1)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _encoded(X: Any) -> np.ndarray:
    return np.ascontiguousarray(X, dtype=np.float32)


def rows_for(forest: FlatForest, n_rows: int) -> Any:
    """An array, or a frame if there are levels, of which some were never seen."""
    X = random_rows(np.random.default_rng(0), forest, n_rows, missing=0.2)
    nominal = np.flatnonzero(forest.levels)
    X[:, nominal] = np.nan_to_num(X[:, nominal], nan=forest.levels[nominal])
    return pd.DataFrame(X) if len(nominal) else X


@pytest.mark.parametrize("route", ["auto", "trees", "walk"])
@settings(max_examples=40)
@given(forest=drawn_forests(), hard=st.booleans())
def test_model_of_a_drawn_forest_predicts_what_the_forest_predicts(
    route: str, forest: FlatForest, hard: bool
) -> None:
    drawn, rows = DrawnForest(forest, hard), rows_for(forest, 37)
    answered = Exported(drawn, route=route, dtype="float64").answers(rows)
    expected = drawn.predict_proba(rows) if forest.n_classes else drawn.predict(rows)
    np.testing.assert_allclose(answered, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("route", ["trees", "walk"])
@pytest.mark.parametrize("seed", range(12))
def test_model_sends_sums_that_leave_float32_where_the_forest_sends_them(
    route: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    forest = huge_forest(
        rng,
        n_features=(3, 6, 45)[seed % 3],
        n_classes=(0, 3)[seed % 2],
        n_axes=(0, 2)[seed % 2],  # even: no matrix products, which add in another order
        keep_signs=seed % 4 == 0,
    )
    drawn, rows = DrawnForest(forest), huge_rows(rng, forest, 80, 0.1, MAX_STORED)
    answered = Exported(drawn, route=route, dtype="float64").answers(rows)
    expected = naive_answers(forest, rows)
    np.testing.assert_allclose(answered.reshape(expected.shape), expected, rtol=1e-14, atol=1e-15)


def test_missing_value_of_a_feature_of_weight_zero_goes_where_its_split_says() -> None:
    """Zero times an infinity, which sends missing values left or right, would be lost."""
    rng = np.random.default_rng(0)
    forest = random_forest(rng, n_trees=20, kinds=("single", "weights"))
    single = (np.diff(forest.entry_offset) == 1) & (forest.right >= 0)
    weight = forest.entry_weight.copy()
    weight[forest.entry_offset[:-1][single]] = 0.0
    forest = replace(forest, entry_weight=weight)
    assert WalkRoute.of(Splits(forest)).weighted
    drawn, rows = DrawnForest(forest), rows_for(forest, 100)
    answered = Exported(drawn, route="walk", dtype="float64").answers(rows)
    np.testing.assert_allclose(answered, drawn.predict_proba(rows), rtol=1e-14)


@pytest.mark.parametrize("route", ["trees", "walk"])
@pytest.mark.parametrize("n_rows", [0, 1, 99, 100, 101])
def test_rows_in_many_blocks_are_predicted_in_their_order(
    route: str, n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaves, "BLOCK_SIZE", 2000)
    forest = random_forest(np.random.default_rng(0), kinds=("single", "signs"))
    drawn, rows = DrawnForest(forest), rows_for(forest, 101)
    outputs = Exported(drawn, route=route, dtype="float64").run(rows[:n_rows])
    expected = drawn.predict_proba(rows)[:n_rows]
    np.testing.assert_allclose(outputs["probabilities"], expected, rtol=1e-14)
    assert outputs["label"].shape == (n_rows,)
