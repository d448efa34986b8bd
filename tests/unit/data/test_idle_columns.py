"""Columns that number the rows or name them, of which nothing can be learnt, are left aside."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import bevel
from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestClassifier,
    ObliqueForestRegressor,
)
from bevel.errors import RowNumberWarning

N = 300
KINDS = [
    (ObliqueForestClassifier, {"n_estimators": 20}),
    (ObliqueForestRegressor, {"n_estimators": 20}),
    (ObliqueBoostingClassifier, {"max_iter": 20}),
    (ObliqueBoostingRegressor, {"max_iter": 20}),
]


def table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + X["b"] > 0).to_numpy().astype(int)


def fit(kind, settings, X, y):
    model = kind(random_state=0, n_jobs=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RowNumberWarning)
        return model.fit(X, y)


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_row_numbers_are_left_aside_with_a_warning(kind, settings):
    X, y = table()
    X = X.assign(id=np.arange(N) + 1000)
    with pytest.warns(RowNumberWarning, match="'id' numbers the rows.*left out"):
        model = kind(random_state=0, n_jobs=1, **settings).fit(X, y)
    assert model.feature_importances_[3] == 0.0
    assert (
        model.forest_.entry_index[
            np.repeat(model.forest_.right >= 0, np.diff(model.forest_.entry_offset))
        ]
        != 3
    ).all()
    assert model.columns_.as_dict()["id"] == "left out: numbers the rows"


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_the_model_is_that_of_the_table_without_the_column(kind, settings):
    X, y = table()
    plain = fit(kind, settings, X, y)
    numbered = fit(kind, settings, X.assign(id=np.random.default_rng(1).permutation(N)), y)
    rows = table(1)[0]
    np.testing.assert_array_equal(
        numbered.predict(rows.assign(id=np.arange(N) * 7.5)), plain.predict(rows)
    )


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_labels_of_chance_are_left_aside(kind, settings):
    X, y = table()
    X = X.assign(name=[f"N{i:04d}" for i in np.random.default_rng(2).permutation(N)])
    model = fit(kind, settings, X, y)
    assert model.feature_importances_[3] == 0.0
    assert model.columns_.as_dict()["name"] == "left out: its 300 levels say nothing beyond chance"


def test_a_number_along_which_the_target_varies_is_kept():
    X, y = table()
    order = np.argsort(np.argsort(y + np.random.default_rng(3).normal(size=N)))
    model = fit(ObliqueForestClassifier, {"n_estimators": 20}, X.assign(rank=order), y)
    assert model.columns_.as_dict()["rank"] == "number"
    assert model.feature_importances_[3] > 0.0


def test_dates_numbers_with_gaps_and_single_columns_are_kept():
    X, y = table()
    X = X.assign(day=pd.date_range("2020-01-01", periods=N), price=np.arange(N) * 13)
    model = fit(ObliqueForestClassifier, {"n_estimators": 10}, X, y)
    assert model.columns_.as_dict()["day"] == "date"
    assert model.columns_.as_dict()["price"] == "number"
    alone = fit(ObliqueForestClassifier, {"n_estimators": 10}, np.arange(N)[:, None], y)
    assert alone.columns_.as_dict() == {"x0": "number"}


def test_files_and_warm_starts_keep_what_is_left_aside(tmp_path):
    X, y = table()
    X = X.assign(id=np.arange(N))
    model = fit(ObliqueForestClassifier, {"n_estimators": 10, "warm_start": True}, X, y)
    model.save(tmp_path / "m.bevel")
    again = bevel.load(tmp_path / "m.bevel")
    assert again.columns_.as_dict() == model.columns_.as_dict()
    model.set_params(n_estimators=20).fit(X, y)
    assert model.forest_.n_trees == 20
    assert model.feature_importances_[3] == 0.0


def test_a_named_projection_uses_all_columns():
    X, y = table()
    settings = {"n_estimators": 10, "projection": "sparse"}
    model = fit(ObliqueForestClassifier, settings, X.assign(id=np.arange(N)), y)
    assert model.columns_.as_dict()["id"] == "number"


def test_columns_are_printed_one_below_the_other():
    X, y = table()
    X = X.assign(kind=pd.Categorical(np.where(X["c"] > 0, "up", "down")), yes=X["a"] > 0)
    model = fit(ObliqueForestClassifier, {"n_estimators": 10}, X, y)
    assert str(model.columns_).splitlines()[0].split() == ["column", "read", "as"]
    assert str(model.columns_).splitlines()[4].startswith("kind    2 levels, in subsets")
    assert str(model.columns_).splitlines()[5] == "yes     yes or no"
    assert "yes or no</td>" in model.columns_._repr_html_()
    assert list(model.columns_.to_pandas().index) == list(X.columns)
