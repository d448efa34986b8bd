"""Exported C of boosted trees against Python: sums and links, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.c_models import STRICT, CModels, needs_compiler

from bevel import (
    ObliqueBoostingClassifier,
    ObliqueBoostingRanker,
    ObliqueBoostingRegressor,
    ObliqueClassifier,
    ObliqueRegressor,
    ObliqueSurvivalBoosting,
    _core,
)

pytestmark = needs_compiler

SETTINGS: dict[str, Any] = {"max_iter": 25, "learning_rate": 0.4, "random_state": 0, "n_jobs": 1}


def _rows(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * [1, 10, 1e-3, 1, 1]
    y = np.exp(X[:, 0] / 2 + X[:, 3] * X[:, 4] / 4) + 0.1 * rng.random(n)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def _models() -> dict[str, Any]:
    X, y = _rows()
    regressors = {
        "squared": {},
        "axis": {"projection": "axis"},
        "symmetric": {"growth": "symmetric"},
        "poisson": {"loss": "poisson"},
        "gamma": {"loss": "gamma"},
        "linear": {"linear_leaves": True},
        "linear_axis": {"linear_leaves": True, "projection": "axis", "loss": "poisson"},
        "quantiles": {"loss": "quantile", "quantile": [0.3, 0.5, 0.6, 0.7]},
    }
    models: dict[str, Any] = {
        name: ObliqueBoostingRegressor(**SETTINGS, **own).fit(X, y)
        for name, own in regressors.items()
    }
    labels = np.digitize(y, [0.8, 1.2, 3.0])
    models["two"] = ObliqueBoostingClassifier(**SETTINGS).fit(X, labels > 1)
    models["four"] = ObliqueBoostingClassifier(**SETTINGS).fit(X, labels)
    query = np.arange(len(y)) % 20
    models["ranking"] = ObliqueBoostingRanker(**SETTINGS).fit(X, labels, groups=query)
    models["survival"] = ObliqueSurvivalBoosting(**SETTINGS).fit(X, (y + 1.0, labels > 0))
    lone = np.zeros((20, 5)), np.arange(20.0)
    models["constant"] = ObliqueBoostingRegressor(**SETTINGS).fit(*lone)
    return models


@pytest.mark.parametrize("options", [("-O0", *STRICT), ("-O3", "-ffp-contract=fast", "-w")])
def test_c_adds_up_and_links_as_python_does(tmp_path: Path, options: tuple[str, ...]) -> None:
    models = CModels(_models(), tmp_path, *options)
    X, _ = _rows(1000, 1)
    X = np.concatenate([X, X * 100.0])
    assert (np.diff(models.estimators["quantiles"]._raw(X), axis=1) < 0.0).any()
    for name in models.estimators:
        models.assert_equal(name, X, X)


def test_c_of_nominal_columns_adds_up_as_python_does(tmp_path: Path) -> None:
    X, y = _rows()
    levels = np.random.default_rng(3).integers(0, 7, len(y))
    table = np.column_stack([X[:, 0], levels])
    frame = pd.DataFrame({"x": X[:, 0], "kind": levels})
    model = ObliqueBoostingClassifier(categorical_features=[1], **SETTINGS)
    model.fit(frame, (y > 1) ^ (levels % 2 == 0))
    models = CModels({"model": model}, tmp_path, *STRICT)
    models.assert_equal("model", frame, models.codes("model", table))


def test_exponential_is_one() -> None:
    x = np.concatenate([np.linspace(-720, 720, 5001), np.linspace(-1e-3, 1e-3, 11)])
    with np.errstate(over="ignore"):
        expected = np.where(x < -708, 0.0, np.exp(np.minimum(x, 709.0)))
    np.testing.assert_allclose(_core.exponentials(x), expected, rtol=4e-16)


@pytest.mark.filterwarnings("ignore::bevel.errors.LeakWarning")
@pytest.mark.parametrize("options", [("-O0", *STRICT), ("-O3", "-ffp-contract=fast", "-w")])
def test_c_weighs_a_forest_and_boosting_as_python_does(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    X, y = _rows()
    labels = np.digitize(y, [0.8, 1.2, 3.0])
    models = {
        "numbers": ObliqueRegressor(1, random_state=0).fit(X, y),
        "two": ObliqueClassifier(1, random_state=0).fit(X, labels > 1),
        "four": ObliqueClassifier(1, random_state=0).fit(X, labels),
    }
    clear = np.nan_to_num(X[:, 0]) > 0.0
    models["clear"] = ObliqueClassifier(1, random_state=0).fit(X, clear)
    assert models["clear"].estimators_[0].calibration_power_ != 1.0
    alone = ObliqueRegressor(1, random_state=0).fit(X, y)
    fitted = alone.fitted_forest_
    kept = replace(fitted.aggregation, weights=(1.0,))
    alone._fitted = replace(fitted, members=fitted.members[1:], aggregation=kept)
    exported = CModels({**models, "alone": alone}, tmp_path, *options)
    rows, _ = _rows(1000, 1)
    for name in exported.estimators:
        exported.assert_equal(name, rows, rows)
