"""Explanations of models that combine levels and read means of the target, through predict alone.

Whatever the trees make of a nominal column, the user's column is one player and one feature.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.naive.effects import individual_curves
from support.nominal_tables import n_level_terms, new_rows, nominal_table, plain_leaves, plain_means

from bevel import ObliqueBoostingRegressor, ObliqueForestRegressor, analysis
from bevel.estimators._base import encode_rows

FRAME, Y = nominal_table(400, n_places=120)
FRAME = FRAME.drop(columns=["same", "alike"])
MODELS = {
    "forest": lambda: ObliqueForestRegressor(25, random_state=0, n_jobs=1),
    "boosting": lambda: ObliqueBoostingRegressor(max_iter=20, random_state=0, n_jobs=1),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    fitted = MODELS[request.param]().fit(FRAME, Y)
    assert n_level_terms(fitted) > 10
    assert fitted.fitted_forest_.encoding.means
    return fitted


def mixed(row: pd.DataFrame, background: pd.DataFrame, chosen: tuple[bool, ...]) -> pd.DataFrame:
    """The background with the values of one row in the chosen columns."""
    columns = {
        name: np.full(len(background), row[name].iloc[0], dtype=object)
        if known
        else background[name].to_numpy(object)
        for name, known in zip(background, chosen, strict=True)
    }
    return pd.DataFrame(columns).astype({"a": float, "b": float})


def naive_worths(model: Any, row: pd.DataFrame, background: pd.DataFrame) -> dict[Any, float]:
    subsets = itertools.product([False, True], repeat=background.shape[1])
    return {s: float(model.predict(mixed(row, background, s)).mean()) for s in subsets}


def test_shapley_values_are_those_of_all_sets_of_the_users_columns(model: Any) -> None:
    rows, background = new_rows(FRAME)[:3], new_rows(FRAME, seed=2)[:8]
    found = analysis.shapley_values(model, rows, background, max_background=8)
    p = rows.shape[1]
    for i in range(len(rows)):
        worth = naive_worths(model, rows[i : i + 1], background)
        for feature in range(p):
            expected = 0.0
            for chosen, value in worth.items():
                if chosen[feature]:
                    continue
                size = sum(chosen)
                share = math.factorial(size) * math.factorial(p - size - 1) / math.factorial(p)
                joined = tuple(known or f == feature for f, known in enumerate(chosen))
                expected += share * (worth[joined] - value)
            assert found.values[i, feature] == pytest.approx(expected, abs=1e-9)


def test_interactions_add_up_to_the_values_of_the_users_columns(model: Any) -> None:
    rows, background = new_rows(FRAME)[:3], new_rows(FRAME, seed=2)[:8]
    values = analysis.shapley_values(model, rows, background, max_background=8).values
    pairs = analysis.shapley_interactions(model, rows, background, max_background=8).values
    np.testing.assert_allclose(pairs.sum(axis=2), values, atol=1e-9)


@pytest.mark.parametrize("name", ["c", "d", "e", "place"])
def test_curves_of_a_nominal_column_are_predictions_with_each_of_its_labels(
    model: Any, name: str
) -> None:
    rows = FRAME[:40]
    values = sorted(FRAME[name].dropna().unique())[:7]
    expected = individual_curves(model, rows.astype({name: object}), {name: values})[..., 0]
    effect = analysis.partial_dependence(model, rows, name, values=values, kind="both")
    np.testing.assert_allclose(effect.values, expected.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(effect.individual, expected, atol=1e-9)


def test_permutation_importance_out_of_bag_replaces_what_the_trees_read() -> None:
    """The mean rise of the squared error over all trees that have not seen a row, by hand."""
    model = MODELS["forest"]().fit(FRAME, Y)
    found = analysis.importance(model, "permutation", FRAME, Y, n_repeats=20, random_state=0)
    out = model.fitted_forest_.provenance.bags.rows_out(model.forest_.n_trees)
    leaves = plain_leaves(model, FRAME, training=True)
    known = out.any(axis=1)
    before = np.mean((plain_means(model, leaves, out * 1.0)[known, 0] - Y[known]) ** 2)
    codes = encode_rows(model, FRAME, training=True)
    rng = np.random.default_rng(1)
    for feature in range(FRAME.shape[1]):
        rises = []
        for _ in range(20):
            changed = codes.copy()
            changed[:, feature] = rng.permutation(codes[:, feature])
            moved = model.fitted_forest_.predictor.leaves(changed, 1)
            after = plain_means(model, moved, out * 1.0)[known, 0]
            rises.append(np.mean((after - Y[known]) ** 2) - before)
        noise = np.std(rises) * np.sqrt(2 / 20)
        assert abs(found.values[feature] - np.mean(rises)) < 6 * noise + 1e-6


def test_explanations_of_training_rows_are_those_of_predict(model: Any) -> None:
    found = analysis.shapley_values(model, FRAME[:5], FRAME, max_background=20, random_state=0)
    np.testing.assert_allclose(found.predictions, model.predict(FRAME[:5]), atol=1e-9)


def test_nominal_columns_have_no_direction_whatever_numbers_stand_for_their_labels(
    model: Any,
) -> None:
    found = analysis.importance(model, "gini")
    assert [word != "" for word in found.direction] == [True, True, False, False, False, False]
